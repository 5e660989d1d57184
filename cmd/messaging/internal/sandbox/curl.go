package sandbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
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
	usual := http.MethodGet
	if body != "" {
		usual = http.MethodPost
	}
	if method != usual {
		b.WriteString("-X " + cli.ShellQuote(method) + " ")
	}
	b.WriteString(cli.ShellWord(target))
	for _, h := range settable(header) {
		line := cli.ShellQuote(h.Name + ": " + h.Value)
		if strings.Contains(h.Value, masked) {
			line = doubleQuote(h.Name+": "+h.Value, variableIn(h.Name))
		}
		b.WriteString(" \\\n  -H " + line)
	}
	if body != "" {
		b.WriteString(" \\\n  --data-raw " + cli.ShellQuote(body))
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
