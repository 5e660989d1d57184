// Command play runs a whole campaign on one machine, and what a campaign needs there: an engine and a test server. It has the commands of
// cmd/campaign, too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func main() { os.Exit(command.Main("play", commands(), os.Args[1:])) }

func commands() []command.Command {
	return append([]command.Command{
		{Help: "runs a whole campaign against a test server, kills a worker in the middle, and compares the verdicts with what the server received.\n" +
			"It uses the engine of $" + command.EnvEngine + " only if that is empty", Flags: playCampaign},
		{Name: "engine", Help: "runs a NATS server with JetStream on the loopback interface, and prints its address with its password", Flags: runEngine},
		{Name: "service", Help: "runs a test server in place of the messaging service, and prints its address", Flags: runService},
	}, command.All()...)
}

func runEngine(flags *flag.FlagSet) command.RunFunc {
	directory := flags.String("dir", "campaign-data", "data directory; a restart finds what is in it")
	port := flags.Int("port", 4222, "port; 0 selects a free one")
	return func(ctx context.Context, _ []string) error {
		server, err := embedded.Start(*directory, *port)
		if err != nil {
			return err
		}
		defer server.Close()
		fmt.Printf("export %s=%s\n", command.EnvEngine, server.URL())
		<-ctx.Done()
		return nil
	}
}

func runService(flags *flag.FlagSet) command.RunFunc {
	fraction := flags.Float64("faults", 0, "fraction of requests that fail, 0 to 1")
	seed := flags.Uint64("seed", 1, "seed that selects the requests that fail, and how")
	return func(ctx context.Context, _ []string) error {
		if !(*fraction >= 0 && *fraction <= 1) {
			return command.UsageError("-faults must be from 0 to 1")
		}
		service := messagingtest.Start()
		defer service.Close()
		service.InjectRandomly(*seed, *fraction, faults()...)
		fmt.Printf("export %s=%s %s=%s\n", command.EnvURL, service.URL, command.EnvToken, service.Token)
		<-ctx.Done()
		return nil
	}
}

// faults returns faults after which every SMS is still sent exactly once.
func faults() []messagingtest.Fault {
	return []messagingtest.Fault{
		messagingtest.AcceptThenDrop(), messagingtest.DropUnread(), messagingtest.TruncatedResponse(), messagingtest.NotJSON(),
		messagingtest.Slow(200 * time.Millisecond), messagingtest.Status(429, -1), messagingtest.Status(503, 0),
	}
}
