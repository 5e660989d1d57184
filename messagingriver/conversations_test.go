package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
	"github.com/messaging-service/messaging-go/webhook"
)

// ana is a person, and anaID the platform's ID of her.
const (
	ana   = "+639171234567"
	anaID = "US.13491208655302741918"
)

// pool is a test of package conversations with a database of its own. The tests are here because this module has the drivers.
type pool struct {
	*testing.T

	db   *sql.DB
	book *conversations.Book
}

func onEachPool(t *testing.T, options conversations.Options, run func(t pool)) {
	t.Helper()
	for name, open := range storeDatabases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			run(pool{t, db, newBook(t, db, options)})
		})
	}
}

func newBook(t testing.TB, db *sql.DB, options conversations.Options) *conversations.Book {
	t.Helper()
	book, err := conversations.New(t.Context(), db, options)
	require.NoError(t, err)
	return book
}

// note notes a message, and returns whether it changed anything.
func (t pool) note(m conversations.Inbound) bool {
	t.Helper()
	decision, err := t.book.Note(t.Context(), nil, m)
	require.NoError(t, err)
	return decision.Changed
}

func (t pool) allow(m messaging.Outgoing) error { return t.book.Allow(t.Context(), nil, m) }

func (t pool) isAllowed(m messaging.Outgoing, say ...any) {
	t.Helper()
	require.NoError(t, t.allow(m), say...)
}

func (t pool) isOptedOut(m messaging.Outgoing, say ...any) {
	t.Helper()
	require.ErrorIs(t, t.allow(m), messaging.ErrOptedOut, say...)
}

func (t pool) optOuts() (all []conversations.Person) {
	t.Helper()
	for person, err := range t.book.OptOuts(t.Context()) {
		require.NoError(t, err)
		all = append(all, person)
	}
	return all
}

func smsFrom(from, text string) conversations.Inbound {
	return conversations.Inbound{Channel: messaging.ChannelSMS, From: from, To: "12345", Text: text}
}

func smsTo(to string) messaging.Outgoing {
	return messaging.Outgoing{Channel: messaging.ChannelSMS, From: "ACME", To: to, Kind: "text"}
}

func chatFrom(from, userID, text string) conversations.Inbound {
	return conversations.Inbound{Channel: messaging.ChannelChatApp2, From: from, UserID: userID, To: "15550001111", Text: text}
}

func templateTo(to string) messaging.Outgoing {
	return messaging.Outgoing{Channel: messaging.ChannelChatApp2, To: to, Kind: "template", Template: "order_ready"}
}

func chatTo(to string) messaging.Outgoing {
	return messaging.Outgoing{Channel: messaging.ChannelChatApp2, To: to, Kind: "text"}
}

func TestConversationsStopWords(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		for _, text := range []string{"please stop", "STOP IT", "stopped", "the end", "", " ", "START", "👋", "停"} {
			t.note(smsFrom(ana, text))
			t.isAllowed(smsTo(ana), text)
		}
		for _, text := range []string{
			"STOP", " stop\n", "Stop.", "STOP!!!", `"Stop"`, "“stop”", "«STOP»", "*stop*", "ＳＴＯＰ", "S\u200bT\u2060O\u00adP", "STOP\x00", "\ufeffstop",
			"STOPALL", "stop all", "STOP  ALL", "STOP\u00a0ALL.", "Unsubscribe", "cancel", "END", "quit", "Revoke", "OPTOUT", "opt out", "opt-out", "stop promotions",
		} {
			assert.True(t, t.note(smsFrom(ana, text)), text)
			assert.False(t, t.note(smsFrom(ana, text)), "%q again", text)
			t.isOptedOut(smsTo(ana), text)
			t.isAllowed(smsTo("+639171234568"), "another person")
			t.isAllowed(messaging.Outgoing{Channel: messaging.ChannelChatApp1, To: ana, Kind: "text"}, "another channel")
			assert.True(t, t.note(smsFrom(ana, "start")), text)
			assert.False(t, t.note(smsFrom(ana, "Unstop!")), text)
			t.isAllowed(smsTo(ana), text)
		}
	})
}

func TestConversationsButtons(t *testing.T) {
	t.Parallel()
	tap := func(id, title string) conversations.Inbound {
		return conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: ana,
			Content: webhook.Reply{Kind: webhook.ReplyButton, ID: id, Title: title},
		})
	}
	onEachPool(t, conversations.Options{}, func(t pool) {
		for _, button := range [][2]string{{"cancel", "Cancel"}, {"end", "End"}, {"b-1", "Quit"}, {"b-2", "Revoke"}, {"b-3", "Opt in"}} {
			assert.False(t, t.note(tap(button[0], button[1])), button)
			t.isAllowed(chatTo(ana), button)
		}
		for _, button := range [][2]string{{"b-1", "Stop"}, {"STOP", "No more"}, {"stop_promotions", "No"}, {"b-1", "Stop promotions"}, {"", "Unsubscribe"}, {"optout", ""}, {"STOPALL", ""}} {
			assert.True(t, t.note(tap(button[0], button[1])), button)
			t.isOptedOut(templateTo(ana), button)
			assert.False(t, t.note(tap("start", "Start")), "no button opts in")
			t.isOptedOut(templateTo(ana), button)
			assert.True(t, t.note(chatFrom(ana, "", "START")))
		}
	})
}

func TestConversationsWordsOfOptions(t *testing.T) {
	t.Parallel()
	options := conversations.Options{StopWords: []string{"Baja"}, StartWords: []string{"Alta"}, StopButtons: []string{"no más"}}
	onEachPool(t, options, func(t pool) {
		t.note(smsFrom(ana, "STOP"))
		t.isAllowed(smsTo(ana), "words that are given replace the list")
		t.note(smsFrom(ana, "¡BAJA!"))
		t.isOptedOut(smsTo(ana))
		t.note(smsFrom(ana, "START"))
		t.isOptedOut(smsTo(ana))
		t.note(smsFrom(ana, "alta"))
		t.isAllowed(smsTo(ana))
		m := chatFrom(ana, "", "")
		m.ButtonTitle = "Stop"
		t.note(m)
		t.isAllowed(templateTo(ana))
		m.ButtonTitle = "No más"
		t.note(m)
		t.isOptedOut(templateTo(ana))
	})
}

func TestConversationsKnowANumberHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{CountryCode: "63"}, func(t pool) {
		for _, group := range [][]string{
			{
				ana, "639171234567", "00639171234567", "tel:+63-917-123-4567;ext=1", "sms:+639171234567", "whatsapp:+639171234567",
				"63 (917) 123.4567", "0917 123 4567", "\u202a+63\u200b917\u00a01234567\u202c", "＋６３９１７１２３４５６７",
			},
			{"+5511987654321", "551187654321"},
			{"+5215512345678", "+525512345678"},
			{"+5491123456789", "541123456789"},
		} {
			for _, stops := range group {
				require.True(t, t.note(smsFrom(stops, "STOP")), "%q", stops)
				for _, written := range group {
					t.isOptedOut(smsTo(written), "%q stops, and %q is asked about", stops, written)
				}
				require.True(t, t.note(smsFrom(group[0], "START")), "%q", stops)
				t.isAllowed(smsTo(stops), "%q", stops)
			}
		}
	})
}

func TestConversationsKnowAPersonByNumberAndUserID(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		stop, start := "STOP", "START"
		for name, step := range map[string]struct{ first, met, then conversations.Inbound }{
			"by number, then met":        {chatFrom(ana, "", stop), chatFrom(ana, anaID, "Hi"), chatFrom("", anaID, start)},
			"by user ID, then met":       {chatFrom(anaID, "", stop), chatFrom(ana, anaID, "Hi"), chatFrom(ana, "", start)},
			"by user ID alone, then met": {chatFrom("", anaID, stop), chatFrom(ana, anaID, "Hi"), chatFrom(ana, anaID, start)},
			"met when it stops":          {chatFrom(ana, anaID, stop), chatFrom(ana, "", "Hi"), chatFrom(anaID, "", start)},
		} {
			t.note(step.first)
			t.note(step.met)
			both := templateTo(ana)
			both.UserID = anaID
			for _, m := range []messaging.Outgoing{templateTo(ana), templateTo(anaID), both} {
				t.isOptedOut(m, name)
			}
			assert.True(t, t.note(step.then), name)
			for _, m := range []messaging.Outgoing{templateTo(ana), templateTo(anaID), both} {
				t.isAllowed(m, name)
			}
		}
		// A person who takes a new number is the same person still.
		const newNumber = "+639179999999"
		t.note(chatFrom(ana, "", stop))
		t.note(conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: newNumber, UserID: anaID, Content: webhook.System{Kind: webhook.SystemNumberChanged},
		}))
		t.isOptedOut(templateTo(newNumber))
		t.note(conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: newNumber,
			Content: webhook.System{Kind: webhook.SystemNumberChanged, NewID: "639178888888"},
		}))
		t.isOptedOut(templateTo("+639178888888"))
		t.note(conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: anaID,
			Content: webhook.System{Kind: webhook.SystemUserIDChanged, PreviousUserID: anaID, NewUserID: "US.77"},
		}))
		t.isOptedOut(templateTo("US.77"))
	})
}

// A person can type a notice into an edit. It must not make one person of two.
func TestConversationsIgnoreANoticeInAnEdit(t *testing.T) {
	t.Parallel()
	rcv, err := webhook.NewReceiver(webhook.WithoutProof())
	require.NoError(t, err)
	typed := `{"type":"edit","edit":{"original_message_id":"wamid.1","message":{"type":"system",` +
		`"system":{"type":"user_changed_number","wa_id":"639179999999"}}}}`
	callback := messagingtest.InboundChatApp{Channel: "chatapp2", From: ana, JSON: typed}
	messages, _, err := rcv.ParseChatApp2(messagingtest.NewRequest("/hook", callback))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	onEachPool(t, conversations.Options{}, func(t pool) {
		t.note(conversations.FromChat(messages[0]))
		t.note(chatFrom(ana, "", "STOP"))
		t.isOptedOut(templateTo(ana))
		t.isAllowed(templateTo("+639179999999"))
	})
}

func TestConversationsRecordNothingOfANoticeWithoutAName(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		_, err := t.book.Note(t.Context(), nil, conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: ana, UserID: anaID,
			Content: webhook.System{Kind: webhook.SystemNumberChanged, NewID: "???"},
		}))
		require.ErrorIs(t, err, conversations.ErrNoPerson)
		t.note(chatFrom(ana, "", "STOP"))
		t.isOptedOut(templateTo(ana))
		t.isAllowed(templateTo(anaID), "the names were not joined")
	})
}

func TestConversationsWindowOfAPerson(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		require.ErrorIs(t, t.allow(chatTo(ana)), messaging.ErrWindowClosed)
		t.note(chatFrom(ana, anaID, "Hi"))
		t.isAllowed(chatTo(ana))
		t.isAllowed(chatTo(anaID))
		const ben = "US.2"
		t.note(chatFrom(ben, "", "Hi"))
		t.note(conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: "+639170000002", UserID: ben, Content: webhook.System{Kind: webhook.SystemNumberChanged},
		}))
		t.isAllowed(chatTo("+639170000002"), "the window of the user ID")
	})
}

// The decision that arrives last wins, by the clock of the database. The service's time counts in two cases only.
func TestConversationsDecisionThatArrivesLast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(word string, ago time.Duration) conversations.Inbound {
		m := smsFrom(ana, word)
		m.At = now.Add(-ago)
		return m
	}
	undated := func(word string) conversations.Inbound { return smsFrom(ana, word) }
	for name, tc := range map[string]struct {
		messages []conversations.Inbound
		out      bool
	}{
		"a stop":                                {[]conversations.Inbound{at("STOP", time.Hour)}, true},
		"a start after it":                      {[]conversations.Inbound{at("STOP", time.Hour), at("START", time.Minute)}, false},
		"a stop that is dated before the start": {[]conversations.Inbound{at("START", time.Minute), at("STOP", 23*time.Hour)}, true},
		"a stop that is dated two days before the start":    {[]conversations.Inbound{at("START", time.Minute), at("STOP", 48*time.Hour)}, false},
		"a stop of long ago, and an undated start":          {[]conversations.Inbound{undated("START"), at("STOP", 48*time.Hour)}, true},
		"a start that is repeated after a stop":             {[]conversations.Inbound{at("STOP", time.Minute), at("START", time.Hour)}, true},
		"a start that is repeated, and a stop twice":        {[]conversations.Inbound{at("STOP", time.Minute), at("STOP", 2*time.Hour), at("START", time.Hour)}, true},
		"a start in the same second":                        {[]conversations.Inbound{at("STOP", time.Minute), at("START", time.Minute)}, false},
		"a start of long ago after an undated stop":         {[]conversations.Inbound{undated("STOP"), at("START", time.Hour)}, false},
		"an undated start":                                  {[]conversations.Inbound{at("STOP", time.Minute), undated("START")}, false},
		"a stop in the future":                              {[]conversations.Inbound{at("STOP", -1000*time.Hour)}, true},
		"a stop in the future, and a start":                 {[]conversations.Inbound{at("STOP", -1000*time.Hour), at("START", -1000*time.Hour)}, false},
		"a stop, a start and the stop again":                {[]conversations.Inbound{at("STOP", 3*time.Hour), at("START", 2*time.Hour), at("STOP", 3*time.Hour)}, true},
		"a stop, a start, a stop, and an old start at last": {[]conversations.Inbound{at("STOP", 3*time.Hour), at("START", 2*time.Hour), at("STOP", time.Hour), at("START", 2*time.Hour)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachPool(t, conversations.Options{}, func(t pool) {
				for _, m := range tc.messages {
					t.note(m)
				}
				if tc.out {
					t.isOptedOut(smsTo(ana))
				} else {
					t.isAllowed(smsTo(ana))
				}
			})
		})
	}
}

// What is decided under one name ends what was decided under the other by the same rule.
func TestConversationsDecisionUnderAnotherName(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		stop := chatFrom(ana, "", "STOP")
		stop.At = time.Now().Add(-time.Minute)
		t.note(stop)
		start := chatFrom("", anaID, "START")
		start.At = time.Now().Add(-time.Hour)
		t.note(start)
		t.note(chatFrom(ana, anaID, "Hi"))
		t.isOptedOut(chatTo(anaID), "the start is a repeated one")
		start.At = time.Now()
		t.note(start)
		t.isAllowed(chatTo(ana))
		t.isAllowed(chatTo(anaID))
	})
}

func TestConversationsMarketing(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{MarketingTemplates: []string{"spring_sale"}}, func(t pool) {
		sale, offer := templateTo(ana), smsTo(ana)
		sale.Template = "spring_sale"
		offer.Marketing = true
		stopped := conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana, UserID: anaID, Marketing: true, At: time.Now()}
		require.NoError(t, t.book.OptOut(t.Context(), nil, stopped))
		t.isOptedOut(sale)
		t.isAllowed(templateTo(ana), "a code is no marketing")
		sale.Template, sale.To = "autumn_sale", anaID
		t.isAllowed(sale, "the book does not know that it is marketing")
		sale.Marketing = true
		t.isOptedOut(sale)
		t.isAllowed(offer, "another channel")

		require.NoError(t, t.book.OptIn(t.Context(), nil, conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana}))
		t.isOptedOut(sale, "an opt-in to all ends no opt-out of marketing")
		stopped.At = time.Now()
		require.NoError(t, t.book.OptIn(t.Context(), nil, stopped))
		t.isAllowed(sale)

		t.note(chatFrom(ana, anaID, "STOP"))
		require.NoError(t, t.book.OptIn(t.Context(), nil, stopped))
		t.isOptedOut(sale, "a resumed preference ends no STOP")
		t.isOptedOut(templateTo(ana))
	})
}

func TestConversationsNotePreference(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		note := func(p webhook.Preference) {
			t.Helper()
			p.From, p.UserID, p.ChangedAt = ana, anaID, time.Now()
			require.NoError(t, t.book.NotePreference(t.Context(), nil, p))
		}
		sale := templateTo(ana)
		sale.Marketing = true
		note(webhook.Preference{Stopped: true})
		t.isOptedOut(sale)
		t.isAllowed(templateTo(ana), "a code is no marketing")
		note(webhook.Preference{})
		t.isAllowed(sale)
		note(webhook.Preference{Ambiguous: true})
		t.isOptedOut(sale, "what is ambiguous is a stop")
		const other = "US.99999999999999999999"
		ambiguous := webhook.Preference{From: ana, UserID: other, Ambiguous: true, ChangedAt: time.Now()}
		require.NoError(t, t.book.NotePreference(t.Context(), nil, ambiguous))
		sale.To = other
		t.isOptedOut(sale, "whoever it names")
		t.note(chatFrom(ana, "", "STOP"))
		t.isAllowed(templateTo(other), "and joins no names")
		err := t.book.NotePreference(t.Context(), nil, webhook.Preference{From: "\x00", Stopped: true})
		require.ErrorIs(t, err, conversations.ErrNoPerson)
	})
}

func TestConversationsFallback(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		t.note(chatFrom(ana, anaID, "Hi"))
		m := chatTo(ana)
		m.Fallback = "ACME"
		t.isAllowed(m)
		require.NoError(t, t.book.OptOut(t.Context(), nil, conversations.Person{Channel: messaging.ChannelSMS, Number: ana, Sender: "Acme"}))
		for _, to := range []string{ana, anaID} {
			m.To = to
			err := t.allow(m)
			require.ErrorIs(t, err, messaging.ErrOptedOut)
			assert.EqualError(t, err, "the SMS fallback: messaging: opted out")
		}
		m.Fallback = "SHOP"
		t.isAllowed(m, "another sender of SMS")
		m.Fallback = ""
		t.isAllowed(m, "without its fallback")

		require.NoError(t, t.book.OptOut(t.Context(), nil, conversations.Person{Channel: messaging.ChannelSMS, Number: ana, Marketing: true}))
		m.Fallback = "SHOP"
		t.isAllowed(m)
		m.Marketing = true
		t.isOptedOut(m)
	})
}

func TestConversationsPerSender(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{PerSender: true}, func(t pool) {
		t.note(smsFrom(ana, "STOP"))
		m := smsTo(ana)
		t.isAllowed(m, "another sender")
		m.From = "+12345"
		t.isOptedOut(m)
		m.From = ""
		t.isOptedOut(m, "any sender")
		all := conversations.Person{Channel: messaging.ChannelSMS, Number: ana}
		require.NoError(t, t.book.OptOut(t.Context(), nil, all))
		t.isOptedOut(smsTo(ana), "by hand, for all senders")
		require.NoError(t, t.book.OptIn(t.Context(), nil, all))
		t.isAllowed(smsTo(ana))
		m.From = "12345"
		t.isOptedOut(m, "the opt-out of another sender")
	})
}

func TestConversationsAllChannels(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		messages := []messaging.Outgoing{smsTo(ana), templateTo(ana), {Channel: messaging.ChannelChatApp1, To: ana, Kind: "text"}}
		words := func(word string) []conversations.Inbound {
			return []conversations.Inbound{
				smsFrom(ana, word), chatFrom(ana, "", word), {Channel: messaging.ChannelChatApp1, From: ana, Text: word},
			}
		}
		for i, stop := range words("STOP") {
			assert.True(t, t.note(stop), stop.Channel)
			for _, m := range messages {
				t.isOptedOut(m, "%v stops, and %v is asked about", stop.Channel, m.Channel)
			}
			t.isAllowed(smsTo("+639171234568"), "another person")
			assert.False(t, t.note(words("STOP")[(i+1)%3]), "again, on another channel")
			assert.True(t, t.note(words("START")[(i+2)%3]), stop.Channel)
			for _, m := range messages {
				t.isAllowed(m, "%v stopped, and %v is asked about", stop.Channel, m.Channel)
			}
			assert.False(t, t.note(words("START")[i]), "again, on another channel")
		}
		require.NoError(t, t.book.OptOut(t.Context(), nil, conversations.Person{Channel: messaging.ChannelSMS, Number: ana}))
		t.isOptedOut(templateTo(ana))
		require.NoError(t, t.book.OptIn(t.Context(), nil, conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana}))
		t.isAllowed(smsTo(ana))

		stopped := webhook.Preference{From: ana, Stopped: true, ChangedAt: time.Now()}
		require.NoError(t, t.book.NotePreference(t.Context(), nil, stopped))
		offer := smsTo(ana)
		offer.Marketing = true
		t.isOptedOut(offer)
		t.isAllowed(smsTo(ana))
	})
}

// A person may be known by a user ID on one channel, and by a number on another.
func TestConversationsAllChannelsKnowAPerson(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		t.note(chatFrom("", anaID, "STOP"))
		t.isAllowed(smsTo(ana), "the number is not known yet")
		t.note(chatFrom(ana, anaID, "Hi"))
		t.isOptedOut(smsTo(ana))
		assert.True(t, t.note(smsFrom(ana, "START")))
		t.isAllowed(templateTo(anaID))
	})
}

// Windows are open on the channel where a person wrote, for the names that the person has there.
func TestConversationsAllChannelsKeepWindowsApart(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		t.note(smsFrom(ana, "Hi"))
		require.ErrorIs(t, t.allow(chatTo(ana)), messaging.ErrWindowClosed)
		t.note(chatFrom(anaID, "", "Hi"))
		t.note(conversations.Inbound{Channel: messaging.ChannelChatApp1, From: ana, UserID: anaID, Text: "Hi"})
		require.ErrorIs(t, t.allow(chatTo(ana)), messaging.ErrWindowClosed, "chat app 2 does not know that number")
		t.isAllowed(chatTo(anaID))
		t.note(chatFrom(ana, anaID, "Hi"))
		t.isAllowed(chatTo(ana))
	})
}

// Decisions from before the option was set count on their channels: an opt-in on one does not end an opt-out on another.
func TestConversationsAllChannelsSetLater(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		stop := chatFrom(ana, anaID, "STOP")
		stop.At = time.Now().Add(-time.Hour)
		t.note(stop)
		t.note(smsFrom(ana, "START"))
		t.book = newBook(t, t.db, conversations.Options{AllChannels: true})
		t.isOptedOut(templateTo(ana))
		t.isOptedOut(templateTo(anaID))
		t.isAllowed(smsTo(ana))

		start := smsFrom(ana, "START")
		start.At = stop.At.Add(-time.Minute)
		assert.False(t, t.note(start))
		t.isOptedOut(templateTo(ana), "the start is a repeated one")
		start.At = time.Now()
		assert.True(t, t.note(start))
		t.isAllowed(templateTo(ana))
		t.isAllowed(templateTo(anaID))
		assert.True(t, t.note(smsFrom(ana, "STOP")))
		t.isOptedOut(templateTo(anaID))

		t.book = newBook(t, t.db, conversations.Options{})
		assert.True(t, t.note(smsFrom(ana, "START")))
		t.isAllowed(smsTo(ana))
		t.isOptedOut(templateTo(ana), "what was decided for all channels stays")
	})
}

// Decisions that arrive at once on several channels leave a person opted out of all of them, or of none.
func TestConversationsAllChannelsUnderLoad(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		const people, each = 16, 5
		number := func(i int) string { return fmt.Sprint(639171000000 + i) }
		var all sync.WaitGroup
		for i := range people {
			note := func(m conversations.Inbound) {
				for range each {
					_, err := t.book.Note(t.Context(), nil, m)
					assert.NoError(t, err)
				}
			}
			all.Go(func() { note(smsFrom(number(i), "STOP")) })
			all.Go(func() { note(chatFrom(number(i), fmt.Sprint("US.", i), "START")) })
		}
		all.Wait()
		for i := range people {
			assert.Equal(t, t.allow(smsTo(number(i))) == nil, t.allow(templateTo(number(i))) == nil, "%d", i)
		}
	})
}

func TestConversationsRefuseWhoIsNoPerson(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		for _, text := range []string{"", "\x00", "\xff", "\u200b", " ", "+", "Ana Cruz", "+639171234567 or 639181234567", "63917***4567", "???"} {
			_, err := t.book.Note(t.Context(), nil, smsFrom(text, "STOP"))
			require.ErrorIs(t, err, conversations.ErrNoPerson, "%q", text)
			person := conversations.Person{Channel: messaging.ChannelSMS, Number: text}
			require.ErrorIs(t, t.book.OptOut(t.Context(), nil, person), conversations.ErrNoPerson, "%q", text)
			require.ErrorIs(t, t.book.OptIn(t.Context(), nil, person), conversations.ErrNoPerson, "%q", text)
			require.ErrorIs(t, t.allow(smsTo(text)), conversations.ErrNoPerson, "%q", text)
			_, err = t.book.WindowEnd(t.Context(), nil, person)
			require.ErrorIs(t, err, conversations.ErrNoPerson, "%q", text)
			assert.NotContains(t, err.Error(), "639")
		}
		_, err := t.book.Note(t.Context(), nil, conversations.Inbound{Channel: messaging.ChannelChatApp2, From: "???", UserID: "\x00"})
		require.EqualError(t, err, "conversations: neither a phone number nor a user ID: From")
		_, err = t.book.Note(t.Context(), nil, conversations.Inbound{Channel: messaging.ChannelChatApp2, UserID: "\x00"})
		require.EqualError(t, err, "conversations: neither a phone number nor a user ID: UserID")
		_, err = t.book.Note(t.Context(), nil, conversations.Inbound{From: ana})
		require.ErrorContains(t, err, "Channel")
	})
}

// Without AllChannels, a stop counts on the chat app at whose URL it arrived.
func TestConversationsPreferenceOfChatApp1(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		stop := webhook.Preference{Callback: webhook.CallbackChatApp1, From: ana, Stopped: true}
		require.NoError(t, t.book.NotePreference(t.Context(), nil, stop))
		sale := templateTo(ana)
		sale.Marketing = true
		t.isAllowed(sale)
		sale.Channel = messaging.ChannelChatApp1
		t.isOptedOut(sale)
	})
}

// Everything that a person writes or chooses counts under the usable name if the other is masked or unreadable. The names are not joined.
func TestConversationsKnowAPersonByOneUsableName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, userID, known string }{
		{"63917***4567", anaID, anaID},
		{ana, "not a user ID", ana},
		{ana, "a/b+c=", ana}, // base64
	} {
		onEachPool(t, conversations.Options{}, func(t pool) {
			sale := templateTo(tt.known)
			sale.Marketing = true
			for _, stop := range []webhook.Preference{{Stopped: true}, {Ambiguous: true}} {
				stop.From, stop.UserID = tt.from, tt.userID
				require.NoError(t, t.book.NotePreference(t.Context(), nil, stop))
				t.isOptedOut(sale)
				resume := webhook.Preference{From: tt.from, UserID: tt.userID}
				require.NoError(t, t.book.NotePreference(t.Context(), nil, resume))
				t.isAllowed(sale)
			}
			require.ErrorIs(t, t.allow(chatTo(tt.known)), messaging.ErrWindowClosed)
			t.note(chatFrom(tt.from, tt.userID, "order"))
			t.isAllowed(chatTo(tt.known), "the person wrote just now")
			assert.True(t, t.note(chatFrom(tt.from, tt.userID, "STOP")))
			t.isOptedOut(templateTo(tt.known))
			assert.True(t, t.note(chatFrom(tt.from, tt.userID, "START")))
			t.isAllowed(templateTo(tt.known))
		})
	}
}

// A notice that a name changed is recorded even if a name that it does not change is unreadable. Without both names of the change it is not.
func TestConversationsChangeOfANameWithAnUnreadableName(t *testing.T) {
	t.Parallel()
	const newNumber = "+639178888888"
	notice := func(from, userID string) conversations.Inbound {
		return conversations.FromChat(webhook.ChatMessage{
			Callback: webhook.CallbackChatApp2, From: from, UserID: userID,
			Content: webhook.System{Kind: webhook.SystemNumberChanged, NewID: newNumber},
		})
	}
	onEachPool(t, conversations.Options{}, func(t pool) {
		t.note(chatFrom(ana, "", "STOP"))
		t.note(chatFrom(anaID, "", "STOP"))
		_, err := t.book.Note(t.Context(), nil, notice("63917***4567", anaID))
		require.ErrorIs(t, err, conversations.ErrNoPerson)
		t.isAllowed(templateTo(newNumber))
		t.note(notice(ana, "a/b+c="))
		t.isOptedOut(templateTo(newNumber))
	})
}

// An SMS goes to a phone number only. A sender with letters cannot be replied to, and anyone may use the name of another.
func TestConversationsKnowPhoneNumbersOnlyOnSMS(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		for _, text := range []string{"BANK", "x", "john", "n.a.", "1234567890123456"} { // such as the columns of a file in another order
			decision, err := t.book.Note(t.Context(), nil, smsFrom(text, "STOP"))
			require.ErrorIs(t, err, conversations.ErrNoPerson, "%q", text)
			require.EqualError(t, err, "conversations: neither a phone number nor a user ID: From: an SMS goes to a phone number")
			require.Zero(t, decision, "%q", text)
			person := conversations.Person{Channel: messaging.ChannelSMS, Number: text}
			require.ErrorIs(t, t.book.OptOut(t.Context(), nil, person), conversations.ErrNoPerson, "%q", text)
			require.ErrorIs(t, t.book.OptIn(t.Context(), nil, person), conversations.ErrNoPerson, "%q", text)
			_, err = t.book.WindowEnd(t.Context(), nil, person)
			require.ErrorIs(t, err, conversations.ErrNoPerson, "%q", text)
			require.ErrorIs(t, t.allow(smsTo(text)), conversations.ErrNoPerson, "%q", text)
			t.isAllowed(templateTo(text), "a user of a chat app with the same ID")
		}
		require.Empty(t, t.optOuts())
		assert.True(t, t.note(smsFrom("12345", "STOP")), "a short code")
		t.isOptedOut(smsTo("12345"))
	})
}

func TestConversationsOptOutsAfterALateJoin(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		byNumber := conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana, At: time.Now().Add(-48 * time.Hour)}
		byUserID := conversations.Person{Channel: messaging.ChannelChatApp2, UserID: anaID, At: time.Now()}
		require.NoError(t, t.book.OptOut(t.Context(), nil, byNumber))
		require.NoError(t, t.book.OptIn(t.Context(), nil, byUserID))
		t.isOptedOut(templateTo(ana))
		t.note(chatFrom(ana, anaID, "Hello"))
		t.isAllowed(templateTo(ana))
		optOuts := 0
		for _, err := range t.book.OptOuts(t.Context()) {
			require.NoError(t, err)
			optOuts++
		}
		assert.Equal(t, 1, optOuts, "as the documentation says")
	})
}

func TestConversationsOptOuts(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		for i := range 600 {
			person := conversations.Person{Channel: messaging.ChannelChatApp1, UserID: fmt.Sprintf("US.%03d", i), At: time.UnixMilli(1000)}
			require.NoError(t, t.book.OptOut(t.Context(), nil, person))
		}
		t.note(chatFrom(ana, anaID, "STOP"))
		t.note(smsFrom(ana, "STOP"))
		t.note(smsFrom("+639170000000", "STOP"))
		t.note(smsFrom("+639170000000", "START"))
		require.NoError(t, t.book.OptOut(t.Context(), nil, conversations.Person{Channel: messaging.ChannelSMS, Number: ana, Sender: "Acme", Marketing: true}))
		var all []conversations.Person
		for one, err := range t.book.OptOuts(t.Context()) {
			require.NoError(t, err)
			if len(all) >= 600 {
				assert.WithinDuration(t, time.Now(), one.At, time.Minute)
				one.At = time.Time{}
			}
			all = append(all, one)
		}
		require.Len(t, all, 603)
		assert.Equal(t, conversations.Person{Channel: messaging.ChannelChatApp1, UserID: "US.599", At: time.UnixMilli(1000)}, all[599])
		assert.Equal(t, []conversations.Person{
			{Channel: messaging.ChannelChatApp2, Number: "639171234567", UserID: anaID},
			{Channel: messaging.ChannelSMS, Number: "639171234567"},
			{Channel: messaging.ChannelSMS, Number: "639171234567", Sender: "ACME", Marketing: true},
		}, all[600:])
		for _, err := range t.book.OptOuts(t.Context()) {
			require.NoError(t, err)
			break
		}
	})
}

// A user ID of digits alone is too long for a phone number.
func TestConversationsOptOutsOfAUserIDOfDigits(t *testing.T) {
	t.Parallel()
	const userID = "12345678901234567"
	onEachPool(t, conversations.Options{}, func(t pool) {
		person := conversations.Person{Channel: messaging.ChannelChatApp2, UserID: userID, At: time.UnixMilli(1000)}
		require.NoError(t, t.book.OptOut(t.Context(), nil, person))
		assert.Equal(t, []conversations.Person{person}, t.optOuts())
	})
	onEachPool(t, conversations.Options{AllChannels: true}, func(t pool) {
		for _, name := range []string{userID, anaID} {
			person := conversations.Person{Channel: messaging.ChannelChatApp2, UserID: name, At: time.UnixMilli(1000)}
			require.NoError(t, t.book.OptOut(t.Context(), nil, person))
		}
		number := conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana, At: time.UnixMilli(1000)}
		require.NoError(t, t.book.OptOut(t.Context(), nil, number))
		all := t.optOuts()
		require.Len(t, all, 7, "an SMS goes to the number only")
		for _, person := range all {
			assert.NoError(t, t.book.OptOut(t.Context(), nil, person), "%+v", person)
		}
		assert.Equal(t, all, t.optOuts())
	})
}

func TestConversationsWindow(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		person := conversations.Person{Channel: messaging.ChannelChatApp2, UserID: anaID}
		t.isAllowed(templateTo(anaID))
		require.ErrorIs(t, t.allow(chatTo(anaID)), messaging.ErrWindowClosed)
		end, err := t.book.WindowEnd(t.Context(), nil, person)
		require.NoError(t, err)
		assert.Zero(t, end)

		written := chatFrom(anaID, "", "Hi")
		written.At = time.Now().Add(-25 * time.Hour)
		t.note(written)
		require.ErrorIs(t, t.allow(chatTo(anaID)), messaging.ErrWindowClosed)
		t.isAllowed(messaging.Outgoing{Channel: messaging.ChannelChatApp1, To: anaID}, "another channel has no window")
		written.At = time.Now().Add(-23 * time.Hour)
		t.note(written)
		late := written
		late.At = time.Now().Add(-30 * time.Hour)
		t.note(late)
		t.isAllowed(chatTo(anaID))
		m := chatTo(anaID)
		m.From = "+15550001111"
		t.isAllowed(m)
		m.From = "15550002222"
		require.ErrorIs(t, t.allow(m), messaging.ErrWindowClosed, "another sender of ours")
		end, err = t.book.WindowEnd(t.Context(), nil, person)
		require.NoError(t, err)
		assert.WithinDuration(t, written.At.Add(24*time.Hour), end, time.Millisecond)
	})
}

func TestConversationsFromEvents(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		chat := func(change func(*webhook.ChatMessage)) conversations.Inbound {
			m := webhook.ChatMessage{Callback: webhook.CallbackChatApp2, From: ana, To: "15550001111", Content: webhook.Text{Body: "Hi"}}
			change(&m)
			return conversations.FromChat(m)
		}
		for name, change := range map[string]func(*webhook.ChatMessage){
			"a notice":                func(m *webhook.ChatMessage) { m.Content = webhook.System{} },
			"a message to a group":    func(m *webhook.ChatMessage) { m.GroupID = "g" },
			"a message of chat app 1": func(m *webhook.ChatMessage) { m.Callback = webhook.CallbackChatApp1 },
		} {
			assert.False(t, t.note(chat(change)), name)
			require.ErrorIs(t, t.allow(chatTo(ana)), messaging.ErrWindowClosed, name)
		}
		t.note(chat(func(*webhook.ChatMessage) {}))
		t.isAllowed(chatTo(ana))
		stops := map[string]func(*webhook.ChatMessage){
			"a text":    func(m *webhook.ChatMessage) { m.Content = webhook.Text{Body: "Stop"} },
			"a caption": func(m *webhook.ChatMessage) { m.Content = webhook.Media{Kind: webhook.MediaImage, Caption: "stop"} },
			"an edit": func(m *webhook.ChatMessage) {
				m.Content = webhook.Edit{MessageID: "m", Content: webhook.Text{Body: "STOP"}}
			},
			"in a group":   func(m *webhook.ChatMessage) { m.GroupID = "g"; m.Content = webhook.Text{Body: "STOP"} },
			"a row":        func(m *webhook.ChatMessage) { m.Content = webhook.Reply{Kind: webhook.ReplyList, Title: "Unsubscribe"} },
			"is ambiguous": func(m *webhook.ChatMessage) { m.Ambiguous = true; m.Content = webhook.Text{Body: "STOP"} },
		}
		for name, change := range stops {
			assert.True(t, t.note(chat(change)), name)
			t.note(chat(func(m *webhook.ChatMessage) { m.Ambiguous = true; m.Content = webhook.Text{Body: "START"} }))
			t.isOptedOut(chatTo(ana), "an event that contradicts itself opts nobody in")
			t.note(chat(func(m *webhook.ChatMessage) { m.Content = webhook.Text{Body: "START"} }))
		}
		t.note(chat(func(m *webhook.ChatMessage) { m.Content = webhook.Reply{Kind: webhook.ReplyForm, Title: "STOP"} }))
		t.isAllowed(chatTo(ana), "a form")
		received := webhook.SMSMessage{From: ana, To: "12345", Text: "STOP", ReceivedAt: time.Now()}
		assert.True(t, t.note(conversations.FromSMS(received)))
		t.isOptedOut(smsTo(ana))
	})
}

// A service that recognizes keywords may leave the text empty. If there is a text, the keyword may be only its first word.
func TestConversationsKeywordOfAnSMS(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		receive := func(text, keyword string) bool {
			return t.note(conversations.FromSMS(webhook.SMSMessage{From: ana, To: "21581", Text: text, Keyword: keyword}))
		}
		for _, blank := range []string{"", " \r\n"} {
			assert.True(t, receive(blank, "STOP"), "%q", blank)
			t.isOptedOut(smsTo(ana))
			assert.True(t, receive(blank, "START"), "%q", blank)
			t.isAllowed(smsTo(ana))
		}
		assert.False(t, receive("STOP calling me at night", "STOP"))
		t.isAllowed(smsTo(ana))
	})
}

func TestConversationsNoteReturnsTheDecision(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		for _, step := range []struct {
			text string
			want conversations.Decision
		}{
			{"hello", conversations.Decision{}},
			{"START", conversations.Decision{OptIn: true}},
			{"STOP", conversations.Decision{OptOut: true, Changed: true}},
			{"stop", conversations.Decision{OptOut: true}},
			{"START", conversations.Decision{OptIn: true, Changed: true}},
			{"start", conversations.Decision{OptIn: true}},
		} {
			decision, err := t.book.Note(t.Context(), nil, smsFrom(ana, step.text))
			require.NoError(t, err)
			assert.Equal(t, step.want, decision, step.text)
		}
	})
}

// Each method works in the transaction that the caller holds, so that none waits for a second connection of a pool that has one.
func TestConversationsInATransaction(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		for _, commit := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			tx, err := t.db.BeginTx(ctx, nil)
			require.NoError(t, err)
			decision, err := t.book.Note(ctx, tx, chatFrom(ana, anaID, "STOP"))
			require.NoError(t, err)
			assert.True(t, decision.Changed)
			require.ErrorIs(t, t.book.Allow(ctx, tx, templateTo(ana)), messaging.ErrOptedOut)
			person := conversations.Person{Channel: messaging.ChannelSMS, Number: ana}
			require.NoError(t, t.book.OptOut(ctx, tx, person))
			require.NoError(t, t.book.OptIn(ctx, tx, person))
			end, err := t.book.WindowEnd(ctx, tx, conversations.Person{Channel: messaging.ChannelChatApp2, Number: ana})
			require.NoError(t, err)
			assert.NotZero(t, end)
			if commit {
				require.NoError(t, tx.Commit())
				t.isOptedOut(templateTo(anaID))
			} else {
				require.NoError(t, tx.Rollback())
				t.isAllowed(templateTo(anaID))
			}
			cancel()
		}
	})
}

func TestConversationsPrune(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		const many = 1200
		tx, err := t.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		for i := range many {
			m := smsFrom(fmt.Sprint(639170000000+i), "hello")
			m.At = time.Now().Add(-25 * time.Hour)
			_, err = t.book.Note(t.Context(), tx, m)
			require.NoError(t, err)
		}
		require.NoError(t, tx.Commit())
		stop := smsFrom(ana, "STOP")
		stop.At = time.Now().Add(-31 * 24 * time.Hour)
		t.note(stop)
		t.note(smsFrom("+639170000000", "hello"))
		deleted, err := t.book.Prune(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, many, deleted, "all windows but the one that was opened again, and that of the stop")
		t.isOptedOut(smsTo(ana))
	})
}

// PostgreSQL can use an index only if the time does not change while the statement runs. Otherwise each thousand rows are a scan of the table.
func TestConversationsPruneUsesTheIndex(t *testing.T) {
	t.Parallel()
	open, hasPostgres := storeDatabases()["PostgreSQL"]
	if !hasPostgres {
		t.Skip("needs PostgreSQL: SQLite uses the index anyway")
	}
	db := open(t)
	p := pool{t, db, newBook(t, db, conversations.Options{})}
	_, err := db.ExecContext(t.Context(), `INSERT INTO conversation (channel, peer, sender, last_at)
		SELECT 'sms', CAST(n AS TEXT), '', CASE WHEN n > 5 THEN 9999999999999 ELSE 1 END FROM generate_series(1, 20000) AS n`)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "ANALYZE conversation")
	require.NoError(t, err)
	deleted, err := p.book.Prune(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 5, deleted)
	isIndexUsed := func() bool {
		var scans int64
		err := db.QueryRowContext(t.Context(), `SELECT idx_scan FROM pg_stat_user_indexes
			WHERE schemaname = current_schema() AND indexrelname = 'conversation_last'`).Scan(&scans)
		return err == nil && scans > 0
	}
	assert.Eventually(t, isIndexUsed, 20*time.Second, 1500*time.Millisecond, "PostgreSQL counts about a second later")
}

// PostgreSQL makes Prune wait for the row of a window that a transaction opens again, and Prune must then keep it.
func TestConversationsPruneKeepsAWindowThatOpensMeanwhile(t *testing.T) {
	t.Parallel()
	open, hasPostgres := storeDatabases()["PostgreSQL"]
	if !hasPostgres {
		t.Skip("needs PostgreSQL: SQLite has one writer at a time")
	}
	db := open(t)
	p := pool{t, db, newBook(t, db, conversations.Options{})}
	old := chatFrom(ana, "", "hello")
	old.At = time.Now().Add(-25 * time.Hour)
	p.note(old)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = p.book.Note(t.Context(), tx, chatFrom(ana, "", "hello again"))
	require.NoError(t, err)
	var pruning sync.WaitGroup
	pruning.Go(func() {
		deleted, err := p.book.Prune(t.Context())
		assert.NoError(t, err)
		assert.Zero(t, deleted)
	})
	waits := func() bool {
		var waiting int
		err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM conversation %'`).Scan(&waiting)
		return err == nil && waiting > 0
	}
	assert.Eventually(t, waits, 10*time.Second, 5*time.Millisecond, "Prune waits for the row")
	require.NoError(t, tx.Commit())
	pruning.Wait()
	p.isAllowed(chatTo(ana))
}

// No message goes to a person whose opt-out was committed before Allow was called.
func TestConversationsHoldUnderLoad(t *testing.T) {
	t.Parallel()
	onEachPool(t, conversations.Options{}, func(t pool) {
		const people, each = 64, 5
		var out [people]atomic.Bool
		var changes [people]atomic.Int32
		var all sync.WaitGroup
		number := func(i int) string { return fmt.Sprint(639171000000 + i) }
		for i := range people {
			for range 2 { // two handlers of each person
				all.Go(func() {
					for range each {
						_, err := t.book.Note(t.Context(), nil, smsFrom(number(i), "hello"))
						assert.NoError(t, err)
						if i%2 == 1 {
							continue
						}
						decision, err := t.book.Note(t.Context(), nil, smsFrom(number(i), "stop"))
						if assert.NoError(t, err) {
							out[i].Store(true)
						}
						if decision.Changed {
							changes[i].Add(1)
						}
					}
				})
			}
			all.Go(func() { // a sender
				for n := range each * 2 {
					to := (i + n) % people
					was := out[to].Load()
					err := t.allow(smsTo("+" + number(to)))
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
			assert.Equal(t, i%2 == 0, t.allow(smsTo(number(i))) != nil)
			assert.EqualValues(t, 1-i%2, changes[i].Load(), "one handler reports the change")
		}
	})
}

func TestConversationsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	_, err := conversations.New(t.Context(), nil, conversations.Options{})
	require.ErrorContains(t, err, "nil")
	for want, options := range map[string]conversations.Options{
		`CountryCode is "+63"`: {CountryCode: "+63"}, `CountryCode is "063"`: {CountryCode: "063"},
		"word of Options is empty": {StopWords: []string{" "}}, "word of Options is": {StopButtons: []string{"..."}},
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
	onEachPool(t, conversations.Options{}, func(t pool) {
		service := messagingtest.NewServer(t)
		client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithGuard(t.book.Guard))
		require.NoError(t, err)
		remind := func() error {
			_, err := messaging.FirstAccepted(t.Context(), func(ctx context.Context) (messaging.Receipt, error) {
				return client.ChatApp2.Send(ctx, chatapp2.Message{To: ana, Content: chatapp2.Text{Body: "Hi"}})
			}, func(ctx context.Context) (messaging.Receipt, error) {
				return client.SMS.Send(ctx, sms.Message{From: "ACME", To: ana, Text: "Hi"})
			})
			return err
		}
		require.NoError(t, remind(), "the window is closed, so it goes as an SMS")
		assert.Equal(t, "sms", service.Sent()[0].Channel)
		t.note(chatFrom(ana, "", "Hi"))
		require.NoError(t, remind(), "the window is open")
		assert.Equal(t, "chatapp2", service.Sent()[1].Channel)
		t.note(chatFrom(ana, "", "STOP"))
		err = remind()
		require.ErrorIs(t, err, messaging.ErrOptedOut)
		require.ErrorIs(t, err, messaging.ErrDenied)
		require.EqualError(t, err, "messaging: chatapp2.send not sent: opted out")
		_, retryable := messaging.Retryable(err)
		assert.False(t, retryable)
		assert.Len(t, service.Sent(), 2, "who opted out is not reached another way")

		require.NoError(t, t.db.Close())
		err = remind()
		_, retryable = messaging.Retryable(err)
		assert.True(t, retryable, "a database that fails keeps the message: %v", err)
		require.ErrorIs(t, err, messaging.ErrPostponed)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
		assert.Len(t, service.Sent(), 2)
	})
}

// A guard whose database is away for a while refuses no message of a SendAll for good.
func TestConversationsGuardWhoseDatabaseIsAway(t *testing.T) {
	t.Parallel()
	book := newBook(t, openPoolOfOne(t), conversations.Options{})
	var back atomic.Bool
	errAway := errors.New("connection refused")
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
		messaging.WithGuard(func(ctx context.Context, m messaging.Outgoing) error {
			if !back.Load() {
				return errAway
			}
			return book.Guard(ctx, m)
		}))
	require.NoError(t, err)
	time.AfterFunc(2*time.Second, func() { back.Store(true) })
	left := make([]sms.Message, 500)
	for i := range left {
		left[i] = sms.Message{From: "ACME", To: fmt.Sprint("+", 639170000000+i), Text: "Hi", ReferenceID: fmt.Sprint("r-", i)}
	}
	refused := 0
	for deadline := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(deadline); {
		var again []sms.Message
		for out := range client.SMS.SendAll(t.Context(), slices.Values(left), 8) {
			if _, retryable := messaging.Retryable(out.Err); retryable {
				again = append(again, out.Message)
			} else if out.Err != nil {
				refused++
			}
		}
		left = again
		time.Sleep(50 * time.Millisecond)
	}
	assert.Zero(t, refused)
	assert.Len(t, service.Sent(), 500)
}
