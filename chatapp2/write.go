package chatapp2

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// writer writes JSON without the escapes that HTML needs.
type writer struct {
	*shapes

	out    []byte
	quoted bool // numbers are written as text
	err    error
}

// shape writes the shape of a value, which is the element at an index.
func (w *writer) shape(sh *shape, v reflect.Value, index int) {
	switch sh.form {
	case word:
		if sh.word == "#" {
			w.out = strconv.AppendInt(w.out, int64(index), 10)
			return
		}
		w.text(sh.word)
	case object:
		w.out = append(w.out, '{')
		w.members(sh, v, index)
		w.out = append(w.out, '}')
	case set:
		w.out = append(w.out, '[')
		for _, element := range sh.members {
			if element.present(v) {
				w.comma()
				w.shape(element, v, 0)
			}
		}
		w.out = append(w.out, ']')
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
			if inner := w.variant(chosen); inner != nil {
				w.members(inner, chosen.Elem(), 0)
			}
		case one.form == word || one.present(v):
			w.comma()
			w.text(one.name)
			w.out = append(w.out, ':')
			w.shape(one, v, index)
		}
	}
}

func (w *writer) list(v reflect.Value, write func(one reflect.Value, index int)) {
	w.out = append(w.out, '[')
	for i := range v.Len() {
		w.comma()
		write(v.Index(i), i)
	}
	w.out = append(w.out, ']')
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
		if inner := w.variant(v); inner != nil {
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
	quoted := sh.text || w.quoted
	if quoted {
		w.out = append(w.out, '"')
	}
	switch d, isDuration := reflect.TypeAssert[time.Duration](v); {
	case isDuration:
		w.any(d.Minutes())
	case v.CanInt():
		w.out = strconv.AppendInt(w.out, v.Int(), 10)
	default:
		w.any(v.Float())
	}
	if quoted {
		w.out = append(w.out, '"')
	}
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
	if last := w.out[len(w.out)-1]; last != '{' && last != '[' {
		w.out = append(w.out, ',')
	}
}

func (w *writer) text(text string) {
	if strings.ContainsFunc(text, needsEscape) {
		w.any(text)
		return
	}
	w.out = append(append(append(w.out, '"'), text...), '"')
}

func needsEscape(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
}

func (w *writer) any(value any) {
	raw, err := wire.EncodeStored(value)
	w.err = cmp.Or(w.err, err)
	w.out = append(w.out, raw...)
}

// variant returns the shape of what a sealed interface holds. A pointer has none, and cannot be written.
func (w *writer) variant(v reflect.Value) *shape {
	inner := w.variantOf(v.Type(), v.Elem())
	if inner == nil && v.NumMethod() > 0 && !v.IsNil() {
		w.err = errors.New("a part of it " + wire.CheckValue(v.Interface()))
	}
	return inner
}
