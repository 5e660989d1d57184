package table

import (
	"strconv"
	"strings"
	"unicode"
)

// IsPlaceholder reports whether an ID is none: punctuation alone, a number that is not positive, a word such as "null" in any
// case, or a placeholder that was not filled in, such as "%i" or "{{id}}".
func IsPlaceholder(id string) bool {
	if isDigits(id) && id[0] != '0' { // as most are
		return false
	}
	const longest = "object" + " object" // JavaScript writes [object Object]
	word := strings.TrimFunc(id, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(word) <= len(longest) {
		switch strings.ToLower(word) {
		case "", "none", "null", "nil", "undefined", "na", "n/a", "n.a", "nan", "false", "true", "unknown", "error", "failed", longest:
			return true
		}
	}
	id = strings.TrimSpace(id)
	switch {
	case consistsOf(id, "0-"): // a UUID of zeros
		return true
	case consistsOf(id, "0123456789+-.eE"):
		number, err := strconv.ParseFloat(id, 64)
		return err == nil && number <= 0
	default:
		return isTemplate(id)
	}
}

// isTemplate reports whether an ID is %x, %1$s, %x%, {x}, {{x}}, ${x}, <x> or #x#. Digits show that it is an ID, such as a UUID
// in braces.
func isTemplate(id string) bool {
	isWrapped := strings.IndexByte("{$<#", id[0]) >= 0 && strings.IndexByte("}>#", id[len(id)-1]) >= 0
	if id[0] != '%' && !isWrapped {
		return false
	}
	name := strings.Trim(id, "{}<>#$%")
	if _, verb, ok := strings.Cut(name, "$"); ok {
		name = verb
	}
	return name != "" && consistsOf(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.- ")
}

// isDigits reports whether a text is digits alone, and at least one.
func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// consistsOf reports whether all bytes of a text are in a set.
func consistsOf(text, set string) bool {
	for i := range len(text) {
		if strings.IndexByte(set, text[i]) < 0 {
			return false
		}
	}
	return true
}
