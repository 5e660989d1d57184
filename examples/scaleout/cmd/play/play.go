package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// play is a whole campaign, from loading to the comparison of verdicts.
type play struct {
	command.Settings

	messages int
	workers  int
	rate     float64
	faults   float64
	seed     uint64

	engine  *engine.Connection
	service *messagingtest.Server
}

func runPlay(ctx context.Context, args []string) error {
	p := play{Settings: command.Settings{Level: slog.LevelError + 1}}
	if err := p.parse(args); err != nil {
		return err
	}
	end, err := p.prepare(ctx)
	if err != nil {
		return err
	}
	defer end()
	p.service = messagingtest.Start()
	defer p.service.Close()
	p.service.InjectRandomly(p.seed, p.faults, faults()...)
	fmt.Printf("service:     test server at %s, with faults in %.0f %% of the requests (-seed %d)\n", p.service.URL, 100*p.faults, p.seed)
	return p.run(ctx)
}

func (p *play) parse(args []string) error {
	flags := command.NewFlags("play", "", "Runs a whole campaign against a test server: takes sample messages in, twice, and sends them with several workers, one of which\n"+
		"it kills in the middle. Finally compares the verdicts with the messages that the test server received. It uses the engine of\n"+
		command.EnvEngine+" only if that is empty.")
	p.Register(flags)
	flags.IntVar(&p.messages, "messages", 600, "number of sample messages")
	flags.IntVar(&p.workers, "workers", 3, "number of worker processes")
	flags.Float64Var(&p.rate, "rate", 150, "requests per second of all workers together; 0 means no limit")
	flags.Float64Var(&p.faults, "faults", 0.05, "fraction of requests to the test server that fail, 0 to 1")
	flags.Uint64Var(&p.seed, "seed", rand.Uint64(), "seed that selects the requests that fail, and how") //nolint:gosec // chance, not a secret
	if err := command.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	switch {
	case p.workers < 1 || p.messages < 1:
		return command.UsageError("-workers and -messages must be at least 1")
	case !isFraction(p.faults):
		return command.UsageError("-faults must be from 0 to 1")
	}
	return nil
}

// errInUse means that the play would mix its messages with real ones.
var errInUse = command.UsageError("the engine of " + command.EnvEngine + " holds streams already: the play needs an empty one, or none")

// prepare connects to an engine that holds nothing.
func (p *play) prepare(ctx context.Context) (end func(), err error) {
	end = func() {}
	if p.Engine.URL = os.Getenv(command.EnvEngine); p.Engine.URL == "" {
		server, endServer, startErr := startTemporary()
		if startErr != nil {
			return nil, startErr
		}
		p.Engine.URL, end = server.URL(), endServer
	}
	if p.engine, err = p.Connect(ctx); err != nil {
		end()
		return nil, err
	}
	endServer := end
	end = func() {
		p.engine.Close()
		endServer()
	}
	isEmpty, err := p.engine.IsEmpty(ctx)
	if err == nil && !isEmpty {
		err = errInUse
	}
	if err == nil {
		err = p.engine.Prepare(ctx, engine.Setup{AckWait: 2 * time.Second})
	}
	if err != nil {
		end()
		return nil, err
	}
	return end, nil
}

func (p *play) run(ctx context.Context) error {
	if err := p.load(ctx); err != nil {
		return err
	}
	if err := outbox.SetRate(ctx, p.engine, p.rate); err != nil {
		return err
	}
	started := time.Now()
	if err := p.send(ctx); err != nil {
		return err
	}
	fmt.Printf("every message had a verdict after %v\n\n", time.Since(started).Round(100*time.Millisecond))
	status, err := progress.Read(ctx, p.engine)
	if err != nil {
		return err
	}
	fmt.Println(status)
	wrong, err := mismatches(ctx, p.engine, p.service.Sent())
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
	fmt.Println("\nthe verdicts match the messages that the service received")
	return nil
}

// load takes the messages in, twice.
func (p *play) load(ctx context.Context) error {
	loader, err := outbox.NewLoader(ctx, p.engine, p.Logger())
	if err != nil {
		return err
	}
	lines, err := sampleFile("play", p.messages, mixedMessage)
	if err != nil {
		return err
	}
	for _, label := range []string{"first load: ", "second load:"} {
		loaded, err := loader.Load(ctx, strings.NewReader(lines), outbox.Report{})
		if err != nil {
			return err
		}
		fmt.Println(label, loaded)
	}
	return nil
}

// playArguments are the flags of the workers. The test server lists a message at once, so that sending again is no risk.
func playArguments() []string {
	return []string{"-send-timeout=1s", "-settle-interval=200ms", "-resend", "-settle-window=1s"}
}

// send runs workers until every message has a verdict. In the middle it kills one and starts another.
func (p *play) send(ctx context.Context) (err error) {
	workers := newLauncher(p.Engine, p.service.URL, p.service.Token, append(playArguments(), "-log="+p.Level.String())...)
	var running []*process
	defer func() {
		for _, w := range running {
			err = errors.Join(err, w.stop())
		}
	}()
	for range p.workers {
		w, startErr := workers.start(ctx)
		if startErr != nil {
			return startErr
		}
		running = append(running, w)
	}
	const pollInterval, showInterval = 50 * time.Millisecond, time.Second
	var restartErr error
	var shown time.Time
	killed := false
	err = progress.Watch(ctx, p.engine, pollInterval, func(s progress.Status) bool {
		if !killed && s.Final() > s.Total/3 && s.Messages[outbox.Sending] > 0 {
			killed = true
			running[0].kill()
			fmt.Printf("killed worker %d with SIGKILL, starting another\n", running[0].command.Process.Pid)
			if running[0], restartErr = workers.start(ctx); restartErr != nil {
				running = running[1:]
				return false
			}
		}
		more := s.Final() < s.Total
		if !more || time.Since(shown) >= showInterval {
			fmt.Println(s)
			shown = time.Now()
		}
		return more
	})
	return errors.Join(err, restartErr, ctx.Err())
}

// mismatches returns a line for each message whose verdict does not match what a test server received.
func mismatches(ctx context.Context, c *engine.Connection, ledger []messagingtest.Sent) (wrong []string, err error) {
	type name struct {
		channel   outbox.Channel
		reference string
	}
	sent := map[name]int{}
	for _, s := range ledger {
		sent[name{outbox.Channel(s.Channel), s.ReferenceID}]++
	}
	for e, err := range outbox.All(ctx, c) {
		if err != nil {
			return nil, err
		}
		n := name{e.Channel, e.Reference}
		times := sent[n]
		delete(sent, n)
		if !matches(e.State, times) {
			wrong = append(wrong, fmt.Sprintf("WRONG: %s %s is %s and was received %d times", e.Channel, e.Reference, e.State, times))
		}
	}
	for n := range sent {
		wrong = append(wrong, fmt.Sprintf("WRONG: %s %s was received and has no record", n.channel, n.reference))
	}
	return wrong, nil
}

// matches reports whether a message in a state can have been received so many times.
func matches(state outbox.State, times int) bool {
	switch state {
	case outbox.Accepted:
		return times == 1
	case outbox.Refused:
		return times == 0
	case outbox.Parked:
		return times <= 1
	case outbox.Queued, outbox.Sending, outbox.Unknown:
		return false // no verdict
	default:
		return false
	}
}
