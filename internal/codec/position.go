package codec

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// position is a place in a listing as text: where the page begins, how large pages are, and which row came last before it.
type position struct {
	Page   int    `json:"page,omitempty"`
	Rows   int    `json:"rows,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Link   string `json:"link,omitempty"`
	Size   int    `json:"size,omitempty"`
	Last   string `json:"last,omitempty"` // ID of a row
}

// kind returns the kind of paging that a position is for, or "" if it has none or several.
func (p *position) kind() string {
	var kinds []string
	if p.Page > 0 {
		kinds = append(kinds, "page")
	}
	if p.Rows > 0 {
		kinds = append(kinds, "offset")
	}
	if p.Cursor != "" {
		kinds = append(kinds, "cursor")
	}
	if p.Link != "" {
		kinds = append(kinds, "cursor")
	}
	if len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

const longestPosition = 64 << 10

// FormatPosition returns a position as text, with the ID of the last row before it.
func (l *List) FormatPosition(at wire.Position, pageSize int, lastRow string) string {
	p := position{
		Page: at.Number, Rows: at.Rows, Cursor: at.Cursor, Link: l.withoutPair(at.Link), Size: pageSize, Last: lastRow,
	}
	text, _ := wire.Encode(p) // numbers and strings always have a JSON
	return string(text)
}

func (l *List) withoutPair(link string) string {
	target, err := url.Parse(link)
	if err != nil || l.keyPair == nil || link == "" {
		return link
	}
	query := target.Query()
	held := len(query)
	query.Del(l.keyPairAt.Key)
	query.Del(l.keyPairAt.Secret)
	if len(query) == held {
		return link // as the service wrote it
	}
	target.RawQuery = query.Encode()
	return target.String()
}

// ParsePosition reads the text of FormatPosition. The reason says why it cannot be used with this contract and page size, or is "".
func (l *List) ParsePosition(text string, pageSize int) (at wire.Position, lastRow, reason string) {
	const wrong = "is no position of a listing; want Page.Next"
	var p position
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if len(text) > longestPosition || decoder.Decode(&p) != nil || p.Rows < 0 || p.Page < 0 {
		return at, "", wrong
	}
	if _, err := decoder.Token(); err != io.EOF {
		return at, "", wrong
	}
	kind := p.kind()
	switch {
	case kind == "":
		return at, "", wrong
	case kind != l.op.Paging.By:
		return at, "", "is a position by " + kind + "; the contract pages by " + l.op.Paging.By + " (sms.list.paging.by)"
	case p.Size != pageSize:
		return at, "", "is of a listing with the PageSize " + strconv.Itoa(p.Size) + "; want the same"
	}
	at = wire.Position{Set: kind != "offset", Number: p.Page, Rows: p.Rows, Cursor: p.Cursor}
	if p.Link != "" {
		var err error
		if at, err = l.followLink(p.Link); err != nil {
			return at, "", "holds a link that leads away from the listing"
		}
	}
	return at, p.Last, ""
}
