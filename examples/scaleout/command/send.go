package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

func send(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	w := outbox.WorkerOptions{Metrics: metrics.New()}
	flags.IntVar(&w.Concurrency, "concurrency", 32, "messages of one channel and priority in flight")
	flags.DurationVar(&w.SendTimeout, "send-timeout", 10*time.Second, "time limit of one send")
	flags.DurationVar(&w.SettleInterval, "settle-interval", 2*time.Second,
		"time between the first two lookups of an SMS with an unknown outcome; it grows to ten minutes")
	flags.DurationVar(&w.SettleFor, "settle-for", 6*time.Hour, "time after which such an SMS is parked")
	flags.BoolVar(&w.Resend, "resend", false, "send an SMS again that is not listed after -settle-window. RISK: it is sent twice if the service lists it later,\n"+
		"if the network delivers a request later than that, or if the service ignores the reference ID")
	flags.DurationVar(&w.SettleWindow, "settle-window", 5*time.Minute, "longest time that the service takes to list an SMS; for -resend")
	flags.DurationVar(&w.StopTimeout, "stop-timeout", 0, "time to stop in while the engine is away; 0 means -send-timeout and 10 s")
	monitor := registerMonitor(flags)
	rate := flags.Float64("rate", -1, "requests per second of all workers together; 0 means no limit, a negative value keeps the current limit")
	exitOnEOF := flags.Bool("exit-on-eof", false, "exit at once when standard input ends, so that the worker does not outlive its parent process")
	return func(ctx context.Context, _ []string) error {
		if *exitOnEOF {
			go func() {
				_, _ = io.Copy(io.Discard, os.Stdin)
				os.Exit(1)
			}()
		}
		client, err := newClient(messaging.WithLogger(s.logger()), messaging.WithObserver(observer{w.Metrics}))
		if err != nil {
			return err
		}
		return s.onEngine(ctx, func(c *engine.Connection) error {
			o, err := outbox.Open(ctx, c)
			if err != nil {
				return err
			}
			if *rate >= 0 {
				if err = o.SetRate(ctx, *rate); err != nil {
					return err
				}
			}
			worker, err := o.NewWorker(client, w)
			if err != nil {
				return err
			}
			end, err := serveMonitor(ctx, *monitor, c, w.Metrics)
			if err != nil {
				return err
			}
			defer end()
			fmt.Println("sending")
			return worker.Run(ctx)
		})
	}
}

// observer counts the requests of a client.
type observer struct{ set *metrics.Set }

// StartStep implements [messaging.Observer].
func (observer) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

// EndStep implements [messaging.Observer].
func (o observer) EndStep(_ context.Context, step messaging.Step, result messaging.StepResult) {
	if step.Kind == messaging.StepAttempt {
		o.set.Count("scaleout_requests_total", "operation", step.Operation, "status", strconv.Itoa(result.StatusCode))
	}
}

func registerMonitor(flags *flag.FlagSet) *string {
	return flags.String("monitor", "", "address for /healthz, /readyz and /metrics, such as 127.0.0.1:9090; keep it away from the public")
}

// serveMonitor shows how this process is at an address, unless that is empty, until end is called.
func serveMonitor(ctx context.Context, address string, c *engine.Connection, set *metrics.Set) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-monitor: %w", err)
	}
	set.Gauge("scaleout_engine_connected", func() float64 {
		if c.NATS.IsConnected() {
			return 1
		}
		return 0
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", set)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		callCtx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if _, err := c.Stream(callCtx, engine.Outbox); err != nil || ctx.Err() != nil {
			http.Error(w, "stopping, or the engine is unreachable", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.Log.ErrorContext(ctx, "the monitor has ended", slog.Any("error", err))
		}
	}()
	fmt.Println("monitor at http://" + listener.Addr().String())
	return func() { _ = server.Close() }, nil
}
