package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/resend/resend-go/v3"
)

func resendPeer() peer {
	return peer{
		name: "resend-go", module: "github.com/resend/resend-go/v3", does: "SendWithContext: an e-mail",
		route: route{path: "/emails", response: `{"id":"` + messageID + `"}`}, id: messageID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			client := resend.NewCustomClient(httpClient(transport), token) // nil is its default
			var err error
			if client.BaseURL, err = url.Parse(base + "/"); err != nil {
				return nil, err
			}
			return func(ctx context.Context) (string, error) {
				response, err := client.Emails.SendWithContext(ctx, &resend.SendEmailRequest{
					From: "acme@example.com", To: []string{"ana@example.com"}, Subject: "Your order", Text: text,
				})
				if err != nil {
					return "", err
				}
				return response.Id, nil
			}, nil
		},
		decoded: func() any { return new(resend.SendEmailResponse) },
	}
}
