// Package phone compares phone numbers as people and services write them.
package phone

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// subscriber is how many digits a number has at least, without the prefixes of a country and of an area.
	subscriber = 7
	// longest is how many digits a number has at most, with its country code.
	longest = 15
	// longestDialled is the same for one that begins with the international prefix 00.
	longestDialled = longest + 2
)

// Key returns the digits by which a number is known: those of the international form, without the mobile digit that some countries
// insert. It reports false for a text that is not a number.
//
// It skips a scheme, such as tel:, a leading + or 00, spaces, hyphens, dots and parentheses, and invisible characters. A number in national
// form, such as 0917…, gets the country code, if there is one.
func Key(text, countryCode string) (key string, ok bool) {
	digits, isInternational := dialled(text)
	if !isNumber(digits) || len(digits) > longest {
		return "", false
	}
	national, hasTrunkPrefix := strings.CutPrefix(digits, "0")
	if !isInternational && hasTrunkPrefix && countryCode != "" {
		digits = countryCode + national
	}
	return withoutMobileDigit(digits), true
}

// Match reports whether a listed number may be the one of a message. Either may lack its country code or have a trunk prefix: the shorter
// one is then the end of the longer one. A listed text with too few digits for a number, or with too many, matches none.
func Match(listed, sent string) bool {
	a := significant(listed)
	b := significant(sent)
	if len(ASCIIDigits(listed)) > longestDialled || len(a) < min(len(b), subscriber) {
		return false
	}
	return isEnd(a, b) || isEnd(withoutMobileDigit(a), withoutMobileDigit(b))
}

// Contradict reports whether two texts are different numbers. A masked number, such as 63917***4567, is not a number.
func Contradict(listed, sent string) bool {
	return isPlain(sent) && isPlain(withoutScheme(listed)) && !Match(listed, sent)
}

// Fold returns text with characters of full width as ASCII, and without invisible characters, such as a zero-width space, and bytes that are
// not UTF-8.
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		const fullWidth, lastFullWidth, toASCII = '！', '～', '！' - '!'
		switch {
		case r == utf8.RuneError || isInvisible(r):
			return -1
		case r >= fullWidth && r <= lastFullWidth:
			return r - toASCII
		case unicode.IsSpace(r):
			return ' '
		default:
			return r
		}
	}, text)
}

// ASCIIDigits returns the digits of a text.
func ASCIIDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

func isInvisible(r rune) bool {
	isControl := unicode.IsControl(r) && !unicode.IsSpace(r)
	return isControl || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// dialled returns a number without its scheme, its separators and its international prefix, and whether it had that prefix.
func dialled(text string) (digits string, isInternational bool) {
	number := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" .()", r) || unicode.Is(unicode.Pd, r) {
			return -1
		}
		return r
	}, withoutTrunkZero(withoutScheme(Fold(text))))
	for _, prefix := range []string{"+", "00"} {
		if digits, isInternational = strings.CutPrefix(number, prefix); isInternational {
			return digits, true
		}
	}
	return number, false
}

// withoutTrunkZero returns an international number without a zero in parentheses, as in +44 (0)20, 0044 (0)20 and (+44) (0)20. Only callers
// within the country dial it.
func withoutTrunkZero(number string) string {
	start := strings.TrimLeft(number, " (")
	isInternational := strings.HasPrefix(start, "+") || strings.HasPrefix(start, "00")
	if !isInternational {
		return number
	}
	return strings.Replace(number, "(0)", "", 1)
}

// withoutScheme returns the number in a URI, without its parameters, and any other text without the spaces around it.
func withoutScheme(text string) string {
	text = strings.TrimSpace(text)
	scheme, rest, hasScheme := strings.Cut(text, ":")
	if !hasScheme || !isScheme(strings.TrimSpace(scheme)) {
		return text
	}
	rest = strings.TrimPrefix(rest, "//")
	if end := strings.IndexAny(rest, ";?"); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSpace(rest)
}

func isScheme(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) || r > unicode.MaxASCII
	})
}

func isNumber(digits string) bool { return digits != "" && digits == ASCIIDigits(digits) }

// isPlain reports whether a text is a number as services list it: digits with usual separators, and enough of them.
func isPlain(text string) bool {
	digits := len(ASCIIDigits(text))
	return digits >= subscriber && digits <= longestDialled && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("0123456789+-(). ", r)
	})
}

// significant returns the digits of a text without the zeros of an international or a trunk prefix.
func significant(text string) string {
	return strings.TrimLeft(ASCIIDigits(withoutTrunkZero(withoutScheme(Fold(text)))), "0")
}

// isEnd reports whether one of two texts ends with the other.
func isEnd(a, b string) bool { return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) }

// withoutMobileDigit returns an international number of Mexico, Argentina or Brazil without the digit that marks a mobile number. One
// person is written with it and without: 52 1 55…, 54 9 11…, 55 11 9….
func withoutMobileDigit(digits string) string {
	const whole = 13 // digits with the country code and the mobile digit
	if len(digits) != whole {
		return digits
	}
	switch {
	case strings.HasPrefix(digits, "521"), strings.HasPrefix(digits, "549"):
		return digits[:2] + digits[3:]
	case strings.HasPrefix(digits, "55") && digits[4] == '9':
		return digits[:4] + digits[5:]
	default:
		return digits
	}
}
