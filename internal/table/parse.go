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

// Parse returns the default table as an overlay changes it. Objects are merged key by key. A list replaces the default's list, and an
// entry of "with" the default's entry. The table is nil if there are problems.
func Parse(overlay []byte) (*Table, Problems) { return parse(defaults, overlay) }

// parse is Parse for any defaults, so that a test can add a field to them.
func parse(defaults string, overlay []byte) (*Table, Problems) {
	var problems Problems
	changes, ok := readOverlay(overlay, &problems)
	if !ok {
		return nil, problems
	}
	var base any
	mustDecode(defaults, &base)
	merged, err := json.Marshal(merge(&problems, "", base, changes))
	must(err)
	t := decodeTable(string(merged))
	t.displaceDefaults(decodeTable(defaults))
	t.validate(&problems)
	if problems.count() > 0 {
		return nil, problems
	}
	return t, problems
}

// decodeTable returns the table that a JSON text holds, which has every key. It checks nothing else.
func decodeTable(text string) *Table {
	t := new(Table)
	mustDecode(text, t)
	return t
}

func mustDecode(text string, to any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	must(decoder.Decode(to))
}

// must panics if this package has a mistake. No overlay causes an error: its syntax was checked, and merge keeps the kind of each value.
func must(err error) {
	if err != nil {
		panic("table: " + err.Error())
	}
}

// merge returns base with the changes of value; it may change base itself. Base decides which keys there are, and the kind of each value. A wrong
// value is a problem, and changes nothing.
func merge(problems *Problems, path string, base, value any) any {
	if kindOf(value) != kindOf(base) {
		problems.add(path, "is "+kindOf(value)+"; write "+wanted(base))
		return base
	}
	switch base := base.(type) {
	case map[string]any:
		mergeObject(problems, path, base, value.(map[string]any))
		return base
	case []any:
		problems.markOverlay(path)
		return mergeList(problems, path, base, value.([]any))
	case json.Number:
		if _, err := strconv.Atoi(value.(json.Number).String()); err != nil {
			problems.add(path, "is not a whole number that can be held")
			return base
		}
	}
	return value
}

// kindOf returns the kind of a JSON value, with its article.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	default:
		return "a boolean"
	}
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

// mergeObject changes base by the members of an object. Constants may have any key and any value.
func mergeObject(problems *Problems, path string, base, object map[string]any) {
	holdsConstants := lastKey(path) == "constants" || strings.Contains(path, ".with.")
	for key, value := range sorted(object) {
		isComment := strings.HasSuffix(key, "//")
		switch {
		case isComment:
		case holdsConstants && value == nil:
			problems.add(join(path, key), "is null; write any other value, or leave it out")
		case holdsConstants:
			base[key] = value
		default:
			mergeMember(problems, path, base, key, value)
		}
	}
}

// mergeMember merges a member into the object at a path. In some objects the user chooses the keys. The value of such a key replaces that of the
// default table, so it is merged with an empty value, which shows its kind.
func mergeMember(problems *Problems, path string, object map[string]any, key string, value any) {
	var base any
	switch lastKey(path) {
	case "headers":
		base = ""
	case "only":
		base = []any{}
	case "with":
		base = map[string]any{}
	default:
		known, isKnown := object[key]
		if !isKnown {
			problems.add(join(path, key), unknownKey(object))
			return
		}
		base = known
	}
	object[key] = merge(problems, join(path, key), base, value)
}

// lastKey returns the last key of a path.
func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// guide is the page of the documentation on what a contract cannot say.
const guide = "docs/contract.md"

func unknownKey[V any](known map[string]V) string {
	return "unknown key; known here: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ") + " (what no key says: " + guide + ")"
}

// mergeList replaces base, whose first entry shows the kind of all. An empty list of the default table is one of strings.
func mergeList(problems *Problems, path string, base, list []any) any {
	if len(list) > maxEntries {
		problems.add(path, "has more than "+strconv.Itoa(maxEntries)+" entries")
		return base
	}
	var example any = ""
	if len(base) > 0 {
		example = base[0]
	}
	before := problems.count()
	result := make([]any, len(list))
	for i, entry := range list {
		result[i] = merge(problems, elementPath(path, i), example, entry)
	}
	if problems.count() > before {
		return base // a list that was not understood would only bring up more problems, which the overlay does not have
	}
	return result
}
