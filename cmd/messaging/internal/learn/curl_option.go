package learn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

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

// setURL takes the URL. Its error leaves out whatever may be a credential: the user and the query of a second URL, and a word that is no URL, such
// as the token in -H Authorization: TOKEN.
func (c *curl) setURL(value string) error {
	if c.request.path == "" {
		c.request.setURL(value)
		return nil
	}
	second, err := url.Parse(value)
	if err != nil || second.Host == "" {
		return errors.New("a word that is neither an option nor the URL: put a value with spaces into quotes, and a value of an unknown option " +
			"into one word, as in --option=value")
	}
	return fmt.Errorf("a second URL, %s://%s%s: want one request", second.Scheme, second.Host, second.Path)
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
	name, content, hasName := strings.Cut(value, "=")
	if !hasName {
		name = ""
		content = value
	}
	isFile := strings.Contains(name, "@") || !hasName && strings.HasPrefix(value, "@")
	if isFile {
		return fmt.Errorf("%s names a file; put its text there", value)
	}
	encoded := url.QueryEscape(content)
	if name != "" {
		encoded = name + "=" + encoded
	}
	return c.addRaw(encoded)
}
