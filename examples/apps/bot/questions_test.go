package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
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

const questionText = "Where is it?"

// ask has the person ask a question on a channel, and reports that its reply failed. It returns the reference ID of the question, which is open.
func (c *conversation) ask(channel string) (reference string) {
	c.t.Helper()
	if channel == "sms" {
		c.text(messagingtest.InboundSMS{ID: "in-1", From: person, Text: questionText})
	} else {
		c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-1", From: person, Text: questionText})
	}
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: c.reply().ReferenceID, Status: "failed"})
	return c.waitForQuestion(questionText)
}

// answer answers a question as a colleague does, and returns what the command prints.
func (c *conversation) answer(reference string) (printed string, err error) {
	var lines strings.Builder
	err = answerQuestion(c.t.Context(), c.in, reference, "By Friday.", &lines)
	return lines.String(), err
}

// A colleague can answer while no process sends. The answer goes out once, on the channel of the question.
func TestAnswerOfAColleague(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"sms", "chatapp1", "chatapp2"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			reference := c.ask(channel)
			require.NoError(t, c.bot.outbox.Stop(t.Context()))
			printed, err := c.answer(reference)
			require.NoError(t, err)
			assert.Contains(t, printed, "answer-"+reference+" is enqueued")
			assert.Empty(t, c.questions())
			printed, err = c.answer(reference)
			require.ErrorContains(t, err, "is not the reference ID of an open question", "the command is repeated")
			assert.Empty(t, printed)

			require.NoError(t, c.bot.outbox.Start(t.Context()))
			sent := c.reply()
			assert.Equal(t, channel, sent.Channel)
			assert.Equal(t, "By Friday.", sent.Text)
			assert.Equal(t, "answer-"+reference, sent.ReferenceID)
			isNoted := func() bool { return c.column("COALESCE(message_id, '')", sent.ReferenceID) == sent.ID }
			require.Eventually(t, isNoted, time.Minute, 20*time.Millisecond)
			_, err = c.answer(reference)
			require.ErrorContains(t, err, "is not the reference ID of an open question", "after it was sent, too")
			assert.Equal(t, []string{reference, sent.ReferenceID}, c.references())
			assert.Len(t, c.service.Sent(), 2)
		})
	}
}

// If the command is killed before the commit, the question is open, and nothing is sent. The command can be repeated.
func TestAnswerIsOneTransaction(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	reference := c.ask("chatapp2")
	tx, err := c.bot.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = c.bot.enqueueAnswer(t.Context(), tx, reference, "By Friday.")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	assert.Equal(t, reference, c.waitForQuestion(questionText))
	assert.Equal(t, []string{reference}, c.references())
	_, err = c.answer(reference)
	require.NoError(t, err)
	assert.Equal(t, "answer-"+reference, c.reply().ReferenceID)
}

// After a colleague has answered, the reply whose outcome is unknown cannot be resent: the person would get two messages.
func TestNoReplyAfterAnAnswer(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.Inject(messagingtest.FaultStatus(http.StatusInternalServerError, 0), 1)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: questionText})
	reference := c.waitForQuestion(questionText)
	require.EqualValues(t, "discarded", c.state(reference))
	_, err := c.answer(reference)
	require.NoError(t, err)
	assert.EqualValues(t, "cancelled", c.state(reference), "the answer drops the reply")

	resent, err := c.bot.outbox.Resolve(t.Context(), messagingriver.Resend, messagingriver.Key{Channel: "chatapp2", Reference: reference})
	require.NoError(t, err)
	assert.Zero(t, resent)
	isSent := func() bool { return c.state("answer-"+reference) == "completed" }
	require.Eventually(t, isSent, time.Minute, 20*time.Millisecond)
	assert.EqualValues(t, "cancelled", c.state(reference), "the reply does not wait to be sent")
	sent := c.service.Sent()
	require.Len(t, sent, 1)
	assert.Equal(t, "answer-"+reference, sent[0].ReferenceID)
}

// An answer that is refused drops no reply.
func TestReplyAfterAnAnswerThatIsNotSent(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.Inject(messagingtest.FaultStatus(http.StatusInternalServerError, 0), 1)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: questionText})
	reference := c.waitForQuestion(questionText)
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "STOP"})
	_, err := c.answer(reference)
	require.ErrorIs(t, err, messaging.ErrOptedOut)
	assert.EqualValues(t, "discarded", c.state(reference))
}

// A question for a colleague is open although its reply arrived, until the answer of the colleague.
func TestQuestionForAColleague(t *testing.T) {
	t.Parallel()
	const question = "Ask when it comes"
	for _, channel := range []string{"chatapp1", "chatapp2"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-1", From: person, Text: question})
			reply := c.reply()
			assert.Equal(t, "A colleague will answer you.", reply.Text)
			isNoted := func() bool { return c.column("COALESCE(message_id, '')", reply.ReferenceID) == reply.ID }
			require.Eventually(t, isNoted, time.Minute, 20*time.Millisecond)
			c.call("delivery", messagingtest.DeliveryReport{ReferenceID: reply.ReferenceID, ID: reply.ID, Status: "delivered"})
			require.NoError(t, pruneReplies(t.Context(), c.bot.db, time.Now().Add(time.Minute)))
			reference := c.waitForQuestion(question)
			assert.Equal(t, reply.ReferenceID, reference)

			_, err := c.answer(reference)
			require.NoError(t, err)
			assert.Empty(t, c.questions())
			assert.Equal(t, "By Friday.", c.reply().Text)
			c.call("delivery", messagingtest.DeliveryReport{ReferenceID: reply.ReferenceID, ID: reply.ID, Status: "failed"})
			assert.Empty(t, c.questions(), "a late report on the reply")
			_, err = c.answer(reference)
			require.ErrorContains(t, err, "is not the reference ID of an open question")
		})
	}
}

// A person cannot fill the table with questions for a colleague.
func TestQuestionsForAColleagueAreLimited(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	tx, err := c.bot.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	for i := range maxOpen - 1 {
		row := replyRow{reference: fmt.Sprint("reply-", i), channel: "chatapp2", person: person, question: fmt.Sprint(i)}
		require.NoError(t, addReply(t.Context(), tx, row))
	}
	require.NoError(t, tx.Commit())
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "ask one"})
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "ask two"})
	assert.Equal(t, c.waitForQuestion("ask one"), c.reply().ReferenceID)
	assert.Len(t, c.questions(), maxOpen)
	assert.Len(t, c.references(), 1)
}

// A question that got no reply, so that there is nothing to drop, can be answered.
func TestAnswerToAQuestionWithoutAReply(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	c.reply()
	tx, err := c.bot.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, addReply(t.Context(), tx, replyRow{reference: "reply-1", channel: "chatapp2", person: person, question: questionText}))
	require.NoError(t, tx.Commit())
	_, err = c.answer("reply-1")
	require.NoError(t, err)
	assert.Equal(t, "answer-reply-1", c.reply().ReferenceID)
}

// Two colleagues who answer the same question at the same moment send one answer.
func TestTwoAnswersAtOnce(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	reference := c.ask("chatapp2")
	errs := make(chan error, 2)
	for range cap(errs) {
		go func() {
			_, err := c.answer(reference)
			errs <- err
		}()
	}
	first := <-errs
	second := <-errs
	require.NotEqual(t, first == nil, second == nil)
	require.ErrorContains(t, errors.Join(first, second), "is not the reference ID of an open question")
	assert.Equal(t, []string{reference, "answer-" + reference}, c.references())
}

// An answer that does not go out is a question again, and can be answered again.
func TestQuestionIfTheAnswerFails(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	reference := c.ask("chatapp2")
	c.service.Inject(messagingtest.FaultCode("131026"), 1)
	_, err := c.answer(reference)
	require.NoError(t, err)
	reference = c.waitForQuestion(questionText)
	_, err = c.answer(reference)
	require.NoError(t, err)
	assert.Equal(t, "answer-"+reference, c.reply().ReferenceID)
}

// An old question that was answered is not deleted before the outcome of the answer is known.
func TestAnswerToAnOldQuestionIsNotPruned(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	reference := c.ask("chatapp1")
	_, err := c.bot.db.ExecContext(t.Context(), "UPDATE bot_reply SET asked = 1")
	require.NoError(t, err)
	_, err = c.answer(reference)
	require.NoError(t, err)
	require.NoError(t, c.bot.prune(t.Context()))
	assert.Equal(t, "By Friday.", c.column("answer", "answer-"+reference))
}

// A colleague who answers the next day answers by a template, which goes out once.
func TestAnswerAfterTheWindow(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: questionText, ReceivedAt: time.Now().Add(-25 * time.Hour)})
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: c.reply().ReferenceID, Status: "failed"})
	reference := c.waitForQuestion(questionText)
	_, err := c.answer(reference)
	require.NoError(t, err)
	sent := c.reply()
	assert.Equal(t, "template", sent.Kind)
	assert.Equal(t, "answer-"+reference, sent.ReferenceID)
	assert.Contains(t, string(sent.Body), "By Friday.")
	_, err = c.answer(reference)
	require.ErrorContains(t, err, "is not the reference ID of an open question", "the command is repeated")
}

// After the window, an answer that is too long for the template is refused at once. Line breaks do not count.
func TestLongAnswerAfterTheWindow(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: questionText, ReceivedAt: time.Now().Add(-25 * time.Hour)})
	c.call("delivery", messagingtest.DeliveryReport{ReferenceID: c.reply().ReferenceID, Status: "failed"})
	reference := c.waitForQuestion(questionText)
	longest := strings.Repeat("ñ", 1024)
	err := answerQuestion(t.Context(), c.in, reference, longest+"!", io.Discard)
	require.ErrorContains(t, err, "nothing is sent: after the 24-hour window, an answer has at most 1024 characters, and this one has 1025")
	assert.Equal(t, reference, c.waitForQuestion(questionText))
	require.NoError(t, answerQuestion(t.Context(), c.in, reference, longest+"\n\n", io.Discard))
	assert.Equal(t, "answer-"+reference, c.reply().ReferenceID)
}

// If the person may not get the answer, the command says so, and the question stays open.
func TestAnswerThatIsNotSent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ask  func(c *conversation)
		want error
		says string
	}{
		"opted out": {
			ask: func(c *conversation) {
				c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "STOP"})
				c.reply()
				c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: questionText})
			},
			want: messaging.ErrOptedOut,
			says: "by phone",
		},
		"a number with spaces": {
			ask: func(c *conversation) {
				c.write(messagingtest.InboundChatApp{ID: "in-1", From: "+63 917 123 4567", Text: questionText})
			},
			want: messaging.ErrInvalid,
			says: `reference "answer-reply-`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			tt.ask(c)
			reference := c.waitForQuestion(questionText)
			before := c.references()
			printed, err := c.answer(reference)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, "nothing is sent: ")
			require.ErrorContains(t, err, tt.says)
			assert.NotContains(t, err.Error(), "917", "no number")
			assert.Empty(t, printed)
			assert.Equal(t, before, c.references())
			assert.Equal(t, reference, c.waitForQuestion(questionText))
		})
	}
}

// On a database without tables, the command says what to do.
func TestAnswerNeedsTheTables(t *testing.T) {
	t.Parallel()
	in, err := demoSettings(newFileOrServer(t), "http://127.0.0.1:1", messagingtest.NewServer(t))
	require.NoError(t, err)
	var lines strings.Builder
	err = answerQuestion(t.Context(), in, "reply-1", "By Friday.", &lines)
	require.ErrorContains(t, err, "run: bot migrate")
	assert.Empty(t, lines.String())
}

// The end of a context says nothing about the tables.
func TestExplainMissing(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		err := fmt.Errorf("query: %w", cause)
		assert.Same(t, err, explainMissing(err))
	}
	err := errors.New("no such table: bot_reply")
	require.ErrorIs(t, explainMissing(err), err)
	require.ErrorContains(t, explainMissing(err), "run: bot migrate")
}

// A START of someone who had not opted out is the first word of a conversation.
func TestReplyToAStartThatChangesNothing(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: person, Text: "start"})
	assert.Equal(t, "Hi. Write ORDER to ask for your order, or ASK and your question to ask a colleague.", c.reply().Text)
}
