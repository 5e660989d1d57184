package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"testing"

	line "github.com/line/line-bot-sdk-go/v8/linebot/messaging_api"
	linehook "github.com/line/line-bot-sdk-go/v8/linebot/webhook"
	"github.com/stretchr/testify/require"
)

func linePeer() peer {
	return peer{
		name:  "line-bot-sdk-go",
		route: route{"/v2/bot/message/push", body("send/line.json")}, id: "461230966842064897",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			options := []line.MessagingApiAPIOption{line.WithEndpoint(base)}
			if client := httpClient(transport); client != nil {
				options = append(options, line.WithHTTPClient(client))
			}
			client, err := line.NewMessagingApiAPI(token, options...)
			require.NoError(tb, err)
			return sendCall(func(context.Context) (string, error) {
				response, err := client.PushMessage(&line.PushMessageRequest{
					To: "U4af4980629", Messages: []line.MessageInterface{line.TextMessage{Text: text}},
				}, "")
				if err != nil || len(response.SentMessages) == 0 {
					return "", err
				}
				return response.SentMessages[0].Id, nil
			})
		},
		newResult: func() any { return new(line.PushMessageResponse) },
	}
}

func lineHook() hookPeer {
	read := func(request *linehook.CallbackRequest) bool {
		if len(request.Events) != 1 {
			return false
		}
		event, _ := request.Events[0].(linehook.MessageEvent)
		message, ok := event.Message.(linehook.TextMessageContent)
		return ok && message.Text != ""
	}
	return hookPeer{
		name: "line-bot-sdk-go", method: http.MethodPost, url: "/hook", body: body("hook/line.json"), header: "X-Line-Signature",
		sign: func(_, body string) string { return base64.StdEncoding.EncodeToString(mac(sha256.New, body)) },
		handle: func(r *http.Request) error {
			request, err := linehook.ParseRequest(hookKey, r)
			if err != nil {
				return err
			}
			return requireEvent(read(request))
		},
		read: readJSON(read),
	}
}
