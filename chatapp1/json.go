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
// and read back. It does not validate; a field of Raw under a name that the message has besides its payload is an error. A TTL
// that is no whole number of seconds is written with its fraction, so that nothing is lost.
//
// A client's own contract and credentials have no part in it.
func (m Message) MarshalJSON() ([]byte, error) {
	body, raw := m.body()
	own, err := json.Marshal(body)
	if err != nil || len(raw) == 0 {
		return own, err
	}
	for name := range raw {
		if slices.Contains(besidePayload(), name) {
			return nil, fmt.Errorf("chatapp1: Payload.Fields[%q] is the name of a field of the message", name)
		}
	}
	fields, err := json.Marshal(raw)
	if err != nil || string(own) == "{}" {
		return fields, err
	}
	return append(append(own[:len(own)-1], ','), fields[1:]...), nil
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
	if err := json.Unmarshal(data, &members); err != nil {
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
	if len(members) == 0 {
		return nil, nil //nolint:nilnil // a message without a payload can be stored; Send refuses it
	}
	var text Text
	if hold(members, "text", field{"text", &text.Body}) {
		return text, nil
	}
	var image Image
	if hold(members, "image", field{"image", &image.URL}) {
		return image, nil
	}
	var video Video
	var duration wire.Seconds
	if hold(members, "video", field{"video", &video.URL}, field{"thumbnail", &video.ThumbnailURL}, field{"duration", &duration}, field{"fileSize", &video.Size}) {
		video.Duration = duration.Duration()
		return video, nil
	}
	var button CallToAction
	if hold(members, "caption", field{"text", &button.Text}, field{"image", &button.ImageURL}, field{"caption", &button.Caption}, field{"action", &button.URL}) {
		return button, nil
	}
	var template Template
	if hold(members, "templateId", field{"templateId", &template.ID}, field{"templateParams", &template.Params}, field{"templateLanguage", &template.Language}) {
		return template, nil
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

type field struct {
	name string
	to   any
}

// hold reads the members into the fields where these hold all of them, and the one that makes the type is there.
func hold(members map[string]json.RawMessage, required string, fields ...field) bool {
	if _, ok := members[required]; !ok {
		return false
	}
	rest := maps.Clone(members)
	for _, f := range fields {
		if string(rest[f.name]) == "null" || wire.Take(rest, f.name, f.to) != nil {
			return false
		}
	}
	return len(rest) == 0
}
