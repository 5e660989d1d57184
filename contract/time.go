package contract

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// milliseconds is where a bare number stops to be seconds and is milliseconds: seconds reach it in the year 5138.
const milliseconds = 1e11

// ParseTime reads a time as rows of a listing and webhooks carry it, and tells whether it could be read. The forms are
// this library's reading of what such services send; the specification of the service names none. They are:
//
//	1791038663                       seconds since 1970-01-01 UTC
//	1791038663000                    milliseconds, from 1e11 on
//	1791038663.25                    either, with a fraction of at most milliseconds
//	2026-10-03T14:44:23.186+08:00    RFC 3339, with any fraction or none, any offset or Z; also +0800, or a space for the T
//	2026-10-03 14:44:23.186          a date with a time of day, with or without fraction and seconds; also with a T
//	2026-10-03                       the beginning of a day
//	20261003144423                   14 digits that begin with 19 or 20: a date with a time of day, not milliseconds
//
// A form that has no offset is in zone; nil is UTC. White space around the text does not count. A blank text is the
// zero time, and counts as read. Where the result is false the time is the zero time. Times of the same instant may be in
// different locations: compare them with Equal.
func ParseTime(text string, zone *time.Location) (time.Time, bool) {
	if at, ok := parseUTC(text); ok { // the form that is met most
		return at, true
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, true
	}
	if zone == nil {
		zone = time.UTC
	}
	if n, ok := parseNumber(text); ok {
		if len(text) == len(compact) && (text[:2] == "19" || text[:2] == "20") {
			at, err := time.ParseInLocation(compact, text, zone)
			return at, err == nil
		}
		return fromNumber(n), true
	}
	if at, ok := parseDate(text, zone); ok {
		return at, true
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.Abs(n) > 1e15:
		return time.Time{}, false
	case math.Abs(n) >= milliseconds:
		return time.UnixMilli(int64(math.Round(n))).UTC(), true
	default:
		return time.UnixMilli(int64(math.Round(n * 1000))).UTC(), true
	}
}

// parseDate reads the forms that begin with 2006-01-02. It tries those alone that text may have: each that fails costs an
// error of package time.
func parseDate(text string, zone *time.Location) (time.Time, bool) {
	const date = len(time.DateOnly)
	if len(text) < date || text[4] != '-' || text[7] != '-' {
		return time.Time{}, false
	}
	forms := [...]string{"2006-01-02", ""}
	if len(text) > date {
		offset := strings.ContainsAny(text[date+1:], "Z+-")
		switch {
		case text[date] == 'T' && offset:
			forms = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700"}
		case text[date] == 'T':
			forms = [...]string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04"}
		case offset:
			forms = [...]string{"2006-01-02 15:04:05.999999999Z07:00", ""}
		default:
			forms = [...]string{"2006-01-02 15:04:05.999999999", "2006-01-02 15:04"}
		}
	}
	at, err := time.ParseInLocation(forms[0], text, zone)
	if err != nil && forms[1] != "" {
		at, err = time.ParseInLocation(forms[1], text, zone)
	}
	return at, err == nil
}

// parseUTC reads 2006-01-02T15:04:05Z, with or without milliseconds, and leaves everything else to package time.
func parseUTC(text string) (time.Time, bool) {
	const form = "2006-01-02T15:04:05.000Z"
	short := len(text) == len(form)-len(".000")
	if len(text) != len(form) && !short || text[len(text)-1] != 'Z' {
		return time.Time{}, false
	}
	for i := range len(text) - 1 {
		if c := form[i]; c >= '0' && c <= '9' {
			if text[i] < '0' || text[i] > '9' {
				return time.Time{}, false
			}
		} else if text[i] != c {
			return time.Time{}, false
		}
	}
	number := func(from, to int) (n int) {
		for _, c := range []byte(text[from:to]) {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), time.Month(number(5, 7)), number(8, 10)
	hour, minute, second, nanosecond := number(11, 13), number(14, 16), number(17, 19), 0
	if !short {
		nanosecond = number(20, 23) * int(time.Millisecond)
	}
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	at := time.Date(year, month, day, hour, minute, second, nanosecond, time.UTC)
	return at, at.Day() == day // Date makes the 31st of a shorter month one of the next
}

// compact is the form of 14 digits.
const compact = "20060102150405"

// parseNumber reads digits, at least one and as many as an int64 holds.
func parseNumber(text string) (int64, bool) {
	const most = len("9223372036854775807")
	if text == "" {
		return 0, false
	}
	if text = strings.TrimLeft(text, "0"); len(text) > most {
		return 0, false
	}
	var n uint64
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + uint64(digit)
	}
	return int64(n), n <= math.MaxInt64
}

func fromNumber(n int64) time.Time {
	if n >= milliseconds {
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}
