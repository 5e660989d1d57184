package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/webhook"
)

func TestPlainText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content webhook.Content
		want    string
	}{
		"a text":              {webhook.Text{Body: "Stop"}, "Stop"},
		"a caption":           {webhook.Media{Kind: webhook.MediaImage, URL: "https://example.com/a.png", Caption: "Stop"}, "Stop"},
		"a picture alone":     {webhook.Media{Kind: webhook.MediaImage, ID: "7"}, ""},
		"a button":            {webhook.Reply{Kind: webhook.ReplyButton, ID: "stop-1", Title: "Stop"}, "Stop"},
		"a template's button": {webhook.Reply{Kind: webhook.ReplyTemplateButton, ID: "P", Title: "Stop"}, "Stop"},
		"a row":               {webhook.Reply{Kind: webhook.ReplyList, ID: "1", Title: "Stop", Description: "no more offers"}, "Stop"},
		"an order":            {webhook.Order{Text: "Today, please"}, "Today, please"},
		"an edit":             {webhook.Edit{MessageID: "m-1", Content: webhook.Text{Body: "Stop"}}, "Stop"},
		"a reaction":          {webhook.Reaction{MessageID: "m-1", Emoji: "👍"}, ""},
		"a place":             {webhook.Location{Name: "Stop"}, ""},
		"a system notice":     {webhook.System{Body: "Stop"}, ""},
		"nothing":             {nil, ""},
	} {
		assert.Equal(t, tt.want, webhook.ChatMessage{Content: tt.content}.PlainText(), name)
	}
	m := chat(t, "from=1111&type=image&mediaUrl=https%3A%2F%2Fexample.com%2Fa.png&caption=Look")
	assert.Equal(t, "Look", m.PlainText())
}
