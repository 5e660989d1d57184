package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// play is a whole campaign, from loading to the comparison of verdicts.
type play struct {
	command.Settings

	messages, workers int
	rate, faults      float64
	seed              uint64
}

func playCampaign(flags *flag.FlagSet) command.RunFunc {
	p := play{Settings: command.Settings{Level: slog.LevelError + 1}}
	p.Register(flags)
	flags.IntVar(&p.messages, "messages", 600, "number of sample messages")
	flags.IntVar(&p.workers, "workers", 3, "number of worker processes")
	flags.Float64Var(&p.rate, "rate", 150, "requests per second of all workers together; 0 means no limit")
	flags.Float64Var(&p.faults, "faults", 0.05, "fraction of requests to the test server that fail, 0 to 1")
	flags.Uint64Var(&p.seed, "seed", rand.Uint64(), "seed that selects the requests that fail, and how") //nolint:gosec // chance, not a secret
	return func(ctx context.Context, _ []string) error {
		if p.workers < 1 || p.messages < 1 || !(p.faults >= 0 && p.faults <= 1) {
			return command.UsageError("-workers and -messages must be at least 1, and -faults from 0 to 1")
		}
		return p.run(ctx)
	}
}

func (p *play) run(ctx context.Context) error {
	if p.Engine.URL = os.Getenv(command.EnvEngine); p.Engine.URL == "" {
		directory, err := os.MkdirTemp("", "campaign-")
		if err != nil {
			return fmt.Errorf("creating a directory for the engine: %w", err)
		}
		defer func() { _ = os.RemoveAll(directory) }()
		server, err := embedded.Start(directory, 0)
		if err != nil {
			return err
		}
		defer server.Close()
		p.Engine.URL = server.URL()
	}
	c, err := p.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	isEmpty, err := c.IsEmpty(ctx)
	switch {
	case err != nil:
		return err
	case !isEmpty: // the play would mix its messages with real ones
		return command.UsageError("the engine of " + command.EnvEngine + " holds streams already: the play needs an empty one, or none")
	}
	service := messagingtest.Start()
	defer service.Close()
	service.InjectRandomly(p.seed, p.faults, faults()...)
	fmt.Printf("service:     test server at %s, with faults in %.0f %% of the requests (-seed %d)\n", service.URL, 100*p.faults, p.seed)
	if err = c.Prepare(ctx, engine.Setup{AckWait: 2 * time.Second}); err != nil {
		return err
	}
	o, err := outbox.Open(ctx, c)
	if err != nil {
		return err
	}
	if err = p.load(ctx, o); err != nil {
		return err
	}
	if err = o.SetRate(ctx, p.rate); err != nil {
		return err
	}
	started := time.Now()
	if err = p.send(ctx, o, service); err != nil {
		return err
	}
	fmt.Printf("every message had a verdict after %v\n\n", time.Since(started).Round(100*time.Millisecond))
	wrong, err := mismatches(ctx, o, service.Sent())
	if err != nil {
		return err
	}
	for _, line := range wrong {
		fmt.Println(line)
	}
	if len(wrong) > 0 {
		fmt.Println("\nthe verdicts DO NOT MATCH the messages that the service received")
		return command.ErrReported
	}
	fmt.Println("the verdicts match the messages that the service received")
	return nil
}

// load takes the messages in, twice.
func (p *play) load(ctx context.Context, o *outbox.Outbox) error {
	lines, err := samples(p.messages, mixedMessage)
	if err != nil {
		return err
	}
	for _, label := range []string{"first load: ", "second load:"} {
		loaded, err := o.Load(ctx, strings.NewReader(lines), func(int, outbox.LoadResult, error) {})
		if err != nil {
			return err
		}
		fmt.Println(label, loaded)
	}
	return nil
}

// samples returns sample messages as the content of a file.
func samples(messages int, kind func(n int) (outbox.Message, error)) (string, error) {
	var lines strings.Builder
	for n := range messages {
		m, err := kind(n)
		if err != nil {
			return "", fmt.Errorf("message %d: %w", n, err)
		}
		_, _ = fmt.Fprintf(&lines, "%s\n", m.Line())
	}
	return lines.String(), nil
}

// mixedMessage returns the n-th message of a campaign of all channels: of six messages, four go by SMS and one by each chat app.
func mixedMessage(n int) (outbox.Message, error) {
	to, reference := fmt.Sprintf("+63917%07d", n), fmt.Sprintf("play-%d", n)
	const text = "We open at nine"
	switch n % 6 {
	case 4:
		return outbox.NewMessage(chatapp1.New("channel-1", to).Text(text).WithReference(reference), outbox.Options{})
	case 5:
		return outbox.NewMessage(chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}, outbox.Options{})
	default:
		return outbox.NewMessage(sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}, outbox.Options{})
	}
}

// send runs workers until every message has a verdict. In the middle it kills one and starts another.
func (p *play) send(ctx context.Context, o *outbox.Outbox, service *messagingtest.Server) (err error) {
	// The test server lists a message at once, so that sending again is no risk.
	workers := newLauncher(&p.Settings, service, "-log="+p.Level.String(), "-send-timeout=1s", "-settle-interval=200ms", "-resend", "-settle-window=1s")
	running := make([]*worker, p.workers)
	defer func() {
		for _, w := range running {
			err = errors.Join(err, w.stop())
		}
	}()
	for i := range running {
		if running[i], err = workers.start(ctx); err != nil {
			return err
		}
	}
	const pollInterval, showInterval = 50 * time.Millisecond, time.Second
	var restartErr error
	var shown time.Time
	killed := false
	err = o.Watch(ctx, pollInterval, func(s outbox.Status) bool {
		if !killed && s.Final() > s.Total/3 && s.Messages[outbox.Sending] > 0 {
			killed = true
			running[0].kill()
			fmt.Printf("killed worker %d with SIGKILL, starting another\n", running[0].command.Process.Pid)
			running[0], restartErr = workers.start(ctx)
		}
		more := s.Final() < s.Total
		if !more || time.Since(shown) >= showInterval {
			fmt.Println(s)
			shown = time.Now()
		}
		return more && restartErr == nil
	})
	return errors.Join(err, restartErr, ctx.Err())
}

// mismatches returns a line for each message whose verdict does not match what a test server received.
func mismatches(ctx context.Context, o *outbox.Outbox, ledger []messagingtest.Sent) (wrong []string, err error) {
	name := func(channel, reference string) string { return channel + " " + reference }
	received := map[string]int{}
	for _, s := range ledger {
		received[name(string(s.Channel), s.ReferenceID)]++
	}
	for e, err := range o.All(ctx) {
		if err != nil {
			return nil, err
		}
		n := name(string(e.Channel), e.Reference)
		if times := received[n]; !slices.Contains(possible(e.State), times) {
			wrong = append(wrong, fmt.Sprintf("WRONG: %s is %s and was received %d times", n, e.State, times))
		}
		delete(received, n)
	}
	for n := range received {
		wrong = append(wrong, fmt.Sprintf("WRONG: %s was received and has no record", n))
	}
	return wrong, nil
}

// possible returns how many times a message in a state can have been received.
func possible(state outbox.State) []int {
	return map[outbox.State][]int{outbox.Accepted: {1}, outbox.Refused: {0}, outbox.Parked: {0, 1}}[state] // others have no verdict
}
