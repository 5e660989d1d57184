package chatapp2

import (
	"bytes"
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

// fit says how well a type holds a JSON value. A lower one wins: min combines them.
type fit int

const (
	misfit  fit = iota // a member is of another kind, or is missing though the type would write it
	partial            // all known members are held, but there are others
	exact              // the type holds all of it
)

// exactIf returns exact if the condition holds, and else misfit.
func exactIf(condition bool) fit {
	if condition {
		return exact
	}
	return misfit
}

// decode decodes one JSON value, with numbers as json.Number.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return value, nil
}

// decodeValid decodes JSON that is known to be valid.
func decodeValid(raw json.RawMessage) any {
	value, _ := decode(raw)
	return value
}

// rawOf returns a decoded value as JSON again, nil for null.
func rawOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	raw, _ := wire.Encode(value)
	return raw
}

// numberText returns a number, or one in quotes, as it is written; "" if value is neither.
func numberText(value any) string {
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

// decoder fills types with decoded values. What does not fit stays zero: comparing shows it.
type decoder struct {
	*schema

	within []reflect.Type // the kinds in which the value is, since none goes into itself
}

// readUnion reads the object in which a value of a sealed interface stands, and returns the kind that fits best. The value is not
// valid if no kind has the words of the object.
func (d decoder) readUnion(t reflect.Type, value any) (best reflect.Value, bestFit fit) {
	for _, one := range d.unions[t] {
		if len(one.words) == 0 || !one.mayBe(value) || slices.Contains(d.within, one.typ) {
			continue
		}
		to := reflect.New(one.typ).Elem()
		inner := decoder{d.schema, append(slices.Clip(d.within), one.typ)}
		inner.take(value, one.place, one.place.steps, to)
		n := new(node)
		encoder{schema: d.schema, all: true}.union(n, t, to)
		if f := n.holds(value); f > bestFit || !best.IsValid() {
			best, bestFit = to, f
		}
	}
	return best, bestFit
}

// mayBe reports whether an object has the first of the words, and none of those after it without a dot is another one.
func (v variant) mayBe(value any) bool {
	members, _ := value.(map[string]any)
	for i, w := range v.words {
		name := w.path[0]
		if (i == 0 || len(w.path) == 1 && members[name] != nil) && !w.matches(value) {
			return false
		}
	}
	return true
}

// take reads the value that stands at the steps of a place that are left.
func (d decoder) take(value any, p *place, steps []step, to reflect.Value) {
	for i, s := range steps {
		members, _ := value.(map[string]any)
		value = members[s.name]
		if s.members != nil {
			value = pick(members, s.members)
		}
		if s.each {
			d.list(value, p, steps[i+1:], to)
			return
		}
		if s.list {
			value = element(value, s.words)
		}
	}
	d.read(value, p, to)
}

// pick returns the members that have these names, nil if there are none.
func pick(members map[string]any, names []string) any {
	picked := map[string]any{}
	for _, name := range names {
		if members[name] != nil {
			picked[name] = members[name]
		}
	}
	if len(picked) == 0 {
		return nil
	}
	return picked
}

// element returns the first element of a list that has the words.
func element(value any, words []word) any {
	all, _ := value.([]any)
	for _, one := range all {
		if !slices.ContainsFunc(words, func(w word) bool { return !w.matches(one) }) {
			return one
		}
	}
	return nil
}

func (d decoder) list(value any, p *place, steps []step, to reflect.Value) {
	all, ok := value.([]any)
	if !ok {
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(all), len(all)))
	for i, one := range all {
		d.take(one, p, steps, to.Index(i))
	}
}

func (d decoder) read(value any, p *place, to reflect.Value) {
	if value = spelled(value, p); value == nil {
		return
	}
	whole, _ := strconv.ParseInt(numberText(value), 10, 64)
	number, _ := strconv.ParseFloat(numberText(value), 64)
	text, _ := value.(string)
	switch target := to.Addr().Interface().(type) {
	case *time.Time:
		*target = fromUnix(whole, p.milli)
		return
	case *time.Duration:
		*target = time.Duration(number * float64(time.Minute))
		return
	case *json.RawMessage:
		*target = rawOf(value)
		return
	case *any:
		*target = value
		return
	}
	switch to.Kind() {
	case reflect.String:
		if text != p.preset {
			to.SetString(text)
		}
	case reflect.Bool:
		to.SetBool(value == true)
	case reflect.Int, reflect.Int64:
		to.SetInt(whole)
	case reflect.Float64:
		to.SetFloat(number)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.read(value, p, to.Elem())
	case reflect.Interface:
		d.readInterface(value, to)
	case reflect.Slice:
		d.list(value, p, nil, to)
	case reflect.Map:
		members, ok := value.(map[string]any)
		if ok {
			to.Set(reflect.MakeMap(to.Type()))
		}
		for name, member := range members {
			text, _ := member.(string)
			to.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(text))
		}
	case reflect.Struct:
		for _, f := range d.structs[to.Type()] {
			d.take(value, f.place, f.place.steps, to.FieldByIndex(f.index))
		}
	default:
	}
}

// readInterface sets a sealed interface to a kind that holds the value exactly, or else to its raw kind, or else to the kind that
// fits best.
func (d decoder) readInterface(value any, to reflect.Value) {
	best, f := d.readUnion(to.Type(), value)
	kinds := d.unions[to.Type()]
	if raw := kinds[len(kinds)-1]; f != exact && len(raw.words) == 0 {
		best = reflect.New(raw.typ).Elem()
		d.read(value, raw.place, best)
	}
	if best.IsValid() {
		to.Set(best)
	}
}

// spelled returns a value in the spelling that is written.
func spelled(value any, p *place) any {
	if text, ok := value.(string); ok && p != nil && p.or != "" {
		return map[string]any{p.or: text}
	}
	return value
}

// fromUnix returns the time of a Unix time, the zero time for 0.
func fromUnix(n int64, milli bool) time.Time {
	switch {
	case n == 0:
		return time.Time{}
	case milli:
		return time.UnixMilli(n).UTC()
	default:
		return time.Unix(n, 0).UTC()
	}
}

// holds compares the node that was written of a value, with all that is not written, with the value that was read.
func (n *node) holds(value any) fit {
	value = spelled(value, n.place)
	switch {
	case !n.written && value == nil:
		return exact
	case value == nil:
		return exactIf(n.place != nil && n.place.optional)
	case n.form == object:
		return n.holdsMembers(value)
	case n.form == leaf && n.written:
		return exactIf(n.equals(value))
	case n.form == leaf:
		return exactIf((value == "" || value == false) && n.value == value)
	default:
		return n.holdsElements(value)
	}
}

func (n *node) holdsMembers(value any) fit {
	members, ok := value.(map[string]any)
	f, known := exactIf(ok), 0
	for _, one := range n.nodes {
		member, present := members[one.name]
		if present {
			known++
		}
		f = min(f, one.holds(member))
	}
	if known < len(members) {
		f = min(f, partial)
	}
	return f
}

func (n *node) holdsElements(value any) fit {
	all, ok := value.([]any)
	f, written := exactIf(ok && n.written), 0
	for _, one := range n.nodes {
		if !one.written {
			continue
		}
		var counterpart any
		if n.form == set {
			counterpart = element(all, one.words)
		} else if written < len(all) {
			counterpart = all[written]
		}
		written++
		f = min(f, one.holds(counterpart))
	}
	return min(f, exactIf(written == len(all)))
}

// equals compares a leaf with a value. Numbers may be in quotes, and words in any case.
func (n *node) equals(value any) bool {
	number := numberText(value)
	switch v := n.value.(type) {
	case *word:
		text, ok := value.(string)
		return ok && strings.EqualFold(text, v.text)
	case int64:
		whole, err := strconv.ParseInt(number, 10, 64)
		return err == nil && whole == v
	case float64:
		real, err := strconv.ParseFloat(number, 64)
		return err == nil && real == v
	case json.RawMessage:
		return reflect.DeepEqual(decodeValid(v), value)
	default:
		return reflect.DeepEqual(v, value)
	}
}
