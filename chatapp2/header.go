package chatapp2

// Header is what stands above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document: values
// of these types, not pointers. Media in a header have no caption.
//
//sumtype:decl
type Header interface{ isHeader() }

func headers() []kind {
	return []kind{
		{HeaderText{}, "type=text", ""},
		{Image{}, "type=image", "image!"},
		{Video{}, "type=video", "video!"},
		{Document{}, "type=document", "document!"},
	}
}

func (HeaderText) isHeader() {}
func (Image) isHeader()      {}
func (Video) isHeader()      {}
func (Document) isHeader()   {}

// HeaderText is a header of text. Only the API description of the platform has SubText, not its documentation.
type HeaderText struct {
	Text    string `at:"text" rule:"required,max=60"`
	SubText string `at:"sub_text" rule:"max=60"`
}
