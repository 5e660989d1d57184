package main

import (
	"context"
	"fmt"
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
)

// envSecret is the variable with the secret that the service sends to receivers.
const envSecret = "WEBHOOK_SECRET"

func runReceive(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("receive", "[flags]", "Receives events until it is interrupted, and stores each event before it responds. The service must send "+envSecret+" in the parameter "+inbox.SecretParameter+".\n"+
		"Any number of receivers can share one address behind a proxy that terminates TLS.")
	s.registerEngine(flags)
	address := flags.String("address", "127.0.0.1:8080", "address to listen on")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	secret := os.Getenv(envSecret)
	if secret == "" {
		return usageError(envSecret + " is empty: anyone could send events")
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
	flags := newFlags("events", "[flags]", "Prints sequence, kind and key of each stored event until it is interrupted. Programs that process events call inbox.Read.")
	s.registerEngine(flags)
	name := flags.String("name", "campaign-events", "name of the reader; each name gets every event once and continues where it stopped")
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
