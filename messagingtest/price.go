package messagingtest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/messaging-service/messaging-go/internal/table"
)

// An amount is in hundredths of the currency.
type amount int64

// currency is the code that ISO 4217 has for tests.
const currency = "XTS"

const (
	// firstBalance is enough for two million parts, so that only a test that wants it runs out of money.
	firstBalance amount = 1_000_000_00
	unitCost     amount = 50
)

func parseAmount(s string) (amount, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	if whole == "" || point && fraction == "" || len(fraction) > 2 {
		return 0, false
	}
	hundredths, err := strconv.ParseUint(whole+(fraction + "00")[:2], 10, 63)
	return amount(hundredths), err == nil
}

func (a amount) String() string { return a.text(table.Money{}) }

// text returns the amount as the contract has prices: 0.50 is 5000 with a scale of -4.
func (a amount) text(m table.Money) string {
	text := strconv.FormatInt(int64(a), 10)
	if shift := 2 + m.Scale; shift > 0 {
		text = fmt.Sprintf("%0*d", shift+1, a)
		text = text[:len(text)-shift] + "." + text[len(text)-shift:]
	} else {
		text += strings.Repeat("0", -shift)
	}
	if m.Negate {
		text = "-" + text
	}
	return text
}

func priceOf(parts int) amount { return unitCost * amount(parts) }

// SetBalance sets what is left to spend, such as "12" or "0.75", in the currency XTS, which is for tests. At the start it is
// 1000000.00. Each part of a message costs 0.50, delivered or not. A message for which too little is left is refused as a whole,
// with the HTTP status 400 and, by the default contract, the code 200101; the SMS of a fallback is not sent then. SetBalance
// panics if the balance is not a number of at least zero with at most two decimals.
func (s *Server) SetBalance(balance string) {
	b, ok := parseAmount(balance)
	must(ok, "SetBalance(%q): not a number of at least zero with at most two decimals", balance)
	s.set(func() { s.ledger.balance = b })
}

// Balance returns what is left to spend, with two decimals.
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
