package shape

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fit says how well a type holds a JSON value. The fit of a value is the minimum of the fits of its parts.
type Fit int

const (
	Misfit  Fit = iota // a member is of another kind, or a member that the type would write is missing
	Partial            // all known members are held, but there are others
	Exact              // the type holds all of the value
)

// exactIf returns Exact or Misfit.
func exactIf(condition bool) Fit {
	if condition {
		return Exact
	}
	return Misfit
}

// Read reads a decoded value into what to points to. A value of nil is absent.
func (s *Shapes) Read(value, to any) Fit {
	if value == nil {
		return Exact
	}
	return reader{Shapes: s}.value(value, reflect.ValueOf(to).Elem())
}

// Best reads an object as the type of a sealed interface that fits it best. ok is false if no type matches the words of the object. The raw
// type is never returned.
func Best[T any](s *Shapes, object any) (best T, f Fit, ok bool) {
	v, f := reader{Shapes: s}.best(reflect.TypeFor[T](), object)
	if !v.IsValid() {
		return best, Misfit, false
	}
	best, ok = reflect.TypeAssert[T](v)
	return best, f, ok
}

// reader reads decoded JSON values.
type reader struct {
	*Shapes

	within []reflect.Type // the variants that are being read: no value holds another of its own type
}

func (l *leaf) read(r reader, value any, to reflect.Value, _ int) Fit {
	if l.preset != "" && value == l.preset {
		value = ""
	}
	return r.value(value, valueAt(to, l.index))
}

func (o *object) read(r reader, value any, to reflect.Value, position int) Fit {
	members, ok := value.(map[string]any)
	fit := exactIf(ok)
	for _, word := range o.words {
		fit = min(fit, exactIf(word.matches(members[word.name], position)))
	}
	for _, p := range o.parts {
		fit = min(fit, p.read(r, members, to, position))
	}
	for name := range members {
		if !o.has(name) {
			fit = min(fit, Partial)
		}
	}
	return fit
}

// has reports whether the shape has a member with this name.
func (o *object) has(name string) bool {
	isWord := func(w word) bool { return w.name == name }
	isPart := func(p part) bool { return p.has(name) }
	return slices.ContainsFunc(o.words, isWord) || slices.ContainsFunc(o.parts, isPart)
}

// mayHold reports whether the first word of the object matches a value, and no other word contradicts it.
func (o *object) mayHold(value any) bool {
	members, _ := value.(map[string]any)
	for i, word := range o.words {
		text, _ := members[word.name].(string)
		isRequired := i == 0 || text != ""
		if isRequired && !strings.EqualFold(text, word.text) {
			return false
		}
	}
	return true
}

func (c word) matches(value any, position int) bool {
	if c.text == "#" {
		return NumberText(value) == strconv.Itoa(position)
	}
	text, ok := value.(string)
	return ok && strings.EqualFold(text, c.text)
}

func (m *member) has(name string) bool { return name == m.name }

func (m *member) read(r reader, members map[string]any, to reflect.Value, position int) Fit {
	value := members[m.name]
	if value == nil {
		return exactIf(!m.always)
	}
	fit := m.shape.read(r, value, to, position)
	return min(fit, exactIf(isKept(value, m.isZero(to))))
}

// isKept reports whether a value that was read is written again, or means nothing. A type that drops a value does not fit: the value
// may have a meaning although it is zero in Go, such as the number 0.
func isKept(value any, readAsZero bool) bool { return !readAsZero || isEmpty(value) }

func (c *choice) has(name string) bool { return slices.Contains(c.names, name) }

// read reads the sealed interface from an object that has only its members. An empty text chooses no type.
func (c *choice) read(r reader, members map[string]any, to reflect.Value, _ int) Fit {
	chosen := map[string]any{}
	for _, name := range c.names {
		if value := members[name]; value != nil && value != "" {
			chosen[name] = value
		}
	}
	if len(chosen) == 0 {
		return Exact
	}
	return r.union(chosen, valueAt(to, c.index))
}

func (s *single) read(r reader, value any, to reflect.Value, _ int) Fit {
	elements, _ := value.([]any)
	if len(elements) != 1 || elements[0] == nil {
		return Misfit
	}
	return s.value.read(r, elements[0], to, 0)
}

// read reads a list that has no other elements, and none twice.
func (s *set) read(r reader, value any, to reflect.Value, _ int) Fit {
	elements, ok := value.([]any)
	fit := exactIf(ok)
	found := 0
	for _, e := range s.elements {
		i := slices.IndexFunc(elements, e.object.mayHold)
		if i < 0 {
			fit = min(fit, exactIf(!e.always))
			continue
		}
		found++
		fit = min(fit, e.object.read(r, elements[i], to, 0), exactIf(isKept(elements[i], e.isZero(to))))
	}
	return min(fit, exactIf(found == len(elements)))
}

func (l *list) read(r reader, value any, to reflect.Value, _ int) Fit {
	return readList(value, valueAt(to, l.index), func(element any, to reflect.Value, i int) Fit {
		return l.object.read(r, element, to, i)
	})
}

// readList reads a list into a slice, element by element.
func readList(value any, to reflect.Value, read func(element any, to reflect.Value, position int) Fit) Fit {
	elements, ok := value.([]any)
	if !ok {
		return Misfit
	}
	to.Set(reflect.MakeSlice(to.Type(), len(elements), len(elements)))
	fit := Exact
	for i, element := range elements {
		fit = min(fit, read(element, to.Index(i), i), exactIf(element != nil))
	}
	return fit
}

// value reads a value as its Go type.
func (r reader) value(value any, to reflect.Value) Fit {
	switch target := to.Addr().Interface().(type) {
	case *json.RawMessage:
		*target = RawOf(value)
		return Exact
	case *time.Time:
		return readTime(value, target)
	case encoding.TextUnmarshaler:
		text, ok := value.(string)
		return exactIf(ok && target.UnmarshalText([]byte(text)) == nil)
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return r.value(value, to.Elem())
	case reflect.Slice:
		return readList(value, to, func(element any, to reflect.Value, _ int) Fit { return r.value(element, to) })
	case reflect.Struct:
		return r.structs[to.Type()].read(r, value, to, 0)
	case reflect.Interface:
		if to.NumMethod() > 0 {
			return r.union(value, to)
		}
		to.Set(reflect.ValueOf(value))
		return Exact
	default:
		return readScalar(value, to)
	}
}

// readScalar reads a text, a boolean or a number.
func readScalar(value any, to reflect.Value) Fit {
	switch to.Kind() {
	case reflect.String:
		text, ok := value.(string)
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

// readTime reads a time in milliseconds since 1970. The number 0 is the zero time.
func readTime(value any, to *time.Time) Fit {
	n, err := strconv.ParseInt(NumberText(value), 10, 64)
	if n != 0 {
		*to = time.UnixMilli(n).UTC()
	}
	return exactIf(err == nil)
}

// union sets a sealed interface to the variant that holds a value exactly, or to its raw variant, or to the variant that fits best.
func (r reader) union(value any, to reflect.Value) Fit {
	best, fit := r.best(to.Type(), value)
	u := r.unions[to.Type()]
	if fit != Exact && u.raw != nil {
		best = reflect.New(u.rawType).Elem()
		fit = u.raw.read(r, value, best, 0)
	}
	if best.IsValid() {
		to.Set(best)
	}
	return fit
}

// best reads an object as the variant that fits it best. The result is not valid if no variant has the words of the object.
func (r reader) best(t reflect.Type, value any) (best reflect.Value, bestFit Fit) {
	for _, variant := range r.unions[t].variants {
		if !variant.object.mayHold(value) || slices.Contains(r.within, variant.typ) {
			continue
		}
		to := reflect.New(variant.typ).Elem()
		inner := reader{Shapes: r.Shapes, within: append(slices.Clip(r.within), variant.typ)}
		fit := variant.object.read(inner, value, to, 0)
		if !best.IsValid() || fit > bestFit {
			best = to
			bestFit = fit
		}
	}
	return best, bestFit
}
