package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// AnswerKind is the kind of an answer.
type AnswerKind string

// The kinds of answers. SMS has texts only; chat app 1 has texts, images and locations; chat app 2 has all.
const (
	AnswerText       AnswerKind = "text"
	AnswerButton     AnswerKind = "button"      // taps a reply button
	AnswerListRow    AnswerKind = "list"        // taps a row of a list
	AnswerQuickReply AnswerKind = "quick_reply" // taps the button of a template
	AnswerForm       AnswerKind = "form"        // sends a flow back
	AnswerLocation   AnswerKind = "location"
	AnswerImage      AnswerKind = "image"
	AnswerAudio      AnswerKind = "audio"
	AnswerDocument   AnswerKind = "document"
	AnswerSticker    AnswerKind = "sticker"
	AnswerVideo      AnswerKind = "video"
	AnswerReaction   AnswerKind = "reaction" // with the emoji in Text
)

// An Answer is a message of a recipient to the sender.
type Answer struct {
	Channel string     `json:"channel"`
	From    string     `json:"from"`         // the recipient
	To      string     `json:"to,omitempty"` // by default the sender of the last message
	Name    string     `json:"name,omitempty"`
	Kind    AnswerKind `json:"kind,omitempty"` // text by default
	// Text is the text, the label of what was tapped, the name of a place, the caption of a medium, or an emoji.
	Text        string `json:"text,omitempty"`
	Description string `json:"description,omitempty"` // of a row
	Payload     string `json:"payload,omitempty"`     // the ID of what was tapped, or the token of a form
	Message     string `json:"message,omitempty"`     // the ID of the message that it answers
	URL         string `json:"url,omitempty"`         // of a medium
	Latitude    string `json:"latitude,omitempty"`
	Longitude   string `json:"longitude,omitempty"`
}

// isTap reports whether an answer chooses an offer of a message.
func (a Answer) isTap() bool {
	return slices.Contains([]AnswerKind{AnswerButton, AnswerListRow, AnswerQuickReply, AnswerForm}, a.Kind)
}

// namesMessage reports whether an answer belongs to a message that it must name.
func (a Answer) namesMessage() bool { return a.isTap() || a.Kind == AnswerReaction }

// mimeType returns the MIME type of a medium, or "" for an answer of another kind.
func (a Answer) mimeType() string {
	switch a.Kind {
	case AnswerImage:
		return "image/jpeg"
	case AnswerAudio:
		return "audio/ogg"
	case AnswerDocument:
		return "application/pdf"
	case AnswerSticker:
		return "image/webp"
	case AnswerVideo:
		return "video/mp4"
	default:
		return ""
	}
}

// hasCaption reports whether a medium may have a caption.
func (a Answer) hasCaption() bool { return a.Kind != AnswerAudio && a.Kind != AnswerSticker }

// isOfPlatform reports whether only chat app 2 has such an answer.
func (a Answer) isOfPlatform() bool {
	isMedium := a.mimeType() != ""
	return a.namesMessage() || isMedium && a.Kind != AnswerImage
}

// validate returns an error if an answer is incomplete, or does not exist on its channel.
func (a Answer) validate() error {
	if channelName(a.Channel) == "" {
		return errChannel
	}
	if strings.TrimSpace(a.From) == "" {
		return errors.New("from is missing: the number that answers")
	}
	isKnown := a.isOfPlatform() || slices.Contains([]AnswerKind{AnswerText, AnswerLocation, AnswerImage}, a.Kind)
	if !isKnown {
		return errors.New("kind must be text, button, list, quick_reply, form, reaction, location, image, audio, document, sticker or video")
	}
	if a.Channel == channelSMS && a.Kind != AnswerText || a.Channel != channelChatApp2 && a.isOfPlatform() {
		return fmt.Errorf("kind %s does not exist on this channel", a.Kind)
	}
	if a.namesMessage() && a.Message == "" {
		return fmt.Errorf("message is missing: the ID of the message that the %s belongs to", a.Kind)
	}
	return a.validateContent()
}

func (a Answer) validateContent() error {
	switch a.Kind {
	case AnswerText:
		if a.Text == "" {
			return errors.New("text is missing")
		}
	case AnswerLocation:
		const maxLatitude, maxLongitude = 90, 180
		if !isDegrees(a.Latitude, maxLatitude) || !isDegrees(a.Longitude, maxLongitude) {
			return errors.New("latitude and longitude must be decimal degrees, such as 14.5995 and 120.9842")
		}
	case AnswerImage, AnswerAudio, AnswerDocument, AnswerSticker, AnswerVideo:
		if webURL(a.URL) == "" {
			return fmt.Errorf("url must be an absolute http or https URL: where the %s is", a.Kind)
		}
		if a.Text != "" && !a.hasCaption() {
			return fmt.Errorf("text must be empty: %s has no caption", a.Kind)
		}
	case AnswerButton, AnswerListRow, AnswerQuickReply:
		if a.Text == "" && a.Payload == "" {
			return errors.New("payload is missing: the ID of the button or row")
		}
	case AnswerForm, AnswerReaction: // can be empty
	}
	return nil
}

// checkMessage returns an error if an answer names a message that does not exist or has another recipient, or taps something that
// the message does not offer. It completes a tap with the label and payload of the offer.
func (st *sandboxState) checkMessage(a *Answer) error {
	if a.Message == "" {
		return nil
	}
	e := st.book.byID[a.Message]
	switch {
	case e == nil:
		return &httpError{status: errNoSuchMessage.status, text: "message: no message has the ID " + clip(a.Message, maxName)}
	case e.Channel != a.Channel:
		return errors.New("message: it was sent by " + e.Channel)
	case e.recipientKey != recipientKeyOf(a.From):
		return errors.New("from: the message was sent to " + clip(e.Recipient, maxName))
	case !a.isTap():
		return nil
	case e.Sent == nil:
		return errors.New("message: it is an answer, and offers nothing to tap")
	}
	return a.tap(bubbleOf(*e.Sent, st.table).offers())
}

// tap completes a tap with the offer that it chooses.
func (a *Answer) tap(offers []*Answer) error {
	const maxListed = 20
	var listed []string
	for _, offer := range offers {
		if a.chooses(offer) {
			a.Payload = offer.Payload
			a.Text = offer.Text
			a.Description = offer.Description
			return nil
		}
		listed = append(listed, fmt.Sprintf("%s with payload %q and text %q", offer.Kind, clip(offer.Payload, maxName), clip(offer.Text, previewText)))
	}
	if len(listed) == 0 {
		return errors.New("message: it offers nothing to tap, neither a button nor a row")
	}
	remedy := ""
	isOfKind := func(offer *Answer) bool { return offer.Kind == a.Kind }
	if !slices.ContainsFunc(offers, isOfKind) {
		remedy = fmt.Sprintf("; use kind %s", offers[0].Kind)
	}
	return fmt.Errorf("the message has no such %s; it has %s%s", a.Kind, strings.Join(listed[:min(len(listed), maxListed)], ", "), remedy)
}

// chooses reports whether a tap chooses an offer, by its payload, its label, or both.
func (a *Answer) chooses(offer *Answer) bool {
	isPayload := a.Payload == "" || offer.Payload == a.Payload
	isText := a.Text == "" || a.Kind == AnswerForm || offer.Text == a.Text
	return offer.Kind == a.Kind && isPayload && isText
}

func isDegrees(s string, limit float64) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s)) && f >= -limit && f <= limit
}

// callback returns the event of an answer.
func (a Answer) callback(id string, at time.Time) messagingtest.Callback {
	from := strings.TrimPrefix(a.From, "+")
	if a.Channel == channelSMS {
		return messagingtest.InboundSMS{ID: id, From: from, To: a.To, Text: a.Text, ReceivedAt: at}
	}
	m := messagingtest.InboundChatApp{
		Channel: a.Channel, ID: id, From: from, To: a.To, Name: cmp.Or(a.Name, "Sandbox"), Kind: string(a.Kind), ReceivedAt: at,
	}
	switch a.Kind {
	case AnswerText:
		m.Text = a.Text
	case AnswerImage, AnswerAudio, AnswerDocument, AnswerSticker, AnswerVideo:
		m.MediaURL = a.URL
		m.MIMEType = a.mimeType()
		m.Caption = a.Text
		m.FileName = a.fileName()
	case AnswerLocation:
		m.Latitude = a.Latitude
		m.Longitude = a.Longitude
	case AnswerButton, AnswerListRow, AnswerForm:
		m.Kind = "interactive"
	case AnswerQuickReply:
		m.Kind = "button"
	case AnswerReaction:
	}
	if a.Channel == channelChatApp2 {
		m.JSON = a.platformJSON(id, from, m.Kind, at)
	}
	return m
}

// fileName returns the name of a document, which is the last part of its URL, or "" for other media.
func (a Answer) fileName() string {
	address, err := url.Parse(a.URL)
	if err != nil || a.Kind != AnswerDocument {
		return ""
	}
	return strings.Trim(path.Base(address.Path), "./")
}

// platformJSON returns an answer as the platform of chat app 2 writes it.
func (a Answer) platformJSON(id, from, kind string, at time.Time) string {
	message := map[string]any{
		"from": from, "id": id, "timestamp": strconv.FormatInt(at.Unix(), 10), "type": kind, kind: a.platformContent(id),
	}
	if a.Message != "" && a.Kind != AnswerReaction {
		message["context"] = object("from", a.To, "id", a.Message)
	}
	return document.Encode(message)
}

func (a Answer) platformContent(id string) any {
	tapped := object("id", a.Payload, "title", a.Text, "description", a.Description)
	switch a.Kind {
	case AnswerImage, AnswerAudio, AnswerDocument, AnswerSticker, AnswerVideo:
		return object("id", "media-"+id, "url", a.URL, "caption", a.Text, "mime_type", a.mimeType(), "filename", a.fileName())
	case AnswerLocation:
		return object("latitude", json.Number(a.Latitude), "longitude", json.Number(a.Longitude), "name", a.Text)
	case AnswerReaction:
		return map[string]string{"message_id": a.Message, "emoji": a.Text}
	case AnswerQuickReply:
		return object("payload", a.Payload, "text", a.Text)
	case AnswerButton:
		return map[string]any{"type": "button_reply", "button_reply": tapped}
	case AnswerListRow:
		return map[string]any{"type": "list_reply", "list_reply": tapped}
	case AnswerForm:
		response := document.Encode(map[string]string{"flow_token": a.Payload})
		return map[string]any{"type": "nfm_reply", "nfm_reply": object("name", "flow", "body", "Sent", "response_json", response)}
	case AnswerText:
	}
	return object("body", a.Text)
}

// newInboundID returns an ID that is unique in all runs, because receivers remember IDs.
func newInboundID() string { return "in-" + rand.Text() }

func itoa(n int) string { return strconv.Itoa(n) }
