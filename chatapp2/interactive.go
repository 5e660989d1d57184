package chatapp2

import (
	"encoding/json"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Interactive is a message that the recipient answers or opens something with. Its Action makes its type.
type Interactive struct {
	// Header stands above the body. Which one an action takes, if any, its own documentation says. Optional unless that says
	// otherwise.
	Header Header
	// Body is the text, at most 1024 characters, or 4096 with a List. Required unless the action says otherwise.
	Body string
	// Footer is a small text below the body, at most 60 characters. Optional; a Carousel takes none.
	Footer string
	// Action is what the recipient can do: exactly one. Required.
	Action Action

	noName bool // a body that was read lacked the name of its action
}

// Header is what stands above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document, and
// nothing else can be one. A caption has no place in it.
//
//sumtype:decl
type Header interface {
	header() headerBody
	check(c *checks, path string)
}

// HeaderText is a header of text.
type HeaderText struct {
	// Text is at most 60 characters. Required.
	Text string
	// SubText (sub_text) is at most 60 characters. Optional; the platform's API description knows it, its documentation does not.
	SubText string
}

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, AddressMessage, VoiceCall, CallPermissionRequest, Carousel, OrderDetails, OrderStatus, ContactRequest and
// RawAction, and nothing else can be one.
//
//sumtype:decl
type Action interface {
	// interactive is the type of the message, and what the action asks of the rest of it.
	interactive() (kind string, needs needs)
	// action is the object under that key, as encoding/json takes it; nil where there is none.
	action() any
	check(c *checks, path string)
}

// needs is what an action asks of its Interactive. The zero value asks for a body and takes any header and a footer.
type needs struct {
	header   headerNeed
	noBody   bool // the body may be absent
	longBody bool
	noFooter bool
	anyParts bool // nothing is known of what it asks for
}

type headerNeed uint8

const (
	headerAny headerNeed = iota
	headerNone
	headerText
	headerTextRequired
	headerImage
)

// RawAction is an action that this library does not know, or whose parameters no type holds. Of a type that it knows, it checks
// what it knows, and what it finds passes a limit unless nothing can be without it. Of any other nothing is checked but that it is
// JSON.
type RawAction struct {
	// Type is the type of the Interactive. Required.
	Type string
	// JSON is what stands under the key "action", any JSON value. Required.
	JSON json.RawMessage
}

func (a RawAction) interactive() (string, needs) {
	return a.Type, needs{longBody: true, anyParts: true}
}

func (a RawAction) action() any {
	if a.JSON == nil {
		return nil
	}
	return a.JSON
}

func (a RawAction) check(c *checks, path string) {
	c.required(path+".Type", a.Type, 0)
	if !checkRaw(c, path+".JSON", a.JSON) {
		return
	}
	before, kind := len(c.problems), strings.ToLower(a.Type)
	m := membersOf(opened(decode(a.JSON)))
	action := readKnownAction(kind, m)
	if action != nil && m.whole() {
		c.asLimits(func(known *checks) { action.check(known, path) })
	}
	switch kind {
	case actionButton:
		checkRawButtons(c, path+".JSON", membersOf(decode(a.JSON)))
	case actionCarousel:
		checkRawCards(c, path+".JSON", decode(a.JSON), "type", "action")
	case actionCTAURL, actionFlow, actionCatalog, actionAddress, actionVoiceCall, actionCallPermission, actionContactRequest:
		checkRawName(c, path+".JSON", a.JSON, kind)
	case actionLocationRequest:
		checkRawName(c, path+".JSON", a.JSON, "send_location")
	case actionOrderDetails:
		checkRawName(c, path+".JSON", a.JSON, "review_and_pay")
	case actionOrderStatus:
		checkRawName(c, path+".JSON", a.JSON, "review_order")
	}
	if action != nil && !m.whole() && len(c.problems) == before {
		c.unlikeDocumented(path + ".JSON")
	}
}

// checkRawName holds an action of a known type to its name.
func checkRawName(c *checks, path string, raw json.RawMessage, want string) {
	switch membersOf(decode(raw)).word("name") {
	case want:
	case "":
		c.found(path, "its name is required, but absent")
	default:
		c.limit(path, "want the name "+want)
	}
}

// interactiveBody is an Interactive on the wire.
type interactiveBody struct {
	Type   string      `json:"type,omitzero"`
	Header *headerBody `json:"header,omitzero"`
	Body   textBody    `json:"body,omitzero"`
	Footer textBody    `json:"footer,omitzero"`
	Action any         `json:"action,omitzero"`
}

type textBody struct {
	Text string `json:"text,omitzero"`
}

// headerBody is a Header on the wire.
type headerBody struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitzero"`
	SubText  string    `json:"sub_text,omitzero"`
	Image    *Image    `json:"image,omitzero"`
	Video    *Video    `json:"video,omitzero"`
	Document *Document `json:"document,omitzero"`
}

func (h HeaderText) header() headerBody {
	return headerBody{Type: "text", Text: h.Text, SubText: h.SubText}
}

func (i Image) header() headerBody { return headerBody{Type: typeImage, Image: &i} }

func (v Video) header() headerBody { return headerBody{Type: typeVideo, Video: &v} }

func (d Document) header() headerBody { return headerBody{Type: typeDocument, Document: &d} }

func (h HeaderText) check(c *checks, path string) {
	c.required(path+".Text", h.Text, 60)
	c.text(path+".SubText", h.SubText, 60)
}

func (Interactive) kind() string { return typeInteractive }

func (i Interactive) content() any {
	b := interactiveBody{Body: textBody{i.Body}, Footer: textBody{i.Footer}, Header: headerOf(i.Header)}
	if !wire.IsNil(i.Action) {
		b.Type, _ = i.Action.interactive()
		b.Action = unnamed(i.Action.action(), i.noName)
	}
	return b
}

// unnamed takes the name of an action away that was read without it.
func unnamed(action any, noName bool) any {
	named, ok := action.(namedAction)
	if !ok || !noName {
		return action
	}
	named.Name = ""
	return named
}

func headerOf(h Header) *headerBody {
	if wire.IsNil(h) {
		return nil
	}
	b := h.header()
	return &b
}

func readInteractive(value any) (Interactive, bool) {
	m := membersOf(value)
	kind := m.word("type")
	body, footer := m.object("body"), m.object("footer")
	var i Interactive
	body.into("text", &i.Body)
	footer.into("text", &i.Footer)
	header, ok := readHeader(m.take("header"))
	i.Header = header
	action := m.take("action")
	if kind != "" || action != nil {
		i.Action, i.noName = readAction(kind, action)
	}
	return i, ok && body.whole() && footer.whole() && m.whole()
}

func readHeader(value any) (Header, bool) {
	m := membersOf(value)
	if len(m.left) == 0 {
		return nil, m.whole()
	}
	var h Header
	switch kind := m.word("type"); kind {
	case "text":
		var text HeaderText
		m.into("text", &text.Text)
		m.into("sub_text", &text.SubText)
		h = text
	case typeImage:
		var image Image
		m.into(kind, &image)
		h = image
	case typeVideo:
		var video Video
		m.into(kind, &video)
		h = video
	case typeDocument:
		var document Document
		m.into(kind, &document)
		h = document
	default:
		return nil, false
	}
	return h, m.whole()
}

func (i Interactive) check(c *checks, path string) {
	if wire.IsNil(i.Action) {
		c.found(path+".Action", "required, but nil; the documentation of Action lists its types")
		checkHeader(c, path+".Header", i.Header)
		c.text(path+".Body", i.Body, 4096)
		c.text(path+".Footer", i.Footer, 60)
		return
	}
	_, need := i.Action.interactive()
	i.checkHeader(c, path+".Header", need.header)
	most := 1024
	if need.longBody {
		most = 4096
	}
	if need.noBody || need.anyParts {
		c.text(path+".Body", i.Body, most)
	} else {
		c.required(path+".Body", i.Body, most)
	}
	if need.noFooter && i.Footer != "" {
		c.found(path+".Footer", "must be empty with this action")
	}
	c.text(path+".Footer", i.Footer, 60)
	if i.noName {
		c.found(path+".Action", "its name is required, but absent")
	}
	i.Action.check(c, path+".Action")
}

func (i Interactive) checkHeader(c *checks, path string, need headerNeed) {
	absent := wire.IsNil(i.Header)
	kind := ""
	if !absent {
		kind = i.Header.header().Type
	}
	switch {
	case need == headerTextRequired && absent:
		c.found(path, "required with this action, but nil; want a HeaderText")
	case absent:
	case need == headerNone:
		c.found(path, "must be nil with this action")
	case (need == headerText || need == headerTextRequired) && kind != "text":
		c.found(path, "must be a HeaderText with this action")
	case need == headerImage && kind != typeImage:
		c.found(path, "must be an Image with this action")
	}
	checkHeader(c, path, i.Header)
}

// checkHeader checks a header for itself.
func checkHeader(c *checks, path string, h Header) {
	if wire.IsNil(h) {
		if h != nil {
			c.found(path, "must not be a nil pointer; want nil for no header")
		}
		return
	}
	h.check(c, path)
	checkNoCaption(c, path, h)
}

// checkNoCaption refuses a caption where a medium stands as a header.
func checkNoCaption(c *checks, path string, medium any) {
	image, _ := as[Image](medium)
	video, _ := as[Video](medium)
	document, _ := as[Document](medium)
	if image.Caption+video.Caption+document.Caption != "" {
		c.found(path+".Caption", "must be empty: a header has no caption")
	}
}
