package table

import (
	"reflect"
	"strings"
	"sync"
)

// A Channel is a part of the service that sends messages and may receive some.
type Channel struct {
	// Name is the channel's name in code and in the contract: its sections are Name.send and webhook.Name.
	Name string
	// Title is what a person calls it.
	Title string

	send []int // its field in Table
}

// Channels returns the channels: the fields of Table with the tag channel, which is their title. Code that handles every channel ranges over
// them, or has a test that fails for a new channel. The order is that of the constants of package messaging.
func Channels() []Channel { return channels() }

var channels = sync.OnceValue(func() (all []Channel) { //nolint:gochecknoglobals // never written
	for field := range reflect.TypeFor[Table]().Fields() {
		if title := field.Tag.Get("channel"); title != "" {
			all = append(all, Channel{strings.TrimSuffix(field.Tag.Get("json"), sendSuffix), title, field.Index})
		}
	}
	return all
})

const sendSuffix = ".send"

// ChannelNamed returns the channel of a name, and whether there is one.
func ChannelNamed(name string) (Channel, bool) {
	for _, c := range Channels() {
		if c.Name == name {
			return c, true
		}
	}
	return Channel{}, false
}

// Send returns the operation that sends over the channel.
func (c Channel) Send(t *Table) *Send {
	return reflect.ValueOf(t).Elem().FieldByIndex(c.send).Addr().Interface().(*Send)
}

// SendSection returns the section of the contract that sends over the channel.
func (c Channel) SendSection() string { return c.Name + sendSuffix }

// IsPlatform reports whether the channel's messages are those of a third-party platform, whose members the contract does not name.
func (c Channel) IsPlatform(t *Table) bool { return c.Send(t).Wrap != nil }
