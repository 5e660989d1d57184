package messaging_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// getting sends by GET, to a service that takes no POST and responds with the text "OK 17" to a message that it has accepted as 17.
type getting struct{ base http.RoundTripper }

func (g getting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return g.base.RoundTrip(r) // a listing
	}
	defer r.Body.Close()
	get := r.Clone(r.Context())
	get.Method = http.MethodGet
	get.Header.Set("Cache-Control", "no-store")
	// net/http repeats a GET without a body if its connection breaks. It does not repeat one with a body, even if that is empty.
	get.Body, get.GetBody = io.NopCloser(strings.NewReader("")), nil
	response, err := g.base.RoundTrip(get)
	if err != nil {
		return nil, err
	}
	const longest = 4 << 10
	start, err := io.ReadAll(io.LimitReader(response.Body, longest))
	if err != nil {
		return nil, err // the outcome is unknown
	}
	if id, ok := strings.CutPrefix(strings.TrimSpace(string(start)), "OK "); ok && response.StatusCode == http.StatusOK {
		start = fmt.Appendf(nil, `{"id": %q}`, id)
		response.ContentLength = -1
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), response.Body), response.Body}
	return response, nil
}

// gettingContract puts all fields into the query, and names the service's texts of a refusal.
const gettingContract = `{
	"sms.send": {"encoding": "query"},
	"errors": {"code": [""], "message": [""], "classes": {"insufficientBalance": ["ERR 4*"], "invalid": ["ERR*"]}}
}`

// A service that takes sends by GET, and responds in text, needs a few lines of Go.
func ExampleWithTransport_get() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("to") == "+639170000000" {
			_, _ = io.WriteString(w, "ERR 4 no credit")
			return
		}
		_, _ = io.WriteString(w, "OK 17")
	}))
	defer service.Close()

	names, err := contract.Parse([]byte(gettingContract))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := messaging.NewClient(service.URL, messaging.WithToken("token"), messaging.WithContract(names),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper { return getting{base} }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range []string{"+639171234567", "+639170000000"} {
		receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: to, Text: "Hi"})
		fmt.Println(messaging.VerdictOf(err), receipt.ID)
	}
	// Output:
	// accepted 17
	// refused
}

// A GET that a connection loses is not repeated, and its outcome is unknown.
func TestSendByGETIsNotRepeated(t *testing.T) {
	t.Parallel()
	url, requests := closingService(t)
	names, err := contract.Parse([]byte(gettingContract))
	require.NoError(t, err)
	client, err := messaging.NewClient(url, messaging.WithToken("t"), messaging.WithContract(names),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper { return getting{base} }))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err), "%v", err)
	assert.Equal(t, []string{"GET ", "GET "}, requests())
}
