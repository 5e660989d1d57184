package chatapp2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// writer writes JSON without the escapes that HTML needs.
type writer struct {
	*shapes
	bytes.Buffer

	quoted bool // numbers are written as text
	err    error
}

// shape writes the shape of a value, which is the element at an index.
func (w *writer) shape(sh *shape, v reflect.Value, index int) {
	switch sh.form {
	case word:
		if sh.word == "#" {
			w.any(index)
			return
		}
		w.text(sh.word)
	case object:
		w.WriteByte('{')
		w.members(sh, v, index)
		w.WriteByte('}')
	case set:
		w.WriteByte('[')
		for _, element := range sh.members {
			if element.present(v) {
				w.comma()
				w.shape(element, v, 0)
			}
		}
		w.WriteByte(']')
	case list:
		w.list(sh.of(v), func(one reflect.Value, index int) { w.shape(sh.members[0], one, index) })
	default:
		w.value(sh, sh.of(v))
	}
}

func (w *writer) members(sh *shape, v reflect.Value, index int) {
	for _, one := range sh.members {
		switch {
		case one.form == choice:
			chosen := one.of(v)
			if inner := w.variantOf(chosen.Type(), chosen.Elem()); inner != nil {
				w.members(inner, chosen.Elem(), 0)
			}
		case one.form == word || one.present(v):
			w.comma()
			w.text(one.name)
			w.WriteByte(':')
			w.shape(one, v, index)
		}
	}
}

func (w *writer) list(v reflect.Value, write func(one reflect.Value, index int)) {
	w.WriteByte('[')
	for i := range v.Len() {
		w.comma()
		write(v.Index(i), i)
	}
	w.WriteByte(']')
}

// value writes a value as its type says.
func (w *writer) value(sh *shape, v reflect.Value) {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		w.any(raw)
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.text(cmp.Or(v.String(), sh.preset))
	case reflect.Int, reflect.Int64, reflect.Float64:
		w.number(sh, v)
	case reflect.Interface:
		if inner := w.variantOf(v.Type(), v.Elem()); inner != nil {
			w.shape(inner, v.Elem(), 0)
			return
		}
		w.any(v.Interface())
	case reflect.Slice:
		w.list(v, func(one reflect.Value, _ int) { w.value(sh, one) })
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[time.Time](v); ok {
			w.time(sh, at)
			return
		}
		outer := w.quoted
		w.quoted = outer || sh.text
		w.shape(w.structs[v.Type()], v, 0)
		w.quoted = outer
	default:
		w.any(v.Interface())
	}
}

func (w *writer) number(sh *shape, v reflect.Value) {
	number := v.Interface()
	if d, ok := number.(time.Duration); ok {
		number = d.Minutes()
	}
	if sh.text || w.quoted {
		w.WriteByte('"')
		defer w.WriteByte('"')
	}
	w.any(number)
}

// time writes a time that is not zero.
func (w *writer) time(sh *shape, at time.Time) {
	n := at.Unix()
	if sh.milli {
		n = at.UnixMilli()
	}
	w.number(sh, reflect.ValueOf(n))
}

// comma writes a comma, unless an object or a list begins.
func (w *writer) comma() {
	if last := w.Bytes()[w.Len()-1]; last != '{' && last != '[' {
		w.WriteByte(',')
	}
}

func (w *writer) text(text string) {
	if strings.ContainsFunc(text, needsEscape) {
		w.any(text)
		return
	}
	w.WriteByte('"')
	w.WriteString(text)
	w.WriteByte('"')
}

func needsEscape(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
}

func (w *writer) any(value any) {
	e := json.NewEncoder(&w.Buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		w.err = fmt.Errorf("holds a value that cannot be encoded as JSON (%T)", err) // whose text may repeat the value
		return
	}
	w.Truncate(w.Len() - 1) // the line break
}
