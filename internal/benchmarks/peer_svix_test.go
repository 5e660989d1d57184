package main

import (
	"io"
	"net/http"
	"time"

	svix "github.com/svix/svix-webhooks/go"
)

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
	p := standardHook("svix, with json.Unmarshal", body("hook/svix.json"))
	p.read = readJSON(func(e *plainEvent) bool { return e.Data.Text != "" })
	p.handle = func(r *http.Request) error {
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
		return p.read(r, body)
	}
	return p
}
