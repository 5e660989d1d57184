package sandbox

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

//go:embed web
var web embed.FS

// parsePages returns the templates of all pages, with the paths of this sandbox.
func (s *Sandbox) parsePages() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"root": func() string { return s.root },
		"api": func(operation string) string {
			method, path, _ := strings.Cut(operation, " ")
			return method + " " + s.root + path
		},
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"pieces":     pieces,
		"chatPieces": chatPieces,
		"clock":      func(t time.Time) string { return t.Format("15:04") },
		"second":     func(t time.Time) string { return t.Format("15:04:05.000") },
		"precise":    func(t time.Time) string { return t.Format("2006-01-02 15:04:05.000") },
		"rfc":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"host":       hostOf,
		"initial":    initial,
		"hue":        hue,
		"inner":      func(b bubble, e *entryView) bubbleView { return bubbleView{b, e} },
		"reply":      func(c *conversationView, kind AnswerKind) Answer { return c.reply(kind) },
		"tap":        tap,
		"title":      title,
		"deliveryTo": func(c *conversationView, outcome string) map[string]string {
			return map[string]string{"channel": c.Channel, "to": c.Peer, "outcome": outcome}
		},
		"object":     func(pairs ...string) map[string]string { return pairMap(pairs) },
		"forms":      func() []string { return []string{formQuery, formForm, formJSON} },
		"duplicates": func(refuse bool) map[string]bool { return map[string]bool{"refuseDuplicates": refuse} },
		"operations": operationNames,
		"channels":   table.Channels,
		"key":        key,
	}).ParseFS(web, "web/*.html"))
}

// key returns a short text that differs where a text does, for the ID of an element.
func key(parts ...string) string {
	hash := fnv.New64a()
	for _, part := range parts {
		_, _ = hash.Write([]byte(part + "\n")) // never fails
	}
	return strconv.FormatUint(hash.Sum64(), 36)
}

func pairMap(pairs []string) map[string]string {
	m := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = pair[1]
	}
	return m
}

// static serves the script, the stylesheet and the icon.
func static(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{
		"script.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	}
	name := r.PathValue("name")
	text, err := web.ReadFile("web/" + name)
	if types[name] == "" || err != nil {
		fail(w, http.StatusNotFound, fmt.Errorf("there is no file %q", clip(name, 40)))
		return
	}
	w.Header().Set("Content-Type", types[name])
	_, _ = w.Write(text)
}

// A frame is what every page has.
type frame struct {
	Title, Active string
	Token         string // of the page
	Root, Space   string
	Version       string // what the page has: see fragments
	Fragments     *fragments
	Unread        int
	Faults        int
	Advanced      string
	Balance       string
	Dropped       int
	Bound         int
	Bytes         int
	Keep          bool
	KeepFailed    bool
	Content       any
}

// render writes a page. The caller does not hold mu.
func (s *Sandbox) render(w http.ResponseWriter, r *http.Request, name, title string, content any) {
	s.mu.Lock()
	f := frame{
		Title: title, Active: name, Token: s.page, Root: s.root, Space: s.space, Balance: s.service.Balance(), Dropped: s.book.dropped,
		Bound: s.bounds.messages, Bytes: s.bounds.bytes >> 20, Keep: s.keep != nil, KeepFailed: s.keep != nil && s.keep.err != nil, Content: content,
	}
	for _, c := range s.book.conversations {
		f.Unread += c.Unread
	}
	s.faults.expire(time.Now())
	f.Faults = len(s.faults.rules)
	if s.advanced > 0 {
		f.Advanced = short(s.advanced)
	}
	s.mu.Unlock()
	f.Version, f.Fragments = s.seen.begin(r.Header.Get(versionHeader), s.pages())
	var page bytes.Buffer
	if err := s.pages().ExecuteTemplate(&page, name, f); err != nil {
		fail(w, http.StatusInternalServerError, fmt.Errorf("the page cannot be shown: %w", err))
		return
	}
	s.seen.end(f.Version, f.Fragments)
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

// pageURL returns the URL of a page with these parameters, in pairs; empty ones are left out.
func pageURL(page string, values ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(values, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	if len(q) == 0 {
		return page
	}
	return page + "?" + q.Encode()
}

type linkView struct{ Label, URL string }

type filterView struct {
	Name, URL string
	Current   bool
}

// tap completes the answer of a button: it comes from the recipient of the message that has the button.
func tap(a *Answer, e *entryView) Answer {
	full := *a
	full.Channel, full.From = e.ReplyTo, e.To
	return full
}

func (c *conversationView) reply(kind AnswerKind) Answer {
	return Answer{Channel: messagingtest.Channel(c.Channel), From: c.Peer, To: c.Sender, Kind: kind}
}
