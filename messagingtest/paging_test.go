package messagingtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walk reads a whole listing as an overlay says, with the names of the default contract where it says nothing, and
// returns the IDs page by page.
func walk(t *testing.T, client *http.Client, s *Server, overlay string, size int, namesAndValues ...string) (pages []string) {
	t.Helper()
	var contract struct {
		List struct {
			Paging struct{ By string }
			Params map[string]string
		} `json:"sms.list"`
	}
	contract.List.Paging.By = "page"
	contract.List.Params = map[string]string{"page": "pageNumber", "pageSize": "pageSize"}
	require.NoError(t, json.Unmarshal([]byte(overlay), &contract))
	names := contract.List.Params
	query := params(namesAndValues...)
	set := func(concept, value string) {
		require.NotEmpty(t, names[concept], "the overlay names no parameter for %s", concept)
		query.Set(names[concept], value)
	}
	if size > 0 {
		set("pageSize", strconv.Itoa(size))
	}
	rows := 0
	for {
		a := readList(t, do(client, newListRequest(t, s, query.Encode())))
		pages = append(pages, a.ids())
		rows += len(a.Data)
		require.Less(t, len(pages), 50, "the listing does not end")
		switch contract.List.Paging.By {
		case "page":
			set("page", strconv.Itoa(len(pages)+1))
		case "offset":
			set("offset", strconv.Itoa(rows))
		case "cursor":
			if a.NextPage != nil {
				set("cursor", a.NextPage.(string))
			}
			assert.Equal(t, *a.HasNext, a.NextPage != nil)
		}
		if a.HasNext == nil || !*a.HasNext {
			return pages
		}
	}
}

func TestPagingOverlays(t *testing.T) {
	for _, tc := range []struct {
		kind    string
		overlay string
		size    int
		want    []string
	}{
		{"page", `{}`, 2, []string{"m-5 m-4", "m-3 m-2", "m-1"}},
		{"page", `{}`, 5, []string{"m-5 m-4 m-3 m-2 m-1"}},
		{"page", `{}`, 0, []string{"m-5 m-4 m-3 m-2 m-1"}},
		{"offset", overlayByOffset, 2, []string{"m-5 m-4", "m-3 m-2", "m-1"}},
		{"offset", overlayByOffset, 0, []string{"m-5 m-4 m-3 m-2 m-1"}},
		{"cursor", overlayByCursor, 2, []string{"m-5 m-4", "m-3 m-2", "m-1"}},
		{"cursor", overlayByCursor, 0, []string{"m-5 m-4 m-3 m-2 m-1"}},
		{"none", overlayUnpaged, 0, []string{"m-5 m-4 m-3 m-2 m-1"}},
	} {
		t.Run(fmt.Sprint(tc.kind, tc.size), func(t *testing.T) {
			s := NewServer(t)
			seed(s, 5)
			pageBy(s, tc.kind)
			assert.Equal(t, tc.want, walk(t, newClient(t), s, tc.overlay, tc.size))
		})
	}
}

func TestByPage(t *testing.T) {
	s := NewServer(t)
	seed(s, 5)
	client := newClient(t)
	for _, tc := range []struct{ number, want, rest string }{
		{"1", "m-5 m-4", `"pageNumber":1,"hasNext":true,"nextPage":2`},
		{"2", "m-3 m-2", `"pageNumber":2,"hasNext":true,"nextPage":3`},
		{"3", "m-1", `"pageNumber":3,"hasNext":false,"nextPage":null`},
		{"4", "", `"pageNumber":4,"hasNext":false,"nextPage":null`},
		{"2147483647", "", `"pageNumber":2147483647,"hasNext":false,"nextPage":null`},
	} {
		a := list(t, client, s, "pageSize", "2", "pageNumber", tc.number)
		assert.Equal(t, tc.want, a.ids())
		delete(a.raw, "data")
		rest, err := json.Marshal(a.raw)
		require.NoError(t, err)
		assert.JSONEq(t, `{"totalRows":5,"totalPages":3,"pageSize":2,`+tc.rest+`}`, string(rest))
	}
}

func TestDefaultPageSize(t *testing.T) {
	s := NewServer(t)
	seed(s, 1001)
	client := newClient(t)
	a := list(t, client, s)
	assert.Len(t, a.Data, 100)
	assert.Equal(t, 11, *a.TotalPages)
	assert.Len(t, list(t, client, s, "pageSize", "1000").Data, 1000)
	pageBy(s, "none")
	assert.Len(t, list(t, client, s).Data, 1001)
}

func TestByOffset(t *testing.T) {
	s := NewServer(t)
	seed(s, 5)
	pageBy(s, "offset")
	client := newClient(t)
	for _, tc := range []struct {
		offset, want, hasNext string
	}{
		{"0", "m-5 m-4", "true"},
		{"1", "m-4 m-3", "true"},
		{"3", "m-2 m-1", "false"},
		{"4", "m-1", "false"},
		{"5", "", "false"},
		{"2147483647", "", "false"},
	} {
		a := list(t, client, s, "pageSize", "2", "offset", tc.offset)
		assert.Equal(t, tc.want, a.ids())
		delete(a.raw, "data")
		rest, err := json.Marshal(a.raw)
		require.NoError(t, err)
		assert.JSONEq(t, `{"totalRows":5,"pageSize":2,"hasNext":`+tc.hasNext+`}`, string(rest))
	}
}

func TestByCursor(t *testing.T) {
	s := NewServer(t)
	seed(s, 5)
	pageBy(s, "cursor")
	client := newClient(t)
	first := list(t, client, s, "pageSize", "2", "filter[from]", "ACME")
	assert.JSONEq(t, `true`, string(first.raw["hasNext"]))
	assert.NotContains(t, first.raw, "pageNumber")
	assert.NotContains(t, first.raw, "totalPages")
	cursor := first.NextPage.(string)
	assert.Contains(t, cursor, "&", "a client that does not escape it is refused")

	// It marks a row: other sizes and new rows in front change nothing.
	s.Seed(Sent{From: "ACME", ID: "new"})
	a := list(t, client, s, "pageSize", "3", "filter[from]", "ACME", "cursor", cursor)
	assert.Equal(t, "m-3 m-2 m-1", a.ids())
	assert.JSONEq(t, `false`, string(a.raw["hasNext"]))
	assert.JSONEq(t, `null`, string(a.raw["nextPage"]))
	assert.Equal(t, 6, *a.TotalRows)

	for name, query := range map[string][]string{
		"another filter":    {"filter[from]", "Other"},
		"no filter":         {},
		"one more filter":   {"filter[from]", "ACME", "filter[dateCreatedGt]", "2026-10-01T00:00:00Z"},
		"another direction": {"filter[from]", "ACME", "sort[direction]", "asc"},
		"another column":    {"filter[from]", "ACME", "sort[column]", "to", "sort[direction]", "desc"},
	} {
		r := do(client, newListRequest(t, s, params(append(query, "cursor", cursor)...).Encode()))
		assert.Equal(t, http.StatusBadRequest, r.status, name)
		assert.Equal(t, codeCursor, r.code(t), name)
	}
	// Unescaped, it ends at the ampersand.
	assert.Equal(t, http.StatusBadRequest, do(client, newListRequest(t, s, "filter[from]=ACME&cursor="+cursor)).status)

	s.Reset()
	r := do(client, newListRequest(t, s, params("filter[from]", "ACME", "cursor", cursor).Encode()))
	assert.Equal(t, codeCursor, r.code(t), "the row is gone")
}

func TestByCursorInEveryOrder(t *testing.T) {
	s := NewServer(t)
	for i := range 9 {
		s.Seed(Sent{ID: fmt.Sprint("m-", i), From: fmt.Sprint(i % 2), At: day})
	}
	pageBy(s, "cursor")
	client := newClient(t)
	for _, column := range []string{"transactionId", "from", "dateCreated", "country"} {
		for _, direction := range []string{"asc", "desc"} {
			for size := range 4 {
				pages := walk(t, client, s, overlayByCursor, size+1, "sort[column]", column, "sort[direction]", direction)
				want := list(t, client, s, "sort[column]", column, "sort[direction]", direction).ids()
				assert.Equal(t, want, strings.Join(pages, " "))
			}
		}
	}
}

func TestUnpaged(t *testing.T) {
	s := NewServer(t)
	seed(s, 3)
	pageBy(s, "none")
	a := list(t, newClient(t), s, "filter[dateCreatedGt]", "2026-10-03T14:44:23.186Z", "sort[direction]", "asc")
	assert.Equal(t, "m-2 m-3", a.ids())
	delete(a.raw, "data")
	rest, err := json.Marshal(a.raw)
	require.NoError(t, err)
	assert.JSONEq(t, `{"totalRows":2}`, string(rest))
}
