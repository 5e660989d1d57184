package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// TestLoadNamesLinesThatAreKnownAsOtherMessages: the people on them get nothing, and the load must not look like a repetition.
func TestLoadNamesLinesThatAreKnownAsOtherMessages(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,marketing\n"
		spring := s.file("spring.csv", header+"ACME,+639171234567,Hi,a,true\nACME,+639181234567,Hi,b,true\n")
		s.run(0, "load", spring, "--campaign", "spring")
		out, said := s.run(0, "load", spring, "--campaign", "spring")
		assert.Equal(s, "enqueued: 0; known: 2\n", out, "a repetition")
		assert.Empty(s, said)

		out, _ = s.run(1, "load", spring, "--campaign", "summer")
		assert.Equal(s, "line 2 is not enqueued: its reference ID is known in the campaign spring\n"+
			"line 3 is not enqueued: its reference ID is known in the campaign spring\nenqueued: 0; known: 0\n", out)
		out, _ = s.run(1, "load", s.file("other.csv", header+"ACME,639171234567,Hi,a,true\nACME,+639191234567,Hi,b,true\nACME,+639201234567,Hi,c,true\n"), "--campaign", "spring", "--json")
		assert.JSONEq(s, `{"new": 1, "known": 1, "different": [{"line": 3, "known": "for another recipient"}]}`, out)

		s.run(0, "load", s.file("orders.jsonl", line("order-1")+"\n"+chatLine(s, "a")))
		out, _ = s.run(1, "load", s.file("orders.csv", header+"ACME,+639171234567,Hi,order-1,true\n"), "--campaign", "spring")
		assert.Contains(s, out, "line 2 is not enqueued: its reference ID is known without a campaign\n")

		s.work() // which deletes the recipients
		out, _ = s.run(0, "load", spring, "--campaign", "spring")
		assert.Equal(s, "enqueued: 0; known: 2\n", out)
	})
}

func TestLoadWarnsOfRecipientsThatRepeat(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,campaign,marketing\n"
		file := s.file("a.csv", header+"ACME,+639171234567,Hi,a,spring,true\nACME,639171234567,Hi,b,spring,true\nACME,+639171234567,Hi,c,summer,true\nACME,+639171234567,Hi,d,,true\nACME,+639171234567,Hi,e,,true\n")
		out, said := s.run(0, "load", file)
		assert.Equal(s, "enqueued: 5; known: 0\n", out)
		assert.Equal(s, "outbox: lines whose recipient an earlier line of the campaign has: 1, such as line 3 (line 2); "+
			"they are enqueued, because only reference IDs are compared\n", said)
		out, _ = s.run(0, "load", file, "--json")
		assert.JSONEq(s, `{"new": 0, "known": 5, "sameRecipient": [{"line": 3, "first": 2}]}`, out)
	})
}

// Guards treat the messages of a campaign as transactional unless they are marked as marketing.
func TestLoadWarnsOfCampaignsThatAreNotMarketing(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID\n"
		const warning = "outbox: lines of a campaign that do not say whether they are marketing: %d; they are enqueued as not marketing, " +
			"so guards may let them pass in quiet hours and after an opt-out of marketing\n"
		plain := s.file("a.csv", header+"ACME,+639171234567,Hi,a\nACME,+639181234567,Hi,b\n")
		_, said := s.run(0, "load", plain)
		assert.Empty(s, said, "there is no campaign")
		s.run(0, "resolve", "drop", "a", "b")
		_, said = s.run(0, "load", s.file("b.csv", header+"ACME,+639171234567,Hi,c\nACME,+639181234567,Hi,d\n"), "--campaign", "spring")
		assert.Equal(s, fmt.Sprintf(warning, 2), said)
		_, said = s.run(0, "load", s.file("c.csv", "from,to,text,referenceID,marketing\nACME,+639191234567,Hi,e,true\nACME,+639201234567,Hi,f,false\n"), "--campaign", "spring")
		assert.Empty(s, said, "the lines say it")

		saying := strings.Replace(line("g"), `"text"`, `"marketing": false, "text"`, 1)
		chat := `{"channel": "chatapp2", "campaign": "summer", "message": {"to": "+639171234567", "text": {"body": "Hi"}, "referenceID": "h"}}`
		out, said := s.run(0, "load", s.file("d.jsonl", strings.Replace(saying, "{", `{"campaign": "summer", `, 1)+"\n"+chat), "--json")
		assert.Equal(s, fmt.Sprintf(warning, 1), said)
		assert.JSONEq(s, `{"new": 2, "known": 0, "notMarketing": 1}`, out)
	})
}

// A line that is left out sends nothing to its recipient.
func TestLoadDoesNotWarnOfRecipientsOfLinesThatAreLeftOut(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,marketing\n"
		s.run(0, "load", s.file("winter.csv", header+"ACME,+639171234567,Hi,known,true\n"), "--campaign", "winter")
		file := s.file("a.csv", header+"ACME,+639171234567,Hi,known,true\nACME,+639171234567,,invalid,true\nACME,+639171234567,Hi,c,true\n")
		out, said := s.run(1, "load", file, "--campaign", "spring", "--skip-invalid")
		assert.Contains(s, out, "line 2 is not enqueued: its reference ID is known in the campaign winter\n")
		assert.Contains(s, out, "line 3 is not enqueued: reference \"invalid\": ")
		assert.Contains(s, out, "enqueued: 1; known: 0\n")
		assert.Empty(s, said)
	})
}

// A line that ends the load does not hide that the outbox has other messages for the lines before it.
func TestLoadNamesDifferentLinesBeforeAnError(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID\n"
		s.run(0, "load", s.file("winter.csv", header+"ACME,+639171234567,Hi,a\n"), "--campaign", "winter")
		file := s.file("a.csv", header+"ACME,+639171234567,Hi,a\nACME,+639181234567,,b\n")
		out, said := s.run(2, "load", file, "--campaign", "spring")
		assert.Equal(s, "line 2 is not enqueued: its reference ID is known in the campaign winter\n", out)
		assert.Contains(s, said, "line 3: ")
		assert.Contains(s, said, "(enqueued: 0; known: 0)")
	})
}

func TestRecipientOf(t *testing.T) {
	t.Parallel()
	for want, messages := range map[string][]messaging.Message{
		"639171234567": {
			sms.Message{To: "+639171234567"},
			sms.Message{To: "00639171234567"},
			chatapp1.Message{To: "639171234567"},
			chatapp2.Message{To: "+63 (917) 123-4567"},
			chatapp2.Message{To: "+639171234567", Recipient: "US.1349"},
		},
		"US.1349": {chatapp2.Message{To: "US.1349"}, chatapp2.Message{Recipient: "US.1349"}},
	} {
		for _, message := range messages {
			assert.Equal(t, want, recipientOf(message))
		}
	}
}

// A message of chat app 2 with a mistyped member would go out as something else, or say what is wrong in words of Go.
func TestLoadNamesWhatIsWrongWithAChatMessage(t *testing.T) {
	onBoth(t, func(s shell) {
		for message, want := range map[string]string{
			`{"to": "+639171234567", "content": {"body": "Hi"}, "referenceID": "a"}`:                   `line 1: the message has no content; want "text": {"body": "Hi"}, or another type`,
			`{"to": "+639171234567", "type": "text", "content": {"body": "Hi"}, "referenceID": "a"}`:   "line 1: the message has no content; want ",
			`{"to": "+639171234567", "text": {"body": "Hi"}, "referenceID": "a", "Marketing": true}`:   `there is no member "Marketing"; want "marketing"`,
			`{"to": "+639171234567", "text": {"body": "Hi"}, "referenceId": "a", "marketing": "true"}`: `"marketing" must be true or false`,
		} {
			_, said := s.run(2, "load", s.file("a.jsonl", `{"channel": "chatapp2", "message": `+message+`}`))
			assert.Contains(s, said, want)
			assert.NotContains(s, said, "639171234567")
		}
		assert.Empty(s, s.counts())
	})
}

func TestLoadNamesTheLineWithoutAReferenceID(t *testing.T) {
	onBoth(t, func(s shell) {
		file := s.file("a.csv", "from,to,text,referenceID\nACME,+639171234567,Hi,\nACME,+639181234567,Hi,\n")
		out, _ := s.run(1, "load", file, "--skip-invalid")
		assert.Contains(s, out, `line 2 is not enqueued: reference "": ReferenceID: want 1 to 255 bytes`)
		assert.Contains(s, out, `line 3 is not enqueued: reference "": ReferenceID: want 1 to 255 bytes`)
		assert.NotContains(s, out, "messages[")
	})
}
