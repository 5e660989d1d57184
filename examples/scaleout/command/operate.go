package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

func prepare(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	var setup engine.Setup
	const kept = "; 0 keeps the current setting"
	flags.IntVar(&setup.Replicas, "replicas", 0, "number of engine nodes that keep the data; 1 for a new environment"+kept)
	flags.DurationVar(&setup.AckWait, "ack-wait", 0, "time without a heartbeat after which a message goes to another worker; 30s for a new environment"+kept)
	flags.Int64Var(&setup.MaxBytes, "max-bytes", 0, "most bytes in each stream and bucket, -1 for no limit; what exceeds it is rejected, nothing is discarded"+kept)
	flags.DurationVar(&setup.KeepEvents, "keep-events", 0, "how long inbound events are kept; 168h for a new environment"+kept)
	flags.DurationVar(&setup.KeepRecords, "keep-records", 0, "how long records of accepted and refused messages are kept; 720h for a new environment"+kept)
	return func(ctx context.Context, _ []string) error {
		return s.onEngine(ctx, func(c *engine.Connection) error {
			err := c.Prepare(ctx, setup)
			if err == nil {
				setup, err = c.Setup(ctx)
			}
			if err == nil {
				fmt.Printf("prepared: %+v\n", setup)
			}
			return err
		})
	}
}

func enqueue(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	return func(ctx context.Context, names []string) error {
		if len(names) == 0 {
			names = []string{standardInput}
		}
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			bad := 0
			for _, name := range names {
				loaded, err := loadFile(ctx, o, name)
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
		})
	}
}

const standardInput = "-"

// loadFile takes in the messages of a file, and shows its progress and the bad lines on standard error.
func loadFile(ctx context.Context, o *outbox.Outbox, name string) (outbox.LoadResult, error) {
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
	return o.Load(ctx, file, func(line int, loaded outbox.LoadResult, err error) {
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s:%d: %v\n", name, line, err)
		}
		if time.Since(shown) > time.Second {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %v so far\n", name, loaded)
		}
	})
}

func rate(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	return func(ctx context.Context, args []string) error {
		perSecond, err := strconv.ParseFloat(args[0], 64)
		if err != nil {
			return UsageError("N is not a number")
		}
		return s.onOutbox(ctx, func(o *outbox.Outbox) error { return o.SetRate(ctx, perSecond) })
	}
}

func status(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	watch := flags.Bool("watch", false, "continue until all messages have a verdict")
	return func(ctx context.Context, _ []string) error {
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			return o.Watch(ctx, time.Second, func(status outbox.Status) bool {
				fmt.Println(status)
				return *watch && (status.Total == 0 || status.Final() < status.Total)
			})
		})
	}
}

func parked(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	selection := outbox.Selection{State: outbox.Parked}
	refused := flags.Bool("refused", false, "also list refused messages, which an operator can resolve")
	flags.StringVar((*string)(&selection.Channel), "channel", "", "only messages of this channel")
	flags.StringVar(&selection.Reason, "reason", "", "only messages with this text in their reason")
	return func(ctx context.Context, _ []string) error {
		if *refused {
			selection.State = ""
		}
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			for e, err := range o.All(ctx) {
				switch {
				case errors.Is(err, outbox.ErrUnreadable):
					fmt.Printf("%s\t%q\tunreadable\t%v\n", e.Channel, e.Key, err)
				case err != nil:
					return err
				case selection.Includes(e):
					fmt.Printf("%s\t%q\t%s\t%s\n", e.Channel, e.Reference, e.State, e.Reason)
				}
			}
			return nil
		})
	}
}

func resolve(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	selection := outbox.Selection{State: outbox.Parked}
	flags.StringVar((*string)(&selection.Channel), "channel", "", "channel; required with a REFERENCE")
	flags.StringVar((*string)(&selection.State), "state", string(selection.State), "without a REFERENCE: parked or refused")
	flags.StringVar(&selection.Reason, "reason", "", "without a REFERENCE: a text that the reason must contain; required")
	note := flags.String("note", "", "why, for the record")
	return func(ctx context.Context, args []string) error {
		decision, references := outbox.Decision(args[0]), args[1:]
		switch {
		case decision != outbox.MarkSent && decision != outbox.Resend && decision != outbox.Drop:
			return UsageError("the decision must be sent, resend or drop")
		case len(references) == 0 && selection.Reason == "":
			return UsageError("name messages, or select them with -reason")
		case len(references) > 0 && selection.Channel == "":
			return UsageError("with a REFERENCE, -channel is required: sms, chatapp1 or chatapp2")
		}
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			if len(references) == 0 {
				resolved, err := o.ResolveAll(ctx, selection, decision, *note)
				fmt.Printf("%d resolved\n", resolved)
				return err
			}
			var result error
			for _, reference := range references {
				err := o.Resolve(ctx, selection.Channel, reference, decision, *note)
				if err != nil && !errors.Is(err, outbox.ErrNotResolvable) {
					return err
				}
				if err != nil {
					fmt.Fprintf(os.Stderr, "%q: %v\n", reference, err)
					result = ErrReported
				}
			}
			return result
		})
	}
}

func reconcile(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	return func(ctx context.Context, _ []string) error {
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			found, err := o.Reconcile(ctx)
			fmt.Printf("%d without a token: queued again; %d without a record: parked; %d unreadable: left alone\n", found.Missing, found.Lost, found.Unreadable)
			return err
		})
	}
}

func audit(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	mend := flags.Bool("mend", false, "make queued and parked messages accepted that are listed once, as after a restore from a backup")
	within := flags.Duration("within", 24*time.Hour, "compare what was sent in this time before now")
	return func(ctx context.Context, _ []string) error {
		client, err := newClient()
		if err != nil {
			return err
		}
		return s.onOutbox(ctx, func(o *outbox.Outbox) error {
			findings := 0
			records, rows, err := o.Audit(ctx, client, time.Now().Add(-*within), *mend, func(f outbox.Finding) {
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
		})
	}
}
