package sandbox

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// An entryView is how the page shows a message or an answer, and its details.
type entryView struct {
	Message
	Out       bool // of the program: it comes in at the phone
	Bubble    bubble
	URL       string
	Current   bool
	Day       string // set where a day begins
	Encoding  string
	Left      string // of the lifetime
	CanRepeat bool
	Callback  string
	Replaces  string // the channel of the message that this SMS replaced
	Quote     string // the text of the message that this one is about
	Raw       string
	Reactions []string
	Outcomes  []string
	Timeline  []moment
	// Conversation is the URL without the details.
	Conversation string
	ReplyTo      messagingtest.Channel

	root string
}

// A moment is a step of a message: a state that it reached, or a call of the webhook.
type moment struct {
	At    time.Time
	What  string
	After string // the moment before
	Call  *Call
}

// bubbleView is a bubble within the entry that it belongs to.
type bubbleView struct {
	bubble
	Entry *entryView
}

// LastCall returns the latest call of the webhook, or nil.
func (e *entryView) LastCall() *Call {
	if len(e.Calls) == 0 {
		return nil
	}
	return e.Calls[len(e.Calls)-1]
}

// RepeatAPI returns the operation of the API that repeats the call.
func (e *entryView) RepeatAPI() string {
	return "POST " + e.root + "messages/" + url.PathEscape(e.ID) + "/repeat"
}

// DeleteAPI returns the operation of the API that deletes the message.
func (e *entryView) DeleteAPI() string {
	return "DELETE " + e.root + "messages/" + url.PathEscape(e.ID)
}

// IsChatApp2 reports whether texts have marks that format them.
func (e *entryView) IsChatApp2() bool { return e.ReplyTo == messagingtest.ChannelChatApp2 }

// entryView returns how an entry looks. The caller holds mu.
func (s *Sandbox) entryView(e *entry, conversation string) *entryView {
	message := conversation + "&message=" + url.QueryEscape(e.ID)
	v := &entryView{Message: s.message(e), Out: e.Sent != nil, URL: message + "#details", ReplyTo: e.Channel, root: s.root}
	if a := e.Answer; a != nil {
		v.Bubble = a.bubble()
		v.CanRepeat = s.webhooks[e.Channel] != ""
		text, _ := json.Marshal(a) // plain values
		v.Raw = document.Parse(text).Indented()
	} else {
		v.Bubble = bubbleOf(*e.Sent, s.table)
		s.sentView(v, e)
	}
	if e.isBlank {
		v.Bubble.Body, v.Bubble.IsBlank = "", true
	}
	if about := s.book.byID[v.Bubble.About]; about != nil {
		v.Quote = clip(about.preview, previewText)
	}
	v.Timeline = timelineOf(e)
	return v
}

// sentView fills in what messages of a program have. The caller holds mu.
func (s *Sandbox) sentView(v *entryView, e *entry) {
	if e.Channel == messagingtest.ChannelSMS {
		v.Encoding = sms.Count(clip(e.Sent.Text, shownText)).Encoding.String()
	} else if left := s.lifetimeLeft(e); left > 0 && !e.restored && e.Sent.State != messagingtest.StateDelivered && e.Sent.State != messagingtest.StateRead {
		v.Left = short(left)
	}
	v.Raw = clip(document.Parse(e.Sent.Body).Indented(), maxShown)
	if v.Callback = e.callback; v.Callback != "" {
		v.CanRepeat = e.Sent.State != ""
	}
	if o := s.book.byID[e.Sent.FallbackOf]; o != nil {
		v.Replaces = channelName(o.Channel)
	}
}

// timelineOf returns what happened to a message or an answer, in order.
func timelineOf(e *entry) []moment {
	first := "accepted"
	if e.Answer != nil {
		first = "answered"
	}
	all := []moment{{At: e.At, What: first}}
	for _, r := range e.States {
		all = append(all, moment{At: r.At, What: string(r.State)})
	}
	for _, c := range e.Calls {
		all = append(all, moment{At: c.At, What: "webhook called: " + c.About, Call: c})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.At.Compare(b.At) })
	for i := range all[1:] {
		if d := all[i+1].At.Sub(all[i].At); d >= time.Second {
			all[i+1].After = "+" + short(d)
		}
	}
	return all
}

// bubble returns how an answer looks.
func (a *Answer) bubble() bubble {
	b := bubble{About: a.Message}
	switch a.Kind {
	case AnswerText:
		b.Body = a.Text
	case AnswerButton, AnswerListRow, AnswerQuickReply:
		b.Body, b.Footer = cmp.Or(a.Text, a.Payload), a.Description
		b.Label = "Tapped"
	case AnswerForm:
		b.Label, b.Body = "Form", "Sent"
	case AnswerLocation:
		b.Place = &place{a.Text, "", a.Latitude, a.Longitude}
	case AnswerImage:
		b.Media, b.Body = &media{Kind: "image", URL: a.URL}, a.Text
	case AnswerReaction:
		b.Label, b.Reaction = "Reaction", cmp.Or(a.Text, "removed")
	}
	return b
}
