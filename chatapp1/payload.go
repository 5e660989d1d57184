package chatapp1

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Payload is what a message says. It is one of Text, Image, Video, CallToAction, Template and Raw, and nothing else can be
// one: a message with no payload or with two is no program.
//
//sumtype:decl
type Payload interface {
	// body is the whole message under the names of the default contract, and what stands beside them.
	body(e envelope, d wire.Delivery) (body any, raw map[string]any)
	check(c *wire.Checks)
}

// Text is a text message.
type Text struct {
	// Body is the text, valid UTF-8. Required. No bounds are known; services of this kind commonly take 1000 characters.
	Body string
}

// Image is a message that shows an image.
type Image struct {
	// URL is where the service fetches the image: absolute, http or https. Required.
	URL string
}

// Video is a message that shows a video. The names of its fields are the least certain defaults of the contract.
type Video struct {
	// URL is where the service fetches the video: absolute, http or https. Required.
	URL string
	// ThumbnailURL is where it fetches the picture that is shown until the video plays. Optional; absolute, http or https.
	ThumbnailURL string
	// Duration is the length of the video, a whole number of seconds by default of the contract. Optional.
	Duration time.Duration
	// Size is the size of the file in bytes. Optional.
	Size int64
}

// CallToAction is a text, with an image or without, and a button that opens a URL.
type CallToAction struct {
	// Text is the text above the button, valid UTF-8. Required.
	Text string
	// ImageURL is where the service fetches an image that is shown with the text. Optional; absolute, http or https.
	ImageURL string
	// Caption is the label of the button, valid UTF-8. Required.
	Caption string
	// URL is what the button opens: absolute, http or https. Required.
	URL string
}

// Template is a transactional template that was approved beforehand.
type Template struct {
	// ID names the template. Required.
	ID string
	// Language is the language to send it in, such as "en". Optional where the template has one language alone.
	Language string
	// Params holds the values of the template's parameters by name; nil where it has none. They are sent in the order of their
	// names, so that the same message is always the same bytes.
	Params map[string]string
}

// Raw is a payload under the names that its fields have on the wire, for what this library does not know, or an account that
// differs more than a contract can say. Nothing in it is checked but that it can be encoded, and that no field bears the name of
// one that the message has besides its payload. In JSON a Raw with exactly the fields of another payload comes back as that.
type Raw struct {
	// Fields is sent as it is: names to whatever encoding/json takes; with the encodings form and query to strings, numbers
	// and booleans. At least one is required.
	Fields map[string]any
}

type textBody struct {
	envelope

	Text string `json:"text" url:"text" field:"Payload.Body"`
	wire.Delivery
}

func (t Text) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &textBody{e, t.Body, d}, nil
}

func (t Text) check(c *wire.Checks) {
	if t.Body == "" {
		c.Found("Payload.Body", "required, but absent")
	}
	c.Found("Payload.Body", wire.CheckUTF8(t.Body))
}

type imageBody struct {
	envelope

	Image string `json:"image" url:"image" field:"Payload.URL"`
	wire.Delivery
}

func (i Image) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &imageBody{e, i.URL, d}, nil
}

func (i Image) check(c *wire.Checks) { checkURL(c, "Payload.URL", i.URL) }

type videoBody struct {
	envelope

	Video     string       `json:"video"              url:"video"               field:"Payload.URL"`
	Thumbnail string       `json:"thumbnail,omitzero" url:"thumbnail,omitempty" field:"Payload.ThumbnailURL"`
	Duration  wire.Seconds `json:"duration,omitzero"  url:"duration,omitempty"  field:"Payload.Duration"`
	Size      int64        `json:"fileSize,omitzero"  url:"fileSize,omitempty"  field:"Payload.Size"`
	wire.Delivery
}

func (v Video) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &videoBody{e, v.URL, v.ThumbnailURL, wire.Seconds(v.Duration), v.Size, d}, nil
}

func (v Video) check(c *wire.Checks) {
	checkURL(c, "Payload.URL", v.URL)
	c.Found("Payload.ThumbnailURL", wire.CheckURL(v.ThumbnailURL))
	if v.Duration < 0 || v.Duration%time.Second != 0 {
		c.Found("Payload.Duration", "must be a whole number of seconds and not negative, got "+v.Duration.String())
	}
	if v.Size < 0 {
		c.Found("Payload.Size", "must be a number of bytes, got "+strconv.FormatInt(v.Size, 10))
	}
}

type callToActionBody struct {
	envelope

	Text    string `json:"text"           url:"text"            field:"Payload.Text"`
	Image   string `json:"image,omitzero" url:"image,omitempty" field:"Payload.ImageURL"`
	Caption string `json:"caption"        url:"caption"         field:"Payload.Caption"`
	URL     string `json:"action"         url:"action"          field:"Payload.URL"`
	wire.Delivery
}

func (a CallToAction) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &callToActionBody{e, a.Text, a.ImageURL, a.Caption, a.URL, d}, nil
}

func (a CallToAction) check(c *wire.Checks) {
	checkText(c, "Payload.Text", a.Text)
	c.Found("Payload.ImageURL", wire.CheckURL(a.ImageURL))
	checkText(c, "Payload.Caption", a.Caption)
	checkURL(c, "Payload.URL", a.URL)
}

type templateBody struct {
	envelope

	Template string `json:"templateId"                url:"templateId"                 field:"Payload.ID"`
	Params   params `json:"templateParams,omitempty"  url:"templateParams,omitempty"   field:"Payload.Params"`
	Language string `json:"templateLanguage,omitzero" url:"templateLanguage,omitempty" field:"Payload.Language"`
	wire.Delivery
}

// params are values by name. In a form they are a JSON object.
type params map[string]string

func (p params) EncodeValues(key string, values *url.Values) error {
	raw, err := wire.Encode(map[string]string(p))
	values.Set(key, string(raw))
	return err
}

func (t Template) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &templateBody{e, t.ID, t.Params, t.Language, d}, nil
}

func (t Template) check(c *wire.Checks) {
	switch {
	case t.ID == "":
		c.Found("Payload.ID", "required, but absent")
	case strings.TrimSpace(t.ID) == "":
		c.Found("Payload.ID", "required, got white space only")
	}
	c.Found("Payload.ID", wire.CheckUTF8(t.ID))
	c.Found("Payload.Language", wire.CheckUTF8(t.Language))
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
}

func (r Raw) body(e envelope, d wire.Delivery) (any, map[string]any) {
	return &struct {
		envelope
		wire.Delivery
	}{e, d}, r.Fields
}

func (r Raw) check(c *wire.Checks) {
	if len(r.Fields) == 0 {
		c.Found("Payload.Fields", "at least one field is required, got none")
	}
}

// Format prints how long the fields are, in every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.summary()) }

// LogValue logs what Format prints.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.summary()) }

func (t Text) summary() string { return fmt.Sprintf("chatapp1.Text{Body: %s}", characters(t.Body)) }

// Format prints how long the fields are, in every verb.
func (i Image) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, i.summary()) }

// LogValue logs what Format prints.
func (i Image) LogValue() slog.Value { return slog.StringValue(i.summary()) }

func (i Image) summary() string { return fmt.Sprintf("chatapp1.Image{URL: %s}", characters(i.URL)) }

// Format prints how long the fields are, in every verb.
func (v Video) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.summary()) }

// LogValue logs what Format prints.
func (v Video) LogValue() slog.Value { return slog.StringValue(v.summary()) }

func (v Video) summary() string {
	return fmt.Sprintf("chatapp1.Video{URL: %s, ThumbnailURL: %s, Duration: %v, Size: %d}", characters(v.URL), characters(v.ThumbnailURL), v.Duration, v.Size)
}

// Format prints how long the fields are, in every verb.
func (a CallToAction) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.summary()) }

// LogValue logs what Format prints.
func (a CallToAction) LogValue() slog.Value { return slog.StringValue(a.summary()) }

func (a CallToAction) summary() string {
	return fmt.Sprintf("chatapp1.CallToAction{Text: %s, ImageURL: %s, Caption: %s, URL: %s}", characters(a.Text), characters(a.ImageURL), characters(a.Caption), characters(a.URL))
}

// Format prints how many parameters there are, in every verb.
func (t Template) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.summary()) }

// LogValue logs what Format prints.
func (t Template) LogValue() slog.Value { return slog.StringValue(t.summary()) }

func (t Template) summary() string {
	return fmt.Sprintf("chatapp1.Template{ID: %s, Language: %s, Params: %d}", characters(t.ID), characters(t.Language), len(t.Params))
}

// Format prints how many fields there are, in every verb.
func (r Raw) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.summary()) }

// LogValue logs what Format prints.
func (r Raw) LogValue() slog.Value { return slog.StringValue(r.summary()) }

func (r Raw) summary() string { return fmt.Sprintf("chatapp1.Raw{Fields: %d}", len(r.Fields)) }

func characters(s string) string { return strconv.Itoa(utf8.RuneCountInString(s)) + " characters" }
