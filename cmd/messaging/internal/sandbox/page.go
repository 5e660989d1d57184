package sandbox

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

//go:embed web
var web embed.FS

// parsePages returns the templates of all pages.
func parsePages() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"pieces":  pieces,
		"clock":   func(t time.Time) string { return t.Format("15:04") },
		"precise": func(t time.Time) string { return t.Format("2006-01-02 15:04:05.000") },
		"host":    hostOf,
		"initial": initial,
		"hue":     hue,
		"inner":   func(b bubble, e *entryView) bubbleView { return bubbleView{b, e} },
		"reply": func(c *conversationView, kind AnswerKind) Answer {
			return Answer{Channel: messagingtest.Channel(c.Channel), From: c.Peer, Kind: kind}
		},
		"tap": tap,
		"deliveryTo": func(c *conversationView, outcome string) map[string]string {
			return map[string]string{"channel": c.Channel, "to": c.Peer, "outcome": outcome}
		},
		"deliveryOf": func(id, outcome string) map[string]string {
			return map[string]string{"message": id, "outcome": outcome}
		},
		"title":      title,
		"channels":   table.Channels,
		"untilEnd":   func(id string) map[string]string { return map[string]string{"message": id} },
		"faultNamed": func(name string) map[string]string { return map[string]string{"fault": name} },
		"forms":      func() []string { return []string{formQuery, formForm, formJSON} },
		"form":       func(name string) map[string]string { return map[string]string{"webhookForm": name} },
		"duplicates": func(refuse bool) map[string]bool { return map[string]bool{"refuseDuplicates": refuse} },
	}).ParseFS(web, "web/*.html"))
}

// title returns a text that begins with a capital.
func title(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// tap completes the answer of a button: it comes from the recipient of the message that has the button.
func tap(a *Answer, e *entryView) Answer {
	full := *a
	full.Channel, full.From = e.ReplyTo, e.To
	return full
}

// static serves the script, the stylesheet and the icon.
func static(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{
		"script.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	}
	name := r.PathValue("name")
	if types[name] == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[name])
	http.ServeFileFS(w, r, web, "web/"+name) //nolint:gosec // one of the three above
}

// A frame is what every page has.
type frame struct {
	Title, Active string
	Token         string // of the page
	Unread        int
	Faults        int
	Advanced      string
	Balance       string
	Dropped       int
	Bound         int
	KeepFailed    bool
	Content       any
}

// render writes a page. The caller does not hold mu.
func (s *Sandbox) render(w http.ResponseWriter, name, title string, content any) {
	s.mu.Lock()
	f := frame{
		Title: title, Active: name, Token: s.token, Balance: s.service.Balance(), Dropped: s.book.dropped, Bound: MaxMessages,
		KeepFailed: s.keep != nil && s.keep.err != nil, Content: content,
	}
	for _, c := range s.book.conversations {
		f.Unread += c.Unread
	}
	for _, waiting := range s.faults.Waiting {
		f.Faults += waiting.Left
	}
	if s.faults.Share > 0 {
		f.Faults++
	}
	if s.advanced > 0 {
		f.Advanced = short(s.advanced)
	}
	s.mu.Unlock()
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name, f); err != nil {
		http.Error(w, "the page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w)
}

// short writes a duration without its zero parts.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// How much a page shows.
const (
	shownConversations = 100
	shownEntries       = 100
	shownText          = 4000 // bytes of a text
	previewText        = 90
)

type conversationsView struct {
	Query, Channel string
	Channels       []channelView
	Conversations  []conversationView
	More           string // the URL that shows more
	Open           *conversationView
	Entries        []*entryView
	Earlier        string
	Selected       *entryView // by default the last
	Picked         bool       // by the user
	Outcome        string
	Outcomes       []string
	Sender         string
	Webhook        bool
	Now            time.Time
}

type channelView struct {
	Name, URL string
	Current   bool
}

type conversationView struct {
	Channel, ChannelName, Peer string
	URL                        string
	Last                       string
	FromPeer                   bool
	At                         time.Time
	State                      string
	Unread                     int
	Current                    bool
}

type entryView struct {
	Message
	Out       bool
	Bubble    bubble
	URL       string
	Current   bool
	Day       string // set where a day begins
	Encoding  string
	Left      string // of the lifetime
	Calls     []*Call
	CanRepeat bool
	Callback  string
	Fallback  *linkView // the SMS that replaced the message
	Replaces  *linkView // the message that the SMS replaced
	Quote     string    // the text of the message that this one is about
	Raw       string
	Reactions []string
	Outcomes  []string
	// Conversation is the URL without the details.
	Conversation string
	ReplyTo      messagingtest.Channel
}

// LastCall returns the latest call of the webhook, or nil.
func (e *entryView) LastCall() *Call {
	if len(e.Calls) == 0 {
		return nil
	}
	return e.Calls[len(e.Calls)-1]
}

// RepeatURL returns where the API repeats the call.
func (e *entryView) RepeatURL() string { return Root + "messages/" + url.PathEscape(e.ID) + "/repeat" }

type linkView struct{ Label, URL string }

// bubbleView is a bubble within the entry that it belongs to.
type bubbleView struct {
	bubble
	Entry *entryView
}

// pageURL returns the URL of a conversation.
func pageURL(values ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(values, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	if len(q) == 0 {
		return Root
	}
	return Root + "?" + q.Encode()
}

func (s *Sandbox) pageConversations(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := conversationsView{Query: clip(q.Get("q"), 200), Channel: q.Get("only"), Outcomes: []string{
		outcomeDelivered, outcomeRead, outcomeFailed, outcomeUnreachable, outcomeLate,
	}}
	open := keyOf(messagingtest.Channel(q.Get("channel")), q.Get("to"))
	s.mu.Lock()
	v.Now = time.Now().Add(s.advanced)
	s.listConversations(&v, q.Get("all") != "", open)
	if c := s.book.conversations[open]; c != nil {
		s.openConversation(&v, c, q)
	}
	s.mu.Unlock()
	title := "Conversations"
	if v.Open != nil {
		title = v.Open.Peer
	}
	s.render(w, "conversations", title, v)
}

// listConversations fills in the list. The caller holds mu.
func (s *Sandbox) listConversations(v *conversationsView, all bool, open conversationKey) {
	for _, c := range append([]table.Channel{{Title: "All"}}, table.Channels()...) {
		v.Channels = append(v.Channels, channelView{
			c.Title, pageURL("q", v.Query, "only", c.Name, "channel", string(open.channel), "to", open.peer), v.Channel == c.Name,
		})
	}
	wanted := strings.ToLower(strings.TrimSpace(v.Query))
	for at := s.book.recent.Front(); at != nil; at = at.Next() {
		c, _ := at.Value.(*conversation)
		if v.Channel != "" && string(c.Channel) != v.Channel || wanted != "" && !c.contains(wanted) {
			continue
		}
		if len(v.Conversations) >= shownConversations && !all || len(v.Conversations) >= MaxMessages {
			v.More = pageURL("q", v.Query, "only", v.Channel, "channel", string(open.channel), "to", open.peer, "all", "1")
			break
		}
		v.Conversations = append(v.Conversations, c.view(v, keyOf(c.Channel, c.Peer) == open))
	}
}

// contains reports whether a conversation is with this number, or has this text.
func (c *conversation) contains(wanted string) bool {
	if strings.Contains(strings.ToLower(c.Peer), wanted) {
		return true
	}
	return slices.ContainsFunc(c.Entries, func(e *entry) bool {
		return strings.Contains(strings.ToLower(e.text()), wanted) ||
			e.Sent != nil && (strings.Contains(strings.ToLower(e.Sent.ReferenceID), wanted) || strings.ToLower(e.Sent.From) == wanted)
	})
}

func (c *conversation) view(v *conversationsView, current bool) conversationView {
	last := c.last()
	view := conversationView{
		Channel: string(c.Channel), ChannelName: channelName(c.Channel), Peer: clip(c.Peer, 80), Last: clip(last.text(), previewText),
		FromPeer: last.Answer != nil, At: last.At, Unread: c.Unread, Current: current,
		URL: pageURL("channel", string(c.Channel), "to", c.Peer, "q", v.Query, "only", v.Channel),
	}
	if last.Sent != nil {
		view.State = string(last.Sent.State)
	}
	return view
}

// openConversation fills in a conversation. The caller holds mu.
func (s *Sandbox) openConversation(v *conversationsView, c *conversation, q url.Values) {
	view := c.view(v, true)
	v.Open, v.Picked = &view, q.Get("message") != ""
	v.Outcome = s.outcomeFor(c.Channel, c.Peer).Name
	v.Sender = cmp.Or(s.senderTo(c.Channel, c.Peer), "Your program")
	v.Webhook = s.webhooks[c.Channel] != ""
	entries := c.Entries
	if len(entries) > shownEntries && q.Get("earlier") == "" {
		entries = entries[len(entries)-shownEntries:]
		v.Earlier = view.URL + "&earlier=1"
	} else if len(entries) > 10*shownEntries {
		entries = entries[len(entries)-10*shownEntries:]
	}
	reactions := map[string][]string{}
	day := ""
	for _, e := range entries {
		ev := s.entryView(e, view.URL)
		ev.Current, ev.Outcomes, ev.Conversation = e.ID == q.Get("message"), v.Outcomes, view.URL
		if d := e.At.Format("Monday, 2 January"); d != day {
			day, ev.Day = d, d
		}
		if ev.Current {
			v.Selected = ev
		}
		if ev.Bubble.Reaction != "" {
			reactions[ev.Bubble.About] = append(reactions[ev.Bubble.About], ev.Bubble.Reaction)
		}
		v.Entries = append(v.Entries, ev)
	}
	if v.Selected == nil {
		v.Selected, v.Picked = v.Entries[len(v.Entries)-1], false
	}
	for _, e := range v.Entries {
		e.Reactions = reactions[e.ID]
	}
}

// entryView returns how an entry looks. The caller holds mu.
func (s *Sandbox) entryView(e *entry, conversation string) *entryView {
	v := &entryView{
		Message: s.message(e), Out: e.Sent != nil, URL: conversation + "&message=" + url.QueryEscape(e.ID) + "#details",
		Calls: slices.Clone(e.Calls), ReplyTo: e.Channel,
	}
	if a := e.Answer; a != nil {
		v.Bubble = a.bubble()
		v.CanRepeat = s.webhooks[e.Channel] != ""
		v.Raw = document.Parse(must(json.Marshal(a))).Indented()
	} else {
		v.Bubble = bubbleOf(*e.Sent, s.table)
		s.sentView(v, e)
	}
	if about := s.book.byID[v.Bubble.About]; about != nil {
		v.Quote = clip(about.text(), previewText)
	}
	return v
}

// sentView fills in what messages of a program have. The caller holds mu.
func (s *Sandbox) sentView(v *entryView, e *entry) {
	if e.Channel == messagingtest.ChannelSMS {
		v.Encoding = sms.Count(clip(e.Sent.Text, shownText)).Encoding.String()
	} else if left := s.lifetimeLeft(e); left > 0 && e.Sent.State != messagingtest.StateDelivered && e.Sent.State != messagingtest.StateRead {
		v.Left = short(left)
	}
	v.Raw = clip(document.Parse(e.Sent.Body).Indented(), maxShown)
	if callback := e.Sent.CallbackURL; callback != "" {
		v.CanRepeat = e.Sent.State != ""
		v.Callback = s.mask.url(callback, secretsOf(callback, s.table.WebhookDelivery.Placeholders))
		v.Raw = replaceURL(v.Raw, callback, v.Callback)
	}
	if f := s.book.fallbackOf(e); f != nil {
		v.Fallback = &linkView{"Fallback SMS", pageURL("channel", string(f.Channel), "to", f.Peer, "message", f.ID)}
	}
	if o := s.book.byID[e.Sent.FallbackOf]; o != nil {
		v.Replaces = &linkView{"Replaces a message of " + channelName(o.Channel), pageURL("channel", string(o.Channel), "to", o.Peer, "message", o.ID)}
	}
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
		b.Label, b.Facts = "Location", facts("Name", a.Text, "Latitude", a.Latitude, "Longitude", a.Longitude)
	case AnswerImage:
		b.Media, b.Body = &media{Kind: "image", URL: a.URL}, a.Text
	case AnswerReaction:
		b.Label, b.Reaction = "Reaction", cmp.Or(a.Text, "removed")
	}
	return b
}

// must returns the JSON of plain values, which cannot fail.
func must(text []byte, _ error) []byte { return text }

type faultsView struct {
	Kinds    []faultKind
	Waiting  []waitingFault
	Share    int // of a hundred
	Random   string
	Settings Settings
	Recent   []Exchange
	Messages int
}

func (s *Sandbox) pageFaults(w http.ResponseWriter, _ *http.Request) {
	v := faultsView{Kinds: faultKinds()}
	s.mu.Lock()
	v.Waiting = slices.Clone(s.faults.Waiting)
	v.Share, v.Random = int(s.faults.Share*100), strings.Join(s.faults.Random, ", ")
	v.Settings = s.settings()
	for _, x := range slices.Backward(s.traffic) {
		if x.Fault != "" && len(v.Recent) < 20 {
			v.Recent = append(v.Recent, s.shown(x))
		}
	}
	v.Messages = len(s.book.byID)
	s.mu.Unlock()
	s.render(w, "faults", "Faults", v)
}

type trafficView struct {
	Only      string
	Filters   []channelView
	Exchanges []Exchange
	Selected  *Exchange
	Curl      string
}

func (s *Sandbox) pageTraffic(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := trafficView{Only: q.Get("only")}
	page := Root + "page/traffic"
	for _, only := range []string{"", "request", "callback", "failed"} {
		name := map[string]string{"": "All", "request": "Requests", "callback": "Callbacks", "failed": "Failed"}[only]
		v.Filters = append(v.Filters, channelView{name, page + "?only=" + only, v.Only == only})
	}
	s.mu.Lock()
	for _, x := range slices.Backward(s.traffic) {
		if itoa(x.ID) == q.Get("exchange") {
			shown := s.shown(x)
			v.Selected = &shown
		}
		isWanted := v.Only == "" || x.Direction == v.Only || v.Only == "failed" && x.isFailure()
		if isWanted && len(v.Exchanges) < shownEntries {
			v.Exchanges = append(v.Exchanges, s.shown(x))
		}
	}
	s.mu.Unlock()
	if v.Selected != nil {
		v.Curl = v.Selected.curl("http://" + r.Host)
	}
	s.render(w, "traffic", "Traffic", v)
}

type connectView struct {
	Base, Token string
	Settings    Settings
	Channels    []channelView
	Contract    string
	Go, Curl    string
}

func (s *Sandbox) pageConnect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	v := connectView{Base: "http://" + r.Host, Token: s.service.Token, Settings: s.settings()}
	s.mu.Unlock()
	v.Contract = document.Parse(must(s.config.Contract.MarshalJSON())).Indented()
	s.render(w, "connect", "Connect", v)
}

// A piece of a text: plain, a link, or a control character under its name, which could otherwise change how the text reads.
type piece struct{ Text, Link, Control string }

// pieces divides a text for showing, and cuts a long one off.
func pieces(text string) []piece {
	cut := len(text) > shownText
	var all []piece
	for _, part := range splitLinks(clip(text, shownText)) {
		if webURL(part) != "" {
			all = append(all, piece{Text: part, Link: part})
			continue
		}
		begin := 0
		for i, r := range part {
			if !isHidden(r) {
				continue
			}
			all = append(all, piece{Text: part[begin:i]}, piece{Control: fmt.Sprintf("U+%04X", r)})
			begin = i + utf8.RuneLen(r)
		}
		if begin < len(part) {
			all = append(all, piece{Text: part[begin:]})
		}
	}
	if cut {
		all = append(all, piece{Control: fmt.Sprintf("… %d bytes in all", len(text))})
	}
	return all
}

// splitLinks divides a text at its http and https URLs.
func splitLinks(text string) []string {
	var parts []string
	begin := 0
	for _, at := range regexp.MustCompile(`https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+[\w/~=&#-]`).FindAllStringIndex(text, -1) {
		parts = append(parts, text[begin:at[0]], text[at[0]:at[1]])
		begin = at[1]
	}
	return append(parts, text[begin:])
}

// isHidden reports whether a character controls how others are shown.
func isHidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029' || r == '\uFEFF' || r == '\u200B'
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return clip(raw, 60)
	}
	return clip(u.Host, 60)
}

func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return strings.ToUpper(string(r))
		}
	}
	return "#"
}

// hue returns one of six colors for a name.
func hue(name string) string {
	sum := 0
	for _, r := range name {
		sum += int(r)
	}
	return "hue-" + itoa(sum%6)
}
