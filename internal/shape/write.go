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
func (w *Writer) Value(value any) { w.value(w.shapes.plain, reflect.ValueOf(value)) }

func (w *Writer) shape(sh *shape, v reflect.Value, index int) {
	switch sh.form {
	case formWord:
		if sh.word == "#" {
			w.Out = strconv.AppendInt(w.Out, int64(index), 10)
			return
		}
		w.Text(sh.word)
	case formObject:
		w.Out = append(w.Out, '{')
		w.members(sh, v, index)
		w.Out = append(w.Out, '}')
	case formSet:
		w.Out = append(w.Out, '[')
		for _, element := range sh.members {
			if element.present(v) {
				w.comma()
				w.shape(element, v, 0)
			}
		}
		w.Out = append(w.Out, ']')
	case formList:
		w.list(sh.of(v), func(element reflect.Value, index int) { w.shape(sh.members[0], element, index) })
	default:
		w.value(sh, sh.of(v))
	}
}

func (w *Writer) members(sh *shape, v reflect.Value, index int) {
	for _, member := range sh.members {
		switch {
		case member.form == formChoice:
			chosen := member.of(v)
			if inner := w.variant(chosen); inner != nil {
				w.members(inner, chosen.Elem(), 0)
			}
		case member.form == formWord || member.present(v):
			w.comma()
			w.Text(member.name)
			w.Out = append(w.Out, ':')
			w.shape(member, v, index)
		}
	}
}

func (w *Writer) list(v reflect.Value, write func(element reflect.Value, index int)) {
	w.Out = append(w.Out, '[')
	for i := range v.Len() {
		w.comma()
		write(v.Index(i), i)
	}
	w.Out = append(w.Out, ']')
}

func (w *Writer) value(sh *shape, v reflect.Value) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		w.any(raw)
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.Text(cmp.Or(v.String(), sh.preset))
	case reflect.Int, reflect.Int64, reflect.Float64:
		w.number(sh, v)
	case reflect.Interface:
		if inner := w.variant(v); inner != nil {
			w.shape(inner, v.Elem(), 0)
			return
		}
		w.any(v.Interface())
	case reflect.Slice:
		w.list(v, func(element reflect.Value, _ int) { w.value(sh, element) })
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[time.Time](v); ok {
			w.time(sh, at)
			return
		}
		outer := w.quoted
		w.quoted = outer || sh.text
		w.shape(w.shapes.structs[v.Type()], v, 0)
		w.quoted = outer
	default:
		w.any(v.Interface())
	}
}

func (w *Writer) number(sh *shape, v reflect.Value) {
	quoted := sh.text || w.quoted
	if quoted {
		w.Out = append(w.Out, '"')
	}
	if v.CanInt() {
		w.Out = strconv.AppendInt(w.Out, v.Int(), 10)
	} else {
		w.any(v.Float())
	}
	if quoted {
		w.Out = append(w.Out, '"')
	}
}

func (w *Writer) time(sh *shape, at time.Time) {
	n := at.Unix()
	if sh.milli {
		n = at.UnixMilli()
	}
	w.Out = strconv.AppendInt(w.Out, n, 10)
}

func (w *Writer) comma() {
	if last := w.Out[len(w.Out)-1]; last != '{' && last != '[' {
		w.Out = append(w.Out, ',')
	}
}

// Text writes a text.
func (w *Writer) Text(text string) {
	if needsEscape(text) {
		w.any(text)
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

func (w *Writer) any(value any) {
	raw, err := stored.Encode(value)
	w.Err = cmp.Or(w.Err, err)
	w.Out = append(w.Out, raw...)
}

// variant returns the shape of the value of a sealed interface. A value that cannot be written has none, and is an error.
func (w *Writer) variant(v reflect.Value) *shape {
	inner := w.shapes.variantOf(v.Type(), v.Elem())
	if inner == nil && v.NumMethod() > 0 && !v.IsNil() {
		w.Err = cmp.Or(w.Err, errors.New("a part of it "+wire.WrongType(v.Interface())))
	}
	return inner
}
