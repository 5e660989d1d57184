package main

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// text has the person write an SMS, and checks that the bot handles it.
func (c *conversation) text(message messagingtest.InboundSMS) {
	c.t.Helper()
	c.call("sms", message)
}

// call calls a webhook of the bot, and checks that it handles the event.
func (c *conversation) call(hook string, callback messagingtest.Callback) {
	c.t.Helper()
	for _, result := range c.service.CallWebhook(c.t.Context(), c.server.URL+"/hooks/"+hook+"?key="+demoSecret, callback) {
		require.NoError(c.t, result.Err)
		require.Equal(c.t, http.StatusOK, result.StatusCode)
	}
}

// allow asks the guard whether the person may get a message.
func (c *conversation) allow(message messaging.Outgoing) error {
	message.Channel = messaging.ChannelChatApp2
	message.To = person
	message.Kind = "template"
	return c.bot.book.Guard(c.t.Context(), message)
}

func TestReplyToSMS(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.text(messagingtest.InboundSMS{ID: "in-1", From: person, Text: " Order "})
	reply := c.reply()
	assert.Equal(t, "sms", reply.Channel)
	assert.Equal(t, "+639001234567", reply.From)
	assert.Equal(t, "Your order is on its way.", reply.Text)
	c.text(messagingtest.InboundSMS{ID: "in-2", From: person, Text: "STOP"})
	assert.Equal(t, "You will get no more messages. Write START to get them again.", c.reply().Text)
	require.ErrorIs(t, c.allow(messaging.Outgoing{}), messaging.ErrOptedOut, "it counts on every channel")
	c.text(messagingtest.InboundSMS{ID: "in-3", From: "BANK", Text: "hi"})
	assert.Len(t, c.references(), 2)
}

// An unescaped text can hold parameters of its own: whoever replies to From can be made to write to anyone.
func TestNoReplyToAnAmbiguousMessage(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	typed := url.Values{"from": {"639181234567"}}
	c.text(messagingtest.InboundSMS{ID: "in-1", From: person, Text: "order", Extra: typed})
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "order", Extra: typed})
	c.write(messagingtest.InboundChatApp{ID: "in-3", From: person, Text: "STOP", Extra: typed})
	assert.Empty(t, c.references())
	require.ErrorIs(t, c.allow(messaging.Outgoing{}), messaging.ErrOptedOut, "a STOP is never lost")
}

func TestNoReplyInAGroup(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	for i, text := range []string{"order", "STOP"} {
		c.write(messagingtest.InboundChatApp{JSON: fmt.Sprintf(
			`{"id":"in-%d","from":%q,"group_id":"group-1","type":"text","text":{"body":%q}}`, i, person, text)})
	}
	assert.Empty(t, c.references())
}

func TestRepliesToAPersonAreLimited(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	for i := range maxReplies + 2 {
		c.write(messagingtest.InboundChatApp{ID: fmt.Sprint("in-", i), From: person, Text: fmt.Sprint("Where is my order ", i)})
	}
	assert.Len(t, c.references(), maxReplies)
	questions := c.questions()
	require.Len(t, questions, 2, "a colleague sees both")
	assert.Contains(t, questions["Where is my order 20"], "\tchatapp2\t\""+person+"\"\t")
	assert.Contains(t, questions, "Where is my order 21")
	c.write(messagingtest.InboundChatApp{ID: "in-other", From: "639181234567", Text: "hi"})
	assert.Len(t, c.references(), maxReplies+1)
	c.write(messagingtest.InboundChatApp{ID: "in-stop", From: person, Text: "STOP"})
	assert.Len(t, c.references(), maxReplies+2, "a STOP is confirmed")
	c.write(messagingtest.InboundChatApp{ID: "in-start", From: person, Text: "START"})
	assert.Len(t, c.references(), maxReplies+3)
	_, err := c.bot.db.ExecContext(t.Context(), "UPDATE bot_reply SET answer = ''")
	require.NoError(t, err)
	c.write(messagingtest.InboundChatApp{ID: "in-later", From: person, Text: "hi"})
	assert.Len(t, c.references(), maxReplies+4, "questions without a reply do not count")
}

// A person who has many open questions gets no further ones on the list, and another person does.
func TestOpenQuestionsOfAPersonAreLimited(t *testing.T) {
	t.Parallel()
	const spaced, optedOut = "+63 917 123 4567", "639181234567"
	for name, from := range map[string]string{"a number with spaces": spaced, "opted out": optedOut, "too many questions": person} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			if from == optedOut {
				c.write(messagingtest.InboundChatApp{ID: "in-stop", From: from, Text: "STOP"})
			}
			for i := range maxReplies + maxOpen + 2 {
				c.write(messagingtest.InboundChatApp{ID: fmt.Sprint("in-", i), From: from, Text: fmt.Sprint("Where is my order ", i)})
			}
			assert.Len(t, c.questions(), maxOpen)
			c.write(messagingtest.InboundChatApp{ID: "in-other", From: "+63 919 123 4567", Text: "Where is mine?"})
			assert.Contains(t, c.questions(), "Where is mine?")
		})
	}
}

// A bot that writes STOP and START in turn is no longer answered. Its last word counts even so.
func TestConfirmationsAreLimited(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	write := func(id int, text string) {
		c.write(messagingtest.InboundChatApp{ID: fmt.Sprint("in-", id), From: person, Text: text})
	}
	for id := range maxConfirmations + 1 {
		write(id, []string{"STOP", "START"}[id%2])
	}
	assert.Len(t, c.references(), maxConfirmations)
	require.ErrorIs(t, c.allow(messaging.Outgoing{}), messaging.ErrOptedOut, "a STOP is never lost")
	c.text(messagingtest.InboundSMS{ID: "in-other", From: "639181234567", Text: "STOP"})
	assert.Len(t, c.references(), maxConfirmations+1)
}

// A confirmation that failed is not a question for a colleague.
func TestConfirmationIsNoQuestion(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "STOP"})
	reference := c.reply().ReferenceID
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: reference, Status: "failed"})
	assert.Equal(t, "failed", c.column("status", reference))
	assert.Empty(t, c.questions())
	require.NoError(t, pruneReplies(t.Context(), c.bot.db, time.Now().Add(time.Minute)))
	count := 0
	require.NoError(t, c.bot.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM bot_reply").Scan(&count))
	assert.Zero(t, count, "its row is deleted like that of a reply")
}

func TestPreferenceIsNoted(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	prefer := func(value string, at int) {
		c.call("chatapp2", messagingtest.InboundChatApp{Channel: "chatapp2", JSON: fmt.Sprintf(
			`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"user_preferences","value":{
			"messaging_product":"whatsapp","user_preferences":[{"wa_id":%q,"category":"marketing_messages","value":%q,"timestamp":%d}]}}]}]}`,
			person, value, at)})
	}
	prefer("stop", 1_767_225_600)
	require.ErrorIs(t, c.allow(messaging.Outgoing{Marketing: true}), messaging.ErrOptedOut)
	require.NoError(t, c.allow(messaging.Outgoing{}))
	prefer("resume", 1_767_225_700)
	require.NoError(t, c.allow(messaging.Outgoing{Marketing: true}))
}

func TestToDo(t *testing.T) {
	t.Parallel()
	for want, outcome := range map[string]messagingriver.Outcome{
		"outbox resolve": {Verdict: messaging.Unknown, Err: messaging.ErrWindowClosed},
		"opted out":      {Verdict: messaging.NotSent, Err: fmt.Errorf("denied: %w", messaging.ErrOptedOut)},
		"see the error":  {Verdict: messaging.Refused, Err: messaging.ErrInvalid},
	} {
		assert.Contains(t, toDo(outcome), want)
	}
}
