package learn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLearnCommentsOnPlaceholders: DeliveryURL adds the default placeholders to the URL, also for a service that shows none.
func TestLearnCommentsOnPlaceholders(t *testing.T) {
	t.Parallel()
	const plain = "https://shop.example.com/dlr"
	for name, tt := range map[string]struct {
		callback   string
		hasComment bool
	}{
		"none":                {plain, true},
		"parameters":          {plain + "?id=17&s=x%3D%64", true},
		"other placeholders":  {plain + "?id={{id}}", true},
		"placeholders":        {plain + "?mid=%i&s=%s", false},
		"one placeholder":     {plain + "?mid=%i", false},
		"an escape like one":  {plain + "?q=%d0%b0", true},
		"no callback at all":  {"", false},
		"a placeholder first": {plain + "?%r=1&s=%s", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := strings.ReplaceAll(requestText, plain, tt.callback)
			got, err := learnObject(t, request+acceptedText)
			require.NoError(t, err)
			comment := at(got, "webhook.delivery", "placeholders//")
			if tt.hasComment {
				assert.Contains(t, comment, `write "" for each`)
			} else {
				assert.Nil(t, comment)
			}
			assert.Nil(t, at(got, "webhook.delivery", "placeholders"), "a wrong guess could lose reports")
		})
	}
}

// deliveryText is a report by GET.
const deliveryText = "=== delivery\nid: h-1\nreference: order-17\nstatus: DELIVRD\nmeans: delivered\n\n" +
	"GET /dlr?handle=h-1&clientRef=order-17&state=DELIVRD HTTP/1.1\n\n"

// TestLearnPlaceholders: a callback URL and a report with the same parameter show what the service replaces, and by which value.
func TestLearnPlaceholders(t *testing.T) {
	t.Parallel()
	const plain = "https://shop.example.com/dlr"
	all := func(id, reference, status string) map[string]any {
		return map[string]any{"id": id, "reference": reference, "status": status, "time": "", "kind": "", "from": "", "to": ""}
	}
	for name, tt := range map[string]struct {
		query string
		want  any // nil if the defaults stay in force
	}{
		"percent signs":            {"?handle=%H&clientRef=%R&state=%S", all("%H", "%R", "%S")},
		"braces, in another order": {"?state={state}&shop=7&handle={{id}}", all("{{id}}", "", "{state}")},
		"escaped":                  {"?handle=%7Bid%7D&state=%7Bs%7D", all("%7Bid%7D", "", "%7Bs%7D")},
		"one is the default":       {"?handle=%i&state=%S", all("%i", "", "%S")},
		"all are the default":      {"?handle=%i&state=%s", nil},
		"no message":               {"?state=%S", nil},
		"a value":                  {"?handle=17&state=%S", nil},
		"the value of the report":  {"?handle=h-1&state=%S", nil},
		"other parameters":         {"?mid=%H&s=%S", nil},
		"a word":                   {"?handle=null&state=%S", nil},
		"a fragment":               {"?state=%S&handle=%23H%23", nil},
		"twice":                    {"?handle=%H&handle=%G", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := strings.ReplaceAll(requestText, plain, plain+tt.query)
			got, err := learnObject(t, request+acceptedText+deliveryText)
			require.NoError(t, err)
			placeholders := at(got, "webhook.delivery", "placeholders")
			if tt.want == nil {
				assert.Nil(t, placeholders)
				return
			}
			assert.Equal(t, tt.want, placeholders)
			assert.Contains(t, at(got, "webhook.delivery", "placeholders//"), "not in the callback URL of the request: ")
		})
	}
	got, err := learnObject(t, strings.ReplaceAll(requestText, plain, plain+"?handle=%H&clientRef=%R")+acceptedText)
	require.NoError(t, err)
	assert.Nil(t, at(got, "webhook.delivery", "placeholders"), "no report shows what they mean")
	for _, report := range []string{
		strings.Replace(deliveryText, "GET /dlr?handle=h-1&clientRef=order-17&state=DELIVRD HTTP/1.1\n\n", `{"handle": "h-1", "clientRef": "order-17", "state": "DELIVRD"}`, 1),
		strings.Replace(deliveryText, "GET /dlr?handle=h-1&clientRef=order-17&state=DELIVRD HTTP/1.1\n\n", "POST /dlr HTTP/1.1\n\nhandle=h-1&clientRef=order-17&state=DELIVRD", 1),
	} {
		got, err = learnObject(t, strings.ReplaceAll(requestText, plain, plain+"?handle=%H&clientRef=%R")+acceptedText+report)
		require.NoError(t, err)
		assert.Nil(t, at(got, "webhook.delivery", "placeholders"), "the service may have written the body by itself")
	}
}

// TestReplayPlaceholders replays the request with other placeholders than it has.
func TestReplayPlaceholders(t *testing.T) {
	t.Parallel()
	examples, err := Parse(strings.ReplaceAll(requestText, "com/dlr", "com/dlr?handle=%H&state=%S") + acceptedText + deliveryText)
	require.NoError(t, err)
	l := newLearner(examples)
	require.NoError(t, l.learn())
	for status, want := range map[string]string{"%S": "", "%s": "the callback URL gets state=%s, which the example does not have"} {
		l.overlay.Delivery.Placeholders["status"] = status
		names, err := l.overlay.contract()
		require.NoError(t, err)
		if want == "" {
			require.NoError(t, l.replay(names).all())
		} else {
			require.ErrorContains(t, l.replay(names).all(), want)
		}
	}
}

// TestLearnFindsPOST: the test server and the sandbox then call by POST. A receiver rejects a POST by default, so a comment says so.
func TestLearnFindsPOST(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		inbound  string
		encoding any // nil if it may be a GET
	}{
		"JSON":        {`{"sender": "639170000001", "id": "in-1"}`, "json"},
		"a POST":      {"POST /in HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\nsender=639170000001&id=in-1", "form"},
		"a GET":       {"GET /in?sender=639170000001&id=in-1", nil},
		"a URL":       {"https://shop.example.com/in?sender=639170000001&id=in-1", nil},
		"a form only": {"sender=639170000001&id=in-1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, requestText+acceptedText+"=== inbound\nfrom: 639170000001\n\n"+tt.inbound)
			require.NoError(t, err)
			assert.Equal(t, tt.encoding, at(got, "webhook.sms", "encoding"))
		})
	}
	got, err := learnObject(t, requestText+acceptedText+"=== delivery\nid: h-1\nstatus: DELIVRD\n\n"+`{"mid": "h-1", "s": "DELIVRD"}`)
	require.NoError(t, err)
	assert.Equal(t, "json", at(got, "webhook.delivery", "encoding"))
}
