package shape

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A rule is one rule of a field, such as max=20.
type rule struct {
	name  string
	limit int      // of max and degrees
	words []string // of oneof
}

func hasRule(rules []rule, name string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.name == name })
}

// rulesFor returns the names of the rules that a field of a kind may have.
func rulesFor(kind reflect.Kind) []string {
	switch kind {
	case reflect.String:
		return []string{
			"required", "notblank", "max", "oneof", "name", "alnum", "trimmed", "unique", "url", "currency", "date",
		}
	case reflect.Int:
		return []string{"index"}
	case reflect.Float64:
		return []string{"degrees"}
	case reflect.Struct:
		return []string{"present"}
	case reflect.Interface:
		return []string{"required", "object"}
	default:
		return nil
	}
}

// parseRule parses a rule. It reports false if the rule has no value that it needs, a value that is wrong, or one that it does not take.
func parseRule(name, value string) (r rule, ok bool) {
	switch name {
	case "max", "degrees":
		limit, err := strconv.Atoi(value)
		return rule{name: name, limit: limit}, err == nil && limit > 0
	case "oneof":
		words := strings.Split(value, "|")
		return rule{name: name, words: words}, !slices.Contains(words, "")
	default:
		return rule{name: name}, value == ""
	}
}

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = lower + upper
)

// violation returns how a text breaks a rule about its characters, or "".
func (r rule) violation(text string) string {
	hasOther := func(allowed string) bool { return strings.Trim(text, allowed) != "" }
	switch {
	case r.name == "oneof" && !slices.Contains(r.words, text):
		return `want "` + strings.Join(r.words, `" or "`) + `"`
	case r.name == "name" && hasOther(lower+digits+"_"):
		return "want only lower-case letters, digits and underscores"
	case r.name == "alnum" && hasOther(letters+digits):
		return "want only letters and digits"
	case r.name == "trimmed" && strings.TrimSpace(text) != text:
		return "must not have white space around it"
	case r.name == "currency" && (len(text) != 3 || hasOther(upper)):
		return "want an ISO 4217 code of three capital letters"
	case r.name == "date" && !isDate(text):
		return "want a date as YYYY-MM-DD"
	default:
		return ""
	}
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
