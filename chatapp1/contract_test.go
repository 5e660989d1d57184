package chatapp1_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

func TestAFieldThatTheServiceLacksIsNeitherAskedForNorSent(t *testing.T) {
	t.Parallel()
	var body string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		_, _ = io.WriteString(w, `{"id":"m-1"}`)
	}))
	defer service.Close()
	to := chatapp1.New("channel-1", "+639171234567")
	button := chatapp1.CallToAction{Text: "Sale", URL: "https://shop.example.com/"}
	for name, tt := range map[string]struct {
		overlay string
		message chatapp1.Message
		want    string // the body, or the field that is refused
		refused bool
	}{
		"a button without a label": {
			`{"chatapp1.send": {"fields": {"caption": ""}}}`, to.CallToAction(button),
			`{"from":"channel-1","to":"+639171234567","text":"Sale","action":"https://shop.example.com/"}`, false,
		},
		"the same in a form": {
			`{"chatapp1.send": {"encoding": "form", "fields": {"caption": ""}}}`, to.CallToAction(button),
			`action=https%3A%2F%2Fshop.example.com%2F&from=channel-1&text=Sale&to=%2B639171234567`, false,
		},
		"a fallback without a sender": {
			`{"chatapp1.send": {"fields": {"fallbackFrom": ""}}}`, to.Text("Hi").WithFallback(sms.Fallback{Text: "Hi"}),
			`{"from":"channel-1","to":"+639171234567","text":"Hi","sms_text":"Hi"}`, false,
		},
		"one with a sender":             {`{"chatapp1.send": {"fields": {"fallbackFrom": ""}}}`, to.Text("Hi").WithFallback(sms.Fallback{From: "ACME", Text: "Hi"}), "Fallback.From", true},
		"a label that cannot be sent":   {`{"chatapp1.send": {"fields": {"caption": ""}}}`, to.CallToAction(chatapp1.CallToAction{Text: "Sale", Caption: "Go", URL: "https://a.example/"}), "Payload.Caption", true},
		"an image without an address":   {`{"chatapp1.send": {"fields": {"image": ""}}}`, to.Image(""), "Payload.URL", true},
		"a text without one":            {`{"chatapp1.send": {"fields": {"text": ""}}}`, to.Text(""), "Payload.Body", true},
		"a template that has no number": {`{"chatapp1.send": {"fields": {"template": ""}}}`, to.Template(chatapp1.Template{Language: "en"}), "Payload.ID", true},
	} {
		names, err := contract.Parse([]byte(tt.overlay))
		require.NoError(t, err, name)
		client, err := messaging.NewClient(service.URL, messaging.WithToken("t"), messaging.WithContract(names))
		require.NoError(t, err, name)
		body = ""
		_, err = client.ChatApp1.Send(t.Context(), tt.message)
		if !tt.refused {
			require.NoError(t, err, name)
			assert.Equal(t, tt.want, body, name)
			continue
		}
		var invalid *messaging.ValidationError
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, tt.want, invalid.Field, name)
		assert.Empty(t, body, name)
	}
}
