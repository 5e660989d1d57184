package sms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// MarshalJSON encodes the message as the body that a send has under the default contract, Extra included, so that it can be
// queued or stored and read back. It does not validate; a name in Extra that is one of the message's own is an
// error, and so is a text that is not valid UTF-8, which would be another when it is read.
//
// A client's own contract and credentials have no part in it.
func (m Message) MarshalJSON() ([]byte, error) {
	own, err := wire.EncodeText(m.body())
	if err != nil {
		return nil, fmt.Errorf("sms: %w", err)
	}
	names := bodyNames()
	object, err := wire.AppendExtra(own, m.Extra, "Extra", func(name string) bool {
		_, taken := names[name]
		return taken
	})
	if err != nil {
		return nil, fmt.Errorf("sms: %w", err)
	}
	return object, nil
}

// UnmarshalJSON decodes what MarshalJSON encodes. Members that are no field of the message go into Extra, numbers as
// json.Number. The message is replaced whole.
func (m *Message) UnmarshalJSON(data []byte) error {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil || members == nil {
		return errors.New("sms: a message must be a JSON object")
	}
	var b body
	fields := reflect.ValueOf(&b).Elem()
	for field, value := range fields.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		member, ok := members[name]
		delete(members, name) // encoding/json would take "From" for "from" as well
		text, isText := member.(string)
		switch {
		case value.Kind() != reflect.String || !ok || member == nil:
		case !isText:
			return fmt.Errorf("sms: %q must be a string", name)
		default:
			value.SetString(text)
		}
	}
	*m = Message{From: b.From, To: b.To, Text: b.Text, CallbackURL: b.CallbackURL, ReferenceID: b.ReferenceID}
	if len(members) > 0 {
		m.Extra = members
	}
	return nil
}

// bodyNames gives the names that a message's own fields have on the wire by default.
func bodyNames() map[string]struct{} {
	names := map[string]struct{}{}
	for field := range reflect.TypeFor[body]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = struct{}{}
	}
	return names
}
