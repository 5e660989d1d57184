package table

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// section is one section of a table, which checks itself.
type section interface {
	validate(found *Problems, name string, t *Table)
}

// validate goes over the sections, so that a new one cannot be forgotten.
func (t *Table) validate(found *Problems) {
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		v.Field(i).Interface().(section).validate(found, v.Type().Field(i).Tag.Get("json"), t)
	}
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

func (m Money) validate(found *Problems, operation string) {
	if m.Scale < -18 || m.Scale > 18 {
		found.add(operation+".scale", "is not from -18 to 18; -4 reads 12345 as 1.2345")
	}
}

func (w Webhook) validate(found *Problems, section string, _ *Table) {
	w.Callback.validate(found, section, w.Params)
}

func (d Delivery) validate(found *Problems, section string, _ *Table) {
	d.Callback.validate(found, section, d.Params)
	checkLists(found, section+".statuses", d.Statuses, checkWords)
	checkApart(found, places(section+".statuses", d.Statuses), true)
	for concept, placeholder := range sorted(d.Placeholders) {
		if placeholder != "" {
			found.add(join(section+".placeholders", concept), nameFault(placeholder, false))
		}
	}
}

func (c Callback) validate(found *Problems, section string, params map[string][]string) {
	checkLists(found, section+".params", params, checkNames)
	checkPaths(found, section+".events", c.Events)
	for i, path := range c.Events {
		for _, before := range c.Events[:i] {
			if path == before || before == "" || strings.HasPrefix(path, before+".") {
				found.add(at(section+".events", i), "is never looked for: a path before it is present wherever this one is")
				break
			}
		}
	}
	for concept, list := range sorted(params) {
		for i, name := range list {
			if slices.ContainsFunc(c.Events, func(path string) bool { return isWithinElement(name, path) }) {
				place := at(join(section+".params", concept), i)
				found.add(place, "leads through "+section+".events; write the rest of the path, from the event on")
			}
		}
	}
	checkLayouts(found, section+".layouts", c.Layouts)
	checkZone(found, section+".zone", c.Zone)
}

// isWithinElement reports whether a path leads into an element of the list at another.
func isWithinElement(path, list string) bool {
	rest, ok := strings.CutPrefix(path, list+".")
	position, _, _ := strings.Cut(rest, ".")
	return list != "" && ok && IsPosition(position)
}

func checkChoice(found *Problems, path, value string, known ...string) {
	if !slices.Contains(known, value) {
		found.add(path, "unknown value; known: "+strings.Join(known, ", "))
	}
}

// claimFields checks the names of a request's fields, of which an empty one is absent, and takes them.
func claimFields(found *Problems, path string, fields map[string]string, taken *names) {
	for concept, name := range sorted(fields) {
		if name != "" {
			found.add(join(path, concept), taken.claim(join(path, concept), name))
		}
	}
}

// claimConstants checks what a request holds beside its fields, and takes the names. Where dots do not nest, it is a form.
func claimConstants(found *Problems, path string, constants map[string]any, taken *names) {
	for name, value := range sorted(constants) {
		found.add(join(path, name), taken.claim(join(path, name), name))
		switch value.(type) {
		case string, json.Number, bool:
		default:
			if !taken.dotted {
				found.add(join(path, name), "is neither a string nor a number nor a boolean, and only a JSON body can hold it")
			}
		}
	}
}

// checkLists checks each list of a map.
func checkLists(found *Problems, path string, lists map[string][]string, check func(*Problems, string, []string)) {
	for concept, list := range sorted(lists) {
		check(found, join(path, concept), list)
	}
}

// checkPaths checks paths into a response, in which "" is the document itself.
func checkPaths(found *Problems, path string, list []string) {
	for i, name := range list {
		if name != "" {
			found.add(at(path, i), cmp.Or(nameFault(name, true), foreignFault(name)))
		}
	}
}

// checkNames checks the names that a parameter may have.
func checkNames(found *Problems, path string, list []string) {
	for i, name := range list {
		found.add(at(path, i), nameFault(name, false))
	}
}

// places returns lists by their places in the table, where they stand under a path.
func places(path string, lists map[string][]string) map[string][]string {
	all := make(map[string][]string, len(lists))
	for key, list := range lists {
		all[join(path, key)] = list
	}
	return all
}

func checkZone(found *Problems, path, zone string) {
	if _, err := time.LoadLocation(zone); err != nil {
		found.add(path, "is not a time zone that this machine knows, such as Europe/London or UTC")
	}
}

// sorted ranges over a map in the order of its keys.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// checkLayouts checks further layouts of times, by writing a time in each and reading it back.
func checkLayouts(found *Problems, path string, layouts []string) {
	const abbreviation = "XYZ"
	example := time.Date(2026, time.November, 22, 13, 47, 59, 0, time.FixedZone(abbreviation, 5*60*60))
	for i, layout := range layouts {
		place := at(path, i)
		text := example.Format(layout)
		got, err := time.Parse(layout, text)
		switch {
		case nameFault(layout, false) != "":
			found.add(place, nameFault(layout, false))
		case err == nil && strings.Contains(text, abbreviation):
			found.add(place, "names a zone by letters; write -0700, or the letters that always stand there, such as GMT")
		case err != nil || got.Year() != 2026 || got.YearDay() != example.YearDay() || got.Hour() != 0 && got.Hour() != 13:
			found.add(place, "is no layout of a date; write 2006-01-02 15:04:05 as the service would, such as 02/01/2006 3:04PM")
		}
	}
}
