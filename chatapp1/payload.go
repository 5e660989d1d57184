package chatapp1

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Payload is the content of a message: one of Text, Image, Video, CallToAction, Template and Raw. No other type implements it.
//
//sumtype:decl
type Payload interface {
	// addTo adds the fields of the payload to a call, and the problems that they have.
	addTo(call *wire.Call)
}

// Text is a text message.
type Text struct {
	// Body is the text, valid UTF-8. Required. Services of this kind commonly accept 1000 characters.
	Body string `json:"body,omitzero"`
}

// Image is a message that shows an image.
type Image struct {
	// URL is where the service fetches the image: absolute, http or https. Required.
	URL string `json:"url,omitzero"`
	// Text is a text shown with the image, valid UTF-8.
	Text string `json:"text,omitzero"`
}

// Video is a message that shows a video.
type Video struct {
	// URL is where the service fetches the video: absolute, http or https. Required.
	URL string `json:"url,omitzero"`
	// Text is a text shown with the video, valid UTF-8.
	Text string `json:"text,omitzero"`
	// ThumbnailURL is where it fetches the picture shown until the video plays: absolute, http or https.
	ThumbnailURL string `json:"thumbnailURL,omitzero"`
	// Duration is the length of the video: a whole number of the contract's unit, by default seconds.
	Duration time.Duration `json:"duration,omitzero"`
	// Size is the size of the file in bytes.
	Size int64 `json:"size,omitzero"`
}

// CallToAction is a text, with or without an image, and a button that opens a URL.
type CallToAction struct {
	// Text is the text above the button, valid UTF-8. Required.
	Text string `json:"text,omitzero"`
	// ImageURL is where the service fetches an image shown with the text: absolute, http or https.
	ImageURL string `json:"imageURL,omitzero"`
	// Caption is the label of the button, valid UTF-8. Required.
	Caption string `json:"caption,omitzero"`
	// URL is what the button opens: absolute, http or https. Required.
	URL string `json:"url,omitzero"`
}

// Template is a transactional template that was approved in advance.
type Template struct {
	// ID identifies the template. Required.
	ID string `json:"id,omitzero"`
	// Language is the language to send it in, such as "en". Optional if the template has only one.
	Language string `json:"language,omitzero"`
	// Params holds the values of the template's parameters by name.
	Params map[string]string `json:"params,omitzero"`
}

// Raw is a payload of fields under their wire names, for payloads that this library does not know. Only the names of its fields are
// checked: they must differ from the names of the message's other fields, and must not make two of the other payloads, such as a text and
// a video.
type Raw struct {
	// Fields maps wire names to anything that encoding/json encodes; with the encodings form and query, to strings, numbers
	// and booleans. At least one is required.
	Fields map[string]any `json:"fields,omitzero"`
}

func (t Text) addTo(call *wire.Call) {
	addRequired(call, wire.Field{Concept: "text", Name: "Payload.Body", Text: t.Body})
}

func (i Image) addTo(call *wire.Call) {
	addRequired(call, wire.Field{Concept: "image", Name: "Payload.URL", Text: i.URL, Reason: wire.CheckURL(i.URL)})
	call.Fields = append(call.Fields, wire.Field{Concept: "text", Name: "Payload.Text", Text: i.Text})
}

func (v Video) addTo(call *wire.Call) {
	addRequired(call, wire.Field{Concept: "video", Name: "Payload.URL", Text: v.URL, Reason: wire.CheckURL(v.URL)})
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "text", Name: "Payload.Text", Text: v.Text},
		wire.Field{Concept: "thumbnail", Name: "Payload.ThumbnailURL", Text: v.ThumbnailURL, Reason: wire.CheckURL(v.ThumbnailURL)},
		wire.Field{Concept: "duration", Name: "Payload.Duration", Value: v.Duration},
		wire.Field{Concept: "size", Name: "Payload.Size", Value: v.Size, Reason: wire.CheckRange(v.Size, 1, 0)},
	)
}

func (a CallToAction) addTo(call *wire.Call) {
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "text", Name: "Payload.Text", Text: a.Text, Required: true},
		wire.Field{Concept: "image", Name: "Payload.ImageURL", Text: a.ImageURL, Reason: wire.CheckURL(a.ImageURL)},
		wire.Field{Concept: "caption", Name: "Payload.Caption", Text: a.Caption, Required: true},
	)
	addRequired(call, wire.Field{Concept: "url", Name: "Payload.URL", Text: a.URL, Reason: wire.CheckURL(a.URL)})
}

func (t Template) addTo(call *wire.Call) {
	addRequired(call, wire.Field{Concept: "template", Name: "Payload.ID", Text: t.ID, Reason: wire.CheckNotBlank(t.ID)})
	call.Fields = append(call.Fields, wire.Field{Concept: "language", Name: "Payload.Language", Text: t.Language})
	params := wire.Field{Concept: "params", Name: "Payload.Params", Value: t.Params}
	if problems := t.checkParams(); len(problems) > 0 {
		call.Problems = append(call.Problems, problems...)
		params.Value = map[string]string(nil) // it would be reported again, without the name of the parameter
	}
	call.Fields = append(call.Fields, params)
}

func (t Template) checkParams() wire.Checks {
	var c wire.Checks
	for _, name := range slices.Sorted(maps.Keys(t.Params)) {
		field := "Payload.Params[" + strconv.Quote(name) + "]"
		if name == "" {
			c.Found(field, "a parameter needs a name")
		}
		if reason := wire.CheckText(name); reason != "" {
			c.Found(field, "the name "+reason)
		}
		c.Found(field, wire.CheckText(t.Params[name]))
	}
	return c
}

func (r Raw) addTo(call *wire.Call) {
	if len(r.Fields) == 0 {
		reject(call, "Payload.Fields", "required, but absent")
	}
	fields := maps.Clone(r.Fields)
	for _, name := range slices.Sorted(maps.Keys(call.Extra)) {
		if _, isUsed := fields[name]; isUsed {
			reject(call, "Extra["+strconv.Quote(name)+"]", "is a field of the payload too")
			continue
		}
		fields[name] = call.Extra[name]
	}
	call.Extra = fields
	call.ExtraField = "Payload.Fields"
}

// addRequired adds a field, and a problem if it is empty. wire.Field.Required does not serve here: it has no effect under a contract
// without the field, and then the payload would be empty.
func addRequired(call *wire.Call, field wire.Field) {
	if field.Text == "" {
		reject(call, field.Name, "required, but absent")
	}
	call.Fields = append(call.Fields, field)
}
