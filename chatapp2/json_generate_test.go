package chatapp2

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type jsonObject = map[string]any

// jsonMaker makes bodies in the platform's shape at random, all of which its documentation allows.
type jsonMaker struct{ *rand.Rand }

func TestGeneratedBodiesAreTypedLosslessAndValid(t *testing.T) {
	t.Parallel()
	maker := jsonMaker{rand.New(rand.NewPCG(2026, 9))}
	types := map[string]int{}
	for i := range 3000 {
		raw, err := json.Marshal(maker.body())
		require.NoError(t, err)
		tree := jsonTree(t, raw)
		m := jsonRead(t, tree)
		for name := range strings.FieldsSeq(jsonHolds(m)) {
			types[name]++
		}
		require.Empty(t, jsonRaws(m), "body %d is not typed: %s", i, raw)
		require.Empty(t, jsonDiff("", tree, jsonWritten(t, m)), "body %d: %s", i, raw)
		require.Empty(t, problemsOf(m), "body %d: %s", i, raw)
	}
	assert.Len(t, types, 45, "the types that were made: %v", types)
}

func TestGeneratedBodiesAreRejectedIfOneRuleIsBroken(t *testing.T) {
	t.Parallel()
	maker := jsonMaker{rand.New(rand.NewPCG(9, 2026))}
	for i := range 2000 {
		raw, err := json.Marshal(maker.body())
		require.NoError(t, err)
		tree := jsonTree(t, raw)
		rules := jsonRulesOf(tree.(jsonObject))
		rule := rules[maker.IntN(len(rules))]
		what := "without it"
		switch {
		case rule.required && (len(rule.bad) == 0 || maker.IntN(2) == 0):
			rule.path.remove(tree)
		case len(rule.bad) > 0:
			bad := rule.bad[maker.IntN(len(rule.bad))]
			rule.path.set(tree, bad)
			what = fmt.Sprintf("%.40v", bad)
		default:
			continue
		}
		require.True(t, jsonRejects(t, jsonRead(t, tree), rule.field, true), "body %d, %v %s: %s is not rejected: %s", i, rule.path, what, rule.field, raw)
	}
}

func (r jsonMaker) often() bool { return r.IntN(3) > 0 }

func (r jsonMaker) maybe() bool { return r.IntN(3) == 0 }

// text returns a text of 1 to so many characters, with no white space around it.
func (r jsonMaker) text(most int) string {
	n := 1 + r.IntN(min(most, 12))
	if r.IntN(30) == 0 {
		n = most
	}
	some := []rune("abcXYZ 012\"\\<>&/%'é日\u2028\t😀\u0001")
	var b strings.Builder
	for i := range n {
		if i == 0 || i == n-1 {
			b.WriteByte('a' + byte(r.IntN(26)))
		} else {
			b.WriteRune(some[r.IntN(len(some))])
		}
	}
	return b.String()
}

// word returns a text of so many characters out of a set.
func (r jsonMaker) word(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return string(b)
}

func jsonPick[T any](r jsonMaker, all ...T) T { return all[r.IntN(len(all))] }

// number returns a whole number, as one or in quotes.
func (r jsonMaker) number(n int) any { return r.number64(int64(n)) }

func (r jsonMaker) number64(n int64) any {
	if r.maybe() {
		return strconv.FormatInt(n, 10)
	}
	return n
}

// in spells a type in one of the ways that are met.
func (r jsonMaker) in(word string) string {
	if r.IntN(8) == 0 {
		return strings.ToUpper(word)
	}
	return word
}

// set sets a member of an object, or does not.
func (r jsonMaker) set(object jsonObject, name string, value any) {
	if r.maybe() {
		object[name] = value
	}
}

func (r jsonMaker) url() string {
	return jsonPick(r, "https", "http") + "://example.com/" + r.word("abc/", r.IntN(9)) + jsonPick(r, "", "?a=b&c=%20", "#x")
}

func (r jsonMaker) medium() jsonObject {
	if r.maybe() {
		medium := jsonObject{"link": r.url()}
		r.set(medium, "provider", jsonObject{"name": r.text(20)})
		return medium
	}
	return jsonObject{"id": r.word("0123456789", 1+r.IntN(16))}
}

func (r jsonMaker) body() jsonObject {
	content, kind := r.content()
	body := jsonObject{"messaging_product": "whatsapp", "type": kind}
	if content != nil {
		body[kind] = content
	}
	switch {
	case r.IntN(5) == 0:
		body["recipient"] = jsonPick(r, "US.", "PH.") + r.word("0123456789abcXYZ", 1+r.IntN(100))
		if r.maybe() {
			body["recipient"] = "BR.ENT." + r.word("0123456789", 1+r.IntN(20))
		}
	case r.maybe():
		body["to"] = json.Number("1" + r.word("0123456789", 4+r.IntN(11)))
	default:
		body["to"] = jsonPick(r, "", "+") + r.word("0123456789", 5+r.IntN(11))
		r.set(body, "recipient", "US."+r.word("0123456789", 10))
	}
	r.set(body, "recipient_type", "individual")
	if kind == "text" && r.maybe() {
		delete(body, "type")
	}
	if kind != "reaction" {
		r.set(body, "context", jsonObject{"message_id": "wamid." + r.word("ABCabc012=", 20)})
	}
	r.set(body, "biz_opaque_callback_data", r.text(512))
	r.set(body, "recipient_identity_key_hash", r.text(20))
	if kind == "template" {
		r.set(body, "product_policy", jsonPick(r, "CLOUD_API_FALLBACK", "STRICT"))
		r.set(body, "message_activity_sharing", r.maybe())
		r.set(body, "optimization_spec", jsonObject{"per_message_bid_multiplier": jsonPick[any](r, 1.5, "2", 3)})
	}
	if kind == "text" || kind == "interactive" {
		r.set(body, "category", jsonPick(r, "utility", "authentication"))
		r.set(body, "direct_send_config", jsonObject{"template_name": r.text(9)})
	}
	r.set(body, "ttl", jsonPick(r, "30s", "1h0m0s", "1.25s", "720h0m0s"))
	if r.maybe() {
		body["fallback"] = jsonObject{"from": "ACME", "text": r.text(160)}
	}
	r.set(body, "callbackURL", "https://a.example/?s=%s&t=%t")
	r.set(body, "referenceID", r.text(30))
	return body
}

func (r jsonMaker) content() (content any, kind string) {
	switch kind = jsonPick(r, "text", "image", "video", "audio", "document", "sticker", "location", "contacts", "reaction",
		"interactive", "interactive", "interactive", "interactive", "interactive", "interactive",
		"template", "template", "template", "template", "template", "template"); kind {
	case "text":
		text := jsonObject{"body": r.text(4096)}
		r.set(text, "preview_url", r.maybe())
		return text, kind
	case "audio":
		audio := r.medium()
		r.set(audio, "voice", r.often())
		return audio, kind
	case "image", "video", "document":
		medium := r.medium()
		r.set(medium, "caption", r.text(1024))
		if kind == "document" {
			r.set(medium, "filename", r.text(100))
		}
		return medium, kind
	case "sticker":
		return r.medium(), kind
	case "location":
		return r.location(r.maybe()), kind
	case "contacts":
		all := make([]any, 1+r.IntN(3))
		for i := range all {
			all[i] = r.contact()
		}
		return all, kind
	case "reaction":
		return jsonObject{"message_id": r.text(60), "emoji": jsonPick(r, "", "👍", "❤️", "👩🏽‍💻", "🇵🇭", "5️⃣", "™️")}, kind
	case "interactive":
		return r.interactive(), kind
	default:
		return r.template(), kind
	}
}

func (r jsonMaker) degrees(most float64) any {
	n := float64(r.IntN(int(most*2e6)))/1e6 - most
	return jsonPick[any](r, n, strconv.FormatFloat(n, 'f', -1, 64), 0, "0", -most)
}

func (r jsonMaker) location(complete bool) jsonObject {
	location := jsonObject{"latitude": r.degrees(90), "longitude": r.degrees(180)}
	if complete || r.maybe() {
		location["name"] = r.text(60)
	}
	if complete || r.maybe() {
		location["address"] = r.text(60)
	}
	return location
}

// some returns an object with some of its members, all of them texts.
func (r jsonMaker) some(names ...string) jsonObject {
	object := jsonObject{names[0]: r.text(30)}
	for _, name := range names[1:] {
		r.set(object, name, r.text(30))
	}
	return object
}

func (r jsonMaker) contact() jsonObject {
	name := r.some("formatted_name", "first_name", "last_name", "middle_name", "suffix", "prefix")
	name[jsonPick(r, "first_name", "last_name", "middle_name", "suffix", "prefix")] = r.text(20)
	contact := jsonObject{"name": name}
	r.set(contact, "addresses", []any{r.some("street", "city", "state", "zip", "country", "country_code", "type")})
	r.set(contact, "birthday", jsonPick(r, "2012-08-18", "2000-02-29"))
	r.set(contact, "emails", []any{r.some("email", "type"), r.some("type", "email")})
	r.set(contact, "org", r.some("company", "department", "title"))
	r.set(contact, "phones", []any{r.some("phone", "type", "wa_id")})
	r.set(contact, "urls", []any{r.some("url", "type")})
	return contact
}

func (r jsonMaker) header(kinds ...string) jsonObject {
	kind := jsonPick(r, kinds...)
	header := jsonObject{"type": r.in(kind)}
	switch kind {
	case "text":
		header["text"] = r.text(60)
		r.set(header, "sub_text", r.text(60))
	case "document":
		document := r.medium()
		r.set(document, "filename", r.text(30))
		header[kind] = document
	default:
		header[kind] = r.medium()
	}
	return header
}

func (r jsonMaker) interactive() jsonObject {
	kind := jsonPick(r, "button", "list", "cta_url", "location_request_message", "flow", "product", "product_list", "catalog_message",
		"address_message", "voice_call", "call_permission_request", "carousel", "order_details", "order_status", "request_contact_info")
	all := jsonObject{"type": r.in(kind), "action": r.action(kind)}
	most := 1024
	headers := []string{"text", "image", "video", "document"}
	switch kind {
	case "list":
		most, headers = 4096, headers[:1]
	case "product", "catalog_message", "location_request_message", "carousel":
		headers = nil
	case "product_list":
		all["header"] = r.header("text")
	case "order_details":
		headers = headers[1:2]
	}
	if kind != "product" && kind != "call_permission_request" || r.maybe() {
		all["body"] = jsonObject{"text": r.text(most)}
	}
	if headers != nil && kind != "product_list" {
		r.set(all, "header", r.header(headers...))
	}
	if kind != "carousel" {
		r.set(all, "footer", jsonObject{"text": r.text(60)})
	}
	return all
}

func (r jsonMaker) action(kind string) jsonObject {
	named := func(name string, parameters jsonObject) jsonObject {
		return jsonObject{"name": name, "parameters": parameters}
	}
	switch kind {
	case "button":
		return jsonObject{"buttons": r.buttons("reply", 1+r.IntN(3), 256)}
	case "list":
		return r.list()
	case "cta_url":
		link := r.link()
		r.set(link, "payment_link_preview", true)
		return named(kind, link)
	case "location_request_message":
		return jsonObject{"name": "send_location"}
	case "flow":
		flow := jsonObject{"flow_message_version": "3", jsonPick(r, "flow_id", "flow_name"): r.text(20), "flow_cta": r.text(30)}
		r.set(flow, "mode", jsonPick(r, "draft", "published"))
		r.set(flow, "flow_token", r.text(20))
		r.set(flow, "flow_action", jsonPick(r, "navigate", "data_exchange"))
		if r.maybe() {
			payload := jsonObject{"screen": r.text(20)}
			r.set(payload, "data", r.data())
			flow["flow_action_payload"] = payload
		}
		return named(kind, flow)
	case "product":
		return jsonObject{"catalog_id": r.text(20), "product_retailer_id": r.text(20)}
	case "product_list":
		return jsonObject{"catalog_id": r.text(20), "sections": r.products()}
	case "catalog_message":
		return named(kind, jsonObject{"thumbnail_product_retailer_id": r.text(20)})
	case "address_message":
		values := func() jsonObject {
			values := r.some("name", "phone_number", "house_number", "floor_number", "tower_number", "building_name", "address", "landmark_area", "city", "state")
			r.set(values, "in_pin_code", r.word("0123456789", 6))
			return values
		}
		address := jsonObject{"country": "IN"}
		r.set(address, "values", values())
		r.set(address, "validation_errors", r.some("in_pin_code", "city", "anything"))
		r.set(address, "saved_addresses", []any{jsonObject{"id": "1", "value": values()}, jsonObject{"id": "2"}})
		return named(kind, address)
	case "voice_call":
		call := jsonObject{"display_text": r.text(20)}
		r.set(call, "ttl_minutes", r.number(1+r.IntN(43200)))
		r.set(call, "payload", r.text(512))
		return named(kind, call)
	case "carousel":
		return r.cards()
	case "order_details":
		return named("review_and_pay", r.order())
	case "order_status":
		status := r.orderStatus()
		r.set(status, "payment", jsonObject{"status": "captured", "timestamp": r.number(1722445231)})
		return named("review_order", status)
	default:
		return jsonObject{"name": kind}
	}
}

func (r jsonMaker) buttons(kind string, n, mostID int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = jsonObject{"type": r.in(kind), kind: jsonObject{"id": strconv.Itoa(i) + r.text(mostID-1), "title": strconv.Itoa(i) + r.text(19)}}
	}
	return all
}

func (r jsonMaker) link() jsonObject { return jsonObject{"display_text": r.text(20), "url": r.url()} }

func (r jsonMaker) list() jsonObject {
	var sections []any
	left := 1 + r.IntN(10)
	for n := 0; left > 0; n++ {
		rows := make([]any, 1+r.IntN(left))
		left -= len(rows)
		for i := range rows {
			row := jsonObject{"id": fmt.Sprint(n, i) + r.text(190), "title": r.text(24)}
			r.set(row, "description", r.text(72))
			rows[i] = row
		}
		sections = append(sections, jsonObject{"title": r.text(24), "rows": rows})
	}
	if len(sections) == 1 && r.maybe() {
		delete(sections[0].(jsonObject), "title")
	}
	return jsonObject{"button": r.text(20), "sections": sections}
}

func (r jsonMaker) products() []any {
	sections := make([]any, 1+r.IntN(10))
	for i := range sections {
		items := make([]any, 1+r.IntN(3))
		for j := range items {
			items[j] = jsonObject{"product_retailer_id": r.text(20)}
		}
		sections[i] = jsonObject{"title": r.text(24), "product_items": items}
	}
	if len(sections) == 1 && r.maybe() {
		delete(sections[0].(jsonObject), "title")
	}
	return sections
}

// data returns a JSON object with at least one member, or the text of one.
func (r jsonMaker) data() any {
	data := jsonObject{r.text(9): jsonPick[any](r, nil, true, "", 1.5, []any{}, []any{jsonObject{"a": nil}}), "b": jsonObject{}}
	if r.maybe() {
		return `{"a": [1, "<b>"]}`
	}
	return data
}

func (r jsonMaker) cards() jsonObject {
	cards := make([]any, 2+r.IntN(9))
	kind, n, medium := jsonPick(r, "link", "buttons", "product"), 1+r.IntN(2), jsonPick(r, "image", "video")
	for i := range cards {
		card := jsonObject{"card_index": r.number(i), "type": r.in("cta_url")}
		if kind == "product" {
			card["type"], card["action"] = "product", jsonObject{"product_retailer_id": r.text(9), "catalog_id": "1"}
			cards[i] = card
			continue
		}
		card["header"] = r.header(medium)
		r.set(card, "body", jsonObject{"text": r.text(158) + jsonPick(r, "", "\n\n")})
		if kind == "link" {
			card["action"] = jsonObject{"name": "cta_url", "parameters": r.link()}
		} else {
			card["action"] = jsonObject{"buttons": r.buttons("quick_reply", n, 256)}
		}
		cards[i] = card
	}
	return jsonObject{"cards": cards}
}

func (r jsonMaker) amount(value int) jsonObject {
	return jsonObject{"value": r.number(value), "offset": r.number(100)}
}

func (r jsonMaker) order() jsonObject {
	items := make([]any, 1+r.IntN(3))
	for i := range items {
		item := jsonObject{"name": r.text(60), "amount": r.amount(r.IntN(1000)), "quantity": r.number(1 + r.IntN(9))}
		r.set(item, "retailer_id", r.text(20))
		r.set(item, "sale_amount", r.amount(r.IntN(1000)))
		r.set(item, "image", jsonObject{"link": r.url()})
		r.set(item, "country_of_origin", r.text(20))
		r.set(item, "importer_name", r.text(20))
		r.set(item, "importer_address", r.some("address_line1", "address_line2", "city", "zone_code", "postal_code", "country_code"))
		items[i] = item
	}
	total := 0
	order := jsonObject{"status": "pending", "items": items}
	for _, name := range []string{"subtotal", "tax", "shipping"} {
		if name == "shipping" && r.maybe() {
			continue
		}
		value := r.IntN(100000)
		amount := r.amount(value)
		if name != "subtotal" {
			r.set(amount, "description", r.text(60))
		}
		order[name] = amount
		total += value
	}
	if r.maybe() {
		value := r.IntN(total + 1)
		order["discount"] = r.amount(value)
		r.set(order["discount"].(jsonObject), "discount_program_name", r.text(60))
		total -= value
	}
	r.set(order, "expiration", jsonObject{"timestamp": r.number(1893456000), "description": r.text(120)})
	r.set(order, "catalog_id", r.text(20))
	r.set(order, "type", "quick_pay")
	details := jsonObject{
		"reference_id": r.word("abcXYZ012_.-", 1+r.IntN(60)), "type": jsonPick(r, "digital-goods", "physical-goods"), "currency": jsonPick(r, "INR", "BRL", "SGD"),
		"total_amount": r.amount(total), "order": order,
	}
	r.set(details, "payment_type", jsonPick(r, "br", "upi"))
	r.set(details, "payment_configuration", r.text(30))
	r.set(details, "payment_settings", []any{jsonObject{"type": "payment_link", "payment_link": jsonObject{"uri": r.url()}}})
	r.set(details, "shipping_info", jsonObject{"country": "IN", "addresses": []any{r.some("name", "city", "house_number")}})
	r.set(details, "beneficiaries", []any{r.some("name", "address_line1", "address_line2", "city", "state", "country", "postal_code")})
	return details
}

func (r jsonMaker) orderStatus() jsonObject {
	order := jsonObject{"status": jsonPick(r, "pending", "processing", "partially-shipped", "partially_shipped", "shipped", "completed", "canceled")}
	r.set(order, "description", r.text(120))
	return jsonObject{"reference_id": r.word("abcXYZ012_.-", 1+r.IntN(60)), "order": order}
}

func (r jsonMaker) template() jsonObject {
	language := jsonObject{"code": jsonPick(r, "en", "en_US", "pt_BR")}
	r.set(language, "policy", "deterministic")
	template := jsonObject{"name": r.word("abc012_", 1+r.IntN(512)), "language": language}
	if r.often() {
		template["components"] = r.components(false)
	}
	return template
}

func (r jsonMaker) components(onCard bool) []any {
	all := []any{}
	add := func(kind string, parameters ...any) {
		all = append(all, jsonObject{"type": r.in(kind), "parameters": parameters})
	}
	body := r.bodyParameters()
	if r.maybe() {
		header := r.headerParameter()
		if len(body) > 0 && header["text"] != nil { // with names, or without
			delete(header, "parameter_name")
			for _, parameter := range body {
				if parameter.(jsonObject)["parameter_name"] != nil {
					header["parameter_name"] = "name_h"
				}
			}
		}
		add("header", header)
	}
	if r.often() {
		add("body", body...)
	}
	if !onCard && r.IntN(6) == 0 {
		all = append(all, r.templateCards())
	}
	if !onCard && r.IntN(6) == 0 {
		add("limited_time_offer", jsonObject{"type": "limited_time_offer", "limited_time_offer": jsonObject{"expiration_time_ms": r.number64(1893456000123)}})
		all[len(all)-1].(jsonObject)["type"] = "limited_time_offer"
	}
	if !onCard && r.IntN(6) == 0 {
		add("tap_target_configuration", jsonObject{"type": "tap_target_configuration", "tap_target_configuration": []any{jsonObject{"url": r.url(), "title": r.text(30)}}})
	}
	if !onCard && r.IntN(6) == 0 {
		add("order_status", jsonObject{"type": "order_status", "order_status": r.orderStatus()})
	}
	kinds := []string{"quick_reply", "quick_reply", "url", "url", "copy_code", "catalog", "mpm", "flow", "voice_call", "order_details"}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for i, kind := range kinds[:r.IntN(len(kinds)+1)/(1+r.IntN(3))] {
		all = append(all, r.button(kind, i))
	}
	return all
}

func (r jsonMaker) headerParameter() jsonObject {
	kind := jsonPick(r, "text", "image", "video", "document", "gif", "location", "product")
	parameter := jsonObject{"type": r.in(kind)}
	switch kind {
	case "text":
		parameter[kind] = r.text(60)
		r.set(parameter, "parameter_name", "name_1")
	case "location":
		parameter[kind] = r.location(true)
	case "product":
		parameter[kind] = jsonObject{"product_retailer_id": r.text(20), "catalog_id": r.text(20)}
	default:
		parameter[kind] = r.medium()
	}
	return parameter
}

func (r jsonMaker) bodyParameters() []any {
	all := make([]any, r.IntN(5))
	named := r.maybe()
	for i := range all {
		kind := jsonPick(r, "text", "text", "currency", "date_time")
		parameter := jsonObject{"type": r.in(kind)}
		switch kind {
		case "text":
			parameter[kind] = r.text(40)
		case "currency":
			parameter[kind] = jsonObject{"fallback_value": r.text(9), "code": "USD", "amount_1000": r.number(r.IntN(100000))}
		default:
			date := jsonObject{"fallback_value": r.text(20)}
			for name, most := range map[string]int{"day_of_week": 7, "year": 2030, "month": 12, "day_of_month": 31} {
				r.set(date, name, r.number(1+r.IntN(most)))
			}
			r.set(date, "hour", r.number(r.IntN(24)))
			r.set(date, "minute", r.number(r.IntN(60)))
			r.set(date, "calendar", "GREGORIAN")
			parameter[kind] = date
		}
		if named {
			parameter["parameter_name"] = "name_" + strconv.Itoa(i)
		}
		all[i] = parameter
	}
	return all
}

func (r jsonMaker) button(kind string, index int) jsonObject {
	button := jsonObject{"type": r.in("button"), "sub_type": r.in(kind), "index": r.number(index)}
	var parameters []any
	add := func(kind string, value any) {
		parameters = append(parameters, jsonObject{"type": r.in(kind), kind: value})
	}
	switch kind {
	case "quick_reply":
		if r.often() {
			kind := jsonPick(r, "payload", "payload", "text")
			add(kind, r.text(100))
		}
	case "url":
		add("text", r.text(2000))
		r.set(parameters[0].(jsonObject), "payment_link_preview", true)
	case "copy_code":
		add("coupon_code", r.word("abcXYZ012", 1+r.IntN(15)))
	case "catalog":
		if r.often() {
			add("action", jsonObject{"thumbnail_product_retailer_id": r.text(20)})
		}
	case "mpm":
		add("action", jsonObject{"thumbnail_product_retailer_id": r.text(20), "sections": r.products()})
	case "flow":
		if r.often() {
			action := jsonObject{"flow_token": r.text(20)}
			r.set(action, "flow_action_data", r.data())
			add("action", action)
		}
	case "voice_call":
		if r.often() {
			add("ttl_minutes", r.number(1+r.IntN(43200)))
		}
		if r.often() {
			add("payload", r.text(512))
		}
	case "order_details":
		add("action", jsonObject{"order_details": r.order()})
	}
	if parameters != nil {
		button["parameters"] = parameters
	}
	return button
}

func (r jsonMaker) templateCards() jsonObject {
	header, button := jsonPick(r, "image", "video", "product"), jsonPick(r, "quick_reply", "url")
	cards := make([]any, 2+r.IntN(9))
	for i := range cards {
		parameter := jsonObject{"type": header, header: r.medium()}
		if header == "product" {
			parameter[header] = jsonObject{"product_retailer_id": r.text(20), "catalog_id": r.text(20)}
		}
		cards[i] = jsonObject{"card_index": r.number(i), "components": []any{
			jsonObject{"type": "header", "parameters": []any{parameter}},
			jsonObject{"type": "body", "parameters": []any{jsonObject{"type": "text", "text": r.text(160)}}},
			r.button(button, 0),
		}}
	}
	return jsonObject{"type": r.in("carousel"), "cards": cards}
}
