package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"

	line "github.com/line/line-bot-sdk-go/v8/linebot/messaging_api"
	linehook "github.com/line/line-bot-sdk-go/v8/linebot/webhook"
)

const (
	lineID       = "461230966842064897"
	lineResponse = `{"sentMessages":[{"id":"` + lineID + `","quoteToken":"IStG5h1Tz7bsUfzGcrvkCQoKqBNLKlOzZ2fM9u3kSqk"}]}`
)

func linePeer() peer {
	return peer{
		name: "line-bot-sdk-go", module: "github.com/line/line-bot-sdk-go/v8", does: "PushMessage: a chat message",
		route: route{path: "/v2/bot/message/push", response: lineResponse}, id: lineID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			options := []line.MessagingApiAPIOption{line.WithEndpoint(base)}
			if client := httpClient(transport); client != nil {
				options = append(options, line.WithHTTPClient(client))
			}
			client, err := line.NewMessagingApiAPI(token, options...)
			if err != nil {
				return nil, err
			}
			return func(context.Context) (string, error) {
				response, err := client.PushMessage(&line.PushMessageRequest{
					To: "U4af4980629", Messages: []line.MessageInterface{line.TextMessage{Text: text}},
				}, "")
				if err != nil || len(response.SentMessages) == 0 {
					return "", err
				}
				return response.SentMessages[0].Id, nil
			}, nil
		},
		decoded: func() any { return new(line.PushMessageResponse) },
	}
}

const lineBody = `{"destination":"U0123456789abcdef","events":[{"type":"message","message":{"type":"text","id":"14353798921116","quoteToken":"q3Plxr4AgKd",` +
	`"text":"Hello there! Is it still available?"},"webhookEventId":"01H810YECXQQZ37VAXPF6H9E6T","deliveryContext":{"isRedelivery":false},` +
	`"timestamp":1791038663186,"source":{"type":"user","userId":"U80696558e1aa831"},"replyToken":"38ef843bde154d9b91c21320ffd17a0f","mode":"active"}]}`

func lineHook() hookPeer {
	read := func(request *linehook.CallbackRequest) error {
		if len(request.Events) != 1 {
			return errNoEvent
		}
		event, ok := request.Events[0].(linehook.MessageEvent)
		if !ok {
			return errNoEvent
		}
		message, ok := event.Message.(linehook.TextMessageContent)
		return understood(ok && message.Text != "")
	}
	return hookPeer{
		name: "line-bot-sdk-go", method: http.MethodPost, url: "/hook", body: lineBody,
		sign: func(r *http.Request, body []byte) {
			r.Header.Set("X-Line-Signature", base64.StdEncoding.EncodeToString(mac(sha256.New, string(body))))
		},
		handle: func(r *http.Request) error {
			request, err := linehook.ParseRequest(hookKey, r)
			if err != nil {
				return err
			}
			return read(request)
		},
		matched: func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if err := sameMAC(r.Header.Get("X-Line-Signature"), base64.StdEncoding.DecodeString, mac(sha256.New, string(body))); err != nil {
				return err
			}
			var request linehook.CallbackRequest
			if err := json.Unmarshal(body, &request); err != nil {
				return err
			}
			return read(&request)
		},
	}
}
