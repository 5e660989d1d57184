package codec_test

import (
	"net/url"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

func TestPositionIsTheServicesOwn(t *testing.T) {
	options := sms.ListOptions{PageSize: 500}
	for text, at := range map[string]wire.Position{
		`{"page":7,"size":500,"last":"m-1","options":{}}`:               {Set: true, Number: 7},
		`{"rows":1500,"size":500,"last":"m-1","options":{}}`:            {Rows: 1500},
		`{"rows":1500,"size":500,"last":"m-1","pages":3,"options":{}}`:  {Rows: 1500, Pages: 3},
		`{"cursor":"a+b","size":500,"last":"m-1","options":{}}`:         {Set: true, Cursor: "a+b"},
		`{"link":"/api/sms?at=3","size":500,"last":"m-1","options":{}}`: {Set: true, Link: "/api/sms?at=3"},
	} {
		overlay := ""
		switch {
		case at.Rows > 0:
			overlay = byOffset
		case at.Number == 0:
			overlay = byCursor
		}
		l := compileList(t, overlay, false)
		formatted := l.FormatPosition(at, options, "m-1")
		assert.Equal(t, text, withoutContract(formatted))
		got, lastRow, reason := l.ParsePosition(formatted, options)
		require.Empty(t, reason)
		assert.Equal(t, at, got)
		assert.Equal(t, "m-1", lastRow)
	}
}

// withoutContract returns a position without the hash of its contract.
func withoutContract(position string) string {
	return regexp.MustCompile(`"contract":"[\w-]{4}",?`).ReplaceAllString(position, "")
}

// Under another contract, rows before and after the position can differ in scale or time zone.
func TestPositionIsRefusedUnderAnotherContract(t *testing.T) {
	text := compileList(t, "", false).FormatPosition(wire.Position{Set: true, Number: 7}, sms.ListOptions{}, "m-1")
	for _, overlay := range []string{`{"sms.list": {"scale": -4}}`, `{"sms.list": {"zone": "Asia/Manila"}}`, `{"sms.list": {"record": {"price": ["cost"]}}}`} {
		_, _, reason := compileList(t, overlay, false).ParsePosition(text, sms.ListOptions{})
		assert.Equal(t, "is of a listing with another contract; want the same", reason, overlay)
	}
	_, _, reason := compileList(t, `{"sms.send": {"fields": {"text": "body"}}}`, false).ParsePosition(text, sms.ListOptions{})
	assert.Empty(t, reason)
}

// A link of the service may repeat the key pair, which must not be stored.
func TestPositionHoldsNoCredentials(t *testing.T) {
	l := compileList(t, `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "at"}}}`, true)
	credentials := url.Values{"apiKey": {key}, "apiSecret": {secret}}.Encode()
	text := l.FormatPosition(wire.Position{Set: true, Link: "/api/sms?" + credentials + "&at=3&q=a%26b"}, sms.ListOptions{}, "")
	assert.Equal(t, `{"link":"/api/sms?at=3&q=a%26b","options":{}}`, withoutContract(text))
	at, _, reason := l.ParsePosition(text, sms.ListOptions{})
	require.Empty(t, reason)
	assert.Equal(t, "/api/sms?at=3&q=a%26b", at.Link)
}

func TestPositionIsRefusedWithOtherOptions(t *testing.T) {
	l := compileList(t, "", false)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	options := sms.ListOptions{CreatedAfter: noon, To: "+639171234567", PageSize: 500, Extra: url.Values{"b": {"1"}, "a": {"2", "3"}}}
	text := l.FormatPosition(wire.Position{Set: true, Number: 7}, options, "m-1")
	assert.NotContains(t, text, "639171234567")

	same := options
	same.CreatedAfter = noon.In(time.FixedZone("", 3600))
	same.After = text
	_, _, reason := l.ParsePosition(text, same)
	assert.Empty(t, reason)

	for names, change := range map[string]func(o *sms.ListOptions){
		"CreatedAfter":  func(o *sms.ListOptions) { o.CreatedAfter = noon.Add(1) },
		"CreatedBefore": func(o *sms.ListOptions) { o.CreatedBefore = noon.AddDate(0, 0, 1) },
		"ID":            func(o *sms.ListOptions) { o.ID = "x" },
		"ReferenceID":   func(o *sms.ListOptions) { o.ReferenceID = "x" },
		"RequestID":     func(o *sms.ListOptions) { o.RequestID = "x" },
		"CategoryID":    func(o *sms.ListOptions) { o.CategoryID = "x" },
		"From":          func(o *sms.ListOptions) { o.From = "x" },
		"To":            func(o *sms.ListOptions) { o.To = "" },
		"Status":        func(o *sms.ListOptions) { o.Status = "x" },
		"SortBy":        func(o *sms.ListOptions) { o.SortBy = sms.ByCreated },
		"Descending":    func(o *sms.ListOptions) { o.Descending = true },
		"Extra":         func(o *sms.ListOptions) { o.Extra = url.Values{"b": {"1"}, "a": {"3", "2"}} },

		"CreatedAfter, another To": func(o *sms.ListOptions) { *o = sms.ListOptions{PageSize: 500, Extra: o.Extra} },
	} {
		changed := options
		change(&changed)
		_, _, reason := l.ParsePosition(text, changed)
		assert.Equal(t, "is of a listing with another "+names+"; want the same", reason)
	}
}

// A new option that a position does not carry would be resumed with another value.
func TestPositionCarriesEveryOption(t *testing.T) {
	l := compileList(t, "", false)
	for field := range reflect.TypeFor[sms.ListOptions]().Fields() {
		var options sms.ListOptions
		switch value := reflect.ValueOf(&options).Elem().FieldByIndex(field.Index).Addr().Interface().(type) {
		case *string:
			*value = "x"
		case *int:
			*value = 1
		case *bool:
			*value = true
		case *time.Time:
			*value = time.Unix(1, 0)
		case *url.Values:
			*value = url.Values{"x": {"1"}}
		}
		text := l.FormatPosition(wire.Position{Set: true, Number: 2}, options, "")
		_, _, reason := l.ParsePosition(text, sms.ListOptions{})
		isPosition := field.Name == "After" || field.Name == "Page"
		assert.Equal(t, isPosition, reason == "", field.Name)
	}
}

func TestPositionOfAnEarlierVersion(t *testing.T) {
	l := compileList(t, "", false)
	at, _, reason := l.ParsePosition(`{"page":7,"size":500,"last":"m-1"}`, sms.ListOptions{PageSize: 500, From: "ACME"})
	assert.Empty(t, reason)
	assert.Equal(t, 7, at.Number)
}

func FuzzParsePosition(f *testing.F) {
	lists := map[string]*codec.List{}
	for by, overlay := range map[string]string{
		"page": `{}`, "offset": byOffset, "cursor": byCursor, "none": `{"sms.list": {"paging": {"by": "none", "whole": true}}}`,
	} {
		lists[by] = compileList(f, overlay, false)
	}
	for _, seed := range []string{
		`{"page":2}`, `{"page":2,"size":500,"last":"m-1"}`, `{"rows":500}`, `{"cursor":"abc"}`, `{"link":"/api/sms?at=3"}`,
		`{"link":"https://evil.example/?a=b"}`, `{"link":"//evil.example/?"}`, `{"page":-1}`, `{"rows":3,"pages":-1}`, `{"cursor":"a","pages":7}`, `{"page":1e99}`, `{"page":2,"rows":3}`, `{}`, `null`, `[]`, `"`, ``,
		`{"page":2}{"page":3}`, `{"Page":2}`, `{"page":2,"last":7}`,
	} {
		f.Add(seed, 500)
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		options := sms.ListOptions{PageSize: size}
		for by, l := range lists {
			at, lastRow, reason := l.ParsePosition(text, options)
			if reason != "" {
				continue
			}
			// What can be read is written and read again as the same.
			again, lastAgain, reason := l.ParsePosition(l.FormatPosition(at, options, lastRow), options)
			require.Empty(t, reason, by)
			assert.Equal(t, at, again, by)
			assert.Equal(t, lastRow, lastAgain, by)
			if _, problems := l.Encode(wire.Query{At: at}); len(problems) > 0 {
				t.Fatalf("%s: a position that cannot be requested: %v", by, problems)
			}
		}
	})
}

// A POST elsewhere may send a message.
func TestLinksOfAListingByPOSTStayAtItsPath(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{"GET": true, "POST": false} {
		c := parse(t, `{"sms.list": {"method": "`+method+`", "path": "/list", "paging": {"by": "cursor"}, "page": {"next": ["next"]}}}`)
		target, err := url.Parse("https://service.example.com/v1/list")
		require.NoError(t, err)
		list := codec.CompileList(c, target, nil)
		for link, isOwn := range map[string]bool{
			"/v1/list?after=2": true, "?after=2": true, "https://service.example.com/v1/list?after=2": true,
			"/v1/sms/send?to=1&text=a": false, "/v1/list/../sms/send?to=1": false, "https://service.example.com/v1/sms/send?to=1": false,
		} {
			_, _, reason := list.ParsePosition(`{"link":"`+link+`"}`, sms.ListOptions{})
			assert.Equal(t, isOwn || want, reason == "", "%s %s: %s", method, link, reason)
			_, _, err := list.Decode([]byte(`{"data":[{"id":"a"}],"next":"`+link+`"}`), wire.Position{}, 0, nil)
			assert.Equal(t, isOwn || want, err == nil, "%s %s: %v", method, link, err)
		}
	}
}
