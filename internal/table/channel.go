package table

// A Channel is a part of the service that sends messages and may receive some.
type Channel struct {
	// Name is the channel's name in code and in the contract: its sections are Name.send and webhook.Name.
	Name string
	// Title is what a person calls it.
	Title string
	// Send returns the operation that sends over it.
	Send func(*Table) *Send
	// Inbound returns the callback for what people send over it.
	Inbound func(*Table) *Webhook
}

// Channels returns the channels. A new one is an entry here: the client, the test server, the sandbox, the doctor and the outbox range over
// them, or have a test that fails without it. The order is that of the constants of package messaging.
func Channels() []Channel {
	return []Channel{
		{"sms", "SMS", func(t *Table) *Send { return &t.SMSSend }, func(t *Table) *Webhook { return &t.WebhookSMS }},
		{"chatapp1", "chat app 1", func(t *Table) *Send { return &t.ChatApp1Send }, func(t *Table) *Webhook { return &t.WebhookChatApp1 }},
		{"chatapp2", "chat app 2", func(t *Table) *Send { return &t.ChatApp2Send }, func(t *Table) *Webhook { return &t.WebhookChatApp2 }},
	}
}

// ChannelNamed returns the channel of a name, and whether there is one.
func ChannelNamed(name string) (Channel, bool) {
	for _, c := range Channels() {
		if c.Name == name {
			return c, true
		}
	}
	return Channel{}, false
}

// SendSection returns the section of the contract that sends over the channel.
func (c Channel) SendSection() string { return c.Name + ".send" }

// IsPlatform reports whether the channel's messages are those of a third-party platform, whose members the contract does not name.
func (c Channel) IsPlatform(t *Table) bool { return c.Send(t).Wrap != nil }
