package chatapp2

// Text is a text message.
type Text struct {
	// Body is the text, at most 4096 characters. Required.
	Body string `json:"body,omitzero"`
	// PreviewURL lets the platform show a preview of the first http or https URL in Body.
	PreviewURL bool `json:"preview_url,omitzero"`
}

func (Text) kind() string { return typeText }

func (t Text) content() any { return t }

func (t Text) check(c *checks, path string) { c.required(path+".Body", t.Body, 4096) }
