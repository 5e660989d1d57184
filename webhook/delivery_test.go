package webhook_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// report has a query handled as a delivery report.
func report(t testing.TB, query string, opts ...webhook.Option) webhook.DeliveryReport {
	t.Helper()
	var in inbox[webhook.DeliveryReport]
	require.Equal(t, http.StatusOK, call(t, webhook.Delivery(in.handle, opts...), get(query)).Code, query)
	d := in.one(t)
	parsed, err := webhook.ParseDelivery(get(query), opts...)
	require.NoError(t, err)
	assert.Equal(t, d, parsed)
	return d
}

func TestEveryFactOfADeliveryReportIsRead(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "_"} {
		query := strings.ReplaceAll("^status=DELIVRD&^id=m-1&^referenceId=r-1&^timestamp=1791038663&^transactionType=sms&^from=ACME&^to=+639171234567&x=7", "^", prefix)
		d := report(t, query)
		assert.Equal(t, "m-1", d.ID)
		assert.Equal(t, "r-1", d.ReferenceID)
		assert.Equal(t, "ACME", d.From)
		assert.Equal(t, "+639171234567", d.To)
		assert.Equal(t, "sms", d.Kind)
		assert.Equal(t, webhook.StatusDelivered, d.Status)
		assert.Equal(t, "DELIVRD", d.RawStatus)
		assert.Equal(t, int64(1791038663), d.ReceivedAt.Unix())
		assert.Equal(t, "7", d.Params.Get("x"))
		assert.Equal(t, query, d.RawQuery)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	statuses := contract.Default().WebhookDelivery.Statuses
	for want, words := range map[webhook.Status][]string{
		webhook.StatusQueued: statuses.Queued, webhook.StatusSent: statuses.Sent, webhook.StatusDelivered: statuses.Delivered, webhook.StatusRead: statuses.Read,
		webhook.StatusFailed: statuses.Failed, webhook.StatusExpired: statuses.Expired, webhook.StatusRejected: statuses.Rejected,
		webhook.StatusUnknown: {"0", "2", "777", "-1", "01", "1.0", "played", "delivered!", "unknown", strings.Repeat("x", 1000)},
	} {
		require.NotEmpty(t, words)
		for _, word := range words {
			for _, form := range []string{word, strings.ToUpper(word), " " + word + "\n"} {
				d := report(t, "id=1&status="+url.QueryEscape(form))
				assert.Equal(t, want, d.Status, form)
				assert.Equal(t, form, d.RawStatus)
			}
		}
	}
	d := report(t, "id=1")
	assert.Equal(t, webhook.StatusUnknown, d.Status)
	assert.Empty(t, d.RawStatus)
	var zero webhook.Status
	assert.Equal(t, webhook.StatusUnknown, zero)

	wire := overlay(t, `{"webhook.delivery": {"statuses": {"failed": ["2", "Größe"], "delivered": ["0"]}}}`)
	assert.Equal(t, webhook.StatusFailed, report(t, "id=1&status=gr%C3%96%C3%9Fe", wire).Status)
	assert.Equal(t, webhook.StatusDelivered, report(t, "id=1&status=0", wire).Status)
	assert.Equal(t, webhook.StatusUnknown, report(t, "id=1&status=1", wire).Status, "a list replaces the default's")

	assert.Equal(t, "unknown queued sent delivered read failed expired rejected webhook.Status(8)",
		fmt.Sprint(webhook.StatusUnknown, " ", webhook.StatusQueued, " ", webhook.StatusSent, " ", webhook.StatusDelivered, " ", webhook.StatusRead, " ",
			webhook.StatusFailed, " ", webhook.StatusExpired, " ", webhook.StatusRejected, " ", webhook.Status(8)))
}

func TestAReportNeedsAnIDOrAReference(t *testing.T) {
	t.Parallel()
	assert.Empty(t, report(t, "id=1").ReferenceID)
	assert.Empty(t, report(t, "reference_id=1").ID)
	for _, query := range []string{"status=1", "id=&referenceId=+", "id=%i&referenceId=%r&status=%s", "id=%25i&status=1&from=1&to=2", ""} {
		w := call(t, webhook.Delivery(new(inbox[webhook.DeliveryReport]).handle), get(query))
		assert.Equal(t, http.StatusBadRequest, w.Code, query)
		_, err := webhook.ParseDelivery(get(query))
		require.ErrorIs(t, err, webhook.ErrNoMessage, query)
	}
}

// A service that does not know a placeholder leaves it as it is: all reports would have one ID.
func TestAPlaceholderThatWasNotReplacedStandsForNothing(t *testing.T) {
	t.Parallel()
	d := report(t, "id=m-1&referenceId=%r&status=%s&timestamp=%d&transactionType=%tr&from=%f&to=%t")
	assert.Equal(t, webhook.DeliveryReport{ID: "m-1", Params: d.Params, RawQuery: d.RawQuery}, d)
	assert.Equal(t, "%r", d.Params.Get("referenceId"))
	wire := overlay(t, `{"webhook.delivery": {"placeholders": {"reference": "{ref}", "status": ""}}}`)
	d = report(t, "id=m-1&referenceId={ref}&status=%s&transactionType=%r", wire)
	assert.Empty(t, d.ReferenceID)
	assert.Equal(t, "%s", d.RawStatus)
	assert.Equal(t, "%r", d.Kind)
}

func TestDeliveryURL(t *testing.T) {
	t.Parallel()
	const all = "status=%s&id=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t"
	secret := webhook.WithSecret("key", "a+b/c &d", "old")
	for _, tt := range []struct {
		name, base string
		opts       []webhook.Option
		want       string
	}{
		{"plain", "https://example.com/dlr", nil, "https://example.com/dlr?" + all},
		{"no path", "http://example.com", nil, "http://example.com?" + all},
		{"a port", "HTTPS://example.com:8443/", nil, "HTTPS://example.com:8443/?" + all},
		{"an address", "https://[2001:db8::1]:8443/x", nil, "https://[2001:db8::1]:8443/x?" + all},
		{"credentials", "https://user:pass@example.com/x", nil, "https://user:pass@example.com/x?" + all},
		{"a query", "https://example.com/dlr?a=%20b", nil, "https://example.com/dlr?a=%20b&" + all},
		{"an open query", "https://example.com/dlr?", nil, "https://example.com/dlr?" + all},
		{"a query that is a question mark", "https://example.com/dlr??", nil, "https://example.com/dlr??&" + all},
		{"an open parameter", "https://example.com/dlr?a=b&", nil, "https://example.com/dlr?a=b&" + all},
		{"what is no escape", "https://example.com/%tr/%zz?x=%s", nil, "https://example.com/%tr/%zz?x=%s&" + all},
		{"a secret", "https://example.com/dlr", []webhook.Option{secret}, "https://example.com/dlr?key=a%2Bb%2Fc+%26d&" + all},
		{"two secrets", "https://example.com/dlr?a=b", []webhook.Option{secret, webhook.WithSecret("k 2", "x")}, "https://example.com/dlr?a=b&key=a%2Bb%2Fc+%26d&k+2=x&" + all},
		{"a secret in the path", "https://example.com/{key}/dlr?x={key}", []webhook.Option{webhook.WithPathSecret("key", "a/b c")}, "https://example.com/a%2Fb%20c/dlr?x={key}&" + all},
		{"a secret in the path, in its place already", "https://example.com/abc/dlr", []webhook.Option{webhook.WithPathSecret("key", "abc")}, "https://example.com/abc/dlr?" + all},
		{"facts that are there", "https://example.com/dlr?dlrStatus=%s&_id=order&%66rom=x", nil, "https://example.com/dlr?dlrStatus=%s&_id=order&%66rom=x&referenceId=%r&timestamp=%d&transactionType=%tr&to=%t"},
		{
			"another contract", "https://example.com/dlr",
			[]webhook.Option{overlay(t, `{"webhook.delivery": {"params": {"id": ["message id", "id"], "from": []}, "placeholders": {"id": "{{id}}", "status": "", "kind": "<type>"}}}`)},
			"https://example.com/dlr?message+id={{id}}&referenceId=%r&timestamp=%d&transactionType=<type>&to=%t",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := webhook.DeliveryURL(tt.base, tt.opts...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestDeliveryURLRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base string
		opts []webhook.Option
	}{
		"nothing":                {"", nil},
		"a path":                 {"/hooks/hunter2", nil},
		"no host":                {"https:///hunter2", nil},
		"no host but a port":     {"https://:80/hunter2", nil},
		"no host but a user":     {"https://hunter2@/x", nil},
		"a host with braces":     {"https://{host}/hunter2", nil},
		"a host with a %":        {"https://%41/hunter2", nil},
		"a port that is none":    {"https://example.com:65536/hunter2", nil},
		"a port in words":        {"https://example.com:https/hunter2", nil},
		"half an address":        {"https://[::1/hunter2", nil},
		"another scheme":         {"ftp://example.com/hunter2", nil},
		"no scheme":              {"example.com/hunter2", nil},
		"a fragment":             {"https://example.com/hunter2#x", nil},
		"white space":            {"https://example.com/ hunter2", nil},
		"a line break":           {"https://example.com/hunter2\r\nx", nil},
		"a NUL":                  {"https://example.com/hunter2\x00", nil},
		"not UTF-8":              {"https://example.com/hunter2\xff", nil},
		"the secret is there":    {"https://example.com/x?k%65y=hunter2", []webhook.Option{webhook.WithSecret("key", "s3cret")}},
		"nothing identifies":     {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"id": "", "reference": ""}}}`)}},
		"nothing is identified":  {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"params": {"id": [], "reference": []}}}`)}},
		"a placeholder with &":   {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"id": "a&b"}}}`)}},
		"a placeholder in words": {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"kind": "the kind"}}}`)}},
	} {
		got, err := webhook.DeliveryURL(tt.base, tt.opts...)
		require.Error(t, err, name)
		assert.Empty(t, got, name)
		assert.NotContains(t, err.Error(), "hunter2", name)
		assert.NotContains(t, err.Error(), "s3cret", name)
	}
	assert.Panics(t, func() { _, _ = webhook.DeliveryURL("https://example.com", webhook.WithSecret("id", "x")) })
}

// What a service makes of the URL is what the handler takes.
func TestAServiceThatFillsInTheURLIsUnderstood(t *testing.T) {
	t.Parallel()
	opts := []webhook.Option{webhook.WithSecret("key", "a+b/c &d="), webhook.WithPathSecret("place", "p/q r")}
	callback, err := webhook.DeliveryURL("https://example.com/hooks/{place}/dlr", opts...)
	require.NoError(t, err)
	filled := strings.NewReplacer("%tr", "sms", "%s", "DELIVRD", "%i", "m-1", "%r", "order+17", "%d", "2026-10-03+14:44:23", "%f", "ACME", "%t", "+639171234567").Replace(callback)
	u, err := url.Parse(filled)
	require.NoError(t, err)
	var in inbox[webhook.DeliveryReport]
	mux := http.NewServeMux()
	mux.Handle("/hooks/{place}/dlr", webhook.Delivery(in.handle, opts...))
	r := get(u.RawQuery)
	r.URL = u
	require.Equal(t, http.StatusOK, call(t, mux, r).Code)
	d := in.one(t)
	assert.Equal(t, []any{"m-1", "order 17", "+639171234567", webhook.StatusDelivered}, []any{d.ID, d.ReferenceID, d.To, d.Status})
	assert.True(t, at().Equal(d.ReceivedAt))
	assert.NotContains(t, d.RawQuery, "key=")
}
