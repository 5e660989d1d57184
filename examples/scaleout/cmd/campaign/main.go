// Command campaign sends messages from any number of processes, each message once, over NATS JetStream. Run it without arguments for the
// list of its commands.
package main

import (
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
)

func main() { os.Exit(command.Main("campaign", command.All(), os.Args[1:])) }
