package doctor

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

var (
	isDigits  = regexp.MustCompile(`^[0-9]+$`)
	isPhone   = regexp.MustCompile(`^\+?[0-9][0-9 ().-]{5,18}[0-9]$`)
	isDecimal = regexp.MustCompile(`^[+-]?[0-9]{0,15}\.?[0-9]{1,15}$`)
	isWhole   = regexp.MustCompile(`^[0-9]{1,4}$`)
	isLetters = regexp.MustCompile(`^[A-Za-z]+$`)
	isWord    = regexp.MustCompile(`^[A-Za-z0-9_.:+/=-]+$`)
	isUUID    = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	isURL     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

// shape describes a value without showing it. In a column of times, numbers are times too.
func shape(n *node, asTime bool) string {
	switch n.kind { //nolint:exhaustive // the others have a text
	case null:
		return "null"
	case boolean:
		return "true or false"
	case object:
		return fmt.Sprintf("object(%d)", len(n.members))
	case list:
		return fmt.Sprintf("list(%d)", len(n.elements))
	}
	s := n.text
	if form := timeForm(s); form != "" && (asTime || !isDecimal.MatchString(s) && n.kind == text) {
		return "time " + form
	}
	length := utf8.RuneCountInString(s)
	prefix := ""
	if n.kind == number {
		prefix = "number "
	}
	switch {
	case s == "":
		return "empty"
	case isDigits.MatchString(s):
		return fmt.Sprintf("%sdigits(%d)", prefix, length)
	case s[0] == '+' && isDigits.MatchString(s[1:]):
		return fmt.Sprintf("+digits(%d)", length-1)
	case n.kind == number || isDecimal.MatchString(s):
		return prefix + "decimal"
	case isLetters.MatchString(s):
		return fmt.Sprintf("letters(%d)", length)
	case isUUID.MatchString(s):
		return "uuid"
	case isURL.MatchString(s):
		return fmt.Sprintf("url(%d)", length)
	case isWord.MatchString(s):
		return fmt.Sprintf("word(%d)", length)
	}
	return fmt.Sprintf("text(%d)", length)
}

// timeForm returns how a text writes a time of our days, or "" if it is none.
func timeForm(s string) string {
	at, ok := table.ParseTime(s, time.UTC)
	if !ok || at.Year() < 2001 || at.Year() > 2100 {
		return ""
	}
	const compact = 14
	switch {
	case isDigits.MatchString(s) && len(s) == compact && s[:2] == "20":
		return "of 14 digits, without an offset"
	case isDecimal.MatchString(s) && strings.IndexByte(s+".", '.') == compact-1:
		return "unix milliseconds"
	case isDecimal.MatchString(s):
		return "unix seconds"
	case strings.Contains(s, ", ") || strings.Count(s, " ") > 2:
		return "rfc2822"
	case len(s) == len(time.DateOnly):
		return "date"
	case hasOffset(s) && s[len(time.DateOnly)] == 'T':
		return "rfc3339"
	case hasOffset(s):
		return "date and time, with an offset"
	}
	return "date and time, without an offset"
}

// hasOffset reports whether a time that begins with a date says where on earth it is.
func hasOffset(s string) bool {
	const date = len(time.DateOnly)
	return len(s) > date && (strings.HasSuffix(s, "Z") || strings.ContainsAny(s[date:], "+-"))
}

// layouts are ways to write a time that the contract does not know without help.
func layouts() []string {
	var all []string
	for _, date := range []string{
		"02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "01-02-2006", "2006/01/02", "2006.01.02", "02 Jan 2006", "2 Jan 2006",
		"Jan 2 2006", "Jan 2, 2006", "02-Jan-2006", "20060102",
	} {
		for _, clock := range []string{" 15:04:05", " 15:04", " 3:04:05 PM", " 3:04:05PM", " 3:04 PM", "T15:04:05", ""} {
			for _, offset := range []string{"", " -0700", "Z07:00"} {
				if clock != "" || offset == "" {
					all = append(all, date+clock+offset)
				}
			}
		}
	}
	return all
}

// layoutsOf returns the layouts that read all of some values as times of our days.
func layoutsOf(values []*node) (fit []string) {
	for _, layout := range layouts() {
		all := len(values) > 0
		for _, v := range values {
			at, err := time.Parse(layout, v.text)
			all = all && err == nil && at.Year() > 2000 && at.Year() < 2100
		}
		if all {
			fit = append(fit, layout)
		}
	}
	return fit
}
