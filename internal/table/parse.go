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

// decode returns the table that a JSON text holds, which has every key. It checks nothing else.
func decode(text string) (*Table, error) {
	t := new(Table)
	return t, decodeInto(text, t)
}

func decodeInto(text string, to any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(to)
}

// Parse returns the default table as an overlay changes it. Objects are merged key by key. A list replaces the default's list, and an
// entry of "with" the default's entry. The table is nil if there are problems.
func Parse(overlay []byte) (*Table, Problems) { return parse(defaults, overlay) }

// parse is Parse for any defaults, so that a test can add a field to them.
func parse(defaults string, overlay []byte) (*Table, Problems) {
	var found Problems
	changes, ok := read(overlay, &found)
	if !ok {
		return nil, found
	}
	var base any
	_ = decodeInto(defaults, &base) // the tests decode it
	text, _ := json.Marshal(merge(&found, "", base, changes))
	t, _ := decode(string(text)) // merge keeps the kind of each value
	whole, _ := decode(defaults)
	for _, channel := range Channels() {
		channel.Send(t).dropCollisions(channel.Send(whole), t.Auth.KeyPair)
	}
	t.SMSList.dropCollisions(&whole.SMSList, t.Auth.KeyPair)
	for name, section := range t.Webhooks() {
		section.dropClaimed(whole.Webhooks()[name])
	}
	t.validate(&found)
	if found.count() > 0 {
		return nil, found
	}
	return t, found
}

// merge returns what base becomes by value. Base decides which keys there are and what kind a value has: a problem leaves
// base as it is.
func merge(found *Problems, path string, base, value any) any {
	if kindOf(value) != kindOf(base) {
		found.add(path, "is "+kindOf(value)+"; write "+wanted(base))
		return base
	}
	switch base := base.(type) {
	case map[string]any:
		mergeObject(found, path, base, value.(map[string]any))
		return base
	case []any:
		found.set(path)
		return mergeList(found, path, base, value.([]any))
	case json.Number:
		if _, err := strconv.Atoi(value.(json.Number).String()); err != nil {
			found.add(path, "is not a whole number that can be held")
			return base
		}
	}
	return value
}

// wanted says what to write in place of a value of the default table.
func wanted(base any) string {
	switch base := base.(type) {
	case map[string]any:
		if len(base) > 0 {
			return "an object with some of the keys " + strings.Join(slices.Sorted(maps.Keys(base)), ", ")
		}
		return "an object"
	case []any:
		if len(base) > 0 {
			example, _ := json.Marshal(base[:1])
			return "a list, such as " + string(example)
		}
		return "a list"
	case string:
		if base != "" {
			return "a string, such as " + strconv.Quote(base)
		}
		return "a string"
	case bool:
		return "true or false"
	default:
		return "a whole number"
	}
}

func mergeObject(found *Problems, path string, base, object map[string]any) {
	holdsConstants := lastKey(path) == "constants" || strings.Contains(path, ".with.")
	for key, value := range sorted(object) {
		isComment := strings.HasSuffix(key, "//")
		switch {
		case isComment:
		case holdsConstants && value == nil:
			found.add(join(path, key), "is null; write any other value, or leave it out")
		case holdsConstants:
			base[key] = value
		default:
			mergeMember(found, path, base, key, value)
		}
	}
}

// mergeMember merges a member into the object at a path. In some objects the user chooses the keys, and a value replaces the default's.
func mergeMember(found *Problems, path string, base map[string]any, key string, value any) {
	known, isKnown := base[key]
	switch lastKey(path) {
	case "headers":
		known = ""
	case "only":
		known = []any{}
	case "with":
		known = map[string]any{}
	default:
		if !isKnown {
			found.add(join(path, key), unknownKey(base))
			return
		}
	}
	base[key] = merge(found, join(path, key), known, value)
}

// lastKey returns the last key of a path.
func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// mergeList replaces base, whose first entry shows the kind of all. An empty list of the default table is one of strings.
func mergeList(found *Problems, path string, base, list []any) any {
	if len(list) > maxEntries {
		found.add(path, "has more than "+strconv.Itoa(maxEntries)+" entries")
		return base
	}
	var kind any = ""
	if len(base) > 0 {
		kind = base[0]
	}
	before := found.count()
	result := make([]any, len(list))
	for i, entry := range list {
		result[i] = merge(found, elementPath(path, i), kind, entry)
	}
	if found.count() > before {
		return base // a list that was not understood would only bring up more problems, which the overlay does not have
	}
	return result
}

// page is the page of the documentation on what a contract cannot say.
const page = "docs/contract.md"

func unknownKey[V any](known map[string]V) string {
	return "unknown key; known here: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ") + " (what no key says: " + page + ")"
}
