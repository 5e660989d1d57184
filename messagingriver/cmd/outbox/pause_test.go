package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A message that waits says why: its campaign or its channel is paused, or it has expired.
func TestShowSaysWhatHoldsAMessageBack(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")), "--campaign", "spring")
		s.run(0, "load", s.file("b.jsonl", line("b")), "--expire", "1s")
		out, _ := s.run(0, "show", "a")
		assert.NotContains(s, out, "held back")
		s.run(0, "campaign", "pause", "spring")
		out, _ = s.run(0, "show", "a")
		assert.Regexp(s, `(?m)^held back +campaign spring is paused; outbox campaign resume spring ends this$`, out)

		s.run(0, "pause", "sms")
		out, said := s.run(0, "campaign", "resume", "spring")
		assert.Equal(s, "resume: 1\n", out)
		assert.Equal(s, "sms is paused by a person; outbox resume sms ends this\n", said)
		out, _ = s.run(0, "show", "a")
		assert.Regexp(s, `(?m)^held back +sms is paused by a person; outbox resume sms ends this$`, out)
		time.Sleep(1500 * time.Millisecond)
		out, _ = s.run(0, "show", "b")
		assert.Regexp(s, `(?m)^held back +it has expired, and will not be sent, and sms is paused by a person`, out)

		s.run(0, "resume", "sms")
		out, said = s.run(0, "campaign", "resume", "spring")
		assert.Equal(s, "resume: 0\n", out)
		assert.Empty(s, said)
		s.work()
		for _, reference := range []string{"a", "b"} {
			out, _ = s.run(0, "show", reference)
			assert.NotContains(s, out, "held back")
		}
	})
}

// A campaign without a pending message is not paused: who drops the last one has to know.
func TestResolveSaysThatACampaignIsNotPausedAnyMore(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")+"\n"+line("b")), "--campaign", "spring")
		s.run(0, "campaign", "pause", "spring")
		out, _ := s.run(0, "resolve", "drop", "a")
		assert.Equal(s, "drop: 1 of 1\n", out)
		out, _ = s.run(0, "resolve", "drop", "b")
		assert.Equal(s, "campaign spring is no longer paused, because none of its messages is pending: messages that are enqueued later are sent\ndrop: 1 of 1\n", out)
		s.run(0, "load", s.file("c.jsonl", line("c")), "--campaign", "spring")
		s.run(0, "campaign", "pause", "spring")
		out, _ = s.run(0, "resolve", "sent", "c", "--json")
		assert.JSONEq(s, `{"done": "sent", "messages": 1, "unpaused": ["spring"]}`, out)
	})
}

func TestChannelIsPausedAndResumed(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")))
		out, said := s.run(0, "pause", "sms")
		assert.Equal(s, "sms is paused; outbox resume sms ends this\n", out)
		assert.Empty(s, said)
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "sms is paused by a person; outbox resume sms ends this\n")
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
