package main

import (
	"context"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func runService(ctx context.Context, args []string) error {
	flags := newFlags("service", "[flags]", "Runs a stand-in for the messaging service until it is interrupted, and says where.")
	share := flags.Float64("faults", 0, "which share of the requests goes wrong, 0 to 1")
	seed := flags.Uint64("seed", 1, "which requests go wrong, and how")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	if !isShare(*share) {
		return usageError("-faults wants a share from 0 to 1")
	}
	service := messagingtest.Start()
	defer service.Close()
	service.InjectRandomly(*seed, *share, faults()...)
	fmt.Printf("export %s=%s %s=%s\n", envURL, service.URL, envToken, service.Token)
	<-ctx.Done()
	return nil
}

func isShare(share float64) bool { return share >= 0 && share <= 1 }

// faults are those after which every SMS is to be in the ledger once all the same.
func faults() []messagingtest.Fault {
	return []messagingtest.Fault{
		messagingtest.AcceptThenDrop(), messagingtest.DropUnread(), messagingtest.TruncatedAnswer(), messagingtest.NotJSON(),
		messagingtest.Slow(200 * time.Millisecond), messagingtest.Status(429, -1), messagingtest.Status(503, 0),
	}
}
