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
	service := messagingtest.Start() // plays the service, so no account is needed
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		log.Fatal(err) // with an account, use messaging.NewClientFromEnv
	}
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready"}

	message.ReferenceID = "order-17"
	send(client, message)

	service.Inject(messagingtest.FaultStatus(403, 0), 1) // the service refuses the next message
	message.ReferenceID = "order-18"
	send(client, message)

	service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the service takes the next one, and its response is lost
	message.ReferenceID = "order-19"
	send(client, message)

	service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	message.ReferenceID = "order-20"
	receipt, err := client.SMS.SendOnce(context.Background(), message) // looks the message up, and never sends it again
	fmt.Println(message.ReferenceID, messaging.VerdictOf(err), receipt.ID)
}

// send sends a message. Its reference ID is a name of the program's own, by which the message can be found later.
func send(client *messaging.Client, message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	receipt, err := client.SMS.Send(ctx, message)
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		fmt.Println(message.ReferenceID, "is accepted as", receipt.ID, "and costs", receipt.Cost)
	case messaging.Unknown:
		fmt.Println(message.ReferenceID, "may have gone out; do not send it again:", err)
	default: // refused or not sent
		fmt.Println(message.ReferenceID, "has not gone out:", err)
		if wait, ok := messaging.Retryable(err); ok {
			fmt.Println("it can be sent again after", wait)
		}
	}
}
