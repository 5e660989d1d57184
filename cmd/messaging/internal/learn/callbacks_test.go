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
