package sandbox

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// entryView has a message or an answer for the page.
type entryView struct {
	Message
	Bubble       bubble
	Conversation string // the URL of the page without the details
	Current      bool
	Day          string // of the first entry of a day
	Left         string // the rest of the lifetime
	CanRepeat    bool
	Callback     string
	Unreported   bool   // the callback URL is not called
	Quote        string // the message that it answers
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

// entryView returns an entry for the page.
func (st *sandboxState) entryView(e *entry, conversation string) *entryView {
	v := &entryView{Message: st.message(e), Conversation: conversation, Callback: e.callback, Timeline: timelineOf(e)}
	if e.Answer != nil {
		v.Bubble = e.Answer.bubble()
		v.CanRepeat = st.settings.Webhooks[e.Channel] != ""
		text, _ := json.Marshal(e.Answer) // plain values
		v.Raw = document.Parse(text).Indented()
	} else {
		v.Bubble = bubbleOf(*e.Sent, st.table)
		v.Unreported = e.callback != "" && st.isUnreported(e.ID)
		v.CanRepeat = e.callback != "" && e.Sent.Status != "" && !v.Unreported
		v.Raw = clip(document.Parse(e.Sent.Body).Indented(), maxShown)
		v.Left = st.timeLeft(e)
	}
	if about := st.book.byID[v.Bubble.About]; about != nil {
		v.Quote = clip(about.preview, previewText)
	}
	return v
}

// timeLeft returns the rest of the lifetime of a message, or "" if it has none or was delivered.
func (st *sandboxState) timeLeft(e *entry) string {
	isDelivered := e.Sent.Status == contract.StatusDelivered || e.Sent.Status == contract.StatusRead
	left := st.lifetimeLeft(e)
	if e.Channel == channelSMS || isDelivered || left <= 0 {
		return ""
	}
	return short((left + time.Second - 1).Truncate(time.Second)) // rounded up
}

// timelineOf returns the history of a message or an answer.
func timelineOf(e *entry) []moment {
	first := moment{At: e.At, What: "answered"}
	if e.Out() {
		first.What = "accepted"
	}
	all := []moment{first}
	for _, r := range e.States {
		all = append(all, moment{At: r.At, What: string(r.State)})
	}
	for _, c := range e.Calls {
		all = append(all, moment{At: c.At, What: "webhook called: " + c.About, Call: c})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.At.Compare(b.At) })
	return all
}
