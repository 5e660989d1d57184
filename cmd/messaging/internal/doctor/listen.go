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
	proven, several := map[string]proof{}, map[string]bool{}
	all, _ := columns(docs, "")
	for _, c := range unclaimed(all, params) {
		concept := known[folded(c.path)]
		if path, _ := find(docs, params[concept]); concept == "" || concept == "reference" || path != "" || len(c.values) == 0 {
			continue
		}
		if kind := readVocabulary().concepts[concept].kind; kind == "" || fits(kind, c.values) {
			_, several[concept] = proven[concept]
			proven[concept] = proof{c.path, "a name of the default contract"}
		}
	}
	maps.DeleteFunc(proven, func(concept string, _ proof) bool { return several[concept] })
	return proven
}

// proveCallback returns where concepts surely stand in a callback, by its names, its values, and the callbacks of the kind so far.
func (d *doctor) proveCallback(name string, params map[string][]string, docs []document.Node) map[string]proof {
	proven := d.knownNames(name, params, docs)
	all, _ := columns(docs, "")
	if path := repeatedIn(all, d.references()); path != "" {
		proven["reference"] = proof{path, "it was listed, or sent"}
	}
	isStatus := func(c column) bool {
		isForeign := func(v document.Node) bool { return isDigits.MatchString(v.Text()) || d.statusOf(v.Text()) == "" }
		return len(c.values) > 0 && !slices.ContainsFunc(c.values, isForeign)
	}
	if found := filter(all, isStatus); name == reports && len(found) == 1 {
		proven["status"] = proof{found[0].path, "its word is that of a delivery status"}
	}
	d.proveNumbers(name, params, all, docs, proven)
	return proven
}

// references returns the reference IDs that were listed, and the one that was sent.
func (d *doctor) references() []string {
	all := []string{d.sent.reference}
	_, values := find(d.rows, d.table.SMSList.Record["reference"])
	for _, v := range values {
		all = append(all, v.Text())
	}
	return all
}

// repeatedIn returns the path of the only column of which each value is one of some that are known, or "".
func repeatedIn(all []column, known []string) string {
	found := filter(all, func(c column) bool {
		isOther := func(v document.Node) bool { return !slices.Contains(known, v.Text()) }
		return len(c.values) > 0 && !slices.ContainsFunc(c.values, isOther)
	})
	if len(found) != 1 {
		return ""
	}
	return found[0].path
}

// sidesOf returns the columns whose names say that they are of a sender or a recipient.
func sidesOf(name string, params map[string][]string, all []column) []column {
	known, vocabulary := defaultConcepts(name), readVocabulary().concepts
	g := newGuesser(params, "", all)
	return filter(all, func(c column) bool {
		above, own := g.words(c.path)
		concept := known[folded(c.path)]
		isNamed := concept == "from" || concept == "to" || concept == "" &&
			(g.score(vocabulary["from"], above, own) > 0 || g.score(vocabulary["to"], above, own) > 0)
		return isNamed && len(c.values) > 0 && fits("sender", c.values) && !saysTime(c.path)
	})
}

// proveNumbers separates the number of a user from ours. It is the only whole number whose name says that it is one of them. Of several it
// is the one that differs from callback to callback, while the others stay.
func (d *doctor) proveNumbers(name string, params map[string][]string, all []column, docs []document.Node, proven map[string]proof) {
	user, ours := "from", "to"
	if name == reports {
		user, ours = ours, user
	}
	known := defaultConcepts(name)
	sides := sidesOf(name, params, all)
	numbers := filter(sides, func(c column) bool { return fits("phone", c.values) })
	if len(sides) < 2 {
		return // a name decides
	}
	current, _ := find(docs, params[user])
	took := proven[user].path
	if len(numbers) == 1 && (current == numbers[0].path || current == "" && took == "" && known[folded(numbers[0].path)] == user) {
		proven[user] = proof{numbers[0].path, "the only whole number"}
	}
	isNumber := slices.ContainsFunc(numbers, func(c column) bool { return c.path == took })
	if took != "" && (!isNumber || len(numbers) > 1) {
		delete(proven, user) // another could be it
	}
	var differ, stay []string
	for _, c := range sides {
		_, values := find(d.callbacks[name], []string{c.path})
		switch n := distinct(values); {
		case len(values) < len(d.callbacks[name]) || len(values) < 2:
		case n == 1:
			stay = append(stay, c.path)
		case fits("phone", values):
			differ = append(differ, c.path)
		}
	}
	if len(differ) != 1 || len(differ)+len(stay) != len(sides) {
		return
	}
	proven[user] = proof{differ[0], "differs from callback to callback, and no other number does"}
	if path, _ := find(docs, params[ours]); len(stay) == 1 && (path == "" || path == differ[0] || path == stay[0]) {
		proven[ours] = proof{stay[0], "the same in all callbacks: it is ours"}
	}
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
	if d.callbacks == nil {
		d.callbacks = map[string][]document.Node{}
	}
	d.callbacks[cmp.Or(name, "sms")] = append(d.callbacks[cmp.Or(name, "sms")], docs...)
	byProof := []string{"reference"}
	if all, _ := columns(docs, ""); len(sidesOf(cmp.Or(name, "sms"), w.Params, all)) > 1 {
		byProof = append(byProof, "from", "to")
	}
	d.examine(examination{
		docs: docs, section: w.Params, place: []string{section, "params"}, elsewhere: platform, essential: []string{essential}, isCallback: true,
		proven: d.proveCallback(cmp.Or(name, "sms"), w.Params, docs), byProof: byProof,
		rejects: func(concept, path string, values []document.Node) string {
			isKnown := slices.Contains(w.Params[concept], path)
			if concept == "status" && name == reports && !isKnown && !d.saysStatus(path, values) {
				return "has no word that the contract knows as a status"
			}
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
