package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// An Answer is a message of a recipient to the sender. Its row in answerKinds says how it is checked and shown.
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

// newInboundID returns an ID that is unique in all runs, because receivers remember IDs.
func newInboundID() string { return "in-" + rand.Text() }

// validate returns an error if an answer is incomplete, or does not exist on its channel.
func (a Answer) validate() error {
	kind := a.kind()
	switch {
	case channelName(a.Channel) == "":
		return errChannel
	case strings.TrimSpace(a.From) == "":
		return errors.New("from is missing: the number that answers")
	case kind.name == "":
		return errors.New("kind must be " + answerKindNames())
	case !kind.scope.includes(a.Channel):
		return fmt.Errorf("kind %s does not exist on this channel", a.Kind)
	case kind.needsMessage && a.Message == "":
		return fmt.Errorf("message is missing: the ID of the message that the %s belongs to", a.Kind)
	case kind.check == nil:
		return nil
	}
	return kind.check(a)
}

// callback returns the event of an answer.
func (a Answer) callback(id string, at time.Time) messagingtest.Callback {
	from := strings.TrimPrefix(a.From, "+")
	if a.Channel == channelSMS {
		return messagingtest.InboundSMS{ID: id, From: from, To: a.To, Text: a.Text, ReceivedAt: at}
	}
	kind := a.kind()
	m := messagingtest.InboundChatApp{
		Channel:    a.Channel,
		ID:         id,
		From:       from,
		To:         a.To,
		Name:       cmp.Or(a.Name, "Sandbox"),
		Kind:       kind.platformType,
		ReceivedAt: at,
	}
	if kind.fill != nil {
		kind.fill(a, &m)
	}
	if a.Channel == channelChatApp2 {
		m.JSON = a.platformJSON(id, from, at)
	}
	return m
}

// platformJSON returns an answer as the platform of chat app 2 writes it: {"type": TYPE, TYPE: {…}, …}.
func (a Answer) platformJSON(id, from string, at time.Time) string {
	kind := a.kind()
	message := map[string]any{
		"from":            from,
		"id":              id,
		"timestamp":       strconv.FormatInt(at.Unix(), 10),
		"type":            kind.platformType,
		kind.platformType: a.platformContent(id),
	}
	if a.Message != "" && a.Kind != AnswerReaction {
		message["context"] = object("from", a.To, "id", a.Message)
	}
	return document.Encode(message)
}

// platformContent returns the content of an answer in the JSON of the platform.
func (a Answer) platformContent(id string) any {
	switch a.Kind {
	case AnswerText:
		return object("body", a.Text)
	case AnswerButton:
		return object("type", "button_reply", "button_reply", a.platformChoice())
	case AnswerListRow:
		return object("type", "list_reply", "list_reply", a.platformChoice())
	case AnswerQuickReply:
		return object("payload", a.Payload, "text", a.Text)
	case AnswerForm:
		response := document.Encode(map[string]string{"flow_token": a.Payload})
		return object("type", "nfm_reply", "nfm_reply", object("name", "flow", "body", "Sent", "response_json", response))
	case AnswerReaction: // an empty emoji removes the reaction
		return map[string]string{"message_id": a.Message, "emoji": a.Text}
	case AnswerLocation:
		return object("latitude", json.Number(a.Latitude), "longitude", json.Number(a.Longitude), "name", a.Text)
	case AnswerImage, AnswerAudio, AnswerDocument, AnswerSticker, AnswerVideo:
		return object(
			"id", "media-"+id, "url", a.URL, "caption", a.Text, "mime_type", a.kind().mimeType, "filename", a.fileName(),
		)
	}
	return nil // validate rejects other kinds
}

// platformChoice returns the button or row that an answer taps, in the JSON of the platform.
func (a Answer) platformChoice() any {
	return object("id", a.Payload, "title", a.Text, "description", a.Description)
}

// bubble returns the bubble of an answer.
func (a Answer) bubble() bubble {
	b := bubble{About: a.Message}
	a.kind().show(a, &b)
	return b
}

// fileName returns the name of a document, which is the last part of its URL, or "" for other answers.
func (a Answer) fileName() string {
	address, err := url.Parse(a.URL)
	if err != nil || a.Kind != AnswerDocument {
		return ""
	}
	return strings.Trim(path.Base(address.Path), "./")
}
