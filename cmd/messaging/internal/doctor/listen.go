package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The bounds of what is received.
const (
	maxCallbacks    = 100
	maxCallbackBody = 1 << 20
)

// reports is the section of the contract about callbacks that are not about messages, without "webhook.".
const reports = "delivery"

// callback is one call of the service.
type callback struct {
	path   string
	params map[string]any
	body   document.Node
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
	defer d.missing()
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
	c := callback{path: r.URL.Path, params: map[string]any{}}
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

// addParams adds parameters. Dots in their names are taken for levels, and JSON in a value for what it holds, so that they can be looked at
// like JSON. A message in the shape of the platform stays a text.
func (c *callback) addParams(values url.Values) {
	shaped := contract.Default().Table().WebhookChatApp2.Params["json"]
	for name := range values {
		var value any = values.Get(name)
		if n := document.Parse([]byte(values.Get(name))); !slices.Contains(shaped, name) && (n.IsList() || n.Object() != nil) {
			value = n.Value
		}
		put(c.params, strings.Split(name, "."), value)
	}
}

// root returns the body of a callback, or without one its parameters.
func (c *callback) root() document.Node {
	if c.body.Exists() {
		return c.body
	}
	return document.Node{Value: c.params}
}

// events returns what a callback holds: the events at the first of some paths that is there, or all of it.
func (c *callback) events(paths ...string) []document.Node {
	for _, path := range append(paths, "") {
		switch n := c.root().At(path); {
		case strings.Contains("."+path, ".*."):
			if events := inElements(c.root(), "", path, nil); len(events) > 0 {
				return events
			}
		case n.IsList():
			return n.List()
		case n.Object() != nil:
			return []document.Node{n}
		}
	}
	return nil
}

// around is a member of an element that an event stands in, and its path as in a contract.
type around struct {
	path  []string
	value any
}

// inElements returns the events at a path in which a * stands for each element of a list. Each also has what stands around it, at its path.
func inElements(n document.Node, to, path string, outer []around) (events []document.Node) {
	head, rest, isNested := strings.Cut("."+path, ".*.")
	to, rest = strings.Trim(to+head, "."), strings.Trim(rest, ".")
	at := n.At(strings.Trim(head, "."))
	elements := at.List()
	if at.Object() != nil {
		elements = []document.Node{at}
	}
	for _, element := range elements {
		if !isNested {
			event := map[string]any{}
			maps.Copy(event, element.Object())
			for _, a := range outer {
				put(event, a.path, a.value)
			}
			events = append(events, document.Node{Value: event})
			continue
		}
		all := slices.Clip(outer)
		list, _, _ := strings.Cut(rest, ".")
		for _, name := range sortedKeys(element.Object()) {
			if name != list {
				all = append(all, around{append(strings.Split(join(to, "*"), "."), name), element.Object()[name]})
			}
		}
		events = append(events, inElements(element, join(to, "*")+".", rest, all)...)
	}
	return events
}

// inLists returns the path of events that stand in lists within elements of a list, if what is essential for one is found in each of
// several, and what it is about around them.
func (c *callback) inLists(params map[string][]string, essential string) (path string, ok bool) {
	for _, list := range lists(c.root(), "") {
		names := strings.Split(list, ".")
		for i, name := range names {
			if table.IsPosition(name) {
				names[i] = "*"
			}
		}
		isNested := slices.Contains(names, "*")
		if path = strings.Join(names, "."); !isNested {
			path = join("*", path)
		}
		docs := inElements(c.root(), "", path, nil)
		found := concepts(docs, params, "")
		isAround := func(concept string) bool { return strings.Contains(found[concept], "*") }
		if len(docs) > 1 && found[essential] != "" && !isAround(essential) && (isNested || isAround("id") || isAround("reference")) {
			return path, true
		}
	}
	return "", false
}

// webhook returns what the contract says about callbacks of a section, and the parameters that may hold a message in the shape of the
// platform.
func (d *doctor) webhook(section string) (w table.Webhook, platform map[string][]string) {
	w = d.table.Webhooks()[section]
	w.Params = maps.Clone(w.Params)
	platform = map[string][]string{"json": w.Params["json"]}
	delete(w.Params, "json")
	return w, platform
}

// callbackNames returns the names of the callbacks, SMS and delivery reports first.
func callbackNames() []string {
	var names []string
	callbacks := new(table.Table).Webhooks()
	for _, c := range table.Channels() {
		if _, receives := callbacks[c.Name]; receives {
			names = append(names, c.Name)
		}
	}
	return slices.Insert(names, 1, reports)
}

// sectionOf returns the section of the contract, such as "sms", that a callback belongs to: the one that its path names, or the one
// that knows most of what it holds; "" if that is not sure.
func (d *doctor) sectionOf(path string, docs []document.Node) (best string) {
	most := 0
	for _, name := range callbackNames() {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), "/"+name) {
			return name
		}
		w, _ := d.webhook(name)
		found := concepts(docs, w.Params, "")
		known := len(found)
		isStatus := found["status"] != "" && (found["id"] != "" || found["reference"] != "") && found["text"] == ""
		switch {
		case name == reports && isStatus:
			known++ // a report has little else
		case name == reports || found["from"] == "":
			continue
		}
		if known > most {
			best, most = name, known
		}
	}
	return best
}

// folded returns the last name of a path without case and separators.
func folded(path string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(path[strings.LastIndexByte(path, '.')+1:]))
}

// defaultConcepts returns what the default contract takes names for, in callbacks of a kind, or else in those of other kinds.
func defaultConcepts(name string) map[string]string {
	concepts := map[string]string{}
	webhooks := contract.Default().Table().Webhooks()
	for _, section := range append([]string{name}, callbackNames()...) {
		for _, concept := range sortedKeys(webhooks[section].Params) {
			_, isHere := webhooks[name].Params[concept]
			for _, path := range webhooks[section].Params[concept] {
				if isHere && concept != "json" && concepts[folded(path)] == "" {
					concepts[folded(path)] = concept
				}
			}
		}
	}
	return concepts
}

// knownNames returns where concepts stand that the contract does not find, by names that the default contract knows for them in another
// spelling, or in another kind of callback.
func (d *doctor) knownNames(name string, params map[string][]string, docs []document.Node) map[string]proof {
	known := defaultConcepts(name)
	proven := map[string]proof{}
	all, _ := columns(docs, "")
	for _, c := range unclaimed(all, params) {
		concept := known[folded(c.path)]
		if path, _ := find(docs, params[concept]); concept == "" || path != "" || len(c.values) == 0 {
			continue
		}
		if kind := readVocabulary().concepts[concept].kind; kind == "" || fits(kind, c.values) {
			proven[concept] = proof{c.path, "a name of the default contract"}
		}
	}
	return proven
}

// missing adds a line for each concept that no callback had.
func (d *doctor) missing() {
	for _, name := range callbackNames() {
		section := "webhook." + name
		if !d.heard[name] {
			continue
		}
		var absent []string
		w, _ := d.webhook(name)
		for _, concept := range sortedKeys(w.Params) {
			if !d.heard[section+" "+concept] {
				absent = append(absent, concept)
			}
		}
		d.section = "all callbacks: " + section
		for _, concept := range absent {
			d.add(concept, Note, "in no callback, at "+strings.Join(w.Params[concept], ", "))
		}
	}
}

// examineCallback looks at one callback.
func (d *doctor) examineCallback(n int, c callback) {
	docs := c.events()
	name := d.sectionOf(c.path, docs)
	if name == "" && len(docs) > 0 {
		// A list of events may be deeper in the body.
		if path, found := rowsIn(docs[0], d.table.WebhookSMS.Params, ""); found {
			name = d.sectionOf(c.path, docs[0].At(path).List())
		}
	}
	d.section = fmt.Sprintf("callback %d", n)
	if name == "" && c.wrong == nil {
		d.say("callback %d received", n)
		d.add("kind", Unknown, "no sender, and no status with an ID: end the path with one of /"+strings.Join(callbackNames(), ", /")+" to say what it is")
		return
	}
	section := "webhook." + cmp.Or(name, "sms")
	d.section += ": " + section
	if d.heard == nil {
		d.heard = map[string]bool{}
	}
	d.heard[cmp.Or(name, "sms")] = true
	d.say("callback %d received, taken for one of %s", n, section)
	if c.wrong != nil {
		d.add("body", Differs, c.wrong.Error())
		return
	}
	w, platform := d.webhook(name)
	docs = c.events(w.Events...)
	_, known := find(docs, slices.Concat(slices.Collect(maps.Values(w.Params))...))
	essential := "from"
	if name == reports {
		essential = "status"
	}
	if len(known) == 0 && len(docs) == 1 && reflect.DeepEqual(docs[0], c.root()) {
		if path, ok := c.inLists(w.Params, essential); ok {
			d.propose("events", "lists in the elements of a list, at "+place(path), []any{path}, section, "events")
			docs = c.events(path)
		} else if path, ok := rowsIn(c.root(), w.Params, ""); ok {
			d.propose("events", "a list at "+place(path), []any{path}, section, "events")
			docs = c.events(path)
		}
	}
	if len(docs) == 0 {
		d.add("events", Note, "none in the body")
		return
	}
	d.examine(examination{
		docs: docs, section: w.Params, place: []string{section, "params"}, elsewhere: platform, essential: []string{essential}, isCallback: true,
		proven: d.knownNames(cmp.Or(name, "sms"), w.Params, docs),
		rejects: func(concept, path string, _ []document.Node) string {
			if known := defaultConcepts(cmp.Or(name, "sms"))[folded(path)]; known != "" && known != concept {
				return "the default contract knows this name for " + known
			}
			return ""
		},
	})
	for concept, paths := range d.table.Webhooks()[cmp.Or(name, "sms")].Params {
		if path, _ := find(docs, paths); path != "" {
			d.heard[section+" "+concept] = true
		}
	}
	_, words := find(docs, d.table.WebhookDelivery.Params["status"])
	isUnknown := func(word document.Node) bool {
		status, _ := table.Meaning(d.table.WebhookDelivery.Statuses, word.Text(), true)
		return status == ""
	}
	if i := slices.IndexFunc(words, isUnknown); name == reports && i >= 0 {
		d.add("status word", Differs, shape(words[i], false)+" that no list of webhook.delivery.statuses has: add it where it belongs")
	}
}
