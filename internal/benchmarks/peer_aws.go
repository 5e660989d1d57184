package main

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	pinpoint "github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2"
)

func awsPeer() peer {
	return peer{
		name: "aws-sdk-go-v2, pinpointsmsvoicev2", module: "github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2",
		does:  "SendTextMessage: an SMS, the request signed",
		route: route{path: "/{$}", contentType: "application/x-amz-json-1.0", response: `{"MessageId":"` + messageID + `"}`}, id: messageID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
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
			return func(ctx context.Context) (string, error) {
				out, err := client.SendTextMessage(ctx, &pinpoint.SendTextMessageInput{
					OriginationIdentity: aws.String(sender), DestinationPhoneNumber: aws.String(recipient), MessageBody: aws.String(text),
				})
				if err != nil {
					return "", err
				}
				return aws.ToString(out.MessageId), nil
			}, nil
		},
		decoded: func() any { return new(pinpoint.SendTextMessageOutput) },
	}
}
