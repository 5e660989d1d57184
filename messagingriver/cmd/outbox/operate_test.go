package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestCampaignIsLoadedPausedAndCancelled(t *testing.T) {
	onBoth(t, func(s shell) {
		for _, verb := range []string{"pause", "resume", "cancel"} {
			_, said := s.run(2, "campaign", verb, "spring")
			assert.Contains(s, said, `there is no campaign "spring"`)
		}
		file := s.file("a.csv", "from,to,text,referenceID,priority,expire\nACME,+639171234567,Hi,a,,\nACME,+639171234567,Hi,b,urgent,1h\n")
		out, _ := s.run(0, "load", file, "--campaign", "spring")
		assert.Equal(s, "enqueued: 2; known: 0\n", out)
		s.run(0, "load", s.file("b.jsonl", strings.Replace(line("c"), "{", `{"campaign": "summer", "at": "2040-01-01T00:00:00Z", `, 1)))
		out, _ = s.run(0, "campaign", "pause", "spring")
		assert.Equal(s, "pause: 2\n", out)
		out, saidAgain := s.run(0, "campaign", "pause", "spring")
		assert.Equal(s, "pause: 0\n", out)
		assert.Equal(s, "the campaign was paused already: 2 messages are pending\n", saidAgain)
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
		out, said := s.run(1, "campaign", "pause", "spring")
		assert.Equal(s, "pause: 0\n", out)
		assert.Equal(s, "no message waits, so nothing is paused: messages that are enqueued later are sent\n", said)
		for _, verb := range []string{"resume", "cancel"} { // it is as they leave it
			out, _ = s.run(0, "campaign", verb, "spring")
			assert.Equal(s, verb+": 0\n", out)
		}
		assert.Equal(s, "b", s.service.Sent()[0].ReferenceID, "urgent messages go first")
	})
}

func chatLine(s shell, reference string) string {
	s.Helper()
	message := chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Hi"}, ReferenceID: reference}
	encoded, err := json.Marshal(message)
	require.NoError(s, err)
	return fmt.Sprintf(`{"channel": "chatapp2", "message": %s}`, encoded)
}

func TestListShowsReasons(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("refused")))
		s.service.Inject(messagingtest.FaultStatus(422, 0), 1)
		s.work()
		s.run(0, "load", s.file("b.jsonl", chatLine(s, "lost\tone")))
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		s.work()

		out, _ := s.run(0, "list")
		columns := strings.Split(strings.TrimSuffix(out, "\n"), "\t")
		require.Len(s, columns, 6, out)
		assert.Equal(s, []string{"chatapp2", `"lost\tone"`, "discarded", "unknown"}, columns[:4])
		assert.NotEmpty(s, columns[4])
		at, err := time.Parse(time.RFC3339, columns[5])
		require.NoError(s, err)
		assert.WithinDuration(s, time.Now(), at, time.Hour)
		assert.NotContains(s, out, "639171234567")

		out, _ = s.run(0, "list", "--channel", "sms")
		assert.Empty(s, out)
		s.run(0, "load", s.file("c.jsonl", line("lost")))
		s.service.Inject(messagingtest.FaultDropUnread(), 1)
		s.work()
		out, _ = s.run(0, "list", "--channel", "sms")
		assert.Contains(s, out, "; then no message with this reference ID is listed\t")
		assert.Equal(s, 1, strings.Count(out, "unknown outcome"), out)

		out, _ = s.run(0, "list", "--channel", "sms", "--state", "cancelled", "--json")
		assert.Contains(s, out, `"channel":"sms","referenceID":"refused","state":"cancelled","verdict":"refused","reason":"`)
	})
}

// The results of a campaign are those of its messages, with what each cost.
func TestListShowsTheResultsOfACampaign(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("spring-1")), "--campaign", "spring")
		s.run(0, "load", s.file("b.jsonl", line("summer-1")), "--campaign", "summer")
		s.work()
		s.run(0, "load", s.file("c.jsonl", line("spring-2")), "--campaign", "spring")
		s.run(0, "resolve", "sent", "spring-2")
		out, said := s.run(0, "list", "--state", "all", "--campaign", "spring", "--json")
		assert.Empty(s, said)
		lines := strings.Split(out, "\n")
		require.Len(s, lines, 3, out)
		assert.Contains(s, lines[0], `"referenceID":"spring-1"`)
		sent := s.service.Sent()
		require.Len(s, sent, 2)
		id := sent[0].ID
		if sent[0].ReferenceID != "spring-1" {
			id = sent[1].ID
		}
		assert.Contains(s, lines[0], `"campaign":"spring","messageID":"`+id+`","cost":"0.50","currency":"XTS"`)
		assert.Contains(s, lines[1], `"referenceID":"spring-2"`)
		assert.NotContains(s, lines[1], "cost")

		out, said = s.run(0, "list", "--campaign", "spring")
		assert.Empty(s, out)
		assert.Equal(s, "outbox: no message of the campaign matches --state discarded; outbox status counts its messages\n", said)
		_, said = s.run(0, "list", "--campaign", "spring", "--channel", "chatapp1", "--state", "all")
		assert.Contains(s, said, "no chatapp1 message of the campaign matches --state all;")
		_, said = s.run(2, "list", "--campaign", "sprung")
		assert.Contains(s, said, `there is no campaign "sprung"`)
	})
}

// On PostgreSQL an outbox may be in another schema, and a second one would be empty.
func TestErrorsNameTheSchema(t *testing.T) {
	onBoth(t, func(s shell) {
		if s.schema == "" {
			s.environment["OUTBOX_SCHEMA"] = "x"
			s.run(0, "status") // it is of PostgreSQL
			return
		}
		schema := s.schema
		s.schema = "absent"
		for _, args := range [][]string{{"status"}, {"resolve", "sent", "a", "--channel", "sms"}, {"show", "a"}, {"load", s.file("a.jsonl", line("a"))}, {"audit"}} {
			_, said := s.run(2, args...)
			assert.Contains(s, said, `there is no outbox in the schema "absent": set --schema or OUTBOX_SCHEMA to its schema, or create one with outbox migrate`)
			assert.Equal(s, 1, strings.Count(said, "migrate"), said)
		}
		s.schema = ""
		s.environment["OUTBOX_SCHEMA"] = schema
		s.run(0, "status")
		s.environment["OUTBOX_SCHEMA"] = "absent"
		_, said := s.run(2, "status")
		assert.Contains(s, said, `in the schema "absent"`)
	})
}

func TestListShowsWaitingMessages(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("due")))
		s.run(0, "load", s.file("b.jsonl", line("later")), "--at", "2040-01-01T00:00:00Z")
		s.run(0, "load", s.file("c.jsonl", line("paused")), "--campaign", "spring")
		s.run(0, "campaign", "pause", "spring")
		s.run(0, "load", s.file("d.jsonl", line("dropped")))
		s.run(0, "resolve", "drop", "dropped")

		out, _ := s.run(0, "list", "--state", "waiting")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		require.Len(s, lines, 3, out)
		assert.True(s, strings.HasPrefix(lines[0], "sms\tdue\tavailable\twaits\t\t20"), lines[0])
		assert.Equal(s, "sms\tlater\tscheduled\twaits\t\t2040-01-01T00:00:00Z", lines[1])
		assert.True(s, strings.HasPrefix(lines[2], "sms\tpaused\tpending\twaits\t\t20"), lines[2])

		out, _ = s.run(0, "list", "--state", "scheduled")
		assert.Equal(s, lines[1]+"\n", out)
		out, _ = s.run(0, "list", "--state", "all")
		assert.Equal(s, 4, strings.Count(out, "\n"), out)
		assert.Contains(s, out, "sms\tdropped\tcancelled\tnot sent\tdropped\t20")
		assert.NotContains(s, out, "639171234567")
	})
}

func TestShowPrintsTheRecordOfAMessage(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")), "--campaign", "spring", "--expire", "1h")
		out, _ := s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^channel +sms\nreference +order-1\nstate +available\nverdict +waits: it was not sent yet\nfailures +0\ncampaign +spring\npriority +4\ncontent +kept\ncreated +20`, out)
		assert.Regexp(s, `(?m)^expires +20`, out)
		assert.NotContains(s, out, "next attempt")

		s.work()
		s.run(0, "load", s.file("b.jsonl", chatLine(s, "order-1")))
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		s.work()
		out, _ = s.run(0, "show", "order-1")
		first, second, _ := strings.Cut(out, "\n\n")
		assert.Regexp(s, `(?m)^state +completed\nverdict +accepted\nmessage ID +`+s.service.Sent()[0].ID+`$`, first)
		assert.Regexp(s, `(?m)^cost +0\.50 XTS$`, first)
		assert.NotContains(s, second, "cost")
		assert.Regexp(s, `(?m)^state +discarded\nverdict +unknown: it may have been sent\nreason +\S`, second)
		assert.Regexp(s, `(?m)^finished +20`, second)
		assert.NotContains(s, out, "639171234567")
		assert.NotContains(s, out, "Hi")

		reason := regexp.MustCompile(`(?m)^reason +(.+)$`)
		s.run(0, "load", s.file("c.jsonl", chatLine(s, "order-2")))
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		s.work()
		out, _ = s.run(0, "show", "order-2")
		unknown := reason.FindStringSubmatch(out)[1]
		s.run(0, "resolve", "sent", "order-2")
		out, _ = s.run(0, "show", "order-2")
		assert.Equal(s, "resolved as sent: "+unknown, reason.FindStringSubmatch(out)[1])

		before := reason.FindStringSubmatch(second)[1]
		for _, status := range []int{0, 1} { // the second time nothing changes
			s.run(status, "resolve", "drop", "order-1", "--channel", "chatapp2")
			out, _ = s.run(0, "show", "order-1")
			assert.Equal(s, "dropped: "+before, reason.FindStringSubmatch(out)[1])
			assert.Regexp(s, `(?m)^content +deleted`, out)
		}
		out, _ = s.run(0, "show", "order-1", "--json")
		assert.Contains(s, out, `{"channel":"sms","referenceID":"order-1","job":1,"state":"completed",`)
		assert.Contains(s, out, `"verdict":"accepted"`)
		assert.Contains(s, out, `"verdict":"unknown"`)
		assert.Contains(s, out, `"receipt":{"id":"`+s.service.Sent()[0].ID+`","requestID":"`)
		assert.NotRegexp(s, `"[A-Z]\w*":`, out, "a name of Go")
		assert.NotContains(s, out, "639171234567")
	})
}

// TestShowPrintsWhenTheRequestBegan: the job of a killed process has no other trace of it. SQLite has no marks.
func TestShowPrintsWhenTheRequestBegan(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")))
		out, _ := s.run(0, "show", "order-1")
		assert.NotContains(s, out, "last request")
		s.work()
		out, _ = s.run(0, "show", "order-1")
		if s.schema == "" {
			assert.NotContains(s, out, "last request")
			return
		}
		assert.Regexp(s, `(?m)^last worked   20\S+\nlast request  20\S+$`, out)
	})
}

// A message in doubt is not attempted: it is looked up, or waits for a delivery report.
func TestShowSaysHowADoubtEnds(t *testing.T) {
	at := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		channel string
		state   rivertype.JobState
		ends    time.Time
		want    []string
		lookup  bool
	}{
		"SMS":         {"sms", rivertype.JobStateScheduled, at.Add(time.Hour), []string{"is looked up; discarded at 2040-01-01T01:00:00Z if nothing changes\n", "next lookup   2040-01-01T00:00:00Z\n"}, true},
		"chat":        {"chatapp2", rivertype.JobStateScheduled, at, []string{"waits for a delivery report; discarded at 2040-01-01T00:00:00Z if nothing changes\n"}, false},
		"just killed": {"chatapp2", rivertype.JobStateRetryable, time.Time{}, []string{"waits for a delivery report\n"}, false},
	} {
		record := messagingriver.Record{State: tt.state, Attempted: at, Scheduled: at, DoubtEnds: tt.ends}
		record.Channel = tt.channel
		text := newShownRecord(record).text()
		for _, want := range tt.want {
			assert.Contains(t, text, want, name)
		}
		assert.NotContains(t, text, "next attempt", name)
		assert.Equal(t, tt.lookup, strings.Contains(text, "next lookup"), name)
	}
}

// Content that was deleted and content of another version are told apart.
func TestShowTellsWhyThereIsNoContent(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("dropped")+"\n"+line("strange")))
		s.run(0, "resolve", "drop", "dropped")
		args := `jsonb_set(args, '$.message', jsonb('[]'))`
		if s.schema != "" {
			args = `jsonb_set(args, '{message}', '[]')`
		}
		s.exec("UPDATE JOBS SET args = " + args + " WHERE args->>'reference' = 'strange'")
		out, _ := s.run(0, "show", "dropped")
		assert.Regexp(s, `(?m)^content +deleted$`, out)
		out, _ = s.run(0, "show", "strange")
		assert.Regexp(s, `(?m)^content +cannot be read by this version$`, out)
	})
}

// Resend of an expired message in doubt counts, and says that the message is not sent.
func TestResendSaysThatAMessageHasExpired(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", chatLine(s, "order-1")), "--expire", "1h")
		s.service.Inject(messagingtest.FaultDropUnread(), 1)
		s.work()
		s.merge("order-1", `{"expires": "2026-05-01T09:00:00Z"}`)
		out, _ := s.run(0, "resolve", "resend", "order-1")
		assert.Equal(s, "order-1: it has expired, so it is not sent but cancelled; OnOutcome is called\nresend: 1 of 1\n", out)
		s.work()
		out, _ = s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^state +cancelled\nverdict +not sent$`, out)
		out, _ = s.run(1, "resolve", "resend", "order-1")
		assert.Contains(s, out, "order-1: it expired at 20")
	})
}

// River's scheduled time of a message that does not wait for one means nothing.
func TestShowOmitsAMeaninglessTime(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("due")))
		s.run(0, "load", s.file("b.jsonl", line("later")), "--at", "2040-01-01T00:00:00Z")
		out, _ := s.run(0, "show", "due", "--json")
		assert.NotContains(s, out, `"scheduled"`)
		out, _ = s.run(0, "show", "later", "--json")
		assert.Contains(s, out, `"scheduled":"2040-01-01T00:00:00Z"`)
		s.exec("UPDATE JOBS SET state = 'completed', finalized_at = created_at")
		out, _ = s.run(0, "show", "later", "--json")
		assert.NotContains(s, out, `"scheduled"`)
	})
}

func TestListNamesTheOtherStates(t *testing.T) {
	onBoth(t, func(s shell) {
		out, said := s.run(0, "list")
		assert.Empty(s, out)
		assert.Equal(s, "outbox: there are no messages\n", said)

		s.run(0, "load", s.file("a.jsonl", line("a")+"\n"+line("b")+"\n"+chatLine(s, "c")))
		s.run(0, "resolve", "drop", "a", "b")
		out, said = s.run(0, "list")
		assert.Empty(s, out)
		assert.Equal(s, "outbox: no message is discarded; 1 is available (--state available); 2 are cancelled (--state cancelled)\n", said)
		_, said = s.run(0, "list", "--state", "waiting", "--channel", "sms")
		assert.Equal(s, "outbox: no sms message is waiting; 2 are cancelled (--state cancelled)\n", said)
		_, said = s.run(0, "list", "--state", "cancelled")
		assert.Empty(s, said)
	})
}

func TestShowReportsAnUnknownReference(t *testing.T) {
	onBoth(t, func(s shell) {
		out, said := s.run(1, "show", "order-9")
		assert.Empty(s, out)
		assert.Equal(s, "outbox: no message has the reference ID or message ID \"order-9\"; outbox list --state all lists every message\n", said)
	})
}

func TestResolveSaysWhyNothingHappened(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")+"\n"+chatLine(s, "order-2")+"\n"+line("order-3")))
		out, _ := s.run(1, "resolve", "sent", "order-2", "order-9", "--channel", "sms")
		assert.Equal(s, "order-2: no such sms; there is a chatapp2 message, use --channel chatapp2\norder-9: no such message\nsent: 0 of 2\n", out)
		out, _ = s.run(0, "resolve", "sent", "order-1", "order-9", "--json")
		assert.JSONEq(s, `{"done": "sent", "messages": 1, "unresolved": [{"referenceID": "order-9", "reason": "no such message"}]}`, out)
		out, _ = s.run(1, "resolve", "drop", "order-1")
		assert.Equal(s, "order-1: it is completed\ndrop: 0 of 1\n", out)
		out, _ = s.run(1, "resolve", "resend", "order-3")
		assert.Equal(s, "order-3: it is available, and needs no decision\nresend: 0 of 1\n", out)
		s.run(0, "resolve", "drop", "order-3")
		out, _ = s.run(1, "resolve", "resend", "order-3")
		assert.Equal(s, "order-3: it is cancelled, and its content is deleted\nresend: 0 of 1\n", out)
	})
}

// TestResolveSaysWhatAMessageWaitsFor: a paused message is not sent without a decision, and one in doubt is looked up first.
func TestResolveSaysWhatAMessageWaitsFor(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("paused")), "--campaign", "spring")
		s.run(0, "campaign", "pause", "spring")
		out, _ := s.run(1, "resolve", "resend", "paused")
		assert.Equal(s, "paused: its campaign is paused; outbox campaign resume spring\nresend: 0 of 1\n", out)

		s.run(0, "load", s.file("b.jsonl", line("doubt")))
		metadata := `jsonb_patch(metadata, '{"verdict": "unknown"}')`
		if s.schema != "" {
			metadata = `metadata || '{"verdict": "unknown"}'`
		}
		s.exec("UPDATE JOBS SET attempted_at = created_at, metadata = " + metadata + " WHERE args->>'reference' = 'doubt'")
		out, _ = s.run(1, "resolve", "resend", "doubt")
		assert.Equal(s, "doubt: it may have been sent, and will be looked up; try again when its lookup has begun\nresend: 0 of 1\n", out)

		s.exec("UPDATE JOBS SET state = 'discarded', finalized_at = created_at, metadata = " +
			strings.Replace(metadata, "unknown", "accepted", 1) + " WHERE args->>'reference' = 'doubt'")
		out, _ = s.run(1, "resolve", "resend", "doubt")
		assert.Equal(s, "doubt: it was accepted, and will be completed\nresend: 0 of 1\n", out)
	})
}

func TestResolveSaysThatAWorkerHasTheMessage(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")))
		s.exec("UPDATE JOBS SET state = 'running'")
		out, _ := s.run(1, "resolve", "resend", "order-1")
		assert.Contains(s, out, "a worker has it; try again when its attempt has ended, or up to 45 seconds after SendTimeout if the worker was killed")
	})
}

func TestShowFindsAMessageByItsMessageID(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")+"\n"+line("order-2")))
		s.work()
		sent := s.service.Sent()
		require.Len(s, sent, 2)
		for _, message := range sent {
			out, _ := s.run(0, "show", message.ID)
			assert.Regexp(s, `(?m)^reference +`+message.ReferenceID+`$`, out)
			assert.Regexp(s, `(?m)^message ID +`+message.ID+`$`, out)
			assert.Equal(s, 1, strings.Count(out, "channel "), out)
		}

		s.run(0, "load", s.file("b.jsonl", line(sent[0].ID)))
		out, _ := s.run(0, "show", sent[0].ID)
		assert.Regexp(s, `(?m)^reference +`+sent[0].ID+`\nstate +available$`, out, "a reference ID comes before a message ID")
	})
}

func TestResolveTakesTheChannelFromTheReference(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", chatLine(s, "order-1")+"\n"+chatLine(s, "order-2")+"\n"+line("order-2")))
		out, _ := s.run(0, "resolve", "drop", "order-1", "order-2", "order-9")
		assert.Equal(s, "order-2: several channels have it (chatapp2, sms); choose with --channel\norder-9: no such message\ndrop: 1 of 3\n", out)
		out, _ = s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^reason +dropped$`, out)
		out, _ = s.run(0, "show", "order-2")
		assert.NotContains(s, out, "dropped")
		out, _ = s.run(0, "resolve", "drop", "order-2", "--channel", "chatapp2")
		assert.Equal(s, "drop: 1 of 1\n", out)
	})
}

// A program sends a fallback for a message that was not sent, so the recipient gets both if it was sent after all.
func TestResolveSentNamesMessagesThatMayHaveAFallback(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", chatLine(s, "dropped")+"\n"+chatLine(s, "waits")))
		s.run(0, "resolve", "drop", "dropped")
		out, _ := s.run(0, "resolve", "sent", "dropped", "waits")
		assert.Equal(s, "dropped: it was cancelled or discarded as not sent: if the program has sent a fallback, the recipient gets both\nsent: 2 of 2\n", out)

		s.run(0, "load", s.file("b.jsonl", chatLine(s, "refused")))
		s.service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
		s.work()
		out, _ = s.run(0, "resolve", "sent", "refused", "--json")
		assert.JSONEq(s, `{"done": "sent", "messages": 1, "mayHaveFallback": ["refused"]}`, out)

		s.run(0, "load", s.file("c.jsonl", chatLine(s, "doubt")))
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		s.work()
		out, _ = s.run(0, "resolve", "sent", "doubt")
		assert.Equal(s, "sent: 1 of 1\n", out)
	})
}

// A message that was resolved as not sent is never sent again, and resolve says why.
func TestResolveNotSentIsFinal(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", chatLine(s, "order-1")))
		out, _ := s.run(1, "resolve", "notsent", "order-1")
		assert.Equal(s, "order-1: it is available; notsent is for a message that is discarded with an unknown outcome\nnotsent: 0 of 1\n", out)
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		s.work()
		out, _ = s.run(0, "resolve", "notsent", "order-1")
		assert.Equal(s, "notsent: 1 of 1\n", out)
		out, _ = s.run(1, "resolve", "resend", "order-1")
		assert.Equal(s, "order-1: it was resolved as not sent, which is final\nresend: 0 of 1\n", out)
		out, _ = s.run(1, "resolve", "notsent", "order-1")
		assert.Equal(s, "order-1: it was resolved as not sent before\nnotsent: 0 of 1\n", out)
		out, _ = s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^verdict +not sent: a person decided so; a running process cancels it and calls OnOutcome$`, out)
		assert.NotContains(s, out, "waits")
		out, _ = s.run(0, "list", "--state", "available")
		assert.Contains(s, out, "chatapp2\torder-1\tavailable\tnot sent\tresolved as not sent: ")
		s.work()
		out, _ = s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^state +cancelled\nverdict +not sent\nreason +resolved as not sent: \S`, out)
		out, _ = s.run(1, "resolve", "resend", "order-1")
		assert.Contains(s, out, "order-1: it is cancelled: resolved as not sent: ")
		out, _ = s.run(0, "resolve", "sent", "order-1")
		assert.Contains(s, out, "if the program has sent a fallback, the recipient gets both\n")
		assert.Len(s, s.service.Sent(), 1)
	})
}

func TestResolveByReasonAsksForTheChannel(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", chatLine(s, "order-1")+"\n"+chatLine(s, "order-2")))
		s.service.Inject(messagingtest.FaultAcceptThenDrop(), 2)
		s.work()
		out, said := s.run(2, "resolve", "resend", "--reason", "unknown")
		assert.Empty(s, out)
		assert.Equal(s, "outbox: --reason also wants --channel; it matches chatapp2: 2\n", said)
		out, _ = s.run(0, "resolve", "sent", "--reason", "unknown", "--channel", "chatapp2")
		assert.Equal(s, "sent: 2 of 2\n", out)
		out, said = s.run(1, "resolve", "sent", "--reason", "unknown")
		assert.Equal(s, "sent: 0 of 0\n", out)
		assert.Equal(s, "outbox: no discarded message has this reason\n", said)
		_, said = s.run(1, "resolve", "resend", "--reason", "reset", "--channel", "sms", "--state", "cancelled")
		assert.Equal(s, "outbox: no cancelled sms message has this reason\n", said)
	})
}

// The reason in the help and in docs/outbox.md proves that a message did not go out: a message that may have gone out is not resent.
func TestResendByReasonLeavesMessagesThatMayHaveBeenSent(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("unknown")))
		s.service.Inject(messagingtest.FaultStatus(http.StatusServiceUnavailable, 0), 1)
		s.work()
		s.run(0, "load", s.file("b.jsonl", line("unsent")))
		s.merge("unsent", `{"verdict": "not sent", "reason": "messaging: sms.send not sent: dial tcp: connection refused"}`)
		s.exec("UPDATE JOBS SET state = 'discarded', finalized_at = created_at WHERE args->>'reference' = 'unsent'")
		help, _ := s.run(0, "resolve", "--help")
		assert.Contains(s, help, "resolve resend --reason 'sms.send not sent' --channel sms\n")
		out, _ := s.run(0, "resolve", "resend", "--reason", "sms.send not sent", "--channel", "sms")
		assert.Equal(s, "resend: 1 of 1\n", out)
		s.work()
		out, _ = s.run(0, "show", "unknown")
		assert.Contains(s, out, "sms.send has an unknown outcome: HTTP 503")
		out, _ = s.run(0, "show", "unsent")
		assert.Regexp(s, `(?m)^state +completed$`, out)
	})
}

// TestResolveSaysHowFarItGot: after an error, and a second run settles the others.
func TestResolveSaysHowFarItGot(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")+"\n"+line("b")+"\n"+line("c")+"\n"+line("d")))
		references := s.file("references.txt", "a\nnone\nb\nc\nd\n")
		breakC, mend := "CREATE TRIGGER broken BEFORE UPDATE ON JOBS WHEN NEW.args->>'reference' = 'c' BEGIN SELECT RAISE(ABORT, 'no room'); END", "DROP TRIGGER broken"
		if s.schema != "" {
			breakC = "ALTER TABLE JOBS ADD CONSTRAINT broken CHECK (args->>'reference' <> 'c' OR state <> 'completed')"
			mend = "ALTER TABLE JOBS DROP CONSTRAINT broken"
		}
		s.exec(breakC)
		out, said := s.run(2, "resolve", "sent", "--file", references)
		assert.Empty(s, out)
		assert.Contains(s, said, "(sent: 2 of 5, and 1 unchanged; the last was b; run it again for the others)\n")
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 2, rivertype.JobStateAvailable: 2}, s.counts())

		s.exec(mend)
		out, _ = s.run(0, "resolve", "sent", "--file", references)
		assert.Equal(s, "a: it is completed\nnone: no such message\nb: it is completed\nsent: 2 of 5\n", out)
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 4}, s.counts())
	})
}

// interrupted is a database whose user presses Ctrl-C while the first decision is carried out.
type interrupted struct {
	database

	cancel context.CancelFunc
}

func (i interrupted) Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error) {
	n, err := i.database.Resolve(ctx, decision, keys...)
	i.cancel()
	return n, err
}

// TestInterruptedResolveSaysHowFarItGot: the message that was resolved last counts.
func TestInterruptedResolveSaysHowFarItGot(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")+"\n"+line("b")))
		db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{Schema: s.schema})
		require.NoError(s, err)
		defer db.close()
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		keys := []messagingriver.Key{{Channel: "sms", Reference: "a"}, {Channel: "sms", Reference: "b"}}
		_, err = resolveEach(ctx, interrupted{db, cancel}, messagingriver.Drop, keys)
		require.ErrorIs(s, err, context.Canceled)
		require.ErrorContains(s, err, "(drop: 1 of 2, and 0 unchanged; the last was a; run it again for the others)")
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCancelled: 1, rivertype.JobStateAvailable: 1}, s.counts())

		_, err = resolveEach(ctx, db, messagingriver.Drop, keys[1:])
		require.ErrorIs(s, err, context.Canceled)
		require.ErrorContains(s, err, "(drop: 0 of 1)")
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCancelled: 1, rivertype.JobStateAvailable: 1}, s.counts())
	})
}

// The runbook for a restored backup writes such a file if there are no differences.
func TestResolveTakesAnEmptyFile(t *testing.T) {
	onBoth(t, func(s shell) {
		out, said := s.run(0, "resolve", "sent", "--channel", "sms", "--file", s.file("sent", ""))
		assert.Equal(s, "sent: 0 of 0\n", out)
		assert.Empty(s, said)
		_, said = s.run(2, "resolve", "sent")
		assert.Contains(s, said, "no messages are named")
	})
}

func TestResolveReadsStandardInput(t *testing.T) {
	references, err := selection{file: "-", stdin: strings.NewReader("a\n\n b \n")}.listed()
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, references)
}

// TestVerdictWords: a message that waits, one that may have been sent, and final ones are told apart.
func TestVerdictWords(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		record messagingriver.Record
		want   string
	}{
		"not attempted":        {messagingriver.Record{State: rivertype.JobStateAvailable}, "waits"},
		"failed":               {messagingriver.Record{State: rivertype.JobStateRetryable, Verdict: messaging.NotSent, Attempted: now}, "waits"},
		"refused for now":      {messagingriver.Record{State: rivertype.JobStateRetryable, Verdict: messaging.Refused, Attempted: now}, "waits"},
		"looked up":            {messagingriver.Record{State: rivertype.JobStateScheduled, Attempted: now}, "unknown"},
		"running":              {messagingriver.Record{State: rivertype.JobStateRunning, Verdict: messaging.NotSent, Attempted: now}, "unknown"},
		"resolved and running": {messagingriver.Record{State: rivertype.JobStateRunning, Verdict: messaging.Accepted, Attempted: now}, "accepted"},
		"resolved as not sent": {messagingriver.Record{State: rivertype.JobStateAvailable, Verdict: messaging.NotSent, ResolvedNotSent: true, Attempted: now}, "not sent"},
		"ended as not sent":    {messagingriver.Record{State: rivertype.JobStateRunning, Verdict: messaging.NotSent, ResolvedNotSent: true, Attempted: now}, "not sent"},
		"sent after all":       {messagingriver.Record{State: rivertype.JobStateCompleted, Verdict: messaging.Accepted, ResolvedNotSent: true, Finalized: now}, "accepted"},
		"completed":            {messagingriver.Record{State: rivertype.JobStateCompleted, Verdict: messaging.Accepted, Finalized: now}, "accepted"},
		"refused":              {messagingriver.Record{State: rivertype.JobStateCancelled, Verdict: messaging.Refused, Attempted: now, Finalized: now}, "refused"},
		"denied":               {messagingriver.Record{State: rivertype.JobStateCancelled, Verdict: messaging.NotSent, Attempted: now, Finalized: now}, "not sent"},
		"dropped in time":      {messagingriver.Record{State: rivertype.JobStateCancelled, Finalized: now}, "not sent"},
		"dropped in doubt":     {messagingriver.Record{State: rivertype.JobStateCancelled, Attempted: now, Finalized: now}, "unknown"},
		"discarded in doubt":   {messagingriver.Record{State: rivertype.JobStateDiscarded, Attempted: now, Finalized: now}, "unknown"},
		"attempts used up":     {messagingriver.Record{State: rivertype.JobStateDiscarded, Verdict: messaging.NotSent, Attempted: now, Finalized: now}, "not sent"},
		"ends as refused":      {messagingriver.Record{State: rivertype.JobStateScheduled, EndsAs: rivertype.JobStateCancelled, Verdict: messaging.Refused, Attempted: now}, "refused"},
		"ends as denied":       {messagingriver.Record{State: rivertype.JobStateRunning, EndsAs: rivertype.JobStateCancelled, Verdict: messaging.NotSent, Attempted: now}, "not sent"},
		"ends in doubt":        {messagingriver.Record{State: rivertype.JobStateScheduled, EndsAs: rivertype.JobStateDiscarded, Attempted: now}, "unknown"},
	} {
		assert.Equal(t, tt.want, verdictWord(tt.record), name)
		assert.Contains(t, verdictHelp, "\n  "+tt.want+"  ", name)
	}
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
		assert.Contains(s, out, "sms is paused by a person; outbox resume sms ends this\n")
		assert.NotContains(s, out, "chatapp1 is paused")
	})
}

// A process that was killed leaves its lease and the jobs of its messages.
func TestStatusShowsThatNoProcessRuns(t *testing.T) {
	onBoth(t, func(s shell) {
		out, _ := s.run(0, "status")
		assert.Contains(s, out, "no process is running, and none has left a trace; start a program that calls Outbox.Start\n")
		s.workUntil(func() bool {
			out, _ = s.run(0, "status", "--json")
			return strings.Contains(out, `{"processes":{"running":true,"lastSeen":"20`)
		})
		assert.Contains(s, out, `"held":0}`)

		leaders := "river_leader"
		if s.schema != "" {
			leaders = s.schema + "." + leaders
		}
		s.exec("INSERT INTO " + leaders + " (leader_id, elected_at, expires_at) VALUES ('killed', '2026-05-01 09:00:00Z', '2026-05-01 09:00:15Z')")
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "no process is running; the last was seen at 2026-05-01T09:00:00Z; start a program that calls Outbox.Start\n")
		assert.NotContains(s, out, "with workers")

		s.run(0, "load", s.file("a.jsonl", line("order-1")+"\n"+line("order-2")))
		s.exec("UPDATE JOBS SET state = 'running', attempted_at = '2026-05-01 09:00:03Z'",
			"UPDATE JOBS SET attempted_at = '2026-05-01 09:00:05Z' WHERE args->>'reference' = 'order-2'")
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "the last was seen at 2026-05-01T09:00:05Z;")
		assert.Contains(s, out, "messages with workers: 2, the first since 2026-05-01T09:00:03Z; another process takes those of a killed one by 2026-05-01T09:01:20Z,")
		out, _ = s.run(0, "status", "--json")
		assert.Contains(s, out, `"running":false,"lastSeen":"2026-05-01T09:00:05Z","held":2,"heldSince":"2026-05-01T09:00:03Z","heldUntil":"2026-05-01T09:01:20Z"`)
	})
}

// A lease that ended a moment ago may be that of a process that was replaced, and a young attempt is under way.
func TestProcessesText(t *testing.T) {
	t.Parallel()
	const now = 1_800_000_000
	at := func(seconds float64) sql.NullFloat64 { return sql.NullFloat64{Float64: now + seconds, Valid: true} }
	for name, tt := range map[string]struct {
		traces
		want string // a part of the text, or "" for no text
	}{
		"leads":                      {traces{leaseEnds: at(9)}, ""},
		"leads and works":            {traces{leaseEnds: at(9), lastAttempt: at(-1), held: 2, firstHeld: at(-39), lastHeld: at(-1)}, ""},
		"one of two was killed":      {traces{leaseEnds: at(9), lastAttempt: at(-1), held: 2, firstHeld: at(-41), lastHeld: at(-1)}, "messages with workers: 2"},
		"the leader was replaced":    {traces{leaseEnds: at(-9)}, ""},
		"the leader stopped":         {traces{lastAttempt: at(-9)}, ""},
		"the only one was killed":    {traces{leaseEnds: at(-11)}, "no process is running; the last was seen at 2027-01-15T07:59:34Z"},
		"the only one stopped":       {traces{lastAttempt: at(-11)}, "the last was seen at 2027-01-15T07:59:49Z"},
		"killed during its attempts": {traces{lastAttempt: at(-20), held: 1, firstHeld: at(-20), lastHeld: at(-20)}, "messages with workers: 1"},
		"none was started":           {traces{}, "none has left a trace"},
	} {
		tt.now = now
		text := tt.report().text(time.Unix(now, 0))
		if tt.want == "" {
			assert.Empty(t, text, name)
			continue
		}
		assert.Contains(t, text, tt.want, name)
	}
}

// After 429 with a Retry-After, the status has the time of the next request.
func TestStatusShowsWhenAPausedChannelIsTriedAgain(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("a")))
		s.service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, 5*time.Minute), 1)
		out := ""
		s.workUntil(func() bool {
			out, _ = s.run(0, "status")
			return strings.Contains(out, "sms is paused")
		})
		found := regexp.MustCompile(`(?m)^sms is paused: .*HTTP 429.*; the next message is sent at (\S+)$`).FindStringSubmatch(out)
		require.NotNil(s, found, out)
		next, err := time.Parse(time.RFC3339, found[1])
		require.NoError(s, err)
		assert.WithinDuration(s, time.Now().Add(5*time.Minute), next, time.Minute)
		out, _ = s.run(0, "status", "--json")
		assert.Contains(s, out, `"nextRequest":"20`)

		s.exec("UPDATE JOBS SET attempted_at = '2026-05-01 09:00:03Z'") // no process has begun an attempt since
		out, _ = s.run(0, "show", "a")
		assert.Regexp(s, `(?m)^held back +sms is paused: .*; the next message is sent at \S+, or later when a process runs$`, out)
	})
}

// A pause ends by a message, which only a process sends.
func TestStatusShowsWhenTheNextMessageIsSent(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Second)
	future := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		next      time.Time
		isRunning bool
		want      string
	}{
		{past, true, "at once"},
		{past, false, "when a process runs"},
		{future, true, "at 2040-01-01T00:00:00Z"},
		{future, false, "at 2040-01-01T00:00:00Z, or later when a process runs"},
	} {
		paused := messagingriver.ChannelStatus{Channel: "sms", Paused: true, Cause: "trouble", NextRequest: tt.next}
		shown := overview{Processes: processes{Running: tt.isRunning}, Channels: []messagingriver.ChannelStatus{paused}}
		assert.Contains(t, shown.text(), "sms is paused: trouble; the next message is sent "+tt.want+"\n")
	}
}

// A message whose verdict is final does not wait, although the call of OnOutcome could not be enqueued yet.
func TestShowSaysHowAMessageEnds(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("order-1")))
		s.merge("order-1", `{"verdict": "refused", "reason": "HTTP 422", "ends_as": "cancelled"}`)
		s.exec("UPDATE JOBS SET state = 'scheduled', attempted_at = created_at")
		out, _ := s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^state +scheduled\nverdict +refused\nends as +cancelled\nreason +HTTP 422$`, out)
		assert.NotContains(s, out, "next attempt")
		out, _ = s.run(0, "list", "--state", "waiting")
		assert.Contains(s, out, "sms\torder-1\tscheduled\trefused\tHTTP 422\t")
		out, _ = s.run(1, "resolve", "resend", "order-1")
		assert.Equal(s, "order-1: it becomes cancelled once OnOutcome can be called; try again then\nresend: 0 of 1\n", out)

		s.work()
		out, _ = s.run(0, "show", "order-1")
		assert.Regexp(s, `(?m)^state +cancelled\nverdict +refused\nreason +HTTP 422$`, out)
		assert.Empty(s, s.service.Sent())
	})
}

// TestLoadNamesWhatItDoesNotKnow: an expiry is not lost because a command is old.
func TestLoadNamesWhatItDoesNotKnow(t *testing.T) {
	onBoth(t, func(s shell) {
		for body, want := range map[string]string{
			strings.Replace(line("a"), "{", `{"until": "x", `, 1):    `line 1: there is no member "until"`,
			strings.Replace(line("a"), "{", `{"priority": "x", `, 1): `line 1: the priority is "x"; want urgent, normal, bulk or 1 to 4`,
			strings.Replace(line("a"), "{", `{"priority": 1, `, 1):   `line 1: "priority" must hold a string`,
			strings.Replace(line("a"), "{", `{"expire": 600, `, 1):   `line 1: "expire" must hold a string`,
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

// TestAuditOfALiveOutbox: an SMS that was just completed may be listed later, and is no difference. Other differences are found.
func TestAuditOfALiveOutbox(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("new")+"\n"+line("old")+"\n"+line("waits")))
		s.exec("UPDATE JOBS SET state = 'completed', finalized_at = created_at WHERE args->>'reference' IN ('new', 'old')")
		hourAgo := time.Now().UTC().Add(-time.Hour).Format(time.DateTime)
		s.exec("UPDATE JOBS SET created_at = '" + hourAgo + "', finalized_at = '" + hourAgo + "' WHERE args->>'reference' = 'old'")
		s.service.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "waits"})

		out, _ := s.run(1, "audit")
		differences := "old\tis completed; times listed: 0\nwaits\tis available; times listed: 1\n"
		assert.Equal(s, differences+"SMS compared: 2; differences: 2\n"+
			"not compared, because completed within 10m0s of the listing and not listed yet: 1; run audit again later\n", out)
		out, _ = s.run(1, "audit", "--json")
		assert.Contains(s, out, `{"compared":2,"differences":2,"others":0,"tooNew":1}`)
		out, _ = s.run(1, "audit", "--lag", "2h")
		assert.Contains(s, out, "SMS compared: 1; differences: 1\n", "the SMS that waits is found whenever it was sent")
		out, _ = s.run(1, "audit", "--lag", "0")
		assert.Equal(s, "new\tis completed; times listed: 0\n"+differences+"SMS compared: 3; differences: 3\n", out)
	})
}

// TestAuditToleratesUnreadableRowsOfOthers: a row that has no reference ID is of another program, but one whose reference ID cannot be read may
// be of this outbox.
func TestAuditToleratesUnreadableRowsOfOthers(t *testing.T) {
	onBoth(t, func(s shell) {
		other := messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "Hi"}
		other.Row = map[string]json.RawMessage{"price": json.RawMessage(`"n/a"`)}
		s.service.Seed(other)
		out, _ := s.run(0, "audit")
		assert.Equal(s, "SMS compared: 0; differences: 0\nlisted SMS without a reference ID that cannot be read in full: 1\n", out)
		out, _ = s.run(0, "audit", "--json")
		assert.JSONEq(s, `{"compared": 0, "differences": 0, "others": 0, "unreadable": 1}`, out)

		for _, field := range []string{"price", "to"} {
			other.Row = map[string]json.RawMessage{"referenceId": json.RawMessage(`{}`), field: json.RawMessage(`{}`)}
			s.service.Seed(other)
			_, said := s.run(2, "audit")
			assert.Contains(s, said, "cannot be read", field)
			assert.NotContains(s, said, "MESSAGING_BASE_URL", field)
		}
	})
}

// TestAuditNamesTheBaseURL only if it may be wrong.
func TestAuditNamesTheBaseURL(t *testing.T) {
	onBoth(t, func(s shell) {
		for status, isNamed := range map[int]bool{http.StatusNotFound: true, http.StatusForbidden: false, http.StatusPaymentRequired: false} {
			s.service.Inject(messagingtest.FaultStatus(status, 0), 1)
			_, said := s.run(2, "audit")
			assert.Equal(s, isNamed, strings.Contains(said, "; MESSAGING_BASE_URL names the service"), said)
		}
		s.service.Close()
		_, said := s.run(2, "audit")
		assert.Contains(s, said, "; MESSAGING_BASE_URL names the service")
	})
}

// TestErrorsNameVariablesAndFlags: a user of the command does not know the options of the library.
func TestErrorsNameVariablesAndFlags(t *testing.T) {
	option := regexp.MustCompile(`With[A-Z]\w+|baseURL`)
	names := []string{"MESSAGING_BASE_URL", "MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT"}
	path := filepath.Join(t.TempDir(), "outbox.db")
	for _, tt := range []struct {
		environment map[string]string
		want        string
	}{
		{map[string]string{}, "MESSAGING_TOKEN: want credentials, got none; set it, or MESSAGING_API_KEY and MESSAGING_API_SECRET\n"},
		{map[string]string{"MESSAGING_BASE_URL": "https://api.example.com"}, "MESSAGING_TOKEN: want credentials"},
		{map[string]string{"MESSAGING_BASE_URL": "http://api.example.com", "MESSAGING_TOKEN": "t"}, "(--plain-http allows it)"},
		{map[string]string{"MESSAGING_BASE_URL": "https://u:p@api.example.com", "MESSAGING_TOKEN": "t"}, "use MESSAGING_API_KEY and MESSAGING_API_SECRET"},
		{map[string]string{"MESSAGING_BASE_URL": "https://api.example.com", "MESSAGING_API_KEY": "k"}, "MESSAGING_API_SECRET"},
		{map[string]string{"MESSAGING_BASE_URL": "https://api.example.com", "MESSAGING_TOKEN": "t", "MESSAGING_CONTRACT": "/nowhere"}, "MESSAGING_CONTRACT"},
	} {
		for _, name := range names {
			t.Setenv(name, tt.environment[name])
		}
		try := func(args ...string) (int, string) {
			var out, errs bytes.Buffer
			status := run(t.Context(), args, func(name string) string {
				if name == "DATABASE_URL" {
					return path
				}
				return tt.environment[name]
			}, &out, &errs)
			return status, errs.String()
		}
		status, said := try("migrate")
		assert.Zero(t, status, said)
		status, said = try("status")
		assert.Zero(t, status, "it does not call the service: %s", said)
		status, said = try("audit")
		assert.Equal(t, 2, status)
		assert.Contains(t, said, tt.want)
		assert.Empty(t, option.FindString(said), said)
	}
}

func TestUnknownCommandIsSuggested(t *testing.T) {
	for word, want := range map[string]string{
		"staus": "outbox: unknown command \"staus\"; did you mean status?\n",
		"sing":  "outbox: unknown command \"sing\"; -h lists the commands\n",
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), []string{word}, os.Getenv, &out, &errs))
		assert.Equal(t, want, errs.String())
	}
}

// TestEveryHelpHasAnExample, and says which exit statuses it has.
func TestEveryHelpHasAnExample(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), nil, os.Getenv, &out, &errs))
	assert.Contains(t, out.String(), "Exit status:")
	for _, sub := range command(os.Getenv).Commands() {
		assert.True(t, sub.HasExample(), sub.Name())
	}
}

// TestErrorsSayWhatToDo: natural mistakes.
func TestErrorsSayWhatToDo(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	service := messagingtest.NewServer(t)
	t.Setenv("MESSAGING_BASE_URL", service.URL)
	t.Setenv("MESSAGING_TOKEN", "wrong")
	path := filepath.Join(folder, "outbox.db")
	try := func(url string, args ...string) (int, string) {
		var out, errs bytes.Buffer
		getenv := func(name string) string {
			if name == "OUTBOX_SCHEMA" {
				return ""
			}
			return url
		}
		status := run(t.Context(), args, getenv, &out, &errs)
		return status, errs.String()
	}
	status, said := try(path, "migrate")
	require.Zero(t, status, said)
	for name, tt := range map[string]struct {
		url  string
		args []string
		want string
	}{
		"empty CSV file":    {path, []string{"load", file("a.csv", "")}, "the file is empty; want the names of the columns in line 1"},
		"semicolons":        {path, []string{"load", file("b.csv", "from;to\n")}, "separated by commas"},
		"wrong time":        {path, []string{"load", file("c.csv", "from\n"), "--at", "noon"}, `outbox: the flags: the time is "noon"; want one such as`},
		"wrong flag":        {path, []string{"list", "--stat", "x"}, "-h lists the flags"},
		"one argument":      {path, []string{"campaign", "pause"}, "want pause|resume|cancel NAME, got 1 argument; -h shows an example"},
		"schema of SQLite":  {path, []string{"status", "--schema", "x"}, `--schema is for PostgreSQL, got "x"`},
		"unknown folder":    {filepath.Join(folder, "no", "outbox.db"), []string{"migrate"}, "create the folder first"},
		"folder of status":  {filepath.Join(folder, "no", "outbox.db"), []string{"status"}, "create the folder first"},
		"unreachable":       {"postgres://127.0.0.1:1/x", []string{"status"}, "`: 127.0.0.1:1 (127.0.0.1): dial error"},
		"wrong token":       {path, []string{"audit"}, "; check MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET"},
		"unknown help":      {path, []string{"help", "lst"}, `unknown command "lst"; did you mean list?`},
		"negative lag":      {path, []string{"audit", "--lag", "-1s"}, "--lag is -1s; want 0 or more, such as 10m"},
		"no time to audit":  {path, []string{"audit", "--within", "0"}, "--within is 0s; want a duration such as 24h"},
		"unknown reference": {path, []string{"show", "x"}, "outbox list --state all lists every message"},
	} {
		status, said := try(tt.url, tt.args...)
		assert.NotZero(t, status, name)
		assert.Contains(t, said, tt.want, name)
		assert.Equal(t, 1, strings.Count(said, "\n"), said)
	}
}

func TestFlagsWithOneDash(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"Operate an outbox of messages": {"-help"},
		"Count the messages by channel": {"status", "-help"},
		"List the messages in a state":  {"-schema", "x", "list", "-help"},
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), args, func(string) string { return "" }, &out, &errs)
		assert.Zero(t, status, errs.String())
		assert.Contains(t, out.String(), want)
	}
}

// TestProgressOfAPipe: a progress bar of size 0 fails on a terminal.
func TestProgressOfAPipe(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	defer writer.Close()
	info, err := reader.Stat()
	require.NoError(t, err)
	assert.Equal(t, int64(-1), progressSize(info))
}

// A progress bar fails if its file is empty or grows, and the load goes on.
func TestProgressDoesNotFailTheLoad(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"empty": 0, "growing": 3} {
		bar := newProgress(size, io.Discard, true)
		read, err := io.ReadAll(io.TeeReader(strings.NewReader("abcdef"), bar))
		require.NoError(t, err, name)
		assert.Equal(t, "abcdef", string(read), name)
	}
}

// An SMS that was enqueued before the period is compared if it was sent in the period.
func TestAuditComparesSMSThatWereSentInThePeriod(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "load", s.file("a.jsonl", line("scheduled")+"\n"+line("earlier")+"\n"+line("looked-up")+"\n"+line("rescued")+"\n"+line("resolved")))
		ago := func(age time.Duration) string { return "'" + time.Now().UTC().Add(-age).Format(time.DateTime) + "'" }
		s.exec("UPDATE JOBS SET state = 'completed', created_at = " + ago(72*time.Hour) + ", finalized_at = " + ago(time.Hour))
		s.exec("UPDATE JOBS SET attempted_at = " + ago(time.Hour) + " WHERE args->>'reference' IN ('scheduled', 'looked-up', 'rescued')")
		s.exec("UPDATE JOBS SET attempted_at = " + ago(48*time.Hour) + ", finalized_at = " + ago(48*time.Hour) + " WHERE args->>'reference' = 'earlier'")
		s.merge("looked-up", `{"unknown_since": "`+time.Now().Add(-48*time.Hour).Format(time.RFC3339Nano)+`"}`)
		s.merge("rescued", `{"river:rescue_count": 1}`)

		out, _ := s.run(1, "audit")
		assert.Equal(s, "scheduled\tis completed; times listed: 0\nSMS compared: 1; differences: 1\n", out)
		s.merge("rescued", `{"begun_at": "`+time.Now().Add(-2*time.Hour).Format(time.RFC3339Nano)+`"}`)
		out, _ = s.run(1, "audit")
		assert.Contains(s, out, "rescued\tis completed; times listed: 0\n", "its request began in the period")
	})
}
