package main

import (
	"context"
	"fmt"
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
)

func runEngine(ctx context.Context, args []string) error {
	flags := command.NewFlags("play engine", "", "Runs a NATS server with JetStream on the loopback interface until it is interrupted, and prints its address with its password.")
	directory := flags.String("dir", "campaign-data", "data directory; a restart finds what is in it")
	port := flags.Int("port", 4222, "port; 0 selects a free one")
	if err := command.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	server, err := embedded.Start(*directory, *port)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Printf("export %s=%s\n", command.EnvEngine, server.URL())
	<-ctx.Done()
	return nil
}

// startTemporary starts an engine whose data is removed by end.
func startTemporary() (server *embedded.Server, end func(), err error) {
	directory, err := os.MkdirTemp("", "campaign-")
	if err != nil {
		return nil, nil, fmt.Errorf("creating a directory for the engine: %w", err)
	}
	if server, err = embedded.Start(directory, 0); err != nil {
		_ = os.RemoveAll(directory)
		return nil, nil, err
	}
	return server, func() {
		server.Close()
		_ = os.RemoveAll(directory)
	}, nil
}
