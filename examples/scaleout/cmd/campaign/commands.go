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
	flags := newFlags("engine", "[flags]", "Runs a NATS server with JetStream until it is interrupted, and prints its address.")
	directory := flags.String("dir", "", "data directory; temporary if empty")
	port := flags.Int("port", 4222, "port on the loopback interface; 0 selects a free one")
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

// startEngine starts an engine, in a temporary directory if directory is empty.
func startEngine(directory string, port int) (*engine.Server, func(), error) {
	remove := func() {}
	if directory == "" {
		temporary, err := os.MkdirTemp("", "campaign-")
		if err != nil {
			return nil, nil, fmt.Errorf("creating a directory for the engine: %w", err)
		}
		directory, remove = temporary, func() { _ = os.RemoveAll(temporary) }
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
	flags := newFlags("enqueue", "[flags] [FILE...]", "Takes messages in, one per line, from files or standard input. Skips known messages.")
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
			return outbox.LoadResult{}, fmt.Errorf("opening the messages: %w", err)
		}
		defer func() { _ = opened.Close() }()
		file = opened
	}
	return loader.Load(ctx, file, func(line int, err error) { fmt.Fprintf(os.Stderr, "%s:%d: %v\n", name, line, err) })
}

func runSend(ctx context.Context, args []string) error {
	var s settings
	flags := newFlags("send", "[flags]", "Sends messages until it is interrupted. A second interrupt stops it at once, which costs lookups but no messages.")
	s.registerEngine(flags)
	s.registerWork(flags)
	rate := flags.Float64("rate", -1, "requests per second of all workers together; 0 means no limit, a negative value keeps the current limit")
	exitOnEOF := flags.Bool("exit-on-eof", false, "exit at once when standard input ends, so that the worker does not outlive its parent process")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	if *exitOnEOF {
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
	flags := newFlags("rate", "[flags] N", "Limits all workers together to N requests per second; 0 means no limit.")
	s.registerEngine(flags)
	if err := parse(flags, args, 1, 1); err != nil {
		return err
	}
	rate, err := strconv.ParseFloat(flags.Arg(0), 64)
	if err != nil {
		return usageError("N is not a number")
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
	flags := newFlags("status", "[flags]", "Counts the messages by state and shows the current rate and the backlog.")
	s.registerEngine(flags)
	watch := flags.Bool("watch", false, "continue until all messages have a verdict")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if *watch {
		display, interval := progress.NewDisplay(os.Stdout)
		defer display.End()
		return progress.Watch(ctx, c, interval, func(status progress.Status) bool {
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
	flags := newFlags("parked", "[flags]", "Lists the messages that an operator has to resolve: channel, reference ID, state and reason.")
	s.registerEngine(flags)
	refused := flags.Bool("refused", false, "also list refused messages, which an operator can resolve")
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
	flags := newFlags("resolve", "[flags] CHANNEL REFERENCE sent|resend|drop", "Resolves a parked or refused message: it was sent, it is to be sent again, or neither.")
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
