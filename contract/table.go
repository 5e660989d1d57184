package contract

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fieldsOf returns the fields of a struct of the table by their JSON keys, those of an embedded struct among them.
func fieldsOf(structure reflect.Value) map[string]reflect.Value {
	result := map[string]reflect.Value{}
	for field, value := range structure.Fields() {
		if field.Anonymous {
			maps.Copy(result, fieldsOf(value))
		} else {
			result[field.Tag.Get("json")] = value
		}
	}
	return result
}

// fields ranges over a struct of the table whose fields are all of one type, in the order of their keys.
func fields[T any](structure any) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		all := fieldsOf(reflect.ValueOf(structure))
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !yield(key, all[key].Interface().(T)) {
				return
			}
		}
	}
}

func unknownKey(known map[string]reflect.Value) string {
	return "unknown key; known here: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}
