package check

import (
	"fmt"
	"strings"
	"time"
)

// describe returns the text of an error, or of the first of joined errors, in one line. The library has masked values of messages in it.
func describe(err error) string {
	if err == nil {
		return "there was no error"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(first, "messaging: ")
}

// describeOffset describes a difference of time that clocks do not explain, or returns "".
func describeOffset(off time.Duration) string {
	const tolerance = 5 * time.Minute // of clocks, and of a message that waits
	side := "ahead of"
	if off < 0 {
		side = "behind"
	}
	if off.Abs() <= tolerance {
		return ""
	}
	return fmt.Sprintf("%.1f h %s", off.Abs().Hours(), side)
}

// countRows returns a number of rows as text.
func countRows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
