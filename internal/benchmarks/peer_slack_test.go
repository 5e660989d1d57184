package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/slack-go/slack"
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
		name:  "slack-go",
		route: route{"/api/chat.postMessage", body("send/slack.json")}, id: "1791038663.000200",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			options := []slack.Option{slack.OptionAPIURL(base + "/api/")}
			if client := httpClient(transport); client != nil {
				options = append(options, slack.OptionHTTPClient(client))
			}
			client := slack.New(token, options...)
			return sendCall(func(ctx context.Context) (string, error) {
				_, timestamp, err := client.PostMessageContext(ctx, "C024BE91L", slack.MsgOptionText(text, false))
				return timestamp, err
			})
		},
		newResult: func() any { return new(slackPosted) },
	}
}
