package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// position is a place in a listing as text: where the page begins, the options of the listing, and which row came last before it.
type position struct {
	Page   int    `json:"page,omitempty"`
	Rows   int    `json:"rows,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Link   string `json:"link,omitempty"`
	Size   int    `json:"size,omitempty"`
	Last   string `json:"last,omitempty"`  // ID of a row
	Pages  int    `json:"pages,omitempty"` // before this place, without page numbers
	// Options has a hash of each other option of the listing. It is nil in a position that an earlier version wrote.
	Options map[string]string `json:"options,omitzero"`
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

func (p *position) hasNegative() bool { return p.Page < 0 || p.Rows < 0 || p.Pages < 0 }

const longestPosition = 64 << 10

// FormatPosition returns a position in a listing with these options as text, with the ID of the last row before it.
func (l *List) FormatPosition(at wire.Position, options sms.ListOptions, lastRow string) string {
	p := position{
		Page: at.Number, Rows: at.Rows, Cursor: at.Cursor, Link: l.withoutPair(at.Link),
		Size: options.PageSize, Last: lastRow, Options: l.hashOptions(options),
		Pages: at.Pages,
	}
	text, _ := wire.Encode(p) // numbers and strings always have a JSON
	return string(text)
}

// hashOptions returns short hashes by field: of each option that is set, except those that say where a page is, and of the contract, which decides
// about the scale and the zone of rows. The hash of a phone number has 8 bits, because a longer one would identify the number in a list of
// customers.
func (l *List) hashOptions(o sms.ListOptions) map[string]string {
	values := map[string]string{
		"contract":      l.contract,
		"CreatedAfter":  formatBound(o.CreatedAfter),
		"CreatedBefore": formatBound(o.CreatedBefore),
		"ID":            o.ID,
		"ReferenceID":   o.ReferenceID,
		"RequestID":     o.RequestID,
		"CategoryID":    o.CategoryID,
		"From":          o.From,
		"To":            o.To,
		"Status":        o.Status,
		"SortBy":        o.SortBy,
		"Extra":         o.Extra.Encode(),
	}
	if o.Descending {
		values["Descending"] = "true"
	}
	hashes := map[string]string{}
	for field, value := range values {
		if value != "" {
			sum := sha256.Sum256([]byte(field + "=" + value))
			length := 3
			if field == "To" {
				length = 1
			}
			hashes[field] = base64.RawURLEncoding.EncodeToString(sum[:length])
		}
	}
	return hashes
}

func formatBound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// changedOptions returns the sorted names of the options whose hashes differ.
func changedOptions(before, now map[string]string) []string {
	changed := map[string]bool{}
	for field, hash := range before {
		if now[field] != hash {
			changed[field] = true
		}
	}
	for field, hash := range now {
		if before[field] != hash {
			changed[field] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
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

// ParsePosition reads the text of FormatPosition. The reason says why it cannot be used with this contract and these options, or is "".
func (l *List) ParsePosition(text string, options sms.ListOptions) (at wire.Position, lastRow, reason string) {
	const wrong = "is not a position in a listing; pass Page.Next"
	var p position
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if len(text) > longestPosition || decoder.Decode(&p) != nil || p.hasNegative() {
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
	case p.Size != options.PageSize:
		return at, "", "is of a listing with the PageSize " + strconv.Itoa(p.Size) + "; want the same"
	}
	if p.Options != nil {
		if changed := changedOptions(p.Options, l.hashOptions(options)); len(changed) > 0 {
			return at, "", "is of a listing with another " + strings.Join(changed, ", another ") + "; want the same"
		}
	}
	at = wire.Position{Set: kind != "offset", Number: p.Page, Rows: p.Rows, Cursor: p.Cursor}
	if p.Link != "" {
		var err error
		if at, err = l.followLink(p.Link); err != nil {
			return at, "", "holds a link that leads away from the listing"
		}
	}
	at.Pages = p.Pages
	return at, p.Last, ""
}
