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

// savedPosition is the place in a listing that a program keeps as text, to go on from there: where the page begins, the options of the listing,
// and which row came last before it.
type savedPosition struct {
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

const longestPosition = 64 << 10

// FormatPosition returns a position in a listing with these options as text, with the ID of the last row before it.
func (l *List) FormatPosition(at wire.Position, options sms.ListOptions, lastRow string) string {
	p := savedPosition{
		Page:    at.Number,
		Rows:    at.Rows,
		Cursor:  at.Cursor,
		Link:    l.withoutPair(at.Link),
		Size:    options.PageSize,
		Last:    lastRow,
		Options: l.hashOptions(options),
		Pages:   at.Pages,
	}
	text, _ := wire.Encode(p) // numbers and strings always have a JSON
	return string(text)
}

// ParsePosition reads the text of FormatPosition. The reason says why it cannot be used with this contract and these options, or is "".
func (l *List) ParsePosition(text string, options sms.ListOptions) (at wire.Position, lastRow, reason string) {
	p, ok := parsePosition(text)
	if !ok {
		return at, "", "is not a position in a listing; pass Page.Next"
	}
	if reason = l.checkPosition(&p, options); reason != "" {
		return at, "", reason
	}
	at = wire.Position{Set: p.by() != "offset", Number: p.Page, Rows: p.Rows, Cursor: p.Cursor}
	if p.Link != "" {
		var err error
		if at, err = l.linkPosition(p.Link); err != nil {
			return at, "", "holds a link that leads away from the listing"
		}
	}
	at.Pages = p.Pages
	return at, p.Last, ""
}

func parsePosition(text string) (p savedPosition, ok bool) {
	if len(text) > longestPosition {
		return p, false
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&p) != nil {
		return p, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return p, false
	}
	isNegative := p.Page < 0 || p.Rows < 0 || p.Pages < 0
	return p, !isNegative && p.by() != ""
}

// by returns the kind of paging that a position is for, or "" if it has none or several.
func (p *savedPosition) by() string {
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

// checkPosition returns why a position is of another listing, or "".
func (l *List) checkPosition(p *savedPosition, options sms.ListOptions) string {
	switch by := p.by(); {
	case by != l.op.Paging.By:
		return "is a position by " + by + "; the contract pages by " + l.op.Paging.By + " (sms.list.paging.by)"
	case p.Size != options.PageSize:
		return "is of a listing with the PageSize " + strconv.Itoa(p.Size) + "; want the same"
	case p.Options == nil:
		return ""
	}
	if changed := changedOptions(p.Options, l.hashOptions(options)); len(changed) > 0 {
		return "is of a listing with another " + strings.Join(changed, ", another ") + "; want the same"
	}
	return ""
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
func changedOptions(before, now map[string]string) (changed []string) {
	all := maps.Clone(before)
	maps.Copy(all, now)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if before[field] != now[field] {
			changed = append(changed, field)
		}
	}
	return changed
}

// withoutPair returns a link of the service without the key pair in its query, which must not be stored.
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
