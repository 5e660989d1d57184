package sandbox

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestStartHasRealAddressAndToken(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/v2/sms", "encoding": "form", "fields": {"text": "body"}}}`))
	require.NoError(t, err)
	keyNames, err := contract.Parse([]byte(`{"auth": {"keyPair": {"in": "header", "key": "X-Api-Key", "secret": ""}}}`))
	require.NoError(t, err)
	for _, c := range []contract.Contract{contract.Default(), names, keyNames} {
		r := newRig(t, Config{Contract: c})
		page := r.page("")
		contains(t, page, "Waiting for your first message…")
		contains(t, page, "MESSAGING_BASE_URL="+r.url)
		v := r.start(mustRequest(t, r.url))
		require.Len(t, v.Ways, 5)
		for _, way := range v.Ways {
			contains(t, page, way.Code, way.ID)
			assert.Contains(t, way.Code, r.service.Token, way.ID)
			assert.Contains(t, way.Code, r.url, way.ID)
		}
		variable := v.Credentials[0].Name
		contains(t, r.page("page/connect"), "export "+variable+"="+r.service.Token, "Bearer $"+variable)
		for i, way := range [][]string{{"bash", "-c"}, nil, {"python3", "-c"}, {"node", "--input-type=module", "-e"}} {
			if way == nil {
				continue
			}
			program, err := exec.LookPath(way[0])
			if err != nil {
				continue // .ci/full has it
			}
			out, err := exec.CommandContext(t.Context(), program, append(way[1:], v.Ways[i].Code)...).CombinedOutput()
			require.NoError(t, err, "%s: %s", way[0], out)
		}
		for _, m := range r.messages(1) {
			assert.Equal(t, "482913", m.Code)
		}
		lacks(t, r.page(""), "Waiting for your first message")
	}
}

// TestPageShowsTheEnvironmentOfACommand: the page Connect and the file .env have the variables that the command prints, with the contract.
func TestPageShowsTheEnvironmentOfACommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{ContractFile: "/srv/my contract.json"})
	want := []string{"MESSAGING_BASE_URL=" + r.url, "MESSAGING_TOKEN=" + r.service.Token, "MESSAGING_CONTRACT='/srv/my contract.json'"}
	v := r.start(mustRequest(t, r.url))
	assert.Equal(t, strings.Join(want, "\n"), v.Ways[len(v.Ways)-1].Code, ".env")
	contains(t, r.page("page/connect"), "export "+strings.Join(want, "\nexport "))
}

func mustRequest(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	require.NoError(t, err)
	return r
}

func TestSamplesTakeTheRealEndpoint(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for i, sample := range samples() {
		var got struct{ ID, URL string }
		r.api(http.MethodPost, "samples", `{"sample":"`+sample.Name+`"}`, &got)
		m := r.settled(got.ID, func(m Message) bool { return m.State != "" })
		assert.Equal(t, map[bool]string{true: "chatapp2", false: "sms"}[sample.Message != nil], m.Channel)
		x := r.exchange(i + 1)
		assert.Equal(t, http.StatusOK, x.Status, sample.Name)
		contains(t, r.page(strings.TrimPrefix(got.URL, Root)), `id="m-`+got.ID+`"`)
	}
	r.do(http.MethodPost, Root+"samples", `{"sample":"code"}`, spaceHeader, "mine")
	status, text := r.do(http.MethodGet, Root+"messages", "", spaceHeader, "mine")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, "482913")
	status, _ = r.do(http.MethodPost, Root+"samples", `{"sample":"fax"}`)
	assert.Equal(t, http.StatusBadRequest, status)
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"read"}`, nil)
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/d?s=%s"})
	require.NoError(t, err)
	r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == 2 && !m.Pending })
	st := r.lock()
	all := timelineOf(st.book.byID[receipt.ID])
	st.unlock()
	var steps []string
	for i, step := range all {
		steps = append(steps, step.What)
		assert.True(t, i == 0 || !step.At.Before(all[i-1].At))
	}
	assert.ElementsMatch(t, []string{"accepted", "delivered", "webhook called: delivered", "read", "webhook called: read"}, steps)
	assert.Equal(t, "accepted", steps[0])
	contains(t, r.page("?message="+receipt.ID), "webhook called: delivered")
}

func TestRepeatReportsAState(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"read"}`, nil)
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: r.hook.URL + "/d?s=%s"})
	require.NoError(t, err)
	r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == 2 && !m.Pending })
	var got struct{ Calls []Call }
	r.api(http.MethodPost, "messages/"+receipt.ID+"/repeat", `{"about":"delivered"}`, &got)
	require.Len(t, got.Calls, 1)
	assert.Equal(t, "delivered", got.Calls[0].About)
	assert.Equal(t, "delivered", r.hook.requests()[2].URL.Query().Get("s"))
	status, _ := r.do(http.MethodPost, Root+"messages/"+receipt.ID+"/repeat", `{"about":"failed"}`)
	assert.Equal(t, http.StatusBadRequest, status)
	contains(t, r.page("page/traffic?exchange="+itoa(got.Calls[0].Exchange)), "Send again")
}

func TestRepeatNeedsACallbackURL(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	id := r.sendSMS("ACME", ana, "Hi")
	r.settled(id, func(m Message) bool { return m.State == "delivered" })
	status, text := r.do(http.MethodPost, Root+"messages/"+id+"/repeat", `{}`)
	assert.Equal(t, http.StatusBadRequest, status)
	contains(t, text, "the message was sent without a callback URL, or has no state to report")
	contains(t, r.page("?message="+id), "The message was sent without a callback URL.")
}

// TestRepeatIsADuplicate repeats reports, which a receiver with a store handles once. A state that the message enters again is no duplicate.
func TestRepeatIsADuplicate(t *testing.T) {
	t.Parallel()
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "a-long-enough-secret"), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)))
	require.NoError(t, err)
	handled := make(chan string, 10)
	program := httptest.NewServer(hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		handled <- string(report.Status) + report.ErrorCode
		return nil
	}))
	t.Cleanup(program.Close)
	callback, err := hooks.DeliveryURL(program.URL)
	require.NoError(t, err)
	r := newRig(t, Config{})
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: callback})
	require.NoError(t, err)
	calls := 1
	settle := func() {
		r.settled(receipt.ID, func(m Message) bool { return len(m.Calls) == calls && !m.Pending })
	}
	repeat := func(body string) {
		time.Sleep(5 * time.Millisecond) // a report has milliseconds
		r.api(http.MethodPost, "messages/"+receipt.ID+"/repeat", body, nil)
		calls++
	}
	deliver := func(outcome string) {
		time.Sleep(5 * time.Millisecond)
		r.api(http.MethodPost, "deliveries", `{"message":"`+receipt.ID+`",`+outcome+`}`, nil)
		calls++
		settle()
	}
	settle()
	repeat(`{}`)
	deliver(`"outcome":"failed","code":"131026"`)
	repeat(`{}`)
	deliver(`"outcome":"delivered"`)
	repeat(`{"about":"failed"}`)
	repeat(`{"about":"delivered"}`)
	close(handled)
	var got []string
	for report := range handled {
		got = append(got, report)
	}
	assert.Equal(t, []string{"delivered", "failed131026", "delivered"}, got)
}

func TestListShowsFailures(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	hook.status = http.StatusInternalServerError
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	r.api(http.MethodPost, "deliveries", `{"to":"+639180000001","outcome":"failed"}`, nil)
	failed := r.sendSMS("ACME", "+639180000001", "fails")
	r.settled(failed, func(m Message) bool { return m.State == "failed" })
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"+639180000002","text":"Yes"}`, nil)
	page := r.page("")
	contains(t, page, `<span class="tick failed" role="img" aria-label="failed"`)
	contains(t, page, "webhook failed")
}

func TestLinkToUnknownMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "Hi")
	status, page := r.do(http.MethodGet, Root+"?message=msg-99", "")
	assert.Equal(t, http.StatusNotFound, status)
	contains(t, page, "This message is gone")
}

// TestUnknownPath: a browser gets a page. Neither it nor its favicon is traffic.
func TestUnknownPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for _, path := range []string{Root + "page/nothing", "/nothing", "/sms"} {
		status, page := r.do(http.MethodGet, path, "", "Accept", "text/html,*/*")
		assert.Equal(t, http.StatusNotFound, status, path)
		contains(t, page, "There is nothing at <bdi>"+path, path)
	}
	status, _ := r.do(http.MethodGet, "/favicon.ico", "")
	assert.Equal(t, http.StatusSeeOther, status)
	_, traffic := r.do(http.MethodGet, Root+"traffic", "")
	assert.Contains(t, traffic, `"exchanges":[]`)
	status, text := r.do(http.MethodGet, "/nothing", "")
	assert.Equal(t, http.StatusNotFound, status)
	assert.NotContains(t, text, "<html", "a program gets the response of the service")
	r.exchange(1)
}

func TestEachTryHasItsTime(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	hook.status = http.StatusInternalServerError
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	r.api(http.MethodPost, "clock", `{"advance":"24h"}`, nil)
	var got struct{ Calls []Call }
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`, &got)
	require.Len(t, got.Calls, retries+1)
	for i, call := range got.Calls[1:] {
		assert.True(t, call.At.After(got.Calls[i].At), "%v, then %v", got.Calls[i].At, call.At)
	}
	assert.True(t, got.Calls[0].At.After(time.Now().Add(23*time.Hour)), "on the clock")
}

// TestWindow: the page shows whether the 24-hour window is open, and a setting refuses other messages than templates outside it.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, hasWebhook := range []bool{true, false} {
		config := Config{}
		if hasWebhook {
			config.Webhooks = newReceiver(t).webhooks()
		}
		r := newRig(t, config)
		send := func(content string) int {
			status, _ := r.do(http.MethodPost, "/chatapp2/send", `{"messaging_product":"whatsapp","to":"`+ana+`",`+content+`}`)
			return status
		}
		const text, template = `"type":"text","text":{"body":"Hi"}`, `"type":"template","template":{"name":"order","language":{"code":"en"}}`
		page := "?channel=chatapp2&to=639171234567"
		assert.Equal(t, http.StatusOK, send(text), "at the start nothing is refused")
		r.messages(1)
		contains(t, r.page(page), "Outside the 24-hour window")
		r.api(http.MethodPatch, "settings", `{"refuseClosed":true}`, nil)
		assert.Equal(t, http.StatusBadRequest, send(text))
		assert.Equal(t, http.StatusOK, send(template))
		r.api(http.MethodPost, "replies", `{"channel":"chatapp2","from":"`+ana+`","text":"Yes"}`, nil)
		contains(t, r.page(page), "Inside the 24-hour window until "+time.Now().Add(24*time.Hour).Format("Monday, "))
		assert.Equal(t, http.StatusOK, send(text))
		r.api(http.MethodPost, "clock", `{"advance":"25h"}`, nil)
		contains(t, r.page(page), "Outside the 24-hour window")
		assert.Equal(t, http.StatusBadRequest, send(text))
		contains(t, r.page("page/faults"), "refused, as by the platform")
		r.api(http.MethodPatch, "settings", `{"refuseClosed":false}`, nil)
		assert.Equal(t, http.StatusOK, send(text))
	}
}
