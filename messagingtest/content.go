package messagingtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Kinds of messages. Those of chat app 2 are the types of the Meta-shaped payload.
const (
	kindText         = "text"
	kindImage        = "image"
	kindVideo        = "video"
	kindCallToAction = "call_to_action"
	kindTemplate     = "template"
	kindAudio        = "audio"
	kindDocument     = "document"
	kindSticker      = "sticker"
	kindLocation     = "location"
	kindContacts     = "contacts"
	kindReaction     = "reaction"
	kindPin          = "pin"
	kindInteractive  = "interactive"
)

func contentNames() []string {
	return []string{
		kindText, kindImage, kindVideo, kindAudio, kindDocument, kindSticker, kindLocation, kindContacts, kindReaction, kindPin,
		kindInteractive, kindTemplate,
	}
}

func isContent(name string) bool { return slices.Contains(contentNames(), name) }

// checkContent looks at the structure, not at limits: those change, and a client may let them pass.
func checkContent(kind string, raw json.RawMessage) flaw {
	if kind == kindContacts {
		return checkContacts(raw)
	}
	if !isContent(kind) {
		if raw[0] != '{' && raw[0] != '[' {
			return flaw{codeKind, "the property that type names is neither an object nor an array"}
		}
		return flaw{}
	}
	n, wrong := nodeOf(kind, raw)
	if wrong.found() {
		return wrong
	}
	switch kind {
	case kindText:
		return firstFlaw(n.need("body"), n.allowBool("preview_url"))
	case kindLocation:
		return firstFlaw(checkDegrees(n, "latitude"), checkDegrees(n, "longitude"), n.allow("name", "address"))
	case kindReaction:
		return checkReaction(n)
	case kindPin:
		return checkPin(n)
	case kindInteractive:
		return checkInteractive(n)
	case kindTemplate:
		return checkTemplate(n)
	default:
		return checkMedia(n)
	}
}

func checkMedia(n node) flaw {
	_, hasID := n.object["id"]
	_, hasLink := n.object["link"]
	if hasID == hasLink {
		return flaw{codePayload, n.path + " has not exactly one of id and link"}
	}
	if hasID {
		return firstFlaw(n.need("id"), n.allow("caption", "filename"), n.allowBool("voice"))
	}
	if wrong := firstFlaw(n.need("link"), n.allow("caption", "filename"), n.allowBool("voice")); wrong.found() {
		return wrong
	}
	if link, _ := n.text("link"); !isURL(link) {
		return flaw{codeURL, n.name("link") + " is not an absolute http or https URL"}
	}
	return flaw{}
}

// checkDegrees takes a number and a string that holds one: Meta's own examples have both.
func checkDegrees(n node, member string) flaw {
	raw, present := n.object[member]
	if !present {
		return flaw{codeMissing, n.name(member) + " is absent"}
	}
	if text, isString := textOf(raw); isString {
		if raw = json.RawMessage(text); !json.Valid(raw) || strings.TrimSpace(text) != text {
			return flaw{codeValue, n.name(member) + " holds no number"}
		}
	}
	if _, ok := numberOf(raw); !ok {
		return flaw{codeKind, n.name(member) + " is not a number"}
	}
	return flaw{}
}

func checkContacts(raw json.RawMessage) flaw {
	contacts, wrong := nodesOf(kindContacts, raw)
	if wrong.found() {
		return wrong
	}
	if len(contacts) == 0 {
		return flaw{codeMissing, "contacts is empty"}
	}
	for _, contact := range contacts {
		name, wrong := contact.child("name")
		if wrong.found() {
			return wrong
		}
		if wrong = name.need("formatted_name"); wrong.found() {
			return wrong
		}
	}
	return flaw{}
}

// checkReaction takes an emoji that is empty: it removes the reaction.
func checkReaction(n node) flaw {
	if _, present := n.object["emoji"]; !present {
		return flaw{codeMissing, n.name("emoji") + " is absent"}
	}
	return firstFlaw(n.need("message_id"), n.allow("emoji"))
}

func checkPin(n node) flaw {
	if wrong := n.need("type", "message_id"); wrong.found() {
		return wrong
	}
	if kind, _ := n.text("type"); kind != "pin" && kind != "unpin" {
		return flaw{codeValue, n.name("type") + " is neither pin nor unpin"}
	}
	return flaw{}
}

func checkTemplate(n node) flaw {
	if wrong := n.need("name"); wrong.found() {
		return wrong
	}
	language, wrong := n.child("language")
	if wrong.found() {
		return wrong
	}
	if wrong = firstFlaw(language.need("code"), language.allow("policy")); wrong.found() {
		return wrong
	}
	return checkComponents(n)
}

func checkComponents(n node) flaw {
	components, wrong := n.anyChildren("components")
	if wrong.found() {
		return wrong
	}
	for _, component := range components {
		if wrong := checkComponent(component); wrong.found() {
			return wrong
		}
	}
	return flaw{}
}

func checkComponent(n node) flaw {
	if wrong := n.need("type"); wrong.found() {
		return wrong
	}
	// Meta's own examples write types in either case.
	switch kind, _ := n.text("type"); strings.ToLower(kind) {
	case "button":
		if wrong := n.need("sub_type"); wrong.found() {
			return wrong
		}
	case "carousel":
		cards, wrong := n.children("cards")
		if wrong.found() {
			return wrong
		}
		for _, card := range cards {
			if wrong := checkComponents(card); wrong.found() {
				return wrong
			}
		}
	}
	parameters, wrong := n.anyChildren("parameters")
	if wrong.found() {
		return wrong
	}
	for _, parameter := range parameters {
		if wrong := parameter.need("type"); wrong.found() {
			return wrong
		}
	}
	return flaw{}
}
