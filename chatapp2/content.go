package chatapp2

import (
	"encoding/json"
	"slices"
	"strings"
)

// Content is what a message says. It is one of Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Reaction, Pin,
// Interactive, Template and Raw: values of these types, not pointers.
//
//sumtype:decl
type Content interface {
	// kind is the type of the message. The content is the member of that name.
	kind() string
}

// The types of a message.
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

// contentTypes returns the types of a message that this package knows.
func contentTypes() []string {
	return []string{
		typeText, typeImage, typeVideo, typeAudio, typeDocument, typeSticker, typeLocation, typeContacts, typeReaction, typePin,
		typeInteractive, typeTemplate,
	}
}

func (Text) kind() string        { return typeText }
func (Image) kind() string       { return typeImage }
func (Video) kind() string       { return typeVideo }
func (Audio) kind() string       { return typeAudio }
func (Document) kind() string    { return typeDocument }
func (Sticker) kind() string     { return typeSticker }
func (Location) kind() string    { return typeLocation }
func (Contacts) kind() string    { return typeContacts }
func (Reaction) kind() string    { return typeReaction }
func (Pin) kind() string         { return typePin }
func (Interactive) kind() string { return typeInteractive }
func (Template) kind() string    { return typeTemplate }
func (r Raw) kind() string       { return r.Type }

// Raw is content that no other type holds: of a new type, or with members that are new. If the type is known, so are its limits,
// and exceeding them is a Limit. Otherwise Raw is only checked to be JSON.
type Raw struct {
	// Type is the type of the message. Required.
	Type string `rule:"required"`
	// JSON is the member of that name: any JSON value. Required.
	JSON json.RawMessage
}

func (r Raw) check(c *checks, path string) {
	if slices.Contains(envelopeNames(), r.Type) {
		c.Found(path+".Type", "must not be the name of a member that every message has")
	}
	if !c.json(path+".JSON", r.JSON) {
		return
	}
	if content, f := readContent(r.Type, decodeValid(r.JSON)); content != nil {
		c.raw(path+".JSON", content, f)
	}
}

// decodeContent returns the content of a message of a type, typed if a type holds all of it.
func decodeContent(kind string, value any) Content {
	if content, f := readContent(kind, value); f == exact {
		return content
	}
	return Raw{Type: kind, JSON: rawOf(value)}
}

// readContent returns nil if the type is not known.
func readContent(kind string, value any) (Content, fit) {
	switch strings.ToLower(kind) {
	case typeText:
		return readAs[Text](value)
	case typeImage:
		return readAs[Image](value)
	case typeVideo:
		return readAs[Video](value)
	case typeAudio:
		return readAs[Audio](value)
	case typeDocument:
		return readAs[Document](value)
	case typeSticker:
		return readAs[Sticker](value)
	case typeLocation:
		return readAs[Location](value)
	case typeContacts:
		return readAs[Contacts](value)
	case typeReaction:
		return readAs[Reaction](value)
	case typePin:
		return readAs[Pin](value)
	case typeInteractive:
		return readAs[Interactive](value)
	case typeTemplate:
		return readAs[Template](value)
	default:
		return nil, misfit
	}
}
