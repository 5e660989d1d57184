package messagingtest

import (
	"encoding/json"
	"strings"
)

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
	switch kind {
	case "button":
		return []rule{body, action(need("buttons", filled))}
	case "list":
		return []rule{body, action(need("button", isFilled), need("sections", filled))}
	case "product":
		return []rule{action(catalog, need("product_retailer_id", isFilled))}
	case "product_list":
		return []rule{body, action(catalog, need("sections", filled))}
	case "carousel":
		return []rule{action(need("cards", filled))}
	case "flow":
		return []rule{body, action(name, need("parameters", isObject()))}
	case "cta_url":
		link := isObject(need("display_text", isFilled), need("url", isFilled))
		return []rule{body, action(name, need("parameters", link))}
	case "catalog_message", "location_request_message":
		return []rule{body, action(name)}
	case "address_message", "call_permission_request", "order_details", "order_status", "request_contact_info", "voice_call":
		return []rule{action(name)}
	default:
		return []rule{action()}
	}
}

func isHeader(field string, raw json.RawMessage) *problem {
	rules := []rule{need("type", isOneOf("text", "image", "video", "document"))}
	switch kind := objectOf(raw).text("type"); kind {
	case "text":
		rules = append(rules, need(kind, isFilled))
	case "image", "video", "document":
		rules = append(rules, need(kind, isMedia))
	}
	return isObject(rules...)(field, raw)
}
