package table

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// minMilliseconds is the least number that counts milliseconds: as seconds it would be in the year 5138.
const minMilliseconds = 1e11

const compact = "20060102150405"

// ParseTime reads a time as rows and callbacks carry it, and reports whether it could. The forms are:
//
//	1791038663                       seconds since 1970-01-01 UTC
//	1791038663000                    milliseconds, from 1e11 on
//	1791038663.25                    either, with a fraction of at most milliseconds
//	2026-10-03T14:44:23.186+08:00    RFC 3339, with any fraction or none, any offset or Z; also +0800, a space for the T or before the offset
//	2026-10-03 14:44:23.186          a date with a time of day, with or without fraction and seconds; also with a T
//	2026-10-03                       the beginning of a day
//	20261003144423                   14 digits that begin with 19 or 20: a date with a time of day, not milliseconds
//	Sat, 03 Oct 2026 14:44:23 GMT    RFC 1123, or RFC 2822 with an offset such as +0800; also without the day of the week
//
// Layouts, as in package time, are tried before these. A form without an offset is in zone; nil is UTC. White space around the text does not
// count. A blank text and a text of zeros are the zero time. A text that cannot be read is the zero time and false, and so is a number beyond
// the years 0 to 9999, such as one of microseconds. Times of the same instant may be in different locations: compare them with Equal.
func ParseTime(text string, zone *time.Location, layouts ...string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '0' && consistsOf(text, "0-/:. TZ") {
		return time.Time{}, true
	}
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, true
		}
	}
	if isDigits(text) {
		return parseDigits(text, zone)
	}
	if at, ok := parseDate(text, zone); ok {
		return at, true
	}
	if at, ok := parseMail(text); ok {
		return at, true
	}
	return parseFraction(text)
}

// parseFraction reads seconds or milliseconds with a fraction.
func parseFraction(text string) (time.Time, bool) {
	const most = 1e15 // beyond every year that unixTime accepts
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.Abs(n) > most:
		return time.Time{}, false
	case math.Abs(n) >= minMilliseconds:
		return unixTime(int64(math.Round(n)))
	default:
		return unixTime(int64(math.Round(n * 1000)))
	}
}

func parseDigits(text string, zone *time.Location) (time.Time, bool) {
	if len(text) == len(compact) && (text[:2] == "19" || text[:2] == "20") {
		at, err := time.ParseInLocation(compact, text, zone)
		return at, err == nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return time.Time{}, false
	case n < minMilliseconds:
		return unixTime(n * 1000)
	default:
		return unixTime(n)
	}
}

// unixTime returns the time so many milliseconds after 1970-01-01 UTC. It reports false for years that RFC 3339, and so JSON, cannot write. A
// count of microseconds is in such a year.
func unixTime(ms int64) (time.Time, bool) {
	at := time.UnixMilli(ms).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}, false
	}
	return at, true
}

// parseDate reads the forms that begin with 2006-01-02. It tries only the one that text may have, because each that fails costs an error of
// package time.
func parseDate(text string, zone *time.Location) (time.Time, bool) {
	const date = len(time.DateOnly)
	if len(text) < date || text[4] != '-' || text[7] != '-' {
		return time.Time{}, false
	}
	if len(text) == date {
		at, err := time.ParseInLocation(time.DateOnly, text, zone)
		return at, err == nil
	}
	separator := " "
	if text[date] == 'T' {
		separator = "T"
	}
	clock, offset := cutOffset(text[date+1:])
	layout := time.RFC3339 // a constant: the usual form costs no allocation
	if form := separator + clockLayout(clock) + offsetLayout(offset); form != "T15:04:05Z07:00" {
		layout = time.DateOnly + form
	}
	at, err := time.ParseInLocation(layout, text, zone)
	return at, err == nil
}

// cutOffset returns the parts of a time of day with an offset, before which there may be a space. The offset is "" if there is none.
func cutOffset(text string) (clock, offset string) {
	end := strings.IndexAny(text, " +-Z")
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// clockLayout returns the layout of a time of day. Package time reads a fraction of a second although the layout has none.
func clockLayout(clock string) string {
	if strings.Count(clock, ":") == 1 {
		return "15:04"
	}
	return "15:04:05"
}

func offsetLayout(offset string) string {
	hasSpace := strings.HasPrefix(offset, " ")
	hasColon := strings.Contains(offset, ":")
	switch {
	case offset == "":
		return ""
	case hasSpace && hasColon:
		return " Z07:00"
	case hasSpace:
		return " Z0700"
	case hasColon || offset == "Z":
		return "Z07:00"
	default:
		return "Z0700"
	}
}

// parseMail reads the form of RFC 2822 and, with GMT in place of an offset, of RFC 1123.
func parseMail(text string) (time.Time, bool) {
	if strings.Count(text, ":") == 0 || strings.Count(text, " ") < 4 {
		return time.Time{}, false
	}
	if day, rest, ok := strings.Cut(text, ", "); ok && len(day) == len("Mon") {
		text = rest
	}
	for _, zero := range []string{" GMT", " UTC", " UT", " Z"} {
		if rest, ok := strings.CutSuffix(text, zero); ok {
			text = rest + " +0000"
		}
	}
	at, err := time.Parse("2 Jan 2006 15:04:05 -0700", text)
	if err != nil {
		at, err = time.Parse("2 Jan 2006 15:04 -0700", text)
	}
	return at, err == nil
}

// FormatTime returns a time in a form of the contract, such as "rfc3339ms". The zone is for the forms that name none.
func FormatTime(at time.Time, form string, zone *time.Location) string {
	switch form {
	case "unix":
		return strconv.FormatInt(at.Unix(), 10)
	case "unixms":
		return strconv.FormatInt(at.UnixMilli(), 10)
	case "datetime":
		return at.In(zone).Format(time.DateTime)
	case "date":
		return at.In(zone).Format(time.DateOnly)
	case "rfc1123":
		return at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	case "rfc2822":
		return at.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700")
	case "rfc3339":
		return at.UTC().Format("2006-01-02T15:04:05Z07:00")
	default: // "rfc3339ms"
		return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
}

// UnitOf returns the unit of a duration, "ms", "s" or "m", and its name.
func UnitOf(word string) (unit time.Duration, name string) {
	switch word {
	case "ms":
		return time.Millisecond, "milliseconds"
	case "m":
		return time.Minute, "minutes"
	default:
		return time.Second, "seconds"
	}
}
