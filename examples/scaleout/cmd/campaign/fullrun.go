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

// fullRun is a whole campaign, from loading to the comparison of verdicts.
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
	service *messagingtest.Server // nil if the environment selects a service
}

// fullRunEvents is the number of events that the test server sends.
const fullRunEvents = 25

func runFull(ctx context.Context, args []string) error {
	f := fullRun{
		name: time.Now().UTC().Format("20060102T150405.000"),
		settings: settings{
			setup: engine.Setup{AckWait: 2 * time.Second}, level: slog.LevelError,
			work: outbox.WorkerOptions{SendTimeout: time.Second, SettleWindow: time.Second, SettleInterval: 200 * time.Millisecond},
		},
	}
	if os.Getenv(envURL) != "" { // a remote service needs more time
		f.setup.AckWait, f.work = 30*time.Second, outbox.WorkerOptions{}
	}
	if err := f.parse(args); err != nil {
		return err
	}
	url := os.Getenv(envEngine)
	if url == "" {
		server, end, err := startEngine(f.directory, 0)
		if err != nil {
			return err
		}
		defer end()
		url = server.URL()
		fmt.Printf("engine:      embedded, at %s\n", url)
	} else {
		fmt.Printf("engine:      from %s\n", envEngine)
	}
	connection, err := f.connectTo(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close()
	f.engine = connection
	if os.Getenv(envURL) != "" {
		fmt.Printf("service:     from %s\n", envURL)
		return f.run(ctx, newLauncher(&f.settings, url, "", ""))
	}
	f.service = messagingtest.Start()
	defer f.service.Close()
	f.service.InjectRandomly(f.seed, f.faults, faults()...)
	fmt.Printf("service:     test server at %s, with faults in %.0f %% of the requests (-seed %d)\n", f.service.URL, 100*f.faults, f.seed)
	return f.run(ctx, newLauncher(&f.settings, url, f.service.URL, f.service.Token))
}

func (f *fullRun) parse(args []string) error {
	flags := newFlags("", "[flags] [FILE]", "Runs a whole campaign: takes the messages of FILE, or samples, in twice and sends them with several workers, one of\n"+
		"which it kills in the middle. Finally compares the verdicts with the messages that the service received.\n"+
		"Commands: engine, service, enqueue, send, rate, status, parked, resolve, receive, events, measure; see -h of each.")
	f.registerEngine(flags)
	f.registerWork(flags)
	flags.StringVar(&f.directory, "dir", "", "data directory of the engine; temporary if empty")
	flags.IntVar(&f.messages, "messages", 600, "number of sample messages if there is no FILE")
	flags.IntVar(&f.workers, "workers", 3, "number of worker processes")
	flags.Float64Var(&f.rate, "rate", 150, "requests per second of all workers together; 0 means no limit")
	flags.Float64Var(&f.faults, "faults", 0.05, "fraction of requests to the test server that fail, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", rand.Uint64(), "seed that selects the requests that fail, and how") //nolint:gosec // chance, not a secret
	if err := parse(flags, args, 0, 1); err != nil {
		return err
	}
	f.file = flags.Arg(0)
	switch {
	case f.workers < 1 || f.messages < 1:
		return usageError("-workers and -messages must be at least 1")
	case !isFraction(f.faults):
		return usageError("-faults must be from 0 to 1")
	case f.file == "" && os.Getenv(envURL) != "":
		return usageError(envURL + " selects a real service, and the sample messages must not go there: pass a FILE with your messages")
	case f.file == "":
		return nil
	}
	if _, err := os.Stat(f.file); err != nil {
		return usageError(f.file + " is not a command or a file")
	}
	return nil
}

func (f *fullRun) run(ctx context.Context, workers *launcher) error {
	before := map[string]bool{}
	for e, err := range outbox.All(ctx, f.engine) {
		if err != nil {
			return err
		}
		before[e.Key] = e.State.IsFinal()
	}
	bad, err := f.load(ctx)
	if err != nil {
		return err
	}
	if err = outbox.SetRate(ctx, f.engine, f.rate); err != nil {
		return err
	}
	events := f.receive(ctx)
	started := time.Now()
	if err = f.send(ctx, workers); err != nil {
		return err
	}
	fmt.Printf("every message had a verdict after %v\n\n", time.Since(started).Round(100*time.Millisecond))
	if f.service == nil {
		status, readErr := progress.Read(ctx, f.engine)
		if readErr != nil {
			return readErr
		}
		fmt.Println(status)
		return problemsUnless(bad == 0)
	}
	result, err := compare(ctx, f.engine, f.service.Sent(), before)
	if err != nil {
		return err
	}
	result.print(os.Stdout)
	received := <-events
	if received.err != nil {
		return received.err
	}
	fmt.Printf("\n%d events, each sent four times to two receivers: %d calls succeeded, %d events stored\n", fullRunEvents, received.succeeded, received.stored)
	if result.agrees() {
		fmt.Println("\nthe verdicts match the messages that the service received")
	} else {
		fmt.Println("\nthe verdicts DO NOT MATCH the messages that the service received")
	}
	return problemsUnless(result.agrees() && received.stored == fullRunEvents && received.succeeded == 4*fullRunEvents && bad == 0)
}

func problemsUnless(ok bool) error {
	if ok {
		return nil
	}
	return errReported
}

// load takes the messages in, twice.
func (f *fullRun) load(ctx context.Context) (bad int, err error) {
	loader, err := outbox.NewLoader(ctx, f.engine, f.logger())
	if err != nil {
		return 0, err
	}
	lines, err := sampleFile(f.name, f.messages, mixedMessage)
	if err != nil {
		return 0, err
	}
	for _, label := range []string{"first load: ", "second load:"} {
		var loaded outbox.LoadResult
		if f.file != "" {
			loaded, err = loadFile(ctx, loader, f.file)
		} else {
			loaded, err = loader.Load(ctx, strings.NewReader(lines), nil)
		}
		if err != nil {
			return 0, err
		}
		bad = loaded.Bad
		fmt.Printf("%s %d queued, %d known, %d bad\n", label, loaded.Queued, loaded.Known, loaded.Bad)
	}
	return bad, nil
}

// received counts what became of the events.
type received struct {
	stored, succeeded int
	err               error
}

// receive sends events from the test server in the background.
func (f *fullRun) receive(ctx context.Context) <-chan received {
	events := make(chan received, 1)
	if f.service != nil {
		in := &inbound{engine: f.engine, service: f.service, events: fullRunEvents, name: f.name}
		go func() {
			stored, succeeded, err := in.run(ctx)
			events <- received{stored, succeeded, err}
		}()
	}
	return events
}

// send runs workers until every message has a verdict. In the middle it kills one and starts another.
func (f *fullRun) send(ctx context.Context, workers *launcher) (err error) {
	var running []*process
	defer func() {
		for _, w := range running {
			err = errors.Join(err, w.stop())
		}
	}()
	for range f.workers {
		w, startErr := workers.start(ctx)
		if startErr != nil {
			return startErr
		}
		running = append(running, w)
	}
	display, interval := progress.NewDisplay(os.Stdout)
	defer display.End()
	const pollInterval = 50 * time.Millisecond
	var restartErr error
	var shown time.Time
	killed := false
	err = progress.Watch(ctx, f.engine, pollInterval, func(s progress.Status) bool {
		if !killed && s.Final() > s.Total/3 && s.Messages[outbox.Sending] > 0 {
			killed = true
			running[0].kill()
			display.Println(fmt.Sprintf("killed worker %d with SIGKILL, starting another", running[0].command.Process.Pid))
			if running[0], restartErr = workers.start(ctx); restartErr != nil {
				running = running[1:]
				return false
			}
		}
		more := s.Final() < s.Total
		if !more || time.Since(shown) >= interval {
			display.Show(s)
			shown = time.Now()
		}
		return more
	})
	return errors.Join(err, restartErr, ctx.Err())
}
