package messagingtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShiftRows(t *testing.T) {
	for _, tc := range []struct {
		name, overlay string
		kind          string
		n             int
		query         []string
		want          []string
	}{
		{"by page", `{}`, "page", 1, nil, []string{"m-6 m-5 m-4", "m-4 m-3 m-2", "m-2 m-1"}},
		{"two rows", `{}`, "page", 2, nil, []string{"m-6 m-5 m-4", "m-5 m-4 m-3", "m-4 m-3 m-2", "m-3 m-2 m-1"}},
		{"by offset", overlayByOffset, "offset", 1, nil, []string{"m-6 m-5 m-4", "m-4 m-3 m-2", "m-2 m-1"}},
		{"by cursor", overlayByCursor, "cursor", 1, nil, []string{"m-6 m-5 m-4", "m-3 m-2 m-1"}},
		{"the oldest first", `{}`, "page", 1, []string{"sort[direction]", "asc"}, []string{"m-1 m-2 m-3", "m-3 m-4 m-5", "m-5 m-6"}},
		{"by a column of equals", `{}`, "page", 1, []string{"sort[column]", "from"}, []string{"m-1 m-2 m-3", "m-3 m-4 m-5", "m-5 m-6"}},
		{
			"by its reverse", `{}`, "page", 1,
			[]string{"sort[column]", "to", "sort[direction]", "desc"},
			[]string{"m-6 m-5 m-4", "m-4 m-3 m-2", "m-2 m-1"},
		},
		{"filtered", `{}`, "page", 1, []string{"filter[from]", "ACME"}, []string{"m-6 m-5 m-4", "m-4 m-3 m-2", "m-2 m-1"}},
		{
			"in a window", `{}`, "page", 1,
			[]string{"filter[dateCreatedLt]", "2026-10-03T14:44:23.192Z"},
			[]string{"m-6 m-5 m-4", "m-3 m-2 m-1"},
		},
		{"one page", overlayUnpaged, "none", 1, nil, []string{"m-6 m-5 m-4 m-3 m-2 m-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewServer(t)
			seed(s, 6)
			pageBy(s, tc.kind)
			s.ShiftRows(tc.n)
			size := 3
			if tc.kind == "none" {
				size = 0
			}
			assert.Equal(t, tc.want, walk(t, newClient(t), s, tc.overlay, size, tc.query...))
			assert.Len(t, s.Sent(), 6, "nobody sent the others")
		})
	}
}

func TestShiftRowsByPageSize(t *testing.T) {
	s := NewServer(t)
	seed(s, 4)
	s.ShiftRows(2)
	client := newClient(t)
	for number := range 10 {
		a := list(t, client, s, "pageSize", "2", "pageNumber", fmt.Sprint(number+1))
		assert.Equal(t, "m-4 m-3", a.ids())
		assert.True(t, *a.HasNext)
	}
	s.ShiftRows(0)
	assert.Equal(t, "m-2 m-1", list(t, client, s, "pageSize", "2", "pageNumber", "12").ids())
}

func TestShiftedRowsAreListed(t *testing.T) {
	s := NewServer(t)
	seed(s, 2)
	client := newClient(t)
	s.SetLag(time.Nanosecond)
	s.Seed(Sent{ID: "msg-1", From: "ACME", At: day.Add(time.Second), ReferenceID: "r", Extra: map[string]json.RawMessage{"a": []byte("1")}})
	s.ShiftRows(2)
	list(t, client, s, "pageSize", "1")
	a := list(t, client, s)
	assert.Equal(t, "msg-3 msg-2 msg-1 m-2 m-1", a.ids(), "they pass over an ID that is taken")
	dates := []string{"2026-10-03T14:44:24.188Z", "2026-10-03T14:44:24.187Z", "2026-10-03T14:44:24.186Z"}
	assert.Equal(t, dates, a.column("dateCreated")[:3])
	assert.Equal(t, []string{"<nil>", "<nil>", "r"}, a.column("referenceId")[:3])
	s.Reset()
	seed(s, 2)
	assert.Equal(t, "m-2", list(t, client, s, "pageSize", "1").ids())
	assert.Equal(t, "m-2 m-1", list(t, client, s).ids(), "a reset ends it")
	assert.PanicsWithValue(t, "messagingtest: ShiftRows(-1): the number of rows is negative", func() { s.ShiftRows(-1) })
}

func TestShiftedRowsMatchFilters(t *testing.T) {
	s := NewServer(t)
	for i := range 4 {
		s.Seed(Sent{ID: fmt.Sprint("m-", i), ReferenceID: "r", RequestID: "q", CategoryID: "c", From: "ACME", To: "63917", At: day})
	}
	s.ShiftRows(1)
	client := newClient(t)
	for name, value := range map[string]string{"referenceId": "r", "requestId": "q", "categoryId": "c", "from": "ACME", "to": "63917"} {
		before := *list(t, client, s, "filter["+name+"]", value).TotalRows
		list(t, client, s, "filter["+name+"]", value, "pageSize", "1")
		assert.Equal(t, before+1, *list(t, client, s, "filter["+name+"]", value).TotalRows, name)
	}
}

func TestRepeatPage(t *testing.T) {
	for _, tc := range []struct {
		name, overlay string
		kind          string
		times         int
		want          []string
	}{
		{"once", `{}`, "page", 1, []string{"m-5 m-4", "m-5 m-4", "m-1"}},
		{"twice", `{}`, "page", 2, []string{"m-5 m-4", "m-5 m-4", "m-5 m-4", ""}},
		{"by offset", overlayByOffset, "offset", 1, []string{"m-5 m-4", "m-5 m-4", "m-1"}},
		{"by cursor", overlayByCursor, "cursor", 2, []string{"m-5 m-4", "m-5 m-4", "m-5 m-4", "m-3 m-2", "m-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewServer(t)
			seed(s, 5)
			pageBy(s, tc.kind)
			s.RepeatPage(tc.times)
			client := newClient(t)
			assert.Equal(t, tc.want, walk(t, client, s, tc.overlay, 2))
			assert.Equal(t, []string{"m-5 m-4", "m-3 m-2", "m-1"}, walk(t, client, s, tc.overlay, 2), "it is over")
		})
	}
}

func TestRepeatPageRepeatsResponse(t *testing.T) {
	s := NewServer(t)
	seed(s, 5)
	client := newClient(t)
	page := func(number string) string {
		return string(do(client, newListRequest(t, s, params("pageSize", "2", "pageNumber", number).Encode())).body)
	}
	first, second := page("1"), page("2")
	s.RepeatPage(3)
	assert.Equal(t, first, page("1"))
	assert.Equal(t, first, page("2"))
	assert.Equal(t, first, page("3"))
	assert.Equal(t, first, page("1"), "a listing that begins anew")
	assert.Equal(t, first, page("2"))
	assert.Equal(t, second, page("2"))

	s.RepeatPage(1)
	assert.Equal(t, second, page("3"), "begun before")
	s.RepeatPage(1)
	assert.Equal(t, second, page("99"))
	s.RepeatPage(2)
	s.RepeatPage(0)
	assert.Equal(t, second, page("2"))
	s.RepeatPage(2)
	s.Reset()
	seed(s, 5)
	assert.Equal(t, "m-3 m-2", list(t, client, s, "pageSize", "2", "pageNumber", "2").ids(), "a reset ends it")
	assert.PanicsWithValue(t, "messagingtest: RepeatPage(-1): the number of responses is negative", func() { s.RepeatPage(-1) })
}

func TestIgnoreFilter(t *testing.T) {
	s := NewServer(t)
	seed(s, 3)
	client := newClient(t)
	s.IgnoreFilter(true)
	for _, query := range [][]string{
		{"filter[referenceId]", "r-2"}, {"filter[transactionId]", "nothing"}, {"filter[dateCreatedGt]", "2027-01-01T00:00:00Z"},
	} {
		assert.Equal(t, "m-3 m-2 m-1", list(t, client, s, query...).ids(), query)
	}
	assert.Equal(t, "m-1 m-2", list(t, client, s, "filter[from]", "x", "sort[direction]", "asc", "pageSize", "2").ids())
	assert.Equal(t, codeTime, do(client, newListRequest(t, s, "filter[dateCreatedGt]=x")).code(t))

	pageBy(s, "cursor")
	assert.Equal(t, []string{"m-3 m-2", "m-1"}, walk(t, client, s, overlayByCursor, 2, "filter[from]", "x"))

	s.Reset()
	seed(s, 2)
	assert.Equal(t, "m-2 m-1", list(t, client, s, "filter[referenceId]", "r-2").ids(), "it stays")
	s.IgnoreFilter(false)
	assert.Equal(t, "m-2", list(t, client, s, "filter[referenceId]", "r-2").ids())
}

func TestSetLag(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	seed(s, 1)
	ahead := s.Sent()[0]
	ahead.ID, ahead.At = "ahead", time.Now().Add(24*time.Hour)
	s.Seed(ahead)
	send(t, client, s, goodBody).data(t)
	assert.Len(t, list(t, client, s).Data, 3)

	s.Reset()
	s.Seed(Sent{ID: "old", At: time.Now().Add(-2 * time.Hour)})
	s.SetLag(time.Hour)
	id := send(t, client, s, `{"from":"ACME","to":"+639171234567","text":"Hi","referenceId":"r"}`).data(t)["id"]
	assert.Len(t, s.Sent(), 2)
	assert.Equal(t, "old", list(t, client, s).ids())
	assert.Equal(t, "old", list(t, client, s).ids())
	assert.Empty(t, list(t, client, s, "filter[referenceId]", "r").ids())
	assert.Empty(t, list(t, client, s, "filter[transactionId]", id).ids())
	s.SetLag(3 * time.Hour)
	assert.Empty(t, list(t, client, s).ids())
	s.SetLag(-1)
	assert.Equal(t, id+" old", list(t, client, s).ids())
	assert.Equal(t, id, list(t, client, s, "filter[referenceId]", "r").ids())
}

func TestRefuseDuplicates(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	body := `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":"order-17"}`
	send(t, client, s, body).data(t)
	s.RefuseDuplicates(true)
	r := send(t, client, s, body)
	require.NoError(t, r.err)
	assert.Equal(t, http.StatusConflict, r.status)
	assert.Equal(t, "200206", r.code(t))
	assert.NotContains(t, string(r.body), "order-17")
	assert.Len(t, s.Sent(), 1)
	assert.Equal(t, "999999.50", s.Balance(), "what is refused costs nothing")

	for range 2 { // no reference, no duplicate
		send(t, client, s, goodBody).data(t)
		send(t, client, s, `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":""}`).data(t)
	}
	s.Inject(FaultAcceptThenDrop(), 1)
	other := `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":"order-18"}`
	require.Error(t, do(newClient(t), newRequest(t, s, other)).err)
	assert.Equal(t, http.StatusConflict, send(t, client, s, other).status, "it was accepted, though nobody heard of it")
	s.Seed(Sent{ReferenceID: "order-19"})
	seeded := `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":"order-19"}`
	assert.Equal(t, http.StatusConflict, send(t, client, s, seeded).status)

	s.Reset()
	send(t, client, s, body).data(t)
	assert.Equal(t, http.StatusConflict, send(t, client, s, body).status, "it stays")
	s.RefuseDuplicates(false)
	send(t, client, s, body).data(t)
	assert.Len(t, s.Sent(), 2)
}
