package learn

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// firstPage is a page of a listing by cursor.
const firstPage = `{"rows": [{"messageId": "h-1"}], "meta": {"next_cursor": "c-2"}}`

// twoPages is a service that lists two rows by cursor, one on each page. Without its parameter, it responds with the first page.
type twoPages struct{ parameter string }

func (s twoPages) RoundTrip(r *http.Request) (*http.Response, error) {
	page := &stub{status: http.StatusOK, body: firstPage}
	if r.URL.Query().Get(s.parameter) == "c-2" {
		page.body = `{"rows": [{"messageId": "h-2"}], "meta": {"next_cursor": null}}`
	}
	return page.RoundTrip(r)
}

// TestLearnCursor lists two pages by the learned contract.
func TestLearnCursor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines, query, parameter string
		guess                   string // in the comment, or "" if there is no comment
	}{
		"by lines":          {"cursor: c-1\nnext: c-2\n", "at=c-1&limit=1", "at", ""},
		"by a line":         {"cursor: c-1\n", "at=c-1&limit=1", "at", "guessed by their names: at has the cursor of a page, and meta.next_cursor in the response"},
		"by names":          {"", "page_token=c-1&limit=1", "page_token", "guessed by their names: page_token has the cursor of a page"},
		"by a name alone":   {"", "limit=1", "cursor", "no request in the examples has the parameter cursor"},
		"by the line next":  {"next: c-2\n", "limit=1", "cursor", "no request in the examples has the parameter cursor"},
		"with an old after": {"", "after=2026-11-28&cursor=c-1", "cursor", "guessed by their names: cursor has the cursor of a page"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			examples, err := Parse("=== row\nid: h-1\n" + tt.lines + "\ncurl 'https://api.example.com/v3/messages?" + tt.query + "'\n" + firstPage)
			require.NoError(t, err)
			result, err := Learn(examples)
			require.NoError(t, err)
			got := overlayOf(t, result)
			assert.Equal(t, map[string]any{"cursor": tt.parameter, "page": ""}, at(got, "sms.list", "params"))
			assert.Equal(t, map[string]any{"by": "cursor"}, at(got, "sms.list", "paging"))
			assert.Equal(t, map[string]any{"next": []any{"meta.next_cursor"}}, at(got, "sms.list", "page"))
			note, _ := at(got, "sms.list", "paging//").(string)
			assert.Contains(t, note, tt.guess)
			assert.Equal(t, tt.guess == "", note == "", note)
			assert.Equal(t, tt.guess != "", strings.Contains(strings.Join(result.Warnings, "\n"), "guessed"), "it is printed")
			assert.NotContains(t, at(got, "sms.list", "params//"), "paging")

			names, err := contract.Parse([]byte(result.Overlay))
			require.NoError(t, err)
			client, err := messaging.NewClient("http://127.0.0.1", messaging.WithContract(names), messaging.WithToken("token"), messaging.WithPlainHTTP(),
				messaging.WithHTTPClient(&http.Client{Transport: twoPages{tt.parameter}}))
			require.NoError(t, err)
			var ids []string
			for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
				require.NoError(t, err)
				ids = append(ids, tx.ID)
			}
			assert.Equal(t, []string{"h-1", "h-2"}, ids)
		})
	}
}

// TestWrongCursorParameterIsAnError: a listing by a guessed parameter that the service ignores does not end as if it were complete.
func TestWrongCursorParameterIsAnError(t *testing.T) {
	t.Parallel()
	examples, err := Parse("=== row\nid: h-1\npath: /v3/messages\n\n" + firstPage)
	require.NoError(t, err)
	result, err := Learn(examples)
	require.NoError(t, err)
	names, err := contract.Parse([]byte(result.Overlay))
	require.NoError(t, err)
	client, err := (&stub{status: http.StatusOK, body: firstPage}).client(names)
	require.NoError(t, err)
	var last error
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		last = err
	}
	require.ErrorContains(t, last, "the service does not page as the contract says")
}

// TestLearnCursorNeedsNext: without the cursor of the next page, a listing would end after its first page.
func TestLearnCursorNeedsNext(t *testing.T) {
	t.Parallel()
	const request = "\ncurl 'https://api.example.com/v3/messages?cursor=c-1'\n"
	_, err := learnObject(t, "=== row\nid: h-1\ncursor: c-1\n"+request+rowText)
	require.ErrorContains(t, err, "cursor: no member of the response is known to be the cursor of the next page: add the line next:")

	got, err := learnObject(t, "=== row\nid: h-1\n"+request+rowText)
	require.NoError(t, err)
	assert.Nil(t, at(got, "sms.list", "paging"))
	assert.Contains(t, at(got, "sms.list", "paging//"), "not learned: if cursor is the cursor of a page, add the line cursor: and its value")

	for _, value := range []string{"null", `""`} {
		got, err = learnObject(t, "=== row\nid: h-1\n"+request+`{"rows": [{"messageId": "h-1"}], "next_cursor": `+value+`}`)
		require.NoError(t, err)
		assert.Nil(t, at(got, "sms.list", "paging"), value)
		assert.Contains(t, at(got, "sms.list", "paging//"), "not learned: if cursor is the cursor of a page, add the line cursor: and its value")
	}

	for member, value := range map[string]string{"nextToken": `"c-2"`, "next_cursor": "null", "nextCursor": `""`} {
		got, err = learnObject(t, "=== row\nid: h-1\n\n"+`{"rows": [{"messageId": "h-1"}], "`+member+`": `+value+`}`)
		require.NoError(t, err)
		assert.Nil(t, at(got, "sms.list", "paging"), member)
		assert.Contains(t, at(got, "sms.list", "paging//"), "not learned: if "+member+" is the cursor of the next page")
	}
}

// TestLearnNoCursor has pages with a cursor that the request does not use, and members that are none.
func TestLearnNoCursor(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"page: 1\n\ncurl 'https://api.example.com/v3/messages?page=1'\n" + firstPage,
		"offset: 0\n\ncurl 'https://api.example.com/v3/messages?skip=0'\n" + firstPage,
		"\n" + `{"rows": [{"messageId": "h-1", "next_cursor": "c-2"}], "next": "c-2", "nextCursor": true, "nextPage": 2}`,
	} {
		got, err := learnObject(t, "=== row\nid: h-1\n"+text)
		require.NoError(t, err)
		assert.Nil(t, at(got, "sms.list", "params", "cursor"), text)
		assert.NotEqual(t, map[string]any{"by": "cursor"}, at(got, "sms.list", "paging"), text)
		assert.Nil(t, at(got, "sms.list", "paging//"), text)
	}
}

func TestParameterOf(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]string{
		"next_cursor": "cursor", "nextCursor": "cursor", "NextCursor": "Cursor", "nextPageToken": "pageToken", "next-page-token": "page-token",
		"nextToken": "", "next_token": "", "continuationToken": "", "next": "", "next_": "",
	} {
		assert.Equal(t, want, parameterOf(member), member)
	}
}
