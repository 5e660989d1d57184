package conversations

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/webhook"
)

// Inbound is an inbound message. [FromSMS] and [FromChat] make one from an event.
type Inbound struct {
	// Channel is where the message arrived. Required.
	Channel messaging.Channel
	// From is the person: a phone number, or a user ID of the platform. Required; on SMS a phone number.
	From string
	// UserID is the person's user ID if From is a number. From and UserID identify one person from then on.
	UserID string
	// To is the sender that received the message.
	To string
	// Text is the whole text, or empty if the message has none.
	Text string
	// ButtonID and ButtonTitle identify the button or the row of a list, if the message is a tap on one.
	ButtonID, ButtonTitle string
	// At is when the service received the message. Zero means unknown.
	At time.Time

	// keepsWindow is set for a notice of the platform and for a message to a group, which open no window.
	keepsWindow bool
	// renamed holds the names before and after, if the message is a notice that one of them changed.
	renamed [2]string
	// isAmbiguous is set if the event contradicts itself. It may opt the person out. It does not opt in and does not join names.
	isAmbiguous bool
}

// FromSMS returns an inbound SMS for Note. If the SMS has no text, the keyword that the service recognized is the text.
func FromSMS(m webhook.SMSMessage) Inbound {
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = m.Keyword
	}
	return Inbound{
		Channel:     messaging.ChannelSMS,
		From:        m.From,
		To:          m.To,
		Text:        text,
		At:          m.ReceivedAt,
		isAmbiguous: m.Ambiguous,
	}
}

// FromChat returns a message of a chat app for Note: its text or caption, or the button or row that was tapped. Notices of the platform, which are
// webhook.System and webhook.RequestWelcome, and messages to a group open no window.
func FromChat(m webhook.ChatMessage) Inbound {
	in := Inbound{
		Channel:     messaging.ChannelChatApp1,
		From:        m.From,
		UserID:      m.UserID,
		To:          m.To,
		At:          m.ReceivedAt,
		keepsWindow: m.GroupID != "",
		isAmbiguous: m.Ambiguous,
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
		in.keepsWindow = true
		in.renamed = renamed(m.From, content)
	case webhook.RequestWelcome:
		in.keepsWindow = true
	case webhook.Location, webhook.Contacts, webhook.Reaction, webhook.Product, webhook.Order, webhook.Edit, webhook.Revoke,
		webhook.Unknown:
		// These have no text, but they open the window.
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

// Decision is what an inbound message decides about messages to the person. The zero value means no decision.
type Decision struct {
	// OptOut reports whether the message opts the person out, such as STOP, and OptIn whether it opts the person in, such as START.
	OptOut, OptIn bool
	// Changed reports whether the person is opted out, or in again, because of this message. It is false if the person had decided the same
	// before, or has made another decision since.
	Changed bool
}

// Note records an inbound message: when the person wrote, and whether the message opts the person out or in. It returns the decision, so that
// a program can confirm it to the person. Messages may arrive late, in any order, and more than once.
//
// Note also records an ambiguous event, so that a STOP is never lost.
//
// One of From and UserID is enough: Note ignores the other if it is neither a phone number nor a user ID. If both are neither, Note records nothing
// and returns an error that matches [ErrNoPerson]. The same applies if the From of an SMS is not a phone number, such as BANK, or if a name in a
// notice that the number or the user ID changed is neither.
func (b *Book) Note(ctx context.Context, tx *sql.Tx, m Inbound) (Decision, error) {
	m.From, m.UserID = b.usableNames(m.From, m.UserID)
	known, err := b.namesOf(m.Channel, field{"From", m.From}, field{"UserID", m.UserID})
	if err != nil {
		return Decision{}, err
	}
	changedNames, err := b.namesOfChange(m)
	if err != nil {
		return Decision{}, err
	}
	if !m.isAmbiguous {
		if err = b.joinNames(ctx, tx, m.Channel, known, changedNames); err != nil {
			return Decision{}, err
		}
	}
	if !m.keepsWindow {
		if err = b.noteTime(ctx, tx, m, known); err != nil {
			return Decision{}, err
		}
	}
	return b.noteDecision(ctx, tx, m, known)
}

// noteDecision records whether a message opts its sender out or in.
func (b *Book) noteDecision(ctx context.Context, tx *sql.Tx, m Inbound, known []string) (Decision, error) {
	noted := Decision{OptOut: b.stops(m)}
	noted.OptIn = !noted.OptOut && b.starts(m)
	if !noted.OptOut && !noted.OptIn {
		return Decision{}, nil
	}
	names, err := b.person(ctx, tx, b.decisionChannels(m.Channel), known)
	if err != nil {
		return Decision{}, err
	}
	d := decision{scope: scope{channel: m.Channel, names: names}, isOut: noted.OptOut, at: m.At}
	if b.options.PerSender {
		d.sender = b.senderOf(m.To)
	}
	noted.Changed, err = b.decide(ctx, tx, d)
	if err != nil {
		return Decision{}, err
	}
	return noted, nil
}

// NotePreference records that a person stopped or resumed marketing in the app, for webhook.WithPreferences. The decision counts on the
// channel of p.Callback, which is chat app 2 if it is empty, and is limited to marketing (see [Person]). An ambiguous change counts as a stop.
//
// Like Note, it takes a transaction or nil, and ignores one of From and UserID if only the other names a person. If neither does, the error matches
// [ErrNoPerson].
func (b *Book) NotePreference(ctx context.Context, tx *sql.Tx, p webhook.Preference) error {
	person := Person{Channel: messaging.ChannelChatApp2, Number: p.From, UserID: p.UserID, Marketing: true, At: p.ChangedAt}
	if p.Callback == webhook.CallbackChatApp1 {
		person.Channel = messaging.ChannelChatApp1
	}
	if b.options.PerSender {
		person.Sender = p.To
	}
	person.Number, person.UserID = b.usableNames(p.From, p.UserID)
	switch {
	case p.Ambiguous:
		return b.optOutEach(ctx, tx, person)
	case p.Stopped:
		return b.OptOut(ctx, tx, person)
	default:
		return b.OptIn(ctx, tx, person)
	}
}

// usableNames returns a number and a user ID, and "" for the one that names no person, such as a masked number, so that a message counts under the
// other. If neither names a person, it returns both.
func (b *Book) usableNames(number, userID string) (usableNumber, usableUserID string) {
	isNumberUsable := b.nameOf(number) != ""
	isUserIDUsable := b.nameOf(userID) != ""
	switch {
	case isNumberUsable && !isUserIDUsable:
		return number, ""
	case isUserIDUsable && !isNumberUsable:
		return "", userID
	default:
		return number, userID
	}
}

// optOutEach opts out each name separately, without joining them: an event that contradicts itself may name two people.
func (b *Book) optOutEach(ctx context.Context, tx *sql.Tx, p Person) error {
	if p.Number == "" || p.UserID == "" {
		return b.OptOut(ctx, tx, p)
	}
	byNumber := p
	byNumber.UserID = ""
	if err := b.OptOut(ctx, tx, byNumber); err != nil {
		return err
	}
	byUserID := p
	byUserID.Number = ""
	return b.OptOut(ctx, tx, byUserID)
}

// namesOfChange returns the names before and after the change that a message announces. It returns none for other and for ambiguous messages.
func (b *Book) namesOfChange(m Inbound) (names []string, err error) {
	before := m.renamed[0]
	after := m.renamed[1]
	isChange := before != "" && after != ""
	if !isChange || m.isAmbiguous {
		return nil, nil
	}
	return b.namesOf(m.Channel, field{"From", before}, field{"NewID", after})
}

// joinNames stores that the names of the sender belong to one person, and so do the names before and after a change.
func (b *Book) joinNames(ctx context.Context, tx *sql.Tx, channel messaging.Channel, known, changedNames []string) error {
	if err := b.join(ctx, tx, channel, known); err != nil {
		return err
	}
	return b.join(ctx, tx, channel, changedNames)
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
	return !m.isTap() && !m.isAmbiguous && isWord(m.Text, b.options.StartWords)
}

// noteTime records when a person wrote, under each name. A time in the future counts as now.
func (b *Book) noteTime(ctx context.Context, tx *sql.Tx, m Inbound, known []string) error {
	_, err := b.exec(ctx, tx, `WITH person(name) AS (VALUES @names)
		INSERT INTO conversation (channel, peer, sender, last_at)
		SELECT CAST(@channel AS TEXT), person.name, CAST(@sender AS TEXT),
			CASE WHEN CAST(@at AS BIGINT) BETWEEN 1 AND CLOCK THEN CAST(@at AS BIGINT) ELSE CLOCK END
		FROM person WHERE true ORDER BY person.name
		ON CONFLICT (channel, peer, sender) DO UPDATE SET last_at = excluded.last_at WHERE conversation.last_at < excluded.last_at`,
		arguments{"channel": m.Channel.String(), "names": column(known), "sender": b.senderOf(m.To), "at": millis(m.At)})
	return err
}

// millis returns a time in milliseconds since 1970, at least 1, and 0 for the zero time.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(1, at.UnixMilli())
}
