package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const number, text = "+639171234567", "The text of a message"

func smsMessage(reference string) messaging.Message {
	return sms.Message{From: "ACME", To: number, Text: text, ReferenceID: reference}
}

func chatMessage(reference string) messaging.Message {
	return chatapp1.New("channel-1", number).Text(text).WithReference(reference)
}

func smsKey(reference string) messagingriver.Key {
	return messagingriver.Key{Channel: "sms", Reference: reference}
}

func chatKey(reference string) messagingriver.Key {
	return messagingriver.Key{Channel: "chatapp1", Reference: reference}
}

// quick are options for tests: a round each second.
func quick() messagingriver.Options {
	return messagingriver.Options{SendTimeout: 4 * time.Second, SettleFor: 2 * time.Second}
}

func connected(t testing.TB, options ...messaging.Option) (*messagingtest.Server, *messaging.Client) {
	t.Helper()
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, append([]messaging.Option{messaging.WithToken(service.Token)}, options...)...)
	require.NoError(t, err)
	return service, client
}

func insert(t testing.TB, r rig, messages ...messaging.Message) {
	t.Helper()
	added, err := r.insert(t.Context(), false, messages...)
	require.NoError(t, err)
	require.Len(t, messages, added)
}

// becomes waits until a message is in one of some states.
func becomes(t testing.TB, r rig, key messagingriver.Key, states ...messagingriver.State) row {
	t.Helper()
	var record row
	require.Eventually(t, func() bool {
		var err error
		record, err = r.row(t.Context(), key)
		return err == nil && slices.Contains(states, record.State)
	}, 2*time.Minute, 20*time.Millisecond, "%v should become %v", key, states)
	return record
}

func references(service *messagingtest.Server) map[string]int {
	sent := map[string]int{}
	for _, m := range service.Sent() {
		sent[m.ReferenceID]++
	}
	return sent
}

func TestInsertSendsEveryChannelAndKeepsNoContent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r,
			smsMessage("order-1"), chatMessage("order-2"),
			chatapp2.Message{To: number, Content: chatapp2.Text{Body: text}, ReferenceID: "order-3"},
		)
		record, err := r.row(t.Context(), smsKey("order-1"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Waiting, record.State)
		assert.Contains(t, record.Message, text)
		jobs, err := r.dump(t.Context())
		require.NoError(t, err)
		require.Contains(t, jobs, text, "before it is sent, the outbox holds it")

		defer r.start(t)()
		record = becomes(t, r, smsKey("order-1"), messagingriver.Accepted)
		becomes(t, r, chatKey("order-2"), messagingriver.Accepted)
		becomes(t, r, messagingriver.Key{Channel: "chatapp2", Reference: "order-3"}, messagingriver.Accepted)

		assert.Equal(t, map[string]int{"order-1": 1, "order-2": 1, "order-3": 1}, references(service))
		assert.NotEmpty(t, record.Receipt.ID)
		assert.Equal(t, "0.50", record.Receipt.Cost)
		assert.Equal(t, 1, record.Attempts)
		assert.WithinDuration(t, time.Now(), record.Began, time.Minute)
		assert.Empty(t, record.Message)
		rest, err := r.dump(t.Context())
		require.NoError(t, err)
		assert.NotContains(t, rest, text)
		assert.NotContains(t, rest, number[1:])
		assert.Contains(t, rest, "order-1")
	})
}

func TestInsertIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		added, err := r.insert(t.Context(), true, smsMessage("undone"))
		require.NoError(t, err)
		assert.Equal(t, 1, added)
		_, err = r.row(t.Context(), smsKey("undone"))
		require.ErrorIs(t, err, sql.ErrNoRows)
		insert(t, r, smsMessage("done"))
		defer r.start(t)()
		becomes(t, r, smsKey("done"), messagingriver.Accepted)
		assert.Equal(t, map[string]int{"done": 1}, references(service))
	})
}

func TestInsertIsUniqueByChannelAndReference(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		added, err := r.insert(t.Context(), false, smsMessage("a"), smsMessage("b"), smsMessage("a"), chatMessage("a"))
		require.NoError(t, err)
		assert.Equal(t, 3, added)
		added, err = r.insert(t.Context(), false, smsMessage("a"), smsMessage("c"))
		require.NoError(t, err)
		assert.Equal(t, 1, added)
		defer r.start(t)()
		for _, key := range []messagingriver.Key{smsKey("a"), smsKey("b"), smsKey("c"), chatKey("a")} {
			becomes(t, r, key, messagingriver.Accepted)
		}
		added, err = r.insert(t.Context(), false, smsMessage("a"))
		require.NoError(t, err)
		assert.Zero(t, added, "also after it was sent")
		assert.Equal(t, map[string]int{"a": 2, "b": 1, "c": 1}, references(service), "an SMS and a chat message have the reference a")
	})
}

func TestInsertRejects(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		for name, tt := range map[string]struct {
			message messaging.Message
			field   string
		}{
			"what the client rejects": {sms.Message{From: "ACME", To: "12", Text: text, ReferenceID: "a"}, "To"},
			"no reference ID":         {sms.Message{From: "ACME", To: number, Text: text}, "ReferenceID"},
			"a zero byte":             {sms.Message{From: "ACME", To: number, Text: text, ReferenceID: "a\x00b"}, "ReferenceID"},
			"a long reference ID": {
				chatapp1.New("channel-1", number).Text(text).WithReference(fmt.Sprintf("%0256d", 1)), "ReferenceID",
			},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := r.insert(t.Context(), false, smsMessage("valid"), tt.message)
				require.ErrorIs(t, err, messaging.ErrInvalid)
				require.ErrorContains(t, err, tt.field+": ")
				assert.NotContains(t, err.Error(), number)
			})
		}
		err := r.insertWithoutTx(t.Context(), smsMessage("valid"))
		require.ErrorIs(t, err, messaging.ErrInvalid)
		require.ErrorContains(t, err, "tx: required, but nil")
		_, err = r.insert(t.Context(), false, nil)
		var packages []string
		for _, channel := range messaging.Channels() {
			packages = append(packages, channel.String())
		}
		slices.Sort(packages)
		require.EqualError(t, err, "messagingriver: got <nil>; want a Message of one of the packages "+strings.Join(packages, ", "))
		_, err = r.insert(t.Context(), false, &sms.Message{})
		require.ErrorContains(t, err, "got *sms.Message")
		_, err = r.row(t.Context(), smsKey("valid"))
		require.ErrorIs(t, err, sql.ErrNoRows, "all or nothing")
	})
}

func TestOutboxTakesMessagesOfEveryService(t *testing.T) {
	t.Parallel()
	_, client := connected(t)
	r := sqliteRig(t, client, quick())
	for field, service := range reflect.ValueOf(client).Elem().Fields() {
		if send := service.MethodByName("Send"); field.IsExported() && send.IsValid() {
			message, ok := reflect.TypeAssert[messaging.Message](reflect.Zero(send.Type().In(1)))
			require.True(t, ok, field.Name)
			_, err := r.insert(t.Context(), false, message)
			require.ErrorIs(t, err, messaging.ErrInvalid, "%s: the outbox should know %T, and reject an empty one", field.Name, message)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	_, client := connected(t)
	outbox, err := messagingriver.NewSQLite(openSQLite(t), client, quick())
	require.NoError(t, err)
	for _, channel := range messaging.Channels() {
		message, err := outbox.Decode(channel.String(), []byte(`{}`))
		require.NoError(t, err)
		assert.Equal(t, channel.String()+".Message", fmt.Sprintf("%T", message))
	}
	message, err := outbox.Decode("sms", []byte(`{"from": "ACME", "to": "`+number+`", "text": "`+text+`", "referenceID": "order-1"}`))
	require.NoError(t, err)
	assert.Equal(t, smsMessage("order-1"), message)

	_, err = outbox.Decode("fax", []byte(`{}`))
	require.ErrorContains(t, err, `messagingriver: the channel is "fax"; want one of chatapp1, `)
	_, err = outbox.Decode("sms", nil)
	require.EqualError(t, err, "messagingriver: message: required, but absent")
	_, err = outbox.Decode("sms", []byte(`{"text": 17, "to": "`+number+`"}`))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), number)
}

func TestScheduledMessageWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		require.NoError(t, r.insertWith(t.Context(), smsMessage("later"), messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}))
		require.NoError(t, r.insertWith(t.Context(), smsMessage("now"), messagingriver.InsertOptions{At: time.Now().Add(-time.Hour)}))
		defer r.start(t)()
		becomes(t, r, smsKey("now"), messagingriver.Accepted)
		assert.Equal(t, map[string]int{"now": 1}, references(service))
	})
}

// TestProbeSendsNoScheduledMessage: a queue that was paused because of the account is probed with a message whose time has come.
func TestProbeSendsNoScheduledMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		require.NoError(t, r.insertWith(t.Context(), smsMessage("later"), messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}))
		require.NoError(t, r.exec(t.Context(), "INSERT INTO messaging_breaker (channel, cause, account, pause, probe_at) VALUES ('sms', 'no credit', 1, 1, 0)"))
		defer r.start(t)()
		insert(t, r, smsMessage("now"))
		becomes(t, r, smsKey("now"), messagingriver.Accepted)
		time.Sleep(2 * time.Second) // a round or two
		assert.Equal(t, map[string]int{"now": 1}, references(service))
		record, err := r.row(t.Context(), smsKey("later"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Waiting, record.State)
	})
}

// TestProbeDoesNotWaitForYears: a service that asks for a wait of years does not stop the queue for as long.
func TestProbeDoesNotWaitForYears(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		service.Inject(messagingtest.Status(402, 10*365*24*time.Hour), 1)
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		var probeAt int64
		require.Eventually(t, func() bool {
			return r.pool().QueryRowContext(t.Context(), "SELECT probe_at FROM messaging_breaker").Scan(&probeAt) == nil
		}, time.Minute, 20*time.Millisecond)
		assert.WithinDuration(t, time.Now().Add(time.Hour), time.UnixMilli(probeAt), 5*time.Minute)
	})
}

func TestRefusedMessageIsFinal(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		service.Inject(messagingtest.Status(422, 0), 1)
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		record := becomes(t, r, smsKey("a"), messagingriver.Refused)
		assert.Contains(t, record.Problem, "messaging: sms.send refused: HTTP 422")
		assert.Empty(t, service.Sent())
	})
}

func TestMessageThatWasNotSentIsSentAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		unready := true
		client, err := messaging.NewClient(service.URL, messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			if unready {
				unready = false
				return messaging.Token{}, assert.AnError
			}
			return messaging.Token{Value: service.Token}, nil
		}))
		require.NoError(t, err)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		record := becomes(t, r, smsKey("a"), messagingriver.Accepted)
		assert.Equal(t, 2, record.Attempts)
		assert.Equal(t, map[string]int{"a": 1}, references(service))
	})
}

func TestMessageThatCannotBeSentIsParked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		client, err := messaging.NewClient("http://127.0.0.1:1", messaging.WithToken("t"), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		require.NoError(t, err)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"))
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET max_attempts = 1"))
		defer r.start(t)()
		record := becomes(t, r, smsKey("a"), messagingriver.Parked)
		assert.Contains(t, record.Problem, "not sent")
		assert.Contains(t, record.Message, text, "a person may have it sent")
	})
}

func TestUnknownOutcomeIsSettledOrParked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		stop := r.start(t)
		defer stop()
		// One at a time, because the next request takes the fault.
		send := func(fault messagingtest.Fault, item messaging.Message, key messagingriver.Key, states ...messagingriver.State) {
			service.Inject(fault, 1)
			insert(t, r, item)
			for _, state := range states {
				becomes(t, r, key, state)
			}
		}
		send(messagingtest.AcceptThenDrop(), smsMessage("taken"), smsKey("taken"), messagingriver.Accepted)
		send(messagingtest.DropUnread(), smsMessage("lost"), smsKey("lost"), messagingriver.Parked)
		send(messagingtest.AcceptThenDrop(), chatMessage("taken"), chatKey("taken"), messagingriver.Parked)
		send(messagingtest.DropUnread(), chatMessage("lost"), chatKey("lost"), messagingriver.Parked)
		send(messagingtest.DropUnread(), chatMessage("unwanted"), chatKey("unwanted"), messagingriver.Parked)
		record, err := r.row(t.Context(), smsKey("taken"))
		require.NoError(t, err)
		assert.NotEmpty(t, record.Receipt.ID, "from the listing")

		// A person decides, in bulk and while ranging.
		var parked []messagingriver.Key
		all, err := r.Parked(t.Context(), messagingriver.Key{})
		require.NoError(t, err)
		for _, record := range all {
			assert.NotEmpty(t, record.Problem)
			assert.NotNil(t, record.Message)
			parked = append(parked, record.Key)
			n, err := r.Resolve(t.Context(), messagingriver.Sent, smsKey("taken"))
			require.NoError(t, err)
			assert.Zero(t, n, "it is not parked")
		}
		assert.Equal(t, []messagingriver.Key{chatKey("lost"), chatKey("taken"), chatKey("unwanted"), smsKey("lost")}, parked)
		all, err = r.Parked(t.Context(), chatKey("taken"))
		require.NoError(t, err)
		assert.Len(t, all, 2, "those after the key")
		resolve := func(decision messagingriver.Decision, want int, keys ...messagingriver.Key) {
			n, err := r.Resolve(t.Context(), decision, keys...)
			require.NoError(t, err)
			assert.Equal(t, want, n)
		}
		resolve(messagingriver.Sent, 1, chatKey("taken"))
		resolve(messagingriver.Drop, 1, chatKey("unwanted"))
		resolve(messagingriver.Resend, 2, smsKey("lost"), chatKey("lost"), chatKey("taken"))
		resolve(messagingriver.Resend, 0)
		_, err = r.Resolve(t.Context(), "forget", smsKey("lost"))
		require.EqualError(t, err, `messagingriver: Resolve got the decision "forget"; want Sent, Resend or Drop`)

		becomes(t, r, smsKey("lost"), messagingriver.Accepted)
		record = becomes(t, r, chatKey("lost"), messagingriver.Accepted)
		assert.Equal(t, 2, record.Attempts)
		record = becomes(t, r, chatKey("taken"), messagingriver.Accepted)
		assert.Equal(t, "resolved: sent", record.Problem)
		record = becomes(t, r, chatKey("unwanted"), messagingriver.Dropped)
		assert.Empty(t, record.Message)
		assert.Equal(t, map[string]int{"taken": 2, "lost": 2}, references(service), "an SMS and a chat message each")
	})
}

func TestLostAttemptIsSettledAndNeverRepeated(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		// As after a kill: the attempts have begun, and their jobs are gone.
		for _, item := range []messaging.Message{smsMessage("before the request"), smsMessage("after the request"), chatMessage("chat")} {
			insert(t, r, item)
		}
		_, err := client.SMS.Send(t.Context(), smsMessage("after the request").(sms.Message))
		require.NoError(t, err)
		require.NoError(t, r.exec(t.Context(), fmt.Sprintf(
			"UPDATE messaging_outbox SET state = 'sending', attempt = 1, began_at = %d, due_at = %d",
			time.Now().Add(-time.Minute).UnixMilli(), time.Now().Add(time.Hour).UnixMilli())))
		defer r.start(t)()
		becomes(t, r, smsKey("after the request"), messagingriver.Accepted)
		becomes(t, r, smsKey("before the request"), messagingriver.Parked)
		becomes(t, r, chatKey("chat"), messagingriver.Parked)
		assert.Equal(t, map[string]int{"after the request": 1}, references(service))
	})
}

func TestMessageWithoutJobIsWoken(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("killed"), smsMessage("cancelled"))
		require.NoError(t, r.exec(t.Context(), "DELETE FROM river_job"))
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET due_at = 1"))
		defer r.start(t)()
		becomes(t, r, smsKey("killed"), messagingriver.Accepted)
		becomes(t, r, smsKey("cancelled"), messagingriver.Accepted)
	})
}

func TestTwoJobsOfOneMessageSendItOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		service.Inject(messagingtest.Slow(300*time.Millisecond), 1)
		insert(t, r, smsMessage("a"))
		for range 5 {
			require.NoError(t, r.wake(t.Context()))
		}
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		require.NoError(t, r.wake(t.Context()))
		insert(t, r, smsMessage("b"))
		becomes(t, r, smsKey("b"), messagingriver.Accepted)
		assert.Equal(t, map[string]int{"a": 1, "b": 1}, references(service))
	})
}

func TestAccountRefusalPausesTheQueue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		options := quick()
		options.Workers, options.SendTimeout = 5, 3*time.Second
		r := t.newRig(t, client, options)
		service.SetBalance("0")
		const n = 60
		var messages []messaging.Message
		for i := range n {
			messages = append(messages, smsMessage(fmt.Sprint("order-", i)))
		}
		insert(t, r, messages...)
		defer r.start(t)()
		require.Eventually(t, func() bool {
			paused, err := r.broken(t.Context())
			return err == nil && paused
		}, 2*time.Minute, 10*time.Millisecond)
		time.Sleep(4 * time.Second) // a probe
		assert.Less(t, service.Requests(), n, "the queue was paused")
		for i := range n {
			record, err := r.row(t.Context(), smsKey(fmt.Sprint("order-", i)))
			require.NoError(t, err)
			require.Contains(t, []messagingriver.State{messagingriver.Waiting, messagingriver.Sending}, record.State)
		}
		service.SetBalance("100")
		for i := range n {
			becomes(t, r, smsKey(fmt.Sprint("order-", i)), messagingriver.Accepted)
		}
		assert.Len(t, references(service), n)
		assert.Len(t, service.Sent(), n)
	})
}

// TestRefusalThatNamesAMessageIsFinal: the service may have processed the message, whatever it says of the account.
func TestRefusalThatNamesAMessageIsFinal(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		service.Inject(messagingtest.StatusAfter(http.StatusOK, `{"id":"m-1","code":"200101"}`), 1)
		insert(t, r, smsMessage("named"))
		stop := r.start(t)
		var record row
		require.Eventually(t, func() bool {
			var err error
			record, err = r.row(t.Context(), smsKey("named"))
			return err == nil && slices.Contains([]messagingriver.State{messagingriver.Refused, messagingriver.Accepted}, record.State)
		}, time.Minute, 20*time.Millisecond)
		require.Equal(t, messagingriver.Refused, record.State)
		assert.Contains(t, record.Problem, "insufficient balance")
		require.Eventually(t, func() bool {
			paused, err := r.broken(t.Context())
			return err == nil && paused
		}, time.Minute, 10*time.Millisecond, "the account is in trouble all the same")
		insert(t, r, smsMessage("next"))
		becomes(t, r, smsKey("next"), messagingriver.Accepted)
		stop()
		assert.Equal(t, map[string]int{"named": 1, "next": 1}, references(service))
	})
}

func TestPauseHoldsUntilResume(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		defer r.start(t)()
		insert(t, r, smsMessage("a"))
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		require.NoError(t, r.Pause(t.Context(), "sms"))
		insert(t, r, smsMessage("b"), chatMessage("c"))
		becomes(t, r, chatKey("c"), messagingriver.Accepted)
		time.Sleep(2 * time.Second)
		assert.Equal(t, map[string]int{"a": 1, "c": 1}, references(service))
		require.NoError(t, r.Resume(t.Context()))
		becomes(t, r, smsKey("b"), messagingriver.Accepted)
	})
}

func TestOutcomeIsRecordedAfterTheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.SendTimeout = 5 * time.Second
		r := t.newRig(t, client, options)
		service.Inject(messagingtest.Slow(500*time.Millisecond), 1)
		insert(t, r, chatMessage("a"))
		defer r.start(t)()
		require.Eventually(t, func() bool { return len(service.Sent()) == 1 }, 2*time.Minute, 5*time.Millisecond)
		require.NoError(t, r.exec(t.Context(), "ALTER TABLE messaging_outbox RENAME TO away"))
		time.Sleep(2 * time.Second)
		require.NoError(t, r.exec(t.Context(), "ALTER TABLE away RENAME TO messaging_outbox"))
		record := becomes(t, r, chatKey("a"), messagingriver.Accepted)
		assert.NotEmpty(t, record.Receipt.ID)
		assert.Len(t, service.Sent(), 1)
	})
}

func TestOldRowsAreDeleted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET due_at = 1"))
		require.Eventually(t, func() bool {
			rows, err := r.dump(t.Context())
			_, gone := r.row(t.Context(), smsKey("a"))
			return err == nil && rows != "" && gone != nil
		}, 2*time.Minute, 20*time.Millisecond)
	})
}

func TestNewOutboxRejects(t *testing.T) {
	t.Parallel()
	_, client := connected(t)
	db := openSQLite(t)
	for name, tt := range map[string]struct {
		db      *sql.DB
		client  *messaging.Client
		options messagingriver.Options
		want    string
	}{
		"no database":       {nil, client, messagingriver.Options{}, "needs a database and a client, got nil"},
		"no client":         {db, nil, messagingriver.Options{}, "needs a database and a client, got nil"},
		"too many workers":  {db, client, messagingriver.Options{Workers: 10_001}, "Options.Workers must be 0 to 10000"},
		"a negative number": {db, client, messagingriver.Options{Workers: -1}, "Options.Workers must be 0 to 10000, got -1"},
		"a negative time":   {db, client, messagingriver.Options{SettleFor: -1}, "Options.SendTimeout, SettleFor, KeepRefused and Keep must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := messagingriver.NewSQLite(tt.db, tt.client, tt.options)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := messagingriver.NewPostgres(nil, client, messagingriver.Options{})
	require.EqualError(t, err, "messagingriver: an outbox needs a database and a client, got nil")
}
