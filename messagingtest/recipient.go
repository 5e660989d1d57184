package messagingtest

import (
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reply returns the text with which the recipient of a chat-app message replies, for [Server.CallWebhook] or [NewRequest]. Each
// call returns a message with an ID of its own. Reply panics for an SMS: the recipient of an SMS replies by an [InboundSMS].
func (m Sent) Reply(text string) InboundChatApp {
	in := m.inbound("text", document{"body": text})
	in.Kind = "text"
	in.Text = text
	return in
}

// ReplyMedia is like [Sent.Reply], for a medium at a URL. The kind is image, audio, video, document or sticker; another
// panics.
func (m Sent) ReplyMedia(kind, url string) InboundChatApp {
	isMedia := slices.Contains([]string{"image", "audio", "video", "document", "sticker"}, kind)
	panicUnless(isMedia, "ReplyMedia: the kind is %q; want image, audio, video, document or sticker", kind)
	in := m.inbound(kind, document{"id": "media-" + rand.Text(), "link": url})
	in.Kind = kind
	in.MediaURL = url
	return in
}

// Tap is like [Sent.Reply], for the tap of a button, of a row of a list, or of a quick reply of a template: the one with this ID,
// label or payload. Tap panics if the message has none, and for chat app 1, which has no taps.
func (m Sent) Tap(choice string) InboundChatApp {
	body, _ := readJSON(m.Body)
	for _, c := range choicesIn(body) {
		if choice == "" || !c.has(choice) {
			continue
		}
		if c.kind == "button" {
			return m.platformReply("button", c.content)
		}
		return m.platformReply("interactive", document{"type": c.kind, c.kind: c.content})
	}
	panic("messagingtest: Tap: the message has no button and no row with this ID, label or payload: " + strconv.Quote(choice))
}

// React is like [Sent.Reply], for a reaction to the message. An empty emoji removes the reaction. React panics for chat app 1,
// which has no reactions.
func (m Sent) React(emoji string) InboundChatApp {
	return m.platformReply("reaction", document{"message_id": m.ID, "emoji": emoji})
}

// Read returns the platform's status that says that the recipient has read a chat-app-2 message, for the handlers of chat app 2
// and of delivery reports. It panics for other channels: use [Server.ReportDelivery] for them.
func (m Sent) Read() InboundChatApp {
	m.checkPlatformReply("read")
	status := document{
		"id":           m.ID,
		"status":       "read",
		"timestamp":    strconv.FormatInt(m.At.Unix(), 10),
		"recipient_id": m.recipientID(),
	}
	return InboundChatApp{Channel: m.Channel, JSON: string(encode(status))}
}

// platformReply is like inbound, for a kind of message that only the third-party platform has.
func (m Sent) platformReply(kind string, content document) InboundChatApp {
	m.checkPlatformReply(kind)
	return m.inbound(kind, content)
}

// checkPlatformReply panics unless the message is of the third-party platform.
func (m Sent) checkPlatformReply(kind string) {
	panicUnless(m.Channel == channelChatApp2 || m.Channel == channelSMS, "chat app 1 has no such reply: %s", kind)
	m.checkIsChat()
}

func (m Sent) checkIsChat() {
	panicUnless(m.Channel != channelSMS && m.Channel != "", "the recipient of an SMS replies by InboundSMS")
}

// recipientID returns the number of the recipient as the platform writes it.
func (m Sent) recipientID() string { return strings.TrimPrefix(plainNumber(m.To), "+") }

// inbound returns a message of the recipient. That of chat app 2 has an object of the platform, which refers to m.
func (m Sent) inbound(kind string, content document) InboundChatApp {
	m.checkIsChat()
	from := m.recipientID()
	in := InboundChatApp{
		Channel:    m.Channel,
		ID:         "in-" + rand.Text(),
		From:       from,
		To:         m.From,
		ReceivedAt: m.At.UTC().Truncate(time.Second),
	}
	if m.Channel != channelChatApp2 {
		return in
	}
	message := document{
		"id":        in.ID,
		"timestamp": strconv.FormatInt(in.ReceivedAt.Unix(), 10),
		"type":      kind,
		kind:        content,
	}
	if isMobileNumber(from) {
		message["from"] = from
	} else {
		message["from_user_id"] = from
	}
	if kind != "reaction" {
		message["context"] = document{"id": m.ID}
	}
	in.JSON = string(encode(message))
	return in
}

// A choice is a part of a message that a recipient can tap.
type choice struct {
	kind    string // of the reply: button_reply or list_reply, or button for a template
	content document
}

// has reports whether a text is the ID, the label or the payload of a choice.
func (c choice) has(text string) bool {
	return slices.ContainsFunc([]string{"id", "title", "payload"}, func(name string) bool {
		return textIn(c.content, name) == text
	})
}

// choicesIn returns the choices in a body, in order.
func choicesIn(value any) []choice {
	if list, ok := value.([]any); ok {
		var all []choice
		for _, element := range list {
			all = append(all, choicesIn(element)...)
		}
		return all
	}
	members, _ := value.(document)
	all := ownChoices(members)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, choicesIn(members[name])...)
	}
	return all
}

// ownChoices returns the choices that an object itself describes: a button, the rows of a section, or a quick reply.
func ownChoices(members document) []choice {
	var all []choice
	if reply, ok := members["reply"].(document); ok {
		all = append(all, choice{"button_reply", reply})
	}
	rows, _ := members["rows"].([]any)
	for _, row := range rows {
		content, _ := row.(document)
		all = append(all, choice{"list_reply", content})
	}
	parameters, _ := members["parameters"].([]any)
	if members["sub_type"] == "quick_reply" && len(parameters) > 0 {
		parameter, _ := parameters[0].(document)
		payload := parameter["payload"]
		all = append(all, choice{"button", document{"payload": payload, "text": payload}})
	}
	return all
}
