package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ChatApp1Message is one inbound message of chat app 1. From and Content are never empty; what else the callback does not
// carry is empty or zero.
//
// The specification says that there are text and media and that the service calls with GET; it shows no name of a
// parameter. Which parameter is which is a default of the contract (webhook.chatapp1). A message may also come as one
// parameter that holds JSON in the shape of the Meta platform, alone or in its envelope; what other parameters say wins
// over it, field by field. JSON in a parameter that may as well be the text is read only where no kind came and where it is
// such a message, since a person may type JSON.
//
// It is plain data. Printed with package fmt or logged with log/slog it shows its ID and measures, never a number, a text
// or a parameter.
type ChatApp1Message struct {
	// ID is the service's name for the message.
	ID string
	// From is the number or user that sent it, as it came, but for white space around it, and with the + restored that a
	// sender forgot to escape. Users without a number have a user ID here.
	From string
	// To is the channel or number that received it, read as From is.
	To string
	// ReferenceID is a reference ID.
	ReferenceID string
	// Name is the sender's name, as the sender chose it: do not trust it.
	Name string
	// Content is what the message says.
	Content Content
	// Context is the message that this one answers, or whence it was forwarded; from JSON alone.
	Context Context
	// ReceivedAt is when the service received the message; the zero time where it did not say, or said so in no form that
	// is known (see contract.ParseTime): Params then has the text.
	ReceivedAt time.Time
	// JSON is the message as JSON, complete, where it came so: it has what no field above is for. Nil else.
	JSON json.RawMessage
	// Params are all parameters, those that stand in the fields above among them.
	Params Params
	// RawQuery is the query byte for byte, less the parameters of WithSecret.
	RawQuery string
}

// ChatApp2Message is one inbound message of chat app 2. It is as ChatApp1Message, under webhook.chatapp2 of the contract.
// The specification names audio among the kinds, and says that there are others.
type ChatApp2Message struct {
	// ID is the service's name for the message.
	ID string
	// From is the number or user that sent it, as in ChatApp1Message.
	From string
	// To is the channel or number that received it, read as From is.
	To string
	// ReferenceID is a reference ID.
	ReferenceID string
	// Name is the sender's name, as the sender chose it: do not trust it.
	Name string
	// Content is what the message says.
	Content Content
	// Context is the message that this one answers, or whence it was forwarded; from JSON alone.
	Context Context
	// ReceivedAt is when the service received the message, as in ChatApp1Message.
	ReceivedAt time.Time
	// JSON is the message as JSON, complete, where it came so: it has what no field above is for. Nil else.
	JSON json.RawMessage
	// Params are all parameters, those that stand in the fields above among them.
	Params Params
	// RawQuery is the query byte for byte, less the parameters of WithSecret.
	RawQuery string
}

// Context is what a chat-app message refers to. The zero value: nothing.
type Context struct {
	// ID is the message that was answered, and From who had sent that.
	ID   string
	From string
	// Forwarded says that the message was forwarded, FrequentlyForwarded that it was more than five times.
	Forwarded           bool
	FrequentlyForwarded bool
	// CatalogID and ProductID name the product that the message asks about.
	CatalogID string
	ProductID string
}

// ChatApp1 makes a handler for the callback that brings inbound messages of chat app 1, and calls handle for each, of
// whatever kind. Else it is as SMS.
func ChatApp1(handle func(context.Context, ChatApp1Message) error, opts ...Option) http.Handler {
	return newHandler(eventChatApp1, chatApp1Of, readChatApp1, handle, opts)
}

// ChatApp2 makes a handler for the callback that brings inbound messages of chat app 2, and calls handle for each, of
// whatever kind. Else it is as SMS.
func ChatApp2(handle func(context.Context, ChatApp2Message) error, opts ...Option) http.Handler {
	return newHandler(eventChatApp2, chatApp2Of, readChatApp2, handle, opts)
}

// ParseChatApp1 reads an inbound message of chat app 1 from a request, as the handler of ChatApp1 does. Else it is as
// ParseSMS.
func ParseChatApp1(r *http.Request, opts ...Option) (ChatApp1Message, error) {
	s := newSettings(opts)
	s.check(chatApp1Of(&s))
	return readChatApp1(r, &s)
}

// ParseChatApp2 reads an inbound message of chat app 2 from a request, as the handler of ChatApp2 does. Else it is as
// ParseSMS.
func ParseChatApp2(r *http.Request, opts ...Option) (ChatApp2Message, error) {
	s := newSettings(opts)
	s.check(chatApp2Of(&s))
	return readChatApp2(r, &s)
}

const (
	eventChatApp1 = "chatapp1"
	eventChatApp2 = "chatapp2"
)

func chatApp1Of(s *settings) names { return s.wire.chatApp1 }

func chatApp2Of(s *settings) names { return s.wire.chatApp2 }

func readChatApp1(r *http.Request, s *settings) (ChatApp1Message, error) {
	return readChatApp(r, s, eventChatApp1, s.wire.chatApp1, s.wire.zones.chatApp1)
}

func readChatApp2(r *http.Request, s *settings) (ChatApp2Message, error) {
	m, err := readChatApp(r, s, eventChatApp2, s.wire.chatApp2, s.wire.zones.chatApp2)
	return ChatApp2Message(m), err
}

func readChatApp(r *http.Request, s *settings, event string, names names, zone *time.Location) (ChatApp1Message, error) {
	q := reading{settings: s, event: event, names: names}
	if err := q.receive(r); err != nil {
		return ChatApp1Message{}, err
	}
	j := q.json()
	from := number(first(q.value(ofFrom), j.from))
	if from == "" {
		return ChatApp1Message{}, q.reject(ErrNoSender)
	}
	return ChatApp1Message{
		ID: first(q.value(ofID), j.id), From: from, To: number(first(q.value(ofTo), j.to)), ReferenceID: q.value(ofReference), Name: first(q.value(ofName), j.name),
		Content: q.content(j), Context: j.context(), ReceivedAt: moment(first(q.value(ofTime), j.time), zone), JSON: j.raw,
		Params: q.params, RawQuery: q.rawQuery,
	}, nil
}

// DuplicateKey gives the key by which a Store knows the message. It is as that of SMSMessage.
func (m ChatApp1Message) DuplicateKey() (key string, lasting bool) {
	id := m.identity()
	return id.key(eventChatApp1)
}

// DuplicateKey gives the key by which a Store knows the message. It is as that of SMSMessage.
func (m ChatApp2Message) DuplicateKey() (key string, lasting bool) {
	id := m.identity()
	return id.key(eventChatApp2)
}

func (m ChatApp1Message) identity() identity {
	return identity{id: m.ID, timed: isTimed(m.ReceivedAt), params: m.Params}
}

func (m ChatApp2Message) identity() identity { return ChatApp1Message(m).identity() }

// first gives the first of two values that is not blank.
func first(value, other string) string {
	if isBlank(value) {
		return other
	}
	return value
}

// content makes what the message says, of its parameters and of its JSON, which may be none. Parameters win.
func (q *reading) content(j metaMessage) Content {
	came := strings.TrimSpace(q.value(ofKind))
	kind := strings.ToLower(came)
	if kind == "" {
		came, kind = j.kind, j.kind
	}
	if kind == "" && !j.around {
		kind = q.kindOfParams(j)
	}
	member := j.fields.object(kind)
	var content Content
	switch kind {
	case "text":
		content = q.textOf(j, member)
	case "image", "audio", "video", "document", "sticker", "voice", "file", "media", mediaOfNoKind:
		content = q.media(strings.TrimSpace(kind), j, member)
	case "location":
		content = q.location(member)
	default:
		content = j.content(kind)
	}
	if content == nil {
		return Unknown{Kind: came, Raw: j.raw}
	}
	return content
}

// mediaOfNoKind stands for a medium of which neither kind nor MIME type came. No kind that is read begins with a space.
const mediaOfNoKind = " "

// kindOfParams tells by its parameters what a message is that names no kind.
func (q *reading) kindOfParams(j metaMessage) string {
	_, isText := q.flatText(j)
	switch {
	case q.value(ofMediaURL) != "" || q.value(ofMediaID) != "":
		kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(q.value(ofMIMEType))), "/")
		switch kind {
		case "":
			return mediaOfNoKind
		case "image", "audio", "video":
			return kind
		default:
			return "document"
		}
	case q.value(ofLatitude) != "" && q.value(ofLongitude) != "":
		return "location"
	case isText || j.raw == nil && q.value(ofJSON) == "":
		return "text"
	default:
		return "" // JSON of which nobody knows what it is, or that cannot be read
	}
}

// flatText gives the text of a parameter; false where none came, or none but the one that was read as JSON.
func (q *reading) flatText(j metaMessage) (string, bool) {
	have := q.chosen[ofText]
	if have.at == 0 {
		return "", false
	}
	if j.at != have.at {
		return q.params[have.at-1].Value, true
	}
	// The JSON stood in the first of the parameters that may be the text; there may be another.
	best, text := choice{}, ""
	for i, p := range q.params {
		rank, ok := q.names.rankOf(p.Name, ofText)
		if ok && i+1 != j.at && !isBlank(p.Value) && (best.at == 0 || rank < best.rank) {
			best, text = choice{at: i + 1, rank: rank}, p.Value
		}
	}
	return text, best.at > 0
}

func (q *reading) textOf(j metaMessage, member object) Content {
	body, ok := member.text("body")
	if text, came := q.flatText(j); came && (!ok || !isBlank(text)) {
		return Text{Body: text}
	}
	if !ok && j.raw != nil {
		return nil
	}
	return Text{Body: body}
}

func (q *reading) media(kind string, j metaMessage, member object) Content {
	c := Media{
		Kind: kind, URL: first(q.value(ofMediaURL), member.word("url", "link")), ID: first(q.value(ofMediaID), member.word("id")),
		MIMEType: first(q.value(ofMIMEType), member.word("mime_type")), Caption: first(q.value(ofCaption), member.word("caption")),
		FileName: first(q.value(ofFileName), member.word("filename")),
		SHA256:   member.word("sha256"), Voice: member.flag("voice"), Animated: member.flag("animated"),
	}
	if member == nil && j.raw != nil && c.URL == "" && c.ID == "" {
		return nil
	}
	if c.Caption == "" {
		c.Caption, _ = q.flatText(j)
	}
	return c
}

func (q *reading) location(member object) Content {
	latitude, ok := degrees(first(q.value(ofLatitude), member.word("latitude")), 90)
	longitude, ok2 := degrees(first(q.value(ofLongitude), member.word("longitude")), 180)
	if !ok || !ok2 {
		return nil
	}
	return Location{
		Latitude: latitude, Longitude: longitude, Name: member.word("name"), Address: member.word("address"), URL: member.word("url"),
	}
}

func degrees(text string, limit float64) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > limit {
		return 0, false
	}
	return n, true
}

// Format prints ID and measures, in every verb.
func (m ChatApp1Message) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, m.summary("ChatApp1Message"))
}

// LogValue logs what Format prints.
func (m ChatApp1Message) LogValue() slog.Value { return slog.StringValue(m.summary("ChatApp1Message")) }

// Format prints ID and measures, in every verb.
func (m ChatApp2Message) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, ChatApp1Message(m).summary("ChatApp2Message"))
}

// LogValue logs what Format prints.
func (m ChatApp2Message) LogValue() slog.Value {
	return slog.StringValue(ChatApp1Message(m).summary("ChatApp2Message"))
}

func (m ChatApp1Message) summary(name string) string {
	return newSummary(name).word("ID", m.ID).measure("From", m.From).measure("To", m.To).measure("ReferenceID", m.ReferenceID).measure("Name", m.Name).
		part("Content", m.Content).measure("Context", m.Context.ID).time("ReceivedAt", m.ReceivedAt).bytes("JSON", len(m.JSON)).
		count("Params", len(m.Params)).bytes("RawQuery", len(m.RawQuery)).String()
}

// Format prints the ID and measures, in every verb.
func (c Context) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Context) LogValue() slog.Value { return slog.StringValue(c.summary()) }

func (c Context) summary() string {
	return newSummary("Context").word("ID", c.ID).measure("From", c.From).flag("Forwarded", c.Forwarded).flag("FrequentlyForwarded", c.FrequentlyForwarded).
		word("CatalogID", c.CatalogID).word("ProductID", c.ProductID).String()
}
