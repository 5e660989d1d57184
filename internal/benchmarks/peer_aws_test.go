package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	pinpoint "github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2"
)

func awsPeer() peer {
	return peer{
		name:  "aws-sdk-go-v2, pinpointsmsvoicev2",
		route: route{"/{$}", body("send/aws.json")}, id: messageID,
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			options := pinpoint.Options{
				BaseEndpoint: aws.String(base), Region: "eu-central-1",
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
				}),
			}
			if client := httpClient(transport); client != nil {
				options.HTTPClient = client
			}
			client := pinpoint.New(options)
			return sendCall(func(ctx context.Context) (string, error) {
				out, err := client.SendTextMessage(ctx, &pinpoint.SendTextMessageInput{
					OriginationIdentity: aws.String("ACME"), DestinationPhoneNumber: aws.String(recipient), MessageBody: aws.String(text),
				})
				if err != nil {
					return "", err
				}
				return aws.ToString(out.MessageId), nil
			})
		},
		newResult: func() any { return new(pinpoint.SendTextMessageOutput) },
	}
}
