package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// AnswerKind is the kind of an answer.
type AnswerKind string

// The kinds of answers.
const (
	AnswerText       AnswerKind = "text"
	AnswerButton     AnswerKind = "button"      // taps a reply button
	AnswerListRow    AnswerKind = "list"        // taps a row of a list
	AnswerQuickReply AnswerKind = "quick_reply" // taps the button of a template
	AnswerForm       AnswerKind = "form"        // sends a flow back
	AnswerReaction   AnswerKind = "reaction"    // with the emoji in Text
	AnswerLocation   AnswerKind = "location"
	AnswerImage      AnswerKind = "image"
	AnswerAudio      AnswerKind = "audio"
	AnswerDocument   AnswerKind = "document"
	AnswerSticker    AnswerKind = "sticker"
	AnswerVideo      AnswerKind = "video"
)

// An answerScope says which channels have a kind of answers.
type answerScope int

const (
	onEveryChannel answerScope = iota
	onChatApps                 // on every channel but SMS
	onChatApp2
)

func (s answerScope) includes(channel string) bool {
	switch s {
	case onChatApps:
		return channel != channelSMS
	case onChatApp2:
		return channel == channelChatApp2
	default:
		return true
	}
}

// An answerKind describes a kind of answers. Its content in the JSON of the platform is in Answer.platformContent.
type answerKind struct {
	name         AnswerKind
	scope        answerScope
	needsMessage bool   // it belongs to a message that it must name
	isTap        bool   // it chooses an offer of that message
	mimeType     string // of a medium
	hasCaption   bool   // of a medium
	platformType string // the type of such a message on the platform of chat app 2

	check func(a Answer) error                            // returns what is missing or wrong; nil if the content may be empty
	fill  func(a Answer, m *messagingtest.InboundChatApp) // sets the fields of the callback; nil if it has none
	show  func(a Answer, b *bubble)                       // draws it on the page
}

// answerKinds returns all kinds, in the order in which an error names them.
func answerKinds() []answerKind {
	return []answerKind{
		{
			name: AnswerText, scope: onEveryChannel, platformType: "text",
			check: Answer.checkText, fill: Answer.fillText, show: Answer.showText,
		},
		{
			name: AnswerButton, scope: onChatApp2, needsMessage: true, isTap: true, platformType: "interactive",
			check: Answer.checkTap, show: Answer.showTap,
		},
		{
			name: AnswerListRow, scope: onChatApp2, needsMessage: true, isTap: true, platformType: "interactive",
			check: Answer.checkTap, show: Answer.showTap,
		},
		{
			name: AnswerQuickReply, scope: onChatApp2, needsMessage: true, isTap: true, platformType: "button",
			check: Answer.checkTap, show: Answer.showTap,
		},
		{
			name: AnswerForm, scope: onChatApp2, needsMessage: true, isTap: true, platformType: "interactive",
			show: Answer.showForm,
		},
		{
			name: AnswerReaction, scope: onChatApp2, needsMessage: true, platformType: "reaction",
			show: Answer.showReaction,
		},
		{
			name: AnswerLocation, scope: onChatApps, platformType: "location",
			check: Answer.checkLocation, fill: Answer.fillLocation, show: Answer.showLocation,
		},
		{
			name: AnswerImage, scope: onChatApps, mimeType: "image/jpeg", hasCaption: true, platformType: "image",
			check: Answer.checkMedium, fill: Answer.fillMedium, show: Answer.showMedium,
		},
		{
			name: AnswerAudio, scope: onChatApp2, mimeType: "audio/ogg", platformType: "audio",
			check: Answer.checkMedium, fill: Answer.fillMedium, show: Answer.showMedium,
		},
		{
			name: AnswerDocument, scope: onChatApp2, mimeType: "application/pdf", hasCaption: true, platformType: "document",
			check: Answer.checkMedium, fill: Answer.fillMedium, show: Answer.showMedium,
		},
		{
			name: AnswerSticker, scope: onChatApp2, mimeType: "image/webp", platformType: "sticker",
			check: Answer.checkMedium, fill: Answer.fillMedium, show: Answer.showMedium,
		},
		{
			name: AnswerVideo, scope: onChatApp2, mimeType: "video/mp4", hasCaption: true, platformType: "video",
			check: Answer.checkMedium, fill: Answer.fillMedium, show: Answer.showMedium,
		},
	}
}

// answerKindNames lists the kinds for an error: text, button, … or video.
func answerKindNames() string {
	var names []string
	for _, kind := range answerKinds() {
		names = append(names, string(kind.name))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// kind returns the kind of an answer, or the zero value if it is unknown.
func (a Answer) kind() answerKind {
	for _, kind := range answerKinds() {
		if kind.name == a.Kind {
			return kind
		}
	}
	return answerKind{}
}

// Texts.

func (a Answer) checkText() error {
	if a.Text == "" {
		return errors.New("text is missing")
	}
	return nil
}

func (a Answer) fillText(m *messagingtest.InboundChatApp) { m.Text = a.Text }

func (a Answer) showText(b *bubble) { b.Body = orBlank("text", a.Text) }

// Taps on buttons and rows.

func (a Answer) checkTap() error {
	if a.Text == "" && a.Payload == "" {
		return errors.New("payload is missing: the ID of the button or row")
	}
	return nil
}

func (a Answer) showTap(b *bubble) {
	b.Label = "Tapped"
	b.Body = cmp.Or(a.Text, a.Payload)
	b.Footer = a.Description
}

// Forms.

func (Answer) showForm(b *bubble) {
	b.Label = "Form"
	b.Body = "Sent"
}

// Reactions.

func (a Answer) showReaction(b *bubble) {
	b.Label = "Reaction"
	b.Reaction = cmp.Or(a.Text, "removed")
}

// Locations.

func (a Answer) checkLocation() error {
	const maxLatitude, maxLongitude = 90, 180
	if !isDegrees(a.Latitude, maxLatitude) || !isDegrees(a.Longitude, maxLongitude) {
		return errors.New("latitude and longitude must be decimal degrees, such as 14.5995 and 120.9842")
	}
	return nil
}

// isDegrees reports whether a text is a number of JSON from -limit to limit.
func isDegrees(s string, limit float64) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s)) && f >= -limit && f <= limit
}

func (a Answer) fillLocation(m *messagingtest.InboundChatApp) {
	m.Latitude = a.Latitude
	m.Longitude = a.Longitude
}

func (a Answer) showLocation(b *bubble) {
	b.Place.Value = object("name", a.Text, "latitude", a.Latitude, "longitude", a.Longitude)
}

// Media.

func (a Answer) checkMedium() error {
	if webURL(a.URL) == "" {
		return fmt.Errorf("url must be an absolute http or https URL: where the %s is", a.Kind)
	}
	if a.Text != "" && !a.kind().hasCaption {
		return fmt.Errorf("text must be empty: %s has no caption", a.Kind)
	}
	return nil
}

func (a Answer) fillMedium(m *messagingtest.InboundChatApp) {
	m.MediaURL = a.URL
	m.MIMEType = a.kind().mimeType
	m.Caption = a.Text
	m.FileName = a.fileName()
}

func (a Answer) showMedium(b *bubble) {
	b.Media = media{Kind: string(a.Kind), URL: a.URL, Name: a.fileName()}
	b.Body = a.Text
}
