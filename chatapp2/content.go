package chatapp2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Content is what a message says. It is one of Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Reaction, Pin,
// Interactive, Template and Raw, and nothing else can be one.
//
//sumtype:decl
type Content interface {
	// kind is the message's type.
	kind() string
	// content is what stands under the key of that name, as encoding/json takes it; nil where there is none.
	content() any
	check(c *checks, path string)
}

// The types of a message, which are also the keys of their content.
const (
	typeText        = "text"
	typeImage       = "image"
	typeVideo       = "video"
	typeAudio       = "audio"
	typeDocument    = "document"
	typeSticker     = "sticker"
	typeLocation    = "location"
	typeContacts    = "contacts"
	typeReaction    = "reaction"
	typePin         = "pin"
	typeInteractive = "interactive"
	typeTemplate    = "template"
)

// contentKeys gives the keys of all contents that are typed.
func contentKeys() []string {
	return []string{
		typeText, typeImage, typeVideo, typeAudio, typeDocument, typeSticker, typeLocation, typeContacts, typeReaction, typePin,
		typeInteractive, typeTemplate,
	}
}

// Raw is a message of a type that this library does not know, or whose content no type holds. Of a type that it knows, it checks
// what it knows, and what it finds passes a limit: messaging.WithLenientLimits lets it go. Of any other nothing is checked but that
// it is JSON, and that its type is no key of the message itself.
type Raw struct {
	// Type is the message's type. Required.
	Type string
	// JSON is what stands under the key of that name, any JSON value. Required.
	JSON json.RawMessage
}

func (r Raw) kind() string { return r.Type }

func (r Raw) content() any {
	if r.JSON == nil {
		return nil
	}
	return r.JSON
}

func (r Raw) check(c *checks, path string) {
	c.required(path+".Type", r.Type, 0)
	if slices.Contains(envelopeKeys(), r.Type) {
		c.found(path+".Type", "must not be the name of a key that every message has")
	}
	if !checkRaw(c, path+".JSON", r.JSON) {
		return
	}
	before, kind := len(c.problems), strings.ToLower(r.Type)
	if content := readTyped(kind, opened(decode(r.JSON))); content != nil {
		c.asLimits(func(known *checks) { content.check(known, path) })
		return
	}
	m := membersOf(decode(r.JSON))
	switch kind {
	case typeInteractive:
		checkRawHeader(c, path+".JSON", m.object("header"))
	case typeTemplate:
		for i, component := range m.list("components") {
			if component == nil {
				c.found(path+".JSON", fmt.Sprintf("components[%d] must not be null", i))
			}
		}
	}
	if len(c.problems) == before && slices.Contains(contentKeys(), kind) {
		c.unlikeDocumented(path + ".JSON")
	}
}

// checkRawHeader holds a header that stayed raw to a type, and to what that names.
func checkRawHeader(c *checks, path string, header *members) {
	if len(header.left) == 0 {
		return
	}
	if kind := header.word("type"); kind == "" || header.left[kind] == nil {
		c.found(path, "want a type in the header, and a member of that name")
	}
}

// checkRaw checks JSON that is passed on as it is, and tells whether there is any.
func checkRaw(c *checks, path string, raw json.RawMessage) bool {
	switch {
	case len(raw) == 0:
		c.found(path, "required, but absent")
	case !json.Valid(raw):
		c.found(path, "must be one JSON value")
	default:
		c.found(path, wire.CheckUTF8(string(raw)))
		return true
	}
	return false
}

// readContent gives the content of a message of a type, typed where that holds all of it.
func readContent(kind string, value any) Content {
	if c := readTyped(strings.ToLower(kind), value); c != nil {
		return c
	}
	return Raw{Type: kind, JSON: rawOf(value)}
}

func readTyped(kind string, value any) Content {
	switch kind {
	case typeText:
		return held[Text](value)
	case typeImage:
		return held[Image](value)
	case typeVideo:
		return held[Video](value)
	case typeAudio:
		return held[Audio](value)
	case typeDocument:
		return held[Document](value)
	case typeSticker:
		return held[Sticker](value)
	case typeContacts:
		return held[Contacts](value)
	case typePin:
		return held[Pin](value)
	case typeLocation:
		if l, ok := readLocation(value); ok {
			return l
		}
	case typeReaction:
		if r, ok := readReaction(value); ok {
			return r
		}
	case typeInteractive:
		if i, ok := readInteractive(value); ok {
			return i
		}
	case typeTemplate:
		if t, ok := readTemplate(value); ok {
			return t
		}
	}
	return nil
}

// held reads content whose fields and tags are its shape on the wire; nil where they do not hold all of it.
func held[T Content](value any) Content {
	var content T
	if !fill(value, &content) {
		return nil
	}
	return content
}
