package chatapp1

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// Message is one message to one recipient over chat app 1. ChannelID, To and Payload are required, as the specification
// says; the rest is optional, and the zero value of a field means that it is absent and is not sent.
//
// New(channelID, to).Text(body) and its siblings build one that has exactly one payload. A Message is plain data: Send never
// changes it, and the same one may be sent from many goroutines at once as long as nobody writes to it; copies share its Fallback
// and the maps of its payload. Printed with package fmt or logged with log/slog it shows measures, not the number or the text;
// not so inside another value that slog's JSON handler encodes, or in an unexported field, where package fmt asks no method.
//
// Of the wire names behind the fields the specification gives ttl alone; the others are defaults of the contract (see
// package contract).
type Message struct {
	// ChannelID identifies the chat-app-1 channel that the message comes from. Required. No bounds are known.
	ChannelID string
	// To is the recipient: one mobile number of 5 to 15 digits with an optional leading "+", nothing else. Required.
	// It is sent as given. One request reaches one number, as the specification says.
	To string
	// Payload is what the message says: exactly one of Text, Image, Video, CallToAction, Template and Raw. Required.
	Payload Payload
	// TTL is the message lifetime: how long the service tries to reach the recipient over chat app 1 before the Fallback
	// applies. It is sent as a whole number of the contract's unit, by default seconds, and refused where it is none, or
	// negative. 0 leaves it to the service. The specification shows no bounds; services of this kind commonly take 15 s or
	// 30 s at least, and 24 hours to 14 days at most.
	TTL time.Duration
	// Fallback is the SMS that the service sends when the recipient could not be reached over chat app 1 within the TTL; nil
	// is none, and where it is set both of its fields are required. The specification does not say that a message whose SMS
	// went out is withdrawn: a receipt that comes late can mean that the recipient got both, and that both are charged.
	Fallback *sms.Fallback
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such
	// as %s anywhere after the host, and is passed on byte for byte.
	CallbackURL string
	// ReferenceID is the caller's own name for the message, such as an order number. It comes back in the Receipt and on
	// errors, and in delivery reports, which are the only way to settle an unknown outcome. No bounds are known.
	ReferenceID string
}

// WithTTL gives a copy of the message with another lifetime.
func (m Message) WithTTL(ttl time.Duration) Message {
	m.TTL = ttl
	return m
}

// WithFallback gives a copy of the message with an SMS that goes out when the recipient is not reached within the TTL.
func (m Message) WithFallback(fallback sms.Fallback) Message {
	m.Fallback = &fallback
	return m
}

// WithCallback gives a copy of the message that is reported to the URL.
func (m Message) WithCallback(callbackURL string) Message {
	m.CallbackURL = callbackURL
	return m
}

// WithReference gives a copy of the message with the caller's own name for it.
func (m Message) WithReference(referenceID string) Message {
	m.ReferenceID = referenceID
	return m
}

// Draft is a message that has a channel and a recipient but no payload, and so cannot be sent. Each of its methods gives a
// Message. A Draft is a value: the same one serves for any number of messages, from any number of goroutines.
type Draft struct {
	channelID, to string
}

// New begins a message from a channel to one recipient. Both are as in Message, and are checked when it is sent.
func New(channelID, to string) Draft { return Draft{channelID: channelID, to: to} }

// Text gives a text message.
func (d Draft) Text(body string) Message { return d.message(Text{Body: body}) }

// Image gives a message that shows an image, which the service fetches from the URL.
func (d Draft) Image(url string) Message { return d.message(Image{URL: url}) }

// Video gives a message that shows a video.
func (d Draft) Video(video Video) Message { return d.message(video) }

// CallToAction gives a message with a button that opens a URL.
func (d Draft) CallToAction(button CallToAction) Message { return d.message(button) }

// Template gives a message of a transactional template that the service has approved.
func (d Draft) Template(template Template) Message { return d.message(template) }

// Raw gives a message whose payload is fields under the names that they have on the wire.
func (d Draft) Raw(fields map[string]any) Message { return d.message(Raw{Fields: fields}) }

func (d Draft) message(p Payload) Message {
	return Message{ChannelID: d.channelID, To: d.to, Payload: p}
}

// Format prints how long the fields are, in every verb.
func (d Draft) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.summary()) }

// LogValue logs what Format prints.
func (d Draft) LogValue() slog.Value { return slog.StringValue(d.summary()) }

func (d Draft) summary() string {
	return fmt.Sprintf("chatapp1.Draft{ChannelID: %d characters, To: %d characters}", utf8.RuneCountInString(d.channelID), utf8.RuneCountInString(d.to))
}

// envelope is what every message has besides its payload, under the names of the default contract. The field names are the
// Message's: errors name them.
type envelope struct {
	ChannelID string `json:"from,omitzero" url:"from,omitempty"`
	To        string `json:"to,omitzero"   url:"to,omitempty"`
}

// call describes the request that sends the message.
func (m Message) call() wire.Call {
	call := wire.Call{
		Op: wire.ChatApp1Send, ExtraName: "Payload.Fields", TTL: m.TTL, Reference: m.ReferenceID, Problems: m.validate(),
	}
	call.Body, call.Extra = m.body()
	return call
}

// body gives the message under the names of the default contract, and the fields of a Raw.
func (m Message) body() (any, map[string]any) {
	e, d := envelope{m.ChannelID, m.To}, m.delivery()
	if wire.IsNil(m.Payload) {
		return Raw{}.body(e, d)
	}
	return m.Payload.body(e, d)
}

func (m Message) delivery() wire.Delivery {
	d := wire.NewDelivery(m.TTL, m.CallbackURL, m.ReferenceID)
	if m.Fallback != nil {
		d = d.WithFallback(m.Fallback.From, m.Fallback.Text)
	}
	return d
}

// validate finds everything that is wrong with the message, so that a caller mends it in one go.
func (m Message) validate() []wire.Problem {
	var c wire.Checks
	switch {
	case m.ChannelID == "":
		c.Absent("ChannelID")
	case strings.TrimSpace(m.ChannelID) == "":
		c.Found("ChannelID", "a channel ID is required, got white space only")
	default:
		c.Found("ChannelID", wire.CheckUTF8(m.ChannelID))
	}
	if m.To == "" {
		c.Absent("To")
	} else {
		c.Found("To", wire.CheckRecipient(m.To))
	}
	if wire.IsNil(m.Payload) {
		c.Found("Payload", "required, but nil; want one of Text, Image, Video, CallToAction, Template and Raw")
	} else {
		m.Payload.check(&c)
	}
	return append(c, m.delivery().Check()...)
}

// checkText checks a text that is required.
func checkText(c *wire.Checks, field, value string) {
	if value == "" {
		c.Absent(field)
		return
	}
	c.Found(field, wire.CheckUTF8(value))
}

// checkURL checks a URL that is required.
func checkURL(c *wire.Checks, field, value string) {
	if value == "" {
		c.Found(field, "required, but absent")
		return
	}
	c.Found(field, wire.CheckURL(value))
}

// Format prints which fields are set and how long they are, in every verb; never a number, a text or a query.
func (m Message) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "chatapp1.Message{"+m.measures()+"}")
}

// LogValue logs what Format prints.
func (m Message) LogValue() slog.Value {
	return slog.StringValue("chatapp1.Message{" + m.measures() + "}")
}

func (m Message) measures() string {
	var set []string
	for _, field := range []struct{ name, value string }{{"ChannelID", m.ChannelID}, {"To", m.To}, {"CallbackURL", m.CallbackURL}, {"ReferenceID", m.ReferenceID}} {
		if field.value != "" {
			set = append(set, fmt.Sprintf("%s: %d characters", field.name, utf8.RuneCountInString(field.value)))
		}
	}
	if !wire.IsNil(m.Payload) {
		set = append(set, fmt.Sprintf("Payload: %v", m.Payload))
	}
	if m.TTL != 0 {
		set = append(set, "TTL: "+m.TTL.String())
	}
	if m.Fallback != nil {
		set = append(set, fmt.Sprintf("Fallback: %v", *m.Fallback))
	}
	return strings.Join(set, ", ")
}
