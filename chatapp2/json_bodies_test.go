package chatapp2

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jsonFiles holds bodies in the platform's shape, written by hand from its documentation. None of them was encoded by this
// library.
//
//go:embed testdata/bodies/*.json
var jsonFiles embed.FS

// jsonBody is a body, the types that it decodes to in their order, and the members that have no field.
type jsonBody struct {
	Name  string          `json:"name"`
	Holds string          `json:"holds"`
	Extra []string        `json:"extra"`
	Body  json.RawMessage `json:"body"`
	// Written is how the body is written again, if that differs from how it was read.
	Written json.RawMessage `json:"written"`
}

func jsonBodies(t testing.TB) []jsonBody {
	t.Helper()
	files, err := jsonFiles.ReadDir("testdata/bodies")
	require.NoError(t, err)
	var all []jsonBody
	for _, file := range files {
		raw, err := jsonFiles.ReadFile(path.Join("testdata/bodies", file.Name()))
		require.NoError(t, err)
		var rows []jsonBody
		require.NoError(t, json.Unmarshal(raw, &rows), file.Name())
		for _, row := range rows {
			row.Name = strings.TrimSuffix(file.Name(), ".json") + ": " + row.Name
			all = append(all, row)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func TestBodiesAreTypedLosslessAndValid(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, body := range jsonBodies(t) {
		assert.False(t, names[body.Name], "two bodies are called %s", body.Name)
		names[body.Name] = true
		t.Run(body.Name, func(t *testing.T) {
			t.Parallel()
			var m Message
			require.NoError(t, json.Unmarshal(body.Body, &m))
			assert.Equal(t, body.Holds, jsonHolds(m))
			var extra []string
			for name := range m.Extra {
				extra = append(extra, name)
			}
			slices.Sort(extra)
			assert.Equal(t, body.Extra, extra)
			again, err := json.Marshal(m)
			require.NoError(t, err)
			assert.Empty(t, jsonDiff("", jsonTree(t, []byte(cmp.Or(string(body.Written), string(body.Body)))), jsonTree(t, again)), "%s", again)
			assert.Empty(t, problemsOf(m))
		})
	}
}

func TestBodiesCoverEveryType(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	for _, name := range []string{
		"Text", "Image", "Video", "Audio", "Document", "Sticker", "Location", "Contacts", "Reaction", "Interactive", "Template",
		"HeaderText", "ReplyButtons", "List", "CTAURL", "Flow", "Product", "ProductList", "CatalogMessage", "LocationRequest",
		"Carousel", "ContactRequest", "RawAction",
		"TemplateHeader", "TemplateBody", "QuickReplyButton", "URLButton", "CopyCodeButton", "CatalogButton", "ProductsButton",
		"FlowButton", "TemplateCards", "LimitedTimeOffer", "RawComponent",
		"TextParam", "Currency", "DateTime", "GIF",
	} {
		missing[name] = true
	}
	for _, body := range jsonBodies(t) {
		for name := range strings.FieldsSeq(body.Holds) {
			delete(missing, name)
		}
	}
	assert.Empty(t, missing)
}

// jsonHolds names the types that a message chose where there is a choice, in the order of its fields.
func jsonHolds(m Message) string {
	var names []string
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() && v.Type().PkgPath() != "" {
				names = append(names, v.Elem().Type().Name())
				walk(v.Elem())
			}
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for _, field := range v.Fields() {
				walk(field)
			}
		default:
		}
	}
	walk(reflect.ValueOf(m).FieldByName("Content"))
	return strings.Join(names, " ")
}

// jsonRaws names what in a message stayed raw.
func jsonRaws(m Message) []string {
	var raws []string
	for name := range strings.FieldsSeq(jsonHolds(m)) {
		if strings.HasPrefix(name, "Raw") {
			raws = append(raws, name)
		}
	}
	return raws
}

// jsonTree decodes a document with its numbers as they are written.
func jsonTree(t testing.TB, raw []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	require.NoError(t, decoder.Decode(&tree), "%s", raw)
	return tree
}

// jsonDiff says where a body differs in meaning from what it became, and nothing where it does not. A number and the same in
// quotes are the same for the members that are met in both forms; types are the same in either case; the platform's defaults
// for preview_url and voice may vanish; and the top may gain what it says by default.
func jsonDiff(at string, was, is any) string {
	switch x := was.(type) {
	case map[string]any:
		y, ok := is.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: an object became %T", at, is)
		}
		for name, value := range x {
			other, ok := y[name]
			switch {
			case ok:
				if d := jsonDiff(at+"."+name, value, other); d != "" {
					return d
				}
			case value != false || name != "preview_url" && name != "voice":
				return at + "." + name + ": lost"
			}
		}
		for name, value := range y {
			if _, ok := x[name]; ok || at == "" && (name == "recipient_type" && value == "individual" || name == "type" || name == "messaging_product") {
				continue
			}
			return at + "." + name + ": added"
		}
		return ""
	case []any:
		y, ok := is.([]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: a list of %d became %T of another length", at, len(x), is)
		}
		for i := range x {
			if d := jsonDiff(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); d != "" {
				return d
			}
		}
		return ""
	}
	name := at[strings.LastIndexByte(at, '.')+1:]
	switch {
	case was == is:
		return ""
	case jsonQuotable[name] && jsonNumber(was) != "" && jsonNumber(was) == jsonNumber(is):
		return ""
	case (name == "latitude" || name == "longitude") && jsonDegrees(was) == jsonDegrees(is): // to the precision of a float64
		return ""
	case name == "type" || name == "sub_type":
		if a, ok := was.(string); ok {
			if b, ok := is.(string); ok && strings.EqualFold(a, b) {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s: %v became %v", at, was, is)
}

// jsonQuotable names the members that are met both as numbers and in quotes. The recipient is a text, and read from a number too.
var jsonQuotable = map[string]bool{
	"latitude": true, "longitude": true, "index": true, "card_index": true, "amount_1000": true, "expiration_days": true, "ttl_minutes": true,
	"expiration_time_ms": true, "timestamp": true, "value": true, "offset": true, "quantity": true, "day_of_week": true, "year": true,
	"month": true, "day_of_month": true, "hour": true, "minute": true, "to": true, "recipient": true, "recipient_type": true,
}

func jsonDegrees(value any) float64 {
	degrees, err := strconv.ParseFloat(jsonNumber(value), 64)
	if err != nil {
		return math.NaN()
	}
	return degrees
}

// jsonNumber returns a number in one form, whether it is in quotes or not, and nothing for what is none.
func jsonNumber(value any) string {
	text, ok := value.(string)
	if number, is := value.(json.Number); is {
		text, ok = number.String(), true
	}
	if !ok {
		return ""
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	if json.Valid([]byte(text)) && strings.Trim(text, "0123456789.+-eE") == "" {
		return text // beyond what a float64 holds
	}
	return ""
}
