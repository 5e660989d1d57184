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

// Note prints a text on standard error, each of its lines as Printable returns it.
func (c Console) Note(text string) {
	for line := range strings.Lines(text) {
		_, _ = fmt.Fprintln(c.Err, Printable(strings.TrimSuffix(line, "\n")))
	}
}

// Complain prints an error, line by line, and what to do about it.
func (c Console) Complain(err error) {
	c.Note(err.Error())
	if hint := advice(err); hint != "" {
		_, _ = fmt.Fprintln(c.Err, hint)
	}
}
