package table

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minRandomID is the minimum length of a random ID that has no digit, and of one in braces.
const minRandomID = 12

// Identifies reports whether an ID distinguishes a message from others: it is not a placeholder, and has a digit or the length of a random ID.
// A short word, such as "sms" or "inbound", may be in every message.
func Identifies(id string) bool {
	hasDigit := strings.ContainsFunc(id, unicode.IsDigit)
	return (hasDigit || utf8.RuneCountInString(id) >= minRandomID) && !IsPlaceholder(id)
}

// IsPlaceholder reports whether a text is a placeholder and not a real ID: punctuation alone, a number that is not positive, words such as
// "null" in any case, or a name that was not replaced, such as "%i" or "{{id}}".
func IsPlaceholder(id string) bool {
	isNumber := isDigits(id) && id[0] != '0'
	if isNumber || IsCode(id) { // most IDs
		return false
	}
	id = strings.TrimSpace(id)
	switch {
	case id == "", isNullWord(id):
		return true
	case consistsOf(id, "0-"): // a UUID of zeros
		return true
	case consistsOf(id, "0123456789+-.eE"):
		number, err := strconv.ParseFloat(id, 64)
		return err == nil && number <= 0
	default:
		return isTemplate(id)
	}
}

// isNullWord reports whether an ID consists of words for the absence of a value, such as null or undefined-undefined.
func isNullWord(id string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	const longest = len("object object") //nolint:dupword // JavaScript writes [object Object]
	if trimmed := strings.TrimFunc(id, isOther); len(trimmed) <= longest {
		switch strings.ToLower(trimmed) {
		case "n/a", "n.a", "object object": //nolint:dupword // see above
			return true
		}
	}
	for _, word := range strings.FieldsFunc(id, isOther) {
		switch strings.ToLower(word) {
		case "none", "null", "nil", "undefined", "na", "nan", "false", "true", "unknown", "error", "failed":
		default:
			return false
		}
	}
	return true
}

// isTemplate reports whether an ID is a name that a template did not replace.
func isTemplate(id string) bool {
	return isVerb(id) || isInSigns(id) || isInBrackets(id)
}

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.- "
	nameSigns   = "%<>#$"
)

// isVerb reports whether an ID is a verb, such as %x, %1 or %1$s, or a name after a percent sign, such as %name%.
func isVerb(id string) bool {
	verb, isVerb := strings.CutPrefix(id, "%")
	verb = strings.Trim(verb, nameSigns)
	if _, rest, isNumbered := strings.Cut(verb, "$"); isNumbered {
		verb = rest
	}
	isDigit := isDigits(verb) && len(verb) == 1
	return isVerb && (isDigit || isName(verb))
}

// isInSigns reports whether an ID is a name in signs, such as <name>, <%name%> or #name#.
func isInSigns(id string) bool {
	if len(id) < 2 {
		return false
	}
	first := id[:1]
	last := id[len(id)-1:]
	opens := consistsOf(first, "<#$")
	closes := consistsOf(last, ">#")
	return opens && closes && isName(strings.Trim(id, nameSigns))
}

// brackets are what templates put around a name.
var brackets = [...]struct{ left, right string }{ //nolint:gochecknoglobals // never written
	{"{", "}"}, // also {{name}}
	{"${", "}"},
	{"$(", ")"},
	{"%(", ")s"},
	{"[", "]"},
	{"@", "@"},
	{"__", "__"},
}

// isInBrackets reports whether an ID is a name in brackets. A long name with a digit is an ID, such as a UUID in braces.
func isInBrackets(id string) bool {
	for _, pair := range brackets {
		name, opens := strings.CutPrefix(id, pair.left)
		name, closes := strings.CutSuffix(name, pair.right)
		if opens && closes && name != "" {
			isShort := utf8.RuneCountInString(name) < minRandomID
			return isShort || consistsOf(strings.Trim(name, "{}"), nameLetters)
		}
	}
	return false
}

func isName(text string) bool { return text != "" && consistsOf(text, nameLetters) }

// IsCode reports whether an ID mixes letters and digits, with hyphens and underscores after the first character. Most IDs do, and such an ID
// is not a placeholder. The letter e does not count as a letter: it may be that of an exponent.
func IsCode(id string) bool {
	hasDigit, hasLetter := false, false
	for i := range len(id) {
		c := id[i]
		lower := c | 0x20 // if c is a letter
		switch {
		case '0' <= c && c <= '9':
			hasDigit = true
		case 'a' <= lower && lower <= 'z':
			hasLetter = hasLetter || lower != 'e'
		case i == 0 || c != '-' && c != '_':
			return false
		}
	}
	return hasDigit && hasLetter
}

// IsWord reports whether a text from outside is short and plain enough to be a code or an ID, and holds no run of digits that may be
// a phone number. Only such a text may be logged.
func IsWord(text string) bool {
	const longest, phoneNumber = 64, 9
	const plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	digits := 0 // in a row
	for i := range min(len(text), longest) {
		isDigit := '0' <= text[i] && text[i] <= '9'
		if isDigit {
			digits++
		} else {
			digits = 0
		}
		if digits >= phoneNumber {
			return false
		}
	}
	return text != "" && len(text) <= longest && consistsOf(text, plain)
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

func consistsOf(text, set string) bool { return strings.Trim(text, set) == "" }
