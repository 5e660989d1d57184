package table

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (t *Table) validate(found *Problems) {
	t.Auth.validate(found)
	t.Errors.validate(found)
	t.SMSSend.validate(found, "sms.send", t.Auth.KeyPair)
	t.ChatApp1Send.validate(found, "chatapp1.send", t.Auth.KeyPair)
	t.ChatApp2Send.validate(found, "chatapp2.send", t.Auth.KeyPair)
	t.SMSList.validate(found, "sms.list", t.Auth.KeyPair)
	t.WebhookSMS.validate(found, "webhook.sms")
	t.WebhookChatApp1.validate(found, "webhook.chatapp1")
	t.WebhookChatApp2.validate(found, "webhook.chatapp2")
	t.WebhookDelivery.validate(found, "webhook.delivery")
}

func (a Auth) validate(found *Problems) {
	found.add("auth.token.header", headerFault(a.Token.Header))
	if a.Token.Scheme != "" && !isToken(a.Token.Scheme) {
		found.add("auth.token.scheme", "is not a single word")
	}
	pair := a.KeyPair
	checkChoice(found, "auth.keyPair.in", pair.In, "basic", "body", "header", "query")
	switch pair.In {
	case "header":
		found.add("auth.keyPair.key", headerFault(pair.Key))
		found.add("auth.keyPair.secret", headerFault(pair.Secret))
		if strings.EqualFold(pair.Key, pair.Secret) {
			found.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
		}
	case "body", "query":
		names := newNames(pair.In == "body")
		found.add("auth.keyPair.key", names.claim("auth.keyPair.key", pair.Key))
		found.add("auth.keyPair.secret", names.claim("auth.keyPair.secret", pair.Secret))
	}
}

// claimNames takes the names of the pair if it stands beside the parameters of a request. Auth.validate has reported what
// is wrong with the names themselves.
func (k KeyPair) claimNames(taken *names, inQuery bool) {
	if k.In == "body" || k.In == "query" && inQuery {
		taken.claim("auth.keyPair.key", k.Key)
		taken.claim("auth.keyPair.secret", k.Secret)
	}
}

func (e Errors) validate(found *Problems) {
	checkPaths(found, "errors.code", e.Code)
	checkPaths(found, "errors.message", e.Message)
	checkPaths(found, "errors.request", e.Request)
	checkNames(found, "errors.success", e.Success)
	checkLists(found, "errors.classes", e.Classes, checkNames)
	checkOnce(found, "errors.classes", e.Classes, func(code string) string { return code })
	for class, codes := range sorted(e.Classes) {
		for i, code := range codes {
			place := at(join("errors.classes", class), i)
			if star := strings.IndexByte(code, '*'); star >= 0 && star < len(code)-1 {
				found.add(place, "holds a * that is not at its end")
			}
			if slices.ContainsFunc(e.Success, func(success string) bool { return strings.EqualFold(success, code) }) {
				found.add(place, "stands under errors.success too")
			}
		}
	}
	for i, status := range e.NotProcessed {
		if status < 300 || status > 599 {
			found.add(at("errors.notProcessed", i), "is not an HTTP status from 300 to 599")
		}
	}
}

func (s Send) validate(found *Problems, operation string, pair KeyPair) {
	found.add(operation+".path", pathFault(s.Path))
	checkChoice(found, operation+".encoding", s.Encoding, "form", "json", "query")
	if _, ok := s.Fields["ttl"]; ok {
		checkChoice(found, operation+".ttl", s.TTL, "m", "ms", "s")
	}

	taken := newNames(s.Encoding == "json")
	pair.claimNames(taken, s.Encoding == "query")
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
	if constants > maxEntries {
		found.add(operation+".constants", "has, together with "+operation+".with, more than "+strconv.Itoa(maxEntries)+" entries")
	}

	checkLists(found, operation+".response", s.Response, checkPaths)
	checkNames(found, operation+".accepted", s.Accepted)
}

func (l List) validate(found *Problems, operation string, pair KeyPair) {
	found.add(operation+".path", pathFault(l.Path))
	taken := newNames(false)
	pair.claimNames(taken, true)
	claimFields(found, operation+".params", l.Params, taken)
	claimConstants(found, operation+".constants", l.Constants, taken)
	if len(l.Constants) > maxEntries {
		found.add(operation+".constants", "has more than "+strconv.Itoa(maxEntries)+" entries")
	}
	if l.Params["order"] != "" && l.Orders["ascending"] == l.Orders["descending"] {
		found.add(operation+".orders.descending", "has the same value as "+operation+".orders.ascending")
	}
	checkChoice(found, operation+".time", l.Time, "date", "datetime", "rfc3339", "rfc3339ms", "unix", "unixms")
	checkChoice(found, operation+".paging.by", l.Paging.By, "cursor", "none", "offset", "page")
	if l.Paging.First < 0 {
		found.add(operation+".paging.first", "is less than 0")
	}
	if len(l.Items) == 0 {
		found.add(operation+".items", "names no path; the response itself is an empty path")
	}
	checkPaths(found, operation+".items", l.Items)
	checkLists(found, operation+".page", l.Page, checkPaths)
	checkLists(found, operation+".record", l.Record, checkPaths)
	checkZone(found, operation+".zone", l.Zone)
}

func (w Webhook) validate(found *Problems, operation string) {
	checkLists(found, operation+".params", w.Params, checkNames)
	checkZone(found, operation+".zone", w.Zone)
}

func (d Delivery) validate(found *Problems, operation string) {
	checkLists(found, operation+".params", d.Params, checkNames)
	checkLists(found, operation+".statuses", d.Statuses, checkNames)
	checkOnce(found, operation+".statuses", d.Statuses, strings.ToLower)
	for concept, placeholder := range sorted(d.Placeholders) {
		if placeholder != "" {
			found.add(join(operation+".placeholders", concept), nameFault(placeholder, false))
		}
	}
	checkZone(found, operation+".zone", d.Zone)
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
			found.add(at(path, i), nameFault(name, true))
		}
	}
}

// checkNames checks names and words.
func checkNames(found *Problems, path string, list []string) {
	for i, name := range list {
		found.add(at(path, i), nameFault(name, false))
	}
}

// checkOnce refuses a text that stands in two lists: it would mean two things. Two texts are the same if normal makes them
// equal.
func checkOnce(found *Problems, path string, lists map[string][]string, normal func(string) string) {
	seen := map[string]string{}
	for concept, list := range sorted(lists) {
		for i, text := range list {
			if other, ok := seen[normal(text)]; ok && other != concept {
				found.add(at(join(path, concept), i), "stands under "+join(path, other)+" too")
			}
			seen[normal(text)] = concept
		}
	}
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
