package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// curl returns a command that makes the request again, with the secrets as variables.
func (x *Exchange) curl(base string) string {
	skipped := []string{"host", "content-length", "accept-encoding", "user-agent", "connection"}
	header := slices.DeleteFunc(slices.Clone(x.RequestHeader), func(h Header) bool { return slices.Contains(skipped, strings.ToLower(h.Name)) })
	return curlCommand(x.Method, x.target(base), header, x.RequestBody)
}

// curlCommand returns a command that makes a request.
func curlCommand(method, target string, header []Header, body string) string {
	var b strings.Builder
	b.WriteString("curl ")
	if isPost := method == http.MethodPost && body != ""; !isPost && method != http.MethodGet {
		b.WriteString("-X " + shellQuote(method) + " ")
	}
	b.WriteString(shellWord(target))
	for _, h := range header {
		line := shellQuote(h.Name + ": " + h.Value)
		if strings.Contains(h.Value, masked) {
			line = `"` + doubleQuoted(h.Name+": "+strings.ReplaceAll(h.Value, masked, "\x00")) + `"`
		}
		b.WriteString(" \\\n  -H " + line)
	}
	if body != "" {
		b.WriteString(" \\\n  --data-raw " + shellQuote(body))
	}
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
