package sandbox

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// sendSMS sends an SMS and returns its ID.
func (r *rig) sendSMS(from, to, text string) string {
	r.t.Helper()
	receipt, err := r.client().SMS.Send(r.t.Context(), sms.Message{From: from, To: to, Text: text, ReferenceID: "ref-" + text})
	require.NoError(r.t, err)
	return receipt.ID
}

// texts returns the texts of the messages that a query returns.
func (r *rig) texts(query string) []string {
	r.t.Helper()
	var got struct{ Messages []Message }
	r.api(http.MethodGet, "messages?"+query, "", &got)
	texts := []string{}
	for _, m := range got.Messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestMessageExistsBeforeResponse(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for i := range 200 {
		r.sendSMS("ACME", ana, fmt.Sprint("Hi ", i))
		require.Equal(t, i+1, r.size()) // directly, because a request would give the sandbox time
	}
}

func TestMessagesAfterACursor(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	first := r.sendSMS("ACME", ana, "m0")
	for i := 1; i < 6; i++ {
		r.sendSMS("ACME", ana, fmt.Sprint("m", i))
	}
	assert.Equal(t, []string{"m1", "m2"}, r.texts("limit=2&after="+first), "the next ones, the oldest first")
	assert.Equal(t, []string{"m4", "m5"}, r.texts("limit=2"), "the newest without a cursor")
	assert.Equal(t, []string{"m4", "m5"}, r.texts("limit=2&start=newest"))
	assert.Equal(t, []string{"m0", "m1"}, r.texts("limit=2&start=oldest"))
	assert.Equal(t, []string{"m1", "m2"}, r.texts("limit=2&start=oldest&after="+first), "the next ones")
	for query, want := range map[string]int{"": 6, "limit=2": 6, "limit=2&after=" + first: 5, "text=m3": 1, "text=none": 0} {
		var got struct{ Total int }
		r.api(http.MethodGet, "messages?"+query, "", &got)
		assert.Equal(t, want, got.Total, "total says whether the limit cut the messages: %s", query)
	}
	for _, list := range []string{"messages", "replies", "calls", "traffic"} {
		r.api(http.MethodGet, list+"?start=oldest", "", nil)
		status, text := r.do(http.MethodGet, Root+list+"?start=first", "")
		assert.Equal(t, http.StatusBadRequest, status, list)
		assert.Contains(t, text, "start must be oldest or newest")
	}
	var traffic struct{ Exchanges []Exchange }
	r.exchange(6)
	r.api(http.MethodGet, "traffic?start=oldest&limit=1", "", &traffic)
	assert.Equal(t, 1, traffic.Exchanges[0].ID)
	status, text := r.do(http.MethodGet, Root+"messages?after=msg-99", "")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, text, "after")
	status, _ = r.do(http.MethodGet, Root+"messages?wait=1s&after=msg-99", "")
	assert.Equal(t, http.StatusNotFound, status, "it does not wait for a cursor")
}

func TestMessagesFilters(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"+639180000000","outcome":"failed"}`, nil)
	r.sendSMS("ACME", ana, "Your Code is 1234")
	r.sendSMS("SHOP", ana, "Shipped")
	failed := r.sendSMS("SHOP", "+639180000000", "Lost")
	r.settled(failed, func(m Message) bool { return m.State == "failed" })
	for query, want := range map[string][]string{
		"from=SHOP": {"Shipped", "Lost"}, "text=code": {"Your Code is 1234"}, "reference=ref-Lost": {"Lost"}, "state=failed": {"Lost"},
		"from=SHOP&to=639171234567": {"Shipped"}, "from=nobody": {},
	} {
		assert.Equal(t, want, r.texts(query), query)
	}
	status, _ := r.do(http.MethodGet, Root+"messages?state=lost", "")
	assert.Equal(t, http.StatusBadRequest, status)
}

func TestMessageWaitsForAState(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"unreachable"}`, nil)
	id := r.sendSMS("ACME", ana, "Hi")
	status, text := r.do(http.MethodGet, Root+"messages/"+id+"?state=delivered&wait=20ms", "")
	assert.Equal(t, http.StatusRequestTimeout, status)
	assert.Contains(t, text, "has not reached the state delivered within 20ms; it is queued")
	assert.Contains(t, text, `"came":["queued"]`)
	status, text = r.do(http.MethodGet, Root+"messages/"+id+"?state=delivered", "")
	assert.Equal(t, http.StatusConflict, status, "it does not wait")
	assert.Contains(t, text, "has not reached the state delivered: it is queued")
	var done sync.WaitGroup
	done.Go(func() { r.api(http.MethodPost, "deliveries", `{"message":"`+id+`","outcome":"read"}`, nil) })
	var m Message
	r.api(http.MethodGet, "messages/"+id+"?state=delivered&wait=30s", "", &m)
	done.Wait()
	var states []string
	for _, s := range m.States {
		states = append(states, string(s.State))
	}
	assert.Equal(t, []string{"queued", "delivered", "read"}, states, "read implies delivered")
	status, _ = r.do(http.MethodGet, Root+"messages/msg-99?wait=10ms", "")
	assert.Equal(t, http.StatusRequestTimeout, status)
	status, _ = r.do(http.MethodGet, Root+"messages/msg-99", "")
	assert.Equal(t, http.StatusNotFound, status)
}

func TestCallsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var got struct{ Calls []WebhookCall }
	status, _ := r.do(http.MethodGet, Root+"calls?wait=10ms", "")
	assert.Equal(t, http.StatusRequestTimeout, status)
	r.api(http.MethodGet, "calls", "", &got)
	assert.Empty(t, got.Calls)
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/d?key=top-secret&s=%s"})
	require.NoError(t, err)
	r.api(http.MethodGet, "calls?about=delivered&status=200&wait=30s&message="+receipt.ID, "", &got)
	require.Len(t, got.Calls, 1)
	assert.Equal(t, receipt.ID, got.Calls[0].Message)
	assert.NotContains(t, got.Calls[0].URL, "top-secret")
	last := got.Calls[0].Exchange
	status, text := r.do(http.MethodGet, Root+"calls?about=failed&wait=10ms", "")
	assert.Equal(t, http.StatusRequestTimeout, status)
	assert.Contains(t, text, "others are delivered → 200 for "+receipt.ID)
	r.api(http.MethodGet, fmt.Sprintf("calls?after=%d", last), "", &got)
	assert.Empty(t, got.Calls)
	for _, wrong := range []string{"status=ok", "after=-1", "limit=0", "wait=2h", "color=red"} {
		status, _ := r.do(http.MethodGet, Root+"calls?"+wrong, "")
		assert.Equal(t, http.StatusBadRequest, status, wrong)
	}
}

// TestManyProgramsWait: each gets a response or a Retry-After.
func TestManyProgramsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for range maxPrograms {
		require.NoError(t, join(r.live.programs))
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+Root+"messages?wait=5s", nil)
	require.NoError(t, err)
	resp, err := r.http.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Equal(t, "1", resp.Header.Get("Retry-After"))
	r.page("") // pages have a bound of their own
}

func TestErrorsAreJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for request, want := range map[string]int{
		"GET /_sandbox/nothing": 404, "GET /_sandbox/static/secret.txt": 404, "PUT /_sandbox/messages": 405, "POST /_sandbox/events": 405,
		"GET /_sandbox/messages/msg-9": 404, "DELETE /_sandbox/faults/9": 404, "PUT /_sandbox/spaces": 405, "DELETE /_sandbox/spaces/nobody": 404,
		"GET /_sandbox/traffic?after=x": 400,
	} {
		method, path, _ := strings.Cut(request, " ")
		status, text := r.do(method, path, "")
		assert.Equal(t, want, status, request)
		assert.Regexp(t, `^\{"error":".+"\}\n$`, text, request)
	}
	status, text := r.do(http.MethodGet, "/", "", "Host", "evil.example.com")
	assert.Equal(t, http.StatusMisdirectedRequest, status)
	assert.Contains(t, text, `{"error":`)
}

func TestSMSConversationsBySender(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "from acme")
	r.sendSMS("SHOP", ana, "from shop")
	list := r.page("")
	assert.Equal(t, 2, count(list, "data-thread"))
	acme := r.page("?channel=sms&to=639171234567&from=ACME")
	log := acme[strings.Index(acme, `id="log"`):]
	contains(t, log, "from acme")
	lacks(t, log[:strings.Index(log, "</footer>")], "from shop")
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","to":"ACME","text":"to acme"}`, nil)
	contains(t, r.page("?channel=sms&to=639171234567&from=ACME"), "to acme")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	id := r.sendSMS("ACME", ana, "Your parcel arrives today")
	r.sendSMS("ACME", ana, "Thank you")
	r.sendSMS("SHOP", "+639180001111", "Nothing to see")
	for query, want := range map[string]bool{
		"+63 917 123 4567": true, "9171234": true, "today PARCEL": true, "parcel missing": false, "ref-your parcel": true, id: true, "acme": true,
		"+63918": false,
	} {
		found := strings.Contains(html.UnescapeString(r.page("?q="+url.QueryEscape(query))), "+639171234567</bdi>")
		assert.Equal(t, want, found, query)
	}
	page := r.page("?q=parcel")
	assert.Equal(t, 1, count(page, "data-thread"))
	contains(t, page, "message="+id, "it opens at the message")
	lacks(t, page, "Thank you")
	for i := range 3 {
		r.exchange(i + 1)
	}
	for query, want := range map[string]int{"parcel": 1, "639180001111": 1, "status-500": 0, "sms.send": 3} {
		assert.Equal(t, want, count(r.page("page/traffic?q="+query), `id="x-`), query)
	}
}

// TestFilterLinks has a filtered list: the chip for all channels removes the filter, and keeps the search.
func TestFilterLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "Your parcel arrives today")
	page := html.UnescapeString(r.page("?only=sms&q=parcel"))
	contains(t, page, `<a href="/_sandbox/?q=parcel" data-nav>All</a>`)
	contains(t, page, `<a href="/_sandbox/?only=chatapp1&q=parcel" data-nav>`)
	contains(t, page, `<a href="/_sandbox/?only=sms&q=parcel" data-nav aria-current="true">`)
}

func TestDeepLinkOpensTheWindowAroundAMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	seeded := make([]messagingtest.Sent, 450)
	for i := range seeded {
		seeded[i] = messagingtest.Sent{ID: fmt.Sprint("m-", i), From: "ACME", To: ana, Text: fmt.Sprint("text ", i)}
	}
	r.service.Seed(seeded...)
	r.messages(len(seeded))
	entries := func(page string) (first, last, n int) {
		ids := strings.Split(page, `id="m-m-`)[1:]
		number := func(text string) int {
			var i int
			_, err := fmt.Sscanf(text, "%d", &i)
			require.NoError(t, err)
			return i
		}
		return number(ids[0]), number(ids[len(ids)-1]), len(ids)
	}
	link := func(page, label string) string {
		before, _, ok := strings.Cut(page, `" data-nav>`+label)
		require.True(t, ok, label)
		return strings.ReplaceAll(strings.TrimPrefix(before[strings.LastIndex(before, `"`)+1:], Root), "&amp;", "&")
	}
	page := r.page("?message=m-100")
	first, last, n := entries(page)
	assert.Equal(t, [3]int{50, 149, 100}, [3]int{first, last, n})
	contains(t, page, `data-at="m-100"`)

	for first > 0 {
		page = r.page(link(page, "Show earlier"))
		first, _, _ = entries(page)
	}
	lacks(t, page, "Show earlier")
	for last = 0; last < 449; _, last, _ = entries(page) {
		page = r.page(link(page, "Show later"))
	}
	lacks(t, page, "Show later")
	_, last, n = entries(r.page("?channel=sms&to=" + url.QueryEscape(ana)))
	assert.Equal(t, [2]int{449, 100}, [2]int{last, n})
}

func TestTimesFollowOneClock(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	r.api(http.MethodPost, "clock", `{"advance":"24h"}`, nil)
	tomorrow := time.Now().Add(23 * time.Hour)
	id := r.sendSMS("ACME", ana, "Hi")
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`, nil)
	var calls struct{ Calls []WebhookCall }
	r.api(http.MethodGet, "calls?wait=30s", "", &calls)
	var answer Message
	r.api(http.MethodGet, "messages/"+calls.Calls[0].Message, "", &answer)
	sent := r.settled(id, func(m Message) bool { return m.State == "delivered" })
	for name, at := range map[string]time.Time{
		"message": sent.At, "state": sent.States[0].At, "answer": answer.At, "call": calls.Calls[0].At, "exchange": r.exchange(1).At,
	} {
		assert.True(t, at.After(tomorrow), "%s: %v", name, at)
	}
}
