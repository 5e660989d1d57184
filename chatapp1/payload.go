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
	// essential returns the name of the field without which the payload would be empty, also under a contract that has no such
	// field, and reports whether it is set.
	essential() (name string, isSet bool)
}

// kinds returns a payload of each kind, by the type under which it is stored.
func kinds() map[string]any {
	return map[string]any{
		"text": Text{}, "image": Image{}, "video": Video{}, "callToAction": CallToAction{}, "template": Template{}, "raw": Raw{},
	}
}

// Text is a text message.
type Text struct {
	// Body is the text, valid UTF-8. Required. Services of this kind commonly accept 1000 characters.
	Body string `concept:"text" json:"body"`
}

// Image is a message that shows an image.
type Image struct {
	// URL is where the service fetches the image: absolute, http or https. Required.
	URL string `concept:"image,url" json:"url"`
}

// Video is a message that shows a video.
type Video struct {
	// URL is where the service fetches the video: absolute, http or https. Required.
	URL string `concept:"video,url" json:"url"`
	// ThumbnailURL is where it fetches the picture shown until the video plays: absolute, http or https.
	ThumbnailURL string `concept:"thumbnail,url" json:"thumbnailURL"`
	// Duration is the length of the video, a whole number of seconds.
	Duration time.Duration `concept:"duration" json:"duration"`
	// Size is the size of the file in bytes.
	Size int64 `concept:"size" json:"size"`
}

// CallToAction is a text, with or without an image, and a button that opens a URL.
type CallToAction struct {
	// Text is the text above the button, valid UTF-8. Required.
	Text string `concept:"text,required" json:"text"`
	// ImageURL is where the service fetches an image shown with the text: absolute, http or https.
	ImageURL string `concept:"image,url" json:"imageURL"`
	// Caption is the label of the button, valid UTF-8. Required.
	Caption string `concept:"caption,required" json:"caption"`
	// URL is what the button opens: absolute, http or https. Required.
	URL string `concept:"url,url" json:"url"`
}

// Template is a transactional template that was approved in advance.
type Template struct {
	// ID identifies the template. Required.
	ID string `concept:"template,notblank" json:"id"`
	// Language is the language to send it in, such as "en". Optional if the template has only one.
	Language string `concept:"language" json:"language"`
	// Params holds the values of the template's parameters by name.
	Params map[string]string `concept:"params" json:"params"`
}

// Raw is a payload under wire names, for what this library does not know. Only the names of its fields are checked: they must
// differ from the names of the message's other fields.
type Raw struct {
	// Fields maps wire names to anything that encoding/json encodes; with the encodings form and query, to strings, numbers
	// and booleans. At least one is required.
	Fields map[string]any `json:"fields"`
}

func (t Text) essential() (name string, isSet bool)         { return "Body", t.Body != "" }
func (i Image) essential() (name string, isSet bool)        { return "URL", i.URL != "" }
func (v Video) essential() (name string, isSet bool)        { return "URL", v.URL != "" }
func (a CallToAction) essential() (name string, isSet bool) { return "URL", a.URL != "" }
func (t Template) essential() (name string, isSet bool)     { return "ID", t.ID != "" }
func (r Raw) essential() (name string, isSet bool)          { return "Fields", len(r.Fields) > 0 }

func (t Template) checkParams() []wire.Problem {
	var c wire.Checks
	for _, name := range slices.Sorted(maps.Keys(t.Params)) {
		field := "Payload.Params[" + strconv.Quote(name) + "]"
		if name == "" {
			c.Found(field, "a parameter needs a name")
		}
		if reason := wire.CheckUTF8(name); reason != "" {
			c.Found(field, "the name "+reason)
		}
		c.Found(field, wire.CheckUTF8(t.Params[name]))
	}
	return c
}
