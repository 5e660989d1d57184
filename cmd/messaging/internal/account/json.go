package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// writeJSON writes a value as JSON in one line. What does not print is escaped in its strings.
func writeJSON(to io.Writer, value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	escaped := make([]byte, 0, len(line)+1)
	for _, r := range string(line) {
		switch {
		case strconv.IsGraphic(r):
			escaped = utf8.AppendRune(escaped, r)
		case r > 0xffff:
			const half = 0x400
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, 0xd800+(r-0x10000)/half, 0xdc00+(r-0x10000)%half)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	_, err := to.Write(append(escaped, '\n'))
	return err
}
