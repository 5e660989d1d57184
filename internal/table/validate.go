package table

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// section is a section of a table. Its method checks what the tags of its fields cannot express, because it is about several values.
type section interface {
	validate(problems *Problems, name string, t *Table)
}

// validate checks every section: each value by the tag of its field, and the section as a whole.
func (t *Table) validate(problems *Problems) {
	for name, value := range t.Sections() {
		checkRules(problems, name, reflect.ValueOf(value), "")
		value.(section).validate(problems, name, t)
	}
}

func (a Auth) validate(problems *Problems, _ string, _ *Table) {
	pair := &a.KeyPair
	switch pair.In {
	case "header":
		pair.validateNames(problems, headerFault, strings.EqualFold(pair.Key, pair.Secret))
	case "body", "query":
		fault := func(name string) string { return nameFault(name, pair.In == "body") }
		pair.validateNames(problems, fault, pair.Key == pair.Secret)
	}
}

// validateNames checks both names of the pair by a function that returns what is wrong with a name. An empty secret is absent.
func (k *KeyPair) validateNames(problems *Problems, fault func(name string) string, areSame bool) {
	problems.add("auth.keyPair.key", fault(k.Key))
	switch {
	case k.Secret == "":
	case areSame:
		problems.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
	default:
		problems.add("auth.keyPair.secret", fault(k.Secret))
	}
}

func (e Errors) validate(problems *Problems, section string, _ *Table) {
	checkDisjoint(problems, listsByPath(section+".classes", e.Classes), false)
	for class, codes := range sorted(e.Classes) {
		path := join(section+".classes", class)
		checkNoCatchAll(problems, path, codes, "write the codes of the class, or prefixes of them such as 40*")
		for i, code := range codes {
			isSame := func(success string) bool { return strings.EqualFold(success, code) }
			if j := slices.IndexFunc(e.Success, isSame); j >= 0 {
				problems.clash(entry{path, i, code}, entry{section + ".success", j, e.Success[j]}, oneMeaning)
			}
		}
	}
	checkNoCatchAll(problems, section+".success", e.Success, "write the codes that a response may hold although the message was accepted")
}

// listsByPath returns lists by their paths in the table, below a path.
func listsByPath(path string, lists map[string][]string) map[string][]string {
	all := make(map[string][]string, len(lists))
	for key, list := range lists {
		all[join(path, key)] = list
	}
	return all
}

// validate checks each header and each name by itself; an empty name is absent. The names by concept are at key, fields or params. Package codec
// finds the names that one request cannot hold together.
func (o *Operation) validate(problems *Problems, operation, key string, names map[string]string, t *Table) {
	o.Headers.validate(problems, operation+".headers", t)
	for concept, name := range sorted(names) {
		if name != "" {
			problems.add(join(operation+"."+key, concept), o.requestNameFault(name))
		}
	}
	o.validateConstants(problems, operation+".constants", o.Constants)
}

func (o *Operation) validateConstants(problems *Problems, path string, constants map[string]any) {
	for name, value := range sorted(constants) {
		problems.add(join(path, name), o.requestNameFault(name))
		switch value.(type) {
		case string, json.Number, bool:
		default:
			if o.Encoding != "json" {
				problems.add(join(path, name), "is neither a string nor a number nor a boolean, and only a JSON body can hold it")
			}
		}
	}
}

func (s Send) validate(problems *Problems, operation string, t *Table) {
	if _, hasTTL := s.Fields["ttl"]; hasTTL {
		problems.add(operation+".ttl", textFault("m ms s", s.TTL))
	}
	s.Operation.validate(problems, operation, "fields", s.Fields, t)
	if s.Wrap != nil && *s.Wrap != "" {
		problems.add(operation+".wrap", s.requestNameFault(*s.Wrap))
	}
	s.validateFieldConstants(problems, operation)
	s.validateStatus(problems, operation)
	s.validateResponse(problems, operation+".response")
}

func (s Send) validateFieldConstants(problems *Problems, operation string) {
	known := maps.Clone(s.Fields)
	if operation == "sms.send" {
		known[GSM] = ""
		known[Unicode] = ""
	}
	count := len(s.Constants)
	for concept, constants := range sorted(s.FieldConstants) {
		path := join(operation+".with", concept)
		if _, ok := known[concept]; !ok {
			problems.add(path, unknownKey(known))
		}
		s.validateConstants(problems, path, constants)
		count += len(constants)
	}
	if count > maxEntries {
		problems.add(operation+".constants", "has, together with "+operation+".with, more than "+strconv.Itoa(maxEntries)+" entries")
	}
}

// validateStatus checks the words of the status of a response, and that the response can accept a message by its ID or its status.
func (s Send) validateStatus(problems *Problems, operation string) {
	accepted := operation + ".accepted"
	refused := operation + ".refused"
	status := operation + ".response.status"
	checkDisjoint(problems, map[string][]string{accepted: s.Accepted, refused: s.Refused}, true)
	checkNoCatchAll(problems, accepted, s.Accepted, "write the words of acceptance: with any other the outcome is unknown, and not accepted")
	checkNoCatchAll(problems, refused, s.Refused, "write the words of refusal: with any other the outcome is unknown, and not refused")
	hasStatus := len(s.Response["status"]) > 0
	if len(s.Refused) > 0 && !hasStatus {
		problems.add(refused, "can never be met; write the paths of the status in "+status)
	}
	hasID := len(s.Response["id"]) > 0
	statusAccepts := hasStatus && len(s.Accepted) > 0
	if !hasID && !statusAccepts {
		problems.add(operation+".response.id", "names no path, so the status has to accept a message; write its paths in "+
			status+", and its words in "+accepted)
	}
}

func (s Send) validateResponse(problems *Problems, path string) {
	isStarred := func(place string) bool { return WithoutEvery(place) != place }
	for concept, paths := range sorted(s.Response) {
		if concept == "id" || concept == "status" {
			continue
		}
		if i := slices.IndexFunc(paths, isStarred); i >= 0 {
			problems.add(elementPath(join(path, concept), i), "holds a *; only id and status can: every element counts. "+
				"Write a position, such as messages.0.parts")
		}
	}
	checkIdentity(problems, path, s.Paths(), s.Fields["reference"] != "")
}

func (r Read) validate(problems *Problems, operation string, t *Table) {
	if r.Method == "GET" && r.Encoding != "query" { //nolint:usestdlibvars // a contract knows no net/http
		problems.add(operation+".encoding", "needs a body, which a GET does not have; write query, or set "+operation+".method to POST")
	}
	r.Operation.validate(problems, operation, "params", r.Params, t)
	if len(r.Constants) > maxEntries {
		problems.add(operation+".constants", "has more than "+strconv.Itoa(maxEntries)+" entries")
	}
}

func (l List) validate(problems *Problems, operation string, t *Table) {
	l.Read.validate(problems, operation, t)
	if l.Params["order"] != "" && l.Orders["ascending"] == l.Orders["descending"] {
		problems.add(operation+".orders.descending", "has the same value as "+operation+".orders.ascending")
	}
	if len(l.Items) == 0 {
		problems.add(operation+".items", "names no path; the response itself is an empty path")
	}
	for member, words := range sorted(l.Only) {
		path := join(operation+".only", member)
		problems.add(path, memberFault(member))
		if len(words) == 0 {
			problems.add(path, "has no words, so no row could be of this listing")
		}
		checkNoCatchAll(problems, path, words, "write the words of the rows of this listing")
	}
	l.Paging.validate(problems, operation+".paging")
	page, _ := l.CursorInLastRow()
	checkRules(problems, operation+".page", reflect.ValueOf(page), "place")
	l.validateCursor(problems, operation)
	checkIdentity(problems, operation+".record", l.Record, t.SMSSend.IDIsReference())
}

func (p Paging) validate(problems *Problems, path string) {
	isNone := p.By == "none"
	hasSize := p.Most > 0 || p.Whole
	switch {
	case isNone && !hasSize:
		problems.add(path+".by", "is none, so that there is one page; write how many rows it can hold, such as \"most\": 50, or "+
			"\"whole\": true if it holds all")
	case isNone && p.Most > 0 && p.Whole:
		problems.add(path+".whole", "says that one page holds all rows, and "+path+".most that it cannot")
	case !isNone && hasSize:
		problems.add(path+".by", "must be none with most or whole, which describe the only page")
	}
}

// validateCursor checks the paths of the next page that lead into the last row.
func (l List) validateCursor(problems *Problems, operation string) {
	next := l.Page["next"]
	for i, path := range next {
		member, isInRow := strings.CutPrefix(path, LastRow)
		if !isInRow {
			continue
		}
		place := elementPath(operation+".page.next", i)
		switch {
		case member == "":
			problems.add(place, "names no member of the last row; write it after "+LastRow+", such as "+LastRow+"id")
		case l.Paging.By != "cursor":
			problems.add(place, "is a cursor; set "+operation+".paging.by to cursor")
		case i < len(next)-1:
			problems.add(place, "must come last: every row has it, so no path after it would be tried")
		default:
			problems.add(place, memberFault(member))
		}
	}
}

func (w Webhook) validate(problems *Problems, section string, t *Table) {
	_, isReport := w.Params["status"]
	anyIDIsReference := slices.ContainsFunc(Channels(), func(c Channel) bool { return c.Send(t).IDIsReference() })
	checkIdentity(problems, section+".params", w.Params, isReport && anyIDIsReference)
	for i, path := range w.Events {
		hides := func(before string) bool { return path == before || before != "" && strings.HasPrefix(path, before+".") }
		if slices.ContainsFunc(w.Events[:i], hides) {
			problems.add(elementPath(section+".events", i), "is never looked for: a path before it is present wherever this one is")
		}
	}
	for concept, list := range sorted(w.Params) {
		for i, name := range list {
			problems.add(elementPath(join(section+".params", concept), i), w.paramFault(section, name))
		}
	}
}

// paramFault returns what is wrong with a path to a parameter of an event.
func (w Webhook) paramFault(section, path string) string {
	leadsThrough := func(events string) bool { return isWithinElement(path, events) }
	switch {
	case slices.ContainsFunc(w.Events, leadsThrough):
		return "leads through " + section + ".events; write the rest of the path, from the event on"
	case slices.Contains(strings.Split(path, "."), Every):
		return notationFault(path)
	default:
		return ""
	}
}

func (d Delivery) validate(problems *Problems, section string, t *Table) {
	d.Webhook.validate(problems, section, t)
	checkDisjoint(problems, listsByPath(section+".statuses", d.Statuses), true)
}

// checkIdentity reports two concepts of identity, such as the ID and the sender, that have the same path: one value would be taken for
// both. The ID and the reference may share all their paths, if the service uses the reference of a message as its ID.
func checkIdentity(problems *Problems, path string, lists map[string][]string, mayBeReference bool) {
	identity := map[string][]string{}
	for _, concept := range []string{"id", "request", "reference", "from", "to", "text"} {
		if list, ok := lists[concept]; ok {
			identity[join(path, concept)] = list
		}
	}
	id := join(path, "id")
	reference := join(path, "reference")
	if mayBeReference && isReference(lists) {
		delete(identity, reference)
	}
	const oneValue = "one value cannot be both; write the paths of each, and [] for what the service does not have"
	isIDOrReference := func(place string) bool { return place == id || place == reference }
	checkDisjointFor(problems, identity, false, func(place, other string) string {
		if isIDOrReference(place) && isIDOrReference(other) {
			return oneValue + " (a service that takes the reference of a send for its ID has the same list for both, in its response too)"
		}
		return oneValue
	})
}
