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

// Fit says how well a type holds a JSON value. A lower one wins: min combines them.
type Fit int

const (
	Misfit  Fit = iota // a member is of another kind, or is missing though the type would write it
	Partial            // all known members are held, but there are others
	Exact              // the type holds all of it
)

func (f Fit) exactIf(condition bool) Fit {
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

// Best reads an object as the type of a sealed interface that fits it best. It is not ok if no type has the words of the object. The raw
// type is none of them.
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

	within []reflect.Type // the kinds that are being read, since none goes into itself
}

func (r reader) shape(sh *shape, value any, to reflect.Value, index int) Fit {
	if text, ok := value.(string); ok && sh.or != "" {
		value = map[string]any{sh.or: text}
	}
	if value == nil {
		return Exact.exactIf(sh.optional || !sh.always && sh.form != word)
	}
	f := r.form(sh, value, to, index)
	return f.exactIf(sh.form == word || isEmpty(value) || sh.present(to)) // it is written again
}

func (r reader) form(sh *shape, value any, to reflect.Value, index int) Fit {
	switch sh.form {
	case word:
		text, ok := value.(string)
		isIndex := sh.word == "#" && NumberText(value) == strconv.Itoa(index)
		return Exact.exactIf(isIndex || ok && strings.EqualFold(text, sh.word))
	case object:
		return r.members(sh, value, to, index)
	case set:
		return r.set(sh, value, to)
	case list:
		return r.list(value, sh.of(to), func(one any, to reflect.Value, i int) Fit { return r.form(sh.members[0], one, to, i) })
	default:
		return r.value(sh, value, sh.of(to))
	}
}

func (r reader) members(sh *shape, value any, to reflect.Value, index int) Fit {
	members, ok := value.(map[string]any)
	f, known := Exact.exactIf(ok), 0
	for _, one := range sh.members {
		if one.form == choice {
			picked := map[string]any{}
			for _, name := range one.names {
				member, present := members[name]
				if present {
					known++
				}
				if member != nil && member != "" {
					picked[name] = member
				}
			}
			if len(picked) > 0 {
				f = min(f, r.union(picked, one.of(to)))
			}
			continue
		}
		member, present := members[one.name]
		if present {
			known++
		}
		f = min(f, r.shape(one, member, to, index))
	}
	if known < len(members) {
		f = min(f, Partial)
	}
	return f
}

func (r reader) set(sh *shape, value any, to reflect.Value) Fit {
	all, ok := value.([]any)
	f, known := Exact.exactIf(ok && (len(all) > 0 || sh.members[0].name != "")), 0
	for _, one := range sh.members {
		found := slices.IndexFunc(all, one.mayBe)
		if found < 0 {
			f = f.exactIf(!one.always)
			continue
		}
		known++
		f = min(f, r.shape(one, all[found], to, 0))
	}
	return f.exactIf(known == len(all))
}

// mayBe reports whether a value has the first of the words of an object, and none that contradicts another.
func (sh *shape) mayBe(value any) bool {
	members, _ := value.(map[string]any)
	for i, one := range sh.members {
		text, _ := members[one.name].(string)
		if one.form == word && (i == 0 || text != "") && !strings.EqualFold(text, one.word) {
			return false
		}
	}
	return true
}

func (r reader) list(value any, to reflect.Value, read func(one any, to reflect.Value, index int) Fit) Fit {
	all, ok := value.([]any)
	if !ok {
		return Misfit
	}
	to.Set(reflect.MakeSlice(to.Type(), len(all), len(all)))
	f := Exact
	for i, one := range all {
		f = min(f, read(one, to.Index(i), i).exactIf(one != nil))
	}
	return f
}

func (r reader) value(sh *shape, value any, to reflect.Value) Fit {
	switch target := to.Addr().Interface().(type) {
	case *json.RawMessage:
		*target = RawOf(value)
		return Exact
	case *time.Time:
		return readTime(sh, value, target)
	case *time.Duration:
		n, err := strconv.ParseFloat(NumberText(value), 64)
		*target = time.Duration(n * float64(time.Minute))
		return Exact.exactIf(err == nil && target.Minutes() == n)
	case *map[string]string:
		return readTexts(value, target)
	case encoding.TextUnmarshaler:
		text, ok := value.(string)
		return Exact.exactIf(ok && target.UnmarshalText([]byte(text)) == nil)
	}
	switch to.Kind() {
	case reflect.String:
		text, ok := value.(string)
		if text == sh.preset {
			text = ""
		}
		to.SetString(text)
		return Exact.exactIf(ok)
	case reflect.Bool:
		is, ok := value.(bool)
		to.SetBool(is)
		return Exact.exactIf(ok)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(NumberText(value), 10, 64)
		to.SetInt(n)
		return Exact.exactIf(err == nil && !to.OverflowInt(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(NumberText(value), 64)
		to.SetFloat(n)
		return Exact.exactIf(err == nil)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return r.value(sh, value, to.Elem())
	case reflect.Slice:
		return r.list(value, to, func(one any, to reflect.Value, _ int) Fit { return r.value(sh, one, to) })
	case reflect.Struct:
		return r.form(r.structs[to.Type()], value, to, 0)
	case reflect.Interface:
		if to.NumMethod() > 0 {
			return r.union(value, to)
		}
		to.Set(reflect.ValueOf(value))
		return Exact
	default:
		return Misfit
	}
}

func readTexts(value any, to *map[string]string) Fit {
	object, ok := value.(map[string]any)
	*to = make(map[string]string, len(object))
	for name, member := range object {
		text, isText := member.(string)
		(*to)[name], ok = text, ok && isText
	}
	return Exact.exactIf(ok)
}

// union sets a sealed interface to the kind that holds a value exactly, or to its raw kind, or to the kind that fits best.
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

// best reads an object as the kind that fits it best. There is none if no kind has the words of the object.
func (r reader) best(t reflect.Type, value any) (best reflect.Value, f Fit) {
	for _, one := range r.unions[t] {
		if one.isRaw || !one.shape.mayBe(value) || slices.Contains(r.within, one.typ) {
			continue
		}
		to := reflect.New(one.typ).Elem()
		inner := reader{r.Shapes, append(slices.Clip(r.within), one.typ)}
		if own := inner.form(one.shape, value, to, 0); own > f || !best.IsValid() {
			best, f = to, own
		}
	}
	return best, f
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
	return Exact.exactIf(err == nil)
}
