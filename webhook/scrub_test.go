package webhook_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

func TestScrubURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/hooks/sms?" + honest + "&key=s3cret": "/hooks/sms?[81B]",
		"/hooks/sms":                           "/hooks/sms",
		"/hooks/sms?":                          "/hooks/sms",
		"/":                                    "/",
		"https://user:pass@example.com:8443/hooks/sms?a=b#hunter2": "https://example.com:8443/hooks/sms?[3B]",
		"https://example.com":                             "https://example.com",
		"/hooks/639171234567/sms":                         "/hooks/[12B]/sms",
		"/hooks/QZ5JEWNTJ4W5SXPJSAXLQJ6YPM/sms":           "/hooks/[26B]/sms",
		"/hooks/0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111/sms": "/hooks/[36B]/sms",
		"/hooks/dGhpcyBpcy_hIHNlY3JldA/sms":               "/hooks/[22B]/sms",
		"/hooks/s%20x/sms":                                "/hooks/[5B]/sms",
		"/api/v2/delivery-reports-for-sms/chatapp1":       "/api/v2/delivery-reports-for-sms/chatapp1",
		"mailto:hunter2@example.com":                      "mailto:[19B]",
	} {
		u, err := url.Parse(raw)
		require.NoError(t, err, raw)
		before := *u
		assert.Equal(t, want, webhook.ScrubURL(u), raw)
		assert.Equal(t, before, *u)
	}
	assert.Empty(t, webhook.ScrubURL(nil))
	assert.Empty(t, webhook.ScrubURL(&url.URL{}))
	assert.Equal(t, "http://exa%0D%0Ample", webhook.ScrubURL(&url.URL{Scheme: "http", Host: "exa\r\nmple"}))
}

// FuzzScrubURL: whatever the URL, nothing of its query, user and fragment shows, and a line of a log stays one.
func FuzzScrubURL(f *testing.F) {
	for _, seed := range []string{
		"/hooks/sms?from=639171234567&key=s3cret", "https://user:pass@example.com/x?y#z", "//host/%2F?", "mailto:a@b", "?", "", "/a b\n", "/\xff?\xff", "http://[::1]:80/%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		path, query, _ := strings.Cut(raw, "?")
		parsed, err := url.Parse(raw)
		if err != nil {
			parsed = &url.URL{Path: path, RawQuery: query, Fragment: query}
		}
		parsed.User = url.UserPassword("ana", "hunter2")
		got := webhook.ScrubURL(parsed)
		for _, c := range []byte(got) {
			require.Greater(t, c, byte(' '), "%q", got)
			require.Less(t, c, byte(0x7f), "%q", got)
		}
		before, after, ok := strings.Cut(got, "?")
		require.Equal(t, parsed.RawQuery != "", ok)
		if ok {
			require.Regexp(t, `^\[[0-9]+B\]$`, after)
		}
		without := *parsed
		without.RawQuery, without.User, without.Fragment, without.RawFragment = "", nil, "", ""
		require.Equal(t, before, webhook.ScrubURL(&without), "what is not shown changes nothing else")
	})
}

// FuzzDeliveryURL: a URL is refused without being told, or stays as it is, with its parameters behind it.
func FuzzDeliveryURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/dlr", "http://example.com?a=b", "https://example.com/%tr?x=%s&", "https://[::1]:80", "https://u:p@h/?status=1", "https://h/{p}", "ftp://h", "https://#", "https://h\n", "", "https://h?id&key", "http://0??", "http://h/?&", "http://h/#a", "http://h:99999",
	} {
		f.Add(seed, "s3cret")
	}
	f.Add("https://example.com", "a+b/%=&? \xff")
	f.Fuzz(func(t *testing.T, base, secret string) {
		if strings.TrimSpace(secret) == "" {
			return
		}
		opt := webhook.WithSecret("key", secret)
		got, err := hooks(opt).DeliveryURL(base)
		if err != nil {
			require.Empty(t, got)
			return
		}
		require.True(t, strings.HasPrefix(got, base))
		require.NotContains(t, got, "#")
		_, query, _ := strings.Cut(got, "?")
		r := get(strings.NewReplacer("%i", "m-1", "%r", "r-1").Replace(query))
		d, err := hooks(opt, webhook.WithLimits(1<<20, 1<<30)).ParseDelivery(r)
		require.NoError(t, err, got)
		require.NotEmpty(t, d[0].ID+d[0].ReferenceID)
	})
}
