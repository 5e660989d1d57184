package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const ana = "+639171234567"

func TestMessagesShowWhatWasSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Your code is 482913", ReferenceID: "login-1"})
	require.NoError(t, err)
	m := r.settled(receipt.ID, func(m Message) bool { return m.State == "delivered" })
	assert.Equal(t, "482913", m.Code)
	assert.Equal(t, "login-1", m.ReferenceID)
	assert.Equal(t, receipt.Cost, m.Cost)
	assert.Equal(t, "sent", m.Direction)

	page := r.page("?channel=sms&to=" + url.QueryEscape(ana))
	contains(t, page, "Your code is 482913")
	contains(t, page, "GSM-7 · 1 segment · 0.50")
	contains(t, page, `aria-label="delivered"`)
}

func TestMessagesWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	send := func(to, text string) {
		_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: text})
		assert.NoError(t, err)
	}
	send("+639170000000", "for somebody else")
	done := make(chan struct{})
	go func() {
		defer close(done)
		send(ana, "Code 4821")
	}()
	var got struct{ Messages []Message }
	r.api(http.MethodGet, "messages?to=639171234567&wait=30s", "", &got)
	<-done
	require.Len(t, got.Messages, 1)
	assert.Equal(t, "4821", got.Messages[0].Code)

	last := got.Messages[0].ID
	status, text := r.do(http.MethodGet, Root+"messages?to=+639171234567&wait=10ms&after="+last, "")
	assert.Equal(t, http.StatusRequestTimeout, status, "nothing is newer")
	assert.Contains(t, text, "no such message came within 10ms; the newest are SMS to +639171234567: Code 4821, SMS to +639170000000: for somebody else")
	send(ana, "Code 9137")
	r.api(http.MethodGet, "messages?to=639171234567&wait=30s&after="+last, "", &got)
	require.Len(t, got.Messages, 1)
	assert.Equal(t, "9137", got.Messages[0].Code)

	for _, wrong := range []string{"wait=2h", "wait=soon", "limit=0", "channel=fax", "number=1"} {
		status, text := r.do(http.MethodGet, Root+"messages?"+wrong, "")
		assert.Equal(t, http.StatusBadRequest, status, wrong)
		assert.Contains(t, text, `"error"`, wrong)
	}
}

func TestDeliveryCallsTheCallbackURLInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"read"}`, nil)
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{
		From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/delivery?key=secret&s=%s&id=%i",
	})
	require.NoError(t, err)
	m := r.settled(receipt.ID, func(m Message) bool { return m.State == "read" && !m.Pending && len(m.Calls) >= 2 })
	var states []string
	for _, request := range r.hook.requests() {
		states = append(states, request.URL.Query().Get("s"))
		assert.Equal(t, receipt.ID, request.URL.Query().Get("id"))
	}
	assert.Equal(t, []string{"delivered", "read"}, states)
	assert.NotContains(t, m.Calls[0].URL, "secret")
	assert.Contains(t, m.Calls[0].URL, "s=delivered")

	r.api(http.MethodPost, "deliveries", `{"message":"`+receipt.ID+`","outcome":"failed"}`, nil)
	r.settled(receipt.ID, func(m Message) bool { return m.State == "failed" && len(m.Calls) == 3 && !m.Pending })
	r.api(http.MethodPost, "messages/"+receipt.ID+"/repeat", `{"twice":true}`, nil)
	assert.Len(t, r.hook.requests(), 5)
}

// TestUnreportedDelivery delivers a message without a report, to a recipient and for one message.
func TestUnreportedDelivery(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	send := func() string {
		receipt, err := r.client().SMS.Send(t.Context(), sms.Message{
			From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/hooks/delivery?id=%i&status=%s",
		})
		require.NoError(t, err)
		return receipt.ID
	}
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"unreported"}`, nil)
	unreported := send()
	r.settled(unreported, func(m Message) bool { return m.State == "delivered" && !m.Pending })
	page := r.page("?message=" + unreported)
	contains(t, page, `aria-pressed="true">unreported`)
	contains(t, page, "Its delivery is unreported")
	lacks(t, page, ">Again<")
	status, text := r.do(http.MethodPost, Root+"messages/"+unreported+"/repeat", `{}`)
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, text, "unreported")

	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"delivered"}`, nil)
	reported := send()
	r.settled(reported, func(m Message) bool { return m.State == "delivered" && len(m.Calls) == 1 && !m.Pending })
	r.api(http.MethodPost, "deliveries", `{"message":"`+reported+`","outcome":"unreported"}`, nil)
	status, _ = r.do(http.MethodPost, Root+"messages/"+reported+"/repeat", `{}`)
	assert.Equal(t, http.StatusBadRequest, status)
	require.Len(t, r.hook.requests(), 1)
	assert.Equal(t, reported, r.hook.requests()[0].URL.Query().Get("id"))

	r.api(http.MethodPost, "deliveries", `{"message":"`+unreported+`","outcome":"failed"}`, nil)
	r.settled(unreported, func(m Message) bool { return m.State == "failed" && len(m.Calls) == 1 && !m.Pending })
}

// TestIDsOfRunsDiffer: a program's database may have messages of an earlier run, of another space or of the time before a reset.
func TestIDsOfRunsDiffer(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	send := func(client *messaging.Client) {
		receipt, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
		require.NoError(t, err)
		assert.Regexp(t, `^msg-[a-z2-7]{8}-1$`, receipt.ID)
		ids[receipt.ID] = true
	}
	r := newRig(t, Config{})
	send(r.client())
	send(r.client(messaging.WithToken(r.service.Token + ".signup")))
	r.api(http.MethodPost, "reset", `{"all":true}`, nil)
	send(r.client())
	send(newRig(t, Config{}).client())
	assert.Len(t, ids, 4)
}

// TestFailureIsReportedWithItsCode sets the code for a recipient, and for one message.
func TestFailureIsReportedWithItsCode(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"failed","code":"131026"}`, nil)
	send := func() string {
		receipt, err := r.client().ChatApp2.Send(t.Context(), chatapp2.Message{
			To: ana, Content: chatapp2.Text{Body: "Hi"}, CallbackURL: r.hook.URL + "/hooks/delivery?status=%s",
		})
		require.NoError(t, err)
		return receipt.ID
	}
	failed := send()
	r.settled(failed, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"delivered"}`, nil)
	delivered := send()
	r.settled(delivered, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })
	r.api(http.MethodPost, "deliveries", `{"message":"`+delivered+`","outcome":"failed","code":"131049"}`, nil)
	r.settled(delivered, func(m Message) bool { return len(m.Calls) == 2 && !m.Pending })
	r.api(http.MethodPost, "messages/"+failed+"/repeat", `{}`, nil)

	var codes []string
	for _, request := range r.hook.requests() {
		codes = append(codes, request.URL.Query().Get("status")+" "+request.URL.Query().Get("errorCode"))
	}
	assert.Equal(t, []string{"failed 131026", "delivered ", "failed 131049", "failed 131026"}, codes)
	for body, want := range map[string]string{
		`{"to":"` + ana + `","outcome":"read","code":"131026"}`:                                   "code is for the outcome failed",
		`{"to":"` + ana + `","outcome":"failed","code":"` + strings.Repeat("1", maxName+1) + `"}`: "code is too long",
	} {
		status, text := r.do(http.MethodPost, Root+"deliveries", body)
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Contains(t, text, want)
	}
}

// TestReportIsDelayed: an outcome comes, and is reported, when its time has passed on the clock, on every channel.
func TestReportIsDelayed(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string][]string{
		"delivered": {"sent", "delivered"},
		"read":      {"sent", "delivered", "read"},
		"failed":    {"sent", "failed"},
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"`+outcome+`","after":"10m"}`, nil)
			callback := r.hook.URL + "/hooks/delivery?id=%i&status=%s"
			text, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: callback})
			require.NoError(t, err)
			chat, err := r.client().ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Text{Body: "Hi"}, CallbackURL: callback})
			require.NoError(t, err)
			for _, id := range []string{text.ID, chat.ID} {
				r.settled(id, func(m Message) bool { return m.State == "sent" && len(m.Calls) == 1 && !m.Pending })
			}
			r.api(http.MethodPost, "clock", `{"advance":"9m59s"}`, nil)
			for _, id := range []string{text.ID, chat.ID} {
				r.settled(id, func(m Message) bool { return m.State == "sent" })
			}
			r.api(http.MethodPost, "clock", `{"advance":"1s"}`, nil)
			for _, id := range []string{text.ID, chat.ID} {
				m := r.settled(id, func(m Message) bool { return len(m.Calls) == len(want) && !m.Pending })
				var reported []string
				for _, call := range m.Calls {
					reported = append(reported, call.About)
				}
				assert.Equal(t, want, reported)
				assert.WithinDuration(t, m.At.Add(10*time.Minute), m.States[len(m.States)-1].At, time.Second)
			}
		})
	}
	r := newRig(t, Config{})
	for body, want := range map[string]string{
		`{"to":"` + ana + `","outcome":"unreachable","after":"1s"}`: "after is not for unreachable",
		`{"to":"` + ana + `","outcome":"failed","after":"-1s"}`:     "after must be a duration from 0s to 87600h",
		`{"to":"` + ana + `","outcome":"read","after":"87601h"}`:    "after must be a duration from 0s to 87600h",
	} {
		status, text := r.do(http.MethodPost, Root+"deliveries", body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, text, want)
	}
}

func TestDeliveryIsReportedWithoutPlaceholders(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(
		`{"webhook.delivery": {"placeholders": {"status": "", "id": "", "reference": "", "time": "", "kind": "", "from": "", "to": ""}}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	receipt, err := r.client(messaging.WithContract(names)).SMS.Send(t.Context(), sms.Message{
		From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/hooks/delivery?key=secret", ReferenceID: "order-17",
	})
	require.NoError(t, err)
	m := r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })

	query := r.hook.requests()[0].URL.Query()
	assert.Equal(t, []string{"secret"}, query["key"])
	assert.Equal(t, []string{receipt.ID}, query["messageId"])
	assert.Equal(t, []string{"order-17"}, query["referenceId"])
	assert.Equal(t, []string{"delivered"}, query["status"])
	assert.NotContains(t, m.Calls[0].URL, "secret")
	assert.Contains(t, m.Calls[0].URL, "status=delivered")
}

// TestWebhooksAreCalledAsTheContractSays: replies by JSON, and reports as a form.
func TestWebhooksAreCalledAsTheContractSays(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"webhook.sms": {"encoding": "json"}, "webhook.delivery": {"encoding": "form"}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	receipt, err := r.client(messaging.WithContract(names)).SMS.Send(t.Context(), sms.Message{
		From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/hooks/delivery", ReferenceID: "order-17",
	})
	require.NoError(t, err)
	r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })
	r.api(http.MethodPatch, "settings", `{"webhooks":{"sms":"`+r.hook.URL+`/hooks/sms"}}`, nil)
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"YES"}`, nil)

	requests := r.hook.requests()
	require.Len(t, requests, 2)
	for i, want := range []string{"application/x-www-form-urlencoded", "application/json"} {
		assert.Equal(t, http.MethodPost, requests[i].Method, want)
		assert.Equal(t, want, requests[i].Header.Get("Content-Type"))
	}
}

func TestClockBringsTheFallback(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"channel":"chatapp1","to":"`+ana+`","outcome":"unreachable"}`, nil)
	receipt, err := r.client().ChatApp1.Send(t.Context(), chatapp1.New("channel-1", ana).Text("Hello").WithTTL(10*time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Hello by SMS"}))
	require.NoError(t, err)
	r.settled(receipt.ID, func(m Message) bool { return m.State == "queued" })
	contains(t, r.page("?channel=chatapp1&to=639171234567"), `data-json='{"advance":"10m"}'>Advance the clock 10m, to the end of its lifetime`)

	var now Settings
	r.api(http.MethodPost, "clock", `{"advance":"10m"}`, &now)
	assert.Equal(t, "10m0s", now.Advanced)
	found := r.messages(2)
	r.settled(receipt.ID, func(m Message) bool { return m.State == "expired" && m.Fallback == found[1].ID })
	assert.Equal(t, receipt.ID, found[1].FallbackOf)
	r.settled(found[1].ID, func(m Message) bool { return m.State == "delivered" })
	contains(t, r.page("?channel=chatapp1&to=639171234567"), "Fallback SMS sent")
	contains(t, r.page("?channel=sms&to=639171234567"), "Replaces an earlier message")

	lacks(t, r.page("?message="+receipt.ID), "to the end of its lifetime")
	for _, wrong := range []string{`{"advance":"-1s"}`, `{"advance":"soon"}`, `{"advance":"99999999h"}`, `{}`, `{"message":"msg-9"}`} {
		status, _ := r.do(http.MethodPost, Root+"clock", wrong)
		assert.GreaterOrEqual(t, status, http.StatusBadRequest, wrong)
	}
}

// TestFaultsAgreeWithTheClient injects every fault and compares the page with the client and the ledger.
func TestFaultsAgreeWithTheClient(t *testing.T) {
	t.Parallel()
	for _, kind := range faultKinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			parameters := map[string]string{"slow": `,"delay":"5ms"`, "code": `,"code":"131026"`}
			body := fmt.Sprintf(`{"fault":%q,"n":1%s}`, kind.Name, parameters[kind.Name])
			r.api(http.MethodPost, "faults", body, nil)
			client := r.client(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithTimeout(30*time.Second))
			_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "order-17"})
			verdict := messaging.VerdictOf(err).String()
			assert.True(t, strings.HasPrefix(kind.Verdict, verdict), "%s, not %s", kind.Verdict, verdict)
			held := map[bool]int{true: 1}[kind.InLedger]
			require.Len(t, r.service.Sent(), held)

			var got struct{ Exchanges []Exchange }
			require.Eventually(t, func() bool {
				r.api(http.MethodGet, "traffic", "", &got)
				return len(got.Exchanges) == 1 && (got.Exchanges[0].InLedger == kind.InLedger)
			}, 2*time.Minute, 5*time.Millisecond)
			assert.Equal(t, verdict, got.Exchanges[0].Verdict)
			assert.Equal(t, kind.Name, got.Exchanges[0].Fault)
			var faults struct{ Rules []any }
			r.api(http.MethodGet, "faults", "", &faults)
			assert.Empty(t, faults.Rules, "it was taken")
			for _, sent := range r.service.Sent() {
				r.settled(sent.ID, func(m Message) bool { return m.Fault == kind.Name && m.Exchange == got.Exchanges[0].ID })
			}
			contains(t, r.page("page/faults"), map[bool]string{true: "holds it", false: "does not hold it"}[kind.InLedger])
		})
	}
}

func TestFaultsRefuseWrongInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for body, want := range map[string]string{
		`{"n":1}`:                                                                "fault is missing",
		`{"fault":"status-402","n":1}`:                                           "there is no fault \\\"status-402\\\": it must be one of accept-then-drop, drop-unread, ",
		`{"fault":"slow"}`:                                                       "give n, share or duration",
		`{"fault":"slow","n":-1}`:                                                "n must be",
		`{"fault":"slow","n":1,"share":0.5}`:                                     "n cannot be combined",
		`{"fault":"slow","n":1,"duration":"5s"}`:                                 "n cannot be combined",
		`{"fault":"slow","share":2}`:                                             "share must be",
		`{"fault":"slow","duration":"25h"}`:                                      "duration must be",
		`{"fault":"slow","n":1,"channel":"fax"}`:                                 "not JSON as documented",
		`{"fault":"slow","n":1,"operation":"fax"}`:                               "operation must be",
		`{"fault":"truncated-response","n":1}`:                                   "there is no fault",
		`{"fault":"slow","n":1,"delay":"-1s"}`:                                   "delay must be",
		`{"fault":"slow","n":1,"delay":"long"}`:                                  "delay must be",
		`{"fault":"slow","n":1,"color":"red"}`:                                   "not JSON as documented",
		`{"fault":"slow","n":"1"}`:                                               "n must be a whole number, not a string",
		`{"fault":"slow","n":1.5}`:                                               "n must be a whole number, not number 1.5",
		`{"fault":"status","n":1,"status":"429"}`:                                "status must be a whole number, not a string",
		`{"fault":"slow","n":1,"delay":2}`:                                       "delay must be a string, not a number",
		`{"fault":"slow","share":true}`:                                          "share must be a number, not true or false",
		`{"fault":{},"n":1}`:                                                     "fault must be a string, not an object",
		`[]`:                                                                     "the body must be an object, not a list",
		`{"fault":"page","n":1,"status":199}`:                                    "status must be from 200 to 599",
		`{"fault":"page","n":1,"status":600}`:                                    "status must be",
		`{"fault":"slow","n":1,"status":502}`:                                    "status is not for slow",
		`{"fault":"slow","n":1,"retryAfter":"2s"}`:                               "retryAfter is not for slow",
		`{"fault":"status","n":1,"delay":"2s"}`:                                  "delay is not for status",
		`{"fault":"page","n":1,"code":"131026"}`:                                 "code is not for page",
		`{"fault":"status","n":1,"code":"131026"}`:                               "code is not for status",
		`{"fault":"status","n":1,"retryAfter":"2h"}`:                             "retryAfter must be",
		`{"fault":"status","n":1,"status":199}`:                                  "status must be from 200 to 599",
		`{"fault":"status","n":1,"status":600}`:                                  "status must be from 200 to 599",
		`{"fault":"status-after","n":1,"status":-1}`:                             "status must be from 200 to 599",
		`{"fault":"code","n":1}`:                                                 "code is missing",
		`{"fault":"code","n":1,"code":"131026","status":399}`:                    "status must be from 400 to 599",
		`{"fault":"code","n":1,"code":"` + strings.Repeat("1", maxName+1) + `"}`: "code is too long",
		`{"fault":"slow","n":1,"skip":-1}`:                                       "skip must be",
		`{"fault":"slow","n":1,"skip":100001}`:                                   "skip must be",
		`{"fault":"slow","skip":1}`:                                              "give n, share or duration",
		`[`:                                                                      "not JSON as documented",
		`{"fault":"slow","n":100001}`:                                            "n must be",
		`{"fault":"slow","n":1,"delay":"99999h1s"}`:                              "delay must be",
	} {
		status, text := r.do(http.MethodPost, Root+"faults", body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, text, want, body)
	}
	r.api(http.MethodPost, "faults", `{"fault":"slow","delay":"1s","share":0.25}`, nil)
	r.api(http.MethodPost, "faults", `{"fault":"status","n":2}`, nil)
	contains(t, r.page("page/faults"), "25 %")
	r.api(http.MethodDelete, "faults", "", nil)
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	assert.NoError(t, err)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var now Settings
	r.api(http.MethodPatch, "settings", `{"balance":"0.50","refuseDuplicates":true,"listingLag":"1h","webhooks":{"sms":"http://127.0.0.1:1/h?key=secret"}}`, &now)
	assert.Equal(t, "0.50", now.Balance)
	assert.True(t, now.RefuseDuplicates)
	assert.Equal(t, "1h0m0s", now.ListingLag)
	assert.Equal(t, "http://127.0.0.1:1/h?key=••••", now.Webhooks["sms"])
	client := r.client()
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "order-17"})
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "order-17"})
	assert.ErrorIs(t, err, messaging.ErrDuplicate)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	assert.ErrorIs(t, err, messaging.ErrInsufficientBalance)
	_, err = client.SMS.Find(t.Context(), "order-17")
	assert.ErrorIs(t, err, messaging.ErrNotListed, "the listing lags")
	for _, wrong := range []string{`{"balance":"-1"}`, `{"balance":"1.234"}`, `{"listingLag":"-1s"}`, `{"webhooks":{"sms":"javascript:x"}}`, `{"webhooks":{"fax":""}}`} {
		status, _ := r.do(http.MethodPatch, Root+"settings", wrong)
		assert.Equal(t, http.StatusBadRequest, status, wrong)
	}
}

// TestWebhookWithoutScheme: an address without a scheme means http.
func TestWebhookWithoutScheme(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"localhost:8080/hook":       "http://localhost:8080/hook",
		" localhost/hook ":          "http://localhost/hook",
		"127.0.0.1:8080":            "http://127.0.0.1:8080",
		"[::1]:8080/hook?a=b":       "http://[::1]:8080/hook?a=b",
		"hooks.example.com/sms":     "http://hooks.example.com/sms",
		"https://hooks.example.com": "https://hooks.example.com",
		"hooks/sms":                 "",
		"/hooks/sms":                "",
		"javascript:alert(1)":       "",
		"ftp://localhost/":          "",
		"http://":                   "",
	} {
		assert.Equal(t, want, webhookURL(address), address)
	}
	r := newRig(t, Config{})
	var now Settings
	r.api(http.MethodPatch, "settings", `{"webhooks":{"sms":"localhost:8080/hook"}}`, &now)
	assert.Equal(t, "http://localhost:8080/hook", now.Webhooks["sms"])
}

func TestResetEmptiesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	r.messages(1)
	r.api(http.MethodPost, "faults", `{"fault":"slow","delay":"1s","n":1}`, nil)
	r.api(http.MethodPost, "reset", "", nil)
	assert.Empty(t, r.messages(0))
	assert.Empty(t, r.service.Sent())
	contains(t, r.page(""), "No messages yet")
	contains(t, r.page("page/traffic"), "No traffic")
	_, err = r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	r.messages(1)
}

func TestBookIsBounded(t *testing.T) {
	t.Parallel()
	b := newBook(defaultBounds())
	sent := func(i int, text string) *entry {
		m := messagingtest.Sent{ID: fmt.Sprint("msg-", i), Channel: channelSMS, To: fmt.Sprint("+63917", i%100), Text: text}
		return newEntry(&m, table.Of(contract.Default()), masker{})
	}
	for i := range maxMessages + 500 {
		b.add(sent(i, "Hi"))
	}
	assert.Len(t, b.entries, maxMessages)
	assert.Len(t, b.byID, maxMessages)
	assert.Equal(t, 500, b.dropped)
	assert.Len(t, b.conversations, 100)
	assert.Len(t, b.recent, 100)

	large := strings.Repeat("x", 1<<20)
	for i := range 200 {
		b.add(sent(20_000+i, large))
	}
	assert.LessOrEqual(t, b.bytes, defaultBounds().bytes)
	assert.Equal(t, fmt.Sprint("msg-", 20_199), b.entries[len(b.entries)-1].ID)
}

func TestPageCountsDroppedMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var seeded []messagingtest.Sent
	for i := range maxMessages + 3 {
		seeded = append(seeded, messagingtest.Sent{To: fmt.Sprint("+63917", 1_000_000+i), Text: "Hi"})
	}
	r.service.Seed(seeded...)
	require.Eventually(t, func() bool {
		return strings.Contains(r.page(""), "3 older ones were dropped")
	}, 2*time.Minute, 20*time.Millisecond)
	require.Eventually(t, func() bool { return len(r.service.Sent()) == maxMessages }, 2*time.Minute, 20*time.Millisecond, "the service dropped them too")
	page := r.page("")
	assert.Less(t, len(page), 400_000, "the list has its bounds")
	contains(t, page, "1–100 of 10000")
	contains(t, r.page("?q=639171000500"), "+639171000500")
}

func TestSandboxSpeaksTheContract(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/v2/sms", "fields": {"text": "body"}}, "webhook.delivery": {"statuses": {"delivered": ["DELIVRD"]}}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	receipt, err := r.client(messaging.WithContract(names)).SMS.Send(t.Context(), sms.Message{
		From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/?s=%s", ReferenceID: "order-1",
	})
	require.NoError(t, err)
	r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })
	assert.Equal(t, "DELIVRD", r.hook.requests()[0].URL.Query().Get("s"), "the word of the contract")
	r.exchange(1)
	assert.Equal(t, "Hi", r.exchange(1).Text, "by the name of the contract")
	tx, err := r.client(messaging.WithContract(names)).SMS.Find(t.Context(), "order-1")
	require.NoError(t, err)
	assert.Equal(t, "DELIVRD", tx.DeliveryStatus, "and so in a listing")
}
