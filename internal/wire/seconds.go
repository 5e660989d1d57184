package wire

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration that the default contract sends as a number of seconds. It is written exactly, with a fraction where
// it is no whole number, and read back from a number, quoted or not, as the same duration.
type Seconds time.Duration

// Duration gives the duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// MarshalJSON writes the seconds as a JSON number.
func (s Seconds) MarshalJSON() ([]byte, error) { return []byte(s.text()), nil }

// EncodeValues writes the seconds as a parameter, for go-querystring. Zero is absent.
func (s Seconds) EncodeValues(key string, values *url.Values) error {
	if s != 0 {
		values.Set(key, s.text())
	}
	return nil
}

func (s Seconds) text() string {
	whole, rest := int64(s)/int64(time.Second), int64(s)%int64(time.Second)
	if rest == 0 {
		return strconv.FormatInt(whole, 10)
	}
	sign := ""
	if s < 0 {
		sign, whole, rest = "-", -whole, -rest
	}
	fraction := strconv.FormatInt(int64(time.Second)+rest, 10)[1:]
	return sign + strconv.FormatInt(whole, 10) + "." + strings.TrimRight(fraction, "0")
}

// UnmarshalJSON reads what MarshalJSON writes, and numbers in quotes. Beyond nanoseconds it rounds.
func (s *Seconds) UnmarshalJSON(raw []byte) error {
	word := string(raw)
	if word == "null" {
		return nil
	}
	if len(word) > 1 && word[0] == '"' {
		word = word[1 : len(word)-1]
	}
	if !json.Valid([]byte(word)) {
		return errNoSeconds
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(word, "-"), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" { // an exponent
		f, err := strconv.ParseFloat(word, 64)
		if err != nil || math.Abs(f) >= float64(math.MaxInt64/int64(time.Second)) {
			return errNoSeconds
		}
		*s = Seconds(math.Round(f * float64(time.Second)))
		return nil
	}
	if n > math.MaxInt64/int64(time.Second) {
		return errNoSeconds
	}
	rest, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if len(fraction) > 9 && fraction[9] >= '5' {
		rest++
	}
	total := n*int64(time.Second) + rest
	if total == math.MinInt64 && word[0] == '-' { // the shortest duration, which has no positive counterpart
		*s = math.MinInt64
		return nil
	}
	if total < 0 {
		return errNoSeconds
	}
	if word[0] == '-' {
		total = -total
	}
	*s = Seconds(total)
	return nil
}

var errNoSeconds = errors.New("want a number of seconds")
