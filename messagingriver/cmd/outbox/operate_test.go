package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
)

func TestCampaignIsLoadedPausedAndCancelled(t *testing.T) {
	onBoth(t, func(s shell) {
		for _, args := range [][]string{{"pause"}, {"resume"}, {"cancel"}, {"status"}} {
			_, said := s.run(2, append(args, "--campaign", "spring")...)
			assert.Contains(s, said, `there is no campaign "spring"`)
		}
		file := s.file("a.csv", "from,to,text,reference,priority,expire\nACME,+639171234567,Hi,a,,\nACME,+639171234567,Hi,b,urgent,1h\n")
		out, _ := s.run(0, "load", file, "--campaign", "spring")
		assert.Equal(s, "enqueued: 2; known: 0\n", out)
		out, _ = s.run(0, "load", s.file("b.jsonl", strings.Replace(line("c"), "{", `{"campaign": "summer", "at": "2040-01-01T00:00:00Z", `, 1)))
		assert.Equal(s, "enqueued: 1; known: 0\n", out)
		show := func(reference string) (r messagingriver.Record) {
			out, _ := s.run(0, "show", reference, "--json")
			require.NoError(s, json.Unmarshal([]byte(out), &r))
			return r
		}
		a, b, c := show("a"), show("b"), show("c")
		assert.Equal(s, []messagingriver.Priority{messagingriver.Bulk, messagingriver.Urgent, messagingriver.Bulk},
			[]messagingriver.Priority{a.Priority, b.Priority, c.Priority})
		assert.Equal(s, []string{"spring", "spring", "summer"}, []string{a.Campaign, b.Campaign, c.Campaign})
		assert.Zero(s, a.Expires)
		assert.WithinDuration(s, time.Now().Add(time.Hour), b.Expires, time.Minute)
		assert.Equal(s, 2040, c.Due.UTC().Year())
		assert.Nil(s, a.History)

		s.run(0, "pause", "--campaign", "spring")
		s.run(0, "load", s.file("d.jsonl", line("d")))
		assert.Zero(s, show("a").Due)
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "campaign spring: paused; 2 waiting\ncampaign summer: 1 waiting\n")
		out, _ = s.run(0, "status", "--json")
		assert.Contains(s, out, `"campaigns":[{"name":"spring","paused":true,"states":{"waiting":2}},{"name":"summer","paused":false,`)
		s.run(0, "resume", "--campaign", "spring")
		out, _ = s.run(0, "cancel", "--campaign", "spring")
		assert.Equal(s, "drop: 2\n", out)
		out, _ = s.run(0, "cancel", "--campaign", "summer", "--json")
		assert.JSONEq(s, `{"done": "drop", "messages": 1}`, out)
		out, _ = s.run(0, "status", "--campaign", "spring", "--json")
		assert.Contains(s, out, `"campaigns":[{"name":"spring","paused":false,"states":{"dropped":2}}]`)
		s.work()
		assert.Len(s, s.service.Sent(), 1)
		out, _ = s.run(0, "show", "d")
		assert.Contains(s, out, "accepted")
		host, _ := os.Hostname()
		assert.Contains(s, out, "attempts  1\nattempt   ")
		assert.Contains(s, out, "by worker "+host+"/")
		_, said := s.run(2, "show", "nobody")
		assert.Contains(s, said, `there is no message "nobody"`)
		_, said = s.run(2, "pause", "sms", "--campaign", "spring")
		assert.Contains(s, said, "want no channel beside it")
	})
}

// TestLoadNamesWhatItDoesNotKnow: an expiry is not lost because a command is old.
func TestLoadNamesWhatItDoesNotKnow(t *testing.T) {
	onBoth(t, func(s shell) {
		for body, want := range map[string]string{
			strings.Replace(line("a"), "{", `{"until": "x", `, 1):    `line 1: there is no member "until"`,
			strings.Replace(line("a"), "{", `{"priority": "x", `, 1): `line 1: the priority is "x"; want urgent, high, normal, bulk or 1 to 4`,
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
		s.run(0, "load", s.file("a.jsonl", strings.Replace(line("x"), `"x"`, string(quoted), 1)))
		out, _ := s.run(0, "show", reference)
		assert.Contains(s, out, `a\x1b[2J\nb`)
		assert.NotContains(s, out, "\x1b")
	})
}

func TestExpiredMessageIsResentWithANewExpiry(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "pause")
		s.run(0, "load", s.file("a.jsonl", line("a")), "--expire", "1ms")
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan int)
		go func() {
			ended <- run(ctx, []string{"work"}, func(name string) string { return s.environment[name] }, io.Discard, io.Discard)
		}()
		assert.Eventually(s, func() bool { return s.counts()[messagingriver.Expired] == 1 }, time.Minute, 50*time.Millisecond)
		cancel()
		assert.Zero(s, <-ended)
		out, _ := s.run(0, "resolve", "resend", "a")
		assert.Equal(s, "resend: 0 of 1\n", out)
		out, _ = s.run(0, "resolve", "resend", "a", "--expire", "1h")
		assert.Equal(s, "resend: 1 of 1\n", out)
		s.run(0, "resume")
		s.work()
		assert.Len(s, s.service.Sent(), 1)
	})
}

func TestWorkServesMetricsAndHealth(t *testing.T) {
	onBoth(t, func(s shell) {
		listener, err := new(net.ListenConfig).Listen(s.Context(), "tcp", "127.0.0.1:0")
		require.NoError(s, err)
		address := listener.Addr().String()
		require.NoError(s, listener.Close())
		s.run(0, "load", s.file("a.jsonl", line("a")), "--at", "2040-01-01T00:00:00Z")
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan int)
		var errs bytes.Buffer
		go func() {
			ended <- run(ctx, []string{"work", "--metrics", address}, func(name string) string { return s.environment[name] }, io.Discard, &errs)
		}()
		get := func(path string) (int, string) {
			request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, "http://"+address+path, nil)
			require.NoError(s, err)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return 0, err.Error()
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(s, err)
			return response.StatusCode, string(body)
		}
		assert.Eventually(s, func() bool {
			status, _ := get("/healthz")
			return status == http.StatusOK
		}, 30*time.Second, 20*time.Millisecond)
		_, metrics := get("/metrics")
		assert.Contains(s, metrics, `messaging_outbox_messages{messaging_destination_name="sms",messaging_outbox_state="waiting"} 1`)
		cancel()
		assert.Zero(s, <-ended, fmt.Sprint(&errs))
		http.DefaultClient.CloseIdleConnections()
	})
}
