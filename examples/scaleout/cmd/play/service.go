package main

import (
	"context"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func runService(ctx context.Context, args []string) error {
	flags := command.NewFlags("play service", "", "Runs a test server in place of the messaging service until it is interrupted, and prints its address.")
	fraction := flags.Float64("faults", 0, "fraction of requests that fail, 0 to 1")
	seed := flags.Uint64("seed", 1, "seed that selects the requests that fail, and how")
	if err := command.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	if !isFraction(*fraction) {
		return command.UsageError("-faults must be from 0 to 1")
	}
	service := messagingtest.Start()
	defer service.Close()
	service.InjectRandomly(*seed, *fraction, faults()...)
	fmt.Printf("export %s=%s %s=%s\n", command.EnvURL, service.URL, command.EnvToken, service.Token)
	<-ctx.Done()
	return nil
}

func isFraction(fraction float64) bool { return fraction >= 0 && fraction <= 1 }

// faults returns faults after which every SMS is still sent exactly once.
func faults() []messagingtest.Fault {
	return []messagingtest.Fault{
		messagingtest.AcceptThenDrop(), messagingtest.DropUnread(), messagingtest.TruncatedResponse(), messagingtest.NotJSON(),
		messagingtest.Slow(200 * time.Millisecond), messagingtest.Status(429, -1), messagingtest.Status(503, 0),
	}
}
