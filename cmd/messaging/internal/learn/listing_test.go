package learn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const rowText = `{"rows": [{"messageId": "h-1", "clientRef": "otp-1", "state": "DELIVRD"}]}`

// TestLearnFilter has a row below the request that asked for it.
func TestLearnFilter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request string
		want    map[string]any
	}{
		"a query": {
			"curl -u key:secret 'https://api.example.com/v3/messages?client_ref=otp-1&limit=10'\n",
			map[string]any{"params": "client_ref"},
		},
		"data in the query": {
			"$ curl -G https://api.example.com/v3/messages \\\n  -d client_ref=otp-1\n\n",
			map[string]any{"params": "client_ref"},
		},
		"a query, and a command that reads the response": {
			"curl 'https://api.example.com/v3/messages?client_ref=otp-1&limit=10' | jq '{\n  rows\n}'\n",
			map[string]any{"params": "client_ref"},
		},
		"a form": {
			"curl https://api.example.com/v3/messages -d client_ref=otp-1\n",
			map[string]any{"params": "client_ref", "method": "POST", "encoding": "form"},
		},
		"JSON": {
			"curl https://api.example.com/v3/messages -d '{\n\n  \"filter\": {\"refs\": [\"otp-1\"]}\n}'\n\nHTTP/1.1 200 OK\n\n",
			map[string]any{"params": "filter.refs.0", "method": "POST", "encoding": "json"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, requestText+acceptedText+"=== row\nid: h-1\nreference: otp-1\nstatus: DELIVRD\n\n"+tt.request+rowText)
			require.NoError(t, err)
			assert.Equal(t, tt.want["params"], at(got, "sms.list", "params", "reference"))
			assert.Equal(t, tt.want["method"], at(got, "sms.list", "method"))
			assert.Equal(t, tt.want["encoding"], at(got, "sms.list", "encoding"))
			assert.Equal(t, "/v3/messages", at(got, "sms.list", "path"))
			assert.Equal(t, []any{"clientRef"}, at(got, "sms.list", "record", "reference"))
			assert.Contains(t, at(got, "sms.list", "params//"), "other filters")
		})
	}
}

// TestLearnFilterNeedsItsValue has a request of the listing without the reference of the row.
func TestLearnFilterNeedsItsValue(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText+"=== row\nreference: otp-1\npath: /v2/rows\n\ncurl https://api.example.com/v3/messages?client_ref=otp-2\n"+rowText)
	require.NoError(t, err)
	assert.Equal(t, "/v2/rows", at(got, "sms.list", "path"))
	assert.Nil(t, at(got, "sms.list", "params"))
}

// TestLearnRefusesRequestAsRow has requests in front of a row that cannot be learned.
func TestLearnRefusesRequestAsRow(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a second URL":        "curl https://api.example.com/v3/messages https://api.example.com/v4/messages\n" + rowText,
		"an HTTP request":     "GET /v3/messages?client_ref=otp-1\nAccept: application/json\n\n" + rowText,
		"a curl command only": "curl https://api.example.com/v3/messages?client_ref=otp-1",
		"a quote without end": "curl https://api.example.com/v3/messages -d '{\n" + rowText,
		"another method":      "curl -X PUT https://api.example.com/v3/messages\n" + rowText,
		"a GET with a body":   "curl -X GET https://api.example.com/v3/messages -d client_ref=otp-1\n" + rowText,
		"another option":      "curl https://api.example.com/v3/messages\n  -d client_ref=otp-1\n" + rowText,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(requestText + acceptedText + "=== row\nid: h-1\nreference: otp-1\nstatus: DELIVRD\n\n" + text)
			require.ErrorContains(t, err, "line 17, row: a row is a response; remove the request above it")
		})
	}
}

// TestParseShowsWhereJSONIsWrong has examples of each kind that are meant as JSON. The column may differ by one between implementations of
// encoding/json.
func TestParseShowsWhereJSONIsWrong(t *testing.T) {
	t.Parallel()
	const curl = "curl 'https://api.example.com/v3/messages?client_ref=otp-1'\n\n"
	for text, want := range map[string]string{
		"=== row\nid: h-1\n\n" + curl + "{\"rows\": [\n  {\"messageId\": \"h-1\" \"to\": 1}]}": "line 17, row: the response is not JSON, near line 23, column 2[34]: ",
		"=== row\nid: h-1\n\n{\"rows\": [,]}":                                                  "line 17, row: the response is not JSON, near line 20, column 1[01]: ",
		"=== row\nid: h-1\n\nHTTP/1.1 200 OK\nA: b\n\n{\"rows\": [{}, ...]}":                   "line 17, row: the response is not JSON, near line 23, column 1[56]: ",
		"=== accepted\nid: h-1\n\n\n{\"id\": \"h-1\"":                                          "line 17, accepted: the response is not JSON, near line 21, column 1[234]: ",
		"=== refused\nhttp: 400\nclass: invalid\n\n[{'code': 1}]":                              "line 17, refused: the response is not JSON, near line 21, column [234]: ",
		"=== inbound\nfrom: 1\n\nPOST /in HTTP/1.1\n\n{\"from\": 1,}":                          "line 17, inbound: the callback is not JSON, near line 22, column 1[123]: ",
		"=== delivery\nid: h-1\nstatus: DELIVRD\n\n{\"id\": \"h-1\"} {}":                       "line 17, delivery: the callback is not JSON, near line 21, column 1[45]: ",
	} {
		examples, err := Parse(requestText + acceptedText + text)
		if err == nil { // a callback is read later
			_, err = Learn(examples)
		}
		require.Error(t, err, text)
		assert.Regexp(t, "^"+want, err.Error(), text)
	}
	quoted := strings.Replace(requestText, `"channel": "sms"}`, `"channel": "sms",}`, 1)
	_, err := learnObject(t, quoted+acceptedText)
	require.Error(t, err)
	assert.Regexp(t, "^line 1, request: the body of the request is not JSON, near line 10, column 9[34]: ", err.Error())
	_, err = learnObject(t, strings.Replace(quoted, "'", `$'`, 1)+acceptedText)
	require.ErrorContains(t, err, "the body of the request is not JSON")
}

// TestLearnFilterOnce has a row whose reference is its ID: two filters cannot share a name.
func TestLearnFilterOnce(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText+"=== row\nid: otp-1\nreference: otp-1\nto: 639171234567\n\n"+
		"curl 'https://api.example.com/v3/messages?message=otp-1&phone=639171234567'\n"+
		`{"rows": [{"messageId": "otp-1", "clientRef": "otp-1", "to": "639171234567"}]}`)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"reference": "message", "to": "phone"}, at(got, "sms.list", "params"))
}

// TestLearnRowAlone: an account whose listing alone differs needs no example of a send.
func TestLearnRowAlone(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== row\nid: h-1\nreference: otp-1\nstatus: DELIVRD\npath: /v3/messages\n\n"+rowText)
	require.NoError(t, err)
	assert.Equal(t, "/v3/messages", at(got, "sms.list", "path"))
	assert.Equal(t, []any{"clientRef"}, at(got, "sms.list", "record", "reference"))
	assert.NotContains(t, got, "sms.send", "the default")
	assert.NotContains(t, got, "errors//", "nothing is missing")
	for _, more := range []string{acceptedText, "=== refused\nhttp: 400\nclass: invalid\n\n{}\n"} {
		_, err := Parse("=== row\nid: h-1\n\n" + rowText + "\n" + more)
		require.ErrorContains(t, err, "there is no example of a request")
	}
}

// TestLearnPaging has a request of the listing with a page and bounds of time.
func TestLearnPaging(t *testing.T) {
	t.Parallel()
	const text = "=== row\nid: h-1\npage: 1\npageSize: 50\ncreatedAfter: 2026-11-27 08:05:00\ncreatedBefore: 2026-11-28 08:05:00\nnext: 2\n\n" +
		"curl 'https://api.example.com/v3/messages?date_from=2026-11-27+08:05:00&date_to=2026-11-28+08:05:00&page=1&per_page=50&v=1'\n" +
		`{"rows": [{"messageId": "h-1", "state": "DELIVRD", "parts": 2}], "meta": {"current": 1, "next_page": 2, "pages": 2}}`
	got, err := learnObject(t, text)
	require.NoError(t, err)
	for concept, want := range map[string]string{
		"page": "page", "pageSize": "per_page", "createdAfter": "date_from", "createdBefore": "date_to",
	} {
		assert.Equal(t, want, at(got, "sms.list", "params", concept))
	}
	assert.Equal(t, "datetime", at(got, "sms.list", "time"))
	assert.Equal(t, []any{"meta.next_page"}, at(got, "sms.list", "page", "next"))
	assert.Nil(t, at(got, "sms.list", "paging"), "the default counts pages from 1")
	note, _ := at(got, "sms.list", "params//").(string)
	assert.NotContains(t, note, "paging")
	assert.Contains(t, note, "the request also has v; the response also has meta.current, meta.pages")
	assert.Contains(t, note, `other filters (reference, id, request, category, from, to) and order, which keep their defaults: if the service lacks one, name it ""`)

	got, err = learnObject(t, "=== row\nid: h-1\ncreatedAfter: 1764345600\n\ncurl 'https://api.example.com/v3/messages?since=1764345600'\n"+rowText)
	require.NoError(t, err)
	assert.Equal(t, "since", at(got, "sms.list", "params", "createdAfter"))
	assert.Equal(t, "unix", at(got, "sms.list", "time"))

	got, err = learnObject(t, "=== row\nid: h-1\npage: 0\n\ncurl 'https://api.example.com/v3/messages?page=0'\n"+rowText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"by": "page", "first": 0.0}, at(got, "sms.list", "paging"))
}

// TestLearnOffset has requests of the listing with an offset, and with parameters that may be none.
func TestLearnOffset(t *testing.T) {
	t.Parallel()
	const response = `{"rows": [{"messageId": "h-1", "state": "DELIVRD", "more": true}], "page": {"more": false, "matches": 1}}`
	const curl = "curl 'https://api.example.com/v3/messages?"
	for name, tt := range map[string]struct{ request, offset, size string }{
		"offset and limit":       {curl + "offset=200&limit=100'", "offset", "limit"},
		"start and count":        {curl + "start=0&count=100'", "start", "count"},
		"from and size":          {curl + "from=0&size=100'", "from", "size"},
		"skip in brackets":       {curl + "page[skip]=0&page[take]=100'", "page[skip]", "page[take]"},
		"JSON":                   {`curl https://api.example.com/v3/messages -d '{"page": {"offset": 0, "limit": 100}}'`, "page.offset", "page.limit"},
		"a start that is a time": {curl + "start=1795795200&count=100'", "", ""},
		"a start at 1":           {curl + "start=1&count=100'", "", ""},
		"no number of rows":      {curl + "from=0'", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, "=== row\nid: h-1\n\n"+tt.request+"\n"+response)
			require.NoError(t, err)
			note, _ := at(got, "sms.list", "params//").(string)
			if tt.offset == "" {
				assert.Nil(t, at(got, "sms.list", "paging"))
				assert.Nil(t, at(got, "sms.list", "page"))
				assert.Contains(t, note, "paging")
				return
			}
			assert.Equal(t, map[string]any{"offset": tt.offset, "pageSize": tt.size, "page": ""}, at(got, "sms.list", "params"))
			assert.Equal(t, map[string]any{"by": "offset"}, at(got, "sms.list", "paging"))
			assert.Equal(t, map[string]any{"hasNext": []any{"page.more"}}, at(got, "sms.list", "page"))
			assert.NotContains(t, note, "paging")
			assert.Contains(t, note, "page.matches", "a total would end the listing early if it counted the rows of a page")
		})
	}
}

// TestLearnOffsetWithItsSize: the line pageSize names the number of rows, whatever its name.
func TestLearnOffsetWithItsSize(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== row\nid: h-1\npageSize: 200\n\ncurl 'https://api.example.com/v3/messages?start=0&most=200&count=7'\n"+rowText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"offset": "start", "pageSize": "most", "page": ""}, at(got, "sms.list", "params"))
}

// TestLearnOffsetByItsLine: without the line, start=200 may be a time or a sender.
func TestLearnOffsetByItsLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines, query string
		want         map[string]any
	}{
		"with a number of rows":     {"offset: 200\n", "start=200&count=100", map[string]any{"offset": "start", "pageSize": "count", "page": ""}},
		"with the line of its size": {"offset: 200\npageSize: 7\n", "start=200&most=7", map[string]any{"offset": "start", "pageSize": "most", "page": ""}},
		"of the same value":         {"offset: 100\n", "start=100&count=100", map[string]any{"offset": "start", "pageSize": "count", "page": ""}},
		"alone":                     {"offset: 0\n", "begin=0", map[string]any{"offset": "begin", "page": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, "=== row\nid: h-1\n"+tt.lines+"\ncurl 'https://api.example.com/v3/messages?"+tt.query+"'\n"+rowText)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(got, "sms.list", "params"))
			assert.Equal(t, map[string]any{"by": "offset"}, at(got, "sms.list", "paging"))
			note, _ := at(got, "sms.list", "params//").(string)
			assert.NotContains(t, note, "paging")
		})
	}
	_, err := Parse("=== row\nid: h-1\npage: 2\noffset: 200\n\ncurl 'https://api.example.com/v3/messages?page=2&start=200'\n" + rowText)
	require.ErrorContains(t, err, "want one of the lines page:, offset: and cursor:")
}

// TestLearnWarnsOfPageThatMayBeAnOffset: the number of a page is seldom a multiple of the number of rows.
func TestLearnWarnsOfPageThatMayBeAnOffset(t *testing.T) {
	t.Parallel()
	const warning = "200 is a multiple of the page size 100: if it counts rows, write the line offset: and not page:"
	for name, tt := range map[string]struct {
		lines, query string
		want         any
	}{
		"by the name of the size": {"page: 200\n", "page=200&limit=100", warning},
		"by the line of the size": {"page: 200\npageSize: 100\n", "page=200&most=100", warning},
		"a page":                  {"page: 2\n", "page=2&limit=100", nil},
		"the first page":          {"page: 0\n", "page=0&limit=100", nil},
		"without a size":          {"page: 200\n", "page=200", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, "=== row\nid: h-1\n"+tt.lines+"\ncurl 'https://api.example.com/v3/messages?"+tt.query+"'\n"+rowText)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(got, "sms.list", "params", "page//"))
		})
	}
}

// TestLearnMoreFlag: a flag is learned by its name if the request has a page. A word or a number is no flag.
func TestLearnMoreFlag(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]any{
		`"has_more": true`: map[string]any{"hasNext": []any{"meta.has_more"}}, `"hasNextPage": false`: map[string]any{"hasNext": []any{"meta.hasNextPage"}},
		`"more": "/rows?page=2"`: nil, `"more": 1`: nil, `"furthermore": true`: nil,
	} {
		got, err := learnObject(t, "=== row\nid: h-1\npage: 1\n\ncurl 'https://api.example.com/v3/messages?page=1'\n"+
			`{"rows": [{"messageId": "h-1"}], "meta": {`+member+"}}")
		require.NoError(t, err)
		assert.Equal(t, want, at(got, "sms.list", "page"), member)
	}
}

// TestLearnRefusesPaging has lines about a request that does not show them.
func TestLearnRefusesPaging(t *testing.T) {
	t.Parallel()
	const request = "\ncurl 'https://api.example.com/v3/messages?page=1&day=27.11.2026&since=2026-11-27&until=1795356300'\n" + rowText
	for lines, want := range map[string]string{
		"page: 2\n": `nothing in the example has the value of page, "2"`,
		"next: 2\n": `nothing in the example has the value of next, "2"`,
		"createdAfter: 27.11.2026\n": `createdAfter: a contract cannot write a time like "27.11.2026", only like 2026-11-28T14:05:00.000Z or 2026-11-28T14:05:00Z or ` +
			`2026-11-28 14:05:00 or 2026-11-28 or 1795874700 or 1795874700000 or Sat, 28 Nov 2026 14:05:00 GMT or Sat, 28 Nov 2026 14:05:00 +0000: ` +
			`remove the line, and write "createdAfter": "" to sms.list.params`,
		"createdAfter: 2026-11-27\ncreatedBefore: 1795356300\n": "createdBefore: want a time in the form of the other bound",
	} {
		_, err := learnObject(t, "=== row\nid: h-1\n"+lines+request)
		require.ErrorContains(t, err, want)
	}
	_, err := Parse("=== row\nid: h-1\npage: 1\n\n" + rowText)
	require.ErrorContains(t, err, "page: want the curl command of the listing above the response")
	for _, key := range []string{"page", "offset", "pageSize"} {
		_, err = Parse("=== row\nid: h-1\n" + key + ": bWFyay0x\n" + request)
		require.ErrorContains(t, err, key+": want a number; for a cursor, write the line cursor:")
	}
}
