package conversations

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/webhook"
)

// Inbound is a message that came in. [FromSMS] and [FromChat] make one of an event.
type Inbound struct {
	Channel messaging.Channel
	// From is the person: a number, or the platform's user ID.
	From string
	// UserID is the person's user ID if From is a number. From and UserID are one person from then on.
	UserID string
	// To is the sender of ours that the message went to.
	To string
	// Text is the whole text, or empty if the message has none.
	Text string
	// ButtonID and ButtonTitle are those of the button, if the message is a tap on one.
	ButtonID, ButtonTitle string
	// At is when the service received the message. The zero time means that it is not dated.
	At time.Time

	// opensNoWindow is set if the message is a notice of the platform, or was written to a group.
	opensNoWindow bool
	// renamed are the names before and after, if the message is a notice that one of them changed. They are one person.
	renamed [2]string
	// isDoubtful is set if the event contradicts itself. It may opt out, and neither opts in nor joins two names.
	isDoubtful bool
}

// FromSMS returns an inbound SMS for Note.
func FromSMS(m webhook.SMSMessage) Inbound {
	return Inbound{
		Channel: messaging.ChannelSMS, From: m.From, To: m.To, Text: m.Text, At: m.ReceivedAt, isDoubtful: m.Ambiguous,
	}
}

// FromChat returns a message of a chat app for Note: its text or caption, or the button that was tapped. A notice of the platform and a
// message to a group open no window.
func FromChat(m webhook.ChatMessage) Inbound {
	in := Inbound{
		Channel: messaging.ChannelChatApp1, From: m.From, UserID: m.UserID, To: m.To, At: m.ReceivedAt,
		opensNoWindow: m.GroupID != "", isDoubtful: m.Ambiguous,
	}
	if m.Callback == webhook.CallbackChatApp2 {
		in.Channel = messaging.ChannelChatApp2
	}
	content := m.Content
	if edit, isEdit := content.(webhook.Edit); isEdit {
		content = edit.Content
	}
	switch content := content.(type) {
	case webhook.Text:
		in.Text = content.Body
	case webhook.Media:
		in.Text = content.Caption
	case webhook.Reply:
		in.ButtonID, in.ButtonTitle = buttonOf(content)
	case webhook.System:
		in.opensNoWindow = true
		in.renamed = renamed(m.From, content)
	case webhook.RequestWelcome:
		in.opensNoWindow = true
	case webhook.Location, webhook.Contacts, webhook.Reaction, webhook.Product, webhook.Order, webhook.Edit, webhook.Revoke,
		webhook.Unknown:
		// It says nothing that counts, but the person wrote.
	}
	return in
}

// renamed returns the names before and after of a notice that the number or the user ID of a person changed.
func renamed(from string, notice webhook.System) (names [2]string) {
	switch notice.Kind {
	case webhook.SystemNumberChanged:
		return [2]string{from, notice.NewID}
	case webhook.SystemUserIDChanged:
		return [2]string{cmp.Or(notice.PreviousUserID, from), notice.NewUserID}
	default:
		return names
	}
}

// buttonOf returns the ID and the title of the button or row that was tapped, and nothing for a form.
func buttonOf(reply webhook.Reply) (id, title string) {
	switch reply.Kind {
	case webhook.ReplyTemplateButton, webhook.ReplyButton, webhook.ReplyList:
		return reply.ID, reply.Title
	default:
		return "", ""
	}
}

// Note notes a message that came in: when the person wrote, and whether the person opts out or in by it. It reports whether the person is
// opted out now and was not before, or the other way round, so that a program can confirm it. Messages may come late, in any order, and
// more than once.
//
// A From or UserID that is neither a phone number nor a user ID is an error that matches [ErrNoPerson].
func (b *Book) Note(ctx context.Context, tx *sql.Tx, m Inbound) (changed bool, err error) {
	known, err := b.namesOf(m.Channel, named{"From", m.From}, named{"UserID", m.UserID})
	if err != nil {
		return false, err
	}
	if !m.isDoubtful {
		err = b.joinNames(ctx, tx, m, known)
	}
	if err == nil && !m.opensNoWindow {
		err = b.noteTime(ctx, tx, m, known)
	}
	isOut := b.stops(m)
	if err != nil || !isOut && !b.starts(m) {
		return false, err
	}
	names, err := b.person(ctx, tx, m.Channel, known)
	if err != nil {
		return false, err
	}
	d := decision{query: query{channel: m.Channel, names: names}, isOut: isOut, at: m.At}
	if b.options.PerSender {
		d.sender = b.senderOf(m.To)
	}
	return b.decide(ctx, tx, d)
}

// NotePreference notes that a person stopped marketing in the app, or resumed it: what a receiver hands to webhook.WithPreferences. It limits
// the opt-out to marketing, see [Person]. An ambiguous change is a stop.
//
// Like Note, it takes a transaction or nil, and a change whose From or UserID names no person is an error that matches [ErrNoPerson].
func (b *Book) NotePreference(ctx context.Context, tx *sql.Tx, p webhook.Preference) error {
	person := Person{Channel: messaging.ChannelChatApp2, Number: p.From, UserID: p.UserID, Marketing: true, At: p.ChangedAt}
	if b.options.PerSender {
		person.Sender = p.To
	}
	switch {
	case p.Ambiguous:
		return b.optOutEach(ctx, tx, person)
	case p.Stopped:
		return b.OptOut(ctx, tx, person)
	default:
		return b.OptIn(ctx, tx, person)
	}
}

// optOutEach has whoever is known by either name opt out, without joining the names: an event that contradicts itself may name two persons.
func (b *Book) optOutEach(ctx context.Context, tx *sql.Tx, p Person) error {
	byNumber := p
	byNumber.UserID = ""
	err := b.OptOut(ctx, tx, byNumber)
	if err != nil || p.UserID == "" {
		return err
	}
	byUserID := p
	byUserID.Number = ""
	return b.OptOut(ctx, tx, byUserID)
}

// joinNames notes that the names in a message are of one person, and those of a notice that one of them changed.
func (b *Book) joinNames(ctx context.Context, tx *sql.Tx, m Inbound, known [2]string) error {
	if err := b.join(ctx, tx, m.Channel, known); err != nil || m.renamed[0] == "" || m.renamed[1] == "" {
		return err
	}
	names, err := b.namesOf(m.Channel, named{"From", m.renamed[0]}, named{"NewID", m.renamed[1]})
	if err != nil {
		return err
	}
	return b.join(ctx, tx, m.Channel, names)
}

// isTap reports whether a button was tapped.
func (m Inbound) isTap() bool { return m.ButtonID != "" || m.ButtonTitle != "" }

// stops reports whether a person opts out by a message.
func (b *Book) stops(m Inbound) bool {
	if m.isTap() {
		return isWord(m.ButtonID, b.options.StopButtons) || isWord(m.ButtonTitle, b.options.StopButtons)
	}
	return isWord(m.Text, b.options.StopWords)
}

// starts reports whether a person opts in by a message.
func (b *Book) starts(m Inbound) bool {
	return !m.isTap() && !m.isDoubtful && isWord(m.Text, b.options.StartWords)
}

// noteTime notes when a person wrote, under each name. A time in the future counts as now.
func (b *Book) noteTime(ctx context.Context, tx *sql.Tx, m Inbound, names [2]string) error {
	_, err := b.exec(ctx, tx, `INSERT INTO conversation (channel, peer, sender, last_at)
		SELECT CAST($1 AS TEXT), given.name, CAST($4 AS TEXT),
			CASE WHEN CAST($5 AS BIGINT) BETWEEN 1 AND CLOCK THEN CAST($5 AS BIGINT) ELSE CLOCK END
		FROM (SELECT CAST($2 AS TEXT) AS name UNION SELECT CAST($3 AS TEXT)) AS given WHERE true ORDER BY given.name
		ON CONFLICT (channel, peer, sender) DO UPDATE SET last_at = excluded.last_at WHERE conversation.last_at < excluded.last_at`,
		m.Channel.String(), names[0], names[1], b.senderOf(m.To), millis(m.At))
	return err
}

// millis returns a time in milliseconds since 1970, at least 1, and 0 for the zero time.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(1, at.UnixMilli())
}
