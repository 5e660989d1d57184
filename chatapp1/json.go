package chatapp1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// MarshalJSON encodes the message as the body that a send has under the default contract, so that it can be queued or stored
// and read back. It does not validate; a field of Raw under a name that the message has besides its payload is an error, and so is a
// text that is not valid UTF-8, which would be another when it is read. A TTL that is no whole number of seconds is written with its fraction, so that nothing is lost.
//
// A client's own contract and credentials have no part in it.
func (m Message) MarshalJSON() ([]byte, error) {
	body, raw := m.body()
	own, err := wire.EncodeText(body)
	if err != nil {
		return nil, fmt.Errorf("chatapp1: %w", err)
	}
	object, err := wire.AppendExtra(own, raw, "Payload.Fields", func(name string) bool { return slices.Contains(besidePayload(), name) })
	if err != nil {
		return nil, fmt.Errorf("chatapp1: %w", err)
	}
	return object, nil
}

// besidePayload gives the default names of the fields that a message has besides its payload.
func besidePayload() []string {
	return []string{"from", "to", "ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"}
}

// UnmarshalJSON decodes what MarshalJSON encodes, and any body of the default contract: a payload of exactly the fields that a
// type has becomes that type, any other Raw, with numbers as json.Number. The message is replaced whole. Errors name a field
// and repeat nothing of it.
func (m *Message) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return errors.New("chatapp1: a message must be a JSON object")
	}
	var decoded Message
	var d wire.Delivery
	err := d.Take(members)
	if err == nil {
		err = wire.Take(members, "from", &decoded.ChannelID)
	}
	if err == nil {
		err = wire.Take(members, "to", &decoded.To)
	}
	if err != nil {
		return fmt.Errorf("chatapp1: %w", err)
	}
	decoded.TTL, decoded.CallbackURL, decoded.ReferenceID = d.TTL.Duration(), d.CallbackURL, d.ReferenceID
	if from, text, ok := d.Fallback(); ok {
		decoded.Fallback = &sms.Fallback{From: from, Text: text}
	}
	if decoded.Payload, err = readPayload(members); err != nil {
		return err
	}
	*m = decoded
	return nil
}

// readPayload finds the type whose fields these are.
func readPayload(members map[string]json.RawMessage) (Payload, error) {
	present := maps.Clone(members)
	maps.DeleteFunc(present, func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	if len(members) == 0 {
		return nil, nil //nolint:nilnil // a message without a payload can be stored; Send refuses it
	}
	var text Text
	if hold(present, field{"text", &text.Body, true}) {
		return text, nil
	}
	var image Image
	if hold(present, field{"image", &image.URL, true}) {
		return image, nil
	}
	var video Video
	var duration wire.Seconds
	if hold(present, field{"video", &video.URL, true}, field{"thumbnail", &video.ThumbnailURL, false}, field{"duration", &duration, false}, field{"fileSize", &video.Size, false}) {
		video.Duration = duration.Duration()
		return video, nil
	}
	var button CallToAction
	if hold(present, field{"text", &button.Text, true}, field{"image", &button.ImageURL, false}, field{"caption", &button.Caption, true}, field{"action", &button.URL, true}) {
		return button, nil
	}
	var template Template
	var values map[string]*string // in which a null shows
	if hold(present, field{"templateId", &template.ID, true}, field{"templateParams", &values, false}, field{"templateLanguage", &template.Language, false}) {
		if params, ok := texts(values); ok {
			template.Params = params
			return template, nil
		}
	}
	raw := Raw{Fields: map[string]any{}}
	for name, value := range members {
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			return nil, errors.New("chatapp1: a field cannot be read")
		}
		raw.Fields[name] = v
	}
	return raw, nil
}

// texts gives the values of a template's parameters, unless one of them is none.
func texts(values map[string]*string) (map[string]string, bool) {
	if values == nil {
		return nil, true
	}
	all := make(map[string]string, len(values))
	for name, value := range values {
		if value == nil {
			return nil, false
		}
		all[name] = *value
	}
	return all, true
}

type field struct {
	name   string
	to     any
	always bool // the type is written with it
}

// hold reads the members into the fields where these hold all of them, and those that the type is written with are there.
func hold(members map[string]json.RawMessage, fields ...field) bool {
	rest := maps.Clone(members)
	for _, f := range fields {
		if _, ok := rest[f.name]; f.always && !ok || wire.Take(rest, f.name, f.to) != nil {
			return false
		}
	}
	return len(rest) == 0
}
