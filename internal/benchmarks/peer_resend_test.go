package main

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/resend/resend-go/v3"
	"github.com/stretchr/testify/require"
)

func resendPeer() peer {
	return peer{
		name:  "resend-go",
		route: route{"/emails", body("send/resend.json")}, id: messageID,
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			client := resend.NewCustomClient(httpClient(transport), token) // nil is its default
			var err error
			client.BaseURL, err = url.Parse(base + "/")
			require.NoError(tb, err)
			return sendCall(func(ctx context.Context) (string, error) {
				response, err := client.Emails.SendWithContext(ctx, &resend.SendEmailRequest{
					From: "acme@example.com", To: []string{"ana@example.com"}, Subject: "Your order", Text: text,
				})
				if err != nil {
					return "", err
				}
				return response.Id, nil
			})
		},
		newResult: func() any { return new(resend.SendEmailResponse) },
	}
}
