package messagingriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Outbox enqueues messages in transactions of type TTx and sends them. It is safe for concurrent use.
type Outbox[TTx any] struct {
	options  Options
	client   *messaging.Client
	channels map[string]channel
	database database
	doubt    doubtRules         // of the database
	inserter *river.Client[TTx] // inserts in the caller's transactions
	// executorOf returns an executor of statements in the caller's transaction.
	executorOf func(tx TTx) riverdriver.Executor
	outcomes   batcher[outcomeArgs]
	process    process
}

// Options configure an Outbox. A zero field has its default.
type Options struct {
	// Schema is the schema of River's tables on PostgreSQL, "messaging" by default: up to 46 lower-case letters, digits and underscores.
	// Use it for the outbox alone, so that another River client on the database neither works nor deletes its jobs. Each account needs its own.
	// On SQLite it must be empty: the tables are in the file of the program.
	Schema string
	// Workers is how many messages of each channel this process works on concurrently: 1 to 10,000, by default 16. An urgent message waits
	// behind these messages, and a killed process may leave their outcomes unknown. To reach a rate, a process needs as many workers as
	// messages are in flight: at 100 a second and 0.4 seconds a response, 40. With a Rate, there are at most as many workers as messages a
	// second, but at least 1: if responses take longer than a second, limit the client by messaging.WithRateLimit in place of Rate. Status can
	// count more messages as running: those whose attempts have ended, until River has written their outcomes.
	//
	// On PostgreSQL a worker holds no connection while it waits for a guard or a response, and workers write together. So the pool needs 4
	// connections however many workers there are, 1 of them for notifications: 100 workers were as fast with 3 connections as with 10. Add
	// those that guards, OnOutcome and the rest of the program use at the same time.
	Workers int
	// Rate is how many requests this process makes per second, up to 1,000,000, with bursts of a tenth of it, but at least 1. All channels share it, and
	// lookups count. N processes make N times as many. It replaces the client's WithRateLimit in this outbox. With 0 that limit applies, if there is one.
	Rate float64
	// SendTimeout bounds an attempt, 30 seconds by default and at most an hour. The messages of a killed process are rescued 15 to 45 seconds
	// after SendTimeout. It must be the same in all processes: one with a shorter SendTimeout would take messages from those that still send them.
	SendTimeout time.Duration
	// SettleFor is how long an SMS with an unknown outcome is looked up before it is discarded, 15 minutes by default. It should be longer
	// than the service takes to list an accepted message. Lookups that fail prove nothing: then the SMS is looked up again, at most 10 minutes
	// later, and discarded 24 hours after SettleFor at the latest. It must not be negative.
	SettleFor time.Duration
	// Keep is how long completed and cancelled messages keep their reference ID from being used again, 30 days by default. Discarded
	// ones are kept until a person decides. It must not be negative.
	Keep time.Duration
	// PollOnly makes River poll for jobs and pauses every second or two, instead of using PostgreSQL's notifications. Set it behind a pooler
	// such as pgbouncer in transaction mode, which does not pass notifications on. The pool needs pgx.QueryExecModeExec, too.
	PollOnly bool
	// OnOutcome is called after an attempt or a lookup completed, cancelled or discarded a message. See Outcome. Set it in all processes
	// that call Start: the outcomes of a process without it are never reported. The text of an error that it returns is logged, so it should have
	// no personal data. The value of a panic is not logged.
	OnOutcome func(ctx context.Context, outcome Outcome) error
	// Logger receives failures in the background, from River and from the outbox, without personal data. Give it a handler of level WARN: at
	// INFO, River logs every few seconds while messages are sent. The default writes warnings and errors to standard error, as text.
	Logger *slog.Logger

	// now is the clock of the process, and startAtOnce has River's maintenance begin without a random delay. Tests set them.
	now         func() time.Time
	startAtOnce bool
}

// NewPostgres returns an outbox in a PostgreSQL database, for a program with transactions of pgx. A nil pool or client is an error, and so is
// an option out of its bounds.
func NewPostgres(pool *pgxpool.Pool, client *messaging.Client, options Options) (*Outbox[pgx.Tx], error) {
	if pool == nil {
		return nil, errNoDatabase
	}
	driver := riverpgxv5.New(pool)
	return newOutbox(driver, driver, client, options)
}

// NewPostgresSQL is like NewPostgres, for a program with transactions of database/sql. With webhook/sqlstore, for example, a handler can
// enqueue its reply in the transaction of the event. The pool serves the workers. The transactions may come from any *sql.DB over the same
// database, such as stdlib.OpenDBFromPool(pool).
func NewPostgresSQL(pool *pgxpool.Pool, client *messaging.Client, options Options) (*Outbox[*sql.Tx], error) {
	if pool == nil {
		return nil, errNoDatabase
	}
	return newOutbox(riverdatabasesql.New(nil), riverpgxv5.New(pool), client, options)
}

// NewSQLite returns an outbox in an SQLite database, opened with a driver such as modernc.org/sqlite. The pool needs either one connection
// (db.SetMaxOpenConns(1)), or journal_mode(wal) and a busy_timeout; otherwise NewSQLite returns an error that says so. Open the file with
// _txlock=immediate. With one connection, do not use the pool while one of its transactions is open. Only one process at a time may send.
// A nil database or client is an error, and so is an option out of its bounds.
func NewSQLite(db *sql.DB, client *messaging.Client, options Options) (*Outbox[*sql.Tx], error) {
	if db == nil {
		return nil, errNoDatabase
	}
	if err := checkSQLite(db); err != nil {
		return nil, err
	}
	if options.Schema != "" {
		return nil, fmt.Errorf("messagingriver: Options.Schema is for PostgreSQL, got %q", options.Schema)
	}
	driver := riversqlite.New(db)
	return newOutbox(driver, driver, client, options)
}

var errNoDatabase = errors.New("messagingriver: an outbox needs a database, got nil")

// newOutbox returns an outbox that inserts with one driver and works with another, on the same database.
func newOutbox[TTx, TWork any](
	inserting riverdriver.Driver[TTx], working riverdriver.Driver[TWork], client *messaging.Client, options Options,
) (*Outbox[TTx], error) {
	if client == nil {
		return nil, errors.New("messagingriver: an outbox needs a client, got nil")
	}
	isPostgres := working.DatabaseName() == riverdriver.DatabaseNamePostgres
	if err := options.complete(isPostgres); err != nil {
		return nil, err
	}
	config := &river.Config{Schema: options.Schema, Logger: options.Logger}
	if isPostgres {
		config.Hooks = []rivertype.Hook{river.HookInsertBeginFunc(dueByDatabase)}
	}
	inserter, err := river.NewClient(inserting, config)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	operator, err := river.NewClient(working, config)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	o := &Outbox[TTx]{
		options:    options,
		database:   newDatabase(&riverOver[TWork]{working, operator}, working.GetExecutor(), isPostgres, options.Schema),
		inserter:   inserter,
		executorOf: func(tx TTx) riverdriver.Executor { return inserting.UnwrapExecutor(tx) },
	}
	o.doubt = newDoubtRules(&o.database)
	if err := o.setClient(client); err != nil {
		return nil, err
	}
	return o, nil
}

// setClient derives the sending clients from client. An attempt is one request at most: River repeats it, and not the client, because each
// request needs a mark of its own.
func (o *Outbox[TTx]) setClient(client *messaging.Client) error {
	options := []messaging.Option{messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})}
	if o.options.Rate > 0 {
		burst := max(1, int(o.options.Rate/10))
		options = append(options, messaging.WithRateLimit(o.options.Rate, burst))
	}
	guarded, err := client.With(options...)
	if err != nil {
		return err
	}
	unguarded, err := guarded.With(messaging.WithGuard(nil))
	if err != nil {
		return err
	}
	o.client = guarded
	o.channels = newChannels(guarded, unguarded)
	return nil
}

// complete checks the options and sets the defaults.
func (o *Options) complete(isPostgres bool) error {
	if err := o.check(); err != nil {
		return err
	}
	const day = 24 * time.Hour
	o.Workers = cmp.Or(o.Workers, 16)
	if o.Rate > 0 {
		o.Workers = min(o.Workers, max(1, int(math.Ceil(o.Rate))))
	}
	if o.now == nil {
		o.now = time.Now
	}
	o.SendTimeout = cmp.Or(o.SendTimeout, 30*time.Second)
	o.SettleFor = cmp.Or(o.SettleFor, 15*time.Minute)
	o.Keep = cmp.Or(o.Keep, 30*day)
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if isPostgres {
		o.Schema = cmp.Or(o.Schema, "messaging")
	}
	return nil
}

// check returns an error that names all that is wrong with the options.
func (o *Options) check() error {
	var problems []error
	if o.Workers < 0 || o.Workers > river.QueueNumWorkersMax {
		problems = append(problems, fmt.Errorf("messagingriver: Options.Workers must be 0 to %d, got %d", river.QueueNumWorkersMax, o.Workers))
	}
	if math.IsNaN(o.Rate) || o.Rate < 0 || o.Rate > maxRate {
		problems = append(problems, fmt.Errorf("messagingriver: Options.Rate must be 0 to %d messages a second, got %v", maxRate, o.Rate))
	}
	if o.SendTimeout < 0 || o.SendTimeout > time.Hour {
		problems = append(problems, fmt.Errorf("messagingriver: Options.SendTimeout must be 0 to 1h, got %v", o.SendTimeout))
	}
	if o.SettleFor < 0 {
		problems = append(problems, fmt.Errorf("messagingriver: Options.SettleFor must not be negative, got %v", o.SettleFor))
	}
	if o.Keep < 0 {
		problems = append(problems, fmt.Errorf("messagingriver: Options.Keep must not be negative, got %v", o.Keep))
	}
	return errors.Join(append(problems, checkSchema(o.Schema))...)
}

// maxRate is the highest Options.Rate.
const maxRate = 1_000_000

// checkSchema checks a name that becomes a part of statements. It may be empty.
func checkSchema(name string) error {
	const maxLength = 46 // River appends to it
	isName := regexp.MustCompile("^([a-z_][a-z0-9_]*)?$").MatchString(name)
	if !isName || len(name) > maxLength {
		return fmt.Errorf("messagingriver: Options.Schema must be up to %d lower-case letters, digits and underscores, and not begin with a digit, got %q",
			maxLength, name)
	}
	return nil
}

// queueLookups is the queue of messages that are looked up.
const queueLookups = "messaging_lookups"

// queueExpired is the queue of messages that expired while they waited.
const queueExpired = "messaging_expired"

// queueOf returns the queue of a channel.
func queueOf(channel string) string { return "messaging_" + channel }

// probesOf returns the queue of the message that probes while the channel is paused.
func probesOf(channel string) string { return queueOf(channel) + "_probe" }
