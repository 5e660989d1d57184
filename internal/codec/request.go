package codec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
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

// requestFormat is what the contract says about the requests of one operation.
type requestFormat struct {
	method    string
	url       *url.URL
	encoding  string // "json", "form" or "query"
	ttl       string // the unit of a lifetime; other durations are whole seconds
	time      string // the form of times
	zone      *time.Location
	keyPairAt table.KeyPair
	keyPair   KeyPair
	reserved  map[string]bool // top-level names that Extra cannot have
}

func newRequestFormat(t *table.Table, op *table.Operation, method string, target *url.URL, pair KeyPair) requestFormat {
	zone, err := time.LoadLocation(op.Zone)
	if err != nil {
		zone = time.UTC // never, because the table is valid
	}
	f := requestFormat{
		method:    method,
		url:       target,
		encoding:  op.Encoding,
		time:      op.Time,
		zone:      zone,
		keyPairAt: t.Auth.KeyPair,
		keyPair:   pair,
		reserved:  map[string]bool{},
	}
	inFields, _ := f.credentials()
	f.reserve(inFields)
	return f
}

func (f *requestFormat) isJSON() bool { return f.encoding == "json" }

// top returns the top-level member or parameter of a name.
func (f *requestFormat) top(name string) string {
	if f.isJSON() {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

// compileMembers compiles constants, in the order of their names.
func (f *requestFormat) compileMembers(constants map[string]any) (compiled []member) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		m := member{name: name, isPath: strings.Contains(name, ".")}
		if f.isJSON() {
			m.raw, _ = wire.Encode(constants[name]) // it came from JSON
		} else {
			m.text, _ = plainText(constants[name]) // a valid table holds nothing else
		}
		compiled = append(compiled, m)
	}
	return compiled
}

// reserve keeps the names of members from Extra.
func (f *requestFormat) reserve(members []member) {
	for _, m := range members {
		f.reserved[f.top(m.name)] = true
	}
}

// credentials returns the key pair, either among the fields of a request or for its query.
func (f *requestFormat) credentials() (inFields, inQuery []member) {
	if f.keyPair == nil {
		return nil, nil
	}
	key, secret := f.keyPair()
	members := []member{{name: f.keyPairAt.Key, text: key, isPath: true}}
	if f.keyPairAt.Secret != "" {
		members = append(members, member{name: f.keyPairAt.Secret, text: secret, isPath: true})
	}
	switch {
	case f.keyPairAt.IsInFields(f.encoding):
		return members, nil
	case f.keyPairAt.In == "query":
		return nil, members
	default:
		return nil, nil
	}
}

// value returns the value of a field as it is written, whether it is present, and why it is invalid, or "".
func (f *requestFormat) value(field *wire.Field) (m member, isPresent bool, reason string) {
	switch v := field.Value.(type) {
	case nil:
		return member{text: field.Text}, field.Text != "", wire.CheckText(field.Text)
	case int64:
		return member{raw: strconv.AppendInt(nil, v, 10)}, v != 0, ""
	case time.Duration:
		unit := "s"
		if field.Concept == "ttl" {
			unit = f.ttl
		}
		m, reason = duration(v, unit)
		return m, v != 0, reason
	case time.Time:
		return f.timeMember(v), !v.IsZero(), ""
	case map[string]string:
		m, reason = jsonMember(v)
		return m, len(v) > 0, reason
	default:
		return m, true, fmt.Sprintf("holds a value that cannot be sent: %T", v)
	}
}

func (f *requestFormat) timeMember(at time.Time) member {
	text := table.FormatTime(at, f.time, f.zone)
	if f.time == "unix" || f.time == "unixms" {
		return member{raw: []byte(text)}
	}
	return member{text: text}
}

// duration returns a duration in a unit, and why it is invalid, or "".
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

// jsonMember returns a value as JSON, and why it is invalid, or "". The caller sets the name.
func jsonMember(value any) (m member, reason string) {
	raw, err := wire.EncodeText(value)
	if err != nil {
		return m, fmt.Sprintf("cannot be encoded as JSON: %T", err)
	}
	return member{raw: raw}, wire.CheckJSON(raw)
}

// plainText returns a string, a number or a boolean as text. It reports false for any other value.
func plainText(value any) (text string, ok bool) {
	if n, isNumber := value.(json.Number); isNumber {
		return n.String(), json.Valid([]byte(n))
	}
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		f := v.Float()
		isFinite := !math.IsNaN(f) && !math.IsInf(f, 0)
		return strconv.FormatFloat(f, 'f', -1, v.Type().Bits()), isFinite
	default:
		return "", false
	}
}

// newRequest returns the request that holds some members, and others in its query.
func (f *requestFormat) newRequest(target *url.URL, members, inQuery []member) Request {
	r := Request{Method: f.method, URL: target}
	switch f.encoding {
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
