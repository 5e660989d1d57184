package codec_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestPositionIsTheServicesOwn(t *testing.T) {
	for text, at := range map[string]wire.Position{
		`{"page":7,"size":500,"last":"m-1"}`:               {Set: true, Number: 7},
		`{"rows":1500,"size":500,"last":"m-1"}`:            {Rows: 1500},
		`{"cursor":"a+b","size":500,"last":"m-1"}`:         {Set: true, Cursor: "a+b"},
		`{"link":"/api/sms?at=3","size":500,"last":"m-1"}`: {Set: true, Link: "/api/sms?at=3"},
	} {
		overlay := ""
		switch {
		case at.Rows > 0:
			overlay = byOffset
		case at.Number == 0:
			overlay = byCursor
		}
		l := compileList(t, overlay, false)
		assert.Equal(t, text, l.FormatPosition(at, 500, "m-1"))
		got, lastRow, reason := l.ParsePosition(text, 500)
		require.Empty(t, reason)
		assert.Equal(t, at, got)
		assert.Equal(t, "m-1", lastRow)
	}
}

// A link of the service may repeat the key pair, which must not be stored.
func TestPositionHoldsNoCredentials(t *testing.T) {
	l := compileList(t, `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "at"}}}`, true)
	credentials := url.Values{"apiKey": {key}, "apiSecret": {secret}}.Encode()
	text := l.FormatPosition(wire.Position{Set: true, Link: "/api/sms?" + credentials + "&at=3&q=a%26b"}, 0, "")
	assert.Equal(t, `{"link":"/api/sms?at=3&q=a%26b"}`, text)
	at, _, reason := l.ParsePosition(text, 0)
	require.Empty(t, reason)
	assert.Equal(t, "/api/sms?at=3&q=a%26b", at.Link)
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
		`{"link":"https://evil.example/?a=b"}`, `{"link":"//evil.example/?"}`, `{"page":-1}`, `{"page":1e99}`, `{"page":2,"rows":3}`, `{}`, `null`, `[]`, `"`, ``,
		`{"page":2}{"page":3}`, `{"Page":2}`, `{"page":2,"last":7}`,
	} {
		f.Add(seed, 500)
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		for by, l := range lists {
			at, lastRow, reason := l.ParsePosition(text, size)
			if reason != "" {
				continue
			}
			// What can be read is written and read again as the same.
			again, lastAgain, reason := l.ParsePosition(l.FormatPosition(at, size, lastRow), size)
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
			_, _, reason := list.ParsePosition(`{"link":"`+link+`"}`, 0)
			assert.Equal(t, isOwn || want, reason == "", "%s %s: %s", method, link, reason)
			_, _, err := list.Decode([]byte(`{"data":[{"id":"a"}],"next":"`+link+`"}`), wire.Position{}, 0, nil)
			assert.Equal(t, isOwn || want, err == nil, "%s %s: %v", method, link, err)
		}
	}
}
