package messagingtest

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf16"
)

const (
	// firstBalance is enough for two million parts, so that only a test that wants it runs out of money.
	firstBalance = "1000000.00"
	unitCost     = "0.50"
	unitDecimals = 2
)

// balance is an exact amount.
type balance struct {
	amount   *big.Rat
	decimals int
}

func parseBalance(s string) (balance, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	if whole == "" || point && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return balance{}, false
	}
	amount, ok := new(big.Rat).SetString(s)
	return balance{amount, max(unitDecimals, len(fraction))}, ok
}

// pay takes the cost of the parts from the balance, or reports false and takes nothing if it is too small.
func (b balance) pay(parts int) (cost string, ok bool) {
	price := priceOf(parts)
	if b.amount.Cmp(price.amount) < 0 {
		return "", false
	}
	b.amount.Sub(b.amount, price.amount)
	return price.String(), true
}

func priceOf(parts int) balance {
	price, _ := parseBalance(unitCost)
	price.amount.Mul(price.amount, new(big.Rat).SetInt64(int64(parts)))
	return price
}

func (b balance) String() string { return b.amount.FloatString(b.decimals) }

// SetBalance sets what is left to spend, as a decimal number such as "12" or "0.75", in no particular currency. At the start
// it is 1000000.00. Each part of a message costs 0.50, delivered or not. A message for which too little is left is refused as
// a whole, with the HTTP status 400 and the code 200101; the SMS of a fallback is not sent then. SetBalance panics if amount
// is anything but digits with an optional point between them.
func (s *Server) SetBalance(amount string) {
	b, ok := parseBalance(amount)
	if !ok {
		panic(fmt.Sprintf("messagingtest: SetBalance(%q): not a decimal number of at least zero", amount))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.balance = b
}

// Balance returns what is left to spend, with at least two decimals, and as many as [Server.SetBalance] was called with.
func (s *Server) Balance() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.balance.String()
}

// The alphabet of GSM 03.38. A character of the extension takes two places.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡" +
		"ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

// countParts returns the number of parts in which a text travels. A character is not divided between parts.
func countParts(text string) int {
	single, several, width := 160, 153, gsmWidth
	if strings.ContainsFunc(text, func(r rune) bool { return gsmWidth(r) == 0 }) {
		single, several, width = 70, 67, utf16.RuneLen
	}
	total, used, parts := 0, 0, 1
	for _, r := range text {
		total += width(r)
		if used += width(r); used > several {
			parts++
			used = width(r)
		}
	}
	if total <= single {
		return 1
	}
	return parts
}

// gsmWidth returns 0 for a character that is not in the alphabet.
func gsmWidth(r rune) int {
	switch {
	case strings.ContainsRune(gsmBasic, r):
		return 1
	case strings.ContainsRune(gsmExtension, r):
		return 2
	default:
		return 0
	}
}
