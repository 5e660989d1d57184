package chatapp1

import "time"

// Payload is the content of a message: one of Text, Image, Video, CallToAction, Template and Raw. No other type implements it.
//
//sumtype:decl
type Payload interface{ payload() }

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

// Raw is a payload of fields under their wire names, for payloads that this library does not know. The names must differ from those of the
// message's other fields, and must not make two of the other payloads, such as a text and a video. Of the values it is only checked that they
// can be sent.
type Raw struct {
	// Fields maps wire names to anything that encoding/json encodes; with the encodings form and query, to strings, numbers
	// and booleans. At least one is required.
	Fields map[string]any `json:"fields,omitzero"`
}

func (Text) payload()         {}
func (Image) payload()        {}
func (Video) payload()        {}
func (CallToAction) payload() {}
func (Template) payload()     {}
func (Raw) payload()          {}
