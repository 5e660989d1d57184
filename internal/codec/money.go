package codec

import (
	"strconv"
	"strings"
	"unicode"
)

// longestNumber is how many bytes a number may have, and how many places an exponent may move its point by.
const longestNumber = 64

// amountOf reads an amount of money, which may name its currency before or behind the number: KES 0.80, 0.05 USD, $5. It returns the
// number as the contract reads it, and the currency, or reports that the text is no amount. Blank is an amount without a number.
func amountOf(text string, scale int) (number, currency string, ok bool) {
	const signs, digits = "+-", ".0123456789"
	if scale == 0 && isUnsigned(text) {
		return text, "", true // as most are
	}
	text = strings.TrimSpace(text)
	unsigned := strings.TrimLeft(text, signs)
	sign := text[:len(text)-len(unsigned)]
	begin, end := strings.IndexAny(unsigned, signs+digits), strings.LastIndexAny(unsigned, digits)+1
	if end == 0 {
		return "", "", text == ""
	}
	before, behind := strings.TrimSpace(unsigned[:begin]), strings.TrimSpace(unsigned[end:])
	currency = before + behind
	number, ok = scaled(sign+unsigned[begin:end], scale)
	if !ok || before != "" && behind != "" || currency != "" && !isCurrency(currency) {
		return "", "", false
	}
	return number, currency, true
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
	return letters == 3 && symbols == 0 || letters <= 3 && symbols == 1
}

// scaled returns a decimal number as the contract reads it, and whether the text is one. If the contract changes nothing about
// amounts, it stays as the service wrote it, and has no exponent otherwise. Blank stays blank.
func scaled(amount string, scale int) (string, bool) {
	number, power, hasPower := strings.Cut(strings.ToLower(strings.TrimSpace(amount)), "e")
	exponent, err := 0, error(nil)
	if hasPower { // an error would allocate
		exponent, err = strconv.Atoi(power)
	}
	unsigned := strings.TrimPrefix(strings.TrimPrefix(number, "+"), "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	switch {
	case number == "" && !hasPower:
		return "", true
	case !isUnsigned(unsigned) || len(number)-len(unsigned) > 1,
		hasPower && (err != nil || exponent < -longestNumber || exponent > longestNumber):
		return "", false
	}
	if scale == 0 {
		return strings.TrimSpace(amount), true
	}
	digits := whole + fraction
	places := len(fraction) - exponent - scale
	digits += strings.Repeat("0", max(0, -places))
	places = max(0, places)
	digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
	whole, fraction = strings.TrimLeft(digits[:len(digits)-places], "0"), digits[len(digits)-places:]
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if strings.HasPrefix(number, "-") && strings.Trim(digits, "0") != "" {
		whole = "-" + whole
	}
	return whole, true
}

// isUnsigned reports whether a text is a decimal number without a sign and an exponent.
func isUnsigned(text string) bool {
	const digits = "0123456789"
	whole, fraction, _ := strings.Cut(text, ".")
	return strings.Trim(whole, digits)+strings.Trim(fraction, digits) == "" && len(text) <= longestNumber && len(whole)+len(fraction) > 0
}
