package sandbox

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

func TestFaultScope(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	client := r.client(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	send := func(to string) error {
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: "Hi", ReferenceID: to})
		return err
	}
	r.api(http.MethodPost, "faults", `{"fault":"status","status":500,"n":1,"to":"0917 123 4567"}`, nil)
	r.api(http.MethodDelete, "faults", "", nil)
	var added map[string]any
	r.api(http.MethodPost, "faults", `{"fault":"status","status":500,"n":1,"to":"639171234567"}`, &added)
	assert.Equal(t, map[string]any{"id": 2.0, "fault": "status", "status": 500.0, "n": 1.0, "to": "639171234567"}, added)
	require.NoError(t, send("+639180001111"), "another recipient")
	require.Error(t, send(ana))
	require.NoError(t, send(ana), "once")

	r.api(http.MethodPost, "faults", `{"fault":"status","status":503,"n":1,"operation":"sms.list"}`, nil)
	require.NoError(t, send(ana))
	_, err := client.SMS.Find(t.Context(), ana)
	require.Error(t, err)

	r.api(http.MethodPost, "faults", `{"fault":"status","status":503,"duration":"1h","operation":"chatapp1.send"}`, nil)
	require.NoError(t, send(ana))
	var listed struct{ Rules []faultRule }
	r.api(http.MethodGet, "faults", "", &listed)
	require.Len(t, listed.Rules, 1)
	r.api(http.MethodDelete, "faults/"+itoa(listed.Rules[0].ID), "", &listed)
	assert.Empty(t, listed.Rules)
}

// TestSharedPath sends and lists at one path, as in POST and GET /v1/texts: the method decides which operation a request is.
func TestSharedPath(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/v1/texts"}, "sms.list": {"path": "/v1/texts"}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	client := r.client(messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	send := func() error {
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
		return err
	}
	list := func() error {
		for _, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
			return err
		}
		return nil
	}
	require.NoError(t, list())
	assert.Equal(t, sectionList, r.exchange(1).Operation, "as a send, its response would be held back for a message that never comes")

	r.api(http.MethodPost, "faults", `{"fault":"status","status":503,"n":1,"operation":"sms.send"}`, nil)
	require.NoError(t, list(), "the fault is for sends")
	require.Error(t, send())
	r.api(http.MethodPost, "faults", `{"fault":"status","status":503,"n":1,"operation":"sms.list"}`, nil)
	require.NoError(t, send(), "the fault is for listings")
	require.Error(t, list())
}

// TestFaultRefusesRecipient: a recipient is refused with each status and code until the rule is removed, and another is not.
func TestFaultRefusesRecipient(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]struct {
		status int
		code   string
	}{
		`"fault":"code","code":"131026"`:           {http.StatusBadRequest, "131026"},
		`"fault":"code","code":"NO-SUCH"`:          {http.StatusBadRequest, "NO-SUCH"},
		`"fault":"code","code":"368","status":403`: {http.StatusForbidden, "368"},
		`"fault":"status","status":400`:            {http.StatusBadRequest, "40003"},
		`"fault":"status","status":401`:            {http.StatusUnauthorized, "40001"},
		`"fault":"status","status":403`:            {http.StatusForbidden, ""},
		`"fault":"status","status":409`:            {http.StatusConflict, ""},
		`"fault":"status","status":422`:            {http.StatusUnprocessableEntity, ""},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			client := r.client(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			r.api(http.MethodPost, "faults", `{`+fault+`,"share":1,"to":"`+ana+`"}`, nil)
			for range 2 { // until the rule is removed
				_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
				require.Equal(t, messaging.Refused, messaging.VerdictOf(err), "%v", err)
				var failed *messaging.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, want.status, failed.StatusCode)
				assert.Equal(t, want.code, failed.Code)
				if want.status == http.StatusBadRequest {
					require.ErrorIs(t, err, messaging.ErrInvalid)
				}
			}
			_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639180001111", Text: "Hi"})
			require.NoError(t, err)
			assert.Len(t, r.service.Sent(), 1)
			r.api(http.MethodDelete, "faults", "", nil)
			_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
			require.NoError(t, err)
		})
	}
}

// TestVerdictOfEveryStatus compares the verdict that the page shows with that of the client.
func TestVerdictOfEveryStatus(t *testing.T) {
	t.Parallel()
	for _, kind := range faultKinds() {
		if !slices.Contains(kind.Parameters, "status") {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			client := r.client(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithBreaker(messaging.BreakerPolicy{Off: true}))
			code := map[string]string{"code": `,"code":"131026"`}[kind.Name]
			for status := kind.MinStatus; status <= maxStatus; status++ {
				r.api(http.MethodPost, "faults", `{"fault":"`+kind.Name+`","n":1,"status":`+itoa(status)+code+`}`, nil)
				_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
				require.Error(t, err, "%d", status)
				assert.Equal(t, messaging.VerdictOf(err).String(), r.exchange(status-kind.MinStatus+1).Verdict, "%d: %v", status, err)
			}
			sent := 0
			if kind.InLedger {
				sent = maxStatus - kind.MinStatus + 1
			}
			assert.Len(t, r.service.Sent(), sent)
		})
	}
}

// TestRateLimitPasses lets two requests pass, then limits the rate for one, which the client repeats.
func TestRateLimitPasses(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "faults", `{"fault":"status","status":429,"retryAfter":"1s","skip":2,"n":1}`, nil)
	contains(t, r.page("page/faults"), "after 2 · 1 ×")
	contains(t, r.page("page/faults"), "status 429 1s")
	for range 3 {
		_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
		require.NoError(t, err, "the third message is retried")
	}
	var statuses []int
	for id := 1; id <= 4; id++ {
		statuses = append(statuses, r.exchange(id).Status)
	}
	assert.Equal(t, []int{200, 200, 429, 200}, statuses)
	limited := r.exchange(3)
	assert.Contains(t, limited.ResponseHeader, Header{Name: "Retry-After", Value: "1"})
	assert.Equal(t, verdictRefused, limited.Verdict)
}

// TestDurationBeginsAfterSkip: a limit for some seconds begins when the requests that pass first have passed.
func TestDurationBeginsAfterSkip(t *testing.T) {
	t.Parallel()
	now := time.Now()
	rule := faultRule{Fault: "status", Skip: 1, Duration: "30s"}
	require.NoError(t, rule.compile(now))
	f := &faultRules{rules: []faultRule{rule}}
	met := func(at time.Time) string { return f.choose("sms.send", ana, at).Fault }
	later := now.Add(time.Hour)
	assert.Empty(t, met(later), "it passes")
	assert.Equal(t, "status", met(later.Add(29*time.Second)))
	assert.Empty(t, met(later.Add(30*time.Second)))
	assert.Empty(t, f.rules, "it is over")
}

func TestFaultRules(t *testing.T) {
	t.Parallel()
	now := time.Now()
	rules := func(all ...faultRule) *faultRules {
		f := &faultRules{}
		for i := range all {
			require.NoError(t, all[i].compile(now))
			f.rules = append(f.rules, all[i])
		}
		return f
	}
	met := func(f *faultRules, at time.Time) string {
		return f.choose("sms.send", ana, at).Fault
	}
	f := rules(faultRule{Fault: "slow", Delay: "1s", Duration: "30s"}, faultRule{Fault: "not-json", Left: 1})
	assert.Equal(t, "not-json", met(f, now), "the next requests come first")
	assert.Equal(t, "slow", met(f, now.Add(29*time.Second)))
	assert.Empty(t, met(f, now.Add(30*time.Second)))
	assert.Empty(t, f.rules, "it is over")

	f = rules(faultRule{Fault: "slow", Delay: "1s", Share: 0.5})
	hits := 0
	for range 2000 {
		if met(f, now) != "" {
			hits++
		}
	}
	assert.InDelta(t, 1000, hits, 200)
}

// TestFaultsHaveTheNamesOfMessagingtest: every fault has the name of its function, and every function is a fault.
func TestFaultsHaveTheNamesOfMessagingtest(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../../messagingtest/fault.go")
	require.NoError(t, err)
	var functions []string
	for _, function := range regexp.MustCompile(`(?m)^func Fault(\w+)\(`).FindAllStringSubmatch(string(source), -1) {
		functions = append(functions, strings.ToLower(function[1]))
	}
	var names []string
	for _, kind := range faultKinds() {
		name := strings.ReplaceAll(kind.Name, "-", "")
		assert.Equal(t, "fault"+name, strings.ToLower(kind.Go))
		names = append(names, name)
		rule := faultRule{kind: kind, Status: kind.DefaultStatus, Code: "131026", delay: time.Second}
		assert.NotZero(t, rule.fault(), kind.Name)
	}
	assert.ElementsMatch(t, functions, names)
}

func TestFaultShowsOnTheMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "faults", `{"fault":"accept-then-drop","n":1}`, nil)
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	m := r.messages(1)[0]
	r.exchange(1)
	m = r.settled(m.ID, func(m Message) bool { return m.Exchange == 1 })
	assert.Equal(t, "accept-then-drop", m.Fault)
	contains(t, r.page("?message="+m.ID), `<span class="mark warn">accept-then-drop</span>`)
	contains(t, r.page("page/traffic"), "accept-then-drop")
	assert.Equal(t, "accept-then-drop", r.exchange(1).Fault)
}
