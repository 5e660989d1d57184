package messagingriver

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"golang.org/x/sync/semaphore"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Outbox enqueues messages in the caller's transactions and sends them. It is safe for concurrent use.
type Outbox[TTx any] struct {
	options  Options
	client   *messaging.Client
	channels map[string]channel
	database database[TTx]
	river    *river.Client[TTx]  // inserts jobs and pauses the queue; the caller's own client works
	places   *semaphore.Weighted // of the messages being sent
}

// Options are the properties of an Outbox. A zero field has its default.
type Options struct {
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
}

// keep is how long the row of an accepted, refused or dropped message keeps its reference ID from being used again.
const keep = 30 * 24 * time.Hour

// The queue for messages, and the one for the outbox's own work.
const queue, tendQueue = "messaging", "messaging_tend"

// NewPostgres returns an outbox in a PostgreSQL database.
func NewPostgres(pool *pgxpool.Pool, client *messaging.Client, options Options) (*Outbox[pgx.Tx], error) {
	return newOutbox(postgres(pool), pool == nil, client, options)
}

// NewSQLite returns an outbox in an SQLite database, opened with a driver such as modernc.org/sqlite. SQLite has one writer at a
// time: allow the pool one connection (SetMaxOpenConns), and do not use the pool while a transaction of it is open.
func NewSQLite(db *sql.DB, client *messaging.Client, options Options) (*Outbox[*sql.Tx], error) {
	return newOutbox(sqlite(db), db == nil, client, options)
}

func newOutbox[TTx any](database database[TTx], none bool, client *messaging.Client, options Options) (*Outbox[TTx], error) {
	if none || client == nil {
		return nil, errors.New("messagingriver: an outbox needs a database and a client, got nil")
	}
	if options.Workers < 0 || options.Workers > river.QueueNumWorkersMax || min(options.SendTimeout, options.SettleFor) < 0 {
		return nil, fmt.Errorf("messagingriver: Options.Workers must be 0 to %d, SendTimeout and SettleFor not negative, got %+v",
			river.QueueNumWorkersMax, options)
	}
	options.Workers = cmp.Or(options.Workers, 100)
	options.SendTimeout = cmp.Or(options.SendTimeout, time.Minute)
	options.SettleFor = cmp.Or(options.SettleFor, 15*time.Minute)
	inserter, err := river.NewClient(database.driver, &river.Config{})
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	channels := map[string]channel{
		messaging.ChannelSMS.String():      channelOf(client.SMS.Validate, client.SMS.Send),
		messaging.ChannelChatApp1.String(): channelOf(client.ChatApp1.Validate, client.ChatApp1.Send),
		messaging.ChannelChatApp2.String(): channelOf(client.ChatApp2.Validate, client.ChatApp2.Send),
	}
	return &Outbox[TTx]{options, client, channels, database, inserter, semaphore.NewWeighted(int64(options.Workers))}, nil
}

// AddTo adds the outbox's queues, workers and periodic work to the configuration of a River client over the same database. A
// process that only enqueues messages does not need it.
func (o *Outbox[TTx]) AddTo(config *river.Config) error {
	config.Workers = cmp.Or(config.Workers, river.NewWorkers())
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{}
	}
	// With River's own cooldown of 100 ms, 100 workers would send at most 1,000 messages a second.
	config.Queues[queue] = river.QueueConfig{MaxWorkers: o.options.Workers, FetchCooldown: 10 * time.Millisecond}
	config.Queues[tendQueue] = river.QueueConfig{MaxWorkers: 1}
	config.PeriodicJobs = append(config.PeriodicJobs, river.NewPeriodicJob(
		river.PeriodicInterval(o.options.SendTimeout/4),
		func() (river.JobArgs, *river.InsertOpts) {
			return round{}, &river.InsertOpts{Queue: tendQueue, MaxAttempts: 1}
		},
		&river.PeriodicJobOpts{RunOnStart: true},
	))
	return errors.Join(
		river.AddWorkerSafely(config.Workers, &sender[TTx]{outbox: o}),
		river.AddWorkerSafely(config.Workers, river.WorkFunc(o.tend)),
	)
}

// Message is an sms.Message, a chatapp1.Message or a chatapp2.Message.
type Message interface{ Call() wire.Call }

// Key names a message.
type Key struct {
	// Channel is "sms", "chatapp1" or "chatapp2".
	Channel string `json:"channel"`
	// Reference is the reference ID.
	Reference string `json:"reference"`
}

// Insert enqueues a message in the caller's transaction: it is sent after the commit, and never if the transaction is rolled
// back. It reports whether the message is new. If one with the same channel and reference ID was enqueued in the last 30 days, or
// is not final, that one stays as it is, and this one is not sent.
//
// A message that the client would reject is an error that matches messaging.ErrInvalid, and so is one without a reference ID, by
// which the outbox recognizes a message that is enqueued again, and settles an unknown outcome.
func (o *Outbox[TTx]) Insert(ctx context.Context, tx TTx, message Message) (bool, error) {
	added, err := o.InsertMany(ctx, tx, []Message{message}, river.InsertOpts{})
	return added == 1, err
}

// InsertMany is like Insert, for many messages of any channels, and returns how many of them are new. About a thousand at once
// are quickest. Priority, schedule, tags and attempts are those in options, of which Queue and UniqueOpts are not used. After an
// error the transaction must be rolled back.
func (o *Outbox[TTx]) InsertMany(ctx context.Context, tx TTx, messages []Message, options river.InsertOpts) (int, error) {
	type row struct {
		Key

		Message Message `json:"message"`
	}
	rows := make(list[row], len(messages))
	for i, message := range messages {
		key, err := o.check(message)
		if err != nil {
			return 0, err
		}
		rows[i] = row{key, message}
	}
	now := time.Now()
	due := now.Add(max(0, options.ScheduledAt.Sub(now)) + o.overdue())
	found, err := o.database.queryIn(ctx, tx, o.database.spell.Replace(`
		INSERT INTO messaging_outbox (channel, reference, state, attempt, message, problem, created_at, due_at)
		SELECT value->>'channel', value->>'reference', 'waiting', 0, value->>'message', '', CAST($2 AS BIGINT), CAST($3 AS BIGINT)
		FROM ROWS WHERE true
		ON CONFLICT DO NOTHING
		RETURNING channel, reference`), rows, now.UnixMilli(), due.UnixMilli())
	added, err := collect(found, err, keyColumns)
	if err == nil && len(added) > 0 {
		_, err = o.river.InsertManyFastTx(ctx, tx, jobsOf(added, options))
	}
	return len(added), err
}

// check returns the key of a message that can be enqueued.
func (o *Outbox[TTx]) check(message Message) (Key, error) {
	for name, channel := range o.channels {
		is, err := channel.validate(message)
		if err != nil {
			return Key{}, err
		}
		if !is {
			continue
		}
		reference := message.Call().ReferenceID
		if reference == "" || len(reference) > 255 || strings.ContainsRune(reference, 0) {
			return Key{}, fmt.Errorf("messagingriver: ReferenceID: want 1 to 255 bytes without a zero byte, got %d bytes: %w",
				len(reference), messaging.ErrInvalid)
		}
		return Key{name, reference}, nil
	}
	return Key{}, fmt.Errorf("messagingriver: got %T; want a Message of one of the packages %s",
		message, strings.Join(slices.Sorted(maps.Keys(o.channels)), ", "))
}

// channel is what the outbox does with the messages of one channel.
type channel struct {
	// validate also reports whether the message is one of the channel.
	validate func(Message) (bool, error)
	decode   func(stored string) (Message, error)
	send     func(context.Context, Message) (messaging.Receipt, error)
}

func channelOf[M Message](validate func(M) error, send func(context.Context, M) (messaging.Receipt, error)) channel {
	return channel{
		validate: func(message Message) (bool, error) {
			m, is := message.(M)
			if !is {
				return false, nil
			}
			return true, validate(m)
		},
		decode: func(stored string) (Message, error) {
			var m M
			err := json.Unmarshal([]byte(stored), &m)
			return m, err
		},
		send: func(ctx context.Context, m Message) (messaging.Receipt, error) { return send(ctx, m.(M)) },
	}
}
