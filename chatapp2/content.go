package chatapp2

import (
	"encoding/json"
	"slices"
)

// Content is what a message says. It is one of Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Reaction, Pin,
// Interactive, Template and Raw: values of these types, not pointers.
//
//sumtype:decl
type Content interface {
	// kind is the type of the message. The content is the member of that name.
	kind() string
}

// contents returns a zero value of each known type of content.
func contents() []Content {
	return []Content{
		Text{}, Image{}, Video{}, Audio{}, Document{}, Sticker{}, Location{}, Contacts{}, Reaction{}, Pin{}, Interactive{}, Template{},
	}
}

func (Text) kind() string        { return "text" }
func (Image) kind() string       { return "image" }
func (Video) kind() string       { return "video" }
func (Audio) kind() string       { return "audio" }
func (Document) kind() string    { return "document" }
func (Sticker) kind() string     { return "sticker" }
func (Location) kind() string    { return "location" }
func (Contacts) kind() string    { return "contacts" }
func (Reaction) kind() string    { return "reaction" }
func (Pin) kind() string         { return "pin" }
func (Interactive) kind() string { return "interactive" }
func (Template) kind() string    { return "template" }
func (r Raw) kind() string       { return r.Type }

// Raw is content that no other type holds: of a new type, or with new members. JSON is the member named Type, and is sent as it is.
type Raw struct {
	Type string `rule:"required"`
	JSON json.RawMessage
}

func (r Raw) check(c *checks, path string) {
	if slices.Contains(envelopeNames(), r.Type) {
		c.Found(path+".Type", "must not be the name of a member that every message has")
	}
	c.raw(path+".JSON", r.JSON, func(value any) (any, fit) { return readContent(r.Type, value) })
}

func (r Raw) shape() any { return r.JSON }

// decodeContent returns the content of a message of a type, typed if a type holds all of it.
func decodeContent(kind string, value any) Content {
	if content, f := readContent(kind, value); f == exact {
		return content
	}
	return Raw{Type: kind, JSON: rawOf(value)}
}

// readContent returns nil if the type is not known.
func readContent(kind string, value any) (Content, fit) {
	return readLike(named(contents(), Content.kind, kind), value)
}

// Text is a text message.
type Text struct {
	Body string `json:"body,omitzero" rule:"required,max=4096"`
	// PreviewURL lets the platform show a preview of the first http or https URL in Body.
	PreviewURL bool `json:"preview_url,omitzero"`
}

// Location shows a place on a map. It can also be a Parameter in the header of a template, which needs all four fields.
//
// The coordinates are numbers in a message and texts in a template, as in the platform's examples. Decoding takes both.
type Location struct {
	// Latitude and Longitude are in degrees, -90 to 90 and -180 to 180. Required; zero is the equator and the prime meridian.
	Latitude  float64 `json:"latitude" rule:"degrees=90"`
	Longitude float64 `json:"longitude" rule:"degrees=180"`
	// Name and Address are shown below the map. Optional.
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"`
}

// templateLocation is a Location in a template.
type templateLocation struct {
	Latitude  float64 `json:"latitude,string"`
	Longitude float64 `json:"longitude,string"`
	Name      string  `json:"name,omitzero"`
	Address   string  `json:"address,omitzero"`
}
