package main

import (
	"context"
	"net/http"

	"github.com/slack-go/slack"
)

const (
	slackID       = "1791038663.000200"
	slackResponse = `{"ok":true,"channel":"C024BE91L","ts":"` + slackID + `","message":{"text":"Your order 17 is ready",` +
		`"username":"ecto1","bot_id":"B123ABC456","attachments":[],"type":"message","subtype":"bot_message","ts":"` + slackID + `"}}`
)

// slackPosted is the type that the client decodes into, which it does not export.
type slackPosted struct {
	Channel            string        `json:"channel"`
	Timestamp          string        `json:"ts"`
	MessageTimeStamp   string        `json:"message_ts"`
	ScheduledMessageID string        `json:"scheduled_message_id,omitempty"`
	Text               string        `json:"text"`
	Message            slack.Message `json:"message"`
	slack.SlackResponse
}

func slackPeer() peer {
	return peer{
		name: "slack-go", module: "github.com/slack-go/slack", does: "PostMessageContext: a chat message",
		route: route{path: "/api/chat.postMessage", response: slackResponse}, id: slackID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			options := []slack.Option{slack.OptionAPIURL(base + "/api/")}
			if client := httpClient(transport); client != nil {
				options = append(options, slack.OptionHTTPClient(client))
			}
			client := slack.New(token, options...)
			return func(ctx context.Context) (string, error) {
				_, timestamp, err := client.PostMessageContext(ctx, "C024BE91L", slack.MsgOptionText(text, false))
				return timestamp, err
			}, nil
		},
		decoded: func() any { return new(slackPosted) },
	}
}
