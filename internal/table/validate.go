package table

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// section is one section of a table, which checks itself.
type section interface {
	validate(found *Problems, name string, t *Table)
}

// validate goes over the sections, so that a new one cannot be forgotten.
func (t *Table) validate(found *Problems) {
	for name, value := range t.Sections() {
		value.(section).validate(found, name, t)
	}
}

func checkChoice(found *Problems, path, value string, known ...string) {
	if !slices.Contains(known, value) {
		found.add(path, "unknown value; known: "+strings.Join(known, ", "))
	}
}

// claimFields checks the names of a request's fields, of which an empty one is absent, and takes them.
func claimFields(found *Problems, path string, fields map[string]string, taken *names) {
	for concept, name := range sorted(fields) {
		if name != "" {
			found.add(join(path, concept), taken.claim(join(path, concept), name))
		}
	}
}

// claimConstants checks what a request holds beside its fields, and takes the names. Where dots do not nest, it is a form.
func claimConstants(found *Problems, path string, constants map[string]any, taken *names) {
	for name, value := range sorted(constants) {
		found.add(join(path, name), taken.claim(join(path, name), name))
		switch value.(type) {
		case string, json.Number, bool:
		default:
			if !taken.dotted {
				found.add(join(path, name), "is neither a string nor a number nor a boolean, and only a JSON body can hold it")
			}
		}
	}
}

// checkLists checks each list of a map.
func checkLists(found *Problems, path string, lists map[string][]string, check func(*Problems, string, []string)) {
	for concept, list := range sorted(lists) {
		check(found, join(path, concept), list)
	}
}

// checkPaths checks paths into a response, in which "" is the document itself.
func checkPaths(found *Problems, path string, list []string) {
	for i, name := range list {
		if name != "" {
			found.add(at(path, i), cmp.Or(nameFault(name, true), foreignFault(name)))
		}
	}
}

// checkNames checks the names that a parameter may have.
func checkNames(found *Problems, path string, list []string) {
	for i, name := range list {
		found.add(at(path, i), nameFault(name, false))
	}
}

// places returns lists by their places in the table, where they stand under a path.
func places(path string, lists map[string][]string) map[string][]string {
	all := make(map[string][]string, len(lists))
	for key, list := range lists {
		all[join(path, key)] = list
	}
	return all
}

func checkZone(found *Problems, path, zone string) {
	if _, err := time.LoadLocation(zone); err != nil {
		found.add(path, "is not a time zone that this machine knows, such as Europe/London or UTC")
	}
}

// sorted ranges over a map in the order of its keys.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// checkLayouts checks further layouts of times, by writing a time in each and reading it back.
func checkLayouts(found *Problems, path string, layouts []string) {
	const abbreviation = "XYZ"
	example := time.Date(2026, time.November, 22, 13, 47, 59, 0, time.FixedZone(abbreviation, 5*60*60))
	for i, layout := range layouts {
		place := at(path, i)
		text := example.Format(layout)
		got, err := time.Parse(layout, text)
		switch {
		case nameFault(layout, false) != "":
			found.add(place, nameFault(layout, false))
		case err == nil && strings.Contains(text, abbreviation):
			found.add(place, "names a zone by letters; write -0700, or the letters that always stand there, such as GMT")
		case err != nil || got.Year() != 2026 || got.YearDay() != example.YearDay() || got.Hour() != 0 && got.Hour() != 13:
			found.add(place, "is no layout of a date; write 2006-01-02 15:04:05 as the service would, such as 02/01/2006 3:04PM")
		}
	}
}
