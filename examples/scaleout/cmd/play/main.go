// Command play runs a whole campaign on one machine, and what a campaign needs there: an engine and a test server. It has the commands of
// cmd/campaign, too.
package main

import (
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
)

func main() { os.Exit(command.Main("play", commands(), os.Args[1:])) }

func commands() []command.Command {
	return append([]command.Command{
		{Name: "", Usage: "[flags]", Help: "runs a whole campaign and kills a worker in the middle", Run: runPlay},
		{Name: "engine", Help: "runs an engine on this machine, if no NATS server is available", Run: runEngine},
		{Name: "service", Help: "runs a test server in place of the messaging service, with faults if you like", Run: runService},
	}, command.All()...)
}
