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
	ID          string    `concept:"id"`   // the message ID
	From        string    `concept:"from"` // the sender's number
	To          string    `concept:"to"`   // the access code or virtual number
	Text        string    `concept:"text"` // any bytes, valid UTF-8 or not
	ReceivedAt  time.Time `concept:"time"` // by RFC 3339 in UTC, or by the first layout of the contract, in its zone
	ReferenceID string    `concept:"reference"`
	Operator    string    `concept:"operator"` // of the sender
	Keyword     string    `concept:"keyword"`  // that the service recognized in the text
	Extra       []Param
}

func (m InboundSMS) events() []event { return []event{{m, "sms", m.Extra}} }

// InboundChatApp is a message that was sent to the customer by one of the chat apps. By the default contract both have the same
// parameters, and the webhook that it is sent to decides which app it comes by. Nothing is checked.
type InboundChatApp struct {
	Channel  Channel // whose parameters the contract has; the zero value is chat app 1
	ID       string  `concept:"id"`       // the message ID
	From     string  `concept:"from"`     // the sender's number
	To       string  `concept:"to"`       // the number or channel that it was sent to
	Name     string  `concept:"name"`     // the sender's profile name
	Kind     string  `concept:"kind"`     // text, image, location and so on
	Text     string  `concept:"text"`     // any bytes
	MediaURL string  `concept:"mediaURL"` // where the medium is; the server serves no media
	MediaID  string  `concept:"mediaID"`  // its ID at the service
	MIMEType string  `concept:"mimeType"` // of the medium
	Caption  string  `concept:"caption"`  // of the medium
	FileName string  `concept:"fileName"` // of a document
	// Latitude and Longitude are decimal degrees, such as "14.5995". They are text because zero is a place too, and a sender
	// may write anything.
	Latitude    string    `concept:"latitude"`
	Longitude   string    `concept:"longitude"`
	ReceivedAt  time.Time `concept:"time"` // written like that of InboundSMS
	ReferenceID string    `concept:"reference"`
	// JSON is the message as an object of the third-party platform, or its whole envelope.
	JSON  string `concept:"json"`
	Extra []Param
}

func (m InboundChatApp) events() []event {
	return []event{{m, string(cmp.Or(m.Channel, ChannelChatApp1)), m.Extra}}
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
