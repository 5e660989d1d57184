package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// questions returns the lines of the open questions, by the question.
func (c *conversation) questions() map[string]string {
	c.t.Helper()
	var lines strings.Builder
	require.NoError(c.t, printQuestions(c.t.Context(), c.in, &lines))
	byQuestion := map[string]string{}
	for line := range strings.Lines(lines.String()) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(c.t, columns, 5)
		question, err := strconv.Unquote(columns[4])
		require.NoError(c.t, err)
		byQuestion[question] = line
	}
	return byQuestion
}

// waitForQuestion returns the reference ID of an open question.
func (c *conversation) waitForQuestion(question string) string {
	c.t.Helper()
	isOpen := func() bool { return c.questions()[question] != "" }
	require.Eventually(c.t, isOpen, time.Minute, 50*time.Millisecond)
	reference, _, _ := strings.Cut(c.questions()[question], "\t")
	return reference
}

// A colleague sees a person who opted out and wrote again, one whose reply failed, and one whose number cannot be replied to.
func TestQuestionsForAColleague(t *testing.T) {
	t.Parallel()
	const optedOut, failed = "639181234567", "639191234567"
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "answered"})
	c.reply()
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: optedOut, Text: "STOP"})
	c.write(messagingtest.InboundChatApp{ID: "in-3", From: optedOut, Text: "after a stop"})
	c.write(messagingtest.InboundChatApp{ID: "in-4", From: failed, Text: "not\tdelivered\x00"})
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: c.replyTo(failed).ReferenceID, Status: "failed"})
	c.write(messagingtest.InboundChatApp{ID: "in-5", From: "+63 917 123 4567", Kind: "image", MediaID: "media-1"})

	references := []string{c.waitForQuestion("after a stop"), c.waitForQuestion("not\tdelivered"), c.waitForQuestion("webhook.Media")}
	assert.Eventually(t, func() bool { return len(c.questions()) == 3 }, time.Minute, 50*time.Millisecond)
	require.NoError(t, pruneReplies(t.Context(), c.bot.db, time.Now().Add(time.Minute)))
	assert.Len(t, c.questions(), 3, "an open question is not deleted")

	require.NoError(t, closeQuestions(t.Context(), c.in, references[:1]))
	assert.Len(t, c.questions(), 2)
	err := closeQuestions(t.Context(), c.in, references)
	require.ErrorContains(t, err, references[0])
	assert.Empty(t, c.questions(), "one error does not stop the rest")
}

// A question whose template failed, too, is open, and a question that was answered is not.
func TestQuestionIfTheTemplateFails(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi", ReceivedAt: time.Now().Add(-25 * time.Hour)})
	template := c.reply()
	require.Equal(t, "template", template.Kind)
	assert.Eventually(t, func() bool { return len(c.questions()) == 0 }, time.Minute, 20*time.Millisecond)
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: template.ReferenceID, Status: "failed"})
	assert.Equal(t, template.ReferenceID, c.waitForQuestion("hi"))
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: template.ReferenceID, Status: "delivered"})
	assert.Empty(t, c.questions(), "the failure was reported too early")
}

// A colleague who has answered before the template is enqueued takes its place.
func TestNoTemplateForAQuestionThatIsDone(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.SetWindow(time.Nanosecond)
	require.NoError(t, c.bot.outbox.Stop(t.Context()))
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	references := c.references()
	require.Len(t, references, 1)
	_, err := c.bot.db.ExecContext(t.Context(), "UPDATE bot_reply SET message_id = ''")
	require.NoError(t, err)
	require.NoError(t, closeQuestions(t.Context(), c.in, references))
	require.NoError(t, c.bot.outbox.Start(t.Context()))
	isRefused := func() bool { return c.state(references[0]) == "cancelled" }
	require.Eventually(t, isRefused, time.Minute, 20*time.Millisecond)
	time.Sleep(time.Second) // OnOutcome takes half a second
	assert.Equal(t, references, c.references())
}

// A START of someone who had not opted out is the first word of a conversation.
func TestReplyToAStartThatChangesNothing(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: person, Text: "start"})
	assert.Equal(t, "Hi. Write ORDER to ask for your order.", c.reply().Text)
}
