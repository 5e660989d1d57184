package codec

import (
	"math"
	"strconv"
	"strings"
)

// wholeNumber reads an integer, possibly with a fraction of zeros. Blank is 0.
func wholeNumber(word string) (int64, bool) {
	word = strings.TrimSpace(word)
	if word == "" {
		return 0, true
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(word, 64)
	isInRange := f >= -1<<63 && f < 1<<63
	if err != nil || !isInRange || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// wholeInt is wholeNumber for an int, which has 32 bits on some processors.
func wholeInt(word string) (int, bool) {
	n, ok := wholeNumber(word)
	if !ok || int64(int(n)) != n {
		return 0, false
	}
	return int(n), true
}
