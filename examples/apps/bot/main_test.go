package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("BOT_DATABASE"); path != "" {
		fmt.Fprintln(os.Stderr, serveUntilKilled(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled(path string) error {
	ctx := context.Background()
	service := &messagingtest.Server{URL: os.Getenv("BOT_SERVICE"), Token: os.Getenv("BOT_TOKEN")}
	in, err := demoSettings(path, "http://"+os.Getenv("BOT_ADDRESS"), service)
	if err != nil {
		return err
	}
	in.address = os.Getenv("BOT_ADDRESS")
	return listenAndServe(ctx, in)
}

func TestRun(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	require.NoError(t, runDemo(t.Context(), service))
	sent := service.Sent()
	require.Len(t, sent, 5, "one reply to each message, which came twice")
	assert.Equal(t, "interactive", sent[0].Kind)
	assert.Equal(t, "Your order is on its way.", sent[1].Text)
	assert.Equal(t, "chatapp1", sent[2].Channel)
	assert.Equal(t, "text", sent[2].Kind)
	assert.Equal(t, "Your order is on its way.", sent[3].Text)
	assert.Equal(t, "sms", sent[4].Channel)
	assert.Equal(t, "Your order is on its way.", sent[4].Text)
}

// newDatabase returns a database with the tables. It is on the server OUTBOX_POSTGRES or, without one, an SQLite file.
func newDatabase(t *testing.T) string {
	t.Helper()
	path := newFileOrServer(t)
	in, err := demoSettings(path, "http://127.0.0.1:1", messagingtest.NewServer(t))
	require.NoError(t, err)
	require.NoError(t, migrate(t.Context(), in))
	return path
}

// newFileOrServer returns a database that is empty.
func newFileOrServer(t *testing.T) string {
	t.Helper()
	postgres := os.Getenv("OUTBOX_POSTGRES")
	if postgres == "" {
		return filepath.Join(t.TempDir(), "bot.db")
	}
	server, err := url.Parse(postgres)
	require.NoError(t, err)
	connection, err := pgx.Connect(t.Context(), postgres)
	require.NoError(t, err)
	defer connection.Close(t.Context())
	name := "bot" + strings.ToLower(rand.Text())
	_, err = connection.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	server.Path = "/" + name
	return server.String()
}

// conversation is a running bot, and a person who writes to it.
type conversation struct {
	t       *testing.T
	service *messagingtest.Server
	in      settings
	bot     *bot
	server  *httptest.Server
}

const person = "639171234567"

func newConversation(t *testing.T) *conversation {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	c := &conversation{t: t, service: messagingtest.NewServer(t), server: server}
	var err error
	c.in, err = demoSettings(newDatabase(t), "http://"+server.Listener.Addr().String(), c.service)
	require.NoError(t, err)
	c.bot, err = open(t.Context(), c.in)
	require.NoError(t, err)
	require.NoError(t, c.bot.outbox.Start(t.Context()))
	server.Config.Handler = c.bot
	server.Start()
	t.Cleanup(func() {
		server.Close()
		assert.NoError(t, c.bot.outbox.Stop(context.WithoutCancel(t.Context())))
		c.bot.close()
	})
	return c
}

// write has the person write on a chat app, by default chat app 2, and checks that the bot handles the message.
func (c *conversation) write(message messagingtest.InboundChatApp) {
	c.t.Helper()
	message.Channel = cmp.Or(message.Channel, "chatapp2")
	message.To = "channel-1"
	for _, result := range c.service.CallWebhook(c.t.Context(), c.server.URL+"/hooks/"+message.Channel+"?key="+demoSecret, message) {
		require.NoError(c.t, result.Err)
		require.Equal(c.t, http.StatusOK, result.StatusCode)
	}
}

// reply returns the next message to the person.
func (c *conversation) reply() messagingtest.Sent {
	c.t.Helper()
	return c.replyTo(person)
}

func (c *conversation) replyTo(recipient string) messagingtest.Sent {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	sent, err := c.service.WaitFor(ctx, recipient)
	require.NoError(c.t, err)
	return sent
}

func TestReplyToEachMessageWithoutAnID(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{From: person, Text: "hi"})
	assert.Equal(t, "interactive", c.reply().Kind)
	c.write(messagingtest.InboundChatApp{From: person, Text: "order"})
	assert.Equal(t, "Your order is on its way.", c.reply().Text)
}

func TestNoReplyToAReaction(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{
		ID: "in-1", From: person,
		JSON: `{"id":"in-1","from":"` + person + `","type":"reaction","reaction":{"message_id":"m-1","emoji":"+"}}`,
	})
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "order"})
	assert.Equal(t, "Your order is on its way.", c.reply().Text)
	assert.Len(t, c.service.Sent(), 1)
}

func TestConfirmStopAndStart(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"chatapp1", "chatapp2"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-1", From: person, Text: "STOP"})
			assert.Equal(t, "You will get no more messages. Write START to get them again.", c.reply().Text)
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-2", From: person, Text: "stop"}) // no reply
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-3", From: person, Text: "START"})
			assert.Equal(t, "You will get our messages again.", c.reply().Text)
			sent := c.service.Sent()
			assert.Len(t, sent, 2)
			assert.Equal(t, channel, sent[0].Channel)
		})
	}
}

func TestDeliveryReportCompletesAReplyWhoseResponseWasLost(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"chatapp1", "chatapp2"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-1", From: person, Text: "hi"})
			sent := c.reply()
			hasState := func(state rivertype.JobState) func() bool {
				return func() bool {
					records, err := c.bot.outbox.Get(t.Context(), sent.ReferenceID)
					return err == nil && len(records) == 1 && records[0].State == state
				}
			}
			require.Eventually(t, hasState(rivertype.JobStateDiscarded), time.Minute, 20*time.Millisecond)
			c.service.ReportDelivery(t.Context(), sent.ID, "delivered", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
			assert.Eventually(t, hasState(rivertype.JobStateCompleted), time.Minute, 20*time.Millisecond)
			assert.Len(t, c.service.Sent(), 1)
		})
	}
}

func TestTemplateIfTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi", ReceivedAt: time.Now().Add(-25 * time.Hour)})
	template := c.reply()
	assert.Equal(t, "template", template.Kind)
	assert.Contains(t, string(template.Body), "Hi. Write ORDER to ask for your order, or ASK and your question to ask a colleague.")
	assert.Len(t, c.service.Sent(), 1)
	assert.Eventually(t, func() bool { return len(c.questions()) == 0 }, time.Minute, 20*time.Millisecond, "the template answers")
}

// The platform refuses a line break in a parameter.
func TestTemplateHasTheAnswerInOneLine(t *testing.T) {
	t.Parallel()
	template, isChatApp2 := new(bot).template(person, "template-1", "Monday\n9:00\tto  17:00").(chatapp2.Message)
	require.True(t, isChatApp2)
	want := []chatapp2.Component{chatapp2.Body("Monday 9:00 to 17:00")}
	assert.Equal(t, chatapp2.Template{Name: "late_answer", Language: "en_US", Components: want}, template.Content)
}

func TestTemplateForAPersonWhoseNumberIsNotKnown(t *testing.T) {
	t.Parallel()
	const user = "US.13491208655302741918"
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: user, Text: "hi", ReceivedAt: time.Now().Add(-25 * time.Hour)})
	assert.Equal(t, "template", c.replyTo(user).Kind)
}

func TestTemplateIfTheServiceSaysThatTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.SetWindow(time.Nanosecond)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	assert.Equal(t, "template", c.reply().Kind)
}

// A question from a sender who cannot be replied to is left to a colleague. The service must not call again for it.
func TestMessageFromNoPerson(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	long := strings.Repeat("Ana Cruz ", 1000)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: "ACME Shop", Text: "hi"})
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: long, Text: "Where is it?"})
	c.text(messagingtest.InboundSMS{ID: "in-3", From: "BANK", Text: "Call us"})
	c.write(messagingtest.InboundChatApp{ID: "in-4", From: "ACME Shop", JSON: `{"type":"reaction","reaction":{"message_id":"m-1","emoji":"+"}}`})
	c.write(messagingtest.InboundChatApp{ID: "in-5", JSON: `{"from":"ACME Shop","group_id":"group-1","type":"text","text":{"body":"in a group"}}`})
	c.text(messagingtest.InboundSMS{ID: "in-6", From: "BANK", Text: "ambiguous", Extra: url.Values{"from": {"639181234567"}}})
	assert.Empty(t, c.references())
	questions := c.questions()
	require.Len(t, questions, 3)
	assert.Contains(t, questions["hi"], "\tchatapp2\t\"ACME Shop\"\t")
	assert.Contains(t, questions["Where is it?"], "\t\""+long[:255]+"\"\t")
	assert.Contains(t, questions["Call us"], "\tsms\t\"BANK\"\t")
	_, err := c.answer(c.waitForQuestion("hi"))
	require.ErrorContains(t, err, "nothing is sent: ")
}

// A user ID that cannot be read, such as one in base64, does not keep a person from the reply and the window.
func TestReplyToAPersonWithAnUnreadableUserID(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", JSON: fmt.Sprintf(
		`{"from":%q,"from_user_id":"a/b+c=","type":"text","text":{"body":"order"}}`, person)})
	assert.Equal(t, "Your order is on its way.", c.reply().Text)
}

// A number with spaces cannot be replied to. The service must not call again for it.
func TestMessageFromANumberWithSpaces(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"chatapp1", "chatapp2"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			for i, text := range []string{"hi", "STOP"} {
				c.write(messagingtest.InboundChatApp{Channel: channel, ID: fmt.Sprint("in-", i), From: "+63 917 123 4567", Text: text})
			}
			c.write(messagingtest.InboundChatApp{Channel: channel, ID: "in-2", From: "639181234567", Text: "order"})
			_, err := c.service.WaitFor(t.Context(), "639181234567")
			require.NoError(t, err)
			assert.Len(t, c.service.Sent(), 1)
		})
	}
}

// The platform may accept a reply, and say later that the window had closed.
func TestTemplateForAReplyThatIsReportedAsTooLate(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	for range 2 { // services report twice
		for _, result := range c.service.ReportDelivery(t.Context(), menu.ID, "failed", messagingtest.WithErrorCode(windowClosed)) {
			require.NoError(t, result.Err)
			require.Equal(t, http.StatusOK, result.StatusCode)
		}
	}
	template := c.reply()
	assert.Equal(t, "template", template.Kind)
	assert.Contains(t, string(template.Body), "Hi. Write ORDER to ask for your order, or ASK and your question to ask a colleague.")
	assert.Len(t, c.service.Sent(), 2)
}

// reportTooLate reports that a message came too late for the window. It returns the status of each response.
func (c *conversation) reportTooLate(report messagingtest.DeliveryReport, query string) (statuses []int) {
	c.t.Helper()
	report.Status = "failed"
	report.ErrorCode = windowClosed
	target := c.server.URL + "/hooks/delivery?key=" + demoSecret + query
	for _, result := range c.service.CallWebhook(c.t.Context(), target, report, messagingtest.RetryFailures(1000)) {
		require.NoError(c.t, result.Err)
		statuses = append(statuses, result.StatusCode)
	}
	return statuses
}

// A report may name neither the recipient nor the reference ID, and come before the bot knows the message ID.
func TestTemplateAfterAShortReport(t *testing.T) {
	t.Parallel()
	for name, shorten := range map[string]func(menu messagingtest.Sent) messagingtest.DeliveryReport{
		"both IDs": func(menu messagingtest.Sent) messagingtest.DeliveryReport {
			return messagingtest.DeliveryReport{ID: menu.ID, ReferenceID: menu.ReferenceID}
		},
		"the message ID": func(menu messagingtest.Sent) messagingtest.DeliveryReport {
			return messagingtest.DeliveryReport{ID: menu.ID}
		},
		"the reference ID": func(menu messagingtest.Sent) messagingtest.DeliveryReport {
			return messagingtest.DeliveryReport{ReferenceID: menu.ReferenceID}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
			menu := c.reply()
			report := shorten(menu)
			for range 2 { // services report twice
				statuses := c.reportTooLate(report, "")
				assert.Equal(t, http.StatusOK, statuses[len(statuses)-1])
			}
			assert.Equal(t, "template", c.reply().Kind)
			assert.Equal(t, []string{menu.ReferenceID, "template-" + menu.ReferenceID}, c.references())
		})
	}
}

func TestReportOfAnotherMessage(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ID: "another"}, ""))
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ID: "another-2", ReferenceID: "another"}, ""))
	statuses := c.reportTooLate(messagingtest.DeliveryReport{ID: "another-3"}, "")
	assert.Equal(t, http.StatusServiceUnavailable, statuses[0], "the message ID of the reply is not noted yet")
	assert.Equal(t, http.StatusOK, statuses[len(statuses)-1])
	assert.Equal(t, []string{menu.ReferenceID}, c.references())
}

func TestNoTemplateAfterAContradictoryReport(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	report := messagingtest.DeliveryReport{ID: menu.ID, ReferenceID: menu.ReferenceID, To: person}
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(report, "&to=639181234567"))
	assert.Equal(t, []string{menu.ReferenceID}, c.references())
}

// The template replaces the reply, so a person cannot resend it when the window opens again.
func TestReplyThatWasReplacedCannotBeResent(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi", ReceivedAt: time.Now().Add(-25 * time.Hour)})
	template := c.reply()
	require.Equal(t, "template", template.Kind)
	key := messagingriver.Key{Channel: "chatapp2", Reference: strings.TrimPrefix(template.ReferenceID, "template-")}
	resent, err := c.bot.outbox.Resolve(t.Context(), messagingriver.Resend, key)
	require.NoError(t, err)
	assert.Zero(t, resent)

	refused := messagingriver.Outcome{
		Key: key, Err: messaging.ErrWindowClosed, Verdict: messaging.NotSent, Message: chatapp2.Message{To: person, ReferenceID: key.Reference},
	}
	require.NoError(t, c.bot.noteOutcome(t.Context(), refused), "it may be called twice")
	assert.Equal(t, []string{key.Reference, template.ReferenceID}, c.references())

	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "hi"})
	refused.Reference = c.reply().ReferenceID
	require.NoError(t, c.bot.noteOutcome(t.Context(), refused), "a person resent it before OnOutcome was called")
	assert.Equal(t, []string{key.Reference, template.ReferenceID, refused.Reference}, c.references())
}

// A reply that may have gone out is not replaced.
func TestNoTemplateForAReplyWithAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			testNoTemplate(t, messagingtest.FaultStatusAfter(status, `{"id": "m-1", "code": `+windowClosed+`}`))
		})
	}
}

// testNoTemplate tests that no template replaces a reply that has a fault.
func testNoTemplate(t *testing.T, fault messagingtest.Fault) {
	t.Helper()
	c := newConversation(t)
	c.service.Inject(fault, 1)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	isNoted := func() bool { // by OnOutcome
		var id sql.NullString
		err := c.bot.db.QueryRowContext(t.Context(), "SELECT message_id FROM bot_reply").Scan(&id)
		return err == nil && id.Valid
	}
	require.Eventually(t, isNoted, time.Minute, 20*time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ReferenceID: "another"}, ""))
	assert.Equal(t, []string{menu.ReferenceID}, c.references())
}

// A reply that comes hours later would confuse the person, as would the template in its place.
func TestRepliesAndTemplatesExpire(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi", ReceivedAt: time.Now().Add(-25 * time.Hour)})
	require.Equal(t, "template", c.reply().Kind)
	c.write(messagingtest.InboundChatApp{ID: "in-2", From: person, Text: "hi"})
	c.reportTooLate(messagingtest.DeliveryReport{ReferenceID: c.reply().ReferenceID}, "")
	require.Equal(t, "template", c.reply().Kind)
	count := 0
	for record, err := range c.bot.outbox.List(t.Context()) {
		require.NoError(t, err)
		assert.WithinDuration(t, record.Created.Add(time.Hour), record.Expires, time.Minute, record.Reference)
		count++
	}
	assert.Equal(t, 4, count)
}

// A confirmation that comes days later would confuse the person, too.
func TestConfirmationExpires(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "STOP"})
	for record, err := range c.bot.outbox.List(t.Context()) {
		require.NoError(t, err)
		assert.WithinDuration(t, record.Created.Add(24*time.Hour), record.Expires, time.Minute)
	}
	assert.Len(t, c.references(), 1)
}

func TestOldRepliesAreDeleted(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	_ = c.reply()
	count := func() (n int) {
		require.NoError(t, c.bot.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM bot_reply").Scan(&n))
		return n
	}
	require.NoError(t, pruneReplies(t.Context(), c.bot.db, time.Now().Add(-time.Minute)))
	assert.Equal(t, 1, count())
	require.NoError(t, pruneReplies(t.Context(), c.bot.db, time.Now().Add(time.Minute)))
	assert.Zero(t, count())
}

// A template that fails is not replaced by another one: the bot would send templates without end, each at a cost.
func TestNoTemplateForATemplate(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	fail := func(id string) {
		t.Helper()
		for _, result := range c.service.ReportDelivery(t.Context(), id, "failed", messagingtest.WithErrorCode(windowClosed)) {
			require.NoError(t, result.Err)
			require.Equal(t, http.StatusOK, result.StatusCode)
		}
	}
	menu := c.reply()
	fail(menu.ID)
	template := c.reply()
	require.Equal(t, "template", template.Kind)
	fail(template.ID)
	require.Equal(t, []string{menu.ReferenceID, template.ReferenceID}, c.references())

	refused := messagingriver.Outcome{
		Key: messagingriver.Key{Channel: "chatapp2", Reference: template.ReferenceID},
		Err: messaging.ErrWindowClosed, Verdict: messaging.Refused, Message: c.bot.template(person, template.ReferenceID, ""),
	}
	require.NoError(t, c.bot.noteOutcome(t.Context(), refused))
	require.Equal(t, []string{menu.ReferenceID, template.ReferenceID}, c.references())
}

// A code of chat app 2's platform says nothing about the window of another channel.
func TestNoTemplateForAReplyOnChatApp1(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: person, Text: "hi"})
	reply := c.reply()
	c.service.ReportDelivery(t.Context(), reply.ID, "failed", messagingtest.WithErrorCode(windowClosed))
	require.Equal(t, []string{reply.ReferenceID}, c.references())
}

// references returns the reference IDs of all messages that the bot enqueued, in this order.
func (c *conversation) references() (all []string) {
	c.t.Helper()
	for record, err := range c.bot.outbox.List(c.t.Context()) {
		require.NoError(c.t, err)
		all = append(all, record.Reference)
	}
	return all
}

func TestSettingsNameAllThatIsMissing(t *testing.T) {
	for _, name := range []string{
		"BOT_DATABASE", "BOT_ADDRESS", "BOT_URL", "BOT_SENDER", "BOT_CHANNEL", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET",
	} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	for _, args := range [][]string{{"serve"}, {"answer", "reply-1", "text"}} {
		err := command(t.Context(), args)
		for _, name := range []string{"BOT_DATABASE", "BOT_ADDRESS", "BOT_URL", "BOT_SENDER", "BOT_CHANNEL", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET"} {
			require.ErrorContains(t, err, name)
		}
	}
}

// A colleague who looks at the questions needs no account.
func TestQuestionsNeedOnlyTheDatabase(t *testing.T) {
	names := []string{"BOT_ADDRESS", "BOT_URL", "BOT_SENDER", "BOT_CHANNEL", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET"}
	for _, name := range append(names, "BOT_DATABASE") {
		t.Setenv(name, "")
	}
	questions, done := []string{"questions"}, []string{"done", "reply-1"}
	for _, args := range [][]string{questions, done} {
		require.EqualError(t, command(t.Context(), args), "BOT_DATABASE is not set")
	}
	t.Setenv("BOT_DATABASE", newFileOrServer(t))
	for _, args := range [][]string{questions, done} {
		require.ErrorContains(t, command(t.Context(), args), "run: bot migrate")
	}
	t.Setenv("BOT_DATABASE", newDatabase(t))
	require.NoError(t, command(t.Context(), questions))
	require.ErrorContains(t, command(t.Context(), done), `"reply-1" is not the reference ID of an open question`)
}

// However often the process is killed, each message has one reply, since the service calls again.
func TestOneReplyAlthoughTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	const messages = 30
	service := messagingtest.NewServer(t)
	path := newDatabase(t)
	free := httptest.NewServer(nil)
	address := free.Listener.Addr().String()
	free.Close()
	start := func() *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "BOT_DATABASE="+path, "BOT_SERVICE="+service.URL, "BOT_TOKEN="+service.Token, "BOT_ADDRESS="+address)
		require.NoError(t, command.Start())
		return command
	}
	process := start()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range 4 {
			time.Sleep(700 * time.Millisecond)
			_ = process.Process.Kill()
			_ = process.Wait()
			process = start()
		}
	}()
	for i := range messages {
		message := messagingtest.InboundChatApp{
			Channel: "chatapp2", ID: fmt.Sprintf("in-%d", i), From: fmt.Sprintf("6391712345%02d", i), To: "channel-1", Kind: "text", Text: "menu",
		}
		assert.Eventually(t, func() bool { // as the service does: until one of its two calls gets a 2xx
			handled := false
			for _, reply := range service.CallWebhook(t.Context(), "http://"+address+"/hooks/chatapp2?key="+demoSecret, message, messagingtest.TwiceAtOnce()) {
				handled = handled || reply.Err == nil && reply.StatusCode/100 == 2
			}
			return handled
		}, 2*time.Minute, 50*time.Millisecond) // a call that was killed holds its event for its lease
	}
	<-killed
	_ = process.Process.Kill()
	_ = process.Wait()
	replied := map[string]int{}
	for _, sent := range service.Sent() {
		replied[sent.ReferenceID]++
	}
	assert.NotEmpty(t, replied)
	for reference, n := range replied {
		assert.Equal(t, 1, n, reference)
	}
	in, err := demoSettings(path, "http://"+address, service)
	require.NoError(t, err)
	b, err := open(t.Context(), in)
	require.NoError(t, err)
	defer b.close()
	rows := 0
	for _, err := range b.outbox.List(t.Context()) {
		require.NoError(t, err)
		rows++
	}
	assert.Equal(t, messages, rows)
}

// On PostgreSQL several processes may start at once, so none of them creates the tables.
func TestServeNeedsTheTablesOnPostgres(t *testing.T) {
	t.Parallel()
	database := newFileOrServer(t)
	if !isPostgres(database) {
		t.Skip("run it with .ci/with-postgres")
	}
	in, err := demoSettings(database, "http://127.0.0.1:1", messagingtest.NewServer(t))
	require.NoError(t, err)
	in.address = "an address where it cannot listen"
	require.ErrorContains(t, listenAndServe(t.Context(), in), "run: bot migrate: messagingriver")
}

// If the bot cannot listen, it stops the outbox.
func TestListenAndServeFails(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	in, err := demoSettings(newDatabase(t), "http://127.0.0.1:1", messagingtest.NewServer(t))
	require.NoError(t, err)
	in.address = taken.Addr().String()
	require.ErrorContains(t, listenAndServe(t.Context(), in), "listen")
}

// The readiness probe passes while the outbox works.
func TestHealth(t *testing.T) {
	t.Parallel()
	in, err := demoSettings(newDatabase(t), "http://127.0.0.1:1", messagingtest.NewServer(t))
	require.NoError(t, err)
	b, err := open(t.Context(), in)
	require.NoError(t, err)
	defer b.close()
	status := func() int {
		w := httptest.NewRecorder()
		b.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code
	}
	assert.Equal(t, http.StatusServiceUnavailable, status())
	require.NoError(t, b.outbox.Start(t.Context()))
	assert.Equal(t, http.StatusOK, status())
	require.NoError(t, b.outbox.Stop(t.Context()))
	assert.Equal(t, http.StatusServiceUnavailable, status())
}

// If the server fails, no task goes on: the database is closed. The test does not run in parallel with others, whose goroutines go on.
func TestServeFails(t *testing.T) {
	before := goleak.IgnoreCurrent()
	service := messagingtest.Start()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	in, err := demoSettings(filepath.Join(t.TempDir(), "bot.db"), "http://"+listener.Addr().String(), service)
	require.NoError(t, err)
	b, err := start(t.Context(), in)
	require.NoError(t, err)
	require.ErrorIs(t, b.serve(t.Context(), listener), net.ErrClosed)
	b.close()
	service.Close()
	goleak.VerifyNone(t, before)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"server"}, {"done"}, {"questions", "reply-1"}, {"answer"}, {"answer", "reply-1"}, {"answer", "reply-1", "text", "without", "quotes"},
	} {
		require.ErrorContains(t, command(t.Context(), args), "usage: bot [migrate | serve | questions | answer ID TEXT | done ID...]")
	}
}
