// Command sms-list lists the SMS of the last day, newest first.
//
//	sms-list                      the last 24 hours
//	sms-list -since 1h            the last hour
//	sms-list -reference order-17  the message with this reference ID
//
// It reads MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv). Without them it lists a few messages of a
// test server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	since := flag.Duration("since", 24*time.Hour, "how far to look back")
	reference := flag.String("reference", "", "list only the message with this reference ID")
	flag.Parse()
	if err := run(context.Background(), *since, *reference); err != nil {
		fmt.Fprintln(os.Stderr, "sms-list:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, since time.Duration, reference string) error {
	client, end, err := connect()
	if err != nil {
		return err
	}
	defer end()

	options := sms.ListOptions{CreatedAfter: time.Now().Add(-since), PageSize: 500, SortBy: "dateCreated", Descending: true}
	if reference != "" {
		options = sms.ListOptions{ReferenceID: reference}
	}
	rows := []string{"CREATED\tID\tREFERENCE\tPARTS\tPRICE\tDELIVERY"}
	for tx, err := range client.SMS.List(ctx, options) {
		if errors.Is(err, messaging.ErrRow) {
			fmt.Fprintln(os.Stderr, "sms-list:", err) // one row; the listing goes on
		} else if err != nil {
			return err
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s",
			tx.CreatedAt.Format(time.DateTime), tx.ID, tx.ReferenceID, tx.Parts, tx.Price, tx.DeliveryStatus))
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, strings.Join(rows, "\n")); err != nil {
		return err
	}
	return table.Flush()
}

// connect returns a client for the service of the environment, or for a test server.
func connect() (client *messaging.Client, end func(), err error) {
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		client, err = messaging.NewClientFromEnv()
		return client, func() {}, err
	}
	service := messagingtest.Start()
	fmt.Fprintln(os.Stderr, "No MESSAGING_BASE_URL: using a test server.")
	for i := range 5 {
		service.Seed(messagingtest.Sent{
			From: "ACME", To: "+639171234567", Text: "Hello", ReferenceID: fmt.Sprintf("order-%d", i+1), DeliveryStatus: "1",
			At: time.Now().Add(-time.Duration(i) * time.Hour),
		})
	}
	client, err = messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	return client, service.Close, err
}
