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

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// play is a whole campaign.
type fullRun struct {
	settings
	name      string
	directory string
	file      string
	messages  int
	workers   int
	rate      float64
	faults    float64
	seed      uint64

	engine  *engine.Connection
	service *messagingtest.Server // nil where the environment names a service
}

// fullRunEvents is how many events the stand-in brings.
const fullRunEvents = 25

func runFull(ctx context.Context, args []string) error {
	p := fullRun{
		name: time.Now().UTC().Format("20060102T150405.000"),
		settings: settings{
			setup: engine.Setup{AckWait: 2 * time.Second}, level: slog.LevelError,
			work: outbox.WorkerOptions{SendTimeout: time.Second, SettleWindow: time.Second, SettleInterval: 200 * time.Millisecond},
		},
	}
	if os.Getenv(envURL) != "" { // a service that is not on this machine needs more time
		p.setup.AckWait, p.work = 30*time.Second, outbox.WorkerOptions{}
	}
	if err := p.parse(args); err != nil {
		return err
	}
	url := os.Getenv(envEngine)
	if url == "" {
		server, end, err := startEngine(p.directory, 0)
		if err != nil {
			return err
		}
		defer end()
		url = server.URL()
		fmt.Printf("the engine:  embedded, at %s\n", url)
	} else {
		fmt.Printf("the engine:  that of %s\n", envEngine)
	}
	connection, err := p.connectTo(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close()
	p.engine = connection
	if os.Getenv(envURL) != "" {
		fmt.Printf("the service: that of %s\n", envURL)
		return p.run(ctx, newLauncher(&p.settings, url, "", ""))
	}
	p.service = messagingtest.Start()
	defer p.service.Close()
	p.service.InjectRandomly(p.seed, p.faults, faults()...)
	fmt.Printf("the service: a stand-in at %s, in which %.0f %% of the requests go wrong (-seed %d)\n", p.service.URL, 100*p.faults, p.seed)
	return p.run(ctx, newLauncher(&p.settings, url, p.service.URL, p.service.Token))
}

func (p *fullRun) parse(args []string) error {
	flags := newFlags("", "[flags] [FILE]", "Plays a campaign through: the messages of FILE, or some of its own, are taken in twice and sent by workers, one of\n"+
		"which is killed in the middle. At the end the verdicts are compared with what the service has.\n"+
		"The commands: engine, service, enqueue, send, rate, status, parked, resolve, receive, events, measure; each knows -h.")
	p.registerEngine(flags)
	p.registerWork(flags)
	flags.StringVar(&p.directory, "dir", "", "where the engine keeps everything; a temporary directory if empty")
	flags.IntVar(&p.messages, "messages", 600, "how many messages there are without a FILE")
	flags.IntVar(&p.workers, "workers", 3, "how many worker processes there are")
	flags.Float64Var(&p.rate, "rate", 150, "how many requests all workers together begin in a second; 0 for no limit")
	flags.Float64Var(&p.faults, "faults", 0.05, "which share of the requests to the stand-in goes wrong, 0 to 1")
	flags.Uint64Var(&p.seed, "seed", rand.Uint64(), "which requests go wrong, and how") //nolint:gosec // chance, not a secret
	if err := parse(flags, args, 0, 1); err != nil {
		return err
	}
	p.file = flags.Arg(0)
	switch {
	case p.workers < 1 || p.messages < 1:
		return usageError("want at least one worker and one message")
	case !isShare(p.faults):
		return usageError("-faults wants a share from 0 to 1")
	case p.file == "" && os.Getenv(envURL) != "":
		return usageError(envURL + " names a service, and the messages of a play are nobody's: give a FILE with messages of yours")
	case p.file == "":
		return nil
	}
	if _, err := os.Stat(p.file); err != nil {
		return usageError("there is neither a command nor a file " + p.file)
	}
	return nil
}

func (p *fullRun) run(ctx context.Context, workers *launcher) error {
	before := map[string]bool{}
	for e, err := range outbox.All(ctx, p.engine) {
		if err != nil {
			return err
		}
		before[e.Key] = e.State.IsFinal()
	}
	bad, err := p.load(ctx)
	if err != nil {
		return err
	}
	if err = outbox.SetRate(ctx, p.engine, p.rate); err != nil {
		return err
	}
	events := p.receive(ctx)
	begun := time.Now()
	if err = p.send(ctx, workers); err != nil {
		return err
	}
	fmt.Printf("every message has a verdict after %v\n\n", time.Since(begun).Round(100*time.Millisecond))
	if p.service == nil {
		status, reading := progress.Read(ctx, p.engine)
		fmt.Println(status)
		return errors.Join(reading, reportedIf(bad == 0))
	}
	result, err := compare(ctx, p.engine, p.service.Sent(), before)
	if err != nil {
		return err
	}
	result.print(os.Stdout)
	received := <-events
	if received.err != nil {
		return received.err
	}
	fmt.Printf("\n%d events, each brought four times to two receivers: %d calls answered, %d events stored\n", fullRunEvents, received.answered, received.stored)
	well := result.agrees() && received.stored == fullRunEvents && received.answered == 4*fullRunEvents
	if well {
		fmt.Println("\nthe verdicts and the ledger of the service agree")
	} else {
		fmt.Println("\nthe verdicts and the ledger of the service DISAGREE")
	}
	return reportedIf(well && bad == 0)
}

func reportedIf(well bool) error {
	if well {
		return nil
	}
	return errReported
}

// load takes the messages in, twice.
func (p *fullRun) load(ctx context.Context) (bad int, err error) {
	loader, err := outbox.NewLoader(ctx, p.engine, p.logger())
	if err != nil {
		return 0, err
	}
	lines, err := file(p.name, p.messages, mixed)
	if err != nil {
		return 0, err
	}
	for _, words := range []string{"taken in:   ", "once more:  "} {
		var loaded outbox.LoadResult
		if p.file != "" {
			loaded, err = loadFile(ctx, loader, p.file)
		} else {
			loaded, err = loader.Load(ctx, strings.NewReader(lines), nil)
		}
		if err != nil {
			return 0, err
		}
		bad = loaded.Bad
		fmt.Printf("%s %d queued, %d known, %d bad\n", words, loaded.Queued, loaded.Known, loaded.Bad)
	}
	return bad, nil
}

// received is what became of the events.
type received struct {
	stored, answered int
	err              error
}

// receive lets the stand-in bring events in the meantime.
func (p *fullRun) receive(ctx context.Context) <-chan received {
	events := make(chan received, 1)
	if p.service != nil {
		in := &inbound{engine: p.engine, service: p.service, events: fullRunEvents, name: p.name}
		go func() {
			stored, answered, err := in.run(ctx)
			events <- received{stored, answered, err}
		}()
	}
	return events
}

// send runs the workers until every message has a verdict. In the middle it kills one, and starts another.
func (p *fullRun) send(ctx context.Context, workers *launcher) (err error) {
	var running []*process
	defer func() {
		for _, w := range running {
			err = errors.Join(err, w.stop())
		}
	}()
	for range p.workers {
		w, failure := workers.start(ctx)
		if failure != nil {
			return failure
		}
		running = append(running, w)
	}
	display, every := progress.NewDisplay(os.Stdout)
	defer display.End()
	const look = 50 * time.Millisecond
	var failed error
	var shown time.Time
	killed := false
	err = progress.Watch(ctx, p.engine, look, func(s progress.Status) bool {
		if !killed && s.Final() > s.Total/3 && s.Messages[outbox.Sending] > 0 {
			killed = true
			running[0].kill()
			display.Println(fmt.Sprintf("worker %d was killed (SIGKILL), another takes its place", running[0].command.Process.Pid))
			if running[0], failed = workers.start(ctx); failed != nil {
				running = running[1:]
				return false
			}
		}
		more := s.Final() < s.Total
		if !more || time.Since(shown) >= every {
			display.Show(s)
			shown = time.Now()
		}
		return more
	})
	return errors.Join(err, failed, ctx.Err())
}
