package sms

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// doer is what a channel's test needs of the rest of the library.
type doer struct {
	wire.Doer // what a test does not need

	call    wire.Call
	receipt wire.Receipt
	err     error
}

func (d *doer) Send(_ context.Context, call wire.Call) (wire.Receipt, error) {
	d.call = call
	return d.receipt, d.err
}

var valid = Message{From: "ACME", To: "+639171234567", Text: "Hi"}

// The tags are the fast path: where they are not the default contract's names, a client without an overlay sends wrong ones.
func TestTheTagsAreTheDefaultContract(t *testing.T) {
	t.Parallel()
	fields := contract.Default().SMSSend.Fields
	want := map[string]string{
		"From": fields.From, "To": fields.To, "Text": fields.Text, "CallbackURL": fields.Callback, "ReferenceID": fields.Reference,
	}
	with := contract.Default().SMSSend.With["callback"]
	require.Len(t, with, 1)
	for name := range with {
		want["DLRReport"] = name
	}
	assert.Empty(t, contract.Default().SMSSend.Constants, "a constant needs a field in body")
	require.Equal(t, reflect.TypeFor[contract.SMSSendFields]().NumField(), len(want)-1, "a field of the contract has no field in body")
	body := reflect.TypeFor[body]()
	require.Equal(t, len(want), body.NumField())
	for field := range body.Fields() {
		assert.Equal(t, want[field.Name]+",omitzero", field.Tag.Get("json"), field.Name)
		assert.Equal(t, want[field.Name]+",omitempty", field.Tag.Get("url"), field.Name)
		if field.Name != "DLRReport" {
			_, ok := reflect.TypeFor[Message]().FieldByName(field.Name)
			assert.True(t, ok, "errors name %s, which a Message does not have", field.Name)
		}
	}
}

func TestSendDescribesTheMessage(t *testing.T) {
	t.Parallel()
	d := &doer{receipt: wire.Receipt{ID: "m-1", Parts: 2}}
	m := Message{
		From: "ACME", To: "+639171234567", Text: "Hi", CallbackURL: "https://example.com/%s", ReferenceID: "r-1",
		Extra: map[string]any{"tag": "x"},
	}
	receipt, err := NewService(d).Send(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, Receipt{ID: "m-1", Parts: 2}, receipt)
	assert.Equal(t, wire.SMSSend, d.call.Op)
	assert.Equal(t, "r-1", d.call.Reference)
	assert.Equal(t, m.Extra, d.call.Extra)
	assert.Empty(t, d.call.Problems)
	assert.Equal(t, &body{
		From: "ACME", To: "+639171234567", Text: "Hi", CallbackURL: "https://example.com/%s", DLRReport: 1, ReferenceID: "r-1",
	}, d.call.Body)
}

func TestSendPassesTheErrorOn(t *testing.T) {
	t.Parallel()
	d := &doer{err: errors.New("no")}
	_, err := NewService(d).Send(t.Context(), valid)
	assert.Equal(t, d.err, err)
}

func TestEachProblemOfAMessageNamesItsField(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Message)
		field  string
		absent bool
	}{
		"no sender":              {func(m *Message) { m.From = "" }, "From", true},
		"blank sender":           {func(m *Message) { m.From = " \t" }, "From", false},
		"sender not UTF-8":       {func(m *Message) { m.From = "A\xff" }, "From", false},
		"no recipient":           {func(m *Message) { m.To = "" }, "To", true},
		"two recipients":         {func(m *Message) { m.To = "639171234567,639181234567" }, "To", false},
		"short recipient":        {func(m *Message) { m.To = "1234" }, "To", false},
		"long recipient":         {func(m *Message) { m.To = strings.Repeat("1", 16) }, "To", false},
		"no text":                {func(m *Message) { m.Text = "" }, "Text", true},
		"text not UTF-8":         {func(m *Message) { m.Text = "caf\xe9" }, "Text", false},
		"callback without host":  {func(m *Message) { m.CallbackURL = "https:///x" }, "CallbackURL", false},
		"callback with a break":  {func(m *Message) { m.CallbackURL = "https://a.example/\r\n" }, "CallbackURL", false},
		"reference is not UTF-8": {func(m *Message) { m.ReferenceID = "\xff" }, "ReferenceID", false},
	} {
		m := valid
		tt.change(&m)
		problems := m.validate()
		if assert.Len(t, problems, 1, name) {
			assert.Equal(t, tt.field, problems[0].Field, name)
			assert.Equal(t, tt.absent, problems[0].Absent, name)
			assert.NotEmpty(t, problems[0].Reason, name)
		}
	}
	assert.Len(t, Message{}.validate(), 3)
	assert.Empty(t, valid.validate())
	spaces := valid
	spaces.Text = " "
	assert.Empty(t, spaces.validate(), "a text of spaces is a text")
}

func TestWhereATextIsNotUTF8IsSaid(t *testing.T) {
	t.Parallel()
	m := valid
	m.Text = "€\ufffd\xff"
	assert.Equal(t, "must be valid UTF-8, and is not at byte 6", m.validate()[0].Reason, "a replacement character is a character")
}
