package main

import (
	"context"
	"fmt"
	"os"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(receipt.ID)
}
