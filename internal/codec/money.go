package codec

import (
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// scaled returns an amount of money as the contract reads it, a decimal number without an exponent, and whether it is one. If the
// contract changes nothing about amounts, any text is returned as it is. Blank stays blank.
func scaled(amount string, money table.Money) (string, bool) {
	if money == (table.Money{}) {
		return amount, true
	}
	const longest = 64 // bytes, and places that an exponent can move the point by
	number, power, hasPower := strings.Cut(strings.ToLower(strings.TrimSpace(amount)), "e")
	exponent, err := strconv.Atoi(power)
	unsigned := strings.TrimPrefix(strings.TrimPrefix(number, "+"), "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	switch {
	case number == "" && !hasPower:
		return "", true
	case digits == "" || strings.Trim(digits, "0123456789") != "" || len(number) > longest || len(number)-len(unsigned) > 1,
		hasPower && (err != nil || exponent < -longest || exponent > longest):
		return "", false
	}
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
