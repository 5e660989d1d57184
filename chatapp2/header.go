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
	header() parameterJSON
}

// HeaderText is a header of text. Only the API description of the platform has SubText, not its documentation.
type HeaderText struct {
	Text    string `rule:"required,max=60"`
	SubText string `rule:"max=60"`
}

func (h HeaderText) header() parameterJSON {
	return parameterJSON{Type: "text", Text: h.Text, SubText: h.SubText}
}

func (i Image) header() parameterJSON    { return parameterJSON{Type: i.kind(), Image: &i} }
func (v Video) header() parameterJSON    { return parameterJSON{Type: v.kind(), Video: &v} }
func (d Document) header() parameterJSON { return parameterJSON{Type: d.kind(), Document: &d} }

// headerShape returns a header in the platform's shape, nil if there is none.
func headerShape(h Header) *parameterJSON {
	if !isValue(h) {
		return nil
	}
	b := h.header()
	return &b
}

// asHeader returns the header, nil if b is nil.
func (b *parameterJSON) asHeader() (Header, fit) {
	if b == nil {
		return nil, exact
	}
	b.Type = strings.ToLower(b.Type)
	h, _ := b.value().(Header)
	if b.Type == "text" {
		h = HeaderText{b.Text, b.SubText}
	}
	if h == nil {
		return nil, misfit
	}
	return h, exact.exactIf(reflect.DeepEqual(h.header(), *b))
}
