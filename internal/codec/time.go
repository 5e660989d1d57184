package codec

import (
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

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
