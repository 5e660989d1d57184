package codec

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestNumber is how many bytes a number may have, and how many places an exponent may move its point by.
const longestNumber = 64

// amountOf reads an amount of money, which may name its currency before or after the number: KES 0.80, 0.05 USD, $5. It returns the
// number in the scale of the contract, and the currency, or reports that the text is not an amount. Blank is an amount without a number.
// KSh.50 is not an amount: it may be 50 or 0.50.
func amountOf(text string, scale int) (number, currency string, ok bool) {
	const signs, digits = "+-", ".0123456789"
	if scale == 0 && isUnsigned(text) {
		return text, "", true // as most are
	}
	text = strings.TrimSpace(text)
	unsigned := strings.TrimLeft(text, signs)
	sign := text[:len(text)-len(unsigned)]
	begin := strings.IndexAny(unsigned, signs+digits)
	end := strings.LastIndexAny(unsigned, digits) + 1
	if end == 0 {
		return "", "", text == ""
	}
	if hasDottedCurrency(unsigned, begin) {
		return "", "", false
	}
	before := strings.TrimSpace(unsigned[:begin])
	behind := strings.TrimSpace(unsigned[end:])
	currency = before + behind
	number, ok = scaled(sign+unsigned[begin:end], scale)
	isTwoSided := before != "" && behind != ""
	isUnknown := currency != "" && !isCurrency(currency)
	if !ok || isTwoSided || isUnknown {
		return "", "", false
	}
	return number, currency, true
}

// hasDottedCurrency reports whether the number that begins at an index begins with a point which follows a letter, as in KSh.50.
func hasDottedCurrency(text string, begin int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:begin])
	return text[begin] == '.' && unicode.IsLetter(last)
}

// isCurrency reports whether a text is a code of three letters, or a symbol with at most three letters around it, such as US$.
func isCurrency(text string) bool {
	letters, symbols := 0, 0
	for _, r := range text {
		switch {
		case r < unicode.MaxASCII && unicode.IsLetter(r):
			letters++
		case unicode.Is(unicode.Sc, r):
			symbols++
		default:
			return false
		}
	}
	isCode := letters == 3 && symbols == 0
	isSymbol := letters <= 3 && symbols == 1
	return isCode || isSymbol
}

// scaled returns a decimal number multiplied by the scale of the contract, without an exponent, and whether the text is a number. A scale
// of 0 leaves the number as the service wrote it. Blank stays blank.
func scaled(amount string, scale int) (string, bool) {
	amount = strings.TrimSpace(amount)
	if amount == "" {
		return "", true
	}
	d, ok := parseDecimal(amount)
	switch {
	case !ok:
		return "", false
	case scale == 0:
		return amount, true
	default:
		d.places -= scale
		return d.String(), true
	}
}

// decimal is a decimal number.
type decimal struct {
	isNegative bool
	digits     string
	places     int // how many of the digits are after the point; a negative number means zeros after the digits
}

// parseDecimal reads a decimal number with a sign and an exponent, which it may lack.
func parseDecimal(text string) (d decimal, ok bool) {
	number, power, hasPower := strings.Cut(strings.ToLower(text), "e")
	exponent := 0
	if hasPower {
		var err error
		exponent, err = strconv.Atoi(power)
		isTooFar := exponent < -longestNumber || exponent > longestNumber
		if err != nil || isTooFar {
			return d, false
		}
	}
	unsigned := strings.TrimPrefix(strings.TrimPrefix(number, "+"), "-")
	hasTwoSigns := len(number)-len(unsigned) > 1
	if hasTwoSigns || !isUnsigned(unsigned) {
		return d, false
	}
	whole, fraction, _ := strings.Cut(unsigned, ".")
	return decimal{
		isNegative: strings.HasPrefix(number, "-"),
		digits:     whole + fraction,
		places:     len(fraction) - exponent,
	}, true
}

// String returns the number without an exponent.
func (d decimal) String() string {
	places := max(0, d.places)
	digits := d.digits + strings.Repeat("0", max(0, -d.places))
	missing := max(0, places+1-len(digits)) // of the digit before the point, and of zeros after it
	digits = strings.Repeat("0", missing) + digits
	point := len(digits) - places
	text := cmp.Or(strings.TrimLeft(digits[:point], "0"), "0")
	if places > 0 {
		text += "." + digits[point:]
	}
	isZero := strings.Trim(digits, "0") == ""
	if d.isNegative && !isZero {
		text = "-" + text
	}
	return text
}

// isUnsigned reports whether a text is a decimal number without a sign and an exponent.
func isUnsigned(text string) bool {
	const digits = "0123456789"
	if len(text) > longestNumber {
		return false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	isEmpty := whole == "" && fraction == ""
	return !isEmpty && strings.Trim(whole, digits) == "" && strings.Trim(fraction, digits) == ""
}
