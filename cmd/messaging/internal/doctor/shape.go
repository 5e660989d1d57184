package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

var (
	isDigits  = regexp.MustCompile(`^[0-9]+$`)
	isPhone   = regexp.MustCompile(`^\+?[0-9][0-9 ().-]{5,18}[0-9]$`)
	isDecimal = regexp.MustCompile(`^[+-]?[0-9]{0,15}\.?[0-9]{1,15}$`)
	isWhole   = regexp.MustCompile(`^[0-9]{1,4}$`)
	isWord    = regexp.MustCompile(`^[A-Za-z0-9_.:+/=-]+$`)
	isURL     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

// textShape is a way to write a value.
type textShape struct {
	name string
	form *regexp.Regexp
}

// textShapes are the shapes of texts that are no times: the first that fits counts.
var textShapes = []textShape{ //nolint:gochecknoglobals // never written
	{"digits", isDigits},
	{"+digits", regexp.MustCompile(`^\+[0-9]+$`)},
	{"decimal", isDecimal},
	{"letters", regexp.MustCompile(`^[A-Za-z]+$`)},
	{"uuid", regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)},
	{"url", isURL},
	{"word", isWord},
	{"text", regexp.MustCompile("")},
}

// shape describes a value without showing it. In a column of times, numbers are times too.
func shape(n document.Node, asTime bool) string {
	s := n.Text()
	if n.IsBool() {
		return "true or false"
	}
	if form := timeForm(s); form != "" && (asTime || n.IsString() && !isDecimal.MatchString(s)) {
		return "time " + form
	}
	form := fmt.Sprintf("%s(%d)", firstOf(textShapes, s), utf8.RuneCountInString(strings.TrimPrefix(s, "+")))
	if !n.IsString() {
		form = "number " + form
	}
	return form
}

// shapes describes values: the shapes that they have, at most three.
func shapes(values []document.Node, asTime bool) string {
	const most = 3
	var all []string
	for _, v := range values {
		if s := shape(v, asTime); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	switch {
	case len(all) == 0:
		return "always null or empty"
	case len(all) > most:
		all = append(all[:most], "others")
	}
	return strings.Join(all, " or ")
}

// timeForms are the ways to write a time that the contract knows without help: the first that fits counts.
var timeForms = []textShape{ //nolint:gochecknoglobals // never written
	{"of 14 digits, without an offset", regexp.MustCompile(`^20[0-9]{12}$`)},
	{"unix milliseconds", regexp.MustCompile(`^[+-]?[0-9]{13}(\.|$)`)},
	{"unix seconds", isDecimal},
	{"date", regexp.MustCompile(`^.{10}$`)},
	{"rfc3339", regexp.MustCompile(`^[0-9-]{10}T.*(Z|[+-].*)$`)},
	{"date and time, with an offset", regexp.MustCompile(`^[0-9-]{10}.*(Z|[+-].*)$`)},
	{"date and time, without an offset", regexp.MustCompile(`^[0-9-]{10}`)},
	{"rfc2822", regexp.MustCompile("")},
}

// timeForm returns how a text writes a time of our days, or "" if it is none.
func timeForm(s string) string {
	s = strings.TrimSpace(s)
	if at, ok := table.ParseTime(s, time.UTC); !ok || !isOfOurDays(at) {
		return ""
	}
	return firstOf(timeForms, s)
}

// firstOf returns the name of the first shape that fits a text. The last fits every text.
func firstOf(known []textShape, s string) string {
	return known[slices.IndexFunc(known, func(k textShape) bool { return k.form.MatchString(s) })].name
}

func isOfOurDays(at time.Time) bool { return at.Year() > 2000 && at.Year() < 2100 }

// isTime reports whether a text is a time, and no number that may be one.
func isTime(s string) bool { return timeForm(s) != "" && !isDecimal.MatchString(s) }

// layoutsOf returns the layouts, of those that the contract does not know without help, which read all of some values as times.
func layoutsOf(values []document.Node) (fit []string) {
	dates := []string{
		"02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "01-02-2006", "2006/01/02", "2006.01.02", "02 Jan 2006", "2 Jan 2006",
		"Jan 2 2006", "Jan 2, 2006", "02-Jan-2006", "20060102",
	}
	for _, date := range dates {
		for _, clock := range []string{" 15:04:05", " 15:04", " 3:04:05 PM", " 3:04:05PM", " 3:04 PM", "T15:04:05", ""} {
			for _, offset := range []string{"", " -0700", "Z07:00"} {
				layout := date + clock + offset
				isOther := func(v document.Node) bool {
					at, err := time.Parse(layout, v.Text())
					return err != nil || !isOfOurDays(at)
				}
				if (clock != "" || offset == "") && len(values) > 0 && !slices.ContainsFunc(values, isOther) {
					fit = append(fit, layout)
				}
			}
		}
	}
	return fit
}
