package messagingtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

func readPlatform(f fields) (submission, *problem) {
	platform := f.platformMessage()
	of := func(name string) string { return textIn(platform, name) }
	to, kind, toUser := cmp.Or(of("to"), of("recipient")), cmp.Or(of("type"), "text"), of("to") == ""
	known := f.names()
	for member := range f.rules.Channels[f.channel] {
		known = append(known, strings.TrimSuffix(member, "?"))
	}
	p := cmp.Or(
		f.checkMembers("", platform, f.rules.Channels[f.channel], itself),
		refuseIf(to == "", "missing", "there is neither to nor recipient"),
		refuseIf(!toUser && !isMobileNumber(plainNumber(to)), "recipient", "to is not a number"),
		f.checkContent(platform, kind, known),
		f.checkChatApp(),
		refuseIf(f.text("fallbackFrom") != "" && toUser, "fallback", "there is a fallback, but no number for its SMS"),
	)
	extra := maps.Clone(platform)
	maps.DeleteFunc(extra, func(name string, _ any) bool {
		return name == kind || slices.Contains(known, name) || f.rules.Content[name] != nil
	})
	m := submission{Sent: f.message(extra), strict: of("product_policy") == "STRICT", toUser: toUser}
	m.To, m.Kind = to, kind
	m.Category = Category(of("category")) // of a free-form message: templates have their own
	switch content, _ := platform[kind].(document); kind {
	case "text":
		m.Text = textIn(content, "body")
	case "template":
		m.Template = textIn(content, "name")
	}
	return m, p
}

// platformMessage returns the members of the platform's message: those that the contract does not name, or those of the member that
// wraps them. A form holds what is no string as JSON.
func (f fields) platformMessage() document {
	if *f.Wrap != "" {
		wrapped := f.values[*f.Wrap]
		if f.isForm() {
			wrapped, _ = readJSON([]byte(textIn(f.values, *f.Wrap)))
		}
		message, _ := wrapped.(document)
		return message
	}
	message := maps.Clone(f.extra)
	f.unquote(message, f.rules.Channels[f.channel], itself)
	if f.isForm() {
		for name, value := range message {
			if text, isText := value.(string); isText && strings.IndexAny(text, "{[") == 0 {
				if inner, ok := readJSON([]byte(text)); ok {
					message[name] = inner
				}
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
func (f fields) checkContent(platform document, kind string, known []string) *problem {
	for name := range f.rules.Content {
		if _, isPresent := platform[name]; isPresent && name != kind {
			return &problem{"payload", name + " is there, but is not what type names"}
		}
	}
	value, isPresent := platform[kind]
	_, isObject := value.(document)
	_, isList := value.([]any)
	switch content := f.rules.Content[kind]; {
	case slices.Contains(known, kind):
		return &problem{"payload", "type names a field that is no content"}
	case !isPresent:
		return &problem{"payload", "the property that type names is absent"}
	case content != nil:
		return f.checkMembers("", platform, shape{kind: content}, itself)
	}
	return refuseIf(!isObject && !isList, "kind", "the property that type names is neither an object nor an array")
}

// platformID is where a response of the platform has the ID. The server writes one if the contract has this for a second
// choice, as the default contract has, and else a response like those of the other channels.
const platformID = "messages.0.id"

func (m submission) confirmChatApp2() any {
	contact := map[string]string{"input": m.To, "wa_id": strings.TrimPrefix(plainNumber(m.To), "+")}
	if m.toUser {
		contact = map[string]string{"input": m.To, "user_id": m.To}
	}
	return map[string]any{
		"messaging_product": "whatsapp",
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

// RegisterTemplate sets the category of a chat-app-2 template, for messages that are accepted from now on. It panics if the name
// is empty or the category is not one of templates.
func (s *Server) RegisterTemplate(name string, category Category) {
	known := slices.Contains([]Category{CategoryUtility, CategoryAuthentication, CategoryMarketing}, category)
	must(name != "" && known, "RegisterTemplate(%q, %q): the name is empty, or the category is not one of templates", name, category)
	s.set(func() { s.templates[name] = category })
}

// SetMarketingRoute sets whether the marketing-messages interface is available, as it is at the start, to messages that are
// accepted from now on. One that is refused without it has the code 200219, and its fallback is not sent.
func (s *Server) SetMarketingRoute(available bool) { s.set(func() { s.noMarketing = !available }) }
