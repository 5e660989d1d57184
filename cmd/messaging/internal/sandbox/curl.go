package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// curl returns a command that makes the request again, with the secrets as variables.
func (x *Exchange) curl(base string) string {
	var b strings.Builder
	b.WriteString("curl -i")
	if x.Method != http.MethodGet {
		b.WriteString(" -X " + shellQuote(x.Method))
	}
	for _, h := range x.RequestHeader {
		switch strings.ToLower(h.Name) {
		case "host", "content-length", "accept-encoding", "user-agent", "connection":
			continue
		}
		if strings.Contains(h.Value, masked) {
			b.WriteString(` \` + "\n  -H \"" + doubleQuoted(h.Name+": "+strings.ReplaceAll(h.Value, masked, "\x00")) + `"`)
			continue
		}
		b.WriteString(" \\\n  -H " + shellQuote(h.Name+": "+h.Value))
	}
	if x.RequestBody != "" {
		b.WriteString(" \\\n  --data-raw " + shellQuote(x.RequestBody))
	}
	b.WriteString(" \\\n  " + shellQuote(x.target(base)))
	return b.String()
}

// doubleQuoted escapes a text for double quotes of a shell; NUL stands for the token.
func doubleQuoted(text string) string {
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "\n", " ").Replace(text)
	return strings.ReplaceAll(text, "\x00", "$MESSAGING_TOKEN")
}

// shellQuote quotes a text for a POSIX shell. One with control characters, which could end a paste and begin a command of its own, is
// quoted as bash, zsh and newer shells read it.
func shellQuote(text string) string {
	isPlain := func(r rune) bool { return r == '\n' || r == '\t' || !unicode.IsControl(r) }
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for character := range strings.SplitSeq(text, "") {
		switch r, _ := utf8.DecodeRuneInString(character); {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\'', r == '\\':
			b.WriteString(`\` + character)
		case isPlain(r):
			b.WriteString(character)
		default:
			for _, c := range []byte(character) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
	}
	return "$'" + b.String() + "'"
}
