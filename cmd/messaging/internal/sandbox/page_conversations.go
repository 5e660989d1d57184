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
	conversationLinks
	listView
	openView // zero if no conversation is open

	Start *startView // if nothing was ever sent
	Lone  bool       // the only conversation is open by default
	Gone  bool       // the requested message does not exist
	Now   time.Time
}

// conversationLinks has what all links of the page keep: the search, the filter and the open conversation.
type conversationLinks struct {
	Query, Channel string

	page string        // the URL of the page
	open *conversation // nil for none
}

// A listView is the list of conversations.
type listView struct {
	Conversations []*conversationView
	Range         string // such as 1–100 of 250
	Older         string // the URL of the next page
	IsEmpty       bool   // nothing was ever sent
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
	st := s.lock()
	v := st.newConversationsView(s.root, r.URL.Query())
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
	s.render(w, status, "conversations", title, v)
}

// newConversationsView returns the page with this URL and these parameters.
func (st *sandboxState) newConversationsView(page string, q url.Values) *conversationsView {
	links := conversationLinks{
		Query:   clip(q.Get("q"), maxQuery),
		Channel: q.Get("only"),
		page:    page,
		open:    st.requestedConversation(q),
	}
	message := q.Get("message")
	v := &conversationsView{
		Gone: message != "" && st.book.byID[message] == nil,
		Now:  st.now(),
	}
	if len(q) == 0 && len(st.book.recent) == 1 {
		v.Lone = true
		links.open = st.book.recent[0]
	}
	number, _ := strconv.Atoi(q.Get("page"))
	v.conversationLinks = links
	v.listView = st.newListView(links, max(1, number))
	if links.open != nil {
		v.openView = st.newOpenView(links.open, links, q)
	}
	return v
}

// requestedConversation returns the conversation that the parameters name, by its recipient or by one of its messages, or nil.
func (st *sandboxState) requestedConversation(q url.Values) *conversation {
	named := st.book.conversation(q.Get("channel"), clip(q.Get("to"), maxURL), clip(q.Get("from"), maxURL))
	e := st.book.byID[q.Get("message")]
	if named != nil || e == nil {
		return named
	}
	return st.book.conversations[e.key()]
}

// url returns the URL of the page with a conversation and these parameters, in pairs. The search and the filter stay.
func (l conversationLinks) url(open *conversation, values ...string) string {
	all := []string{"q", l.Query, "only", l.Channel}
	if open != nil {
		all = append(all, "channel", open.Channel, "to", open.Recipient, "from", open.Sender)
	}
	return pageURL(l.page, append(all, values...)...)
}

// Filter returns the URL of the page for one channel, or for all if it is empty.
func (l conversationLinks) Filter(channel string) string { return l.url(l.open, "only", channel) }

// newListView returns a page of the list.
func (st *sandboxState) newListView(links conversationLinks, page int) listView {
	v := listView{IsEmpty: len(st.book.entries) == 0}
	words := searchWords(links.Query)
	skip := (page - 1) * shownConversations
	found := 0
	for _, c := range slices.Backward(st.book.recent) {
		e := c.find(words)
		if e == nil || links.Channel != "" && c.Channel != links.Channel {
			continue
		}
		found++
		if found > skip && len(v.Conversations) < shownConversations {
			v.Conversations = append(v.Conversations, links.line(c, e, len(words) > 0))
		}
	}
	if found > shownConversations {
		v.Range = fmt.Sprintf("%d–%d of %d", min(skip+1, found), min(skip+shownConversations, found), found)
	}
	if found > skip+shownConversations {
		v.Older = links.url(links.open, "page", itoa(page+1))
	}
	return v
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
func (l conversationLinks) line(c *conversation, e *entry, isFound bool) *conversationView {
	message := ""
	if isFound {
		message = e.ID
	}
	return &conversationView{conversation: *c, Shown: *e, URL: l.url(c, "message", message), Current: c == l.open}
}

// An openView is the open conversation, and the settings for its recipient.
type openView struct {
	windowView
	partLinks

	Open     *conversationView
	Entries  []*entryView
	At       string     // the ID of the entry to scroll to
	Selected *entryView // the last one by default
	Picked   bool       // Selected was requested
	Outcome  string     // of messages to come
	Sender   string
	Webhook  bool // answers are sent to one
}

// newOpenView returns the open conversation.
func (st *sandboxState) newOpenView(c *conversation, links conversationLinks, q url.Values) openView {
	picked := q.Get("message")
	if c.indexOf(picked) < 0 {
		picked = ""
	}
	part := c.part(picked, q.Get("before"), q.Get("after"))
	entries := st.entryViews(c.Entries[part.begin:part.end], links.url(c), picked)
	return openView{
		windowView: st.windowOf(c),
		partLinks:  links.toParts(c, part),
		Open:       links.line(c, c.last(), false),
		Entries:    entries,
		At:         part.scrollTo,
		Selected:   selectedEntry(entries),
		Picked:     picked != "",
		Outcome:    st.deliveryTo(c.Channel, c.Recipient).Outcome,
		Sender:     cmp.Or(c.Sender, st.senderTo(c.Channel, c.Recipient), "Your program"),
		Webhook:    st.settings.Webhooks[c.Channel] != "",
	}
}

// A windowView is the 24-hour window of chat app 2.
type windowView struct {
	Window   string // when it ends; "" on other channels
	IsClosed bool
}

// windowOf returns the 24-hour window of a conversation.
func (st *sandboxState) windowOf(c *conversation) windowView {
	if c.Channel != channelChatApp2 {
		return windowView{}
	}
	end := c.wrote.Add(chatWindow)
	return windowView{Window: end.Format("Monday, 15:04"), IsClosed: !st.now().Before(end)}
}

// entryViews returns entries for the page of a conversation. The first entry of a day has the day, and the picked entry is the current one.
func (st *sandboxState) entryViews(entries []*entry, page, picked string) []*entryView {
	var views []*entryView
	lastDay := ""
	for _, e := range entries {
		view := st.entryView(e, page)
		view.Current = e.ID == picked
		if day := e.At.Format("Monday, 2 January"); day != lastDay {
			view.Day = day
			lastDay = day
		}
		views = append(views, view)
	}
	return views
}

// selectedEntry returns the current entry, or else the last one.
func selectedEntry(views []*entryView) *entryView {
	for _, view := range views {
		if view.Current {
			return view
		}
	}
	return views[len(views)-1]
}
