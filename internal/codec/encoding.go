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

// encoding writes the requests of one operation.
type encoding struct {
	method    string
	url       *url.URL
	kind      string // "json", "form" or "query"
	ttl       string // the unit of a lifetime; other durations are whole seconds
	time      string // the form of times
	zone      *time.Location
	keyPairAt table.KeyPair
	keyPair   KeyPair
	reserved  map[string]bool // top-level names that Extra cannot have
}

func newEncoding(t *table.Table, op *table.Operation, method string, target *url.URL, pair KeyPair) encoding {
	zone, err := time.LoadLocation(op.Zone)
	if err != nil {
		zone = time.UTC // never, because the table is valid
	}
	e := encoding{
		method: method, url: target, kind: op.Encoding, time: op.Time, zone: zone,
		keyPairAt: t.Auth.KeyPair, keyPair: pair, reserved: map[string]bool{},
	}
	inFields, _ := e.credentials()
	e.reserve(inFields)
	return e
}

func (e *encoding) isJSON() bool { return e.kind == "json" }

// top returns the top-level member or parameter of a name.
func (e *encoding) top(name string) string {
	if e.isJSON() {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

// compileMembers compiles constants, in the order of their names.
func (e *encoding) compileMembers(constants map[string]any) (compiled []member) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		m := member{name: name, isPath: strings.Contains(name, ".")}
		if e.isJSON() {
			m.raw, _ = wire.Encode(constants[name]) // it came from JSON
		} else {
			m.text, _ = plain(constants[name]) // a valid table holds nothing else
		}
		compiled = append(compiled, m)
	}
	return compiled
}

// reserve keeps the names of members from Extra.
func (e *encoding) reserve(members []member) {
	for _, m := range members {
		e.reserved[e.top(m.name)] = true
	}
}

// credentials returns the key pair, either among the fields of a request or for its query.
func (e *encoding) credentials() (inFields, inQuery []member) {
	if e.keyPair == nil {
		return nil, nil
	}
	key, secret := e.keyPair()
	members := []member{{name: e.keyPairAt.Key, text: key, isPath: true}}
	if e.keyPairAt.Secret != "" {
		members = append(members, member{name: e.keyPairAt.Secret, text: secret, isPath: true})
	}
	switch {
	case e.keyPairAt.IsInFields(e.kind):
		return members, nil
	case e.keyPairAt.In == "query":
		return nil, members
	default:
		return nil, nil
	}
}

// value returns what a field sends, whether it is present, and what is wrong with it.
func (e *encoding) value(f *wire.Field) (m member, isPresent bool, reason string) {
	switch v := f.Value.(type) {
	case nil:
		return member{text: f.Text}, f.Text != "", wire.CheckText(f.Text)
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
		return e.timeMember(v), !v.IsZero(), ""
	case map[string]string:
		m, reason = encoded(v)
		return m, len(v) > 0, reason
	default:
		return m, true, fmt.Sprintf("holds a value that cannot be sent: %T", v)
	}
}

func (e *encoding) timeMember(at time.Time) member {
	text := table.FormatTime(at, e.time, e.zone)
	if e.time == "unix" || e.time == "unixms" {
		return member{raw: []byte(text)}
	}
	return member{text: text}
}

// duration returns a duration in a unit, and what is wrong with it.
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
	switch encoding {
	case "json":
		return "application/json"
	case "form":
		return "application/x-www-form-urlencoded"
	default:
		return ""
	}
}

// request returns the request that holds some members, and others in its query.
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
