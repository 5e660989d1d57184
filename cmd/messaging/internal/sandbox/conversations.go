package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	shownConversations = 100 // on a page
	shownEntries       = 100 // on a page
	maxQuery           = 200 // bytes of a search
)

// searchWords returns the words of a search, in lower case.
func searchWords(query string) []string {
	const maxWords = 10
	words := strings.Fields(strings.ToLower(query))
	return words[:min(len(words), maxWords)]
}

// A conversationsView is the page of conversations: the list, and the open conversation.
type conversationsView struct {
	listView
	openView

	Start *startView // if nothing was ever sent
	Now   time.Time

	page string // the URL of the page
}

// A listView is the list of conversations.
type listView struct {
	Query, Channel string
	Conversations  []*conversationView
	Range          string // such as 1–100 of 250
	Older          string // the URL of the next page
	IsEmpty        bool   // nothing was ever sent
	Lone           bool   // the only conversation is open by default
	Gone           bool   // the requested message does not exist
}

// An openView is the open conversation, and the settings for its recipient.
type openView struct {
	Open           *conversationView
	Entries        []*entryView
	Earlier, Later string     // URLs of other parts of the conversation
	Newest         string     // the URL of its end, if that is not shown
	Window         string     // the end of the 24-hour window of chat app 2
	IsClosed       bool       // the window is over
	At             string     // the ID of the entry to scroll to
	Selected       *entryView // the last one by default
	Picked         bool       // Selected was requested
	Outcome        string
	Sender         string
	Webhook        bool

	open *conversation
}

// A conversationView is a line in the list: a conversation, and the message that was found or the last one.
type conversationView struct {
	conversation

	Shown   entry
	URL     string
	Current bool
}

// ElementID returns the ID of the element on the page.
func (c *conversationView) ElementID() string {
	return "t-" + key(c.Channel, c.key.recipient, c.Sender)
}

// Preview returns the text of the line.
func (c *conversationView) Preview() []piece { return plainPieces(clip(c.Shown.preview, previewText)) }

func (s *Sandbox) pageConversations(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := conversationsView{page: s.root}
	v.Query = clip(q.Get("q"), maxQuery)
	v.Channel = q.Get("only")
	st := s.lock()
	v.Now = st.now()
	v.IsEmpty = len(st.book.entries) == 0
	st.chooseConversation(&v, q)
	page, _ := strconv.Atoi(q.Get("page"))
	st.listConversations(&v, max(1, page))
	if v.open != nil {
		st.openConversation(&v, q)
	}
	st.unlock()
	if v.IsEmpty {
		v.Start = s.start(r)
	}
	title := "Conversations"
	if v.Open != nil {
		title = v.Open.Recipient
	}
	status := http.StatusOK
	if v.Gone {
		status = http.StatusNotFound
	}
	s.render(w, status, "conversations", title, &v)
}

// chooseConversation finds the conversation to open: by its recipient, by one of its messages, or the only one.
func (st *sandboxState) chooseConversation(v *conversationsView, q url.Values) {
	v.open = st.book.conversation(q.Get("channel"), clip(q.Get("to"), maxURL), clip(q.Get("from"), maxURL))
	if id := q.Get("message"); id != "" {
		e := st.book.byID[id]
		v.Gone = e == nil
		if v.open == nil && e != nil {
			v.open = st.book.conversations[e.key()]
		}
	}
	v.Lone = len(q) == 0 && len(st.book.recent) == 1
	if v.Lone {
		v.open = st.book.recent[0]
	}
}

// url returns the URL of the page with a conversation and these parameters, in pairs. The search and the filter stay.
func (v *conversationsView) url(open *conversation, values ...string) string {
	all := []string{"q", v.Query, "only", v.Channel}
	if open != nil {
		all = append(all, "channel", open.Channel, "to", open.Recipient, "from", open.Sender)
	}
	return pageURL(v.page, append(all, values...)...)
}

// Filter returns the URL of the page for one channel, or for all if it is empty.
func (v *conversationsView) Filter(channel string) string { return v.url(v.open, "only", channel) }

// listConversations fills in the list.
func (st *sandboxState) listConversations(v *conversationsView, page int) {
	words := searchWords(v.Query)
	skip := (page - 1) * shownConversations
	found := 0
	for _, c := range slices.Backward(st.book.recent) {
		e := c.find(words)
		if e == nil || v.Channel != "" && c.Channel != v.Channel {
			continue
		}
		found++
		if found > skip && len(v.Conversations) < shownConversations {
			v.Conversations = append(v.Conversations, v.line(c, e, len(words) > 0))
		}
	}
	if found > shownConversations {
		v.Range = fmt.Sprintf("%d–%d of %d", min(skip+1, found), min(skip+shownConversations, found), found)
	}
	if found > skip+shownConversations {
		v.Older = v.url(v.open, "page", itoa(page+1))
	}
}

// find returns the newest entry that has all words, or nil.
func (c *conversation) find(words []string) *entry {
	for _, e := range slices.Backward(c.Entries) {
		if e.matches(words) {
			return e
		}
	}
	return nil
}

// line returns the line of a conversation. It links to the entry if that was searched for.
func (v *conversationsView) line(c *conversation, e *entry, isFound bool) *conversationView {
	message := ""
	if isFound {
		message = e.ID
	}
	return &conversationView{conversation: *c, Shown: *e, URL: v.url(c, "message", message), Current: c == v.open}
}

// openConversation fills in the open conversation.
func (st *sandboxState) openConversation(v *conversationsView, q url.Values) {
	c := v.open
	v.Open = v.line(c, c.last(), false)
	v.Outcome = st.deliveryTo(c.Channel, c.Recipient).Outcome
	v.Sender = cmp.Or(c.Sender, st.senderTo(c.Channel, c.Recipient), "Your program")
	v.Webhook = st.settings.Webhooks[c.Channel] != ""
	if c.Channel == channelChatApp2 {
		end := c.wrote.Add(chatWindow)
		v.IsClosed = !st.now().Before(end)
		v.Window = end.Format("Monday, 15:04")
	}
	picked := st.book.byID[q.Get("message")]
	if picked != nil && picked.key() != c.key {
		picked = nil
	}
	v.Picked = picked != nil
	part := c.part(picked, q.Get("before"), q.Get("after"))
	v.linkParts(c, part)
	v.Entries = st.entryViews(c.Entries[part.begin:part.end], v.url(c))
	v.Selected = v.Entries[len(v.Entries)-1]
	for _, view := range v.Entries {
		view.Current = picked != nil && view.ID == picked.ID
		if view.Current {
			v.Selected = view
		}
	}
}

// entryViews returns entries for the page of a conversation. The first entry of a day has the day.
func (st *sandboxState) entryViews(entries []*entry, page string) []*entryView {
	var views []*entryView
	lastDay := ""
	for _, e := range entries {
		view := st.entryView(e, page)
		if day := e.At.Format("Monday, 2 January"); day != lastDay {
			view.Day = day
			lastDay = day
		}
		views = append(views, view)
	}
	return views
}

// A conversationPart is the part of a conversation that the page shows: the entries from begin up to end.
type conversationPart struct {
	begin, end int
	scrollTo   string // the ID of an entry, or ""
}

// part returns the part before or after an entry with an ID, or around the picked one, or the end of the conversation.
func (c *conversation) part(picked *entry, beforeID, afterID string) conversationPart {
	indexOf := func(id string) int { return slices.IndexFunc(c.Entries, func(e *entry) bool { return e.ID == id }) }
	begin := max(0, len(c.Entries)-shownEntries)
	before := indexOf(beforeID)
	after := indexOf(afterID)
	scrollTo := ""
	switch {
	case before >= 0:
		begin = max(0, before-shownEntries+1)
		scrollTo = beforeID
	case after >= 0:
		begin = min(after, begin)
		scrollTo = afterID
	case picked != nil:
		if at := indexOf(picked.ID); at < begin {
			begin = max(0, at-shownEntries/2)
		}
		scrollTo = picked.ID
	}
	end := min(len(c.Entries), begin+shownEntries)
	return conversationPart{begin: begin, end: end, scrollTo: scrollTo}
}

// linkParts sets the links from a part of a conversation to its other parts.
func (v *conversationsView) linkParts(c *conversation, part conversationPart) {
	v.At = part.scrollTo
	if part.begin > 0 {
		v.Earlier = v.url(c, "before", c.Entries[part.begin].ID)
	}
	if part.end < len(c.Entries) {
		v.Later = v.url(c, "after", c.Entries[part.end-1].ID)
		v.Newest = v.url(c, "message", "")
	}
}
