package codec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// milliseconds is where a bare number stops to be seconds and is milliseconds: seconds reach it in the year 5138.
const milliseconds = 1e11

// readTime reads a time in any form of the contract: seconds or milliseconds since 1970, RFC 3339, a date with a time of day,
// or 14 digits. A form without a zone is in zone. Blank is the zero time.
func readTime(word string, zone *time.Location) (time.Time, bool) {
	if at, ok := readUTC(word); ok { // the form that is met most
		return at, true
	}
	if at, err := time.Parse(time.RFC3339Nano, word); err == nil {
		return at, true
	}
	word = strings.TrimSpace(word)
	if word == "" {
		return time.Time{}, true
	}
	if strings.Trim(word, "0123456789") == "" {
		return readDigits(word, zone)
	}
	for _, form := range []string{
		"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02",
	} {
		if at, err := time.ParseInLocation(form, word, zone); err == nil {
			return at, true
		}
	}
	n, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.Abs(n) > 1e15:
		return time.Time{}, false
	case math.Abs(n) >= milliseconds:
		return time.UnixMilli(int64(math.Round(n))).UTC(), true
	default:
		return time.UnixMilli(int64(math.Round(n * 1000))).UTC(), true
	}
}

// readUTC reads 2006-01-02T15:04:05Z, with or without milliseconds, and leaves everything else to package time.
func readUTC(word string) (time.Time, bool) {
	const form = "2006-01-02T15:04:05.000Z"
	short := len(word) == len(form)-len(".000")
	if len(word) != len(form) && !short || word[len(word)-1] != 'Z' {
		return time.Time{}, false
	}
	for i := range len(word) - 1 {
		if c := form[i]; c >= '0' && c <= '9' {
			if word[i] < '0' || word[i] > '9' {
				return time.Time{}, false
			}
		} else if word[i] != c {
			return time.Time{}, false
		}
	}
	number := func(from, to int) (n int) {
		for _, c := range []byte(word[from:to]) {
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

func readDigits(word string, zone *time.Location) (time.Time, bool) {
	if len(word) == 14 && (word[:2] == "19" || word[:2] == "20") {
		at, err := time.ParseInLocation("20060102150405", word, zone)
		return at, err == nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil:
		return time.Time{}, false
	case n >= milliseconds:
		return time.UnixMilli(n).UTC(), true
	default:
		return time.Unix(n, 0).UTC(), true
	}
}

// writeTime writes a time in the form of a contract.
func writeTime(at time.Time, form contract.TimeForm, zone *time.Location) string {
	switch form {
	case contract.TimeRFC3339:
		return at.UTC().Format("2006-01-02T15:04:05Z07:00")
	case contract.TimeUnix:
		return strconv.FormatInt(at.Unix(), 10)
	case contract.TimeUnixMilli:
		return strconv.FormatInt(at.UnixMilli(), 10)
	case contract.TimeDateTime:
		return at.In(zone).Format("2006-01-02 15:04:05")
	case contract.TimeDate:
		return at.In(zone).Format("2006-01-02")
	case contract.TimeRFC3339Milli:
		return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	default:
		return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
}

// wholeNumber reads an integer, also one that is written with a fraction of nothing. Blank is 0.
func wholeNumber(word string) (int, bool) {
	word = strings.TrimSpace(word)
	if word == "" {
		return 0, true
	}
	if n, err := strconv.Atoi(word); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
