// Package table defines a contract as data: every wire name of the service by its concept. It parses, merges and checks contracts.
// Package contract is its public face.
//
// Fields, parameters, paths, classes and statuses are maps by concept. The default table (internal/table/default.json) decides
// which concepts there are: an overlay can change their values and add none.
//
// # The tag
//
// The tag "concept" of a struct field names the concept that the field is written and read as. It is one word:
//
//	To string `concept:"to"`
//
// The fields of sms.Transaction have the concepts of sms.list.record, and the messages of package messagingtest those of the fields and
// params of their channel. Fields of a platform's own JSON, which no contract names, have the tag "at" of package shape.
package table

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Table is a whole contract. It is shared between clients and receivers and never changes once it was parsed: treat it as
// read-only. The tag channel makes a send a [Channel].
type Table struct {
	Auth            Auth     `json:"auth"`
	Headers         Headers  `json:"headers"` // of every operation
	Errors          Errors   `json:"errors"`
	SMSSend         Send     `json:"sms.send" channel:"SMS"`
	SMSList         List     `json:"sms.list"`
	ChatApp1Send    Send     `json:"chatapp1.send" channel:"chat app 1"`
	ChatApp2Send    Send     `json:"chatapp2.send" channel:"chat app 2"`
	WebhookSMS      Webhook  `json:"webhook.sms"`
	WebhookChatApp1 Webhook  `json:"webhook.chatapp1"`
	WebhookChatApp2 Webhook  `json:"webhook.chatapp2"`
	WebhookDelivery Delivery `json:"webhook.delivery"`
}

// Sections yields the sections by their names, in the order of the fields.
func (t *Table) Sections() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for field, section := range reflect.ValueOf(t).Elem().Fields() {
			if !yield(field.Tag.Get("json"), section.Interface()) {
				return
			}
		}
	}
}

// operations returns the operations by the names of their sections.
func (t *Table) operations() map[string]*Operation {
	all := map[string]*Operation{}
	for field, value := range reflect.ValueOf(t).Elem().Fields() {
		if value.Kind() == reflect.Struct {
			if op := value.FieldByName("Operation"); op.IsValid() {
				all[field.Tag.Get("json")] = op.Addr().Interface().(*Operation)
			}
		}
	}
	return all
}

// Webhooks returns the callbacks by their names, which are those of the sections without "webhook.".
func (t *Table) Webhooks() map[string]Webhook {
	webhooks := map[string]Webhook{}
	for name, section := range t.Sections() {
		name = strings.TrimPrefix(name, "webhook.")
		switch section := section.(type) {
		case Webhook:
			webhooks[name] = section
		case Delivery:
			webhooks[name] = section.Webhook
		}
	}
	return webhooks
}

// Auth says where a request has its credentials.
type Auth struct {
	Token   Token   `json:"token"`
	KeyPair KeyPair `json:"keyPair"`
}

// Token is the place of a token: Header: Scheme token. An empty Scheme leaves the token alone in the header.
type Token struct {
	Header string `json:"header" check:"header"`
	Scheme string `json:"scheme" check:"scheme"`
}

// KeyPair is the place of a key and its secret. In is "body", "query", "header" or "basic". An empty Secret means that the
// service has a key alone.
type KeyPair struct {
	In     string `json:"in" check:"basic body header query"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

func (a Auth) validate(found *Problems, _ string, _ *Table) {
	pair := a.KeyPair
	switch pair.In {
	case "header":
		found.add("auth.keyPair.key", headerFault(pair.Key))
		switch {
		case pair.Secret == "":
		case strings.EqualFold(pair.Key, pair.Secret):
			found.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
		default:
			found.add("auth.keyPair.secret", headerFault(pair.Secret))
		}
	case "body", "query":
		isNested := pair.In == "body"
		found.add("auth.keyPair.key", nameFault(pair.Key, isNested))
		switch {
		case pair.Secret == "":
		case pair.Key == pair.Secret:
			found.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
		default:
			found.add("auth.keyPair.secret", nameFault(pair.Secret, isNested))
		}
	}
}

// Errors says how a response reports a failure. Code, Message and Request are paths into the response, in order of
// preference.
type Errors struct {
	Code    []string `json:"code" check:"place"`
	Message []string `json:"message" check:"place"`
	Request []string `json:"request" check:"place"`
	// Success lists codes, in any case, that a response may have although the message was accepted. It may hold prefixes, like Classes.
	Success []string `json:"success" check:"word"`
	// Classes lists, by class, codes, or prefixes of codes that end in "*".
	Classes map[string][]string `json:"classes" check:"word"`
	// NotProcessed lists the statuses, 300 to 599, for which a response of the service, and not of a proxy, proves that the send was not
	// processed.
	NotProcessed []int `json:"notProcessed" check:"status"`
}

func (e Errors) validate(found *Problems, section string, _ *Table) {
	checkApart(found, places(section+".classes", e.Classes), false, oneMeaning)
	for class, codes := range sorted(e.Classes) {
		place := join(section+".classes", class)
		checkNotAll(found, place, codes, "write the codes of the class, or prefixes of them such as 40*")
		for i, code := range codes {
			isIt := func(success string) bool { return strings.EqualFold(success, code) }
			if j := slices.IndexFunc(e.Success, isIt); j >= 0 {
				found.clash(entry{place, i, code}, entry{section + ".success", j, e.Success[j]}, oneMeaning)
			}
		}
	}
	checkNotAll(found, section+".success", e.Success, "write the codes that a response may hold although the message was accepted")
}

// Operation is what every request has.
type Operation struct {
	Path     string  `json:"path" check:"path"`
	Headers  Headers `json:"headers"`
	Encoding string  `json:"encoding" check:"form json query"`
	// Constants go with every request.
	Constants map[string]any `json:"constants"`
	// Time is the form of times, and Zone is where a form without an offset is; "" is UTC.
	Time string `json:"time" check:"date datetime rfc1123 rfc2822 rfc3339 rfc3339ms unix unixms"`
	Zone string `json:"zone" check:"zone"`
	// Scale is the power of ten by which amounts of money are multiplied.
	Scale int `json:"scale" check:"scale"`

	claimed   []string          // the concepts whose names the overlay sets
	displaced map[string]string // see Displaced
}

// validate checks each header and each name by itself. Package codec finds the names that one request cannot hold together. Section is the
// section of the names by concept; an empty name is absent.
func (o *Operation) validate(found *Problems, operation, section string, byConcept map[string]string, t *Table) {
	o.Headers.validate(found, operation+".headers", t)
	for concept, name := range sorted(byConcept) {
		if name != "" {
			found.add(join(operation+"."+section, concept), o.nameFault(name))
		}
	}
	o.validateConstants(found, operation+".constants", o.Constants)
}

// validateConstants checks the constants of a request.
func (o *Operation) validateConstants(found *Problems, path string, constants map[string]any) {
	for name, value := range sorted(constants) {
		found.add(join(path, name), o.nameFault(name))
		switch value.(type) {
		case string, json.Number, bool:
		default:
			if o.Encoding != "json" {
				found.add(join(path, name), "is neither a string nor a number nor a boolean, and only a JSON body can hold it")
			}
		}
	}
}

// Send is an operation that sends a message: a POST.
type Send struct {
	Operation
	// Wrap is the name under which a message in a platform's shape goes; "" is the top level. It is nil for the other channels.
	Wrap *string `json:"wrap,omitempty"`
	// TTL is the unit of a lifetime, which is a whole number of it: "s", "ms" or "m". It is empty for a channel without one.
	TTL string `json:"ttl,omitempty"`
	// Fields holds the names of the request's fields by concept; "" means that the service has no such field.
	Fields map[string]string `json:"fields"`
	// FieldConstants holds, by concept, the constants of a request that has the field of that concept. For SMS it also holds, by GSM and
	// Unicode, the constants of a request whose text takes that encoding.
	FieldConstants map[string]map[string]any `json:"with"`
	// Response lists, by concept, the paths in a response, in order of preference. In the paths of the ID and the status, a * means every
	// element of a list.
	Response map[string][]string `json:"response" check:"answer"`
	// Accepted lists the words of the status of an accepted message, and Refused those of a refused message. Both may hold prefixes.
	Accepted []string `json:"accepted" check:"word"`
	Refused  []string `json:"refused" check:"word"`

	claimedConstants []string // the concepts of FieldConstants that the overlay sets
}

// The encodings of the text of an SMS, by which it may have constants in Send.FieldConstants.
const (
	GSM     = "gsm"
	Unicode = "unicode"
)

// UnitOf returns the unit of a duration, "ms", "s" or "m", and its name.
func UnitOf(word string) (unit time.Duration, name string) {
	switch word {
	case "ms":
		return time.Millisecond, "milliseconds"
	case "m":
		return time.Minute, "minutes"
	default:
		return time.Second, "seconds"
	}
}

// Paths returns Response with the first element of a list in place of each *.
func (s *Send) Paths() map[string][]string {
	paths := make(map[string][]string, len(s.Response))
	for concept, list := range s.Response {
		for _, path := range list {
			paths[concept] = append(paths[concept], WithoutEvery(path))
		}
	}
	return paths
}

func (s Send) validate(found *Problems, operation string, t *Table) {
	if _, ok := s.Fields["ttl"]; ok {
		found.add(operation+".ttl", fault("m ms s", s.TTL))
	}
	s.Operation.validate(found, operation, "fields", s.Fields, t)
	if s.Wrap != nil && *s.Wrap != "" {
		found.add(operation+".wrap", s.nameFault(*s.Wrap))
	}
	s.validateFieldConstants(found, operation)
	checkApart(found, map[string][]string{operation + ".accepted": s.Accepted, operation + ".refused": s.Refused}, true, oneMeaning)
	checkNotAll(found, operation+".accepted", s.Accepted,
		"write the words of acceptance: with any other the outcome is unknown, and not accepted")
	checkNotAll(found, operation+".refused", s.Refused,
		"write the words of refusal: with any other the outcome is unknown, and not refused")
	if len(s.Refused) > 0 && len(s.Response["status"]) == 0 {
		found.add(operation+".refused", "can never be met; write the paths of the status in "+operation+".response.status")
	}
	if len(s.Response["id"]) == 0 && (len(s.Response["status"]) == 0 || len(s.Accepted) == 0) {
		found.add(operation+".response.id", "names no path, so the status has to accept a message; write its paths in "+
			operation+".response.status, and its words in "+operation+".accepted")
	}
	for concept, paths := range sorted(s.Response) {
		isStarred := func(path string) bool { return WithoutEvery(path) != path }
		if i := slices.IndexFunc(paths, isStarred); i >= 0 && concept != "id" && concept != "status" {
			found.add(elementPath(join(operation+".response", concept), i), "holds a *; only id and status can: every element counts. "+
				"Write a position, such as messages.0.parts")
		}
	}
	checkIdentity(found, operation+".response", s.Paths(), s.Fields["reference"] != "")
}

func (s Send) validateFieldConstants(found *Problems, operation string) {
	known := maps.Clone(s.Fields)
	if operation == "sms.send" {
		known[GSM], known[Unicode] = "", ""
	}
	count := len(s.Constants)
	for concept, constants := range sorted(s.FieldConstants) {
		path := join(operation+".with", concept)
		if _, ok := known[concept]; !ok {
			found.add(path, unknownKey(known))
		}
		s.validateConstants(found, path, constants)
		count += len(constants)
	}
	if count > maxEntries {
		found.add(operation+".constants", "has, together with "+operation+".with, more than "+strconv.Itoa(maxEntries)+" entries")
	}
}

// Read is an operation that reads.
type Read struct {
	Method string `json:"method" check:"GET POST"`
	Operation
	Params map[string]string   `json:"params,omitempty"`     // by concept; "" means that the service has no such parameter
	Record map[string][]string `json:"record" check:"place"` // paths by concept, from a row on if it lists
}

func (r Read) validate(found *Problems, operation string, t *Table) {
	if r.Method == "GET" && r.Encoding != "query" { //nolint:usestdlibvars // a contract knows no net/http
		found.add(operation+".encoding", "needs a body, which a GET does not have; write query, or set "+operation+".method to POST")
	}
	r.Operation.validate(found, operation, "params", r.Params, t)
	if len(r.Constants) > maxEntries {
		found.add(operation+".constants", "has more than "+strconv.Itoa(maxEntries)+" entries")
	}
}

// List is an operation that lists transactions.
type List struct {
	Read
	Sorts  map[string]string `json:"sorts" check:"column"` // the columns that rows can be sorted by, by concept; "" if they cannot
	Orders map[string]string `json:"orders"`               // "ascending" and "descending"
	Paging Paging            `json:"paging"`
	// Items lists the paths of the rows; "" is the response itself.
	Items []string `json:"items" check:"place"`
	// Only lists, by paths from a row on, words or prefixes. A row with another word at the path is not of this listing.
	Only    map[string][]string `json:"only" check:"word"`
	Page    map[string][]string `json:"page"` // paths by concept; "next" may hold a path in the last row, behind LastRow
	Layouts []string            `json:"layouts" check:"layout"`
}

func (l List) validate(found *Problems, operation string, t *Table) {
	l.Read.validate(found, operation, t)
	if l.Params["order"] != "" && l.Orders["ascending"] == l.Orders["descending"] {
		found.add(operation+".orders.descending", "has the same value as "+operation+".orders.ascending")
	}
	if len(l.Items) == 0 {
		found.add(operation+".items", "names no path; the response itself is an empty path")
	}
	for path, words := range sorted(l.Only) {
		place := join(operation+".only", path)
		found.add(place, fault("member", path))
		if len(words) == 0 {
			found.add(place, "has no words, so no row could be of this listing")
		}
		checkNotAll(found, place, words, "write the words of the rows of this listing")
	}
	l.Paging.validate(found, operation+".paging")
	page, _ := l.CursorInLastRow()
	check(found, operation+".page", reflect.ValueOf(page), "place")
	l.validateCursor(found, operation)
	checkIdentity(found, operation+".record", l.Record, t.SMSSend.IDIsReference())
}

// LastRow is the beginning of a path that leads into the last row of a page.
const LastRow = "$last."

// CursorInLastRow returns the paths of a page that do not lead into its last row, and the paths from the last row on of those that do.
func (l *List) CursorInLastRow() (page map[string][]string, inRow []string) {
	page = maps.Clone(l.Page)
	page["next"] = nil
	for _, path := range l.Page["next"] {
		if rest, ok := strings.CutPrefix(path, LastRow); ok {
			inRow = append(inRow, rest)
		} else {
			page["next"] = append(page["next"], path)
		}
	}
	return page, inRow
}

func (l List) validateCursor(found *Problems, operation string) {
	next := l.Page["next"]
	for i, path := range next {
		place := elementPath(operation+".page.next", i)
		switch {
		case !strings.HasPrefix(path, LastRow):
		case path == LastRow:
			found.add(place, "names no member of the last row; write it behind "+LastRow+", such as "+LastRow+"id")
		case l.Paging.By != "cursor":
			found.add(place, "is a cursor; set "+operation+".paging.by to cursor")
		case i < len(next)-1:
			found.add(place, "must be the last of the list: every row ends what is looked for")
		default:
			found.add(place, fault("place", strings.TrimPrefix(path, LastRow)))
		}
	}
}

// Paging says how the next page is requested.
type Paging struct {
	By    string `json:"by" check:"cursor none offset page"`
	First int    `json:"first" check:"number"`
	// Of By "none": how many rows the one page can hold, or that it holds all.
	Most  int  `json:"most" check:"number"`
	Whole bool `json:"whole"`
}

func (p Paging) validate(found *Problems, path string) {
	isNone, says := p.By == "none", p.Most > 0 || p.Whole
	switch {
	case isNone && !says:
		found.add(path+".by", "is none, so that there is one page; write how many rows it can hold, such as \"most\": 50, or "+
			"\"whole\": true if it holds all")
	case isNone && p.Most > 0 && p.Whole:
		found.add(path+".whole", "says that one page holds all rows, and "+path+".most that it cannot")
	case !isNone && says:
		found.add(path+".by", "is "+p.By+"; most and whole are for none, where there is one page")
	}
}

// Webhook is a callback.
type Webhook struct {
	// Encoding is how the service calls: by GET with a query, or by POST with a form or JSON.
	Encoding string `json:"encoding" check:"form json query"`
	// Params lists, by concept, the names that a parameter may have. In a JSON body a name may be a path. The concept "json"
	// lists the parameters that may hold a message in the shape of the platform.
	Params map[string][]string `json:"params" check:"name"`
	// Events lists paths at which a JSON body may hold one event or a list of events. The first path that has any counts. "" is the body
	// itself, and so is an empty list. Paths after "" count only if the body is not an event by itself.
	Events []string `json:"events" check:"place"`
	// Layouts lists further layouts of times, as in package time.
	Layouts []string `json:"layouts" check:"layout"`
	Zone    string   `json:"zone" check:"zone"`
	// Reply is the response to a call that was handled.
	Reply Reply `json:"reply"`
}

// Reply is a response to a callback. It is empty by default.
type Reply struct {
	Type string `json:"type" check:"media"` // of Body
	Body string `json:"body"`
}

func (w Webhook) validate(found *Problems, section string, t *Table) {
	_, isReport := w.Params["status"]
	anyIDIsReference := slices.ContainsFunc(Channels(), func(c Channel) bool { return c.Send(t).IDIsReference() })
	checkIdentity(found, section+".params", w.Params, isReport && anyIDIsReference)
	for i, path := range w.Events {
		hides := func(before string) bool { return path == before || before != "" && strings.HasPrefix(path, before+".") }
		if slices.ContainsFunc(w.Events[:i], hides) {
			found.add(elementPath(section+".events", i), "is never looked for: a path before it is present wherever this one is")
		}
	}
	for concept, list := range sorted(w.Params) {
		for i, name := range list {
			place := elementPath(join(section+".params", concept), i)
			leadsThrough := func(path string) bool { return isWithinElement(name, path) }
			switch {
			case slices.ContainsFunc(w.Events, leadsThrough):
				found.add(place, "leads through "+section+".events; write the rest of the path, from the event on")
			case slices.Contains(strings.Split(name, "."), Every):
				found.add(place, foreignFault(name))
			}
		}
	}
}

// dropClaimed removes from default lists every name that a list of the overlay has, except for the first.
func (w Webhook) dropClaimed(defaults Webhook) {
	claimed := map[string]bool{}
	for concept, list := range w.Params {
		if slices.Equal(list, defaults.Params[concept]) {
			continue
		}
		for _, name := range list {
			claimed[name] = true
		}
	}
	for concept, list := range w.Params {
		if len(list) > 1 && slices.Equal(list, defaults.Params[concept]) {
			isClaimed := func(name string) bool { return claimed[name] && name != list[0] }
			w.Params[concept] = slices.DeleteFunc(slices.Clone(list), isClaimed)
		}
	}
}

// checkIdentity reports two concepts of identity, such as the ID and the sender, that have the same path: one value would be taken for
// both. The ID and the reference may share all their paths, if the service uses the reference of a message as its ID.
func checkIdentity(found *Problems, path string, lists map[string][]string, mayBeReference bool) {
	identity := map[string][]string{}
	for _, concept := range []string{"id", "request", "reference", "from", "to", "text"} {
		if list, ok := lists[concept]; ok {
			identity[join(path, concept)] = list
		}
	}
	if mayBeReference && isReference(lists) {
		delete(identity, join(path, "reference"))
	}
	const oneValue = "one value cannot be both; write the paths of each, and [] for what the service does not have"
	id, reference := join(path, "id"), join(path, "reference")
	checkApartFor(found, identity, false, func(place, other string) string {
		if (place == id || place == reference) && (other == id || other == reference) {
			return oneValue + " (a service that takes the reference of a send for its ID has the same list for both, in its response too)"
		}
		return oneValue
	})
}

// isReference reports whether the ID has the paths of the reference, and no others.
func isReference(lists map[string][]string) bool {
	return len(lists["id"]) > 0 && slices.Equal(lists["id"], lists["reference"])
}

// IDIsReference reports whether the service uses the reference of a message as its ID, which it then repeats in its response.
func (s *Send) IDIsReference() bool { return isReference(s.Response) }

// Delivery is the callback that reports delivery.
type Delivery struct {
	Webhook
	// Statuses lists, by status, its words and integers, in any case, and prefixes of words.
	Statuses map[string][]string `json:"statuses" check:"word"`
	// Placeholders holds, by concept, the text that the service replaces in a callback URL; "" means that it has no such placeholder.
	Placeholders map[string]string `json:"placeholders" check:"placeholder"`
}

func (d Delivery) validate(found *Problems, section string, t *Table) {
	d.Webhook.validate(found, section, t)
	checkApart(found, places(section+".statuses", d.Statuses), true, oneMeaning)
}

// isWithinElement reports whether a path leads into an element of the list at another.
func isWithinElement(path, list string) bool {
	rest, isWithin := strings.CutPrefix(path, list+".")
	position, _, _ := strings.Cut(rest, ".")
	return list != "" && isWithin && IsPosition(position)
}
