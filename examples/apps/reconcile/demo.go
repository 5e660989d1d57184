package main

import (
	"context"
	"fmt"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// demo reconciles a day of a test server with records of which some differ.
func demo(ctx context.Context) error {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	service := messagingtest.Start()
	defer service.Close()
	var records []record
	for i := range 2000 { // spread over the day
		at := midnight.Add(time.Duration(i) * 24 * time.Hour / 2000)
		r := record{reference: fmt.Sprint("order-", i), recipient: "+639171234567", verdict: messaging.Accepted, began: at, ended: at}
		if i == 19 { // its response was lost
			r.verdict = messaging.Unknown
		}
		if i != 17 { // it is not listed
			service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: r.recipient, ReferenceID: r.reference, At: at})
		}
		if i != 18 { // there is no record of it
			records = append(records, r)
		}
	}
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRateLimit(rate, 1))
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, ":memory:")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it is in memory
	d := newDay(db, client, midnight)
	if err = d.reconcile(ctx, os.Stdout); err != nil {
		return err
	}
	if err = d.writeDifferences(ctx, os.Stdout, records); err != nil {
		return err
	}
	return d.checkTotal(ctx)
}
