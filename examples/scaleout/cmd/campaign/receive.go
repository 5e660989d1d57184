package main

import (
	"context"
	"fmt"
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
)

// envSecret is what the service has to bring when it calls a receiver.
const envSecret = "WEBHOOK_SECRET"

func runReceive(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("receive", "[flags]", "Receives events until it is interrupted, and stores each before it answers. The service has to bring "+envSecret+" in the parameter "+inbox.SecretParameter+".\n"+
		"Any number of receivers may stand behind one address. A proxy in front of them ends TLS.")
	s.registerEngine(flags)
	address := flags.String("address", "127.0.0.1:8080", "where to listen")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	secret := os.Getenv(envSecret)
	if secret == "" {
		return usageError(envSecret + " is empty: anybody could bring events")
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Printf("receiving at http://%s%s, %s, %s and %s\n", *address, inbox.SMSPath, inbox.ChatApp1Path, inbox.ChatApp2Path, inbox.DeliveryPath)
	return inbox.Run(ctx, c, inbox.Config{Address: *address, Secret: secret, Logger: s.logger()})
}

func runEvents(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("events", "[flags]", "Reads the events that were stored, until it is interrupted, and prints kind and key of each. A program that does something with them calls inbox.Read.")
	s.registerEngine(flags)
	name := flags.String("name", "campaign-events", "who reads: each name gets every event once, and goes on where it ended")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return inbox.Read(ctx, c, inbox.ReadOptions{Name: *name, Logger: s.logger()}, func(_ context.Context, e inbox.Event) error {
		fmt.Printf("%d\t%s\t%s\n", e.Sequence, e.Kind, e.Key)
		return nil
	})
}
