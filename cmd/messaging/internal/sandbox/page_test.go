package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// fetch returns a page for a browser that has rows already.
func (r *rig) fetch(path, has string) string {
	r.t.Helper()
	status, page := r.do(http.MethodGet, Root+path, "", rowsHeader, has)
	require.Equal(r.t, http.StatusOK, status)
	return page
}

func TestEventCostsWhatChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var seeded []messagingtest.Sent
	for i := range 5000 {
		seeded = append(seeded, messagingtest.Sent{From: "ACME", To: fmt.Sprintf("+63917%07d", i%500), Text: fmt.Sprintf("Message %d: %x", i, i*7919*104729)})
	}
	r.service.Seed(seeded...)
	r.messages(len(seeded))
	path := "?channel=sms&to=639170000007&from=ACME"
	page := r.fetch(path, "")
	has := ""
	for _, row := range regexp.MustCompile(`data-row="(\w+)"`).FindAllStringSubmatch(page, -1) {
		has += " " + row[1]
	}
	r.sendSMS("ACME", "+639170000007", "One more")
	changed := r.fetch(path, has)
	t.Logf("the whole page has %d bytes, an event %d", len(page), len(changed))
	assert.Less(t, len(changed), len(page)/3)
	contains(t, changed, "One more")
	assert.Greater(t, count(changed, "data-same"), 90)
	assert.Zero(t, count(r.fetch(path, "of-another-run"), "data-same"), "what is not known is whole")
	assert.Equal(t, 100, count(page, "data-thread"), "the list has pages")
	contains(t, r.page("?page=2"), "101–200 of 500")
}

func TestStartHasRealAddressAndToken(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/v2/sms", "encoding": "form", "fields": {"text": "body"}}}`))
	require.NoError(t, err)
	for _, c := range []contract.Contract{contract.Default(), names} {
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
	r.mu.Lock()
	all := timelineOf(r.book.byID[receipt.ID])
	r.mu.Unlock()
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

func TestHARExport(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "Hi")
	r.exchange(1)
	_, text := r.do(http.MethodGet, Root+"traffic.har", "")
	log := document.Parse([]byte(text)).At("log")
	assert.Equal(t, "1.2", log.At("version").Text())
	require.Len(t, log.At("entries").List(), 1)
	e := log.At("entries.0")
	assert.Equal(t, r.url+"/sms/send", e.At("request.url").Text())
	assert.Equal(t, "200", e.At("response.status").Text())
	assert.True(t, json.Valid([]byte(e.At("request.postData.text").Text())))
	assert.Contains(t, text, `{"name":"Authorization","value":"Bearer `+masked+`"}`)
	for _, member := range []string{"startedDateTime", "time", "cache", "timings.wait", "request.queryString", "response.content.mimeType", "response.redirectURL"} {
		assert.True(t, e.At(member).Exists(), "HTTP Archive 1.2 requires %s", member)
	}
}

func TestKeepRestoresSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept")
	box, err := New(Config{Keep: file})
	require.NoError(t, err)
	s := box.Sandbox()
	_, err = s.postClock(nil, clockBody{Advance: "1h"})
	require.NoError(t, err)
	_, err = s.postDelivery(nil, deliveryBody{To: ana, Outcome: "failed"})
	require.NoError(t, err)
	_, err = operations()["PATCH settings"](s, &request{body: []byte(`{"balance":"12.50","webhookForm":"json","refuseDuplicates":true,"refuseClosed":true,"listingLag":"5s",
		"webhooks":{"sms":"http://127.0.0.1:1/kept","chatapp1":"http://127.0.0.1:1/kept"}}`)})
	require.NoError(t, err)
	s.service.Seed(messagingtest.Sent{ID: "m-1", To: ana, Text: "gone"})
	require.Eventually(t, func() bool { return s.remove("m-1") }, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, box.Close())

	r := newRig(t, Config{Keep: file, Webhooks: map[string]string{channelSMS: "http://127.0.0.1:1/flag"}})
	now := r.readSettings()
	assert.Equal(t, "1h0m0s", now.Advanced)
	assert.Equal(t, "12.50", now.Balance)
	assert.True(t, now.RefuseDuplicates)
	assert.True(t, now.RefuseClosed)
	assert.Equal(t, "5s", now.ListingLag)
	assert.Equal(t, formJSON, now.WebhookForm)
	assert.Equal(t, map[string]string{"sms": "http://127.0.0.1:1/flag", "chatapp1": "http://127.0.0.1:1/kept"}, now.Webhooks, "a flag wins")
	assert.Empty(t, r.service.Sent(), "what was removed stays away")
	id := r.sendSMS("ACME", ana, "Hi")
	r.settled(id, func(m Message) bool { return m.State == "failed" })
	assert.Equal(t, "12.00", r.service.Balance())
	r.api(http.MethodPost, "reset", `{"all":true}`, nil)
	_, text := r.do(http.MethodGet, Root+"settings", "")
	assert.Contains(t, text, `"advanced":"0s"`)
}

func TestKeepRestoresTheBalanceAfterAKill(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept")
	r := newRig(t, Config{Keep: file})
	r.api(http.MethodPatch, "settings", `{"balance":"2.00"}`, nil)
	r.sendSMS("ACME", ana, "Hi")
	copied := filepath.Join(t.TempDir(), "copy")
	out, err := exec.CommandContext(t.Context(), "cp", file, copied).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "1.50", newRig(t, Config{Keep: copied}).service.Balance())
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
	for _, isRead := range []bool{false, true} {
		if isRead {
			r.api(http.MethodPost, "seen", `{"channel":"sms","to":"+639180000001"}`, nil)
		}
		page := r.page("")
		contains(t, page, `<span class="tick failed" role="img" aria-label="failed"`, isRead)
		contains(t, page, "webhook failed", isRead)
	}
}

func TestLinkToAMessageThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "Hi")
	status, page := r.do(http.MethodGet, Root+"?message=msg-99", "")
	assert.Equal(t, http.StatusNotFound, status)
	contains(t, page, "This message is gone")
}

// TestUnknownPathIsAPage for a person, and neither it nor its favicon is traffic.
func TestUnknownPathIsAPage(t *testing.T) {
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
	require.Len(t, got.Calls, tries+1)
	for i, call := range got.Calls[1:] {
		assert.True(t, call.At.After(got.Calls[i].At), "%v, then %v", got.Calls[i].At, call.At)
	}
	assert.True(t, got.Calls[0].At.After(time.Now().Add(23*time.Hour)), "on the clock")
}

func TestKeepKeepsTheToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept")
	token := ""
	for _, config := range []Config{{Keep: file}, {Keep: file}, {Keep: file, Token: "my-token"}, {Keep: file}} {
		box, err := New(config)
		require.NoError(t, err)
		now := box.Sandbox().service.Token
		switch {
		case config.Token != "":
			assert.Equal(t, config.Token, now)
		case token != "":
			assert.Equal(t, token, now)
		}
		token = now
		require.NoError(t, box.Close())
	}
}

// TestWindow: the page shows a conversation to which the platform takes templates alone, and refuses others if it is asked to.
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

// TestWindowAfterARestart: what the page says and what the service does agree.
func TestWindowAfterARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept")
	box, err := New(Config{Keep: file})
	require.NoError(t, err)
	_, err = box.Sandbox().postReply(newCall(t), Answer{Channel: channelChatApp2, From: ana, Text: "Hi"})
	require.NoError(t, err)
	_, err = operations()["PATCH settings"](box.Sandbox(), &request{body: []byte(`{"refuseClosed":true}`)})
	require.NoError(t, err)
	require.NoError(t, box.Close())
	r := newRig(t, Config{Keep: file})
	contains(t, r.page("?channel=chatapp2&to=639171234567"), "Inside the 24-hour window")
	status, text := r.do(http.MethodPost, "/chatapp2/send", `{"messaging_product":"whatsapp","to":"`+ana+`","type":"text","text":{"body":"Hi"}}`)
	assert.Equal(t, http.StatusOK, status, text)
}

// TestReaderKeepsTheWindow: while somebody reads, newer messages do not push the lines away.
func TestReaderKeepsTheWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var seeded []messagingtest.Sent
	for i := range 300 {
		seeded = append(seeded, messagingtest.Sent{ID: fmt.Sprint("m-", i), From: "ACME", To: ana, Text: fmt.Sprint("text ", i)})
	}
	r.service.Seed(seeded...)
	r.messages(len(seeded))
	_, page := r.do(http.MethodGet, Root+"?channel=sms&to=639171234567", "", readerHeader, "m-150")
	assert.Contains(t, page, `id="m-m-150"`)
	assert.NotContains(t, page, `id="m-m-149"`)
	assert.Contains(t, page, `id="m-m-249"`)
	assert.NotContains(t, page, `id="m-m-250"`)
	assert.Contains(t, page, `data-total="300"`)
	assert.Contains(t, page, "data-newest=")
}
