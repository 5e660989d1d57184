package main

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	svix "github.com/svix/svix-webhooks/go"
)

// eventBody is a small event, such as a service sends that signs what it sends.
const eventBody = `{"id":"evt_0123456789abcdef","object":"event","type":"message.delivered","created_at":1791038663,"data":{"id":"` + messageID + `",` +
	`"from":"639171234567","to":"21581","text":"Hello there! Is it still available?","parts":1,"price":"0.50","operator":"OP_1","country":"PHL",` +
	`"created":"2026-10-03T14:44:23.186Z","sent":"2026-10-03T14:44:24.002Z"}}`

type plainEvent struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		ID       string    `json:"id"`
		From     string    `json:"from"`
		To       string    `json:"to"`
		Text     string    `json:"text"`
		Parts    int       `json:"parts"`
		Price    string    `json:"price"`
		Operator string    `json:"operator"`
		Country  string    `json:"country"`
		Created  time.Time `json:"created"`
		Sent     time.Time `json:"sent"`
	} `json:"data"`
}

func svixHook() hookPeer {
	verifier, verifierErr := svix.NewWebhookRaw([]byte(hookKey))
	return hookPeer{
		name: "svix, with json.Unmarshal", method: http.MethodPost, url: "/hook", body: eventBody, sign: signStandard,
		handle: func(r *http.Request) error {
			if verifierErr != nil {
				return verifierErr
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if err := verifier.Verify(body, r.Header); err != nil {
				return err
			}
			var event plainEvent
			if err := json.Unmarshal(body, &event); err != nil {
				return err
			}
			return understood(event.Data.Text != "")
		},
		matched: func(r *http.Request) error {
			var event plainEvent
			if err := readStandard(r, &event); err != nil {
				return err
			}
			return understood(event.Data.Text != "")
		},
	}
}
