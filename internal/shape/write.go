package shape

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/stored"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Writer writes JSON values one after another, without the escapes that HTML needs.
type Writer struct {
	Out []byte
	Err error // the first

	shapes *Shapes
	quoted bool // numbers are written as text
}

// NewWriter returns a Writer that appends to out.
func (s *Shapes) NewWriter(out []byte) Writer { return Writer{Out: out, shapes: s} }

// Value writes a value. If that fails, Err is set and Out is not valid JSON.
func (w *Writer) Value(value any) { w.value(reflect.ValueOf(value)) }

func (l *leaf) write(w *Writer, v reflect.Value, _ int) {
	value := valueAt(v, l.index)
	if value.Kind() == reflect.String {
		w.Text(cmp.Or(value.String(), l.preset))
		return
	}
	outer := w.quoted
	w.quoted = outer || l.text
	w.value(value)
	w.quoted = outer
}

func (o *object) write(w *Writer, v reflect.Value, position int) {
	w.Out = append(w.Out, '{')
	o.writeMembers(w, v, position)
	w.Out = append(w.Out, '}')
}

func (o *object) writeMembers(w *Writer, v reflect.Value, position int) {
	for _, word := range o.words {
		word.write(w, position)
	}
	for _, p := range o.parts {
		if !p.isZero(v) {
			p.write(w, v, position)
		}
	}
}

func (c word) write(w *Writer, position int) {
	w.name(c.name)
	if c.text == "#" {
		w.Out = strconv.AppendInt(w.Out, int64(position), 10)
		return
	}
	w.Text(c.text)
}

func (m *member) write(w *Writer, v reflect.Value, position int) {
	w.name(m.name)
	m.shape.write(w, v, position)
}

func (c *choice) write(w *Writer, v reflect.Value, _ int) {
	value := valueAt(v, c.index)
	if o, isObject := w.variant(value).(*object); isObject {
		o.writeMembers(w, value.Elem(), 0)
	}
}

func (s *single) write(w *Writer, v reflect.Value, _ int) {
	w.Out = append(w.Out, '[')
	s.value.write(w, v, 0)
	w.Out = append(w.Out, ']')
}

func (s *set) write(w *Writer, v reflect.Value, _ int) {
	w.Out = append(w.Out, '[')
	for _, e := range s.elements {
		if !e.isZero(v) {
			w.comma()
			e.object.write(w, v, 0)
		}
	}
	w.Out = append(w.Out, ']')
}

func (l *list) write(w *Writer, v reflect.Value, _ int) {
	elements := valueAt(v, l.index)
	w.Out = append(w.Out, '[')
	for i := range elements.Len() {
		w.comma()
		l.object.write(w, elements.Index(i), i)
	}
	w.Out = append(w.Out, ']')
}

// value writes a value as its Go type.
func (w *Writer) value(v reflect.Value) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		w.encode(raw)
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.Text(v.String())
	case reflect.Int, reflect.Int64, reflect.Float64:
		w.number(v)
	case reflect.Pointer:
		if v.IsNil() {
			w.encode(nil)
			return
		}
		w.value(v.Elem())
	case reflect.Interface:
		if variant := w.variant(v); variant != nil {
			variant.write(w, v.Elem(), 0)
			return
		}
		w.encode(v.Interface())
	case reflect.Slice:
		w.Out = append(w.Out, '[')
		for i := range v.Len() {
			w.comma()
			w.value(v.Index(i))
		}
		w.Out = append(w.Out, ']')
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[time.Time](v); ok {
			w.Out = strconv.AppendInt(w.Out, at.UnixMilli(), 10)
			return
		}
		w.shapes.structs[v.Type()].write(w, v, 0)
	default:
		w.encode(v.Interface())
	}
}

func (w *Writer) number(v reflect.Value) {
	if w.quoted {
		w.Out = append(w.Out, '"')
	}
	if v.CanInt() {
		w.Out = strconv.AppendInt(w.Out, v.Int(), 10)
	} else {
		w.encode(v.Float())
	}
	if w.quoted {
		w.Out = append(w.Out, '"')
	}
}

// name writes the name of a member, and the comma in front of it.
func (w *Writer) name(name string) {
	w.comma()
	w.Text(name)
	w.Out = append(w.Out, ':')
}

// comma separates a member or an element from the one before, if there is one.
func (w *Writer) comma() {
	if last := w.Out[len(w.Out)-1]; last != '{' && last != '[' {
		w.Out = append(w.Out, ',')
	}
}

// Text writes a text.
func (w *Writer) Text(text string) {
	if needsEscape(text) {
		w.encode(text)
		return
	}
	w.Out = append(w.Out, '"')
	w.Out = append(w.Out, text...)
	w.Out = append(w.Out, '"')
}

func needsEscape(text string) bool {
	for _, r := range text {
		switch r {
		case '"', '\\', utf8.RuneError, '\u2028', '\u2029':
			return true
		}
		if r < ' ' {
			return true
		}
	}
	return false
}

// encode writes a value as encoding/json does.
func (w *Writer) encode(value any) {
	raw, err := stored.Encode(value)
	w.Err = cmp.Or(w.Err, err)
	w.Out = append(w.Out, raw...)
}

// variant returns the shape of the value of a sealed interface. A value that cannot be written has none, and is an error.
func (w *Writer) variant(v reflect.Value) shape {
	variant := w.shapes.variantOf(v.Type(), v.Elem())
	if variant == nil && v.NumMethod() > 0 && !v.IsNil() {
		w.Err = cmp.Or(w.Err, errors.New("a part of it "+wire.WrongType(v.Interface())))
	}
	return variant
}
