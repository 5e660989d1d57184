package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/url"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// position is a place in a listing as text: where the page begins, how large pages are, and which rows came just before it.
type position struct {
	Page   int    `json:"page,omitempty"`
	Rows   int    `json:"rows,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Link   string `json:"link,omitempty"`
	Size   int    `json:"size,omitempty"`
	Seen   []byte `json:"seen,omitempty"` // 8 bytes for each row
}

const (
	mostSeen        = 1000 // rows that a position remembers
	longestPosition = 64 << 10
)

// FormatPosition returns a position as text, with the rows before it, oldest first.
func (l *List) FormatPosition(at wire.Position, pageSize int, seen []uint64) string {
	p := position{Page: at.Number, Rows: at.Rows, Cursor: at.Cursor, Link: l.withoutPair(at.Link), Size: pageSize}
	for _, row := range seen[max(0, len(seen)-mostSeen):] {
		p.Seen = binary.BigEndian.AppendUint64(p.Seen, row)
	}
	text, _ := wire.Encode(p) // numbers and strings always have a JSON
	return string(text)
}

func (l *List) withoutPair(link string) string {
	target, err := url.Parse(link)
	if err != nil || l.pair == nil || link == "" {
		return link
	}
	query := target.Query()
	held := len(query)
	query.Del(l.places.Key)
	query.Del(l.places.Secret)
	if len(query) == held {
		return link // as the service wrote it
	}
	target.RawQuery = query.Encode()
	return target.String()
}

// ParsePosition reads the text of FormatPosition. The reason says why it cannot be used with this contract and page size, or is "".
func (l *List) ParsePosition(text string, pageSize int) (at wire.Position, seen []uint64, reason string) {
	const wrong = "is no position of a listing; want Page.Next"
	var p position
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if len(text) > longestPosition || decoder.Decode(&p) != nil || p.Rows < 0 || p.Page < 0 || len(p.Seen)%8 != 0 {
		return at, nil, wrong
	}
	if _, err := decoder.Token(); err != io.EOF {
		return at, nil, wrong
	}
	kind, count := "", 0
	for name, set := range map[string]bool{"page": p.Page > 0, "offset": p.Rows > 0, "cursor": p.Cursor != "" || p.Link != ""} {
		if set {
			kind = name
			count++
		}
	}
	switch {
	case count != 1 || p.Cursor != "" && p.Link != "":
		return at, nil, wrong
	case kind != l.op.Paging.By:
		return at, nil, "is a position by " + kind + "; the contract pages by " + l.op.Paging.By + " (sms.list.paging.by)"
	case p.Size != pageSize:
		return at, nil, "is of a listing with the PageSize " + strconv.Itoa(p.Size) + "; want the same"
	}
	at = wire.Position{Set: kind != "offset", Number: p.Page, Rows: p.Rows, Cursor: p.Cursor}
	if p.Link != "" {
		var err error
		if at, err = l.followLink(p.Link); err != nil {
			return at, nil, "holds a link that leads away from the listing"
		}
	}
	for i := 0; i < len(p.Seen); i += 8 {
		seen = append(seen, binary.BigEndian.Uint64(p.Seen[i:]))
	}
	return at, seen, ""
}
