package wire_test

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

var (
	oneNumber = regexp.MustCompile(`^\+?[0-9]{5,15}$`)
	webURL    = regexp.MustCompile(`^(?i:https?)://[^/?#]`)
)

func TestCheckRange(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 64} {
		assert.Empty(t, wire.CheckRange(n, 1, 64), n)
	}
	assert.Equal(t, "want 1 to 64, got 65", wire.CheckRange(65, 1, 64))
	assert.Equal(t, "want 1 to 64, got -1", wire.CheckRange(int64(-1), 1, 64))
	assert.Equal(t, "want 1m0s to 1h0m0s, got 30s", wire.CheckRange(30*time.Second, time.Minute, time.Hour))
	assert.Empty(t, wire.CheckRange(math.MaxInt, 1, 0))
	assert.Equal(t, "want 1 or more, got -1", wire.CheckRange(-1, 1, 0))
}

func TestCheckRecipientAccepts(t *testing.T) {
	for _, number := range []string{
		"12345", "+12345", "123456789012345", "+123456789012345", "00000", "+639171234567", "639171234567", "0917123456",
	} {
		assert.Empty(t, wire.CheckRecipient(number), "%q", number)
	}
}

func TestCheckRecipientRefuses(t *testing.T) {
	const (
		separator = "a separator: one message goes to one recipient"
		white     = "white space"
		sign      = "punctuation"
		other     = "a character that is not a digit"
	)
	for name, tt := range map[string]struct{ number, got string }{
		"nothing":                   {"", "0 digits"},
		"a plus alone":              {"+", "0 digits"},
		"four digits":               {"1234", "4 digits"},
		"a plus and four digits":    {"+1234", "4 digits"},
		"sixteen digits":            {"1234567890123456", "16 digits"},
		"a plus and sixteen digits": {"+1234567890123456", "16 digits"},
		"a thousand digits":         {strings.Repeat("7", 1000), "1000 digits"},
		"two plus signs":            {"++639171234567", sign},
		"two plus signs alone":      {"++", sign},
		"a plus inside":             {"63917+1234567", sign},
		"a plus at the end":         {"639171234567+", sign},
		"a minus in front":          {"-639171234567", sign},
		"hyphens":                   {"+63-917-123-4567", sign},
		"dots":                      {"+63.917.123.4567", sign},
		"parentheses":               {"+(63)9171234567", sign},

		"two with a comma":               {"+639171234567,+639171234568", separator},
		"two with a comma and a space":   {"639171234567, 639171234568", separator},
		"two with a semicolon":           {"639171234567;639171234568", separator},
		"two with a bar":                 {"639171234567|639171234568", separator},
		"two with a slash":               {"639171234567/639171234568", separator},
		"two with a space":               {"639171234567 639171234568", white},
		"two with a tab":                 {"639171234567\t639171234568", white},
		"two with a newline":             {"639171234567\n639171234568", white},
		"two with a carriage return":     {"639171234567\r\n639171234568", white},
		"two with a plus":                {"+639171234567+639171234568", sign},
		"two short ones with a plus":     {"12345+67890", sign},
		"two short ones with a comma":    {"12345,67890", separator},
		"two with an ampersand":          {"639171234567&639171234568", other},
		"two with an escaped comma":      {"639171234567%2C639171234568", other},
		"two with a full-width comma":    {"639171234567，639171234568", other},
		"two with an ideographic comma":  {"639171234567、639171234568", other},
		"two with an Arabic semicolon":   {"639171234567؛639171234568", other},
		"two with a no-break space":      {"639171234567\u00a0639171234568", other},
		"two with a zero-width space":    {"639171234567\u200b639171234568", other},
		"two with a line separator":      {"639171234567\u2028639171234568", other},
		"two with a NUL":                 {"639171234567\x00639171234568", other},
		"two with an underscore":         {"639171234567_639171234568", other},
		"two with a colon":               {"639171234567:639171234568", other},
		"two with the word and":          {"639171234567and639171234568", other},
		"a JSON list":                    {`["639171234567"]`, other},
		"one and a comma behind it":      {"639171234567,", separator},
		"one and a comma before it":      {",639171234567", separator},
		"one and a newline behind it":    {"639171234567\n", white},
		"one and a space before it":      {" 639171234567", white},
		"one and a space after the plus": {"+ 639171234567", white},

		"full-width digits":        {"６３９１７１２３４５６７", other},
		"a full-width plus":        {"＋639171234567", other},
		"Arabic-Indic digits":      {"٦٣٩١٧١٢٣٤٥٦٧", other},
		"one Arabic-Indic digit":   {"63917123456٧", other},
		"extended Arabic digits":   {"۶۳۹۱۷۱۲۳۴۵۶۷", other},
		"Devanagari digits":        {"६३९१७१२३४५६७", other},
		"superscript digits":       {"63917123456⁷", other},
		"letters":                  {"+63917ACME", other},
		"hexadecimal":              {"0x1234567", other},
		"an exponent":              {"6e10", other},
		"a name":                   {"ACME Corporation", other},
		"an e-mail address":        {"someone@example.com", other},
		"invalid UTF-8":            {"63917123456\xff", other},
		"a byte order mark before": {"\ufeff639171234567", other},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "want 5 to 15 digits with an optional leading +, got "+tt.got, wire.CheckRecipient(tt.number))
		})
	}
}

func TestCheckRecipientDoesNotRepeatNumber(t *testing.T) {
	for _, number := range []string{
		"9876", "+9876", "9876987698769876", "+9876 9876 9876", "9876,9876", "987698769876x", "9876９８７６", "+(98)769876",
	} {
		reason := wire.CheckRecipient(number)
		require.NotEmpty(t, reason, "%q", number)
		assert.NotContains(t, reason, number)
		assert.NotContains(t, reason, "9876")
		assert.NotContains(t, reason, "98")
	}
}

func TestCheckCallbackURLAccepts(t *testing.T) {
	for name, callback := range map[string]string{
		"none":                           "",
		"https":                          "https://example.com",
		"http":                           "http://example.com/",
		"a scheme in capitals":           "HTTPS://Example.COM/dlr",
		"a path":                         "https://example.com/dlr/sms",
		"placeholders in the query":      "https://example.com/dlr?id=%i&status=%s&date=%d&kind=%tr&from=%f&to=%t&ref=%r",
		"placeholders in the path":       "https://example.com/%s/%i/dlr",
		"a placeholder behind the host":  "https://example.com?%s",
		"a placeholder behind the slash": "https://example.com/%s",
		"a placeholder in the fragment":  "https://example.com/dlr#%tr",
		"a fragment behind the host":     "https://example.com#%s",
		"a bare percent at the end":      "https://example.com/dlr?rate=100%",
		"a percent before no hex digits": "https://example.com/dlr?a=%zz",
		"escapes":                        "https://example.com/dlr?a=%20b%2Fc",
		"plus, ampersand, equals":        "https://example.com/dlr?a=b+c&d==e&&f",
		"another URL in the query":       "https://example.com/dlr?next=http://example.org/@x:y",
		"braces and brackets":            "https://example.com/dlr?filter[id]={id}|<x>^`\\\"",
		"a port":                         "https://example.com:8443/dlr",
		"a port and a query":             "https://example.com:8443?x=%s",
		"the highest port":               "https://example.com:65535/",
		"no digits behind the colon":     "https://example.com:/dlr",
		"an IPv4 address":                "http://192.0.2.1:8080/dlr",
		"an IPv6 address":                "http://[2001:db8::1]/dlr",
		"an IPv6 address with a port":    "http://[2001:db8::1]:8080/dlr?s=%s",
		"localhost":                      "http://localhost:8080",
		"a user":                         "https://user@example.com/dlr",
		"a user and a password":          "https://user:pass@example.com:8443/dlr?s=%s",
		"an @ in the password":           "https://user:p@ss@example.com/dlr",
		"an @ in the query":              "https://example.com?to=a@b",
		"an international host":          "https://bücher.example/dlr",
		"a text that is not ASCII":       "https://example.com/статус?х=你好",
		"a very long one":                "https://example.com/" + strings.Repeat("%s", 4000),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, wire.CheckCallbackURL(callback))
		})
	}
}

func TestCheckCallbackURLRefuses(t *testing.T) {
	const (
		allowed = "want an absolute URL that begins with http:// or https:// and a host"
		white   = "white space"
		port    = "the port"
	)
	for name, tt := range map[string]struct{ callback, reason string }{
		"no scheme":                     {"example.com/dlr", allowed},
		"no scheme but slashes":         {"//example.com/dlr", allowed},
		"a path":                        {"/dlr", allowed},
		"an empty scheme":               {"://example.com", allowed},
		"one slash":                     {"https:/example.com", allowed},
		"a scheme alone":                {"https://", allowed},
		"no host before the path":       {"https:///dlr", allowed},
		"no host before the query":      {"https://?s=%s", allowed},
		"no host before the fragment":   {"https://#s", allowed},
		"no host before the port":       {"https://:8443/dlr", allowed},
		"a user without a host":         {"https://user@/dlr", allowed},
		"an @ in the user, no host":     {"https://us@er@/dlr", allowed},
		"a placeholder behind two @":    {"https://user:p@ss@%s/dlr", allowed},
		"ftp":                           {"ftp://example.com/dlr", allowed},
		"javascript":                    {"javascript://example.com/%0aalert(1)", allowed},
		"file":                          {"file:///etc/hosts", allowed},
		"a scheme that begins as http":  {"httpx://example.com", allowed},
		"a scheme with a word before":   {"x-https://example.com", allowed},
		"white space before":            {" https://example.com", allowed},
		"a newline before":              {"\nhttps://example.com", allowed},
		"white space only":              {" ", allowed},
		"a placeholder for the host":    {"https://%s/dlr", allowed},
		"a placeholder in the host":     {"https://example.%s/dlr", allowed},
		"an escape in the host":         {"https://example%2ecom/dlr", allowed},
		"a placeholder behind the user": {"https://user@%s/dlr", allowed},
		"a backslash in the host":       {`https://example.com\dlr`, allowed},
		"a quote in the host":           {`https://exa"mple.com/dlr`, allowed},
		"angle brackets in the host":    {"https://<host>/dlr", allowed},
		"braces in the host":            {"https://{host}/dlr", allowed},
		"an open IPv6 address":          {"https://[2001:db8::1/dlr", allowed},
		"an empty IPv6 address":         {"https://[]/dlr", allowed},
		"an IPv6 address and more":      {"https://[::1]x/dlr", allowed},
		"an IPv6 address, no brackets":  {"https://::1/dlr", allowed},
		"a space in the host":           {"https://exam ple.com/dlr", white},
		"a space in the path":           {"https://example.com/d lr", white},
		"a space in the query":          {"https://example.com/dlr?a=b c", white},
		"a space at the end":            {"https://example.com/dlr ", white},
		"a tab":                         {"https://example.com/d\tlr", white},
		"a newline":                     {"https://example.com/dlr\nX: y", white},
		"a newline at the end":          {"https://example.com/dlr\n", white},
		"a carriage return":             {"https://example.com/dlr\r\nX: y", white},
		"a NUL":                         {"https://example.com/dlr\x00", white},
		"a delete character":            {"https://example.com/dlr\x7f", white},
		"an escape character":           {"https://example.com/\x1b[31m", white},
		"invalid UTF-8":                 {"https://example.com/\xff", "valid UTF-8"},
		"a port above 65535":            {"https://example.com:65536/dlr", port},
		"port 0":                        {"https://example.com:0/dlr", port},
		"a line separator":              {"https://example.com/\u2028", white},
		"a control character beyond":    {"https://example.com/\u0085x", white},
		"a wide space in the host":      {"https://example\u3000.com/", white},
		"a backslash behind a user":     {`https://good.example\@evil.example/`, allowed},
		"a bracket in the host":         {"https://a]b/", allowed},
		"brackets without an address":   {"https://[zz]/", allowed},
		"dots alone":                    {"https://../", allowed},
		"a port of letters":             {"https://example.com:https/dlr", port},
		"a port of six digits":          {"https://example.com:123456/dlr", port},
		"a placeholder for the port":    {"https://example.com:%s/dlr", port},
		"a negative port":               {"https://example.com:-1/dlr", port},
		"two ports":                     {"https://example.com:80:81/dlr", port},
		"a port of an IPv6 address":     {"https://[::1]:x/dlr", port},
	} {
		t.Run(name, func(t *testing.T) {
			reason := wire.CheckCallbackURL(tt.callback)
			require.NotEmpty(t, reason)
			assert.Contains(t, reason, tt.reason)
		})
	}
}

func TestCheckCallbackURLDoesNotRepeatURL(t *testing.T) {
	for _, callback := range []string{
		"s3cr3t", "s3cr3t://example.com", "https://u:s3cr3t@/", "https://example.com/s3cr3t\n", "https://example.com:s3cr3t/",
		"https://%s3cr3t/", "https://example.com/s3cr3t\xff",
	} {
		reason := wire.CheckCallbackURL(callback)
		require.NotEmpty(t, reason, "%q", callback)
		assert.NotContains(t, reason, "s3cr3t")
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	for text, at := range map[string]int{
		"\xff": 0, "\x80": 0, "\xc3": 0, "a\xff": 1, "a\xffb\xff": 1, "é\xe9": 2, "€\ufffd\xff": 6, "😀\xf0\x9f\x98": 4,
		"\xed\xa0\x80": 0, "\xc0\x80": 0, "\xf4\x90\x80\x80": 0, "s3cr3t\xff": 6,
	} {
		assert.Equal(t, fmt.Sprintf("must be valid UTF-8, and is not at byte %d", at), wire.CheckText(text), "%q", text)
	}
	for _, text := range []string{"", "a", "\x7f", "é", "\ufffd", "\ufeff", "\U0010ffff", "😀👩‍👩‍👧", "\u2028", strings.Repeat("é", 1<<16)} {
		assert.Empty(t, wire.CheckText(text), "%q", text)
	}
}

func TestCheckTextWithAZeroByte(t *testing.T) {
	t.Parallel()
	const want = "must not have a zero byte, which databases cannot store"
	for _, text := range []string{"\x00", "a\x00b", "é\x00"} {
		assert.Equal(t, want, wire.CheckText(text), "%q", text)
	}
	for _, raw := range []string{`"\u0000"`, `"a\u0000"`, `{"a":["\\\u0000"]}`, `"\\u0000\u0000"`} {
		assert.Equal(t, want, wire.CheckJSON([]byte(raw)), raw)
	}
	for _, raw := range []string{``, `"a"`, `"\\u0000"`, `"\u0001"`, `"\\\\u0000"`, `0`} {
		assert.Empty(t, wire.CheckJSON([]byte(raw)), raw)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "https://example.com", "HTTP://example.com/a.jpg", "https://example.com/a%20b.jpg?size=%31&x=y+z#top", "https://bücher.example/图.png",
		"https://user:pass@example.com:8443/a", "https://[2001:db8::1]:8080/a", "https://example.com:/a", "https://example.com/a|b<c>", "https://example.com/?q[]={a}",
	} {
		assert.Empty(t, wire.CheckURL(address), "%q", address)
	}
	const escape = "must be a URL, and a % in it must begin an escape such as %20"
	for _, address := range []string{"https://example.com/100%", "https://example.com/%s3cr3t", "https://example.com/%zz", "https://example.com/a%2", "https://example.com/#%s"} {
		assert.Empty(t, wire.CheckCallbackURL(address), "a template may hold it: %q", address)
		assert.Equal(t, escape, wire.CheckURL(address), "%q", address)
	}
	for _, address := range []string{
		"s3cr3t", "//example.com/a", "ftp://example.com/a", "file:///s3cr3t", "data:image/png;base64,AAAA", "https://", "https:///a", "https://example.com/s3cr3t b",
		"https://example.com/\n", "https://example.com/\xff", "https://example.com:0/", "https://%s/", `https://good.example\@evil.example/`,
	} {
		reason := wire.CheckURL(address)
		require.NotEmpty(t, reason, "%q", address)
		assert.Equal(t, wire.CheckCallbackURL(address), reason, "%q", address)
		assert.NotContains(t, reason, "s3cr3t")
	}
}

// FuzzURL holds that what passes as the URL of a medium is one by net/url too, and passes as a callback.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"", "https://example.com/a%20b", "https://example.com/%", "http://[::1]:80/%zz", "https://u:p@example.com#%s", "https://a<b@example.com/", "https://", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if wire.CheckURL(address) != "" || address == "" {
			return
		}
		if reason := wire.CheckCallbackURL(address); reason != "" {
			t.Errorf("%q: no callback: %s", address, reason)
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q: %v, with the host %q and the scheme %q", address, err, u.Host, u.Scheme)
		}
	})
}

// FuzzRecipient holds the check against the rule as a regular expression, in both directions.
func FuzzRecipient(f *testing.F) {
	for _, seed := range []string{
		"", "+", "++12345", "1234", "12345", "+123456789012345", "1234567890123456", "639171234567,639171234568",
		"639171234567\n", "٦٣٩١٧١٢٣٤٥٦٧", "６３９１７１２３４５６７", "63917123456\xff", "12345\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		reason := wire.CheckRecipient(number)
		if accepted := oneNumber.MatchString(number); accepted != (reason == "") {
			t.Errorf("%q: reason %q, but matching the rule is %t", number, reason, accepted)
		}
		if reason != "" && len(number) > 4 && strings.Contains(reason, number) {
			t.Errorf("%q: repeated in %q", number, reason)
		}
	})
}

// FuzzCallback holds that nothing passes that is no web address or that could break a line.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{
		"", "https://example.com/dlr?id=%i&s=%s", "http://[::1]:80/%tr", "https://u:p@example.com", "https://%s/", "ftp://example.com",
		"https://example.com/a b", "https://example.com/\n", "https://", "http:example.com", "HTTP://a", "https://a:b:c/", "https://@/",
		"https://[", "https://]:1", "http://a\x7f", "http://a/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, callback string) {
		reason := wire.CheckCallbackURL(callback)
		if reason != "" || callback == "" {
			return
		}
		if !webURL.MatchString(callback) {
			t.Errorf("%q: accepted without http, https or a host", callback)
		}
		if !utf8.ValidString(callback) {
			t.Errorf("%q: accepted though it is not UTF-8", callback)
		}
		for i := range len(callback) {
			if c := callback[i]; c <= ' ' || c == 0x7f {
				t.Errorf("%q: accepted with the byte %#x", callback, c)
			}
		}
	})
}

func TestCheckSender(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{"", "ACME", "My Shop", "+639171234567", "21581", "Café"} {
		assert.Empty(t, wire.CheckSender(valid), valid)
	}
	for sender, want := range map[string]string{
		" \t":         "white space only",
		"ACME\n":      "must not begin or end with white space",
		" ACME":       "must not begin or end with white space",
		"ACME\u00a0":  "must not begin or end with white space",
		"AC\nME":      "must not have a control character",
		"AC\u001b[ME": "must not have a control character",
	} {
		assert.Contains(t, wire.CheckSender(sender), want)
	}
}
