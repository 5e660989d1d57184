package sms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// MarshalJSON encodes the message as the body that a send has under the default contract, Extra included, so that it can be
// queued or stored and read back. It does not validate; a name in Extra that is one of the message's own is an error.
//
// A client's own contract and credentials have no part in it.
func (m Message) MarshalJSON() ([]byte, error) {
	names := bodyNames()
	for name := range m.Extra {
		if _, taken := names[name]; taken {
			return nil, fmt.Errorf("sms: Extra[%q] is the name of a field of the message", name)
		}
	}
	own, err := json.Marshal(m.body())
	if err != nil || len(m.Extra) == 0 {
		return own, err
	}
	extra, err := json.Marshal(m.Extra)
	if err != nil {
		return nil, err
	}
	if len(own) == len("{}") {
		return extra, nil
	}
	return append(append(own[:len(own)-1], ','), extra[1:]...), nil
}

// UnmarshalJSON decodes what MarshalJSON encodes. Members that are no field of the message go into Extra, numbers as
// json.Number. The message is replaced whole.
func (m *Message) UnmarshalJSON(data []byte) error {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return err
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
