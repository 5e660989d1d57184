package contract

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Parse returns the default contract changed by overlay, a JSON object that names only what differs, at most 1 MiB large and
// 16 levels deep. Objects are merged key by key; a list replaces the default's list, and an entry of "with" replaces that
// field's entry. The smallest overlay is {}.
//
// Whatever is not understood is refused: an unknown or repeated key, null, a value of the wrong kind, text after the object.
// The result is validated as by [Contract.Validate]. The error joins an [*Error] for each problem.
func Parse(overlay []byte) (Contract, error) {
	var found problems
	document, ok := read(overlay, &found)
	if !ok {
		return Contract{}, found.err()
	}
	c := Default()
	merge(&found, "", reflect.ValueOf(&c).Elem(), document)
	c.validate(&found)
	if err := found.err(); err != nil {
		return Contract{}, err
	}
	return c, nil
}

// merge writes value into target, which holds what stands there by default.
func merge(found *problems, path string, target reflect.Value, value any) {
	switch target.Kind() {
	case reflect.Struct:
		mergeStruct(found, path, target, value)
	case reflect.Map:
		mergeMap(found, path, target, value)
	case reflect.Slice:
		mergeList(found, path, target, value)
	case reflect.String:
		if text, ok := value.(string); ok {
			target.SetString(text)
		} else {
			found.addKind(path, value, "a string")
		}
	case reflect.Int:
		mergeInt(found, path, target, value)
	case reflect.Interface:
		if value != nil {
			target.Set(reflect.ValueOf(value))
		} else {
			found.addKind(path, value, "any other value")
		}
	}
}

func mergeStruct(found *problems, path string, target reflect.Value, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		found.addKind(path, value, "an object")
		return
	}
	fields := fieldsOf(target)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if field, ok := fields[key]; ok {
			merge(found, join(path, key), field, object[key])
		} else {
			found.add(join(path, key), unknownKey(fields))
		}
	}
}

func mergeMap(found *problems, path string, target reflect.Value, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		found.addKind(path, value, "an object")
		return
	}
	if target.IsNil() {
		target.Set(reflect.MakeMap(target.Type()))
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		before := len(found.list)
		element := reflect.New(target.Type().Elem()).Elem() // fresh, so that an entry of "with" is replaced whole
		merge(found, join(path, key), element, object[key])
		if len(found.list) == before {
			target.SetMapIndex(reflect.ValueOf(key), element)
		}
	}
}

func mergeList(found *problems, path string, target reflect.Value, value any) {
	list, ok := value.([]any)
	if !ok {
		found.addKind(path, value, "a list")
		return
	}
	before := len(found.list)
	result := reflect.MakeSlice(target.Type(), len(list), len(list))
	for i, element := range list {
		merge(found, at(path, i), result.Index(i), element)
	}
	// A list with a hole would only bring up more problems, which the overlay does not have.
	if len(found.list) == before {
		target.Set(result)
	}
}

func mergeInt(found *problems, path string, target reflect.Value, value any) {
	number, ok := value.(json.Number)
	if !ok {
		found.addKind(path, value, "a whole number")
		return
	}
	whole, err := strconv.Atoi(number.String())
	if err != nil {
		found.add(path, "is not a whole number that can be held")
		return
	}
	target.SetInt(int64(whole))
}
