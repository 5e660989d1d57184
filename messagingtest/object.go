package messagingtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxBody = 1 << 20

// object is the body of a request. Its names are exact: encoding/json would take "FROM" for "from".
type object map[string]json.RawMessage

var errNotObject = errors.New("not one JSON object")

// readObject refuses what encoding/json lets pass: a name that comes twice, however deep, and bytes that are not UTF-8.
func readObject(body []byte) (object, error) {
	if !utf8.Valid(body) {
		return nil, errNotObject
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, errNotObject
	}
	o := object{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errNotObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errNotObject
		}
		if _, twice := o[name.(string)]; twice || !hasDistinctNames(value) {
			return nil, errNotObject
		}
		o[name.(string)] = value
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, errNotObject
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errNotObject
	}
	return o, nil
}

// hasDistinctNames takes JSON that is well-formed.
func hasDistinctNames(raw json.RawMessage) bool {
	if raw[0] != '{' && raw[0] != '[' {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // a number need not fit into a float64
	return readDistinct(dec)
}

func readDistinct(dec *json.Decoder) bool {
	first, err := dec.Token()
	if err != nil {
		return false
	}
	open, nested := first.(json.Delim)
	if !nested {
		return true
	}
	names := map[json.Token]bool{}
	for dec.More() {
		if open == '{' {
			name, cut := dec.Token()
			if cut != nil || names[name] {
				return false
			}
			names[name] = true
		}
		if !readDistinct(dec) {
			return false
		}
	}
	_, err = dec.Token() // the closing one
	return err == nil
}

// withoutMembers is the object that text holds, as it was written, but without the members of these names.
func withoutMembers(text []byte, names ...string) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	rest := []byte{'{'}
	for dec.More() {
		start := dec.InputOffset()
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		written := bytes.TrimLeft(text[start:dec.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if slices.Contains(names, name.(string)) {
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(rest, written...)
		rest = append(rest, ':')
		rest = append(rest, value...)
	}
	return append(rest, '}'), nil
}

// text is the string of that name, and whether there is one: null is none.
func (o object) text(name string) (string, bool) { return textOf(o[name]) }

func textOf(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

func isJSON(header http.Header) bool {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

func tooLarge(err error) bool {
	var limit *http.MaxBytesError
	return errors.As(err, &limit)
}
