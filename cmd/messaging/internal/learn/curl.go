package learn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

func isCurl(text string) bool {
	text = strings.TrimPrefix(text, "$ ")
	return strings.HasPrefix(text, "curl ") || strings.HasPrefix(text, "curl\n") || strings.HasPrefix(text, "curl\\")
}

// cutCurl cuts a text behind the curl command at its start, which ends at the first line without a quote or a backslash that continues it.
// A longer command is cut after some lines, and cannot be parsed.
func cutCurl(text string) (command, rest string) {
	const maxLines = 100
	lines := 0
	for line := range strings.Lines(text) {
		if lines++; lines > maxLines {
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
	c := &curl{request: request{header: http.Header{}}}
	words = words[1:]
	for len(words) > 0 {
		words = separateFlag(words)
		if words, err = c.take(words); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

// take reads one option with its value, or the URL, and returns the words after it.
func (c *curl) take(words []string) ([]string, error) {
	word := words[0]
	rest := words[1:]
	if !strings.HasPrefix(word, "-") || word == "-" {
		c.request.setURL(word)
		return rest, nil
	}
	name, value, hasValue := splitOption(word)
	if !takesValue(name) {
		c.flag(name)
		return rest, nil
	}
	if hasValue {
		return rest, c.option(name, value)
	}
	if len(rest) == 0 {
		return nil, fmt.Errorf("curl: %s has no value", name)
	}
	return rest[1:], c.option(name, rest[0])
}

// separateFlag splits a first word with several short options behind its first option, if that has no value: -sX becomes -s and -X.
func separateFlag(words []string) []string {
	word := words[0]
	isShort := strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--")
	if !isShort || len(word) <= 2 || takesValue(word[:2]) {
		return words
	}
	return append([]string{word[:2], "-" + word[2:]}, words[1:]...)
}

// splitOption splits a word into the name of an option and its value, if the word has one: -d, -XPOST or --request=POST.
func splitOption(word string) (name, value string, hasValue bool) {
	if strings.HasPrefix(word, "--") {
		return strings.Cut(word, "=")
	}
	name = word[:2]
	value = word[2:]
	return name, value, value != ""
}

// flag reads an option without a value.
func (c *curl) flag(name string) {
	switch name {
	case "-G", "--get":
		c.isGet = true
	case "-I", "--head":
		c.request.method = http.MethodHead
	default: // -s, --compressed and the like do not change the request
	}
}

// takesValue reports whether an option of curl has a value.
func takesValue(name string) bool {
	switch name {
	case "-X", "--request", "-H", "--header", "-u", "--user", "--url", "-d", "--data", "--data-raw", "--data-binary", "--data-ascii",
		"--data-urlencode", "--json", "-F", "--form", "--form-string", "-T", "--upload-file",
		"-A", "--user-agent", "-b", "--cookie", "-c", "--cookie-jar", "-e", "--referer", "-E", "--cert", "--key", "--cacert", "-m",
		"--max-time", "--connect-timeout", "-o", "--output", "-x", "--proxy", "--retry", "-w", "--write-out", "--oauth2-bearer":
		return true
	}
	return false
}

// option reads an option with a value.
func (c *curl) option(name, value string) error {
	r := &c.request
	switch name {
	case "-X", "--request":
		r.method = strings.ToUpper(value)
	case "-H", "--header":
		r.addHeader(value)
	case "--oauth2-bearer":
		r.header.Set("Authorization", "Bearer "+value)
	case "-u", "--user":
		r.user = value
	case "--url":
		r.setURL(value)
	case "--json":
		r.header.Set("Content-Type", "application/json")
		return c.addData(value)
	case "-d", "--data", "--data-binary", "--data-ascii":
		return c.addData(value)
	case "--data-raw":
		c.data = append(c.data, value)
	case "--data-urlencode":
		return c.addEncoded(value)
	case "-F", "--form", "--form-string":
		return fmt.Errorf("curl: %s makes a multipart form, which a contract cannot write", name)
	case "-T", "--upload-file":
		return fmt.Errorf("curl: %s uploads a file; put its text behind -d", name)
	}
	return nil
}

func (c *curl) addData(value string) error {
	if strings.HasPrefix(value, "@") {
		return fmt.Errorf("curl: -d %s names a file; put its text there", value)
	}
	c.data = append(c.data, value)
	return nil
}

// addEncoded adds the value of --data-urlencode: name=content, =content or content.
func (c *curl) addEncoded(value string) error {
	name, content, ok := strings.Cut(value, "=")
	if !ok {
		name, content = "", value
	}
	if strings.Contains(name, "@") || !ok && strings.HasPrefix(value, "@") {
		return fmt.Errorf("curl: --data-urlencode %s names a file; put its text there", value)
	}
	encoded := url.QueryEscape(content)
	if name != "" {
		encoded = name + "=" + encoded
	}
	c.data = append(c.data, encoded)
	return nil
}

// finish returns the request.
func (c *curl) finish() (*request, error) {
	r := &c.request
	if r.path == "" {
		return nil, errors.New("curl: the command has no URL")
	}
	data := strings.TrimSpace(strings.Join(c.data, "&"))
	switch {
	case c.isGet && data != "":
		r.query = strings.Trim(r.query+"&"+data, "&")
		if r.method == "" {
			r.method = http.MethodGet
		}
	case data == "" && r.method == "":
		r.method = http.MethodGet
	default:
		r.body = data
	}
	return r, nil
}
