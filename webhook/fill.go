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

// mapping says where the fields of a struct are in a JSON object. Their tags hold paths, such as `at:"name.first_name"`, in the form that
// package internal/shape documents. If there are several paths, the first with a value counts.
type mapping struct {
	tree     jsonscan.Paths
	slots    [][]int    // by field
	elements []*mapping // by field, of the elements of a slice
}

// mappings returns the mappings of the types that fill is called with.
var mappings = sync.OnceValue(func() map[reflect.Type]*mapping { //nolint:gochecknoglobals // never written
	all := map[reflect.Type]*mapping{}
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
		all[reflect.TypeOf(sample)] = newMapping(reflect.TypeOf(sample))
	}
	return all
})

func newMapping(of reflect.Type) *mapping {
	m := new(mapping)
	for field := range of.Fields() {
		tag := strings.FieldsFunc(field.Tag.Get("at"), func(r rune) bool { return r == '|' })
		m.slots = append(m.slots, m.tree.Add(tag...))
		var element *mapping
		if field.Type.Kind() == reflect.Slice && len(tag) > 0 {
			element = newMapping(field.Type.Elem())
		}
		m.elements = append(m.elements, element)
	}
	return m
}

// fill reads a struct from an object in valid JSON. The result is zero if raw is not an object, as for a message in parameters.
func fill[T any](raw json.RawMessage) T {
	if !isObject(raw) {
		var zero T
		return zero
	}
	to := new(T)
	mappings()[reflect.TypeFor[T]()].fill(reflect.ValueOf(to).Elem(), raw)
	return *to
}

func (m *mapping) fill(to reflect.Value, raw json.RawMessage) {
	found, _ := m.tree.Find(jsonscan.NewWalker(raw), nil)
	for i, slots := range m.slots {
		field := to.Field(i)
		for _, slot := range slots {
			if field.IsZero() {
				m.set(field, i, found[slot].Raw(raw))
			}
		}
	}
}

// set sets the field with an index to a JSON value.
func (m *mapping) set(field reflect.Value, index int, raw json.RawMessage) {
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
			m.elements[index].fill(part, one)
			field.Set(reflect.Append(field, part))
		}
	default: // a time.Time
		field.Set(reflect.ValueOf(moment(text, time.UTC).UTC()))
	}
}

// fillList reads a struct from each object of a list. It returns nil for nil, and for a list that is longer than most.
func fillList[T any](list []json.RawMessage, most int) []T {
	if list == nil || len(list) > most {
		return nil
	}
	all := make([]T, len(list))
	for i, raw := range list {
		all[i] = fill[T](raw)
	}
	return all
}
