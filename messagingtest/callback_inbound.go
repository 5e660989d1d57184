package messagingtest

import (
	"cmp"
	_ "embed" // for the samples
	"encoding/json"
	"iter"
	"time"
)

// InboundSMS is an SMS that was sent to an access code or a virtual number of the customer. Nothing is checked: a message
// without a sender can be sent, to see it refused.
type InboundSMS struct {
	ID          string    // the message ID
	From, To    string    // the sender's number, and the access code or virtual number
	Text        string    // any bytes, valid UTF-8 or not
	ReceivedAt  time.Time // sent by RFC 3339 in UTC, or as the contract has times: by the first of its layouts, in its zone
	ReferenceID string
	Operator    string // of the sender
	Keyword     string // that the service recognized in the text
	Extra       []Param
}

func (m InboundSMS) events() []event {
	return []event{{callback: m, section: "sms", at: m.ReceivedAt, extra: m.Extra, fields: []Param{
		{"id", m.ID},
		{"from", m.From},
		{"to", m.To},
		{"text", m.Text},
		{"time", ""},
		{"reference", m.ReferenceID},
		{"operator", m.Operator},
		{"keyword", m.Keyword},
	}}}
}

// InboundChatApp is a message that was sent to the customer by one of the chat apps. By the default contract both have the same
// parameters, and the webhook that it is sent to decides which app it comes by. Nothing is checked.
type InboundChatApp struct {
	Channel           Channel // whose parameters the contract has; the zero value is chat app 1
	ID                string  // the message ID
	From, To          string  // the sender's number, and the number or channel it was sent to
	Name              string  // the sender's profile name
	Kind              string  // text, image, location and so on
	Text              string  // any bytes
	MediaURL, MediaID string  // where the medium is, and its ID at the service; the server serves no media
	MIMEType          string  // of the medium
	Caption           string  // of the medium
	FileName          string  // of a document
	// Latitude and Longitude are decimal degrees, such as "14.5995". They are text because zero is a place too, and a sender
	// may write anything.
	Latitude, Longitude string
	ReceivedAt          time.Time // written like that of InboundSMS
	ReferenceID         string
	// JSON is the message as an object of the third-party platform, or its whole envelope.
	JSON  string
	Extra []Param
}

func (m InboundChatApp) events() []event {
	section := string(cmp.Or(m.Channel, ChannelChatApp1))
	return []event{{callback: m, section: section, at: m.ReceivedAt, extra: m.Extra, fields: []Param{
		{"id", m.ID},
		{"from", m.From},
		{"to", m.To},
		{"name", m.Name},
		{"kind", m.Kind},
		{"text", m.Text},
		{"mediaURL", m.MediaURL},
		{"mediaID", m.MediaID},
		{"mimeType", m.MIMEType},
		{"caption", m.Caption},
		{"fileName", m.FileName},
		{"latitude", m.Latitude},
		{"longitude", m.Longitude},
		{"time", ""},
		{"reference", m.ReferenceID},
		{"json", m.JSON},
	}}}
}

//go:embed samples.json
var samplesJSON []byte

// InboundSamples returns an inbound chat-app message of every kind that is known, by a name that says what it is.
//
// Samples whose name begins with "flat" have parameters only. The others have an object of the third-party platform as JSON,
// and beside it ID, From, To, Name, Kind and ReceivedAt that say the same; two of them have nothing but the JSON: one in its
// envelope, and one of a user who shows no number. They include replies, kinds of the platform's system messages, and kinds
// that do not exist yet. A correct receiver delivers every sample. IDs are distinct, and times a second apart.
func InboundSamples() iter.Seq2[string, InboundChatApp] {
	return func(yield func(string, InboundChatApp) bool) {
		var samples []struct {
			Sample string
			InboundChatApp
			JSON json.RawMessage
		}
		err := json.Unmarshal(samplesJSON, &samples)
		must(err == nil, "samples.json: %v", err)
		for _, s := range samples {
			s.InboundChatApp.JSON = string(s.JSON)
			if !yield(s.Sample, s.InboundChatApp) {
				return
			}
		}
	}
}
