// Command sms-send sends SMS and acts on the verdict of each: whether it went out, and whether it is safe to send it again.
//
//	go run ./examples/sms-send
//
// The last line that it prints: order-20 accepted msg-3
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	service := messagingtest.Start() // plays the service, so no account is needed
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token)) // with an account: messaging.NewClientFromEnv
	if err != nil {
		return err
	}
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready"}

	message.ReferenceID = "order-17"
	send(ctx, client, message)

	service.Inject(messagingtest.FaultStatus(403, 0), 1) // the service refuses the next message
	message.ReferenceID = "order-18"
	send(ctx, client, message)

	service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the service takes the next one, and its response is lost
	message.ReferenceID = "order-19"
	send(ctx, client, message)

	service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	message.ReferenceID = "order-20"
	receipt, err := client.SMS.SendOnce(ctx, message) // looks the message up, and never sends it again
	fmt.Println(message.ReferenceID, messaging.VerdictOf(err), receipt.ID)
	return err
}

// send sends a message. Its reference ID is a name of the program's own, by which the message can be found later.
func send(ctx context.Context, client *messaging.Client, message sms.Message) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	receipt, err := client.SMS.Send(ctx, message)
	wait, retryable := messaging.Retryable(err)
	switch {
	case err == nil:
		fmt.Println(message.ReferenceID, "is accepted as", receipt.ID, "and costs", receipt.Cost)
	case messaging.MayHaveBeenSent(err):
		fmt.Println(message.ReferenceID, "may have gone out; do not send it again:", err)
	case retryable:
		fmt.Println(message.ReferenceID, "has not gone out, and can be sent again after", wait, "-", err)
	default:
		fmt.Println(message.ReferenceID, "has not gone out:", err)
	}
}
