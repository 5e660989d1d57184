package messagingtest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	assert.Equal(t, "999999.50", s.Balance(), "a refused message costs nothing")

	for range 2 { // no reference, no duplicate
		send(t, client, s, goodBody).data(t)
		send(t, client, s, `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":""}`).data(t)
	}
	s.Inject(FaultAcceptThenDrop(), 1)
	other := `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":"order-18"}`
	require.Error(t, do(newClient(t), newRequest(t, s, other)).err)
	assert.Equal(t, http.StatusConflict, send(t, client, s, other).status, "it was accepted, although the response was lost")
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
