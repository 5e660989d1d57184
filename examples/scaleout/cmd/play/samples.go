package main

import (
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/sms"
)

// sampleFile returns sample messages as the content of a file.
func sampleFile(campaign string, messages int, kind func(campaign string, n int) (outbox.Message, error)) (string, error) {
	var lines strings.Builder
	for n := range messages {
		m, err := kind(campaign, n)
		if err != nil {
			return "", fmt.Errorf("message %d: %w", n, err)
		}
		_, _ = fmt.Fprintf(&lines, "%s\n", m.Line())
	}
	return lines.String(), nil
}

// mixedMessage returns the n-th message of a campaign of all channels: of six messages, four go by SMS and one by each chat app.
func mixedMessage(campaign string, n int) (outbox.Message, error) {
	to, reference := fmt.Sprintf("+63917%07d", n), fmt.Sprintf("%s-%d", campaign, n)
	const text = "We open at nine"
	switch n % 6 {
	case 4:
		return outbox.FromChatApp1(chatapp1.New("channel-1", to).Text(text).WithReference(reference), outbox.Options{})
	case 5:
		return outbox.FromChatApp2(chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}, outbox.Options{})
	default:
		return smsMessage(campaign, n)
	}
}

// smsMessage returns the n-th message of an SMS campaign.
func smsMessage(campaign string, n int) (outbox.Message, error) {
	return outbox.FromSMS(sms.Message{
		From: "ACME", To: fmt.Sprintf("+63917%07d", n), Text: "We open at nine", ReferenceID: fmt.Sprintf("%s-%d", campaign, n),
	}, outbox.Options{})
}
