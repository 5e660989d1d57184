package webhook

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// shape says where the fields of a struct are in a JSON object. Their tags hold paths, such as `at:"name.first_name"`, in the form that
// package internal/shape documents. If there are several paths, the first with a value counts.
type shape struct {
	tree     jsonscan.Paths
	slots    [][]int  // by field
	elements []*shape // by field, of the elements of a slice
}

// shapes returns the shapes of the types that fill is called with.
var shapes = sync.OnceValue(func() map[reflect.Type]*shape { //nolint:gochecknoglobals // never written
	all := map[reflect.Type]*shape{}
	for _, sample := range []any{
		Media{},
		Location{},
		Contact{},
		Product{},
		Order{},
		OrderItem{},
		System{},
		CallPermission{},
		Context{},
		Referral{},
	} {
		all[reflect.TypeOf(sample)] = newShape(reflect.TypeOf(sample))
	}
	return all
})

func newShape(of reflect.Type) *shape {
	s := new(shape)
	for field := range of.Fields() {
		tag := strings.FieldsFunc(field.Tag.Get("at"), func(r rune) bool { return r == '|' })
		s.slots = append(s.slots, s.tree.Add(tag...))
		var element *shape
		if field.Type.Kind() == reflect.Slice && len(tag) > 0 {
			element = newShape(field.Type.Elem())
		}
		s.elements = append(s.elements, element)
	}
	return s
}

// fill reads a struct from an object in valid JSON. The result is zero if raw is not an object, as for a message in parameters.
func fill[T any](raw json.RawMessage) T {
	if !isNested(raw, '{') {
		var zero T
		return zero
	}
	to := new(T)
	shapes()[reflect.TypeFor[T]()].fill(reflect.ValueOf(to).Elem(), raw)
	return *to
}

func (s *shape) fill(to reflect.Value, raw json.RawMessage) {
	found, _ := s.tree.Find(jsonscan.NewWalker(raw), nil)
	for i, slots := range s.slots {
		field := to.Field(i)
		for _, slot := range slots {
			if field.IsZero() {
				s.set(field, i, found[slot].Raw(raw))
			}
		}
	}
}

// set sets the field with an index to a JSON value.
func (s *shape) set(field reflect.Value, index int, raw json.RawMessage) {
	text, nested := scalar(raw)
	if nested || isBlank(text) {
		text = ""
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		field.SetBool(text == "true")
	case reflect.Int:
		if n, err := strconv.Atoi(text); err == nil {
			field.SetInt(int64(n))
		}
	case reflect.Slice:
		for _, one := range elements(raw, maxParts-1) {
			part := reflect.New(field.Type().Elem()).Elem()
			s.elements[index].fill(part, one)
			field.Set(reflect.Append(field, part))
		}
	default: // a time.Time
		field.Set(reflect.ValueOf(moment(text, time.UTC).UTC()))
	}
}

// records reads a list of objects; nil if it is nil or longer than most.
func records[T any](list []json.RawMessage, most int) []T {
	if list == nil || len(list) > most {
		return nil
	}
	all := make([]T, len(list))
	for i, raw := range list {
		all[i] = fill[T](raw)
	}
	return all
}
