package chatapp2

import "github.com/messaging-service/messaging-go/internal/shape"

// Interactive is a message that the recipient can reply to or act on. Its Action determines its type. A small Footer stands
// below the body, except with a Carousel.
type Interactive struct {
	// Header is optional unless the action says otherwise. Each action documents which headers it takes.
	Header Header `at:"header"`
	// Body is the text, at most 1024 characters, or 4096 with a List. Required unless the action says otherwise.
	Body   string `at:"body.text"`
	Footer string `at:"footer.text,max=60"`
	Action Action `at:"type&action,required"`
}

func (i Interactive) check(c *checks) {
	checkNoCaption(c, "Header", i.Header)
	var headers headerRule
	needsBody, bodyMost := true, 1024
	switch action := i.Action.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case nil, RawAction:
		needsBody, bodyMost = false, 4096
	case List:
		headers, bodyMost = headerText, 4096
	case ProductList:
		headers = headerTextRequired
	case OrderDetails:
		headers = headerImage
	case LocationRequest, CatalogMessage:
		headers = headerNone
	case Product:
		headers, needsBody = headerNone, false
	case CallPermissionRequest:
		needsBody = false
	case ReplyButtons:
		c.Count("Action", "buttons", len(action), 1, 3)
	case Carousel:
		headers = headerNone
		if i.Footer != "" {
			c.Found("Footer", "must be empty with a Carousel")
		}
	}
	if needsBody {
		c.Required("Body", i.Body)
	}
	c.Length("Body", i.Body, bodyMost)
	headers.check(c, i.Header)
}

type headerRule int

const (
	headerAny headerRule = iota
	headerNone
	headerText
	headerTextRequired
	headerImage
)

func (r headerRule) check(c *checks, h Header) {
	_, isText := h.(HeaderText)
	_, isImage := h.(Image)
	switch {
	case h == nil && r == headerTextRequired:
		c.Found("Header", "required with this action, but nil; want a HeaderText")
	case !shape.IsValue(h) || r == headerAny:
	case r == headerNone:
		c.Found("Header", "must be nil with this action")
	case r == headerImage && !isImage:
		c.Found("Header", "must be an Image with this action")
	case r != headerImage && !isText:
		c.Found("Header", "must be a HeaderText with this action")
	}
}

// Header is what stands above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document: values
// of these types, not pointers. Media in a header have no caption.
//
//sumtype:decl
type Header interface{ header() place }

func (HeaderText) header() place { return placed("type=text", "") }
func (Image) header() place      { return placed("type=image", "image!") }
func (Video) header() place      { return placed("type=video", "video!") }
func (Document) header() place   { return placed("type=document", "document!") }

// HeaderText is a header of text. Only the API description of the platform has SubText, not its documentation.
type HeaderText struct {
	Text    string `at:"text,required,max=60"`
	SubText string `at:"sub_text,max=60"`
}
