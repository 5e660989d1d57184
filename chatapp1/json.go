package chatapp1

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// stored is the JSON of a Message, for a queue or a database.
type stored struct {
	ChannelID   string              `json:"channelID,omitzero"`
	To          string              `json:"to,omitzero"`
	Payload     *storedPayload      `json:"payload,omitzero"`
	TTL         wire.StoredDuration `json:"ttl,omitzero"`
	Fallback    *storedFallback     `json:"fallback,omitzero"`
	CallbackURL string              `json:"callbackURL,omitzero"`
	ReferenceID string              `json:"referenceID,omitzero"`
}

type storedFallback struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// storedPayload has the fields of all payloads.
type storedPayload struct {
	Type         string              `json:"type"`
	Body         string              `json:"body,omitzero"`
	Text         string              `json:"text,omitzero"`
	URL          string              `json:"url,omitzero"`
	ImageURL     string              `json:"imageURL,omitzero"`
	ThumbnailURL string              `json:"thumbnailURL,omitzero"`
	Duration     wire.StoredDuration `json:"duration,omitzero"`
	Size         int64               `json:"size,omitzero"`
	Caption      string              `json:"caption,omitzero"`
	ID           string              `json:"id,omitzero"`
	Language     string              `json:"language,omitzero"`
	Params       map[string]string   `json:"params,omitzero"`
	Fields       map[string]any      `json:"fields,omitzero"`
}

// MarshalJSON encodes the message for storage, under keys of this library that no contract changes:
//
//	{"channelID": "channel-1", "to": "+639171234567", "payload": {"type": "text", "body": "Hi"}, "ttl": "10m0s",
//	 "fallback": {"from": "ACME", "text": "Hi"}, "callbackURL": "…", "referenceID": "…"}
//
// It does not validate the message, except that text which is not valid UTF-8 is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	payload, err := storePayload(m.Payload)
	if err != nil {
		return nil, err
	}
	data, err := wire.EncodeStored(stored{
		ChannelID: m.ChannelID, To: m.To, Payload: payload, TTL: wire.StoredDuration(m.TTL),
		Fallback: (*storedFallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID,
	})
	if err != nil {
		return nil, fmt.Errorf("chatapp1: the message cannot be encoded: %w", err)
	}
	return data, nil
}

func storePayload(payload Payload) (*storedPayload, error) {
	switch p := payload.(type) {
	case nil:
		return nil, nil //nolint:nilnil // a message without a payload can be stored; sending it fails
	case Text:
		return &storedPayload{Type: "text", Body: p.Body}, nil
	case Image:
		return &storedPayload{Type: "image", URL: p.URL}, nil
	case Video:
		return &storedPayload{Type: "video", URL: p.URL, ThumbnailURL: p.ThumbnailURL, Duration: wire.StoredDuration(p.Duration), Size: p.Size}, nil
	case CallToAction:
		return &storedPayload{Type: "callToAction", Text: p.Text, ImageURL: p.ImageURL, Caption: p.Caption, URL: p.URL}, nil
	case Template:
		return &storedPayload{Type: "template", ID: p.ID, Language: p.Language, Params: p.Params}, nil
	case Raw:
		return &storedPayload{Type: "raw", Fields: p.Fields}, nil
	default:
		return nil, errors.New("chatapp1: the message cannot be encoded: Payload " + notAValue(p))
	}
}

// UnmarshalJSON decodes what MarshalJSON encodes and replaces the whole message. Numbers in Raw.Fields become json.Number. A
// key that it does not know, or that comes twice, is an error. Errors never repeat a value.
func (m *Message) UnmarshalJSON(data []byte) error {
	decoded, err := decodeMessage(data)
	if err != nil {
		return fmt.Errorf("chatapp1: the message cannot be decoded: %w", err)
	}
	*m = decoded
	return nil
}

func decodeMessage(data []byte) (Message, error) {
	var m Message
	var payload, fallback json.RawMessage
	err := wire.DecodeStored(data, map[string]any{
		"channelID": &m.ChannelID, "to": &m.To, "payload": &payload, "ttl": (*wire.StoredDuration)(&m.TTL),
		"fallback": &fallback, "callbackURL": &m.CallbackURL, "referenceID": &m.ReferenceID,
	})
	if err == nil && fallback != nil {
		m.Fallback = new(sms.Fallback)
		err = wire.DecodeStored(fallback, map[string]any{"from": &m.Fallback.From, "text": &m.Fallback.Text})
	}
	if err == nil && payload != nil {
		m.Payload, err = decodePayload(payload)
	}
	return m, err
}

func decodePayload(data []byte) (Payload, error) {
	var kind struct{ Type string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, errors.New(`"payload" must be an object with a type`)
	}
	decode := func(fields map[string]any) error {
		fields["type"] = new(string)
		return wire.DecodeStored(data, fields)
	}
	switch kind.Type {
	case "text":
		var p Text
		err := decode(map[string]any{"body": &p.Body})
		return p, err
	case "image":
		var p Image
		err := decode(map[string]any{"url": &p.URL})
		return p, err
	case "video":
		var p Video
		err := decode(map[string]any{
			"url": &p.URL, "thumbnailURL": &p.ThumbnailURL, "duration": (*wire.StoredDuration)(&p.Duration), "size": &p.Size,
		})
		return p, err
	case "callToAction":
		var p CallToAction
		err := decode(map[string]any{"text": &p.Text, "imageURL": &p.ImageURL, "caption": &p.Caption, "url": &p.URL})
		return p, err
	case "template":
		var p Template
		err := decode(map[string]any{"id": &p.ID, "language": &p.Language, "params": &p.Params})
		return p, err
	case "raw":
		var p Raw
		err := decode(map[string]any{"fields": &p.Fields})
		return p, err
	default:
		return nil, errors.New(`"payload" has a type that is none of text, image, video, callToAction, template and raw`)
	}
}
