package codec

import (
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// scaled returns an amount of money as the contract reads it, and whether it is a decimal number. If the contract changes nothing about
// amounts, it is returned as it is, even if it is no number. Otherwise it has no exponent, and is "" if it is no number. Blank stays
// blank.
func scaled(amount string, money table.Money) (string, bool) {
	isPlain := money == (table.Money{})
	wrong := amount
	if !isPlain {
		wrong = ""
	}
	const longest = 64 // bytes, and places that an exponent can move the point by
	number, power, hasPower := strings.Cut(strings.ToLower(strings.TrimSpace(amount)), "e")
	exponent, err := strconv.Atoi(power)
	unsigned := strings.TrimPrefix(strings.TrimPrefix(number, "+"), "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	isDigits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	switch {
	case number == "" && !hasPower:
		return wrong, true
	case whole == "" && fraction == "" || !isDigits(whole) || !isDigits(fraction) || len(number) > longest || len(number)-len(unsigned) > 1,
		hasPower && (err != nil || exponent < -longest || exponent > longest):
		return wrong, false
	}
	if isPlain {
		return amount, true
	}
	digits := whole + fraction
	places := len(fraction) - exponent - money.Scale
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
	if isNegative := strings.HasPrefix(number, "-") != money.Negate; isNegative && strings.Trim(digits, "0") != "" {
		whole = "-" + whole
	}
	return whole, true
}
