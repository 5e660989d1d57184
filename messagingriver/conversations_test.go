package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// pool is a test with a database of its own.
type pool struct {
	*testing.T

	db *sql.DB
}

// onEachPool tests package conversations. Its tests are here because this module has the drivers.
func onEachPool(t *testing.T, run func(t pool)) {
	t.Helper()
	for name, open := range storeDatabases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(pool{t, open(t)})
		})
	}
}

func newBook(t testing.TB, db *sql.DB, options conversations.Options) *conversations.Book {
	t.Helper()
	book, err := conversations.New(t.Context(), db, options)
	require.NoError(t, err)
	return book
}

func smsFrom(from, text string) conversations.Inbound {
	return conversations.Inbound{Channel: "sms", From: from, To: "12345", Text: text}
}

func smsTo(to string) messaging.Outgoing {
	return messaging.Outgoing{Channel: messaging.ChannelSMS, From: "ACME", To: to}
}

func TestConversationsOptOut(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		note := func(m conversations.Inbound) { require.NoError(t, book.Note(t.Context(), nil, m)) }
		require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")))
		for _, text := range []string{"please stop", "STOP IT", "cancel", "END", ""} {
			note(smsFrom("639171234567", text))
			require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")), text)
		}
		for _, word := range []string{"STOP", " stop\n", "Unsubscribe", "quit"} {
			note(smsFrom("639171234567", word))
			for _, to := range []string{"+639171234567", "00639171234567", "tel:+63-917-123-4567", "63 (917) 123.4567"} {
				require.ErrorIs(t, book.Allow(t.Context(), nil, smsTo(to)), messaging.ErrOptedOut, "%q to %s", word, to)
			}
			require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234568")), "another person")
			require.NoError(t, book.Allow(t.Context(), nil, messaging.Outgoing{Channel: messaging.ChannelChatApp1, To: "+639171234567"}), "another channel")
			note(smsFrom("+639171234567", "start"))
			require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")), word)
		}
		// What comes late does not count against what was decided since, and a time in the future is none.
		late := smsFrom("639171234567", "STOP")
		late.At = time.Now().Add(-time.Hour)
		note(late)
		require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")))
		late.At = time.Now().Add(1000 * time.Hour)
		note(late)
		require.ErrorIs(t, book.Allow(t.Context(), nil, smsTo("+639171234567")), messaging.ErrOptedOut)
		note(smsFrom("639171234567", "UNSTOP"))
		require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")))
	})
}

func TestConversationsOptions(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{StopWords: []string{"BAJA"}, StartWords: []string{"ALTA"}, PerSender: true, CountryCode: "63"})
		require.NoError(t, book.Note(t.Context(), nil, smsFrom("0917 123 4567", "stop")))
		require.NoError(t, book.Allow(t.Context(), nil, messaging.Outgoing{Channel: messaging.ChannelSMS, From: "12345", To: "+639171234567"}), "words that are set replace the default")
		require.NoError(t, book.Note(t.Context(), nil, smsFrom("0917 123 4567", "Baja")))
		require.ErrorIs(t, book.Allow(t.Context(), nil, messaging.Outgoing{Channel: messaging.ChannelSMS, From: "+12345", To: "+639171234567"}), messaging.ErrOptedOut)
		require.ErrorIs(t, book.Allow(t.Context(), nil, messaging.Outgoing{Channel: messaging.ChannelSMS, To: "+639171234567"}), messaging.ErrOptedOut, "any sender")
		require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")), "another sender")
		require.NoError(t, book.OptOut(t.Context(), nil, conversations.OptOut{Channel: "sms", From: "+639171234567"}))
		require.ErrorIs(t, book.Allow(t.Context(), nil, smsTo("0917-123-4567")), messaging.ErrOptedOut, "by hand, for all senders")
		require.NoError(t, book.OptIn(t.Context(), nil, conversations.OptOut{Channel: "sms", From: "+639171234567"}))
		require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")))

		for i := range 600 {
			require.NoError(t, book.OptOut(t.Context(), nil, conversations.OptOut{Channel: "chatapp2", From: fmt.Sprintf("US.%03d", i), At: time.UnixMilli(1000)}))
		}
		var all []conversations.OptOut
		for one, err := range book.OptOuts(t.Context()) {
			require.NoError(t, err)
			all = append(all, one)
		}
		require.Len(t, all, 601)
		assert.Equal(t, conversations.OptOut{Channel: "chatapp2", From: "US.599", At: time.UnixMilli(1000)}, all[599])
		assert.Equal(t, []string{"sms", "639171234567", "12345"}, []string{all[600].Channel, all[600].From, all[600].Sender})
	})
}

func TestConversationsWindow(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		to := func(from string, template bool) messaging.Outgoing {
			kind := map[bool]string{true: "template", false: "text"}[template]
			return messaging.Outgoing{Channel: messaging.ChannelChatApp2, From: from, To: "US.1349", Kind: kind}
		}
		require.ErrorIs(t, book.Allow(t.Context(), nil, to("", false)), messaging.ErrWindowClosed)
		require.NoError(t, book.Allow(t.Context(), nil, to("", true)))
		end, err := book.WindowEnd(t.Context(), nil, to("", false))
		require.NoError(t, err)
		assert.Zero(t, end)

		written := conversations.Inbound{Channel: "chatapp2", From: "US.1349", To: "15550001111", Text: "Hi", At: time.Now().Add(-25 * time.Hour)}
		require.NoError(t, book.Note(t.Context(), nil, written))
		require.ErrorIs(t, book.Allow(t.Context(), nil, to("", false)), messaging.ErrWindowClosed)
		require.NoError(t, book.Allow(t.Context(), nil, messaging.Outgoing{Channel: messaging.ChannelChatApp1, To: "US.1349"}), "another channel has no window")
		written.At = time.Now().Add(-23 * time.Hour)
		require.NoError(t, book.Note(t.Context(), nil, written))
		late := written
		late.At = time.Now().Add(-30 * time.Hour)
		require.NoError(t, book.Note(t.Context(), nil, late))
		require.NoError(t, book.Allow(t.Context(), nil, to("", false)))
		require.NoError(t, book.Allow(t.Context(), nil, to("+15550001111", false)))
		require.ErrorIs(t, book.Allow(t.Context(), nil, to("15550002222", false)), messaging.ErrWindowClosed, "another sender of ours")
		end, err = book.WindowEnd(t.Context(), nil, to("", false))
		require.NoError(t, err)
		assert.WithinDuration(t, written.At.Add(24*time.Hour), end, time.Millisecond)
	})
}

func TestConversationsNoteInTransaction(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		for _, commit := range []bool{false, true} {
			tx, err := t.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, book.Note(t.Context(), tx, smsFrom("+639171234567", "STOP")))
			if commit {
				require.NoError(t, tx.Commit())
				require.ErrorIs(t, book.Allow(t.Context(), nil, smsTo("+639171234567")), messaging.ErrOptedOut)
				continue
			}
			require.NoError(t, tx.Rollback())
			require.NoError(t, book.Allow(t.Context(), nil, smsTo("+639171234567")))
		}
		// What no database holds does not make a webhook fail each time.
		require.NoError(t, book.Note(t.Context(), nil, smsFrom("a\x00\xff"+strings.Repeat("é", 5000), "STOP")))
		require.ErrorContains(t, book.Note(t.Context(), nil, conversations.Inbound{Channel: "sms"}), "needs a Channel and a From")

		_, err := t.db.ExecContext(t.Context(), "DROP TABLE conversation_opt_out")
		require.NoError(t, err)
		err = book.Allow(t.Context(), nil, smsTo("+639171234567"))
		require.ErrorContains(t, err, "conversations: ")
		require.NotErrorIs(t, err, messaging.ErrOptedOut)
	})
}

func TestConversationsPrune(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		const many = 1200
		tx, err := t.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		for i := range many {
			m := smsFrom(fmt.Sprint(i), "hello")
			m.At = time.Now().Add(-25 * time.Hour)
			require.NoError(t, book.Note(t.Context(), tx, m))
		}
		require.NoError(t, tx.Commit())
		long := time.Now().Add(-31 * 24 * time.Hour)
		require.NoError(t, book.OptIn(t.Context(), nil, conversations.OptOut{Channel: "sms", From: "1", At: long}))
		require.NoError(t, book.OptOut(t.Context(), nil, conversations.OptOut{Channel: "sms", From: "2", At: long}))
		require.NoError(t, book.Note(t.Context(), nil, smsFrom("3", "start")))
		deleted, err := book.Prune(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, many-1+1, deleted, "the windows but one, which was open again, and an opt-in")
		require.ErrorIs(t, book.Allow(t.Context(), nil, smsTo("2")), messaging.ErrOptedOut)
	})
}

// TestConversationsHoldUnderLoad: nobody whose opt-out was committed before Allow was called is sent to.
func TestConversationsHoldUnderLoad(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		const people, each = 64, 5
		var out [people]atomic.Bool
		var all sync.WaitGroup
		number := func(i int) string { return fmt.Sprint(639171000000 + i) }
		for i := range people {
			all.Go(func() { // a handler
				for range each {
					if assert.NoError(t, book.Note(t.Context(), nil, smsFrom(number(i), "hello"))) && i%2 == 0 {
						assert.NoError(t, book.Note(t.Context(), nil, smsFrom(number(i), "stop")))
						out[i].Store(true)
					}
				}
			})
			all.Go(func() { // a sender
				for n := range each * 2 {
					to := (i + n) % people
					was := out[to].Load()
					err := book.Allow(t.Context(), nil, smsTo("+"+number(to)))
					if was {
						assert.ErrorIs(t, err, messaging.ErrOptedOut)
					} else if err != nil {
						assert.ErrorIs(t, err, messaging.ErrOptedOut)
						assert.Zero(t, to%2)
					}
				}
			})
		}
		all.Wait()
		for i := range people {
			assert.Equal(t, i%2 == 0, book.Allow(t.Context(), nil, smsTo(number(i))) != nil)
		}
	})
}

func TestConversationsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	_, err := conversations.New(t.Context(), nil, conversations.Options{})
	require.ErrorContains(t, err, "nil")
	for want, options := range map[string]conversations.Options{
		`CountryCode is "+63"`: {CountryCode: "+63"}, `CountryCode is "063"`: {CountryCode: "063"}, "word of Options is empty": {StopWords: []string{" "}},
	} {
		_, err = conversations.New(t.Context(), openPoolOfOne(t), options)
		require.ErrorContains(t, err, want)
	}
	_, err = conversations.New(t.Context(), openSQLite(t, ""), conversations.Options{})
	require.ErrorContains(t, err, "SetMaxOpenConns(1)")
	book := newBook(t, openPoolOfOne(t), conversations.Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, book.Allow(ended, nil, smsTo("1")), context.Canceled)
}

func TestConversationsGuard(t *testing.T) {
	t.Parallel()
	onEachPool(t, func(t pool) {
		book := newBook(t, t.db, conversations.Options{})
		service := messagingtest.NewServer(t)
		client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithGuard(book.Guard))
		require.NoError(t, err)
		remind := func() error {
			_, err := messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
				return client.ChatApp2.Send(ctx, chatapp2.Message{To: "639171234567", Content: chatapp2.Text{Body: "Hi"}})
			}, func(ctx context.Context) (messaging.Receipt, error) {
				return client.SMS.Send(ctx, sms.Message{From: "ACME", To: "639171234567", Text: "Hi"})
			})
			return err
		}
		note := func(text string) {
			require.NoError(t, book.Note(t.Context(), nil, conversations.Inbound{Channel: "chatapp2", From: "639171234567", Text: text}))
		}

		require.NoError(t, remind(), "the window is closed, so it goes as an SMS")
		assert.Equal(t, messagingtest.ChannelSMS, service.Sent()[0].Channel)
		note("Hi")
		require.NoError(t, remind(), "the window is open")
		assert.Equal(t, messagingtest.ChannelChatApp2, service.Sent()[1].Channel)
		note("STOP")
		err = remind()
		require.ErrorIs(t, err, messaging.ErrOptedOut)
		require.ErrorIs(t, err, messaging.ErrGuarded)
		_, retryable := messaging.Retryable(err)
		assert.False(t, retryable)
		assert.Len(t, service.Sent(), 2, "who opted out is not reached another way")

		require.NoError(t, t.db.Close())
		err = remind()
		wait, retryable := messaging.Retryable(err)
		assert.True(t, retryable, "a database that fails puts the message off: %v", err)
		assert.Equal(t, time.Second, wait)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
		assert.Len(t, service.Sent(), 2)
	})
}
