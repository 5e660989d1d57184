package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestCampaignIsLoadedPausedAndCancelled(t *testing.T) {
	onBoth(t, func(s shell) {
		for _, verb := range []string{"pause", "resume", "cancel"} {
			_, said := s.run(2, "campaign", verb, "spring")
			assert.Contains(s, said, `there is no campaign "spring"`)
		}
		file := s.file("a.csv", "from,to,text,reference,priority,expire\nACME,+639171234567,Hi,a,,\nACME,+639171234567,Hi,b,urgent,1h\n")
		out, _ := s.run(0, "load", file, "--campaign", "spring")
		assert.Equal(s, "enqueued: 2; known: 0\n", out)
		s.run(0, "load", s.file("b.jsonl", strings.Replace(line("c"), "{", `{"campaign": "summer", "at": "2040-01-01T00:00:00Z", `, 1)))
		out, _ = s.run(0, "campaign", "pause", "spring")
		assert.Equal(s, "pause: 2\n", out)
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "campaign spring: 2 pending\ncampaign summer: 1 scheduled\n")
		out, _ = s.run(0, "status", "--json")
		assert.Contains(s, out, `"campaigns":[{"name":"spring","states":{"pending":2}},{"name":"summer","states":{"scheduled":1}}]`)
		out, _ = s.run(0, "campaign", "resume", "spring")
		assert.Equal(s, "resume: 2\n", out)
		out, _ = s.run(0, "campaign", "cancel", "summer", "--json")
		assert.JSONEq(s, `{"done": "cancel", "messages": 1}`, out)
		s.work()
		assert.Len(s, s.service.Sent(), 2)
		assert.Equal(s, "b", s.service.Sent()[0].ReferenceID, "urgent messages go first")
	})
}

func TestStatusShowsPauses(t *testing.T) {
	onBoth(t, func(s shell) {
		s.work() // River makes its queues
		queues := "river_queue"
		if s.schema != "" {
			queues = s.schema + "." + queues
		}
		s.exec("UPDATE " + queues + " SET paused_at = CURRENT_TIMESTAMP WHERE name = 'messaging_sms'")
		out, _ := s.run(0, "status")
		assert.Contains(s, out, "sms is paused: by a person")
		assert.NotContains(s, out, "chatapp1 is paused")
	})
}

// TestLoadNamesWhatItDoesNotKnow: an expiry is not lost because a command is old.
func TestLoadNamesWhatItDoesNotKnow(t *testing.T) {
	onBoth(t, func(s shell) {
		for body, want := range map[string]string{
			strings.Replace(line("a"), "{", `{"until": "x", `, 1):    `line 1: there is no member "until"`,
			strings.Replace(line("a"), "{", `{"priority": "x", `, 1): `line 1: the priority is "x"; want urgent, normal, bulk or 1 to 4`,
			strings.Replace(line("a"), "{", `{"at": "noon", `, 1):    `line 1: the time is "noon"`,
			strings.Replace(line("a"), "{", `{"expire": "-1s", `, 1): `line 1: the expiry is "-1s"`,
		} {
			_, said := s.run(2, "load", s.file("a.jsonl", body))
			assert.Contains(s, said, want)
		}
	})
}

func TestTextFromOutsideIsEscaped(t *testing.T) {
	onBoth(t, func(s shell) {
		reference := "a\x1b[2J\nb"
		quoted, err := json.Marshal(reference)
		require.NoError(s, err)
		s.service.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: reference})
		s.run(0, "load", s.file("a.jsonl", strings.Replace(line("x"), `"x"`, string(quoted), 1)))
		out, _ := s.run(1, "audit")
		assert.Contains(s, out, `a\x1b[2J\nb`)
		assert.NotContains(s, out, "\x1b")
	})
}
