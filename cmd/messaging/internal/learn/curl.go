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
	options map[string]option
	data    []string
	isGet   bool // -G: the data goes into the query
}

// parseCurl reads a curl command.
func parseCurl(text string) (*request, error) {
	words, err := shellWords(strings.TrimPrefix(text, "$ "))
	if err != nil {
		return nil, err
	}
	c := &curl{request: request{header: http.Header{}}, options: options()}
	words = words[1:]
	for len(words) > 0 {
		words = c.separateFlag(words)
		if words, err = c.take(words); err != nil {
			return nil, fmt.Errorf("curl: %w", err)
		}
	}
	return c.finish()
}

// take reads one option with its value, or the URL, and returns the words after it.
func (c *curl) take(words []string) (rest []string, err error) {
	word := words[0]
	rest = words[1:]
	if !strings.HasPrefix(word, "-") || word == "-" {
		return rest, c.setURL(word)
	}
	name, value, hasValue := splitOption(word)
	read, takesValue := c.options[name]
	if !takesValue {
		c.flag(name)
		return rest, nil
	}
	if !hasValue {
		if len(rest) == 0 {
			return nil, fmt.Errorf("%s has no value", name)
		}
		value = rest[0]
		rest = rest[1:]
	}
	if err := read(c, value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rest, nil
}

// separateFlag splits a first word with several short options behind its first option, if that has no value: -sX becomes -s and -X.
func (c *curl) separateFlag(words []string) []string {
	word := words[0]
	isShort := strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--")
	if !isShort || len(word) <= 2 {
		return words
	}
	if _, takesValue := c.options[word[:2]]; takesValue {
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

// An option is what an option of curl with a value does to the request.
type option func(c *curl, value string) error

// options returns the options of curl that take a value.
func options() map[string]option {
	multipart := refuse("makes a multipart form, which a contract cannot write")
	upload := refuse("uploads a file; put its text behind -d")
	config := refuse("names a file with options; put them there")
	all := map[string]option{
		"-X": (*curl).setMethod, "--request": (*curl).setMethod,
		"-H": (*curl).addHeader, "--header": (*curl).addHeader,
		"-u": (*curl).setUser, "--user": (*curl).setUser,
		"--oauth2-bearer": (*curl).setBearer,
		"--url":           (*curl).setURL,

		"-d": (*curl).addData, "--data": (*curl).addData, "--data-binary": (*curl).addData, "--data-ascii": (*curl).addData,
		"--data-raw":       (*curl).addRaw,
		"--data-urlencode": (*curl).addEncoded,
		"--json":           (*curl).addJSON,

		"-F": multipart, "--form": multipart, "--form-string": multipart,
		"-T": upload, "--upload-file": upload,
		"-K": config, "--config": config,
		"--url-query":      refuse("put its parameters into the URL"),
		"--request-target": refuse("put its path into the URL"),
		"--aws-sigv4":      refuse("signs the request, which a contract cannot do"),
	}
	for name := range strings.FieldsSeq(ignoredOptions) {
		all[name] = ignore
	}
	return all
}

// ignoredOptions are options with a value that a contract does not need.
const ignoredOptions = `
	-A --user-agent -b --cookie -c --cookie-jar -e --referer -r --range -z --time-cond --etag-compare --etag-save
	-o --output --output-dir --create-file-mode -D --dump-header -w --write-out --stderr --trace --trace-ascii --trace-config --libcurl
	-m --max-time --connect-timeout --expect100-timeout --happy-eyeballs-timeout-ms --keepalive-time --keepalive-cnt
	--retry --retry-delay --retry-max-time --rate --limit-rate -Y --speed-limit -y --speed-time -C --continue-at --max-filesize --max-redirs --parallel-max
	--resolve --connect-to --interface --local-port --dns-interface --dns-ipv4-addr --dns-ipv6-addr --dns-servers --doh-url
	--unix-socket --abstract-unix-socket --alt-svc --hsts --proto --proto-default --proto-redir --haproxy-clientip --ip-tos --vlan-priority
	-E --cert --cert-type --key --key-type --pass --cacert --capath --crlfile --pinnedpubkey --ciphers --tls13-ciphers --tls-max --curves --ech
	--tlsauthtype --tlsuser --tlspassword --engine --egd-file --random-file
	--netrc-file --login-options --sasl-authzid --service-name --delegation
	-x --proxy --proxy1.0 --preproxy --noproxy -U --proxy-user --proxy-header --proxy-service-name --proxy-pass --proxy-pinnedpubkey
	--proxy-cacert --proxy-capath --proxy-cert --proxy-cert-type --proxy-key --proxy-key-type --proxy-crlfile --proxy-ciphers --proxy-tls13-ciphers
	--proxy-tlsauthtype --proxy-tlsuser --proxy-tlspassword --socks4 --socks4a --socks5 --socks5-hostname --socks5-gssapi-service`

func ignore(*curl, string) error { return nil }

func refuse(why string) option {
	return func(*curl, string) error { return errors.New(why) }
}

func (c *curl) setMethod(value string) error {
	c.request.method = strings.ToUpper(value)
	return nil
}

func (c *curl) addHeader(value string) error {
	c.request.addHeader(value)
	return nil
}

func (c *curl) setBearer(value string) error {
	c.request.header.Set("Authorization", "Bearer "+value)
	return nil
}

func (c *curl) setUser(value string) error {
	c.request.user = value
	return nil
}

// setURL takes the URL. Its error leaves out the query, which may have credentials.
func (c *curl) setURL(value string) error {
	if c.request.path != "" {
		place, _, _ := strings.Cut(value, "?")
		return fmt.Errorf("a second URL, %s: want one request", place)
	}
	c.request.setURL(value)
	return nil
}

func (c *curl) addJSON(value string) error {
	c.request.header.Set("Content-Type", "application/json")
	return c.addData(value)
}

func (c *curl) addRaw(value string) error {
	c.data = append(c.data, value)
	return nil
}

func (c *curl) addData(value string) error {
	if strings.HasPrefix(value, "@") {
		return fmt.Errorf("%s names a file; put its text there", value)
	}
	return c.addRaw(value)
}

// addEncoded adds the value of --data-urlencode: name=content, =content or content.
func (c *curl) addEncoded(value string) error {
	name, content, ok := strings.Cut(value, "=")
	if !ok {
		name, content = "", value
	}
	if strings.Contains(name, "@") || !ok && strings.HasPrefix(value, "@") {
		return fmt.Errorf("%s names a file; put its text there", value)
	}
	encoded := url.QueryEscape(content)
	if name != "" {
		encoded = name + "=" + encoded
	}
	return c.addRaw(encoded)
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
