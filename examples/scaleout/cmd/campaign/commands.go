package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
)

func runEngine(ctx context.Context, args []string) error {
	flags := newFlags("engine", "[flags]", "Runs a NATS server with JetStream until it is interrupted, and says where.")
	directory := flags.String("dir", "", "where everything is kept; a temporary directory if empty")
	port := flags.Int("port", 4222, "the port on the loopback interface; 0 for one that is free")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	server, end, err := startEngine(*directory, *port)
	if err != nil {
		return err
	}
	defer end()
	fmt.Printf("export %s=%s\n", envEngine, server.URL())
	<-ctx.Done()
	return nil
}

// startEngine starts an engine, in a directory of its own where none is given.
func startEngine(directory string, port int) (*engine.Server, func(), error) {
	remove := func() {}
	if directory == "" {
		made, err := os.MkdirTemp("", "campaign-")
		if err != nil {
			return nil, nil, fmt.Errorf("a directory for the engine: %w", err)
		}
		directory, remove = made, func() { _ = os.RemoveAll(made) }
	}
	server, err := engine.Start(directory, port)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return server, func() {
		server.Close()
		remove()
	}, nil
}

func runEnqueue(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("enqueue", "[flags] [FILE...]", "Takes messages in, one a line, from files or standard input. A message that is known is passed over.")
	s.registerEngine(flags)
	if err := parse(flags, args, 0, math.MaxInt); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	loader, err := outbox.NewLoader(ctx, c, s.logger())
	if err != nil {
		return err
	}
	bad := 0
	for _, name := range orStandardInput(flags.Args()) {
		var loaded outbox.LoadResult
		loaded, err = loadFile(ctx, loader, name)
		fmt.Printf("%s: %d queued, %d known, %d bad\n", name, loaded.Queued, loaded.Known, loaded.Bad)
		if err != nil {
			return err
		}
		bad += loaded.Bad
	}
	if bad > 0 {
		return errReported
	}
	return nil
}

const standardInput = "-"

func orStandardInput(names []string) []string {
	if len(names) == 0 {
		return []string{standardInput}
	}
	return names
}

func loadFile(ctx context.Context, loader *outbox.Loader, name string) (outbox.LoadResult, error) {
	var file io.Reader = os.Stdin
	if name != standardInput {
		opened, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return outbox.LoadResult{}, fmt.Errorf("the messages: %w", err)
		}
		defer func() { _ = opened.Close() }()
		file = opened
	}
	return loader.Load(ctx, file, func(line int, err error) { fmt.Fprintf(os.Stderr, "%s:%d: %v\n", name, line, err) })
}

func runSend(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("send", "[flags]", "Sends until it is interrupted. A second interrupt ends it at once, which costs look-ups and no messages.")
	s.registerEngine(flags)
	s.registerWork(flags)
	rate := flags.Float64("rate", -1, "sets how many requests all workers together begin in a second; 0 for no limit, below 0 leaves it as it is")
	tied := flags.Bool("tied", false, "end at once when standard input ends, as for a process that was started by another")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	if *tied {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	log := s.logger()
	client, err := newClient(log)
	if err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if *rate >= 0 {
		if err = outbox.SetRate(ctx, c, *rate); err != nil {
			return err
		}
	}
	s.work.Logger = log
	worker, err := outbox.NewWorker(ctx, c, client, s.work)
	if err != nil {
		return err
	}
	fmt.Println("sending")
	return worker.Run(ctx)
}

func runRate(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("rate", "[flags] N", "Lets all workers together begin N requests a second, at once; 0 is no limit.")
	s.registerEngine(flags)
	if err := parse(flags, args, 1, 1); err != nil {
		return err
	}
	rate, err := strconv.ParseFloat(flags.Arg(0), 64)
	if err != nil {
		return usageError("N is no number")
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return outbox.SetRate(ctx, c, rate)
}

func runStatus(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("status", "[flags]", "Counts the messages by verdict, with the rate of the last seconds and what waits.")
	s.registerEngine(flags)
	watch := flags.Bool("watch", false, "go on until all messages have a verdict")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if *watch {
		display, every := progress.NewDisplay(os.Stdout)
		defer display.End()
		return progress.Watch(ctx, c, every, func(status progress.Status) bool {
			display.Show(status)
			return status.Total == 0 || status.Final() < status.Total
		})
	}
	status, err := progress.Read(ctx, c)
	if err != nil {
		return err
	}
	fmt.Println(status)
	return nil
}

func runParked(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("parked", "[flags]", "Lists the messages on which a person has to decide: channel, reference ID and reason.")
	s.registerEngine(flags)
	refused := flags.Bool("refused", false, "list those that were refused as well, on which a person can decide")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for e, err := range outbox.All(ctx, c) {
		if err != nil {
			return err
		}
		interrupted := e.State == outbox.Loading && len(e.Line) > 0
		if e.State == outbox.Parked || interrupted || *refused && e.State == outbox.Refused {
			fmt.Printf("%s\t%q\t%s\t%s\n", e.Channel, e.Reference, e.State, e.Reason)
		}
	}
	return nil
}

func runResolve(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("resolve", "[flags] CHANNEL REFERENCE sent|again|drop", "Decides on a message that is parked or refused: it was sent, it is to be sent again, or neither.")
	s.registerEngine(flags)
	if err := parse(flags, args, 3, 3); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	resolver, err := outbox.NewResolver(ctx, c, s.logger())
	if err != nil {
		return err
	}
	err = resolver.Resolve(ctx, outbox.Channel(flags.Arg(0)), flags.Arg(1), outbox.Decision(flags.Arg(2)))
	if errors.Is(err, outbox.ErrNotResolvable) {
		fmt.Fprintln(os.Stderr, err)
		return errReported
	}
	return err
}
