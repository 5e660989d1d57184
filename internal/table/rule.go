package table

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// checkRules checks each value in v by a rule. The package comment lists the rules.
func checkRules(problems *Problems, path string, v reflect.Value, rule string) {
	switch v.Kind() {
	case reflect.Struct:
		for field, value := range v.Fields() {
			place := path
			if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" {
				place = join(path, key)
			}
			checkRules(problems, place, value, field.Tag.Get("check"))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			checkRules(problems, join(path, key.String()), v.MapIndex(key), rule)
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkRules(problems, elementPath(path, i), v.Index(i), rule)
		}
	default:
		if rule != "" {
			problems.add(path, ruleFault(rule, v.Interface()))
		}
	}
}

// ruleFault returns what is wrong with a value by a rule.
func ruleFault(rule string, value any) string {
	if number, isNumber := value.(int); isNumber {
		return numberFault(rule, number)
	}
	text, _ := value.(string)
	return textFault(rule, text)
}

// textFault returns what is wrong with a text by a rule. A rule of several words allows these words.
func textFault(rule, text string) string {
	switch rule {
	case "path":
		return pathFault(text)
	case "place":
		return unlessEmpty(text, memberFault)
	case "answer":
		return unlessEmpty(WithoutEvery(text), memberFault)
	case "name":
		return plainNameFault(text)
	case "optional":
		return unlessEmpty(text, plainNameFault)
	case "scheme":
		return unlessEmpty(text, schemeFault)
	case "word":
		return wordFault(text)
	case "header":
		return headerFault(text)
	case "media":
		return mediaFault(text)
	case "zone":
		return zoneFault(text)
	case "layout":
		return layoutFault(text)
	}
	words := strings.Fields(rule)
	if len(words) < 2 {
		panic("table: there is no rule " + rule)
	}
	return choiceFault(words, text)
}

// unlessEmpty returns what is wrong with a text that may be empty.
func unlessEmpty(text string, fault func(string) string) string {
	if text == "" {
		return ""
	}
	return fault(text)
}

// choiceFault returns what is wrong with a text that must be one of some words.
func choiceFault(known []string, text string) string {
	if slices.Contains(known, text) {
		return ""
	}
	return "unknown value; known: " + strings.Join(known, ", ")
}

func numberFault(rule string, n int) string {
	switch rule {
	case "status":
		if n < 300 || n > 599 {
			return "is not an HTTP status from 300 to 599"
		}
	case "scale":
		if n < -18 || n > 18 {
			return "is not from -18 to 18; -4 reads 12345 as 1.2345"
		}
	case "number":
		if n < 0 {
			return "is less than 0"
		}
	default:
		panic("table: there is no rule " + rule)
	}
	return ""
}

func schemeFault(text string) string {
	if !IsToken(text) {
		return "is not a single word"
	}
	return ""
}

func zoneFault(name string) string {
	if _, err := time.LoadLocation(name); err != nil {
		return "is not a time zone that this machine knows, such as Europe/London or UTC"
	}
	return ""
}

// layoutFault returns what is wrong with a layout of times. A time is written in it and read back.
func layoutFault(layout string) string {
	if fault := plainNameFault(layout); fault != "" {
		return fault
	}
	const abbreviation = "XYZ"
	example := time.Date(2026, time.November, 22, 13, 47, 59, 0, time.FixedZone(abbreviation, 5*60*60))
	text := example.Format(layout)
	got, err := time.Parse(layout, text)
	isSameDay := got.Year() == example.Year() && got.YearDay() == example.YearDay()
	hasHour := got.Hour() == example.Hour() || got.Hour() == 0 // 0 in a layout of whole days
	switch {
	case err == nil && strings.Contains(text, abbreviation):
		return "names a zone by letters; write -0700, or letters that never change, such as GMT"
	case err != nil, !isSameDay, !hasHour:
		return "is not a layout of a date; write 2006-01-02 15:04:05 as the service would, such as 02/01/2006 3:04PM"
	}
	return ""
}

// sorted yields the entries of a map in the order of their keys.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
