package shape

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Fit says how well a type holds a JSON value. min combines the fits of its parts.
type Fit int

const (
	Misfit  Fit = iota // a member is of another kind, or a member that the type would write is missing
	Partial            // all known members are held, but there are others
	Exact              // the type holds all of the value
)

// exactIf returns Exact or Misfit.
func exactIf(condition bool) Fit { return Exact.onlyIf(condition) }

// onlyIf returns f, or Misfit if a condition is not met.
func (f Fit) onlyIf(condition bool) Fit {
	if condition {
		return f
	}
	return Misfit
}

// Decode returns one JSON value, with numbers as json.Number; nil if data is anything else.
func Decode(data []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return value
}

// RawOf returns a decoded value as JSON again, nil for null.
func RawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	raw, _ := wire.Encode(value)
	return raw
}

// NumberText returns a number, or one in quotes, as it is written; "" if value is neither.
func NumberText(value any) string {
	switch v := value.(type) {
	case json.Number:
		return v.String()
	case string:
		if strings.Trim(v, "+-.0123456789eE") == "" {
			return v
		}
	}
	return ""
}

// Read reads a decoded value into what to points to. A value of nil is absent.
func (s *Shapes) Read(value, to any) Fit {
	if value == nil {
		return Exact
	}
	return reader{Shapes: s}.value(s.plain, value, reflect.ValueOf(to).Elem())
}

// Best reads an object as the type of a sealed interface that fits it best. ok is false if no type has the words of the object. The raw type
// is never returned.
func Best[T any](s *Shapes, object any) (best T, f Fit, ok bool) {
	v, f := reader{Shapes: s}.best(reflect.TypeFor[T](), object)
	if !v.IsValid() {
		return best, Misfit, false
	}
	best, ok = reflect.TypeAssert[T](v)
	return best, f, ok
}

type reader struct {
	*Shapes

	within []reflect.Type // the variants that are being read, since none holds itself
}

// shape reads a member into a struct. A value of nil is absent.
func (r reader) shape(sh *shape, value any, to reflect.Value, index int) Fit {
	if value == nil {
		isRequired := sh.always || sh.form == formWord
		return exactIf(!isRequired)
	}
	f := r.form(sh, value, to, index)
	return f.onlyIf(sh.survivesWriting(value, to))
}

// survivesWriting reports whether a value that was read is written again. Without this check, reading would lose members that have a meaning
// although they hold the zero value of a type.
func (sh *shape) survivesWriting(value any, read reflect.Value) bool {
	return sh.form == formWord || sh.present(read) || isEmpty(value)
}

func (r reader) form(sh *shape, value any, to reflect.Value, index int) Fit {
	switch sh.form {
	case formWord:
		return readWord(sh.word, value, index)
	case formObject:
		return r.members(sh, value, to, index)
	case formSet:
		return r.set(sh, value, to)
	case formList:
		read := func(element any, to reflect.Value, i int) Fit { return r.form(sh.members[0], element, to, i) }
		return r.list(value, sh.of(to), read)
	default:
		return r.value(sh, value, sh.of(to))
	}
}

func readWord(word string, value any, index int) Fit {
	if word == "#" {
		return exactIf(NumberText(value) == strconv.Itoa(index))
	}
	text, ok := value.(string)
	return exactIf(ok && strings.EqualFold(text, word))
}

func (r reader) members(sh *shape, value any, to reflect.Value, index int) Fit {
	members, ok := value.(map[string]any)
	f := exactIf(ok)
	unknown := len(members)
	for _, member := range sh.members {
		if member.form == formChoice {
			unknown -= present(members, member.names)
			f = min(f, r.choice(member, members, to))
			continue
		}
		unknown -= present(members, []string{member.name})
		f = min(f, r.shape(member, members[member.name], to, index))
	}
	if unknown > 0 {
		f = min(f, Partial)
	}
	return f
}

// present returns how many members of an object have some names.
func present(members map[string]any, names []string) (n int) {
	for _, name := range names {
		if _, ok := members[name]; ok {
			n++
		}
	}
	return n
}

// choice reads a sealed interface from those members of an object that belong to it.
func (r reader) choice(sh *shape, members map[string]any, to reflect.Value) Fit {
	chosen := map[string]any{}
	for _, name := range sh.names {
		if member := members[name]; member != nil && member != "" {
			chosen[name] = member
		}
	}
	if len(chosen) == 0 {
		return Exact
	}
	return r.union(chosen, sh.of(to))
}

// set reads a list whose elements differ by their words. It holds no elements but those of the shape.
func (r reader) set(sh *shape, value any, to reflect.Value) Fit {
	elements, ok := value.([]any)
	hasWords := sh.members[0].name != ""
	mayBeEmpty := len(elements) > 0 || hasWords
	f := exactIf(ok && mayBeEmpty)
	known := 0
	for _, element := range sh.members {
		i := slices.IndexFunc(elements, element.mayBe)
		if i < 0 {
			f = f.onlyIf(!element.always)
			continue
		}
		known++
		f = min(f, r.shape(element, elements[i], to, 0))
	}
	return f.onlyIf(known == len(elements))
}

// mayBe reports whether the first word matches and no other word contradicts.
func (sh *shape) mayBe(value any) bool {
	members, _ := value.(map[string]any)
	for i, member := range sh.members {
		if member.form != formWord {
			continue
		}
		text, _ := members[member.name].(string)
		isRequired := i == 0 || text != ""
		if isRequired && !strings.EqualFold(text, member.word) {
			return false
		}
	}
	return true
}

func (r reader) list(value any, to reflect.Value, read func(element any, to reflect.Value, index int) Fit) Fit {
	elements, ok := value.([]any)
	if !ok {
		return Misfit
	}
	to.Set(reflect.MakeSlice(to.Type(), len(elements), len(elements)))
	f := Exact
	for i, element := range elements {
		f = min(f, read(element, to.Index(i), i).onlyIf(element != nil))
	}
	return f
}

// value reads a value as its Go type.
func (r reader) value(sh *shape, value any, to reflect.Value) Fit {
	switch target := to.Addr().Interface().(type) {
	case *json.RawMessage:
		*target = RawOf(value)
		return Exact
	case *time.Time:
		return readTime(sh, value, target)
	case encoding.TextUnmarshaler:
		text, ok := value.(string)
		return exactIf(ok && target.UnmarshalText([]byte(text)) == nil)
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return r.value(sh, value, to.Elem())
	case reflect.Slice:
		return r.list(value, to, func(element any, to reflect.Value, _ int) Fit { return r.value(sh, element, to) })
	case reflect.Struct:
		return r.form(r.structs[to.Type()], value, to, 0)
	case reflect.Interface:
		if to.NumMethod() > 0 {
			return r.union(value, to)
		}
		to.Set(reflect.ValueOf(value))
		return Exact
	default:
		return readScalar(sh, value, to)
	}
}

// readScalar reads a text, a boolean or a number.
func readScalar(sh *shape, value any, to reflect.Value) Fit {
	switch to.Kind() {
	case reflect.String:
		text, ok := value.(string)
		if text == sh.preset {
			text = ""
		}
		to.SetString(text)
		return exactIf(ok)
	case reflect.Bool:
		isTrue, ok := value.(bool)
		to.SetBool(isTrue)
		return exactIf(ok)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(NumberText(value), 10, 64)
		to.SetInt(n)
		return exactIf(err == nil && !to.OverflowInt(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(NumberText(value), 64)
		to.SetFloat(n)
		return exactIf(err == nil)
	default:
		return Misfit
	}
}

// union sets a sealed interface to the variant that holds a value exactly, or to its raw variant, or to the variant that fits best.
func (r reader) union(value any, to reflect.Value) Fit {
	best, f := r.best(to.Type(), value)
	variants := r.unions[to.Type()]
	if raw := variants[len(variants)-1]; f != Exact && raw.isRaw {
		best = reflect.New(raw.typ).Elem()
		f = r.form(raw.shape, value, best, 0)
	}
	if best.IsValid() {
		to.Set(best)
	}
	return f
}

// best reads an object as the variant that fits it best. The result is not valid if no variant has the words of the object.
func (r reader) best(t reflect.Type, value any) (best reflect.Value, bestFit Fit) {
	for _, variant := range r.unions[t] {
		if variant.isRaw || !variant.shape.mayBe(value) || slices.Contains(r.within, variant.typ) {
			continue
		}
		to := reflect.New(variant.typ).Elem()
		inner := reader{Shapes: r.Shapes, within: append(slices.Clip(r.within), variant.typ)}
		fit := inner.form(variant.shape, value, to, 0)
		if !best.IsValid() || fit > bestFit {
			best = to
			bestFit = fit
		}
	}
	return best, bestFit
}

// isEmpty reports whether a value means the same as its absence: null, false, an empty text or list, or an object of such values.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	default:
		return value == nil || value == false || value == ""
	}
}

func readTime(sh *shape, value any, to *time.Time) Fit {
	n, err := strconv.ParseInt(NumberText(value), 10, 64)
	switch {
	case n == 0:
	case sh.milli:
		*to = time.UnixMilli(n).UTC()
	default:
		*to = time.Unix(n, 0).UTC()
	}
	return exactIf(err == nil)
}
