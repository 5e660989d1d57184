package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// Printable escapes characters that do not print, so that a text can neither move the cursor of a terminal nor break a table.
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

// Complain prints an error, line by line, and what to do about it.
func (c Console) Complain(err error) {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintln(c.Err, Printable(strings.TrimSuffix(line, "\n")))
	}
	if hint := advice(err); hint != "" {
		_, _ = fmt.Fprintln(c.Err, hint)
	}
}
