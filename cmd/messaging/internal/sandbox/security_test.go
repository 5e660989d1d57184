package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func TestIsHost(t *testing.T) {
	t.Parallel()
	machine, err := os.Hostname()
	require.NoError(t, err)
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8026}
	everywhere := &net.TCPAddr{IP: net.IPv6zero, Port: 8026}
	local := &net.TCPAddr{IP: net.IPv4(192, 168, 1, 5), Port: 8026}
	for _, tc := range []struct {
		host, listen string
		addr         net.Addr
		want         bool
	}{
		{"127.0.0.1:8026", "127.0.0.1:8026", loopback, true},
		{"localhost:8026", "127.0.0.1:8026", loopback, true},
		{"LOCALHOST.:8026", "127.0.0.1:8026", loopback, true},
		{"[::1]:8026", "127.0.0.1:8026", loopback, true},
		{"sandbox.test:8026", "sandbox.test:8026", loopback, true},
		{"127.0.0.1", "127.0.0.1:8026", loopback, false},
		{"127.0.0.1:80", "127.0.0.1:8026", loopback, false},
		{"evil.example.com:8026", "127.0.0.1:8026", loopback, false},
		{"127.0.0.1.evil.example.com:8026", "127.0.0.1:8026", loopback, false},
		{"192.168.1.5:8026", "127.0.0.1:8026", loopback, false},
		{"", "127.0.0.1:8026", loopback, false},
		{"192.168.1.5:8026", ":8026", everywhere, true},
		{"localhost:8026", ":8026", everywhere, true},
		{machine + ":8026", ":8026", everywhere, true},
		{"evil.example.com:8026", ":8026", everywhere, false},
		{"box.local:8026", "box.local:8026", local, true},
		{"evil.example.com:8026", "192.168.1.5:8026", local, false},
		{"127.0.0.1:8026", "127.0.0.1:8026", &net.UnixAddr{}, false},
	} {
		assert.Equal(t, tc.want, isHost(tc.host, tc.listen, tc.addr), "%s at %s", tc.host, tc.listen)
	}
}

func TestOtherHostsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for _, path := range []string{"/", Root, Root + "messages", "/sms/send", "/api/sms"} {
		status, text := r.do(http.MethodGet, path, "", "Host", "evil.example.com")
		assert.Equal(t, http.StatusMisdirectedRequest, status, path)
		assert.NotContains(t, text, r.pageToken, path)
	}
}

func TestPasswordIsRequired(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Password: "open sesame"})
	for _, path := range []string{Root, "/", Root + "messages", Root + "static/script.js", Root + "events", Root + "page/connect"} {
		status, text := r.do(http.MethodGet, path, "", "Authorization", "")
		assert.Equal(t, http.StatusUnauthorized, status, path)
		assert.NotContains(t, text, r.service.Token, path)
	}
	wrong := http.Request{Header: http.Header{}}
	wrong.SetBasicAuth("", "open sesam")
	right := http.Request{Header: http.Header{}}
	right.SetBasicAuth("anyone", "open sesame")
	status, _ := r.do(http.MethodGet, Root, "", "Authorization", wrong.Header.Get("Authorization"))
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = r.do(http.MethodGet, Root, "", "Authorization", right.Header.Get("Authorization"))
	assert.Equal(t, http.StatusOK, status)
	status, _ = r.do(http.MethodGet, Root+"messages", "")
	assert.Equal(t, http.StatusOK, status, "a program has the token")
	status, _ = r.do(http.MethodPost, Root+"reset", "", "Authorization", right.Header.Get("Authorization"))
	assert.Equal(t, http.StatusForbidden, status, "a browser sends the password for pages of others too")
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	assert.NoError(t, err, "the service has credentials of its own")
}

// TestPasswordIsRequiredForMissingPage: the page has the token for changes, with which a stranger could create spaces.
func TestPasswordIsRequiredForMissingPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Password: "open sesame"})
	status, text := r.do(http.MethodGet, "/nothing", "", "Authorization", "", "Accept", "text/html")
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.NotContains(t, text, r.pageToken)
	status, _ = r.do(http.MethodGet, "/nothing", "", "Accept", "text/html")
	assert.Equal(t, http.StatusNotFound, status, "a program has the token")
}

func TestChangesNeedAToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	changes := []string{
		"POST replies", "POST messages/msg-1/repeat", "POST deliveries", "POST clock", "POST faults", "DELETE faults", "PATCH settings",
		"POST reset", "POST samples", "POST messages", "DELETE faults/1", "DELETE spaces/no-such",
	}
	mutating := 0
	for operation := range described(t) {
		if !strings.HasPrefix(operation, "GET ") {
			mutating++
		}
	}
	assert.Len(t, changes, mutating, "every operation that changes something is tried")
	for _, change := range changes {
		method, path, _ := strings.Cut(change, " ")
		for _, token := range [][]string{{"Authorization", ""}, {"Authorization", "Bearer wrong"}, {"Authorization", "", tokenHeader, "wrong"}} {
			status, _ := r.do(method, Root+path, `{}`, token...)
			assert.Equal(t, http.StatusForbidden, status, change)
		}
		status, _ := r.do(method, Root+path, `{}`, "Authorization", "", tokenHeader, r.pageToken)
		assert.NotEqual(t, http.StatusForbidden, status, "%s with the token of the page", change)
		if method != http.MethodDelete {
			status, _ = r.do(method, Root+path, `{}`, "Content-Type", "text/plain")
			assert.Contains(t, []int{http.StatusUnsupportedMediaType, http.StatusOK}, status, change)
		}
	}
	status, text := r.do(http.MethodPost, Root+"replies", `{"channel":"sms","from":"1","text":"`+strings.Repeat("x", maxRequest)+`"}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, status, text)
}

// TestPagesHaveNoInlineCode looks for inline code, which the content security policy forbids.
func TestPagesHaveNoInlineCode(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	hostile(t, r)
	inline := regexp.MustCompile(`(?i)<script(\s+defer)?>|\son\w+\s*=\s*["']|\sstyle\s*=|(href|src|action)="javascript:|<style|<iframe|<object`)
	for _, path := range []string{
		"", "?channel=sms&to=639171234567", "?channel=chatapp2&to=639171234567", "page/faults", "page/traffic", "page/traffic?exchange=1", "page/connect",
	} {
		page := r.page(path)
		assert.Empty(t, inline.FindAllString(page, -1), path)
		assert.Zero(t, count(page, "<img src=x"), path)
		lacks(t, page, "\u202e", path)
		assert.Regexp(t, `<title>[^<]+</title>`, page, path)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+Root, nil)
	require.NoError(t, err)
	resp, err := r.http.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	policy := resp.Header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
	assert.NotContains(t, policy, "unsafe")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
	} {
		assert.Equal(t, want, resp.Header.Get(name), name)
	}
}

// hostile sends messages that try to be more than text.
func hostile(t *testing.T, r *rig) {
	t.Helper()
	client := r.client()
	for i, text := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, "'; alert(1)//", "javascript:alert(1)",
		"pay \u202eEDOC\u202c now", "\u2066\u2067\u200f", "a\x01b", strings.Repeat("x", 200_000), "https://example.com/?<script>",
	} {
		_, err := client.SMS.Send(t.Context(), sms.Message{From: `<b onclick="x">`, To: ana, Text: text, ReferenceID: text[:min(len(text), 20)]})
		require.NoError(t, err, i)
	}
	status, text := r.do(http.MethodPost, "/chatapp2/send", `{"messaging_product":"whatsapp","to":"`+ana+`","type":"interactive","interactive":{"type":"cta_url",
		"header":{"type":"image","image":{"link":"https://evil.example.com/x.png"}},"body":{"text":"<script>"},"action":{"name":"cta_url","parameters":{"display_text":"<b>","url":"javascript:alert(1)"}}}}`)
	require.Equal(t, http.StatusOK, status, text)
	r.messages(11)
}

func TestHostileTextsAreEscaped(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	hostile(t, r)
	page := r.page("?channel=sms&to=639171234567")
	assert.NotZero(t, count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"))
	contains(t, page, ">U+202E</span>")
	contains(t, page, ">U+0001</span>")
	contains(t, page, "200000 bytes in all")
	contains(t, page, `rel="noopener noreferrer nofollow ugc"`)
	assert.Less(t, len(page), 300_000)
	chat := r.page("?channel=chatapp2&to=639171234567")
	assert.Zero(t, count(chat, `src="https://evil`), "a medium is fetched by a click alone")
	contains(t, chat, `data-media="https://evil.example.com/x.png"`)
	assert.Zero(t, count(chat, `href="javascript`))

	status, _ := r.do(http.MethodPost, "/sms/send", `{"from":"A","to":"`+ana+`","text":"`+strings.Repeat("y", 1<<20-100)+`"}`)
	require.Equal(t, http.StatusOK, status)
	r.messages(12)
	assert.Less(t, len(r.page("?channel=sms&to=639171234567")), 300_000)
	assert.Less(t, len(r.page("?q=yyyy")), 100_000)
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	r := newRig(t, Config{Webhooks: map[string]string{
		channelSMS: hook.URL + "/hooks/sms?key=hook-secret",
	}})
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", CallbackURL: hook.URL + "/d?key=callback-secret&s=%s"})
	require.NoError(t, err)
	status, _ := r.do(http.MethodPost, "/sms/send", `{"apiKey":"`+r.service.APIKey+`","apiSecret":"`+r.service.APISecret+`","from":"A","to":"`+ana+`","text":"x"}`, "Authorization", "")
	require.Equal(t, http.StatusOK, status)
	status, _ = r.do(http.MethodPost, "/sms/send", `{"apiKey": "production-key","password":"production-\"password","text":"x"}`, "Authorization", "Bearer production-token", "Cookie", "session=production-cookie")
	require.Equal(t, http.StatusUnauthorized, status)
	_, _ = r.do(http.MethodGet, "/api/sms?apiKey=production-key&apiSecret=production-secret", "", "Authorization", "")
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`, nil)
	for _, m := range r.messages(2) {
		if m.Parts == 1 && m.Text == "Hi" {
			r.settled(m.ID, func(m Message) bool { return len(m.Calls) == 1 && !m.Pending })
		}
	}
	for i := range 6 {
		r.exchange(i + 1)
	}
	_, traffic := r.do(http.MethodGet, Root+"traffic", "")
	pages := traffic + r.page("page/traffic") + r.page("?channel=sms&to=639171234567")
	for i := range 8 {
		pages += r.page("page/traffic?exchange=" + itoa(i+1))
	}
	for _, secret := range []string{
		r.service.Token, r.service.APIKey, r.service.APISecret, "production-", "hook-secret", "callback-secret",
	} {
		lacks(t, pages, secret)
		lacks(t, pages, url.QueryEscape(secret))
	}
	contains(t, pages, "Authorization: Bearer $MESSAGING_TOKEN")
	assert.Equal(t, `{"keyword":"STOP","apiKey":"••••"}`, r.mask.body("", `{"keyword":"STOP","apiKey":"x-1"}`))
}

// TestSecretsOfManyParametersAreMasked has a secret in the last parameter of a webhook.
func TestSecretsOfManyParametersAreMasked(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]string{
		"other names":   manyParams("p%d=value-%d"),
		"the same name": manyParams("p=value-%[2]d"),
	} {
		target := "https://shop.example.com/d?" + params + "&last=callback-secret"
		mask := newMasker().forURL(target, nil)
		for _, text := range []string{
			mask.url(target), mask.body("", `{"dlrCallback":"`+target+`"}`), mask.body("text/plain", "got callback-secret"),
			mask.json(`{"a":"callback-secret"}`),
		} {
			assert.NotContains(t, text, "callback-secret", name)
		}
		lines := mask.header(http.Header{"X-Echo": {"callback-secret"}})
		assert.NotContains(t, lines[0].Value, "callback-secret", name)
	}
}

// TestURLOfManyEqualParametersIsShown has a hundred and fifty parameters with one value.
func TestURLOfManyEqualParametersIsShown(t *testing.T) {
	t.Parallel()
	target := "https://shop.example.com/delivery?s=secret-of-mine" + strings.Repeat("&part=of-it", 150)
	assert.Equal(t, "https://shop.example.com/delivery?s=••••"+strings.Repeat("&part=••••", 150), newMasker().forURL(target, nil).url(target))
}

// manyParams returns 150 parameters in a form that takes the number of each twice.
func manyParams(format string) string {
	var params []string
	for n := range 150 {
		params = append(params, fmt.Sprintf(format, n, n))
	}
	return strings.Join(params, "&")
}

// TestSecretMembersAreMasked has JSON, parts of JSON, and other texts with JSON in them.
func TestSecretMembersAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"apiKey":"x","to":"y"}`:                       `{"apiKey":"••••","to":"y"}`,
		`{ "Password" : "x\"y" , "to":"z" }`:            `{ "Password" : "••••" , "to":"z" }`,
		`{"pin":{"token":17},"to":"y"}`:                 `{"pin":{"token":"••••"},"to":"y"}`,
		`{"token":{"a":["}",{"b":"x"}]},"to":"y"}`:      `{"token":"••••","to":"y"}`,
		`{"token":["x","y"],"to":"y"}`:                  `{"token":"••••","to":"y"}`,
		`{"token":{"a":"x`:                              `{"token":"••••"`,
		`{"to":"y","secret":"x`:                         `{"to":"y","secret":"••••"`,
		`{"to":"y","secret":`:                           `{"to":"y","secret":`,
		`a "stray quote, {"apiKey":"x"} and {"auth":1`:  `a "stray quote, {"apiKey":"••••"} and {"auth":"••••"`,
		`{"\u0061pi\u004b\u0065\u0079":"x`:              `{"\u0061pi\u004b\u0065\u0079":"••••"`,
		`{"keyword":"STOP","tokens":[],"paſſword":"x"}`: `{"keyword":"STOP","tokens":"••••","paſſword":"••••"}`,
		`{"a\"key":"x"}`:                                `{"a\"key":"••••"}`,
		`no JSON`:                                       `no JSON`,
	} {
		assert.Equal(t, want, maskMembers(text))
	}
}

// TestSecretsOfLongBodiesAreMasked sends a callback URL and credentials in bodies that traffic truncates.
func TestSecretsOfLongBodiesAreMasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	long := strings.Repeat("x", maxShown-200)
	callback := `"dlrCallback":"https://shop.example.com/d?key=callback-secret-1&s=%s"`
	for i, body := range []string{
		`{"from":"ACME","to":"` + ana + `",` + callback + `,"text":"` + long + long + `"}`,
		`{"text":"` + long + `","from":"ACME","to":"` + ana + `",` + callback + `}`,
		`{"apiSecret":"` + r.service.APISecret + `",` + callback + `,"text":"` + strings.Repeat("x", maxRead) + `"}`,
	} {
		_, _ = r.do(http.MethodPost, "/sms/send", body)
		x := r.exchange(i + 1)
		lacks(t, x.RequestBody, "callback-secret")
		lacks(t, x.RequestBody, r.service.APISecret)
		assert.LessOrEqual(t, len(x.RequestBody), maxShown)
		assert.Equal(t, i == 2, x.RequestBody == "", "shown unless the service does not read it")
	}
}

// TestContentTypeErrorNamesHeader: curl -d sends a form.
func TestContentTypeErrorNamesHeader(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	status, text := r.do(http.MethodPost, Root+"faults", `{"fault":"slow","n":1}`, "Content-Type", "application/x-www-form-urlencoded")
	assert.Equal(t, http.StatusUnsupportedMediaType, status)
	assert.Contains(t, text, "add -H 'Content-Type: application/json'")
}

// TestCopiedCommandHoldsNoControlCharacters has a body that would end the quotes of a paste in a terminal and start a command.
func TestCopiedCommandHoldsNoControlCharacters(t *testing.T) {
	t.Parallel()
	x := Exchange{Direction: "request", Method: http.MethodPost, URL: "/sms/send", RequestBody: "it's\x1b[201~\nrm -rf ~\n\u009b\x03"}
	command := newRig(t, Config{}).curl(&x, "http://127.0.0.1:8026")
	for _, control := range []string{"\x1b", "\x03", "\u009b"} {
		assert.NotContains(t, command, control)
	}
	assert.Contains(t, command, `$'it\'s\x1b[201~\nrm -rf ~\n\xc2\x9b\x03'`)
	shell, err := exec.LookPath("bash")
	require.NoError(t, err, "CONTRIBUTING asks for bash")
	_, quoted, _ := strings.Cut(command, "--data-raw ")
	quoted, _, _ = strings.Cut(quoted, " \\\n")
	got, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+quoted).Output()
	require.NoError(t, err)
	assert.Equal(t, x.RequestBody, string(got))
}

// TestCrossSiteRequestsAreRefused: a form of another site could send without permission.
func TestCrossSiteRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for _, path := range []string{"/sms/send", Root + "reset"} {
		status, _ := r.do(http.MethodPost, path, "x=1", "Origin", "https://evil.example.com", "Sec-Fetch-Site", "cross-site")
		assert.Equal(t, http.StatusForbidden, status, path)
	}
	_, traffic := r.do(http.MethodGet, Root+"traffic", "")
	assert.Contains(t, traffic, `"exchanges":[]`)
	status, _ := r.do(http.MethodPost, Root+"reset", "", "Sec-Fetch-Site", "same-origin")
	assert.Equal(t, http.StatusOK, status)
}

func TestMediaAreWebURLs(t *testing.T) {
	t.Parallel()
	names := table.Of(contract.Default())
	for channel, bodies := range map[string]map[string]string{
		channelChatApp1: {"image": `{"image":"%s"}`, "video": `{"video":"%s"}`, "call_to_action": `{"image":"%s"}`},
		channelChatApp2: {
			"document": `{"document":{"link":"%s"}}`, "template": `{"template":{"components":[{"type":"header","parameters":[{"type":"document","document":{"link":"%s"}}]}]}}`,
			"interactive": `{"interactive":{"type":"button","header":{"type":"document","document":{"link":"%s"}}}}`,
		},
	} {
		for kind, body := range bodies {
			for link, want := range map[string]string{"javascript:alert(1)": "", "data:text/html,x": "", "https://example.com/a": "https://example.com/a"} {
				b := bubbleOf(messagingtest.Sent{Channel: channel, Kind: kind, Body: []byte(strings.ReplaceAll(body, "%s", link))}, names)
				require.NotNil(t, b.Media, kind)
				assert.Equal(t, want, b.Media.URL, kind)
			}
		}
	}
}
