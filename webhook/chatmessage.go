package webhook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// ChatMessage is an inbound message of a chat app. From and Content are never empty. Any other field is empty or zero if the
// callback does not carry it.
//
// A message arrives in parameters, or as JSON in the shape of the platform: in a parameter or as the body, alone or in an
// envelope. Parameters win over JSON, field by field. JSON that a person may have typed counts as a text. Username, UserID, GroupID, Context
// and Referral come only from JSON.
type ChatMessage struct {
	// Callback is the callback that brought the message, such as CallbackChatApp1.
	Callback Callback `json:"callback,omitzero"`
	// ID is the message ID of the service.
	ID string `json:"id,omitzero"`
	// From is the number of the sender, or the user ID of a sender who shows no number.
	From string `json:"from,omitzero"`
	// To is the channel or the number that received the message.
	To string `json:"to,omitzero"`
	// ReferenceID is the reference ID that the callback carries, if the service sends one.
	ReferenceID string `json:"referenceID,omitzero"`
	// Name is the display name that the sender chose. Anyone can choose any name, so do not trust it.
	Name string `json:"name,omitzero"`
	// Username is the sender's unique name on the platform, if there is one.
	Username string `json:"username,omitzero"`
	// UserID is the sender's user ID, even if From is a number.
	UserID string `json:"userID,omitzero"`
	// GroupID is the group that the message was sent to. It is empty if the message was sent to you alone.
	GroupID string `json:"groupID,omitzero"`
	// Content is what the message says.
	Content Content `json:"-"`
	// Context is the message or product that the sender replied to. It is zero for a message that refers to nothing.
	Context Context `json:"context,omitzero"`
	// Referral is the advertisement or post that brought the sender. It is zero without one.
	Referral Referral `json:"referral,omitzero"`
	// ReceivedAt is when the service received the message. It is zero if the callback has no time, or one in an unknown form.
	ReceivedAt time.Time `json:"received,omitzero"`
	// RawTime is the time as it arrived.
	RawTime string `json:"rawTime,omitzero"`
	// Ambiguous is like SMSMessage.Ambiguous. It is also set if JSON contradicts other parameters or itself.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// JSON is the complete message if it arrived as JSON, or nil.
	JSON json.RawMessage `json:"-"`
	// Params are all parameters, including those of the fields above.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

// Context is what a chat-app message refers to.
type Context struct {
	// ID is the ID of the message that was replied to. It is empty if the message is not a reply.
	ID string `json:"id,omitzero" at:"id"`
	// From is the sender of that message: your own number if it was yours.
	From string `json:"from,omitzero" at:"from"`
	// Forwarded reports whether the message was forwarded.
	Forwarded bool `json:"forwarded,omitzero" at:"forwarded"`
	// FrequentlyForwarded reports whether the message was forwarded more than five times.
	FrequentlyForwarded bool `json:"frequentlyForwarded,omitzero" at:"frequently_forwarded"`
	// CatalogID is the catalog of the product that the message asks about, or empty.
	CatalogID string `json:"catalogID,omitzero" at:"referred_product.catalog_id"`
	// ProductID is the product that the message asks about, as the catalog names it, or empty.
	ProductID string `json:"productID,omitzero" at:"referred_product.product_retailer_id"`
}

// Referral is an advertisement or a post of the business, from which a sender began to write.
type Referral struct {
	// SourceURL leads to it, SourceID is its ID, and SourceType says what it is: ad or post.
	SourceURL  string `json:"sourceURL,omitzero" at:"source_url"`
	SourceID   string `json:"sourceID,omitzero" at:"source_id"`
	SourceType string `json:"sourceType,omitzero" at:"source_type"`
	// Headline and Body are its words.
	Headline string `json:"headline,omitzero" at:"headline"`
	Body     string `json:"body,omitzero" at:"body"`
	// MediaType is image or video. MediaURL is where the medium is, and ThumbnailURL where the picture of a video is.
	MediaType    string `json:"mediaType,omitzero" at:"media_type"`
	MediaURL     string `json:"mediaURL,omitzero" at:"image_url|video_url"`
	ThumbnailURL string `json:"thumbnailURL,omitzero" at:"thumbnail_url"`
	// ClickID is the ID of the click.
	ClickID string `json:"clickID,omitzero" at:"ctwa_clid"`
	// Welcome is the text that greeted the sender.
	Welcome string `json:"welcome,omitzero" at:"welcome_message.text"`
}

// appendChat appends the messages of a chat app, then the statuses and the other changes in the JSON that counts.
func (f *fields) appendChat(d *decision, events []event) ([]event, error) {
	e := &d.envelope
	isMessage := f.value(conceptFrom) != "" || !isBlank(f.value(conceptText)) // a text without a sender is a message that lacks one
	switch {
	case e.isTooLarge:
		return events, f.callback.refuse(ErrTooLarge)
	case e.isEmpty() && len(e.others) > 0:
		return f.appendOthers(d, events), nil
	case e.isEmpty() && !isMessage:
		return events, f.callback.refuse(ErrUnhandled)
	}
	statuses, isComplete := f.appendStatuses(d, nil)
	if len(e.messages)+len(statuses) == 0 { // a message in parameters, with JSON of which nothing could be read
		e.messages = []item{{raw: e.raw}}
		isComplete = true
	}
	for i := range e.messages {
		m := f.chatMessage(d, &e.messages[i])
		if m.From == "" {
			isComplete = false
			continue
		}
		events = append(events, m)
	}
	events = append(events, statuses...)
	events = f.appendOthers(d, events)
	if !isComplete {
		return events, f.callback.refuse(ErrNoSender)
	}
	return events, nil
}

// chatMessage makes a message: of its parameters, and of one message of the platform.
func (f *fields) chatMessage(d *decision, one *item) *ChatMessage {
	e := &d.envelope
	flat := f                // the parameters of this message
	if len(e.messages) > 1 { // each says everything itself
		flat = &fields{callback: f.callback}
	}
	at := cmp.Or(flat.value(conceptTime), one.members.word("timestamp"))
	hasConflict := conflicts(f.id(), one.id) || conflicts(f.value(conceptFrom), one.from)
	return &ChatMessage{
		Callback:    f.callback.name,
		ID:          cmp.Or(flat.id(), one.id),
		From:        number(cmp.Or(flat.value(conceptFrom), one.from)),
		To:          cmp.Or(number(flat.value(conceptTo)), one.business),
		ReferenceID: f.value(conceptReference),
		Name:        cmp.Or(flat.value(conceptName), one.contact.name),
		Username:    one.contact.username,
		UserID:      cmp.Or(one.members.word("from_user_id"), one.contact.userID),
		GroupID:     one.members.word("group_id"),
		Content:     flat.readContent(e, *one),
		Context:     fill[Context](one.members.get("context")),
		Referral:    fill[Referral](one.members.get("referral")),
		ReceivedAt:  f.callback.moment(at),
		RawTime:     at,
		Ambiguous:   d.isAmbiguous || e.hasRepeatsIn(*one) || hasConflict,
		JSON:        one.raw,
		Params:      f.params,
		RawQuery:    f.query,
	}
}

// DuplicateKey is like SMSMessage.DuplicateKey.
func (m ChatMessage) DuplicateKey() (key string, lasting bool) {
	hasID := table.Identifies(m.ID)
	_, isUnknown := m.Content.(Unknown)
	isRead := !isUnknown || m.JSON != nil // otherwise the parameters may hold content that the fields do not
	key = duplicateKey(m.Callback, hasID && isRead && !m.Ambiguous, m.JSON, m.Params,
		m.ID, m.ReferenceID, m.From, m.To, m.Name, m.RawTime, contentKey(m.Content))
	return key, hasID || isPrecise(m.ReceivedAt)
}

// contentKey returns a content as it is stored, in which an absent field takes no room: a release that adds fields keeps the keys of events
// that do not have them.
func contentKey(content Content) string {
	raw, err := json.Marshal(content)
	if err != nil { // such as a number that JSON does not have
		return fmt.Sprintf("%#v", content)
	}
	return fmt.Sprintf("%T %s", content, raw)
}

func (m *ChatMessage) about() (kind, id string) { return string(m.Callback), m.ID }

// PlainText returns what the person said in words: the text of a [Text], the caption of a [Media], the title of a tapped button or row
// of a [Reply], the note of an [Order], or any of these in an [Edit]. It is empty for everything else.
func (m ChatMessage) PlainText() string { return plainText(m.Content) }

func plainText(content Content) string {
	switch content := content.(type) {
	case Text:
		return content.Body
	case Media:
		return content.Caption
	case Reply:
		return content.Title
	case Order:
		return content.Text
	case Edit:
		return plainText(content.Content)
	case Contacts, Location, Product, Reaction, RequestWelcome, Revoke, System, Unknown:
		return ""
	default:
		return ""
	}
}

// LogValue returns the message without personal data: its callback and ID, when it was received, and whether it is ambiguous.
func (m ChatMessage) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("callback", string(m.Callback)),
		slog.String("id", loggable(m.ID)),
		slog.Time("received_at", m.ReceivedAt),
		slog.Bool("ambiguous", m.Ambiguous),
	)
}
