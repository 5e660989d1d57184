package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// AnswerKind is what a recipient answers with.
type AnswerKind string

// The kinds. SMS has texts only, chat app 1 has texts, images and locations.
const (
	AnswerText       AnswerKind = "text"
	AnswerButton     AnswerKind = "button"      // taps a reply button
	AnswerListRow    AnswerKind = "list"        // taps a row of a list
	AnswerQuickReply AnswerKind = "quick_reply" // taps the button of a template
	AnswerForm       AnswerKind = "form"        // sends a flow back
	AnswerLocation   AnswerKind = "location"
	AnswerImage      AnswerKind = "image"
	AnswerReaction   AnswerKind = "reaction" // with the emoji in Text
)

// An Answer is a message of a recipient to the sender.
type Answer struct {
	Channel string     `json:"channel"`
	From    string     `json:"from"`         // the recipient, who answers
	To      string     `json:"to,omitempty"` // whom the message goes to; by default the sender of the last message
	Name    string     `json:"name,omitempty"`
	Kind    AnswerKind `json:"kind,omitempty"` // text by default
	// Text is the text, the label of what was tapped, the name of a place, the caption of an image, or an emoji.
	Text        string `json:"text,omitempty"`
	Description string `json:"description,omitempty"` // of a row
	Payload     string `json:"payload,omitempty"`     // the ID of what was tapped, or the token of a form
	Message     string `json:"message,omitempty"`     // the ID of the message that is answered
	URL         string `json:"url,omitempty"`         // of an image
	Latitude    string `json:"latitude,omitempty"`
	Longitude   string `json:"longitude,omitempty"`
}

// isTap reports whether an answer is of what a message offers.
func (a Answer) isTap() bool {
	return slices.Contains([]AnswerKind{AnswerButton, AnswerListRow, AnswerQuickReply, AnswerForm}, a.Kind)
}

// check returns what is wrong with an answer, or "".
func (a Answer) check() string {
	isOfPlatform := a.isTap() || a.Kind == AnswerReaction
	switch {
	case channelName(a.Channel) == "":
		return errChannel.Error()
	case strings.TrimSpace(a.From) == "":
		return "from is missing: the number that answers"
	case a.Kind == AnswerText && a.Text == "":
		return "text is missing"
	case a.Kind == AnswerLocation && (!isDegrees(a.Latitude, 90) || !isDegrees(a.Longitude, 180)):
		return "latitude and longitude must be decimal degrees, such as 14.5995 and 120.9842"
	case a.Kind == AnswerImage && webURL(a.URL) == "":
		return "url must be an absolute http or https URL of an image"
	case !isOfPlatform && !slices.Contains([]AnswerKind{AnswerText, AnswerLocation, AnswerImage}, a.Kind):
		return "kind must be text, button, list, quick_reply, form, location, image or reaction"
	case isOfPlatform && a.Message == "":
		return "message is missing: the ID of the message that the " + string(a.Kind) + " is of"
	case a.isTap() && a.Text == "" && a.Payload == "" && a.Kind != AnswerForm:
		return "payload is missing: the ID of what was tapped"
	case a.Channel == channelSMS && a.Kind != AnswerText, a.Channel != channelChatApp2 && isOfPlatform:
		return "kind " + string(a.Kind) + " does not exist on this channel"
	}
	return ""
}

// checkAnswer finds an answer to a message that is not there, or was sent to somebody else, and a tap on what the message does not
// offer. It fills in the label of what was tapped. The caller holds mu.
func (s *Sandbox) checkAnswer(a *Answer) error {
	if a.Message == "" {
		return nil
	}
	e := s.book.byID[a.Message]
	switch {
	case e == nil:
		return &refusal{errNoSuchMessage.status, "message: there is none with the ID " + clip(a.Message, maxName), nil}
	case e.Channel != a.Channel:
		return errors.New("message: it was sent by " + e.Channel)
	case e.peer != peerKey(a.From):
		return errors.New("from: the message was sent to " + clip(e.Peer, maxName))
	case !a.isTap():
		return nil
	case e.Sent == nil:
		return errors.New("message: it is an answer, and offers nothing to tap")
	}
	var offers []string
	for _, offer := range bubbleOf(*e.Sent, s.table).offers() {
		isIt := offer.Kind == a.Kind && (a.Payload == "" || offer.Payload == a.Payload) && (a.Text == "" || a.Kind == AnswerForm || offer.Text == a.Text)
		if isIt {
			a.Payload, a.Text, a.Description = offer.Payload, offer.Text, offer.Description
			return nil
		}
		offers = append(offers, fmt.Sprintf("%s with payload %q and text %q", offer.Kind, clip(offer.Payload, maxName), clip(offer.Text, previewText)))
	}
	if len(offers) == 0 {
		return errors.New("message: it offers nothing to tap, neither a button nor a row")
	}
	return errors.New("the message has no such " + string(a.Kind) + "; it has " + strings.Join(offers[:min(len(offers), 20)], ", "))
}

func isDegrees(s string, limit float64) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s)) && f >= -limit && f <= limit
}

// callback returns the event of an answer with this ID: by chat app 2 with an object of the third-party platform.
func (a Answer) callback(id string, at time.Time) messagingtest.Callback {
	from := strings.TrimPrefix(a.From, "+")
	if a.Channel == channelSMS {
		return messagingtest.InboundSMS{ID: id, From: from, To: a.To, Text: a.Text, ReceivedAt: at}
	}
	m := messagingtest.InboundChatApp{
		Channel: a.Channel, ID: id, From: from, To: a.To, Name: cmp.Or(a.Name, "Sandbox"), Kind: string(a.Kind), ReceivedAt: at,
	}
	reply := object("id", a.Payload, "title", a.Text, "description", a.Description)
	var content any
	switch a.Kind {
	case AnswerText:
		m.Text, content = a.Text, object("body", a.Text)
	case AnswerImage:
		m.MediaURL, m.MIMEType, m.Caption = a.URL, "image/jpeg", a.Text
		content = object("id", "media-"+id, "url", a.URL, "caption", a.Text, "mime_type", m.MIMEType)
	case AnswerLocation:
		m.Latitude, m.Longitude = a.Latitude, a.Longitude
		content = object("latitude", json.Number(a.Latitude), "longitude", json.Number(a.Longitude), "name", a.Text)
	case AnswerReaction:
		content = map[string]string{"message_id": a.Message, "emoji": a.Text}
	case AnswerQuickReply:
		m.Kind, content = "button", object("payload", a.Payload, "text", a.Text)
	case AnswerButton:
		m.Kind, content = "interactive", map[string]any{"type": "button_reply", "button_reply": reply}
	case AnswerListRow:
		m.Kind, content = "interactive", map[string]any{"type": "list_reply", "list_reply": reply}
	case AnswerForm:
		response := document.Encode(map[string]string{"flow_token": a.Payload})
		m.Kind = "interactive"
		content = map[string]any{"type": "nfm_reply", "nfm_reply": object("name", "flow", "body", "Sent", "response_json", response)}
	}
	if a.Channel == channelChatApp2 {
		o := map[string]any{"from": from, "id": id, "timestamp": strconv.FormatInt(at.Unix(), 10), "type": m.Kind, m.Kind: content}
		if a.Message != "" && a.Kind != AnswerReaction {
			o["context"] = object("from", a.To, "id", a.Message)
		}
		m.JSON = document.Encode(o)
	}
	return m
}

// newInboundID returns an ID that no inbound message has had, in this run or another: receivers remember IDs.
func newInboundID() string { return "in-" + rand.Text() }

func itoa(n int) string { return strconv.Itoa(n) }
