package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "inbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 {
		return play(ctx, out)
	}
	flags := flag.NewFlagSet("inbox "+args[0], flag.ContinueOnError)
	url := flags.String("nats", "nats://127.0.0.1:4222", "address of the engine, or several separated by commas")
	address := flags.String("address", "127.0.0.1:8080", "address of the receiver; the service sends $WEBHOOK_SECRET in the parameter "+secretParameter)
	replicas := flags.Int("replicas", 1, "nodes that keep the events")
	database := flags.String("database", "inbox.db", "SQLite file of what was handled")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	stream, err := Connect(*url, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer stream.Close()
	if err = stream.Prepare(ctx, Setup{Replicas: *replicas}); err != nil {
		return err
	}
	switch args[0] {
	case "receive":
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
		if err != nil {
			return err
		}
		return Receive(ctx, listener, stream, os.Getenv("WEBHOOK_SECRET"))
	case "handle":
		effect, err := openEffect(ctx, *database)
		if err != nil {
			return err
		}
		defer effect.Close() //nolint:errcheck // every write is committed
		return stream.Handle(ctx, Consumer{Name: "handler"}, effect.handle)
	default:
		return fmt.Errorf("there is no command %q; want receive or handle", args[0])
	}
}

// effect is what the program does about events: it counts them in its database. The sequence of each is written in the same
// transaction, so that an event that comes again counts once.
type effect struct{ *sql.DB }

func openEffect(ctx context.Context, path string) (effect, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err == nil {
		_, err = db.ExecContext(ctx, `
			CREATE TABLE IF NOT EXISTS handled (sequence INTEGER PRIMARY KEY);
			CREATE TABLE IF NOT EXISTS event (callback TEXT NOT NULL, key TEXT NOT NULL)`)
	}
	return effect{db}, err
}

func (f effect) handle(ctx context.Context, e Event) error {
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	result, err := tx.ExecContext(ctx, "INSERT INTO handled (sequence) VALUES (?) ON CONFLICT DO NOTHING", e.Sequence)
	if err != nil {
		return err
	}
	if n, countErr := result.RowsAffected(); countErr != nil || n == 0 {
		return countErr // nil if it was handled
	}
	if _, err = tx.ExecContext(ctx, "INSERT INTO event (callback, key) VALUES (?, ?)", e.Callback, e.Key); err != nil {
		return err
	}
	return tx.Commit()
}

func (f effect) count(ctx context.Context) (n int, err error) {
	err = f.QueryRowContext(ctx, "SELECT COUNT(*) FROM event").Scan(&n)
	return n, err
}

// play runs an engine, two receivers and a consumer in this process, and delivers events, each of them to both receivers.
func play(ctx context.Context, out io.Writer) error {
	const events = 500
	folder, err := os.MkdirTemp("", "inbox")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	engine, err := startEngine(folder, 0)
	if err != nil {
		return err
	}
	defer engine.Shutdown()
	stream, err := Connect(engine.ClientURL(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer stream.Close()
	if err = stream.Prepare(ctx, Setup{}); err != nil {
		return err
	}
	for range 2 {
		handler, handlerErr := NewHandler(stream, "secret")
		if handlerErr != nil {
			return handlerErr
		}
		for i := range events {
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, messagingtest.SMSRequest("http://receiver.example/hooks/sms?"+secretParameter+"=secret",
				messagingtest.InboundSMS{ID: fmt.Sprint("in-", i), From: "+639171234567", Text: "Hi"}))
			if response.Code != http.StatusOK {
				return fmt.Errorf("a receiver responded %d", response.Code)
			}
		}
	}
	effect, err := openEffect(ctx, filepath.Join(folder, "inbox.db"))
	if err != nil {
		return err
	}
	defer effect.Close() //nolint:errcheck // it is temporary
	handling, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	err = stream.Handle(handling, Consumer{Name: "handler"}, func(ctx context.Context, e Event) error {
		handleErr := effect.handle(ctx, e)
		if n, countErr := effect.count(ctx); n == events || countErr != nil {
			stop()
		}
		return handleErr
	})
	n, countErr := effect.count(ctx)
	_, _ = fmt.Fprintf(out, "%d events, each delivered to both receivers: %d handled\n", events, n)
	if n != events {
		err = errors.Join(err, countErr, errors.New("the numbers differ"))
	}
	return err
}

// startEngine starts a NATS server on the loopback interface in this process. Port 0 takes any.
func startEngine(folder string, port int) (*server.Server, error) {
	if port == 0 {
		port = server.RANDOM_PORT
	}
	engine, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, NoSigs: true})
	if err != nil {
		return nil, err
	}
	engine.Start()
	if !engine.ReadyForConnections(30 * time.Second) {
		return nil, errors.New("the engine is not ready")
	}
	return engine, nil
}
