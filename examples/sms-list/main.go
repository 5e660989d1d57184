// Command sms-list lists the SMS of the last day, and looks one up by its reference ID.
//
//	go run ./examples/sms-list
//
// The last line that it prints: order-4 is msg-5
package main

import (
	"context"
	"errors"
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
	for i := range 5 {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		service.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", ReferenceID: fmt.Sprint("order-", i), At: at})
	}
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token)) // with an account: messaging.NewClientFromEnv
	if err != nil {
		return err
	}

	// Large pages are much faster. A listing is complete, or ends with an error.
	yesterday := time.Now().AddDate(0, 0, -1)
	for tx, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: yesterday, PageSize: 500, SortBy: sms.ByCreated}) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Print(err) // about one row; the listing continues
		} else if err != nil {
			return err
		}
		fmt.Println(tx.CreatedAt.Format(time.DateTime), tx.ID, tx.ReferenceID, tx.Parts, tx.Price)
	}

	tx, err := client.SMS.Find(ctx, "order-4")
	if errors.Is(err, messaging.ErrNotListed) {
		fmt.Println("order-4 is not listed, which does not prove that it was not sent")
		return nil
	} else if err != nil {
		return err
	}
	fmt.Println("order-4 is", tx.ID)
	return nil
}
