package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The bounds of what is received.
const (
	maxCallbacks    = 100
	maxCallbackBody = 1 << 20
	maxParams       = 200
)

// callback is one call of the service.
type callback struct {
	path   string
	params *node
	body   *node
	wrong  error // why the body could not be read
}

// listen receives callbacks until the context ends, or for a time if that is not 0, and looks at each.
func (d *doctor) listen(ctx context.Context, listener net.Listener, within time.Duration) {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	received := make(chan callback)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet || r.Method == http.MethodPost {
				select {
				case received <- readCallback(w, r):
				case <-ctx.Done():
				}
			}
		}),
		ReadTimeout: d.timeout, WriteTimeout: 2 * d.timeout, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	d.say("listening on http://%s; interrupt to end", listener.Addr())
	for n := 1; n <= maxCallbacks; n++ {
		select {
		case <-ctx.Done():
			if n == 1 {
				d.section = "callbacks"
				d.add("received", Unknown, "none")
			}
			return
		case c := <-received:
			d.examineCallback(n, c)
		}
	}
}

// readCallback reads the parameters and the body of a callback.
func readCallback(w http.ResponseWriter, r *http.Request) callback {
	c := callback{path: r.URL.Path, params: &node{kind: object}}
	query, _ := url.ParseQuery(r.URL.RawQuery)
	c.addParams(query)
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallbackBody))
	switch {
	case err != nil:
		c.wrong = errors.New("the body is too long, or ended early")
	case len(bytes.TrimSpace(raw)) == 0:
	case raw[0] == '{' || raw[0] == '[' || strings.Contains(r.Header.Get("Content-Type"), "json"):
		c.body, c.wrong = parse(raw)
	default:
		form, err := url.ParseQuery(string(raw))
		if c.addParams(form); err != nil {
			c.wrong = errors.New("the body is neither JSON nor a form")
		}
	}
	return c
}

// addParams adds parameters. Dots in their names are taken for levels, so that they can be looked at like JSON.
func (c *callback) addParams(values url.Values) {
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names[:min(len(names), maxParams)] {
		at := c.params
		parts := strings.Split(name, ".")
		for _, part := range parts[:min(len(parts), maxDepth)-1] {
			next := at.child(part)
			if next == nil || next.kind != object {
				next = &node{kind: object}
				at.members = append(at.members, member{part, next})
			}
			at = next
		}
		at.members = append(at.members, member{parts[len(parts)-1], &node{kind: text, text: values.Get(name)}})
	}
}

// webhookSection is a section of the contract that is about callbacks.
type webhookSection struct {
	name     string
	params   map[string][]string
	events   []string
	isReport bool
	json     map[string][]string // parameters that may hold a message in the platform's shape
}

func webhookSections(t *table.Table) []webhookSection {
	all := []webhookSection{
		{name: "webhook.sms", params: t.WebhookSMS.Params, events: t.WebhookSMS.Events},
		{name: "webhook.delivery", params: t.WebhookDelivery.Params, events: t.WebhookDelivery.Events, isReport: true},
		{name: "webhook.chatapp1", params: t.WebhookChatApp1.Params, events: t.WebhookChatApp1.Events},
		{name: "webhook.chatapp2", params: t.WebhookChatApp2.Params, events: t.WebhookChatApp2.Events},
	}
	for i := range all {
		all[i].params = maps.Clone(all[i].params)
		all[i].json = map[string][]string{"json": all[i].params["json"]}
		delete(all[i].params, "json")
	}
	return all
}

// sectionOf returns the section that a callback belongs to: the one that its path names, or the one that knows most of what it holds,
// and whether that is sure.
func (d *doctor) sectionOf(c callback, docs []*node) (best webhookSection, ok bool) {
	all := webhookSections(d.table)
	for _, s := range all {
		if strings.HasSuffix(strings.TrimSuffix(c.path, "/"), "/"+strings.TrimPrefix(s.name, "webhook.")) {
			return s, true
		}
	}
	best, most := all[0], 0
	for _, s := range all {
		found := concepts(docs, s.params, "")
		known := len(found)
		switch {
		case s.isReport && found["status"] && (found["id"] || found["reference"]) && !found["text"]:
			known++ // a report has little else
		case s.isReport || !found["from"]:
			continue
		}
		if known > most {
			best, most, ok = s, known, true
		}
	}
	return best, ok
}

func defaultParams(section string) map[string][]string {
	all := webhookSections(contract.Default().Table())
	return all[slices.IndexFunc(all, func(s webhookSection) bool { return s.name == section })].params
}

// examineCallback looks at one callback.
func (d *doctor) examineCallback(n int, c callback) {
	docs := []*node{c.params}
	if c.body != nil {
		docs = eventsIn(c.body, nil)
	}
	s, ok := d.sectionOf(c, docs)
	if !ok && c.wrong == nil && len(docs) > 0 {
		// A list of events may be deeper in the body.
		if path, found := rowsIn(docs[0], s.params, ""); found && c.body != nil {
			s, ok = d.sectionOf(c, docs[0].at(path).elements)
		}
	}
	d.section = fmt.Sprintf("callback %d", n)
	if !ok && c.wrong == nil {
		d.say("callback %d received", n)
		d.add("kind", Unknown, "no sender, and no status with an ID: end the path with /sms, /delivery, /chatapp1 or /chatapp2 to say what it is")
		return
	}
	d.section += ": " + s.name
	d.say("callback %d received, taken for one of %s", n, s.name)
	if c.wrong != nil {
		d.add("body", Differs, c.wrong.Error())
		return
	}
	if c.body != nil {
		docs = eventsIn(c.body, s.events)
		if path, ok := rowsIn(c.body, s.params, ""); ok && len(docs) == 1 && docs[0] == c.body && matchesNothing(docs, s.params) {
			d.add("events", Differs, "a list at "+place(path), line{s.name, []string{"events"}, []any{path}})
			docs = eventsIn(c.body, []string{path})
		}
	}
	if len(docs) == 0 {
		d.add("events", Note, "none in the body")
		return
	}
	essential := []string{"from"}
	if s.isReport {
		essential = []string{"status"}
	}
	d.examine(examination{
		docs: docs, section: s.params, where: []string{s.name, "params"}, claimed: []map[string][]string{s.json},
		times: []string{"time"}, essential: essential, isCallback: true, defaults: defaultParams(s.name),
	})
	if s.isReport {
		d.statusWords(docs)
	}
}

func matchesNothing(docs []*node, params map[string][]string) bool {
	return !slices.ContainsFunc(matches(docs, params), func(m match) bool { return m.path != "" })
}

// eventsIn returns the events in a body: those at the first path that is there, or the body itself.
func eventsIn(body *node, paths []string) []*node {
	for _, path := range append(slices.Clone(paths), "") {
		switch n := body.at(path); {
		case n == nil:
		case n.kind == list:
			return n.elements
		case n.kind == object:
			return []*node{n}
		}
	}
	return nil
}

// statusWords looks at whether the contract knows the words of reports.
func (d *doctor) statusWords(docs []*node) {
	w := d.table.WebhookDelivery
	for _, m := range matches(docs, map[string][]string{"status": w.Params["status"]}) {
		for _, v := range m.values {
			if status, _ := table.Meaning(w.Statuses, v.text, true); status == "" {
				d.add("status word", Differs, shape(v, false)+" that no list of webhook.delivery.statuses has: add it where it belongs")
				return
			}
		}
	}
}
