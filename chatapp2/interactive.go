package chatapp2

// Interactive is a message that the recipient can answer or act on. Its Action determines its type. It cannot be sent to a
// group.
type Interactive struct {
	// Header stands above the body. Each action documents which headers it takes. Optional unless the action says otherwise.
	Header Header
	// Body is the text, at most 1024 characters, or 4096 with a List. Required unless the action says otherwise.
	Body string
	// Footer is a small text below the body, at most 60 characters. Optional. A Carousel takes none.
	Footer string
	// Action is what the recipient can do. Required.
	Action Action
}

// interactiveJSON is an Interactive in the platform's shape.
type interactiveJSON struct {
	Type   string      `json:"type,omitzero"`
	Header *headerJSON `json:"header,omitzero"`
	Body   textJSON    `json:"body,omitzero"`
	Footer textJSON    `json:"footer,omitzero"`
	Action any         `json:"action,omitzero"`
}

type textJSON struct {
	Text string `json:"text,omitzero"`
}

func (Interactive) kind() string { return typeInteractive }

func (i Interactive) content() any {
	b := interactiveJSON{Header: headerOf(i.Header), Body: textJSON{i.Body}, Footer: textJSON{i.Footer}}
	if isValue(i.Action) {
		b.Type, b.Action = i.Action.actionType(), i.Action.action()
	}
	return b
}

func readInteractive(value any) (Content, fit) {
	b, f := readAs[interactiveJSON](value)
	header, hf := b.Header.typed()
	i := Interactive{Header: header, Body: b.Body.Text, Footer: b.Footer.Text}
	if b.Type != "" || b.Action != nil {
		i.Action = decodeAction(b.Type, b.Action)
	}
	return i, min(f, hf)
}

func (i Interactive) check(c *checks, path string) {
	if c.group {
		c.Limit(path, "cannot be sent to a group: groups take text, media and templates")
	}
	var need needs
	switch {
	case i.Action == nil:
		c.Found(path+".Action", "required, but nil; the documentation of Action lists its types")
		need.anything = true
	case isValue(i.Action):
		need = i.Action.needs()
	}
	i.checkHeader(c, path+".Header", need.header)
	most := 1024
	if need.longBody || need.anything {
		most = 4096
	}
	if need.noBody || need.anything {
		c.length(path+".Body", i.Body, most)
	} else {
		c.required(path+".Body", i.Body, most)
	}
	if need.noFooter && i.Footer != "" {
		c.Found(path+".Footer", "must be empty with this action")
	}
	c.length(path+".Footer", i.Footer, 60)
	if isValue(i.Action) {
		i.Action.check(c, path+".Action")
	}
}

func (i Interactive) checkHeader(c *checks, path string, need headerNeed) {
	_, isText := i.Header.(HeaderText)
	_, isImage := i.Header.(Image)
	switch {
	case i.Header == nil && need == headerTextRequired:
		c.Found(path, "required with this action, but nil; want a HeaderText")
	case !isValue(i.Header):
	case need == headerNone:
		c.Found(path, "must be nil with this action")
	case (need == headerText || need == headerTextRequired) && !isText:
		c.Found(path, "must be a HeaderText with this action")
	case need == headerImage && !isImage:
		c.Found(path, "must be an Image with this action")
	}
	checkHeader(c, path, i.Header)
}
