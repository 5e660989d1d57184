package messagingtest

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reply returns the text with which the recipient of a chat-app message replies, for [Server.Receive] or [ChatAppRequest]. Each call
// returns a message with an ID of its own. Reply panics for an SMS, whose replies are [InboundSMS].
func (m Sent) Reply(text string) InboundChatApp {
	in := m.inbound("text", document{"body": text})
	in.Kind, in.Text = "text", text
	return in
}

// ReplyMedia is like [Sent.Reply], for a medium at a URL. The kind is image, audio, video, document or sticker; another
// panics.
func (m Sent) ReplyMedia(kind, url string) InboundChatApp {
	isMedia := slices.Contains([]string{"image", "audio", "video", "document", "sticker"}, kind)
	must(isMedia, "ReplyMedia: %q is none of image, audio, video, document and sticker", kind)
	in := m.inbound(kind, document{"id": "media-" + rand.Text(), "link": url})
	in.Kind, in.MediaURL = kind, url
	return in
}

// Tap is like [Sent.Reply], for the tap of a button, of a row of a list, or of a quick reply of a template: the one with this ID, label
// or payload. Tap panics if the message offers none such. Chat app 1 has no taps.
func (m Sent) Tap(choice string) InboundChatApp {
	body, _ := readJSON(m.Body)
	for _, offer := range offersIn(body) {
		isIt := func(name string) bool { return textIn(offer.content, name) == choice }
		switch {
		case choice == "" || !slices.ContainsFunc([]string{"id", "title", "payload"}, isIt):
		case offer.kind == "button":
			return m.inbound("button", offer.content)
		default:
			return m.inbound("interactive", document{"type": offer.kind, offer.kind: offer.content})
		}
	}
	panic("messagingtest: Tap: the message offers no button and no row with this ID, label or payload: " + strconv.Quote(choice))
}

// React is like [Sent.Reply], for a reaction to the message. An empty emoji takes it back. Chat app 1 has no reactions.
func (m Sent) React(emoji string) InboundChatApp {
	return m.inbound("reaction", document{"message_id": m.ID, "emoji": emoji})
}

// Read returns the platform's status that says that the recipient has read a chat-app-2 message, for the handlers of chat app 2 and of
// delivery reports. For other channels there is [Server.ReportDelivery].
func (m Sent) Read() InboundChatApp {
	in := m.inbound("read", nil)
	status := document{"id": m.ID, "status": "read", "timestamp": strconv.FormatInt(in.ReceivedAt.Unix(), 10), "recipient_id": in.From}
	return InboundChatApp{Channel: m.Channel, JSON: string(encode(status))}
}

// inbound returns a message of the recipient, of chat app 2 with an object of the platform that refers to m.
func (m Sent) inbound(kind string, content document) InboundChatApp {
	must(m.Channel != ChannelSMS && m.Channel != "", "the recipient of an SMS answers by InboundSMS")
	from := strings.TrimPrefix(plainNumber(m.To), "+")
	in := InboundChatApp{Channel: m.Channel, ID: "in-" + rand.Text(), From: from, To: m.From, ReceivedAt: m.At.UTC().Truncate(time.Second)}
	isOfPlatform := slices.Contains([]string{"button", "interactive", "reaction", "read"}, kind)
	must(m.Channel == ChannelChatApp2 || !isOfPlatform, "chat app 1 has no such reply: %s", kind)
	if m.Channel != ChannelChatApp2 {
		return in
	}
	object := document{"id": in.ID, "timestamp": strconv.FormatInt(in.ReceivedAt.Unix(), 10), "type": kind, kind: content}
	if isMobileNumber(from) {
		object["from"] = from
	} else {
		object["from_user_id"] = from
	}
	if kind != "reaction" {
		object["context"] = document{"id": m.ID}
	}
	in.JSON = string(encode(object))
	return in
}

// noteInbound remembers when recipients of chat app 2 wrote.
func (s *Server) noteInbound(events []event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if in, ok := e.callback.(InboundChatApp); ok && in.Channel == ChannelChatApp2 {
			object, _ := readJSON([]byte(in.JSON))
			message, _ := object.(document)
			s.wrote[outcomeKey(cmp.Or(in.From, textIn(message, "from"), textIn(message, "from_user_id")))] = s.ledger.now()
		}
	}
}

// isWindowClosed reports whether the platform takes a template alone. The caller holds mu.
func (s *Server) isWindowClosed(m Sent) bool {
	isFree := m.Channel == ChannelChatApp2 && m.Kind != "template"
	return s.window > 0 && isFree && s.ledger.now().Sub(s.wrote[outcomeKey(m.To)]) > s.window
}

// An offer is what a recipient can tap.
type offer struct {
	kind    string // of the reply: button_reply or list_reply, or button for a template
	content document
}

// offersIn returns what a message offers, in its order.
func offersIn(value any) (all []offer) {
	members, _ := value.(document)
	list, _ := value.([]any)
	if reply, ok := members["reply"].(document); ok {
		all = append(all, offer{"button_reply", reply})
	}
	rows, _ := members["rows"].([]any)
	for _, row := range rows {
		content, _ := row.(document)
		all = append(all, offer{"list_reply", content})
	}
	if parameters, _ := members["parameters"].([]any); members["sub_type"] == "quick_reply" && len(parameters) > 0 {
		parameter, _ := parameters[0].(document)
		all = append(all, offer{"button", document{"payload": parameter["payload"], "text": parameter["payload"]}})
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, members[name])
	}
	for _, inner := range list {
		all = append(all, offersIn(inner)...)
	}
	return all
}
