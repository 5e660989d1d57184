package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChannelIsPausedAndResumed(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")))
		out, said := s.run(0, "pause", "sms")
		assert.Equal(s, "sms is paused; outbox resume sms ends this\n", out)
		assert.Empty(s, said)
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "sms is paused: by a person\n")
		out, _ = s.run(0, "pause", "sms", "--json")
		assert.JSONEq(s, `{"done": "pause", "channel": "sms"}`, out)

		out, _ = s.run(0, "resume", "sms")
		assert.Equal(s, "sms is resumed\n", out)
		out, _ = s.run(0, "resume", "sms")
		assert.Equal(s, "sms was not paused\n", out)
		out, _ = s.run(0, "status")
		assert.NotContains(s, out, "is paused")
		out, _ = s.run(0, "resume", "sms", "--json")
		assert.JSONEq(s, `{"done": "resume", "channel": "sms"}`, out)
		s.work()
		assert.Len(s, s.service.Sent(), 1)

		for _, verb := range []string{"pause", "resume"} {
			_, said = s.run(2, verb, "spring")
			assert.Contains(s, said, `the channel is "spring"; want one of chatapp1, chatapp2, sms`)
			_, said = s.run(2, verb)
			assert.Contains(s, said, "want CHANNEL")
		}
	})
}
