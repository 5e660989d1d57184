package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// Printable returns a text for a terminal: what does not print is escaped, so that a text can neither move the cursor nor break a
// table.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Complain prints an error, line by line.
func (c Console) Complain(err error) {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintln(c.Err, Printable(strings.TrimSuffix(line, "\n")))
	}
}
