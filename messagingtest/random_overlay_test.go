package messagingtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// randomOverlay returns the overlay of a seed. It is valid, and holds no secret. Every construct of the grammar comes up, and a client, a
// receiver and the test server that have the same overlay understand each other.
func randomOverlay(seed uint64) []byte {
	d := drawer{rand.New(rand.NewPCG(seed, 0))}
	overlay := object{"headers": d.headers("X-Common")}
	for name, section := range table.Of(contract.Default()).Sections() {
		switch section := section.(type) {
		case table.Auth:
			overlay[name] = d.auth()
		case table.Errors:
			overlay[name] = d.errors(section)
		case table.Send:
			overlay[name] = d.send(strings.TrimSuffix(name, ".send"), section)
		case table.List:
			overlay[name] = d.list(section)
		case table.Webhook:
			overlay[name] = d.webhook(section)
		case table.Delivery:
			overlay[name] = d.delivery(section)
		case table.Headers: // drawn before
		default: // it stays as in Default
		}
	}
	if response := overlay["sms.send"].(object)["response"].(object); len(response["id"].([]string)) > 0 && d.chance(6) {
		for _, lists := range []object{
			response, overlay["sms.list"].(object)["record"].(object), overlay["webhook.delivery"].(object)["params"].(object),
		} {
			lists["reference"] = lists["id"] // the service takes the reference for the ID
		}
	}
	text, err := json.MarshalIndent(overlay, "", "  ")
	if err != nil {
		panic(err) // maps, lists and plain values
	}
	return text
}

type object = map[string]any

type drawer struct{ *rand.Rand }

func (d drawer) chance(n int) bool { return d.IntN(n) == 0 }

func pick[V any](d drawer, all ...V) V { return all[d.IntN(len(all))] }

// style returns a way to name concepts, in which each name holds the word of its concept.
func (d drawer) style() func(string) string {
	prefix := pick(d, "", "my", "msg", "v2")
	return pick(d,
		func(s string) string { return strings.Trim(prefix+"_"+strings.ToLower(s), "_") },
		func(s string) string { return prefix + strings.ToUpper(s[:1]) + s[1:] },
		func(s string) string { return strings.ToUpper(strings.Trim(prefix+"_"+s, "_")) },
		func(s string) string { return strings.Trim(prefix+"-"+strings.ToLower(s), "-") },
	)
}

// within returns a function that puts some names into objects and lists.
func (d drawer) within(containers ...string) func(string) string {
	return func(name string) string {
		if d.chance(3) {
			return name
		}
		return pick(d, containers...) + "." + name
	}
}

// paths draws two for each concept.
func (d drawer) paths(lists map[string][]string, containers ...string) object {
	name, in, all := d.style(), d.within(containers...), object{}
	for _, concept := range keys(lists) {
		all[concept] = []string{in(name(concept)), "elsewhere." + concept}
	}
	return all
}

func (d drawer) auth() object {
	token := object{"header": pick(d, "Authorization", "X-Token"), "scheme": pick(d, "Bearer", "Token", "")}
	// A pair in the body has no place in a listing by GET.
	pair := object{"in": pick(d, "query", "header", "basic"), "key": "X-Api-Key", "secret": pick(d, "X-Api-Secret", "")}
	return object{"token": token, "keyPair": pair}
}

func (d drawer) headers(name string) object {
	if d.chance(2) {
		return object{}
	}
	return object{name: pick(d, "3", "2026-10-03", "a b"), "X-Drop": "x"}
}

// words returns n different words, some of which are prefixes.
func (d drawer) words(n int, first string) []string {
	all := []string{}
	for i := range n {
		word := fmt.Sprint(first, pick(d, "", "_", "-"), i)
		if d.chance(3) {
			word += "*"
		}
		all = append(all, word)
	}
	return all
}

func (d drawer) errors(section table.Errors) object {
	name, in := d.style(), d.within("errors.0", "errorDetails", "fault.detail")
	classes := object{}
	for i, class := range keys(section.Classes) {
		classes[class] = d.words(1+d.IntN(2), pick(d, "E", "9", "err.")+fmt.Sprint(i+1, "x"))
	}
	code, message := []string{in(name("errorCode")), "other.code"}, []string{in(name("errorMessage"))}
	if d.chance(8) {
		code, message = []string{""}, []string{""} // an error is a text
	}
	return object{
		"code": code, "message": message,
		"request": []string{in(name("errorRequest"))}, "success": pick(d, []string{"0", "ok"}, []string{"1000*"}, []string{"fine"}),
		"classes": classes, "notProcessed": pick(d, []int{429}, []int{429, 503}),
	}
}

// send draws an operation that sends.
func (d drawer) send(name string, op table.Send) object {
	encoding := pick(d, "json", "json", "form", "query")
	rename, in := d.style(), func(s string) string { return s }
	if encoding == "json" {
		in = d.within("message", "messages.0", "payload.attributes")
	}
	names := object{}
	for _, concept := range keys(op.Fields) {
		switch {
		case op.Wrap != nil:
			// The message itself has members that some styles would make of a concept.
			names[concept] = "x" + in(rename(concept))
		case encoding == "json" && concept == "to" && d.chance(3):
			names[concept] = rename(concept) + ".0"
		case concept == "video" && d.chance(4):
			names[concept] = ""
		default:
			names[concept] = in(rename(concept))
		}
	}
	constants := object{}
	if d.chance(2) {
		constants[in("constantText")], constants[in("constantNumber")] = "billing", pick(d, 1, 17)
		constants["constantFlag"] = true
		if encoding == "json" {
			constants["constantTree"] = object{"a": []any{1, "b", 2.5}}
		}
	}
	with := object{}
	if d.chance(2) {
		with["callback"] = object{in("withCallback"): pick[any](d, 1, "yes", false)}
	} else {
		with["callback"] = object{}
	}
	if name == "sms" && d.chance(3) {
		with["gsm"] = object{in("withEncoding"): 0, in("withBits"): 7}
		with["unicode"] = object{in("withEncoding"): pick[any](d, 8, "unicode")}
	}
	accepted, refused := []string{"ok", "queued"}, []string{}
	switch d.IntN(4) {
	case 0:
		accepted, refused = []string{"0"}, []string{"1", "2*"}
	case 1:
		accepted, refused = []string{"PENDING*", "QUEUED"}, []string{"REJECTED*", "INVALID"}
	}
	response := d.paths(op.Response, "result", "messages.0", "data.receipt")
	response["status"] = response["status"].([]string)[:1]
	switch d.IntN(8) {
	case 0, 1:
		response["status"], refused = []string{}, []string{}
	case 2:
		response["id"] = []string{} // the status decides
	case 3:
		if op.Wrap == nil { // a text in place of JSON
			response["id"], response["status"] = []string{}, []string{""}
			accepted, refused = []string{"0: Accepted*", "Queued"}, pick(d, []string{}, []string{"1: Refused*"})
		}
	case 4:
		response["currency"] = []string{} // it is part of the amounts
	case 5:
		response["status"] = []string{"parts.*.status"}
	}
	drawn := object{
		"path": "/" + pick(d, "v1/", "api/2/", "") + name + pick(d, "/send", "/messages.json", ""), "encoding": encoding,
		"headers": pick(d, object{}, object{"X-Operation": name}, object{"X-Common": "other", "X-Drop": ""}),
		"fields":  names, "constants": constants, "with": with, "response": response,
		"accepted": accepted, "refused": refused, "scale": pick(d, 0, 0, -2, -4, -6, 1),
		"time": d.timeForm(), "zone": d.zone(),
	}
	if d.chance(4) {
		drawn["path"] = fmt.Sprint("/{account}/", drawn["path"].(string)[1:])
	}
	if op.TTL != "" {
		drawn["ttl"] = pick(d, "s", "ms", "m")
	}
	if op.Wrap != nil {
		drawn["wrap"] = pick(d, "", "wrapped")
		if encoding == "json" && d.chance(3) {
			drawn["wrap"] = "wrapped.inner"
		}
	}
	return drawn
}

// keys returns the concepts of a map in their order, so that a seed draws the same each time.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (d drawer) timeForm() string {
	return pick(d, "rfc3339ms", "rfc3339", "unix", "unixms", "datetime", "rfc1123", "rfc2822")
}

// zone returns a zone without summer time, so that every time of day is one time.
func (d drawer) zone() string { return pick(d, "UTC", "", "Asia/Manila", "Asia/Kolkata") }

func (d drawer) layouts() []string {
	return pick(d, []string{}, []string{}, []string{"02/01/2006 15:04:05"}, []string{"Jan 2 2006 3:04:05PM -0700", "2006.01.02"})
}

func (d drawer) list(op table.List) object {
	method, encoding := "GET", "query"
	if d.chance(2) {
		method, encoding = "POST", pick(d, "json", "form", "query")
	}
	rename, in := d.style(), func(s string) string { return s }
	if encoding == "json" {
		in = d.within("filter", "query.conditions", "where.0")
	}
	params := object{}
	for _, concept := range keys(op.Params) {
		params[concept] = in(rename(concept))
	}
	for _, concept := range []string{"page", "pageSize", "offset", "cursor"} {
		params[concept] = ""
	}
	by := pick(d, "page", "offset", "cursor", "none")
	if by != "none" {
		params[by], params["pageSize"] = in(rename(by)), in(rename("pageSize"))
	}
	paging := object{"by": by, "first": pick(d, 0, 1, 1, 7)}
	if by == "none" {
		paging["whole"] = true
	}
	answer, at := d.style(), d.within("meta", "page.facts", "links.0")
	page := object{}
	for _, concept := range keys(op.Page) {
		page[concept] = []string{at(answer(concept))}
	}
	record := d.paths(op.Record, "data", "parts.0", "a.b")
	if d.chance(4) {
		record["currency"] = []string{}
	}
	items := []string{pick(d, "rows", "result.messages", "list.0.rows"), "other"}
	if by == "cursor" && d.chance(2) {
		page["next"] = []string{"$last." + record["id"].([]string)[0]}
		if d.chance(2) {
			items = []string{""}
		}
	}
	constants, sorts := object{}, object{}
	if d.chance(2) {
		constants["constantText"], constants[in("constantNumber")] = "billing", 5
	}
	column := d.style()
	for _, concept := range keys(op.Sorts) {
		sorts[concept] = "by" + column(concept)
	}
	return object{
		"sorts":  sorts,
		"method": method, "path": "/" + pick(d, "v1/", "") + "list", "encoding": encoding, "params": params, "constants": constants,
		"headers": d.headers("X-List"),
		"orders":  pick(d, object{"ascending": "up", "descending": "down"}, object{"ascending": "1", "descending": "-1"}),
		"time":    pick(d, d.timeForm(), d.timeForm(), d.timeForm(), "date"),
		"paging":  paging,
		"only":    pick(d, object{}, object{"meta.direction": []string{"outbound*", "mt"}}), "items": items, "page": page, "record": record,
		"zone": d.zone(), "layouts": d.layouts(), "scale": pick(d, 0, -2, -5),
	}
}

// webhook draws a callback. Its names can be paths, which a query has as they are.
func (d drawer) webhook(section table.Webhook) object {
	rename, in := d.style(), d.within("message", "contact.0", "a.b")
	if d.chance(2) {
		in = func(s string) string { return s }
	}
	params := object{}
	for _, concept := range keys(section.Params) {
		params[concept] = []string{in(rename(concept)), "other." + concept}
	}
	events := pick(d, []string{}, []string{""}, []string{"results"}, []string{"data.0.events", "other"}, []string{"absent", "body.list"}, []string{"", "results"})
	return object{
		"params": params, "zone": d.zone(), "layouts": d.layouts(), "events": events,
		"reply": pick(d, object{}, object{}, object{"type": "text/xml", "body": "<ok/>"}),
	}
}

func (d drawer) delivery(section table.Delivery) object {
	hook := d.webhook(section.Webhook)
	statuses := object{}
	for i, status := range keys(section.Statuses) {
		statuses[status] = pick(d, []string{strconv.Itoa(i + 1)}, d.words(2, strings.ToUpper(status)))
	}
	hook["statuses"] = statuses
	open, end := "%", ""
	switch d.IntN(3) {
	case 0:
		open, end = "{", "}"
	case 1:
		open, end = "__", "__"
	}
	placeholders := object{}
	for _, concept := range keys(section.Placeholders) {
		placeholders[concept] = open + strings.ToLower(concept) + end
		if d.chance(6) && !slices.Contains([]string{"id", "status"}, concept) {
			placeholders[concept] = ""
		}
	}
	hook["placeholders"] = placeholders
	return hook
}
