package messagingtest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A timeFormat is a form of the contract: a layout, or seconds or milliseconds since 1970.
type timeFormat struct {
	form, layout string
	zone         *time.Location
}

// newTimeFormat returns the format of a form in a zone, or of the first layout if there is one.
func newTimeFormat(form, zone string, layouts ...string) timeFormat {
	if len(layouts) > 0 {
		form = layouts[0]
	}
	location, err := time.LoadLocation(zone)
	isUnknown := err != nil // never: the contract is valid
	isUTC := form == "rfc1123" || strings.HasPrefix(form, "rfc3339")
	if isUnknown || isUTC {
		location = time.UTC
	}
	named := map[string]string{
		"rfc3339ms": "2006-01-02T15:04:05.000Z07:00",
		"rfc3339":   time.RFC3339,
		"datetime":  time.DateTime,
		"date":      time.DateOnly,
		"rfc1123":   "Mon, 02 Jan 2006 15:04:05 GMT",
		"rfc2822":   time.RFC1123Z,
	}
	return timeFormat{form, cmp.Or(named[form], form), location}
}

// text returns a time as text, or "" for the zero time.
func (f timeFormat) text(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case f.form == "unix":
		return strconv.FormatInt(at.Unix(), 10)
	case f.form == "unixms":
		return strconv.FormatInt(at.UnixMilli(), 10)
	default:
		return at.In(f.zone).Format(f.layout)
	}
}

// parse reads a time, and reports whether it is in this format.
func (f timeFormat) parse(text string) (time.Time, bool) {
	switch f.form {
	case "unix":
		n, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(n, 0), err == nil
	case "unixms":
		n, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(n), err == nil
	}
	layout := f.layout
	if strings.HasPrefix(f.form, "rfc3339") { // a T and a Z in either case, and any fraction
		layout = time.RFC3339
		text = strings.ToUpper(text)
	}
	at, err := time.ParseInLocation(layout, text, f.zone)
	return at, err == nil
}

// An amount is in hundredths of the currency.
type amount int64

// testCurrency is the code for tests in ISO 4217.
const testCurrency = "XTS"

const (
	// firstBalance is enough for two million parts, so that a test runs out of money only if it asks to.
	firstBalance amount = 1_000_000_00
	unitCost     amount = 50
)

func parseAmount(s string) (amount, bool) {
	whole, fraction, hasPoint := strings.Cut(s, ".")
	isMalformed := whole == "" || hasPoint && fraction == ""
	if isMalformed || len(fraction) > 2 {
		return 0, false
	}
	fraction = (fraction + "00")[:2]
	hundredths, err := strconv.ParseUint(whole+fraction, 10, 63)
	return amount(hundredths), err == nil
}

func (a amount) String() string { return a.text(0) }

// withCurrency returns the amount as text does, with its currency in front if the contract has no place for a currency.
func (a amount) withCurrency(code string, places []string, scale int) string {
	if len(places) == 0 {
		return code + " " + a.text(scale)
	}
	return a.text(scale)
}

// text returns the amount as the contract has prices: 0.50 is 5000 with a scale of -4.
func (a amount) text(scale int) string {
	text := strconv.FormatInt(int64(a), 10)
	if shift := 2 + scale; shift > 0 {
		text = fmt.Sprintf("%0*d", shift+1, a)
		text = text[:len(text)-shift] + "." + text[len(text)-shift:]
	} else {
		text += strings.Repeat("0", -shift)
	}
	return text
}

func priceOf(parts int) amount { return unitCost * amount(parts) }

// SetBalance sets the credit that is left, such as "12" or "0.75"; at the start it is 1000000.00. A message that costs more is
// refused with the HTTP status 400 and, by the default contract, the code 200101; the SMS of a fallback is not sent then.
// SetBalance panics if the balance is not a number of at least zero with at most two decimals.
func (s *Server) SetBalance(balance string) {
	b, ok := parseAmount(balance)
	panicUnless(ok, "SetBalance(%q): not a number of at least zero with at most two decimals", balance)
	s.set(func() { s.ledger.balance = b })
}

// Balance returns the credit that is left, with two decimals.
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
	if isGSM(text) {
		return countPartsOf(text, gsmWidth, 160, 153)
	}
	return countPartsOf(text, utf16.RuneLen, 70, 67)
}

// countPartsOf counts the parts of a text that has room for single units in one part, and for several in each of more parts.
func countPartsOf(text string, width func(rune) int, single, several int) int {
	total := 0
	used := 0 // of the last part
	parts := 1
	for _, r := range text {
		total += width(r)
		used += width(r)
		if used > several {
			parts++
			used = width(r)
		}
	}
	if total <= single {
		return 1
	}
	return parts
}

func isGSM(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return gsmWidth(r) == 0 })
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
