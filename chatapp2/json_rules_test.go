package chatapp2

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jsonPath leads from the top of a body to a value: the names of members, and the places in lists.
type jsonPath []any

func (p jsonPath) String() string {
	var b strings.Builder
	for _, step := range p {
		if i, ok := step.(int); ok {
			b.WriteString("[" + strconv.Itoa(i) + "]")
		} else {
			b.WriteString("." + step.(string))
		}
	}
	return b.String()
}

// with returns a longer path, and leaves the shorter one alone.
func (p jsonPath) with(steps ...any) jsonPath { return append(slices.Clip(p), steps...) }

// of returns the value that the path leads to, nil if there is none.
func (p jsonPath) of(tree any) any {
	for _, step := range p {
		switch s := step.(type) {
		case string:
			object, _ := tree.(map[string]any)
			tree = object[s]
		case int:
			list, _ := tree.([]any)
			if s >= len(list) {
				return nil
			}
			tree = list[s]
		}
	}
	return tree
}

// set puts a value where the path leads.
func (p jsonPath) set(tree, value any) {
	switch last := p[len(p)-1].(type) {
	case string:
		p[:len(p)-1].of(tree).(map[string]any)[last] = value
	case int:
		p[:len(p)-1].of(tree).([]any)[last] = value
	}
}

// remove takes away what the path leads to: a member of an object.
func (p jsonPath) remove(tree any) {
	delete(p[:len(p)-1].of(tree).(map[string]any), p[len(p)-1].(string))
}

// jsonRule says what the documentation asks of a value in a body.
type jsonRule struct {
	path jsonPath
	// field is its path in the message.
	field string
	// required says that sending rejects a body without it, at the field or inside it.
	required bool
	// reshaped says that without it the body comes back in another shape, which sending rejects all the same.
	reshaped bool
	// bad are values that sending rejects at the field.
	bad []any
}

// jsonRules are the rules that the documentation has for one body. They are written down here once more, apart from the checks of the
// package.
type jsonRules struct {
	body map[string]any
	all  []jsonRule
}

func jsonRulesOf(body map[string]any) []jsonRule {
	r := &jsonRules{body: body}
	r.add("Recipient", jsonPath{"recipient"}, false, "13491208655302741918", "USA.1", "us.1", "US.1-2", "US."+strings.Repeat("1", 129))
	r.add("CallbackData", jsonPath{"biz_opaque_callback_data"}, false, strings.Repeat("a", 513))
	r.add("MarketingOptions.ProductPolicy", jsonPath{"product_policy"}, false, "LAX")
	r.add("Fallback.From", jsonPath{"fallback", "from"}, false, "")
	r.add("Fallback.Text", jsonPath{"fallback", "text"}, false, "")
	r.add("TTL", jsonPath{"ttl"}, false, "-1s")
	r.add("CallbackURL", jsonPath{"callbackURL"}, false, "a.example", "ftp://a.example")
	switch body["to"] {
	case nil:
		r.all = append(r.all, jsonRule{path: jsonPath{"recipient"}, field: "To", required: true})
	default:
		r.add("To", jsonPath{"to"}, body["recipient"] == nil, "1234", "1234567890123456", "15550001111,15550002222", "x")
	}
	kind, _ := body["type"].(string)
	if kind = strings.ToLower(kind); kind == "" {
		kind = "text"
	}
	at := jsonPath{kind}
	r.add("Content", at, true)
	switch kind {
	case "text":
		r.text("Content.Body", at.with("body"), true, 4096)
	case "image", "video", "document":
		r.medium("Content", at)
		r.text("Content.Caption", at.with("caption"), false, 1024)
	case "audio", "sticker":
		r.medium("Content", at)
	case "location":
		r.location("Content", at)
	case "contacts":
		r.contacts(at)
	case "reaction":
		r.text("Content.MessageID", at.with("message_id"), true, 0)
		r.add("Content.Emoji", at.with("emoji"), true, "a", "👍👍", "👍 ")
		r.all = append(r.all, jsonRule{path: jsonPath{"context"}, field: "ReplyTo", bad: []any{map[string]any{"message_id": "wamid.A"}}})
	case "interactive":
		r.interactive(at)
	case "template":
		r.template(at)
	}
	if kind != "template" {
		r.all = append(r.all, jsonRule{path: jsonPath{"message_activity_sharing"}, field: "MarketingOptions", bad: []any{true}})
	}
	return r.all
}

// add notes the rules for a value, if the body has it.
func (r *jsonRules) add(field string, path jsonPath, required bool, bad ...any) {
	if path.of(r.body) != nil {
		r.all = append(r.all, jsonRule{path: path, field: field, required: required, bad: bad})
	}
}

// reshaped notes that a value is required.
func (r *jsonRules) reshaped(field string, path jsonPath) {
	if path.of(r.body) != nil {
		r.all = append(r.all, jsonRule{path: path, field: field, required: true, reshaped: true})
	}
}

// text notes the rules for a text: at most so many characters, if that is not 0, and no mere white space if it is required.
func (r *jsonRules) text(field string, path jsonPath, required bool, most int, bad ...any) {
	if most > 0 {
		bad = append(bad, strings.Repeat("é", most+1))
	}
	if required {
		bad = append(bad, "", " \n")
	}
	r.add(field, path, required, bad...)
}

// list notes the rules for a list, of at least one and at most so many elements, and returns the path of each element.
func (r *jsonRules) list(field string, path jsonPath, most int) []jsonPath {
	list, _ := path.of(r.body).([]any)
	if list == nil {
		return nil
	}
	bad := []any{[]any{}}
	if most > 0 {
		long := slices.Clone(list)
		for len(long) <= most {
			long = append(long, list[0])
		}
		bad = append(bad, long)
	}
	r.add(field, path, true, bad...)
	return r.elements(path)
}

func (r *jsonRules) elements(path jsonPath) []jsonPath {
	list, _ := path.of(r.body).([]any)
	all := make([]jsonPath, len(list))
	for i := range list {
		all[i] = path.with(i)
	}
	return all
}

func (r *jsonRules) medium(field string, at jsonPath) {
	r.add(field, at.with("id"), true, "")
	r.add(field, at.with("link"), true, "")
	r.add(field+".Link", at.with("link"), false, "/a.png", "ftp://a.example/b", "https:// a.example")
	for _, other := range []string{"id", "link"} { // both
		if at.with(other).of(r.body) == nil {
			r.all = append(r.all, jsonRule{path: at.with(other), field: field, bad: []any{"https://example.com/b"}})
		}
	}
}

func (r *jsonRules) location(field string, at jsonPath) {
	r.add(field+".Latitude", at.with("latitude"), true, 90.5, "-91")
	r.add(field+".Longitude", at.with("longitude"), true, -180.5, "181")
}

func (r *jsonRules) contacts(at jsonPath) {
	for i, contact := range r.list("Content", at, 257) {
		own := fmt.Sprintf("Content[%d]", i)
		r.add(own+".Name", contact.with("name"), true)
		r.text(own+".Name.FormattedName", contact.with("name", "formatted_name"), true, 0)
		if name, _ := contact.with("name").of(r.body).(map[string]any); len(name) == 2 {
			for part := range name {
				if part != "formatted_name" {
					r.add(own+".Name", contact.with("name", part), true)
				}
			}
		}
		r.add(own+".Birthday", contact.with("birthday"), false, "18-08-2012", "2012-02-30")
	}
}

func (r *jsonRules) interactive(at jsonPath) {
	kind := strings.ToLower(at.with("type").of(r.body).(string))
	bodyMost := 1024
	if kind == "list" {
		bodyMost = 4096
	}
	bodyRequired := kind != "product" && kind != "call_permission_request"
	r.add("Content.Body", at.with("body"), bodyRequired)
	r.text("Content.Body", at.with("body", "text"), bodyRequired, bodyMost)
	if at.with("footer").of(r.body) != nil {
		r.text("Content.Footer", at.with("footer", "text"), false, 60)
	}
	text, image := map[string]any{"type": "text", "text": "x"}, map[string]any{"type": "image", "image": map[string]any{"id": "1"}}
	switch kind {
	case "product", "catalog_message", "location_request_message", "carousel":
		r.all = append(r.all, jsonRule{path: at.with("header"), field: "Content.Header", bad: []any{text, image}})
	case "list":
		r.all = append(r.all, jsonRule{path: at.with("header"), field: "Content.Header", bad: []any{image}})
	case "product_list":
		r.all = append(r.all, jsonRule{path: at.with("header"), field: "Content.Header", required: true, bad: []any{image}})
	case "order_details":
		r.all = append(r.all, jsonRule{path: at.with("header"), field: "Content.Header", bad: []any{text}})
	}
	r.header("Content.Header", at.with("header"))
	r.action(kind, at.with("action"))
}

func (r *jsonRules) header(field string, at jsonPath) {
	if at.of(r.body) == nil {
		return
	}
	r.text(field+".Text", at.with("text"), true, 60)
	r.text(field+".SubText", at.with("sub_text"), false, 60)
	for _, kind := range []string{"image", "video", "document"} {
		if at.with(kind).of(r.body) != nil {
			r.add(field, at.with(kind), true)
			r.medium(field, at.with(kind))
			r.all = append(r.all, jsonRule{path: at.with(kind, "caption"), field: field + ".Caption", bad: []any{"x"}})
		}
	}
}

func (r *jsonRules) action(kind string, at jsonPath) {
	const field = "Content.Action"
	in := at.with("parameters")
	switch kind {
	case "button":
		for i, button := range r.list(field, at.with("buttons"), 3) {
			r.add(fmt.Sprintf("%s[%d]", field, i), button.with("reply"), true)
			r.text(fmt.Sprintf("%s[%d].ID", field, i), button.with("reply", "id"), true, 256, " 1", "1 ")
			r.text(fmt.Sprintf("%s[%d].Title", field, i), button.with("reply", "title"), true, 20)
		}
	case "list":
		r.text(field+".Button", at.with("button"), true, 20)
		sections := r.list(field+".Sections", at.with("sections"), 10)
		for i, section := range sections {
			own := fmt.Sprintf("%s.Sections[%d]", field, i)
			r.text(own+".Title", section.with("title"), len(sections) > 1, 24)
			for j, one := range r.list(own+".Rows", section.with("rows"), 0) {
				r.text(fmt.Sprintf("%s.Rows[%d].ID", own, j), one.with("id"), true, 200)
				r.text(fmt.Sprintf("%s.Rows[%d].Title", own, j), one.with("title"), true, 24)
				r.text(fmt.Sprintf("%s.Rows[%d].Description", own, j), one.with("description"), false, 72)
			}
			rows := section.with("rows").of(r.body).([]any)
			r.add(field+".Sections", section.with("rows"), false, slices.Repeat(rows[:1], 11))
		}
	case "cta_url":
		r.add(field, in, true)
		r.link(field, in)
	case "flow":
		r.reshaped(field, in)
		r.text(field+".CTA", in.with("flow_cta"), true, 30)
		r.add(field, in.with("flow_id"), true, "")
		r.add(field, in.with("flow_name"), true, "")
		for _, other := range []string{"flow_id", "flow_name"} { // both
			if in.with(other).of(r.body) == nil {
				r.all = append(r.all, jsonRule{path: in.with(other), field: field, bad: []any{"x"}})
			}
		}
		r.add(field+".Mode", in.with("mode"), false, "secret")
		r.add(field+".Action", in.with("flow_action"), false, "jump")
		if in.with("flow_action_payload", "data").of(r.body) != nil {
			r.text(field+".Screen", in.with("flow_action_payload", "screen"), true, 0)
			r.add(field+".Data", in.with("flow_action_payload", "data"), false, map[string]any{}, "x", []any{1}, 7, true)
		}
	case "product":
		r.product(field, at)
	case "product_list":
		r.text(field+".CatalogID", at.with("catalog_id"), true, 0)
		r.products(field+".Sections", at.with("sections"))
	case "address_message":
		r.add(field, in, true)
		r.text(field+".Country", in.with("country"), true, 0, "FR")
		r.text(field+".Values.PINCode", in.with("values", "in_pin_code"), false, 6)
		for i, saved := range r.elements(in.with("saved_addresses")) {
			r.text(fmt.Sprintf("%s.SavedAddresses[%d].ID", field, i), saved.with("id"), true, 0)
			r.text(fmt.Sprintf("%s.SavedAddresses[%d].Value.PINCode", field, i), saved.with("value", "in_pin_code"), false, 6)
		}
	case "voice_call":
		r.text(field+".DisplayText", in.with("display_text"), false, 20)
		r.add(field+".TTL", in.with("ttl_minutes"), false, 43201, "43201", -1)
		r.text(field+".Payload", in.with("payload"), false, 512)
	case "carousel":
		r.cards(at)
	case "order_details":
		r.add(field, in, true)
		r.order(field, in)
	case "order_status":
		r.add(field, in, true)
		r.orderStatus(field, in)
	}
}

func (r *jsonRules) link(field string, at jsonPath) {
	r.text(field+".DisplayText", at.with("display_text"), true, 20)
	r.text(field+".URL", at.with("url"), true, 0, "example.com", "javascript:alert(1)", "https://example.com/%")
}

func (r *jsonRules) product(field string, at jsonPath) {
	r.text(field+".CatalogID", at.with("catalog_id"), true, 0)
	r.text(field+".ProductRetailerID", at.with("product_retailer_id"), true, 0)
}

func (r *jsonRules) products(field string, at jsonPath) {
	sections := r.list(field, at, 10)
	for i, section := range sections {
		own := fmt.Sprintf("%s[%d]", field, i)
		r.text(own+".Title", section.with("title"), len(sections) > 1, 24)
		for j, item := range r.list(own+".Products", section.with("product_items"), 0) {
			r.text(fmt.Sprintf("%s.Products[%d].ProductRetailerID", own, j), item.with("product_retailer_id"), true, 0)
		}
		items := section.with("product_items").of(r.body).([]any)
		r.add(field, section.with("product_items"), false, slices.Repeat(items[:1], 31))
	}
}

func (r *jsonRules) cards(at jsonPath) {
	const field = "Content.Action.Cards"
	r.all = append(r.all, jsonRule{path: jsonPath{"interactive", "footer"}, field: "Content.Footer", bad: []any{map[string]any{"text": "x"}}})
	cards := r.list(field, at.with("cards"), 0)
	r.add(field, at.with("cards"), false, []any{cards[0].of(r.body)})
	long := r.elements(at.with("cards"))
	if len(long) == 10 {
		return // the rules for each card are those of other bodies
	}
	for i, card := range cards {
		own := fmt.Sprintf("%s[%d]", field, i)
		in := card.with("action")
		if card.with("type").of(r.body) == "product" {
			r.product(own+".Action", in)
			r.all = append(r.all,
				jsonRule{path: card.with("body"), field: own + ".Body", bad: []any{map[string]any{"text": "x"}}},
				jsonRule{path: card.with("header"), field: own + ".Header", bad: []any{map[string]any{"type": "image", "image": map[string]any{"id": "1"}}}})
			if i > 0 {
				r.add(own+".Action", in.with("catalog_id"), false, "another")
			}
			continue
		}
		r.add(own+".Header", card.with("header"), true,
			map[string]any{"type": "text", "text": "x"}, map[string]any{"type": "document", "document": map[string]any{"id": "1"}})
		r.header(own+".Header", card.with("header"))
		r.text(own+".Body", card.with("body", "text"), false, 160, "a\n\n\nb")
		if in.with("buttons").of(r.body) == nil {
			r.add(own+".Action", in.with("parameters"), true)
			r.link(own+".Action", in.with("parameters"))
			continue
		}
		buttons := in.with("buttons").of(r.body).([]any)
		r.add(own+".Action", in.with("buttons"), false, []any{})
		if i > 0 && len(buttons) > 1 {
			r.add(own+".Action", in.with("buttons"), false, buttons[:1])
		}
		for j, button := range r.elements(in.with("buttons")) {
			one := fmt.Sprintf("%s.Action[%d]", own, j)
			r.add(one, button.with("quick_reply"), true)
			r.text(one+".ID", button.with("quick_reply", "id"), true, 256, " 1")
			r.text(one+".Title", button.with("quick_reply", "title"), true, 20)
		}
	}
}

func (r *jsonRules) order(field string, at jsonPath) {
	r.text(field+".ReferenceID", at.with("reference_id"), true, 60, "a b", "a/b")
	r.text(field+".Type", at.with("type"), true, 0, "soft-goods")
	r.text(field+".Currency", at.with("currency"), true, 0, "inr", "RUPEES")
	r.amount(field+".Total", at.with("total_amount"), true)
	order, own := at.with("order"), field+".Order"
	r.add(own, order, true)
	r.text(own+".Status", order.with("status"), true, 0)
	for i, item := range r.list(own+".Items", order.with("items"), 0) {
		one := fmt.Sprintf("%s.Items[%d]", own, i)
		r.text(one+".Name", item.with("name"), true, 60)
		r.add(one+".Quantity", item.with("quantity"), true, 0, -1, "0")
		r.amount(one+".Amount", item.with("amount"), true)
		r.amount(one+".SaleAmount", item.with("sale_amount"), false)
	}
	r.amount(own+".Subtotal", order.with("subtotal"), true)
	r.amount(own+".Tax", order.with("tax"), true)
	r.amount(own+".Shipping", order.with("shipping"), false)
	r.amount(own+".Discount", order.with("discount"), false)
	r.add(own+".Expiration.At", order.with("expiration", "timestamp"), order.with("expiration", "description").of(r.body) != nil, -1)
	r.add(own+".Expiration.Description", order.with("expiration", "description"), false, strings.Repeat("é", 121))
	r.add(field+".Total", at.with("total_amount", "value"), false, 1_000_000_000)
}

func (r *jsonRules) amount(field string, at jsonPath, required bool) {
	r.add(field, at, required)
	r.add(field+".Value", at.with("value"), true, -1, "-1")
	r.add(field+".Offset", at.with("offset"), true, 0, -100)
	r.add(field+".Description", at.with("description"), false, strings.Repeat("é", 61))
}

func (r *jsonRules) orderStatus(field string, at jsonPath) {
	r.text(field+".ReferenceID", at.with("reference_id"), true, 60, "a b")
	r.add(field+".Status", at.with("order"), true)
	r.text(field+".Status", at.with("order", "status"), true, 0, "lost")
	r.text(field+".Description", at.with("order", "description"), false, 120)
}

func (r *jsonRules) template(at jsonPath) {
	r.text("Content.Name", at.with("name"), true, 512, "An offer")
	r.add("Content.Language", at.with("language"), true)
	r.text("Content.Language", at.with("language", "code"), true, 0)
	r.add("Content.Policy", at.with("language", "policy"), false, "fallback")
	components := at.with("components")
	list, _ := components.of(r.body).([]any)
	most := 1024
	if len(list) == 1 {
		most = 32768
	}
	for _, one := range list {
		if one.(map[string]any)["type"] == "limited_time_offer" {
			most = 600
		}
	}
	r.components("Content.Components", components, most)
}

func (r *jsonRules) components(field string, at jsonPath, most int) {
	for i, path := range r.elements(at) {
		own := fmt.Sprintf("%s[%d]", field, i)
		parameters := path.with("parameters")
		value := parameters.with(0)
		switch kind := strings.ToLower(path.with("type").of(r.body).(string)); kind {
		case "header":
			r.add(own+".Parameter", parameters, true)
			r.add(own+".JSON", parameters, false, []any{}, []any{value.of(r.body), value.of(r.body)})
			r.parameter(own+".Parameter", value)
			r.add(own+".Parameter", value.with("text"), false, strings.Repeat("a", 61))
			r.add(own+".Parameter", value, false,
				map[string]any{"type": "currency", "currency": map[string]any{"fallback_value": "$1", "code": "USD", "amount_1000": 1}},
				map[string]any{"type": "date_time", "date_time": map[string]any{"fallback_value": "x"}})
		case "body":
			named := 0
			each := r.elements(parameters)
			for j, parameter := range each {
				r.parameter(fmt.Sprintf("%s[%d]", own, j), parameter)
				r.add(fmt.Sprintf("%s[%d]", own, j), parameter, false,
					map[string]any{"type": "image", "image": map[string]any{"id": "1"}},
					map[string]any{"type": "product", "product": map[string]any{"catalog_id": "1", "product_retailer_id": "1"}})
				r.add(own, parameter.with("text"), false, strings.Repeat("a", most+1))
				if parameter.with("parameter_name").of(r.body) != nil {
					named++
				}
			}
			if named > 1 {
				for j, parameter := range each {
					r.add(own, parameter.with("parameter_name"), true)
					if j > 0 {
						r.add(fmt.Sprintf("%s[%d].Name", own, j), parameter.with("parameter_name"), false, each[0].with("parameter_name").of(r.body))
					}
				}
			}
		case "button":
			r.button(own, path)
		case "carousel":
			r.templateCards(own, path)
		case "limited_time_offer":
			r.add(own+".ExpiresAt", value.with(kind), true)
			r.add(own+".ExpiresAt", value.with(kind, "expiration_time_ms"), true)
			r.add(own+".JSON", parameters, true, []any{value.of(r.body), value.of(r.body)})
		case "tap_target_configuration":
			r.text(own+".URL", value.with(kind, 0, "url"), true, 0, "example.com")
			r.text(own+".Title", value.with(kind, 0, "title"), true, 0)
		case "order_status":
			r.orderStatus(own, value.with(kind))
		}
		if kind := path.with("type").of(r.body); kind != "button" { // the same part twice
			again := append(slices.Clone(at.of(r.body).([]any)), path.of(r.body))
			r.add(fmt.Sprintf("%s[%d]", field, len(again)-1), at, false, again)
		}
	}
}

func (r *jsonRules) templateCards(field string, path jsonPath) {
	cards := path.with("cards")
	list := cards.of(r.body).([]any)
	r.add(field, cards, true, []any{})
	var long []any
	for i := range 11 {
		card := maps.Clone(list[0].(map[string]any))
		card["card_index"] = i
		long = append(long, card)
	}
	r.add(field, cards, false, long)
	for i, card := range r.elements(cards) {
		if i < 2 {
			r.components(fmt.Sprintf("%s[%d]", field, i), card.with("components"), 160)
		}
		if i > 0 {
			r.add(fmt.Sprintf("%s[%d]", field, i), card.with("components"), true)
		}
	}
}

func (r *jsonRules) parameter(field string, at jsonPath) {
	kind := strings.ToLower(at.with("type").of(r.body).(string))
	in := at.with(kind)
	r.add(field+".Name", at.with("parameter_name"), false, "First name")
	switch kind {
	case "text":
		r.text(field+".Text", in, true, 0)
	case "currency":
		r.add(field, in, true)
		r.text(field+".FallbackValue", in.with("fallback_value"), true, 0)
		r.text(field+".Code", in.with("code"), true, 0, "usd")
		r.add(field+".Amount1000", in.with("amount_1000"), true)
	case "date_time":
		r.add(field, in, true)
		r.text(field+".FallbackValue", in.with("fallback_value"), true, 0)
	case "location":
		r.add(field, in, true)
		r.location(field, in)
		r.text(field+".Name", in.with("name"), true, 0)
		r.text(field+".Address", in.with("address"), true, 0)
	case "product":
		r.add(field, in, true)
		r.product(field, in)
	default:
		r.add(field, in, true)
		r.medium(field, in)
		if kind != "gif" {
			r.all = append(r.all, jsonRule{path: in.with("caption"), field: field + ".Caption", bad: []any{"x"}})
		}
	}
}

func (r *jsonRules) button(field string, path jsonPath) {
	value := path.with("parameters", 0)
	kind := strings.ToLower(path.with("sub_type").of(r.body).(string))
	r.add(field+".Index", path.with("index"), kind != "voice_call", 10, "10", -1)
	switch kind {
	case "url":
		r.add(field+".Suffix", path.with("parameters"), true)
		r.reshaped(field+".Suffix", value.with("text"))
		r.text(field+".Suffix", value.with("text"), false, 2000, "", " ")
	case "copy_code":
		r.add(field+".Code", path.with("parameters"), true)
		r.reshaped(field+".Code", value.with("coupon_code"))
		r.text(field+".Code", value.with("coupon_code"), false, 20, "25 OFF", "", " ")
	case "mpm":
		r.reshaped(field, path.with("parameters"))
		r.text(field+".ThumbnailProductRetailerID", value.with("action", "thumbnail_product_retailer_id"), true, 0)
		r.products(field+".Sections", value.with("action", "sections"))
	case "flow":
		r.add(field+".Data", value.with("action", "flow_action_data"), false, "x", []any{}, 7)
	case "voice_call":
		for _, parameter := range r.elements(path.with("parameters")) {
			r.add(field+".TTL", parameter.with("ttl_minutes"), false, 43201, -1, "43201")
			r.text(field+".Payload", parameter.with("payload"), false, 512)
		}
	case "order_details":
		r.reshaped(field+".Details", path.with("parameters"))
		r.add(field+".Details", value.with("action", "order_details"), true)
		r.order(field+".Details", value.with("action", "order_details"))
	}
}

func TestBodiesWithoutARequiredMemberAreRejected(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, body := range jsonBodies(t) {
		tree := jsonTree(t, body.Body).(map[string]any)
		for _, rule := range jsonRulesOf(tree) {
			key := rule.key(tree)
			if !rule.required || rule.path.of(tree) == nil || seen[key] {
				continue
			}
			seen[key] = true
			changed := jsonTree(t, body.Body)
			rule.path.remove(changed)
			name := fmt.Sprintf("%s without %v", body.Name, rule.path)
			m := jsonRead(t, changed)
			assert.True(t, jsonRejects(t, m, rule.field, true), "%s: %s is not rejected", name, rule.field)
			if !rule.reshaped {
				assert.Empty(t, jsonDiff("", jsonPruned(changed), jsonPruned(jsonWritten(t, m))), name)
			}
		}
	}
	assert.Greater(t, len(seen), 150)
}

func TestBodiesThatBreakOneRuleAreRejected(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, body := range jsonBodies(t) {
		tree := jsonTree(t, body.Body).(map[string]any)
		for _, rule := range jsonRulesOf(tree) {
			for i, bad := range rule.bad {
				key := fmt.Sprint(rule.key(tree), i)
				if seen[key] {
					continue
				}
				seen[key] = true
				changed := jsonTree(t, body.Body)
				rule.path.set(changed, bad)
				assert.True(t, jsonRejects(t, jsonRead(t, changed), rule.field, false), "%s: %v = %.40v: %s is not rejected", body.Name, rule.path, bad, rule.field)
			}
		}
	}
	assert.Greater(t, len(seen), 400)
}

// key distinguishes rules that differ by more than the body that they are found in.
func (r jsonRule) key(tree any) string { return r.path.kind(tree) + " " + jsonWithoutPlaces(r.field) }

func jsonWithoutPlaces(field string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, field)
}

// kind names where a path leads by the types of what it goes through, so that it is the same in all bodies of one kind.
func (p jsonPath) kind(tree any) string {
	var b strings.Builder
	for i := range p {
		object, _ := p[:i].of(tree).(map[string]any)
		fmt.Fprint(&b, object["type"], object["sub_type"])
		if name, ok := p[i].(string); ok {
			b.WriteString("." + name)
		}
	}
	return strings.ToLower(b.String())
}

// jsonRead decodes a body that must be a message.
func jsonRead(t testing.TB, tree any) Message {
	t.Helper()
	raw, err := json.Marshal(tree)
	require.NoError(t, err)
	var m Message
	require.NoError(t, json.Unmarshal(raw, &m), "%s", raw)
	return m
}

// jsonWritten encodes a message.
func jsonWritten(t testing.TB, m Message) any {
	t.Helper()
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return jsonTree(t, raw)
}

// jsonRejects reports whether a message is rejected at a field, or inside it if that will do, or at the narrowest raw part that
// holds the field.
func jsonRejects(t testing.TB, m Message, field string, inside bool) bool {
	t.Helper()
	for _, problem := range problemsOf(m) {
		rest, ok := strings.CutPrefix(problem.Field, field)
		if ok && (rest == "" || inside && (rest[0] == '.' || rest[0] == '[')) {
			return true
		}
		if raw, isRaw := strings.CutSuffix(problem.Field, ".JSON"); isRaw && strings.HasPrefix(field, raw) {
			return true
		}
	}
	return false
}

// jsonPruned returns a body without what counts as absent: null, false, an empty text, object or list.
func jsonPruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		pruned := map[string]any{}
		for name, one := range v {
			if one = jsonPruned(one); one != nil {
				pruned[name] = one
			}
		}
		if len(pruned) > 0 {
			return pruned
		}
		return nil
	case []any:
		if len(v) == 0 {
			return nil
		}
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = jsonPruned(one)
		}
		return all
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return value
}
