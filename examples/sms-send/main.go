// Command sms-send sends one SMS: sms-send +639171234567 "Your order is ready".
//
// MESSAGING_BASE_URL and MESSAGING_TOKEN (or MESSAGING_API_KEY and MESSAGING_API_SECRET) say where and as whom.
package main

import (
	"context"
	"fmt"
	"os"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sms-send NUMBER TEXT")
		os.Exit(2)
	}
	client, err := messaging.NewClientFromEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: os.Args[1], Text: os.Args[2]})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("accepted as", receipt.ID)
}
