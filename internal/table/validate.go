package table

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// section is one section of a table. What its tags cannot say, because it is about several values, is in its method.
type section interface {
	validate(found *Problems, name string, t *Table)
}

// validate goes over the sections, so that a new one cannot be forgotten.
func (t *Table) validate(found *Problems) {
	for name, value := range t.Sections() {
		check(found, name, reflect.ValueOf(value), "")
		value.(section).validate(found, name, t)
	}
}

// check checks a value, and the values in it, by a rule of fault. The tags of a struct name the rules of its fields.
func check(found *Problems, path string, v reflect.Value, rule string) {
	switch v.Kind() {
	case reflect.Struct:
		for field, value := range v.Fields() {
			place := path
			if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" {
				place = join(path, key)
			}
			check(found, place, value, field.Tag.Get("check"))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			check(found, join(path, key.String()), v.MapIndex(key), rule)
		}
	case reflect.Slice:
		for i := range v.Len() {
			check(found, elementPath(path, i), v.Index(i), rule)
		}
	default:
		if rule != "" {
			found.add(path, fault(rule, v.Interface()))
		}
	}
}

// fault returns what is wrong with a value by a rule, or "". A rule that is no case here lists the values that are allowed.
func fault(rule string, value any) string {
	text, _ := value.(string)
	number, _ := value.(int)
	switch rule {
	case "path":
		return pathFault(text)
	case "place": // in a response, of which "" is all
		if text != "" {
			return cmp.Or(nameFault(text, true), foreignFault(text))
		}
	case "answer": // to a send, in which a * stands for every element of a list
		return fault("place", WithoutEvery(text))
	case "events": // or the way to them, in which a * stands for each element of a list
		if text == every || strings.HasSuffix(text, "."+every) {
			return "ends in a *; the elements of a list are events by themselves: write the list alone, such as data"
		}
		return fault("place", WithoutEvery(text))
	case "member": // or the way to one
		return cmp.Or(nameFault(text, true), foreignFault(text))
	case "name":
		return nameFault(text, false)
	case "placeholder", "column":
		if text != "" {
			return nameFault(text, false)
		}
	case "word":
		return wordFault(text)
	case "header":
		return headerFault(text)
	case "media":
		return mediaFault(text)
	case "scheme":
		if text != "" && !IsToken(text) {
			return "is not a single word"
		}
	case "zone":
		if _, err := time.LoadLocation(text); err != nil {
			return "is not a time zone that this machine knows, such as Europe/London or UTC"
		}
	case "layout":
		return layoutFault(text)
	case "status":
		if number < 300 || number > 599 {
			return "is not an HTTP status from 300 to 599"
		}
	case "scale":
		if number < -18 || number > 18 {
			return "is not from -18 to 18; -4 reads 12345 as 1.2345"
		}
	case "number":
		if number < 0 {
			return "is less than 0"
		}
	default:
		if known := strings.Fields(rule); !slices.Contains(known, text) {
			return "unknown value; known: " + strings.Join(known, ", ")
		}
	}
	return ""
}

// places returns lists by their places in the table, where they stand under a path.
func places(path string, lists map[string][]string) map[string][]string {
	all := make(map[string][]string, len(lists))
	for key, list := range lists {
		all[join(path, key)] = list
	}
	return all
}

func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// layoutFault returns what is wrong with a layout of times, or "". A time is written in it and read back.
func layoutFault(layout string) string {
	const abbreviation = "XYZ"
	example := time.Date(2026, time.November, 22, 13, 47, 59, 0, time.FixedZone(abbreviation, 5*60*60))
	text := example.Format(layout)
	got, err := time.Parse(layout, text)
	switch {
	case nameFault(layout, false) != "":
		return nameFault(layout, false)
	case err == nil && strings.Contains(text, abbreviation):
		return "names a zone by letters; write -0700, or the letters that always stand there, such as GMT"
	case err != nil || got.Year() != 2026 || got.YearDay() != example.YearDay() || got.Hour() != 0 && got.Hour() != 13:
		return "is no layout of a date; write 2006-01-02 15:04:05 as the service would, such as 02/01/2006 3:04PM"
	}
	return ""
}
