package chatapp2

// Text is a text message.
type Text struct {
	Body string `json:"body,omitzero" rule:"required,max=4096"`
	// PreviewURL lets the platform show a preview of the first http or https URL in Body.
	PreviewURL bool `json:"preview_url,omitzero"`
}
