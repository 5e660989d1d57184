package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
)

func runPrepare(ctx context.Context, args []string) error {
	var s Settings
	var setup engine.Setup
	flags := NewFlags("prepare", "", "Creates or updates the streams, buckets and consumers of an environment. 0 keeps the current setting.")
	s.Register(flags)
	flags.IntVar(&setup.Replicas, "replicas", 0, "number of engine nodes that keep the data; 1 for a new environment")
	flags.DurationVar(&setup.AckWait, "ack-wait", 0, "time without a heartbeat after which a message goes to another worker; 30s for a new environment")
	flags.Int64Var(&setup.MaxBytes, "max-bytes", 0, "most bytes in each stream and bucket, -1 for no limit; what exceeds it is rejected, nothing is discarded")
	flags.DurationVar(&setup.KeepEvents, "keep-events", 0, "how long inbound events are kept; 168h for a new environment")
	flags.DurationVar(&setup.KeepRecords, "keep-records", 0, "how long records of accepted and refused messages are kept; 720h for a new environment")
	if err := Parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err = c.Prepare(ctx, setup); err != nil {
		return err
	}
	setup, err = c.Setup(ctx)
	fmt.Printf("prepared: %+v\n", setup)
	return err
}

func runEnqueue(ctx context.Context, args []string) error {
	var s Settings
	flags := NewFlags("enqueue", "[FILE...]", "Takes messages in, one per line, from files or standard input. Skips known messages.")
	s.Register(flags)
	if err := Parse(flags, args, 0, math.MaxInt); err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	loader, err := outbox.NewLoader(ctx, c, s.Logger())
	if err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		names = []string{standardInput}
	}
	bad := 0
	for _, name := range names {
		var loaded outbox.LoadResult
		loaded, err = LoadFile(ctx, loader, name)
		fmt.Printf("%s: %v\n", name, loaded)
		if err != nil {
			return err
		}
		bad += loaded.Bad
	}
	if bad > 0 {
		return ErrReported
	}
	return nil
}

const standardInput = "-"

// LoadFile takes in the messages of a file, and shows its progress and the bad lines on standard error.
func LoadFile(ctx context.Context, loader *outbox.Loader, name string) (outbox.LoadResult, error) {
	var file io.Reader = os.Stdin
	if name != standardInput {
		opened, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return outbox.LoadResult{}, fmt.Errorf("opening the messages: %w", err)
		}
		defer func() { _ = opened.Close() }()
		file = opened
	}
	shown := time.Now()
	return loader.Load(ctx, file, outbox.Report{
		Bad: func(line int, err error) { fmt.Fprintf(os.Stderr, "%s:%d: %v\n", name, line, err) },
		Progress: func(loaded outbox.LoadResult) {
			if time.Since(shown) > time.Second {
				shown = time.Now()
				fmt.Fprintf(os.Stderr, "%s: %v so far\n", name, loaded)
			}
		},
	})
}

func runRate(ctx context.Context, args []string) error {
	var s Settings
	flags := NewFlags("rate", "N", "Limits all workers together to N requests per second; 0 means no limit.")
	s.Register(flags)
	if err := Parse(flags, args, 1, 1); err != nil {
		return err
	}
	rate, err := strconv.ParseFloat(flags.Arg(0), 64)
	if err != nil {
		return UsageError("N is not a number")
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return outbox.SetRate(ctx, c, rate)
}

func runStatus(ctx context.Context, args []string) error {
	var s Settings
	flags := NewFlags("status", "", "Counts the messages by state, and shows the current rate, the backlog, open breakers and what has to be mended.")
	s.Register(flags)
	watch := flags.Bool("watch", false, "continue until all messages have a verdict")
	if err := Parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if *watch {
		return progress.Watch(ctx, c, time.Second, func(status progress.Status) bool {
			fmt.Println(status)
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
	var s Settings
	selection := outbox.Selection{State: outbox.Parked}
	flags := NewFlags("parked", "", "Lists the messages that an operator has to resolve: channel, reference ID, state and reason.")
	s.Register(flags)
	refused := flags.Bool("refused", false, "also list refused messages, which an operator can resolve")
	flags.StringVar((*string)(&selection.Channel), "channel", "", "only messages of this channel")
	flags.StringVar(&selection.Reason, "reason", "", "only messages with this text in their reason")
	if err := Parse(flags, args, 0, 0); err != nil {
		return err
	}
	if *refused {
		selection.State = ""
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for e, err := range outbox.All(ctx, c) {
		if errors.Is(err, outbox.ErrUnreadable) {
			fmt.Printf("%s\t%q\tunreadable\t%v\n", e.Channel, e.Key, err)
			continue
		}
		if err != nil {
			return err
		}
		if selection.Includes(e) {
			fmt.Printf("%s\t%q\t%s\t%s\n", e.Channel, e.Reference, e.State, e.Reason)
		}
	}
	return nil
}

func runResolve(ctx context.Context, args []string) error {
	var s Settings
	selection := outbox.Selection{State: outbox.Parked}
	flags := NewFlags("resolve", "sent|resend|drop [REFERENCE...]",
		"Resolves parked or refused messages: they were sent, they are to be sent again, or neither. Without a REFERENCE, it resolves all with -reason.")
	s.Register(flags)
	flags.StringVar((*string)(&selection.Channel), "channel", "", "channel; required with a REFERENCE")
	flags.StringVar((*string)(&selection.State), "state", string(selection.State), "without a REFERENCE: parked or refused")
	flags.StringVar(&selection.Reason, "reason", "", "without a REFERENCE: a text that the reason must contain; required")
	note := flags.String("note", "", "why, for the record")
	if err := Parse(flags, args, 1, math.MaxInt); err != nil {
		return err
	}
	decision, references := outbox.Decision(flags.Arg(0)), flags.Args()[1:]
	switch {
	case decision != outbox.MarkSent && decision != outbox.Resend && decision != outbox.Drop:
		return UsageError("the decision must be sent, resend or drop")
	case len(references) == 0 && selection.Reason == "":
		return UsageError("name messages, or select them with -reason")
	case len(references) > 0 && selection.Channel == "":
		return UsageError("with a REFERENCE, -channel is required: sms, chatapp1 or chatapp2")
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	resolver, err := outbox.NewResolver(ctx, c, s.Logger())
	if err != nil {
		return err
	}
	if len(references) == 0 {
		var resolved int
		resolved, err = resolver.ResolveAll(ctx, selection, decision, *note)
		fmt.Printf("%d resolved\n", resolved)
		return err
	}
	for _, reference := range references {
		switch resolveErr := resolver.Resolve(ctx, selection.Channel, reference, decision, *note); {
		case errors.Is(resolveErr, outbox.ErrNotResolvable):
			fmt.Fprintf(os.Stderr, "%q: %v\n", reference, resolveErr)
			err = ErrReported
		case resolveErr != nil:
			return resolveErr
		}
	}
	return err
}

func runReconcile(ctx context.Context, args []string) error {
	var s Settings
	flags := NewFlags("reconcile", "", "Compares the records with the stream. Creates missing tokens, and parks messages whose records were lost.")
	s.Register(flags)
	if err := Parse(flags, args, 0, 0); err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	found, err := outbox.Inspect(ctx, c, true, s.Logger())
	fmt.Printf("%d without a token: queued again; %d without a record: parked; %d unreadable: left alone\n", found.Missing, found.Lost, found.Unreadable)
	return err
}

func runAudit(ctx context.Context, args []string) error {
	var s Settings
	flags := NewFlags("audit", "", "Compares the records of SMS with what the service lists, and prints each difference. Run it while no worker sends.")
	s.Register(flags)
	mend := flags.Bool("mend", false, "make queued and parked messages accepted that are listed once, as after a restore from a backup")
	within := flags.Duration("within", 24*time.Hour, "compare what was sent in this time before now")
	if err := Parse(flags, args, 0, 0); err != nil {
		return err
	}
	client, err := newClient()
	if err != nil {
		return err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	findings := 0
	records, rows, err := outbox.Audit(ctx, c, client, time.Now().Add(-*within), *mend, func(f outbox.Finding) {
		findings++
		fmt.Printf("%q\t%s\tlisted %d\t%s\n", f.Reference, f.State, f.Listed, f.Problem)
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d records and %d listed messages compared, %d differences\n", records, rows, findings)
	if findings > 0 && !*mend {
		return ErrReported
	}
	return nil
}
