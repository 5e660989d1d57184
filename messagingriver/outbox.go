package messagingriver

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outbox enqueues messages in the caller's transactions and sends them. It is safe for concurrent use.
type Outbox[TTx any] struct {
	options  Options
	client   *messaging.Client
	channels map[string]channel
	database database[TTx]
	river    *river.Client[TTx] // inserts jobs and pauses the queue; the caller's own client works
	places   chan struct{}      // of the messages being sent
	claims   batch[Key, *attempt]
	results  batch[result, struct{}]
}

// Options are the properties of an Outbox. A zero field has its default.
type Options struct {
	// Queue is River's queue for messages, "messaging" by default. The queue named like it with "_tend" at the end is for the
	// outbox's own work.
	Queue string
	// Workers is how many messages a process sends at once: 1 to 10,000, by default 100. Each waits for its turn under the
	// client's rate limit, so keep Workers below what the limit lets through in half a SendTimeout.
	Workers int
	// SendTimeout bounds an attempt, retries of the client included; one minute by default. Other times follow from it: an
	// attempt that recorded no outcome within twice SendTimeout has an unknown one, the outbox looks after such messages every
	// quarter, a paused queue is probed every SendTimeout, and a message without a job gets one after five times SendTimeout.
	// The clocks of all processes must agree to within SendTimeout.
	SendTimeout time.Duration
	// SettleFor is how long an SMS with an unknown outcome is looked up before it is parked, 15 minutes by default. It should
	// be longer than the service takes to list a message that it accepted.
	SettleFor time.Duration
	// Keep is how long the row of a message that is accepted, refused or dropped is kept, 30 days by default. It holds no
	// sender, recipient or content, but keeps the reference ID from being used again.
	Keep time.Duration
}

// NewPostgres returns an outbox in a PostgreSQL database.
func NewPostgres(pool *pgxpool.Pool, client *messaging.Client, options Options) (*Outbox[pgx.Tx], error) {
	if pool == nil || client == nil {
		return nil, errors.New("messagingriver: NewPostgres needs a pool and a client, got nil")
	}
	return newOutbox(postgres(pool), client, options)
}

// NewSQLite returns an outbox in an SQLite database, opened with a driver of database/sql such as modernc.org/sqlite. SQLite has
// one writer at a time: allow the pool one connection (SetMaxOpenConns), and do not use the pool while a transaction of it is
// open.
func NewSQLite(db *sql.DB, client *messaging.Client, options Options) (*Outbox[*sql.Tx], error) {
	if db == nil || client == nil {
		return nil, errors.New("messagingriver: NewSQLite needs a database and a client, got nil")
	}
	return newOutbox(sqlite(db), client, options)
}

func newOutbox[TTx any](database database[TTx], client *messaging.Client, options Options) (*Outbox[TTx], error) {
	if options.Workers < 0 || options.Workers > river.QueueNumWorkersMax {
		return nil, fmt.Errorf("messagingriver: Options.Workers must be 1 to %d, or 0 for the default, got %d",
			river.QueueNumWorkersMax, options.Workers)
	}
	if min(options.SendTimeout, options.SettleFor, options.Keep) < 0 {
		return nil, errors.New("messagingriver: Options.SendTimeout, SettleFor and Keep must not be negative")
	}
	options.Queue = cmp.Or(options.Queue, "messaging")
	options.Workers = cmp.Or(options.Workers, 100)
	options.SendTimeout = cmp.Or(options.SendTimeout, time.Minute)
	options.SettleFor = cmp.Or(options.SettleFor, 15*time.Minute)
	options.Keep = cmp.Or(options.Keep, 30*24*time.Hour)
	inserter, err := river.NewClient(database.driver, &river.Config{})
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	o := &Outbox[TTx]{options: options, client: client, channels: channels(client), database: database, river: inserter}
	o.places = make(chan struct{}, options.Workers)
	o.claims.run, o.results.run = o.claim, o.record
	return o, nil
}

// Migrate creates or updates River's tables and the outbox's. Call it in one process at a time.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error { return o.database.migrate(ctx) }

// AddTo adds the outbox's queues, workers and periodic work to the configuration of a River client over the same database. A
// process that only enqueues messages does not need it.
func (o *Outbox[TTx]) AddTo(config *river.Config) error {
	if config.Workers == nil {
		config.Workers = river.NewWorkers()
	}
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{}
	}
	// With River's own cooldown of 100 ms, 100 workers would send at most 1,000 messages a second.
	config.Queues[o.options.Queue] = river.QueueConfig{MaxWorkers: o.options.Workers, FetchCooldown: 10 * time.Millisecond}
	config.Queues[o.tendQueue()] = river.QueueConfig{MaxWorkers: 1}
	config.PeriodicJobs = append(config.PeriodicJobs, river.NewPeriodicJob(
		river.PeriodicInterval(o.options.SendTimeout/4),
		func() (river.JobArgs, *river.InsertOpts) {
			return round{}, &river.InsertOpts{Queue: o.tendQueue(), MaxAttempts: 1}
		},
		&river.PeriodicJobOpts{RunOnStart: true},
	))
	return errors.Join(
		river.AddWorkerSafely(config.Workers, &sender[TTx]{outbox: o}),
		river.AddWorkerSafely(config.Workers, &tender[TTx]{outbox: o}),
	)
}

func (o *Outbox[TTx]) tendQueue() string { return o.options.Queue + "_tend" }

// Message is an sms.Message, a chatapp1.Message or a chatapp2.Message.
type Message interface{ Call() wire.Call }

// Item is a message for InsertMany.
type Item struct {
	Message Message
	// Priority is River's: 1, the first and the default, to 4.
	Priority int
	// ScheduledAt is when to send the message. The zero time, and any that is past, is now.
	ScheduledAt time.Time
}

// Key names a message.
type Key struct {
	// Channel is "sms", "chatapp1" or "chatapp2".
	Channel string `json:"channel"`
	// Reference is the reference ID.
	Reference string `json:"reference"`
}

// Insert enqueues a message in the caller's transaction: it is sent after the commit, and never if the transaction is rolled
// back. It reports whether the message is new. If one with the same channel and reference ID was enqueued before and is not
// deleted yet (see Options.Keep), that one stays as it is, and this one is not sent.
//
// A message that the client would reject is a *messaging.ValidationError, and so is one without a reference ID, by which the
// outbox recognizes a message that is enqueued again, and settles an unknown outcome.
func (o *Outbox[TTx]) Insert(ctx context.Context, tx TTx, message Message) (bool, error) {
	added, err := o.InsertMany(ctx, tx, []Item{{Message: message}})
	return added == 1, err
}

// InsertMany is like Insert, for many messages of any channels, and returns how many of them are new. About a thousand at once
// are quickest. After an error the transaction must be rolled back.
func (o *Outbox[TTx]) InsertMany(ctx context.Context, tx TTx, items []Item) (int, error) {
	type row struct {
		Key

		Message Message `json:"message"`
		Later   int64   `json:"later,omitempty"` // the milliseconds until it is to be sent
	}
	now := time.Now()
	rows, same := make([]row, len(items)), make(map[Key]Item, len(items))
	for i, item := range items {
		key, err := o.check(item.Message)
		if err != nil {
			return 0, err
		}
		later := max(0, time.Until(item.ScheduledAt))
		rows[i] = row{key, item.Message, later.Milliseconds()}
		if _, again := same[key]; again {
			continue // of two with one key, the statement takes the first
		}
		same[key] = Item{Priority: item.Priority, ScheduledAt: now.Add(later)}
	}
	encoded, err := json.Marshal(rows)
	if err != nil {
		return 0, fmt.Errorf("messagingriver: insert: %w", err)
	}
	found, err := o.database.queryIn(ctx, tx, `
		INSERT INTO messaging_outbox (channel, reference, state, attempt, message, problem, created_at, due_at)
		SELECT value->>'channel', value->>'reference', 'waiting', 0, value->>'message', '', CAST($2 AS BIGINT),
			CAST($3 AS BIGINT) + COALESCE(CAST(value->>'later' AS BIGINT), 0)
		FROM ROWS WHERE true
		ON CONFLICT DO NOTHING
		RETURNING channel, reference`, string(encoded), now.UnixMilli(), now.Add(o.overdue()).UnixMilli())
	added, err := collect(found, err, keyColumns)
	if err == nil && len(added) > 0 {
		together := map[Item][]Key{}
		for _, key := range added {
			together[same[key]] = append(together[same[key]], key)
		}
		var jobs []river.InsertManyParams
		for item, keys := range together {
			options := river.InsertOpts{Queue: o.options.Queue, Priority: item.Priority, ScheduledAt: item.ScheduledAt}
			jobs = append(jobs, jobsOf(keys, options)...)
		}
		_, err = o.river.InsertManyFastTx(ctx, tx, jobs)
	}
	if err != nil {
		return 0, fmt.Errorf("messagingriver: insert: %w", err)
	}
	return len(added), nil
}

// check returns the key of a message that can be enqueued.
func (o *Outbox[TTx]) check(message Message) (Key, error) {
	name := channelName(message)
	if name == "" {
		return Key{}, fmt.Errorf("messagingriver: got %T; want an sms.Message, a chatapp1.Message or a chatapp2.Message", message)
	}
	if err := o.channels[name].validate(message); err != nil {
		return Key{}, err
	}
	const longest = 255
	key := Key{name, message.Call().ReferenceID}
	if key.Reference == "" || len(key.Reference) > longest || strings.ContainsRune(key.Reference, 0) {
		problem := messaging.Problem{
			Field:  "ReferenceID",
			Reason: fmt.Sprintf("an outbox needs one of 1 to %d bytes without a zero byte, got %d bytes", longest, len(key.Reference)),
		}
		return Key{}, &messaging.ValidationError{
			Operation: name + ".send", Field: problem.Field, Reason: problem.Reason, Problems: []messaging.Problem{problem},
		}
	}
	return key, nil
}
