package sandbox

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
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
	r.api(http.MethodPost, "faults", `{"fault":"status-500","n":1,"to":"0917 123 4567"}`, nil)
	r.api(http.MethodDelete, "faults", "", nil)
	r.api(http.MethodPost, "faults", `{"fault":"status-500","n":1,"to":"639171234567"}`, nil)
	require.NoError(t, send("+639180001111"), "another recipient")
	require.Error(t, send(ana))
	require.NoError(t, send(ana), "once")

	r.api(http.MethodPost, "faults", `{"fault":"status-503","n":1,"operation":"sms.list"}`, nil)
	require.NoError(t, send(ana))
	_, err := client.SMS.Find(t.Context(), ana)
	require.Error(t, err)

	r.api(http.MethodPost, "faults", `{"fault":"status-503","duration":"1h","operation":"chatapp1.send"}`, nil)
	require.NoError(t, send(ana))
	var listed struct{ Rules []faultRule }
	r.api(http.MethodGet, "faults", "", &listed)
	require.Len(t, listed.Rules, 1)
	r.api(http.MethodDelete, "faults/"+itoa(listed.Rules[0].ID), "", &listed)
	assert.Empty(t, listed.Rules)
}

func TestFaultRules(t *testing.T) {
	t.Parallel()
	now := time.Now()
	rules := func(all ...faultRule) *faultRules {
		f := &faultRules{}
		for i := range all {
			require.NoError(t, all[i].check(now))
			f.rules = append(f.rules, all[i])
		}
		return f
	}
	met := func(f *faultRules, at time.Time) string {
		return f.choose("sms.send", ana, at).Fault
	}
	f := rules(faultRule{Fault: "slow", Duration: "30s"}, faultRule{Fault: "not-json", Left: 1})
	assert.Equal(t, "not-json", met(f, now), "the next requests come first")
	assert.Equal(t, "slow", met(f, now.Add(29*time.Second)))
	assert.Empty(t, met(f, now.Add(30*time.Second)))
	assert.Empty(t, f.rules, "it is over")

	f = rules(faultRule{Capacity: 2})
	var names []string
	for range 4 {
		names = append(names, met(f, now))
	}
	assert.Equal(t, []string{"", "", faultOverload, faultOverload}, names)
	assert.Empty(t, met(f, now.Add(time.Second)), "the next second begins anew")

	f, strikes := rules(faultRule{Fault: "slow", Share: 0.5}), 0
	for range 2000 {
		if met(f, now) != "" {
			strikes++
		}
	}
	assert.InDelta(t, 1000, strikes, 200)
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

// TestConclusionAfterAFault says what the client did next, and how often the message was processed.
func TestConclusionAfterAFault(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault string
		next  func(r *rig)
		want  string
	}{
		"nothing":    {"accept-then-drop", func(*rig) {}, `^The client has not asked again\. The message was processed once\.$`},
		"never":      {"drop-unread", func(*rig) {}, `^The client has not asked again\. The message was never processed\.$`},
		"another":    {"accept-then-drop", func(r *rig) { r.sendSMS("ACME", ana, "other") }, `^The client has not asked again\.`},
		"sent again": {"accept-then-drop", func(r *rig) { r.sendSMS("ACME", ana, "Hi") }, `^The client sent it again after [\d.]+m?s\. The message was processed twice\.$`},
		"looked up": {"accept-then-drop", func(r *rig) {
			_, err := r.client().SMS.Find(r.t.Context(), "ref-Hi")
			require.NoError(r.t, err)
		}, `^The client looked it up after [\d.]+m?s\. The message was processed once\.$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			r.api(http.MethodPost, "faults", `{"fault":"`+tc.fault+`","n":1}`, nil)
			client := r.client(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			_, _ = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "ref-Hi"})
			r.exchange(1)
			tc.next(r)
			require.Eventually(t, func() bool {
				return regexp.MustCompile(tc.want).MatchString(r.exchange(1).Conclusion)
			}, 30*time.Second, 5*time.Millisecond, "%s", r.exchange(1).Conclusion)
			contains(t, r.page("page/traffic?exchange=1"), r.exchange(1).Conclusion)
			contains(t, r.page("page/faults"), "See what it did")
		})
	}
}
