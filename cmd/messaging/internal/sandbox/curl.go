package sandbox

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// curl returns a command that makes the request again, with the secrets as variables.
func (c *core) curl(x *Exchange, base string) string {
	return curlCommand(x.Method, x.target(base), x.RequestHeader, x.RequestBody, c.variableIn)
}

// settable returns the lines of a header that a program has to set.
func settable(header []Header) []Header {
	byItself := []string{"Host", "Content-Length", "Accept", "Accept-Encoding", "User-Agent", "Connection"}
	return slices.DeleteFunc(slices.Clone(header), func(h Header) bool { return slices.Contains(byItself, http.CanonicalHeaderKey(h.Name)) })
}

// curlCommand returns a command that makes a request. variableIn returns the name of the variable with the masked secret of a header.
func curlCommand(method, target string, header []Header, body string, variableIn func(header string) string) string {
	var b strings.Builder
	b.WriteString("curl ")
	if isPost := method == http.MethodPost && body != ""; !isPost && method != http.MethodGet {
		b.WriteString("-X " + shellQuote(method) + " ")
	}
	b.WriteString(shellWord(target))
	for _, h := range settable(header) {
		line := shellQuote(h.Name + ": " + h.Value)
		if strings.Contains(h.Value, masked) {
			line = doubleQuote(h.Name+": "+h.Value, variableIn(h.Name))
		}
		b.WriteString(" \\\n  -H " + line)
	}
	if body != "" {
		b.WriteString(" \\\n  --data-raw " + shellQuote(body))
	}
	return b.String()
}

// doubleQuote quotes a text for a shell in double quotes, with a variable for each masked secret.
func doubleQuote(text, variable string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "\n", " ")
	var parts []string
	for part := range strings.SplitSeq(text, masked) {
		parts = append(parts, escape.Replace(part))
	}
	return `"` + strings.Join(parts, "$"+variable) + `"`
}

// shellQuote quotes a text for a POSIX shell. A text with control characters, which could end a paste and start another command, gets the
// quotes $'…' of bash, zsh and newer shells.
func shellQuote(text string) string {
	control := regexp.MustCompile(`[^\P{Cc}\n\t]`)
	if !control.MatchString(text) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	text = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(text)
	return "$'" + control.ReplaceAllStringFunc(text, func(c string) string {
		return strings.ReplaceAll(fmt.Sprintf(" % x", c), " ", `\x`)
	}) + "'"
}
