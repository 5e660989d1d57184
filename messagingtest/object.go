package messagingtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

const maxBody = 1 << 20

// object is the body of a request. Its names are exact: encoding/json would take "FROM" for "from".
type object map[string]json.RawMessage

var errNotObject = errors.New("not one JSON object")

// readObject refuses what encoding/json lets pass: a name that comes twice, and bytes that are not UTF-8.
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
		if _, twice := o[name.(string)]; twice {
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

// text is the string of that name, and whether there is one: null is none.
func (o object) text(name string) (string, bool) {
	raw := o[name]
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
