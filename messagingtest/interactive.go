package messagingtest

// checkInteractive looks at what every interactive message has, and at the action of those that are known.
func checkInteractive(n node) flaw {
	if wrong := n.need("type"); wrong.found() {
		return wrong
	}
	action, wrong := n.child("action")
	if wrong.found() {
		return wrong
	}
	for _, member := range []string{"body", "footer"} {
		if _, present := n.object[member]; present {
			block, wrong := n.child(member)
			if wrong.found() {
				return wrong
			}
			if wrong = block.need("text"); wrong.found() {
				return wrong
			}
		}
	}
	if _, present := n.object["header"]; present {
		if wrong := checkHeader(n); wrong.found() {
			return wrong
		}
	}
	kind, _ := n.text("type")
	if _, present := n.object["body"]; !present && needsBody(kind) {
		return flaw{codeMissing, n.name("body") + " is absent"}
	}
	return checkAction(kind, action)
}

func checkHeader(n node) flaw {
	header, wrong := n.child("header")
	if wrong.found() {
		return wrong
	}
	if wrong = header.need("type"); wrong.found() {
		return wrong
	}
	switch kind, _ := header.text("type"); kind {
	case kindText:
		return header.need(kindText)
	case kindImage, kindVideo, kindDocument:
		media, wrong := header.child(kind)
		if wrong.found() {
			return wrong
		}
		return checkMedia(media)
	default:
		return flaw{codeValue, header.name("type") + " is none of text, image, video and document"}
	}
}

// needsBody says no for a type that is not known.
func needsBody(kind string) bool {
	switch kind {
	case "button", "list", "cta_url", "flow", "location_request_message", "product_list", "catalog_message":
		return true
	default:
		return false
	}
}

func checkAction(kind string, action node) flaw {
	switch kind {
	case "button":
		_, wrong := action.children("buttons")
		return wrong
	case "list":
		_, wrong := action.children("sections")
		return firstFlaw(action.need("button"), wrong)
	case "product_list":
		_, wrong := action.children("sections")
		return firstFlaw(action.need("catalog_id"), wrong)
	case "product":
		return action.need("catalog_id", "product_retailer_id")
	case "carousel":
		_, wrong := action.children("cards")
		return wrong
	case "cta_url":
		parameters, wrong := action.child("parameters")
		return firstFlaw(action.need("name"), wrong, parameters.need("display_text", "url"))
	case "flow":
		_, wrong := action.child("parameters")
		return firstFlaw(action.need("name"), wrong)
	case "location_request_message", "catalog_message", "address_message", "voice_call", "call_permission_request",
		"order_details", "order_status", "request_contact_info":
		return action.need("name")
	default:
		return flaw{}
	}
}
