package table

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The bounds of an overlay. The default table itself has 9 KB, four levels, and lists of up to seven entries.
const (
	maxBytes   = 64 << 10
	maxDepth   = 16
	maxEntries = 256 // in a list, and of constants and "with" together in an operation
)

// Decode returns the table that defaults, a complete table in JSON, holds. It checks nothing: the tests of package contract
// show that the default table is valid.
func Decode(defaults string) (*Table, error) {
	decoder := json.NewDecoder(strings.NewReader(defaults))
	decoder.UseNumber()
	t := new(Table)
	if err := decoder.Decode(t); err != nil {
		return nil, err
	}
	return t, nil
}

// Parse returns the table that defaults, a complete table in JSON, becomes by overlay. Objects are merged key by key; a
// list replaces the default's, and an entry of "with" replaces the default's entry. The table is nil if there are problems.
func Parse(defaults string, overlay []byte) (*Table, Problems) {
	var found Problems
	changes, ok := read(overlay, &found)
	if !ok {
		return nil, found
	}
	var base any
	decoder := json.NewDecoder(strings.NewReader(defaults))
	decoder.UseNumber()
	if err := decoder.Decode(&base); err != nil {
		found.add("", "the default table cannot be read")
		return nil, found
	}
	text, err := json.Marshal(merge(&found, "", base, changes))
	if err != nil {
		found.add("", "the merged table cannot be written")
		return nil, found
	}
	t, err := Decode(string(text))
	if err != nil {
		found.add("", "the merged table cannot be read")
		return nil, found
	}
	t.validate(&found)
	if !found.none() {
		return nil, found
	}
	return t, found
}

// merge returns what base becomes by value. Base decides which keys there are and what kind a value has: a problem leaves
// base as it is.
func merge(found *Problems, path string, base, value any) any {
	switch base := base.(type) {
	case map[string]any:
		return mergeObject(found, path, base, value)
	case []any:
		return mergeList(found, path, base, value)
	case json.Number:
		return mergeNumber(found, path, base, value)
	default:
		if _, ok := value.(string); !ok {
			found.addKind(path, value, "a string")
			return base
		}
		return value
	}
}

func mergeObject(found *Problems, path string, base map[string]any, value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		found.addKind(path, value, "an object")
		return base
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		place := join(path, key)
		known, ok := base[key]
		switch {
		case strings.HasSuffix(path, ".constants"):
			mergeConstant(found, place, base, key, object[key])
		case strings.HasSuffix(path, ".with"):
			base[key] = mergeWith(found, place, object[key])
		case ok:
			base[key] = merge(found, place, known, object[key])
		default:
			found.add(place, unknownKey(base))
		}
	}
	return base
}

// mergeWith returns what goes with a field. It replaces the default's entry, so that an empty object drops that.
func mergeWith(found *Problems, path string, value any) any {
	with := map[string]any{}
	object, ok := value.(map[string]any)
	if !ok {
		found.addKind(path, value, "an object")
		return with
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		mergeConstant(found, join(path, name), with, name, object[name])
	}
	return with
}

func mergeConstant(found *Problems, path string, constants map[string]any, name string, value any) {
	if value == nil {
		found.addKind(path, value, "any other value")
		return
	}
	constants[name] = value
}

// mergeList replaces base, whose first entry shows the kind of all. No list of the default table is empty.
func mergeList(found *Problems, path string, base []any, value any) any {
	list, ok := value.([]any)
	switch {
	case !ok:
		found.addKind(path, value, "a list")
		return base
	case len(list) > maxEntries:
		found.add(path, "has more than "+strconv.Itoa(maxEntries)+" entries")
		return base
	}
	before := found.count()
	result := make([]any, len(list))
	for i, entry := range list {
		result[i] = merge(found, at(path, i), base[0], entry)
	}
	if found.count() > before {
		return base // a list that was not understood would only bring up more problems, which the overlay does not have
	}
	return result
}

func mergeNumber(found *Problems, path string, base json.Number, value any) any {
	number, ok := value.(json.Number)
	if !ok {
		found.addKind(path, value, "a whole number")
		return base
	}
	if _, err := strconv.Atoi(number.String()); err != nil {
		found.add(path, "is not a whole number that can be held")
		return base
	}
	return number
}

func unknownKey[V any](known map[string]V) string {
	return "unknown key; known here: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}
