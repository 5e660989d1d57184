package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// How much a page shows.
const (
	shownConversations = 100
	shownEntries       = 100
)

// readerHeader has the ID of the first line that a page shows of a conversation, while somebody reads in it: the window stays there.
const readerHeader = "X-Sandbox-Reader"

type conversationsView struct {
	Query, Channel, Is string
	Conversations      []*conversationView
	Range              string // which of how many
	Older              string // the URL of the next
	IsEmpty            bool   // nothing was ever sent
	Lone               bool   // the only conversation is open, although nobody asked for it
	Gone               bool   // the message that was asked for is not here
	Start              *startView

	Open           *conversationView
	Entries        []*entryView
	Earlier, Later string
	Newest         string     // the URL of the end, if it is not here
	Window         string     // until when anything but a template can be sent, by chat app 2
	IsClosed       bool       // it is over
	At             string     // the ID of the entry to show
	Selected       *entryView // by default the last
	Picked         bool       // by the user
	Outcome        string
	Sender         string
	Webhook        bool
	Now            time.Time

	search search
	open   *conversation
	page   string // of the sandbox
	reader string // the ID of the first line of a window that somebody reads, or ""
}

// A conversationView is how the list shows a conversation: with the message that was found, or else the last.
type conversationView struct {
	conversation

	Shown   entry
	Preview []piece
	URL     string
	Current bool
}

// ElementID returns what the page calls it.
func (c *conversationView) ElementID() string {
	return "t-" + key(c.Channel, c.key.peer, c.Sender)
}

func (s *Sandbox) pageConversations(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := conversationsView{
		Query: clip(q.Get("q"), 200), Channel: q.Get("only"), Is: q.Get("is"), page: s.root,
		reader: r.Header.Get(readerHeader),
	}
	v.search = newSearch(v.Query, v.Is)
	s.mu.Lock()
	v.Now = s.now()
	v.open = s.book.conversation(q.Get("channel"), clip(q.Get("to"), maxURL), clip(q.Get("from"), maxURL))
	if e := s.book.byID[q.Get("message")]; v.open == nil && e != nil { // a link to a message is enough
		v.open = s.book.conversations[e.key()]
	}
	v.Gone = q.Get("message") != "" && s.book.byID[q.Get("message")] == nil
	if v.Lone = len(q) == 0 && len(s.book.conversations) == 1; v.Lone {
		v.open = s.book.recent[0]
	}
	page, _ := strconv.Atoi(q.Get("page"))
	s.listConversations(&v, max(1, page))
	if v.open != nil {
		s.openConversation(&v, v.open, q)
	}
	v.IsEmpty = len(s.book.entries) == 0
	s.mu.Unlock()
	if v.IsEmpty {
		v.Start = s.start(r)
	}
	title := "Conversations"
	if v.Open != nil {
		title = v.Open.Peer
	}
	s.render(w, r, map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[v.Gone], "conversations", title, &v)
}

// url returns the URL of the list with what is open and what is looked for, and these parameters.
func (v *conversationsView) url(open *conversation, values ...string) string {
	all := []string{"q", v.Query, "only", v.Channel, "is", v.Is}
	if open != nil {
		all = append(all, "channel", open.Channel, "to", open.Peer, "from", open.Sender)
	}
	return pageURL(v.page, append(all, values...)...)
}

// Filter returns the URL of the list with another filter.
func (v *conversationsView) Filter(name, value string) string {
	return v.url(v.open, name, value)
}

// listConversations fills in the list. The caller holds mu.
func (s *Sandbox) listConversations(v *conversationsView, page int) {
	skip, found := (page-1)*shownConversations, 0
	for _, c := range slices.Backward(s.book.recent) {
		hit, isFound := v.search.in(c)
		if !isFound || v.Channel != "" && c.Channel != v.Channel {
			continue
		}
		if found++; found > skip && len(v.Conversations) < shownConversations {
			v.Conversations = append(v.Conversations, c.view(v, hit))
		}
	}
	if found > shownConversations {
		v.Range = fmt.Sprintf("%d–%d of %d", min(skip+1, found), min(skip+shownConversations, found), found)
	}
	if found > skip+shownConversations {
		v.Older = v.url(v.open, "page", itoa(page+1))
	}
}

func (c *conversation) view(v *conversationsView, hit *entry) *conversationView {
	message := cmp.Or(hit, &entry{}).ID
	shown := cmp.Or(hit, c.last())
	return &conversationView{*c, *shown, v.search.preview(shown.preview), v.url(c, "message", message), c == v.open}
}

// openConversation fills in a conversation. The caller holds mu.
func (s *Sandbox) openConversation(v *conversationsView, c *conversation, q url.Values) {
	v.Open = c.view(v, nil)
	v.Outcome = s.outcomeFor(c.Channel, c.Peer).Outcome
	v.Sender = cmp.Or(c.Sender, s.senderTo(c.Channel, c.Peer), "Your program")
	v.Webhook = s.set.Webhooks[c.Channel] != ""
	picked := s.book.byID[q.Get("message")]
	if picked != nil && s.book.conversations[picked.key()] != c {
		picked = nil
	}
	v.Picked = picked != nil
	if c.Channel == channelChatApp2 {
		end := c.wrote.Add(chatWindow)
		v.IsClosed, v.Window = !s.now().Before(end), end.Format("Monday, 15:04")
	}
	entries := s.shownPart(v, c, picked, q)
	day := ""
	for _, e := range entries {
		ev := s.entryView(e, v.url(c))
		ev.Current = e == picked
		if d := e.At.Format("Monday, 2 January"); d != day {
			day, ev.Day = d, d
		}
		if ev.Current {
			v.Selected = ev
		}
		v.Entries = append(v.Entries, ev)
	}
	if v.Selected == nil {
		v.Selected = v.Entries[len(v.Entries)-1]
	}
}

// shownPart returns the part of a conversation to show: from the line on that the reader has at the top, around a message, before
// or after one, or the end.
func (s *Sandbox) shownPart(v *conversationsView, c *conversation, picked *entry, q url.Values) []*entry {
	all := c.Entries
	place := func(id string) int { return slices.IndexFunc(all, func(e *entry) bool { return e.ID == id }) }
	begin := max(0, len(all)-shownEntries)
	if picked != nil {
		if at := place(picked.ID); at < begin {
			begin = max(0, at-shownEntries/2)
		}
		v.At = picked.ID
	}
	if at := place(q.Get("before")); at >= 0 {
		begin = max(0, at-shownEntries+1)
		v.At = all[at].ID
	} else if at := place(q.Get("after")); at >= 0 {
		begin = min(at, begin)
		v.At = all[at].ID
	}
	if at := place(v.reader); at >= 0 {
		begin = at
	}
	end := min(len(all), begin+shownEntries)
	if begin > 0 {
		v.Earlier = v.url(c, "before", all[begin].ID)
	}
	if end < len(all) {
		v.Later, v.Newest = v.url(c, "after", all[end-1].ID), v.url(c, "message", "")
	}
	return all[begin:end]
}
