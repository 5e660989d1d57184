// Command account works with an account whose service calls everything by other names: paths, headers, members. The overlay says how,
// and the program is the same as for any other account. A test server that speaks the overlay plays the service.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// overlay is what the documentation of the account says differently; docs/contract.md goes from one to the other. A program can also
// name a file in MESSAGING_CONTRACT, and use messaging.NewClientFromEnv.
//
//go:embed overlay.json
var overlay []byte

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "account:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	names, err := contract.Parse(overlay)
	if err != nil {
		return err
	}
	service := messagingtest.Start(messagingtest.WithContract(names))
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithAPIKey(service.APIKey, ""), messaging.WithContract(names))
	if err != nil {
		return err
	}
	receipt, err := client.SMS.SendOnce(ctx, sms.Message{
		From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17",
		CallbackURL: "https://shop.example.com/delivery?s=%s&id=%i",
	})
	if err != nil {
		return err
	}
	fmt.Println("accepted as", receipt.ID)
	fmt.Println("the request was", strings.TrimSpace(string(service.Sent()[0].Body)))

	tx, err := client.SMS.Find(ctx, "order-17")
	if err != nil {
		return err
	}
	fmt.Println("listed as", tx.ID, "with the reference", tx.ReferenceID)

	// A name that an overlay cannot have is refused before anything is sent, with what to write there.
	_, err = contract.Parse([]byte(`{"sms.send": {"fields": {"txt": "body"}}}`))
	fmt.Println("a wrong overlay:", err)
	return nil
}
