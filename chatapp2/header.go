package chatapp2

import (
	"reflect"
	"strings"
)

// Header is what stands above the body of an Interactive or a Card. It is one of HeaderText, Image, Video and Document: values
// of these types, not pointers. Media in a header have no caption.
//
//sumtype:decl
type Header interface {
	header() headerJSON
}

// HeaderText is a header of text.
type HeaderText struct {
	// Text is at most 60 characters. Required.
	Text string `rule:"required,max=60"`
	// SubText is at most 60 characters. Optional. Only the platform's API description has it, not its documentation.
	SubText string `rule:"max=60"`
}

// headerJSON is a Header in the platform's shape.
type headerJSON struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitzero"`
	SubText  string    `json:"sub_text,omitzero"`
	Image    *Image    `json:"image,omitzero"`
	Video    *Video    `json:"video,omitzero"`
	Document *Document `json:"document,omitzero"`
}

func (h HeaderText) header() headerJSON {
	return headerJSON{Type: "text", Text: h.Text, SubText: h.SubText}
}

func (i Image) header() headerJSON { return headerJSON{Type: i.kind(), Image: &i} }

func (v Video) header() headerJSON { return headerJSON{Type: v.kind(), Video: &v} }

func (d Document) header() headerJSON { return headerJSON{Type: d.kind(), Document: &d} }

// headerShape returns a header in the platform's shape, nil if there is none.
func headerShape(h Header) *headerJSON {
	if !isValue(h) {
		return nil
	}
	b := h.header()
	return &b
}

// typed returns the header, nil if b is nil.
func (b *headerJSON) typed() (Header, fit) {
	if b == nil {
		return nil, exact
	}
	b.Type = strings.ToLower(b.Type)
	var h Header
	switch {
	case b.Type == "text":
		h = HeaderText{Text: b.Text, SubText: b.SubText}
	case b.Image != nil:
		h = *b.Image
	case b.Video != nil:
		h = *b.Video
	case b.Document != nil:
		h = *b.Document
	default:
		return nil, misfit
	}
	return h, exact.exactIf(reflect.DeepEqual(h.header(), *b))
}
