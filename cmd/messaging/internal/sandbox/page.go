package sandbox

import (
	"bytes"
	"embed"
	"hash/fnv"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

//go:embed web
var web embed.FS

// parsePages returns the templates of all pages, with the paths of this sandbox.
func (s *Sandbox) parsePages() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"root":       func() string { return s.root },
		"api":        func(operation string) string { return strings.Replace(operation, " ", " "+s.root, 1) },
		"json":       document.Encode,
		"pieces":     pieces,
		"host":       hostOf,
		"title":      title,
		"path":       url.PathEscape,
		"channel":    channelName,
		"encoding":   func(text string) string { return sms.Count(clip(text, shownText)).Encoding.String() },
		"outcomes":   outcomes,
		"object":     object,
		"forms":      func() []string { return []string{formContract, formForm, formJSON} },
		"operations": operationNames,
		"channels":   table.Channels,
		"key":        key,
	}).ParseFS(web, "web/*.html", "web/icons.svg"))
}

// key returns a short text that differs where a text does, for the ID of an element.
func key(parts ...string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(strings.Join(parts, "\n"))) // never fails
	return strconv.FormatUint(hash.Sum64(), 36)
}

// object returns the members of a JSON object, given as names and values; empty texts are left out.
func object(pairs ...any) map[string]any {
	m := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		if name, _ := pair[0].(string); pair[1] != "" {
			m[name] = pair[1]
		}
	}
	return m
}

// static serves the scripts, the stylesheet and the icon.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	kind := types[path.Ext(name)]
	if _, err := fs.Stat(web, "web/"+name); err != nil || kind == "" {
		writeError(w, &httpError{status: http.StatusNotFound, text: "there is no such file"})
		return
	}
	w.Header().Set("Content-Type", kind)
	http.ServeFileFS(w, r, web, "web/"+name) //nolint:gosec // an embedded file
}

// A frame is what every page has.
type frame struct {
	Title      string
	Active     string // the name of the page
	Token      string // of the page
	Space      string
	Faults     int
	Advanced   string // how far the clock is ahead
	Balance    string
	Dropped    int // entries
	MaxEntries int
	MaxMiB     int
	Content    any
}

// newFrame returns the frame of a page.
func (st *sandboxState) newFrame() frame {
	f := frame{
		Token:      st.pageToken,
		Space:      st.space,
		Faults:     len(st.faults.active(time.Now())),
		Balance:    st.service.Balance(),
		Dropped:    st.book.dropped,
		MaxEntries: st.bounds.messages,
		MaxMiB:     st.bounds.bytes >> 20,
	}
	if st.advanced > 0 {
		f.Advanced = short(st.advanced)
	}
	return f
}

// render writes a page. The caller does not hold the lock.
func (s *Sandbox) render(w http.ResponseWriter, status int, name, title string, content any) {
	st := s.lock()
	f := st.newFrame()
	st.unlock()
	f.Title = title
	f.Active = name
	f.Content = content
	var page bytes.Buffer
	if err := s.pages().ExecuteTemplate(&page, name, f); err != nil {
		writeError(w, &httpError{status: http.StatusInternalServerError, text: "the page cannot be shown: " + err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w)
}

// isByBrowser reports whether a browser requests a page.
func isByBrowser(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// pageMissing responds to an unknown path: with a page to a browser, and with JSON to a program.
func (s *Sandbox) pageMissing(w http.ResponseWriter, r *http.Request) {
	if !isByBrowser(r) {
		writeError(w, &httpError{status: http.StatusNotFound, text: "there is no such path: " + Root + "openapi.json lists them"})
		return
	}
	s.render(w, http.StatusNotFound, "missing", "Not found", clip(r.URL.Path, maxName))
}

// short writes a duration without its zero parts.
func short(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.Round(time.Second).String())
}

// pageURL returns the URL of a page with these parameters, in pairs. A later pair replaces an earlier one of its name, and an empty value
// removes the parameter.
func pageURL(page string, values ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(values, 2) {
		name, value := pair[0], pair[1]
		q.Del(name)
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return page
	}
	return page + "?" + q.Encode()
}
