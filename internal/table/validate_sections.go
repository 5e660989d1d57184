package table

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func (a Auth) validate(found *Problems, _ string, _ *Table) {
	pair := &a.KeyPair
	switch pair.In {
	case "header":
		pair.validateNames(found, headerFault, strings.EqualFold(pair.Key, pair.Secret))
	case "body", "query":
		fault := func(name string) string { return nameFault(name, pair.In == "body") }
		pair.validateNames(found, fault, pair.Key == pair.Secret)
	}
}

// validateNames checks both names of the pair by a function that returns what is wrong with a name, or "". An empty secret is absent.
func (k *KeyPair) validateNames(found *Problems, fault func(name string) string, areSame bool) {
	found.add("auth.keyPair.key", fault(k.Key))
	switch {
	case k.Secret == "":
	case areSame:
		found.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
	default:
		found.add("auth.keyPair.secret", fault(k.Secret))
	}
}

func (e Errors) validate(found *Problems, section string, _ *Table) {
	checkApart(found, places(section+".classes", e.Classes), false, oneMeaning)
	for class, codes := range sorted(e.Classes) {
		place := join(section+".classes", class)
		checkNotAll(found, place, codes, "write the codes of the class, or prefixes of them such as 40*")
		for i, code := range codes {
			isSame := func(success string) bool { return strings.EqualFold(success, code) }
			if j := slices.IndexFunc(e.Success, isSame); j >= 0 {
				found.clash(entry{place, i, code}, entry{section + ".success", j, e.Success[j]}, oneMeaning)
			}
		}
	}
	checkNotAll(found, section+".success", e.Success, "write the codes that a response may hold although the message was accepted")
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
		known[GSM] = ""
		known[Unicode] = ""
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

func (r Read) validate(found *Problems, operation string, t *Table) {
	if r.Method == "GET" && r.Encoding != "query" { //nolint:usestdlibvars // a contract knows no net/http
		found.add(operation+".encoding", "needs a body, which a GET does not have; write query, or set "+operation+".method to POST")
	}
	r.Operation.validate(found, operation, "params", r.Params, t)
	if len(r.Constants) > maxEntries {
		found.add(operation+".constants", "has more than "+strconv.Itoa(maxEntries)+" entries")
	}
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

func (p Paging) validate(found *Problems, path string) {
	isNone := p.By == "none"
	hasSize := p.Most > 0 || p.Whole
	switch {
	case isNone && !hasSize:
		found.add(path+".by", "is none, so that there is one page; write how many rows it can hold, such as \"most\": 50, or "+
			"\"whole\": true if it holds all")
	case isNone && p.Most > 0 && p.Whole:
		found.add(path+".whole", "says that one page holds all rows, and "+path+".most that it cannot")
	case !isNone && hasSize:
		found.add(path+".by", "is "+p.By+"; most and whole are for none, where there is one page")
	}
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

func (d Delivery) validate(found *Problems, section string, t *Table) {
	d.Webhook.validate(found, section, t)
	checkApart(found, places(section+".statuses", d.Statuses), true, oneMeaning)
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
	id := join(path, "id")
	reference := join(path, "reference")
	isIDOrReference := func(place string) bool { return place == id || place == reference }
	checkApartFor(found, identity, false, func(place, other string) string {
		if isIDOrReference(place) && isIDOrReference(other) {
			return oneValue + " (a service that takes the reference of a send for its ID has the same list for both, in its response too)"
		}
		return oneValue
	})
}

// isWithinElement reports whether a path leads into an element of the list at another.
func isWithinElement(path, list string) bool {
	rest, isWithin := strings.CutPrefix(path, list+".")
	position, _, _ := strings.Cut(rest, ".")
	return list != "" && isWithin && IsPosition(position)
}
