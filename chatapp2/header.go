package chatapp2

// Header is what stands above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document: values
// of these types, not pointers. Media in a header have no caption.
//
//sumtype:decl
type Header interface{ header() place }

func (HeaderText) header() place { return place{"type=text", ""} }
func (Image) header() place      { return place{"type=image", "image!"} }
func (Video) header() place      { return place{"type=video", "video!"} }
func (Document) header() place   { return place{"type=document", "document!"} }

// HeaderText is a header of text. Only the API description of the platform has SubText, not its documentation.
type HeaderText struct {
	Text    string `at:"text" rule:"required,max=60"`
	SubText string `at:"sub_text" rule:"max=60"`
}
