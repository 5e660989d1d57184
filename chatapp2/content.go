package chatapp2

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Content is what a message says. It is one of Text, Image, Video, Audio, Document, Sticker, Location, Contacts, Reaction,
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
		Text{}, Image{}, Video{}, Audio{}, Document{}, Sticker{}, Location{}, Contacts{}, Reaction{}, Interactive{}, Template{},
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
func (Interactive) kind() string { return "interactive" }
func (Template) kind() string    { return "template" }
func (r Raw) kind() string       { return r.Type }

// Raw is content that no other type holds: of a new type, or with new members. JSON is the member named Type, and is sent as it is.
type Raw struct {
	Type string          `at:"-,required"`
	JSON json.RawMessage `at:"-"`
}

func (r Raw) check(c *checks) {
	if slices.Contains(envelopeNames(), r.Type) {
		c.Found("Type", "must not be the name of a member that every message has")
	}
	shape.CheckRaw[Content](c, r.JSON, func(value any) any { return contentOf(r.Type, value) })
}

// decodeContent returns the content of a message of a type, typed if a type holds all of it.
func decodeContent(kind string, value any) Content {
	if content, fit, _ := shape.Best[Content](allShapes(), contentOf(kind, value)); fit == shape.Exact {
		return content
	}
	return Raw{Type: kind, JSON: shape.RawOf(value)}
}

// contentOf returns what a message of a type has of its content.
func contentOf(kind string, value any) any {
	return map[string]any{"type": kind, strings.ToLower(kind): value}
}

// Text is a text message.
type Text struct {
	Body string `at:"body,required,max=4096"`
	// PreviewURL lets the platform show a preview of the first http or https URL in Body.
	PreviewURL bool `at:"preview_url"`
}

// Location shows a place on a map. It can also be a Parameter in the header of a template, which needs all four fields.
//
// The coordinates are numbers in a message and texts in a template, as in the platform's examples. Decoding takes both.
type Location struct {
	// Latitude and Longitude are in degrees, -90 to 90 and -180 to 180. Required; zero is the equator and the prime meridian.
	Latitude  float64 `at:"latitude!,degrees=90"`
	Longitude float64 `at:"longitude!,degrees=180"`
	// Name and Address are shown below the map. Optional.
	Name    string `at:"name"`
	Address string `at:"address"`
}
