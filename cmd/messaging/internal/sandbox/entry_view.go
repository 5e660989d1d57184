package sandbox

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// entryView is how the page shows a message or an answer, and its details.
type entryView struct {
	Message
	Bubble       bubble
	Conversation string // the URL without the details
	Current      bool
	Day          string // set where a day begins
	Left         string // of the lifetime
	CanRepeat    bool
	Callback     string
	Quote        string // the text of the message that this one is about
	Raw          string
	Timeline     []moment
}

// URL returns the URL with the details.
func (e *entryView) URL() string {
	return e.Conversation + "&message=" + url.QueryEscape(e.ID) + "#details"
}

// A moment is a step of a message: a state that it reached, or a call of the webhook.
type moment struct {
	At   time.Time
	What string
	Call *Call
}

// entryView returns how an entry looks. The caller holds mu.
func (s *Sandbox) entryView(e *entry, conversation string) *entryView {
	v := &entryView{Message: s.message(e), Conversation: conversation, Callback: e.callback, Timeline: timelineOf(e)}
	if e.Answer != nil {
		v.Bubble, v.CanRepeat = e.Answer.bubble(), s.set.Webhooks[e.Channel] != ""
		text, _ := json.Marshal(e.Answer) // plain values
		v.Raw = document.Parse(text).Indented()
	} else {
		v.Bubble, v.CanRepeat = bubbleOf(*e.Sent, s.table), e.callback != "" && e.Sent.Status != ""
		v.Raw = clip(document.Parse(e.Sent.Body).Indented(), maxShown)
		isOver := e.Channel == channelSMS || e.Sent.Status == contract.StatusDelivered || e.Sent.Status == contract.StatusRead
		if left := s.lifetimeLeft(e); left > 0 && !e.restored && !isOver {
			v.Left = short((left + time.Second - 1).Truncate(time.Second))
		}
	}
	if about := s.book.byID[v.Bubble.About]; about != nil {
		v.Quote = clip(about.preview, previewText)
	}
	return v
}

// timelineOf returns what happened to a message or an answer, in order.
func timelineOf(e *entry) []moment {
	all := []moment{{At: e.At, What: map[bool]string{true: "accepted", false: "answered"}[e.Out()]}}
	for _, r := range e.States {
		all = append(all, moment{At: r.At, What: string(r.State)})
	}
	for _, c := range e.Calls {
		all = append(all, moment{At: c.At, What: "webhook called: " + c.About, Call: c})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.At.Compare(b.At) })
	return all
}

// bubble returns how an answer looks.
func (a *Answer) bubble() bubble {
	b := bubble{About: a.Message, IsMarked: a.Channel == channelChatApp2}
	switch a.Kind {
	case AnswerText:
		b.Body = said("text", a.Text)
	case AnswerButton, AnswerListRow, AnswerQuickReply:
		b.Body, b.Footer = cmp.Or(a.Text, a.Payload), a.Description
		b.Label = "Tapped"
	case AnswerForm:
		b.Label, b.Body = "Form", "Sent"
	case AnswerLocation:
		b.Place.Value = object("name", a.Text, "latitude", a.Latitude, "longitude", a.Longitude)
	case AnswerImage:
		b.Media, b.Body = media{Kind: "image", URL: a.URL}, a.Text
	case AnswerReaction:
		b.Label, b.Reaction = "Reaction", cmp.Or(a.Text, "removed")
	}
	return b
}
