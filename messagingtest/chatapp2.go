package messagingtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

const platformProduct = "whatsapp"

// envelopeRules returns what stands beside the content of a chat-app-2 message. The members are those of the third-party
// platform.
func envelopeRules() []rule {
	hasPoint := func(s string) bool { return strings.Contains(s, ".") } // behind the country code
	return []rule{
		need("messaging_product", isOneOf(platformProduct)),
		may("recipient_type", isOneOf("individual", "group")),
		may("to", isFilled),
		may("recipient", isTextThat(hasPoint, codeRecipient, " is not a user ID")),
		may("type", isFilled),
		may("context", isObject(need("message_id", isFilled))),
		may("category", isOneOf(string(CategoryUtility), string(CategoryAuthentication))),
		may("product_policy", isOneOf("CLOUD_API_FALLBACK", "STRICT")),
		may("message_activity_sharing", isFlag),
		may("preview_url", isFlag),
		may("biz_opaque_callback_data", isText),
		may("recipient_identity_key_hash", isText),
		may("bid_spec", isObject()),
		may("direct_send_config", isObject()),
	}
}

func readChatApp2(f fields) (submission, *problem) {
	platform := f.platformMessage()
	if p := checkMembers("", platform, envelopeRules()); p != nil {
		return submission{}, p
	}
	of := platform.text
	m := submission{strict: of("product_policy") == "STRICT", toUser: of("to") == ""}
	to, kind, group := cmp.Or(of("to"), of("recipient")), cmp.Or(of("type"), "text"), of("recipient_type") == "group"
	switch {
	case to == "", group && m.toUser:
		return m, &problem{codeMissing, "there is neither to nor recipient, or the message is for a group and there is no to"}
	case !group && !m.toUser && !isMobileNumber(plainNumber(to)):
		return m, &problem{codeRecipient, "to is not a number"}
	}
	known := f.names()
	for _, r := range envelopeRules() {
		known = append(known, r.member)
	}
	if p := platform.checkContent(kind, known); p != nil {
		return m, p
	}
	if p := f.checkChatApp(); p != nil {
		return m, p
	}
	m.Sent = f.message(ChannelChatApp2)
	m.To, m.Kind, m.Extra = to, kind, platform
	m.Category = Category(of("category")) // of a free-form message: templates have their own
	if m.FallbackFrom != "" && (m.toUser || group) {
		return m, &problem{codeFallback, f.name("fallbackFrom") + " is there, but no number for its SMS"}
	}
	switch content := objectOf(platform[kind]); kind {
	case "text":
		m.Text = content.text("body")
	case "template":
		m.Template = content.text("name")
	}
	known = append(slices.AppendSeq(known, maps.Keys(contentChecks())), kind)
	maps.DeleteFunc(m.Extra, func(name string, _ json.RawMessage) bool { return slices.Contains(known, name) })
	return m, nil
}

// platformMessage returns the members of the platform's message: those that the contract does not name, or those of the member that
// wraps them. A form holds what is no string as JSON.
func (f fields) platformMessage() object {
	if f.wrap != "" {
		raw := f.values[f.wrap]
		if f.isForm() {
			raw = json.RawMessage(plainOf(raw))
		}
		return objectOf(raw)
	}
	message := maps.Clone(f.extra)
	if f.isForm() {
		message.unquote(envelopeRules())
		for name, raw := range message {
			if text := plainOf(raw); json.Valid([]byte(text)) && strings.ContainsAny(text[:1], "{[") {
				message[name] = json.RawMessage(text)
			}
		}
	}
	return message
}

// plainNumber removes what the platform allows in a number beside its digits.
func plainNumber(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(s)
}

// checkContent checks that the message has the property that its type names, and no other content. A type that is not known
// passes: the platform adds types. known are the members that are no content.
func (o object) checkContent(kind string, known []string) *problem {
	if slices.Contains(known, kind) {
		return &problem{codePayload, "type names a field that is no content"}
	}
	checks := contentChecks()
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if o[name] != nil && name != kind {
			return &problem{codePayload, name + " is there, but is not what type names"}
		}
	}
	raw := o[kind]
	switch c := checks[kind]; {
	case raw == nil:
		return &problem{codePayload, "the property that type names is absent"}
	case c != nil:
		return c(kind, raw)
	case raw[0] != '{' && raw[0] != '[':
		return &problem{codeKind, "the property that type names is neither an object nor an array"}
	}
	return nil
}

// confirmChatApp2 returns the response of the platform if the contract has its place of the ID for a second choice, as the
// default contract has, and else that of the other channels.
func (s *Server) confirmChatApp2(t table.Send, m submission) any {
	if slices.Index(t.Response["id"], "messages.0.id") < 1 {
		return s.confirm(t, m)
	}
	contact := map[string]string{"input": m.To, "wa_id": strings.TrimPrefix(plainNumber(m.To), "+")}
	if m.toUser {
		contact = map[string]string{"input": m.To, "user_id": m.To}
	}
	return map[string]any{
		"messaging_product": platformProduct,
		"contacts":          []any{contact},
		"messages":          []any{map[string]string{"id": m.ID}},
	}
}

// A Category is what a chat-app-2 message is about. It determines the route.
type Category string

// The categories. A free-form message has CategoryService, unless its body names another.
const (
	CategoryUtility        Category = "utility"
	CategoryAuthentication Category = "authentication"
	CategoryMarketing      Category = "marketing"
	CategoryService        Category = "service"
)

// A Route is the interface of the third-party platform by which a chat-app-2 message went.
type Route string

// The routes.
const (
	RouteCloud             Route = "cloud"              // the cloud messaging platform
	RouteMarketingMessages Route = "marketing_messages" // the marketing-messages interface
)

// route sets the category and the route of a message, or reports false if it may take none.
func (s *Server) route(m *submission) bool {
	if m.Kind == "template" {
		m.Category = cmp.Or(s.templates[m.Template], CategoryUtility)
	}
	m.Category = cmp.Or(m.Category, CategoryService)
	m.Route = RouteCloud
	if m.Category != CategoryMarketing {
		return true
	}
	if !s.noMarketing {
		m.Route = RouteMarketingMessages
	}
	return !s.noMarketing || !m.strict
}

// RegisterTemplate sets the category of a chat-app-2 template, for messages that are accepted from now on. A template that is
// not registered has [CategoryUtility]. RegisterTemplate panics if the name is empty or the category is not one of templates.
func (s *Server) RegisterTemplate(name string, category Category) {
	known := slices.Contains([]Category{CategoryUtility, CategoryAuthentication, CategoryMarketing}, category)
	must(name != "" && known, "RegisterTemplate(%q, %q): the name is empty, or the category is not one of templates", name, category)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.templates[name] = category
}

// SetMarketingRoute sets whether the marketing-messages interface is available, as it is at the start, to messages that are
// accepted from now on. If it is not, marketing messages go by [RouteCloud]. One whose product_policy is STRICT is refused
// instead, with the HTTP status 400 and the code 200219, and its fallback is not sent.
func (s *Server) SetMarketingRoute(available bool) { s.set(func() { s.noMarketing = !available }) }

// contentChecks returns the check for each known type of a chat-app-2 message. They look at the structure, not at limits on
// lengths and numbers: the platform moves limits, and a client may be lenient about them.
func contentChecks() map[string]check {
	return map[string]check{
		"text":     isObject(need("body", isFilled), may("preview_url", isFlag)),
		"image":    isMedia,
		"video":    isMedia,
		"audio":    isMedia,
		"document": isMedia,
		"sticker":  isMedia,
		"location": isObject(need("latitude", isDegrees), need("longitude", isDegrees), may("name", isText), may("address", isText)),
		"contacts": isList(1, isObject(need("name", isObject(need("formatted_name", isFilled))))),
		"reaction": isObject(need("message_id", isFilled), need("emoji", isText)), // an empty emoji removes the reaction
		"pin":      isObject(need("type", isOneOf("pin", "unpin")), need("message_id", isFilled)),
		"template": isObject(
			need("name", isFilled),
			need("language", isObject(need("code", isFilled), may("policy", isText))),
			may("components", isList(0, isComponent)),
		),
		"interactive": isInteractive,
	}
}

// isMedia is the check for a medium, which has exactly one of an ID and a link.
func isMedia(field string, raw json.RawMessage) *problem {
	if p := isObject(
		may("id", isFilled), may("link", isLink), may("caption", isText), may("filename", isText), may("voice", isFlag),
	)(field, raw); p != nil {
		return p
	}
	o := objectOf(raw)
	return refuseIf((o["id"] == nil) == (o["link"] == nil), codePayload, field+" does not have exactly one of id and link")
}

// isComponent is the check for a component of a template.
func isComponent(field string, raw json.RawMessage) *problem {
	rules := []rule{need("type", isFilled), may("parameters", isList(0, isObject(need("type", isFilled))))}
	switch strings.ToLower(objectOf(raw).text("type")) { // the platform's own examples have both cases
	case "button":
		rules = append(rules, need("sub_type", isFilled))
	case "carousel":
		rules = append(rules, need("cards", isList(1, isObject(may("components", isList(0, isComponent))))))
	}
	return isObject(rules...)(field, raw)
}

func isHeader(field string, raw json.RawMessage) *problem {
	kind := objectOf(raw).text("type")
	content := check(isMedia)
	if kind == "text" {
		content = isFilled
	}
	return isObject(need("type", isOneOf("text", "image", "video", "document")), need(kind, content))(field, raw)
}

func isInteractive(field string, raw json.RawMessage) *problem {
	text := isObject(need("text", isFilled))
	rules := interactiveRules(objectOf(raw).text("type"))
	rules = append(rules, need("type", isFilled), may("body", text), may("footer", text), may("header", isHeader))
	return isObject(rules...)(field, raw)
}

// interactiveRules returns what a type of an interactive message has to have.
func interactiveRules(kind string) []rule {
	body := need("body", isObject())
	action := func(rules ...rule) rule { return need("action", isObject(rules...)) }
	name, catalog := need("name", isFilled), need("catalog_id", isFilled)
	filled := isList(1, isObject())
	link := isObject(need("display_text", isFilled), need("url", isFilled))
	rules := map[string][]rule{
		"button":                   {body, action(need("buttons", filled))},
		"list":                     {body, action(need("button", isFilled), need("sections", filled))},
		"product":                  {action(catalog, need("product_retailer_id", isFilled))},
		"product_list":             {body, action(catalog, need("sections", filled))},
		"carousel":                 {action(need("cards", filled))},
		"flow":                     {body, action(name, need("parameters", isObject()))},
		"cta_url":                  {body, action(name, need("parameters", link))},
		"catalog_message":          {body, action(name)},
		"location_request_message": {body, action(name)},
		"address_message":          {action(name)},
		"call_permission_request":  {action(name)},
		"order_details":            {action(name)},
		"order_status":             {action(name)},
		"request_contact_info":     {action(name)},
		"voice_call":               {action(name)},
	}
	return append(rules[kind], action())
}
