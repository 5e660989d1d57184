package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// demo sends one SMS to a test server, and prints the results.
func demo(ctx context.Context) error {
	parent, err := os.MkdirTemp("", "campaign")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent) //nolint:errcheck // it is temporary
	folder := filepath.Join(parent, "spring")
	if err = os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err = os.WriteFile(folder+"/recipients.csv", []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600); err != nil {
		return err
	}
	if err = runOnTestServer(ctx, folder, parent+"/campaigns.db"); err != nil {
		return err
	}
	results, err := os.ReadFile(folder + "/results.csv") //nolint:gosec // a path of this function
	fmt.Print(string(results))
	return err
}

// runOnTestServer sends the campaign of a folder to a test server, which reports that it delivered the first message.
func runOnTestServer(ctx context.Context, folder, databaseURL string) error {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	secret := webhook.WithSecret("key", rand.Text())
	newReceiver := func(options ...webhook.Option) (*webhook.Receiver, error) {
		return webhook.NewReceiver(append(options, secret)...)
	}
	listener, err := listen(ctx, "localhost:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return run(ctx, listener, settings{
		folder: folder, databaseURL: databaseURL, url: "http://" + listener.Addr().String(), sender: "ACME", client: client,
		newReceiver: newReceiver,
		hasResults: func() {
			service.ReportDelivery(ctx, service.Sent()[0].ID, "delivered")
			stop()
		},
	})
}
