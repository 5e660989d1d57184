package faulttest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

var differential = flag.Bool("differential", false, "20,000 sends in TestVerdictsAgreeWithTheTruth, in place of 2,000")

// TestVerdictsAgreeWithTheTruth sends through an adversary between the client and the service, which knows the truth: no verdict contradicts
// it, and nothing is sent twice.
func TestVerdictsAgreeWithTheTruth(t *testing.T) {
	t.Parallel()
	sends := 2000
	if *differential {
		sends *= 10
	}
	synctest.Test(t, func(t *testing.T) {
		a := &adversary{random: rand.New(rand.NewPCG(4711, 17)), taken: map[string]string{}, times: map[string]int{}}
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), messaging.WithTimeout(5*time.Second),
			messaging.WithHTTPClient(&http.Client{Transport: a}), messaging.WithBreaker(messaging.BreakerPolicy{Off: true}),
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: time.Second}),
			messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: 2 * time.Second}))
		require.NoError(t, err)
		verdicts, settled := map[messaging.Verdict]int{}, 0
		for i := range sends {
			m := sms.Message{From: "ACME", To: fmt.Sprintf("+63917%07d", i), Text: "Hi", ReferenceID: fmt.Sprintf("order-%07d", i)}
			receipt, err := client.SMS.SendOnce(t.Context(), m)
			verdict := messaging.VerdictOf(err)
			verdicts[verdict]++
			id, isTaken := a.taken[m.ReferenceID]
			context := fmt.Sprintf("%s: %s: %v", m.ReferenceID, a.course, err)
			switch verdict {
			case messaging.Accepted:
				require.True(t, isTaken, context)
				require.Equal(t, id, receipt.ID, context)
				if receipt.StatusCode == 0 {
					settled++
				}
			case messaging.Refused, messaging.NotSent:
				require.False(t, isTaken, context)
			}
			require.LessOrEqual(t, a.times[m.ReferenceID], 1, context)
			a.course = nil
		}
		t.Logf("%d sends, %d lookups, %d of them settled by a row: %v", sends, a.lookups, settled, verdicts)
		assert.GreaterOrEqual(t, a.lookups, sends/10)
		for _, verdict := range []messaging.Verdict{messaging.Accepted, messaging.Refused, messaging.Unknown} {
			assert.Greater(t, verdicts[verdict], sends/20, "%v", verdict)
		}
		assert.Greater(t, settled, sends/100)
	})
}

// An adversary is a service behind caches, proxies and faults. It is used by one message at a time.
type adversary struct {
	random  *rand.Rand
	taken   map[string]string // IDs by reference ID: the truth
	times   map[string]int
	last    string   // a response to another message, as a cache keeps it
	list    string   // a listing, as a cache keeps it
	hidden  int      // lookups until the message is listed
	course  []string // of the message that is being sent
	lookups int
}

func (a *adversary) pick(names ...string) string {
	name := names[a.random.IntN(len(names))]
	a.course = append(a.course, name)
	return name
}

// take takes a message, and returns the response of the service.
func (a *adversary) take(reference, to string) string {
	a.times[reference]++
	id := fmt.Sprintf("m-%07d", len(a.taken))
	a.taken[reference] = id
	a.hidden = a.random.IntN(8)
	return fmt.Sprintf(`{"id":%q,"referenceId":%q,"to":%q}`, id, reference, strings.TrimPrefix(to, "+"))
}

var errLost = errors.New("the response is lost")

func (a *adversary) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return a.lookup(r)
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var m struct{ To, ReferenceID string }
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	take := func() string { return a.take(m.ReferenceID, m.To) }
	respond := func(status int, body string, headers ...string) (*http.Response, error) {
		return newResponse(r, status, body, headers...), nil
	}
	other := fmt.Sprintf(`{"id":"x-1","referenceId":%q,"to":"639180000000"}`, m.ReferenceID)
	cached := a.last
	switch a.pick("ok", "ok", "ok", "ok", "refused", "refused", "lost", "lost after", "lost after", "cut", "cached by path", "cached by URL",
		"cache without a header", "late cache", "two messages", "parts", "page", "page after", "gateway", "429", "206", "two IDs", "long ID", "control",
		"another recipient", "hangs", "hangs after", "500", "error with an ID", "duplicate", "named refusal") {
	case "ok":
		a.last = take()
		return respond(200, a.last)
	case "refused":
		return respond(400, `{"code":"200150","message":"invalid"}`)
	case "lost":
		return nil, errLost
	case "lost after":
		take()
		return nil, errLost
	case "cut":
		body := take()
		resp := newResponse(r, 200, "")
		resp.Body, resp.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(body[:len(body)/2]), failing{})), -1
		return resp, nil
	case "cached by path":
		return respond(200, `{"id":"m-0"}`, "Age", "7")
	case "cached by URL":
		return respond(200, `{"id":"m-0"}`, "Age", "3600")
	case "late cache":
		return respond(200, `{"id":"m-0"}`, "Age", "60")
	case "cache without a header":
		if cached == "" {
			return nil, errLost
		}
		return respond(200, cached)
	case "two messages":
		body := take()
		return respond(200, fmt.Sprintf(`{"messages":[%s,{"id":"x-2","code":"200101"}]}`, body))
	case "parts":
		return respond(200, fmt.Sprintf(`{"messages":[%s,{"id":"x-2"}]}`, take()))
	case "page":
		return respond(403, "<html>no</html>")
	case "page after":
		take()
		return respond(404, "<html>no</html>", "Content-Type", "text/html")
	case "gateway":
		take()
		return respond(502, `{"code":"50000"}`)
	case "429":
		return respond(429, `{"code":"40002"}`, "Retry-After", "0")
	case "206":
		return respond(206, other)
	case "two IDs":
		return respond(200, `{"id":"x-1","transactionId":"x-2"}`)
	case "long ID":
		return respond(200, fmt.Sprintf(`{"id":%q}`, strings.Repeat("x", 300)))
	case "control":
		return respond(200, `{"id":"x\u0000"}`)
	case "another recipient":
		return respond(200, other)
	case "hangs":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "hangs after":
		take()
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "500":
		if a.random.IntN(2) == 0 {
			take()
		}
		return respond(500, `{"code":"50000"}`)
	case "error with an ID":
		return respond(200, `{"id":"x-1","error":{"text":"database"}}`)
	case "duplicate":
		return respond(200, `{"id":"x-1","id":"x-2"}`)
	case "named refusal":
		take()
		return respond(400, `{"id":"x-1","code":"E-17"}`)
	}
	panic("an adversary without a move")
}

func (a *adversary) lookup(r *http.Request) (*http.Response, error) {
	a.lookups++
	reference := r.URL.Query().Get("filter[referenceId]")
	row := ""
	if id, isTaken := a.taken[reference]; isTaken {
		if a.hidden--; a.hidden < 0 {
			row = fmt.Sprintf(`{"transactionId":%q,"referenceId":%q,"to":"63917%s"}`, id, reference, strings.TrimPrefix(reference, "order-"))
		}
	}
	listing := func(rows string) string { return `{"hasNext":false,"data":[` + rows + `]}` }
	respond := func(body string, headers ...string) (*http.Response, error) {
		return newResponse(r, 200, body, headers...), nil
	}
	poison := func(format string) (*http.Response, error) { return respond(listing(fmt.Sprintf(format, reference))) }
	stranger := `{"transactionId":"x-1","referenceId":"order-9","to":"639180000000"}`
	switch a.pick("fresh", "fresh", "fresh", "cached", "cache without a header", "filter ignored", "other people's", "claimed", "failed", "hangs",
		"lost", "page", "status of a kind", "error in the row", "ID of a status", "a row without an ID", "masked") {
	case "fresh":
		a.list = listing(row)
		return respond(a.list)
	case "cached":
		return respond(listing(""), "Age", "1")
	case "cache without a header":
		return respond(cmp.Or(a.list, listing("")))
	case "filter ignored":
		return respond(listing(stranger))
	case "other people's":
		return poison(`{"transactionId":"x-1","referenceId":%q,"to":"639180000000"}`)
	case "claimed":
		return respond(`{"data":[],"totalRows":1}`)
	case "failed":
		return respond(`{"data":[],"error":"database"}`)
	case "hangs":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "lost":
		return nil, errLost
	case "page":
		return respond("<html>no</html>")
	case "status of a kind":
		return poison(`{"transactionId":"x-1","referenceId":%q,"sendStatus":{"code":9}}`)
	case "error in the row":
		return poison(`{"transactionId":"x-1","referenceId":%q,"error":{"text":"no route"}}`)
	case "ID of a status":
		return poison(`{"transactionId":"failed","referenceId":%q}`)
	case "a row without an ID":
		return poison(`{"referenceId":%q}`)
	case "masked":
		return poison(`{"transactionId":"x-1","referenceId":%q,"to":"*** 4567"}`)
	}
	panic("an adversary without a move")
}

// failing is the rest of a response that was cut.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
