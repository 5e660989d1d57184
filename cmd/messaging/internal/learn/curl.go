package learn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func isCurl(text string) bool {
	text = strings.TrimPrefix(text, "$ ")
	return strings.HasPrefix(text, "curl ") || strings.HasPrefix(text, "curl\n") || strings.HasPrefix(text, "curl\\")
}

// cutCurl cuts a text after the curl command at its start, which ends at the first line without a quote or a backslash that continues it.
// A longer command is cut after some lines, and cannot be parsed.
func cutCurl(text string) (command, rest string) {
	const maxLines = 100
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		if lines > maxLines {
			break
		}
		command += line
		_, err := shellWords(command)
		isContinued := strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`)
		if err == nil && !isContinued {
			break
		}
	}
	return command, strings.TrimSpace(text[len(command):])
}

// curl is the state of reading a curl command.
type curl struct {
	words   []string // that are left
	options map[string]option
	request request
	data    []string
	isGet   bool // -G: the data goes into the query
}

// parseCurl reads a curl command.
func parseCurl(text string) (*request, error) {
	words, err := shellWords(strings.TrimPrefix(text, "$ "))
	if err != nil {
		return nil, err
	}
	c := &curl{words: words[1:], options: options(), request: request{header: http.Header{}}}
	for len(c.words) > 0 {
		if err := c.next(); err != nil {
			return nil, fmt.Errorf("curl: %w", err)
		}
	}
	return c.finish()
}

// next reads an option with its value, or the URL.
func (c *curl) next() error {
	word := c.words[0]
	c.words = c.words[1:]
	switch {
	case strings.HasPrefix(word, "--"):
		name, value, hasValue := strings.Cut(word, "=")
		return c.read(name, value, hasValue)
	case strings.HasPrefix(word, "-") && word != "-":
		return c.readShort(word[:2], word[2:])
	default:
		return c.setURL(word)
	}
}

// readShort reads a short option, and the rest of its word: the value, as in -XPOST, or further options, as in -sX POST.
func (c *curl) readShort(name, rest string) error {
	_, takesValue := c.options[name]
	if !takesValue && rest != "" {
		c.words = slices.Insert(c.words, 0, "-"+rest)
		rest = ""
	}
	return c.read(name, rest, rest != "")
}

// read reads an option. If it takes a value and its word has none, the next word is the value.
func (c *curl) read(name, value string, hasValue bool) error {
	apply, takesValue := c.options[name]
	if !takesValue {
		c.flag(name)
		return nil
	}
	if !hasValue {
		if len(c.words) == 0 {
			return fmt.Errorf("%s has no value", name)
		}
		value = c.words[0]
		c.words = c.words[1:]
	}
	if err := apply(c, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// finish returns the request.
func (c *curl) finish() (*request, error) {
	r := &c.request
	if r.path == "" {
		return nil, errors.New("curl: the command has no URL")
	}
	data := strings.TrimSpace(strings.Join(c.data, "&"))
	if c.isGet {
		r.query = joinQuery(r.query, data)
	} else {
		r.body = data
	}
	if r.method == "" && (c.isGet || data == "") {
		r.method = http.MethodGet
	}
	return r, nil
}

// joinQuery adds data to a query.
func joinQuery(query, data string) string {
	if data == "" {
		return query
	}
	return strings.Trim(query+"&"+data, "&")
}
