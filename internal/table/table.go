// Package table holds a contract as data: every wire name of the service by the concept that it stands for. It holds no
// behaviour beyond reading, merging and checking itself. Package contract is its public face.
//
// Fields, parameters, paths, classes and statuses are maps by concept. The default table (contract/default.json) decides
// which concepts there are: an overlay can change their values and add none.
package table

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Table is a whole contract. It is shared between clients and receivers and never changes once it was parsed: treat it as
// read-only.
type Table struct {
	Auth            Auth     `json:"auth"`
	Headers         Headers  `json:"headers"` // of every operation
	Errors          Errors   `json:"errors"`
	SMSSend         Send     `json:"sms.send"`
	SMSList         List     `json:"sms.list"`
	ChatApp1Send    Send     `json:"chatapp1.send"`
	ChatApp2Send    Send     `json:"chatapp2.send"`
	WebhookSMS      Webhook  `json:"webhook.sms"`
	WebhookChatApp1 Webhook  `json:"webhook.chatapp1"`
	WebhookChatApp2 Webhook  `json:"webhook.chatapp2"`
	WebhookDelivery Delivery `json:"webhook.delivery"`
}

// Sections yields the sections by their names, in the order of the fields.
func (t *Table) Sections() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		v := reflect.ValueOf(t).Elem()
		for i := range v.NumField() {
			if !yield(v.Type().Field(i).Tag.Get("json"), v.Field(i).Interface()) {
				return
			}
		}
	}
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

// Auth says where credentials stand in a request.
type Auth struct {
	Token   Token   `json:"token"`
	KeyPair KeyPair `json:"keyPair"`
}

// Token is the place of a token: Header: Scheme token. An empty Scheme leaves the token alone in the header.
type Token struct {
	Header string `json:"header"`
	Scheme string `json:"scheme"`
}

// KeyPair is the place of a key and its secret. In is "body", "query", "header" or "basic". An empty Secret means that the
// service has a key alone.
type KeyPair struct {
	In     string `json:"in"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

func (a Auth) validate(found *Problems, _ string, _ *Table) {
	found.add("auth.token.header", headerFault(a.Token.Header))
	if a.Token.Scheme != "" && !isToken(a.Token.Scheme) {
		found.add("auth.token.scheme", "is not a single word")
	}
	pair := a.KeyPair
	checkChoice(found, "auth.keyPair.in", pair.In, "basic", "body", "header", "query")
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
		names := newNames(pair.In == "body")
		found.add("auth.keyPair.key", names.claim("auth.keyPair.key", pair.Key))
		if pair.Secret != "" {
			found.add("auth.keyPair.secret", names.claim("auth.keyPair.secret", pair.Secret))
		}
		names.checkPositions(found)
	}
}

// claimNames takes the names of the pair if it stands beside the parameters of a request. Auth.validate has reported what
// is wrong with the names themselves.
func (k KeyPair) claimNames(taken *names, inQuery bool) {
	if k.In == "body" || k.In == "query" && inQuery {
		taken.claim("auth.keyPair.key", k.Key)
		if k.Secret != "" {
			taken.claim("auth.keyPair.secret", k.Secret)
		}
	}
}

// Errors says how a response reports a failure. Code, Message and Request are paths into the response, in order of
// preference.
type Errors struct {
	Code    []string `json:"code"`
	Message []string `json:"message"`
	Request []string `json:"request"`
	// Success lists codes, in any case, that prove nothing against an acceptance. It may hold prefixes, like Classes.
	Success []string `json:"success"`
	// Classes lists, by class, codes, or prefixes of codes that end in "*".
	Classes map[string][]string `json:"classes"`
	// NotProcessed lists the statuses, 300 to 599, which prove that a send was not processed.
	NotProcessed []int `json:"notProcessed"`
}

func (e Errors) validate(found *Problems, _ string, _ *Table) {
	checkPaths(found, "errors.code", e.Code)
	checkPaths(found, "errors.message", e.Message)
	checkPaths(found, "errors.request", e.Request)
	checkWords(found, "errors.success", e.Success)
	checkLists(found, "errors.classes", e.Classes, checkWords)
	checkApart(found, places("errors.classes", e.Classes), false)
	for class, codes := range sorted(e.Classes) {
		for i, code := range codes {
			if slices.ContainsFunc(e.Success, func(success string) bool { return strings.EqualFold(success, code) }) {
				found.add(at(join("errors.classes", class), i), "stands under errors.success too")
			}
		}
	}
	for i, status := range e.NotProcessed {
		if status < 300 || status > 599 {
			found.add(at("errors.notProcessed", i), "is not an HTTP status from 300 to 599")
		}
	}
}

// Send is an operation that sends a message: a POST.
type Send struct {
	Path     string  `json:"path"`
	Headers  Headers `json:"headers"`
	Encoding string  `json:"encoding"` // "json", "form" or "query"
	// Wrap is the name under which the message of chat app 2 goes; "" is the top level. It is nil for the other channels.
	Wrap *string `json:"wrap,omitempty"`
	// TTL is the unit of a lifetime: "s", "ms" or "m". It is empty for SMS.
	TTL string `json:"ttl,omitempty"`
	// Time is the form of fields that are times, as in List, and Zone is where a form without an offset is.
	Time string `json:"time"`
	Zone string `json:"zone"`
	// Fields names the fields of the request by concept; "" means that the service has no such field.
	Fields map[string]string `json:"fields"`
	// Constants go with every request. With holds what goes with a request that sends the field of a concept.
	Constants map[string]any            `json:"constants"`
	With      map[string]map[string]any `json:"with"`
	// Response lists, by concept, the paths at which a response may hold it, in order of preference.
	Response map[string][]string `json:"response"`
	Money
	// Accepted lists the words of the concept "status" that a success may hold, and Refused those which say that the message
	// was refused. Either may hold prefixes.
	Accepted []string `json:"accepted"`
	Refused  []string `json:"refused"`
}

func (s Send) validate(found *Problems, operation string, t *Table) {
	found.add(operation+".path", pathFault(s.Path))
	s.Headers.validate(found, operation+".headers", t)
	checkChoice(found, operation+".encoding", s.Encoding, "form", "json", "query")
	if _, ok := s.Fields["ttl"]; ok {
		checkChoice(found, operation+".ttl", s.TTL, "m", "ms", "s")
	}
	checkChoice(found, operation+".time", s.Time, timeForms...)
	checkZone(found, operation+".zone", s.Zone)

	taken := newNames(s.Encoding == "json")
	t.Auth.KeyPair.claimNames(taken, s.Encoding == "query")
	claimFields(found, operation+".fields", s.Fields, taken)
	if s.Wrap != nil && *s.Wrap != "" {
		found.add(operation+".wrap", taken.claim(operation+".wrap", *s.Wrap))
	}
	claimConstants(found, operation+".constants", s.Constants, taken)
	constants := len(s.Constants)
	for concept, with := range sorted(s.With) {
		path := join(operation+".with", concept)
		if _, ok := s.Fields[concept]; !ok {
			found.add(path, unknownKey(s.Fields))
		}
		claimConstants(found, path, with, taken)
		constants += len(with)
	}
	taken.checkPositions(found)
	if constants > maxEntries {
		found.add(operation+".constants", "has, together with "+operation+".with, more than "+strconv.Itoa(maxEntries)+" entries")
	}

	checkLists(found, operation+".response", s.Response, checkPaths)
	s.Money.validate(found, operation)
	checkWords(found, operation+".accepted", s.Accepted)
	checkWords(found, operation+".refused", s.Refused)
	checkApart(found, map[string][]string{operation + ".accepted": s.Accepted, operation + ".refused": s.Refused}, true)
	if len(s.Refused) > 0 && len(s.Response["status"]) == 0 {
		found.add(operation+".refused", "can never be met; write where the status stands in "+operation+".response.status")
	}
}

// List is an operation that lists transactions.
type List struct {
	Method    string            `json:"method"` // "GET" or "POST"
	Path      string            `json:"path"`
	Headers   Headers           `json:"headers"`
	Encoding  string            `json:"encoding"` // "query"; of a POST also "json" or "form"
	Params    map[string]string `json:"params"`   // by concept; "" means that the service has no such parameter
	Constants map[string]any    `json:"constants"`
	Orders    map[string]string `json:"orders"` // "ascending" and "descending"
	Time      string            `json:"time"`   // one of timeForms
	Paging    Paging            `json:"paging"`
	// Items lists the paths of the rows; "" is the response itself.
	Items   []string            `json:"items"`
	Page    map[string][]string `json:"page"`   // paths by concept; "next" may hold a path in the last row, behind LastRow
	Record  map[string][]string `json:"record"` // paths by concept, from a row on
	Zone    string              `json:"zone"`   // of times that name none; "" is UTC
	Layouts []string            `json:"layouts"`
	Money
}

func (l List) validate(found *Problems, operation string, t *Table) {
	found.add(operation+".path", pathFault(l.Path))
	l.Headers.validate(found, operation+".headers", t)
	checkChoice(found, operation+".method", l.Method, "GET", "POST")
	checkChoice(found, operation+".encoding", l.Encoding, "form", "json", "query")
	if l.Method == "GET" && l.Encoding != "query" { //nolint:usestdlibvars // a contract knows no net/http
		found.add(operation+".encoding", "needs a body, which a GET has not; write query, or set "+operation+".method to POST")
	}
	taken := newNames(l.Encoding == "json")
	t.Auth.KeyPair.claimNames(taken, l.Encoding == "query")
	claimFields(found, operation+".params", l.Params, taken)
	claimConstants(found, operation+".constants", l.Constants, taken)
	taken.checkPositions(found)
	if len(l.Constants) > maxEntries {
		found.add(operation+".constants", "has more than "+strconv.Itoa(maxEntries)+" entries")
	}
	if l.Params["order"] != "" && l.Orders["ascending"] == l.Orders["descending"] {
		found.add(operation+".orders.descending", "has the same value as "+operation+".orders.ascending")
	}
	checkChoice(found, operation+".time", l.Time, timeForms...)
	checkChoice(found, operation+".paging.by", l.Paging.By, "cursor", "none", "offset", "page")
	if l.Paging.First < 0 {
		found.add(operation+".paging.first", "is less than 0")
	}
	if len(l.Items) == 0 {
		found.add(operation+".items", "names no path; the response itself is an empty path")
	}
	checkPaths(found, operation+".items", l.Items)
	page, _ := l.CursorInLastRow()
	checkLists(found, operation+".page", page, checkPaths)
	l.validateCursor(found, operation)
	checkLists(found, operation+".record", l.Record, checkPaths)
	checkZone(found, operation+".zone", l.Zone)
	checkLayouts(found, operation+".layouts", l.Layouts)
	l.Money.validate(found, operation)
}

// LastRow is the beginning of a path that leads into the last row of a page.
const LastRow = "$last."

// CursorInLastRow returns the paths of a page without those that lead into its last row, and what follows LastRow in those.
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

// validateCursor checks a path of page.next that leads into the last row.
func (l List) validateCursor(found *Problems, operation string) {
	next := l.Page["next"]
	for i, path := range next {
		place := at(operation+".page.next", i)
		switch {
		case !strings.HasPrefix(path, LastRow):
		case path == LastRow:
			found.add(place, "names no member of the last row; write it behind "+LastRow+", such as "+LastRow+"id")
		case l.Paging.By != "cursor":
			found.add(place, "is a cursor; set "+operation+".paging.by to cursor")
		case i < len(next)-1:
			found.add(place, "must be the last of the list: every row ends what is looked for")
		default:
			path = strings.TrimPrefix(path, LastRow)
			found.add(place, cmp.Or(nameFault(path, true), foreignFault(path)))
		}
	}
}

// Money says how prices are written: Scale is the power of ten to multiply them by, and Negate reverses the sign.
type Money struct {
	Scale  int  `json:"scale"`
	Negate bool `json:"negate"`
}

func (m Money) validate(found *Problems, operation string) {
	if m.Scale < -18 || m.Scale > 18 {
		found.add(operation+".scale", "is not from -18 to 18; -4 reads 12345 as 1.2345")
	}
}

// Paging says how the next page is requested: By is "page", "offset", "cursor" or "none".
type Paging struct {
	By    string `json:"by"`
	First int    `json:"first"`
}

// Webhook is a callback.
type Webhook struct {
	// Params lists, by concept, the names that a parameter may have. In a JSON body a name may be a path. The concept "json"
	// lists the parameters that may hold a message in the shape of the platform.
	Params map[string][]string `json:"params"`
	// Events lists paths at which a JSON body may hold its events, one or a list of them. The first that holds any counts; ""
	// is the body itself, and so is an empty list.
	Events []string `json:"events"`
	// Layouts lists further layouts of times, as in package time.
	Layouts []string `json:"layouts"`
	Zone    string   `json:"zone"`
}

func (w Webhook) validate(found *Problems, section string, _ *Table) {
	checkLists(found, section+".params", w.Params, checkNames)
	checkPaths(found, section+".events", w.Events)
	for i, path := range w.Events {
		for _, before := range w.Events[:i] {
			if path == before || before == "" || strings.HasPrefix(path, before+".") {
				found.add(at(section+".events", i), "is never looked for: a path before it is present wherever this one is")
				break
			}
		}
	}
	for concept, list := range sorted(w.Params) {
		for i, name := range list {
			if slices.ContainsFunc(w.Events, func(path string) bool { return isWithinElement(name, path) }) {
				place := at(join(section+".params", concept), i)
				found.add(place, "leads through "+section+".events; write the rest of the path, from the event on")
			}
		}
	}
	checkLayouts(found, section+".layouts", w.Layouts)
	checkZone(found, section+".zone", w.Zone)
}

// Delivery is the callback that reports delivery.
type Delivery struct {
	Webhook
	// Statuses lists, by status, the words and integers that mean it, in any case, and prefixes.
	Statuses map[string][]string `json:"statuses"`
	// Placeholders holds, by concept, what the service replaces in a callback URL; "" means that it has no such placeholder.
	Placeholders map[string]string `json:"placeholders"`
}

func (d Delivery) validate(found *Problems, section string, t *Table) {
	d.Webhook.validate(found, section, t)
	checkLists(found, section+".statuses", d.Statuses, checkWords)
	checkApart(found, places(section+".statuses", d.Statuses), true)
	for concept, placeholder := range sorted(d.Placeholders) {
		if placeholder != "" {
			found.add(join(section+".placeholders", concept), nameFault(placeholder, false))
		}
	}
}

// isWithinElement reports whether a path leads into an element of the list at another.
func isWithinElement(path, list string) bool {
	rest, ok := strings.CutPrefix(path, list+".")
	position, _, _ := strings.Cut(rest, ".")
	return list != "" && ok && IsPosition(position)
}
