package codec

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Request is a request as it is sent.
type Request struct {
	Method string
	URL    *url.URL // must not be changed
	Body   []byte
}

type encoding struct {
	method string
	url    *url.URL
	kind   string // "json", "form" or "query"
	ttl    string // the unit of a lifetime; other durations are whole seconds
	time   string
	zone   *time.Location
	places table.KeyPair
	pair   KeyPair
	taken  map[string]bool // top-level names that a user cannot have
}

func newEncoding(t *table.Table, op *table.Operation, method string, target *url.URL, pair KeyPair) encoding {
	zone, err := time.LoadLocation(op.Zone)
	if err != nil {
		zone = time.UTC // never, because the table is valid
	}
	e := encoding{
		method: method, url: target, kind: op.Encoding,
		time: op.Time, zone: zone, places: t.Auth.KeyPair, pair: pair, taken: map[string]bool{},
	}
	beside, _ := e.credentials()
	for _, m := range beside {
		e.taken[e.top(m.name)] = true
	}
	return e
}

func (e *encoding) isJSON() bool { return e.kind == "json" }

func (e *encoding) top(name string) string {
	if e.isJSON() {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

// constants compiles constants.
func (e *encoding) constants(constants map[string]any) []member {
	var compiled []member
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		m := member{name: name, dotted: strings.Contains(name, ".")}
		if e.isJSON() {
			m.raw, _ = wire.Encode(constants[name]) // it came from JSON
		} else {
			m.text, _ = plain(constants[name]) // a valid table holds nothing else
		}
		compiled = append(compiled, m)
	}
	return compiled
}

// take takes the names of constants, so that a user cannot have them.
func (e *encoding) take(constants []member) {
	for _, m := range constants {
		e.taken[e.top(m.name)] = true
	}
}

// credentials returns the key pair, either beside the fields of a request or in the query apart from them.
func (e *encoding) credentials() (beside, inQuery []member) {
	if e.pair == nil {
		return nil, nil
	}
	key, secret := e.pair()
	members := []member{{name: e.places.Key, text: key, dotted: true}}
	if e.places.Secret != "" {
		members = append(members, member{name: e.places.Secret, text: secret, dotted: true})
	}
	switch in := e.places.In; {
	case in == "query" && e.kind != "query":
		return nil, members
	case in == "query" || in == "body":
		return members, nil
	default:
		return nil, nil
	}
}

// value returns what a field sends, whether it is present, and what is wrong with it.
func (e *encoding) value(f *wire.Field) (m member, present bool, reason string) {
	switch v := f.Value.(type) {
	case nil:
		return member{text: f.Text}, f.Text != "", wire.CheckUTF8(f.Text)
	case int64:
		return member{raw: strconv.AppendInt(nil, v, 10)}, v != 0, ""
	case time.Duration:
		unit := "s"
		if f.Concept == "ttl" {
			unit = e.ttl
		}
		m, reason = duration(v, unit)
		return m, v != 0, reason
	case time.Time:
		text := table.FormatTime(v, e.time, e.zone)
		if e.time == "unix" || e.time == "unixms" {
			return member{raw: []byte(text)}, !v.IsZero(), ""
		}
		return member{text: text}, !v.IsZero(), ""
	case map[string]string:
		m, reason = encoded(v)
		return m, len(v) > 0, reason
	default:
		return m, true, fmt.Sprintf("holds a value that cannot be sent: %T", v)
	}
}

func duration(d time.Duration, word string) (m member, reason string) {
	unit, name := table.UnitOf(word)
	switch {
	case d < 0:
		reason = "must not be negative, got " + d.String()
	case d%unit != 0:
		reason = "must be a whole number of " + name + ", the unit of the contract, got " + d.String()
	}
	return member{raw: strconv.AppendInt(nil, int64(d/unit), 10)}, reason
}

// ContentType returns the content type of requests in an encoding, or "" if they have no body.
func ContentType(encoding string) string {
	return map[string]string{"json": "application/json", "form": "application/x-www-form-urlencoded"}[encoding]
}

func (e *encoding) request(target *url.URL, members, inQuery []member) Request {
	r := Request{Method: e.method, URL: target}
	switch e.kind {
	case "query":
		inQuery = append(members, inQuery...)
	case "form":
		r.Body = appendForm(nil, members)
	case "json":
		r.Body = make([]byte, 0, sizeOf(members))
		r.Body = appendObject(r.Body, members)
	}
	if len(inQuery) > 0 {
		withQuery := *target
		withQuery.RawQuery = string(appendForm(nil, inQuery))
		r.URL = &withQuery
	}
	return r
}
