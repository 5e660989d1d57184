package chatapp2

// Interactive is a message that the recipient can reply to or act on. Its Action determines its type.
type Interactive struct {
	// Header is optional unless the action says otherwise. Each action documents which headers it takes.
	Header Header `at:"header"`
	// Body is the text, at most 1024 characters, or 4096 with a List or a RawAction. Required unless the action says otherwise.
	Body string `at:"body.text"`
	// Footer is shown in small letters below the body. Optional. A Carousel takes no footer.
	Footer string `at:"footer.text,max=60"`
	// Action is what the recipient can do. Required.
	Action Action `at:"type&action,required"`
}

func (i Interactive) check(c *checks) {
	checkNoCaption(c, "Header", i.Header)
	rule := ruleFor(i.Action)
	if rule.needsBody {
		c.Required("Body", i.Body)
	}
	c.Length("Body", i.Body, rule.bodyLimit)
	rule.header.check(c, i.Header)
	switch action := i.Action.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case ReplyButtons:
		c.Count("Action", "buttons", len(action), 1, 3)
	case Carousel:
		if i.Footer != "" {
			c.Add("Footer", "must be empty with a Carousel")
		}
	}
}

// interactiveRule is what an action requires of the Interactive that it is in.
type interactiveRule struct {
	header    headerRule
	needsBody bool
	bodyLimit int // in characters
}

func ruleFor(action Action) interactiveRule {
	switch action.(type) { //nolint:gochecksumtype // the others have the usual rule
	case nil, RawAction:
		return interactiveRule{bodyLimit: 4096}
	case List:
		return interactiveRule{header: headerText, needsBody: true, bodyLimit: 4096}
	case ProductList:
		return interactiveRule{header: headerTextRequired, needsBody: true, bodyLimit: 1024}
	case LocationRequest, CatalogMessage, Carousel:
		return interactiveRule{header: headerNone, needsBody: true, bodyLimit: 1024}
	case Product:
		return interactiveRule{header: headerNone, bodyLimit: 1024}
	default:
		return interactiveRule{needsBody: true, bodyLimit: 1024}
	}
}

// headerRule says which headers an action takes.
type headerRule int

const (
	headerAny headerRule = iota
	headerNone
	headerText
	headerTextRequired
)

func (r headerRule) check(c *checks, header Header) {
	if header == nil && r == headerTextRequired {
		c.Add("Header", "required with this action, but nil; want a HeaderText")
	}
	if !isValue(header) {
		return
	}
	switch r {
	case headerAny:
	case headerNone:
		c.Add("Header", "must be nil with this action")
	case headerText, headerTextRequired:
		if _, isText := header.(HeaderText); !isText {
			c.Add("Header", "must be a HeaderText with this action")
		}
	}
}

// Header is shown above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document. Pass values, not
// pointers. Media in a header have no caption.
//
//sumtype:decl
type Header interface{ header() place }

func (HeaderText) header() place { return placeOf("type=text", "") }
func (Image) header() place      { return placeOf("type=image", "image!") }
func (Video) header() place      { return placeOf("type=video", "video!") }
func (Document) header() place   { return placeOf("type=document", "document!") }

// HeaderText is a header of text.
type HeaderText struct {
	Text string `at:"text,required,max=60"`
	// SubText appears in the platform's API description only, not in its documentation. Optional.
	SubText string `at:"sub_text,max=60"`
}
