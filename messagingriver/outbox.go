package messagingriver

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"golang.org/x/sync/semaphore"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Outbox enqueues messages in the caller's transactions and sends them. It is safe for concurrent use.
type Outbox[TTx any] struct {
	options  Options
	client   *messaging.Client
	channels map[string]channel
	database database[TTx]
	river    *river.Client[TTx] // inserts jobs; the caller's own client works
	worker   string             // this outbox in the tables
	live     liveness
	tending  sync.Mutex // held while a round settles
	cleaning sync.Mutex // held while a round deletes
	rate     pace
	recorder recorder
}

// Options are the properties of an Outbox. A zero field has its default.
type Options struct {
	// Workers is how many messages of each channel a process sends at once: 1 to 10,000, by default 100.
	Workers int
	// SendTimeout bounds an attempt, the client's waits for its rate limit and a connection included; one minute by default. An
	// attempt that recorded no outcome within twice SendTimeout has an unknown one. It is the worker's alone: what a program enqueues
	// does not depend on it.
	SendTimeout time.Duration
	// SettleFor is how long an SMS with an unknown outcome is looked up before it is parked, 15 minutes by default. It should
	// be longer than the service takes to list a message that it accepted.
	SettleFor time.Duration
	// KeepRefused is how long the content of a refused or expired message is kept, so that it can be sent again; 7 days by
	// default.
	KeepRefused time.Duration
	// Keep is how long the row of a final message keeps its reference ID from being used again; 30 days by default. A shorter
	// one also holds for rows that are final already.
	Keep time.Duration
	// Rate is how many messages a second all processes on the database send together. The database divides it among those
	// that have messages to send. 0 is no limit. SetRate overrides it while processes run.
	Rate float64
	// Burst is how many messages beyond Rate may be sent in one second, after a pause; by default a tenth of Rate, and at least 1.
	Burst int
	// InOrder has the messages of a channel to one recipient sent one after another, in the order of insertion: the next one
	// begins when the outcome of the one before is known. A message that is parked, refused or scheduled for later holds none
	// back. By default there is no order. All processes on a database should have the same value.
	InOrder bool
}

// queue is the River queue for all jobs of the outbox.
const queue = "messaging"

// NewPostgres returns an outbox in a PostgreSQL database. Behind pgbouncer in transaction mode the pool needs pgx.QueryExecModeExec.
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
	if err := options.complete(); err != nil {
		return nil, err
	}
	inserter, err := river.NewClient(database.driver, &river.Config{Logger: slog.New(slog.DiscardHandler)}) // what it logs, the next tick mends
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	host, _ := os.Hostname() // for people who look; the text makes it unique
	o := &Outbox[TTx]{
		options: options, channels: map[string]channel{}, database: database, river: inserter, worker: host + "/" + rand.Text(),
		rate:     pace{waiting: semaphore.NewWeighted(1)},
		recorder: recorder{writing: make(chan struct{}, 2)},
	}
	// The outbox repeats messages itself, so that the client waits for nothing that a row can wait for.
	if o.client, err = client.With(messaging.WithGuard(o.guard), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})); err != nil {
		return nil, err
	}
	for _, c := range []channel{
		channelOf(messaging.ChannelSMS, o.client.SMS, func(m sms.Message) (_, _ string) { return m.ReferenceID, m.To }),
		channelOf(messaging.ChannelChatApp1, o.client.ChatApp1, func(m chatapp1.Message) (_, _ string) { return m.ReferenceID, m.To }),
		channelOf(messaging.ChannelChatApp2, o.client.ChatApp2, func(m chatapp2.Message) (_, _ string) { return m.ReferenceID, m.To }),
	} {
		c.places, c.batch = semaphore.NewWeighted(int64(options.Workers)), max(1, options.Workers/4)
		o.channels[c.channel.String()] = c
	}
	return o, nil
}

// complete checks the options and sets the defaults.
func (o *Options) complete() error {
	switch {
	case o.Workers < 0 || o.Workers > river.QueueNumWorkersMax:
		return fmt.Errorf("messagingriver: Options.Workers must be 0 to %d, got %d", river.QueueNumWorkersMax, o.Workers)
	case min(o.SendTimeout, o.SettleFor, o.KeepRefused, o.Keep) < 0:
		return fmt.Errorf("messagingriver: Options.SendTimeout, SettleFor, KeepRefused and Keep must not be negative, got %v, %v, %v and %v",
			o.SendTimeout, o.SettleFor, o.KeepRefused, o.Keep)
	case !(o.Rate >= 0 && o.Rate <= maxRate) || o.Burst < 0:
		return fmt.Errorf("messagingriver: Options.Rate must be 0 to %d, and Burst not negative, got %v and %d", maxRate, o.Rate, o.Burst)
	}
	const day = 24 * time.Hour
	o.Workers = cmp.Or(o.Workers, 100)
	o.SendTimeout = cmp.Or(o.SendTimeout, time.Minute)
	o.SettleFor = cmp.Or(o.SettleFor, 15*time.Minute)
	o.KeepRefused = cmp.Or(o.KeepRefused, 7*day)
	o.Keep = cmp.Or(o.Keep, 30*day)
	return nil
}

// AddTo adds the outbox's queue, workers and periodic work to the configuration of a River client over the same database. A
// process that only enqueues messages does not need it. If config.SoftStopTimeout is zero, AddTo sets it to SendTimeout and five
// seconds, so that the attempts under way end by themselves when the client stops.
func (o *Outbox[TTx]) AddTo(config *river.Config) error {
	config.Workers = cmp.Or(config.Workers, river.NewWorkers())
	config.SoftStopTimeout = cmp.Or(config.SoftStopTimeout, o.options.SendTimeout+5*time.Second)
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{}
	}
	// Each job under way holds the place of at least one message, apart from those that have just begun.
	slots := min(len(o.channels)*o.options.Workers+10, river.QueueNumWorkersMax)
	config.Queues[queue] = river.QueueConfig{MaxWorkers: slots, FetchCooldown: 10 * time.Millisecond}
	config.Plugins = append(config.Plugins, river.HookMetricEmitFunc(o.tick))
	config.PeriodicJobs = append(config.PeriodicJobs, river.NewPeriodicJob(
		river.PeriodicInterval(o.round()),
		func() (river.JobArgs, *river.InsertOpts) { return round{}, nil },
		&river.PeriodicJobOpts{RunOnStart: true},
	))
	return errors.Join(
		river.AddWorkerSafely(config.Workers, &worker[wake]{work: o.sendSome, timeout: 5 * o.options.SendTimeout}),
		river.AddWorkerSafely(config.Workers, &worker[round]{work: o.tend, timeout: 5 * o.options.SendTimeout}),
	)
}

// round is the time between two rounds of the outbox's own work.
func (o *Outbox[TTx]) round() time.Duration { return min(o.options.SendTimeout/4, 5*time.Second) }

// Key names a message.
type Key struct {
	Channel   string `json:"channel"`   // the name of the channel, such as "sms"
	Reference string `json:"reference"` // the reference ID
}

// Insert enqueues a message in the caller's transaction: it is sent after the commit, and never if the transaction is rolled
// back. It reports whether the message is new. If one with the same channel and reference ID is in the outbox, where final ones
// stay for Options.Keep, that one stays as it is, and this one is not sent.
//
// A message that the client would reject is an error that matches messaging.ErrInvalid, and so is one without a reference ID, by
// which the outbox recognizes a message that is enqueued again, and settles an unknown outcome.
func (o *Outbox[TTx]) Insert(ctx context.Context, tx TTx, message messaging.Message) (bool, error) {
	added, err := o.InsertMany(ctx, tx, []messaging.Message{message}, InsertOptions{})
	return added == 1, err
}

// Decode decodes a message of a channel, such as "sms", as encoding/json writes it: for programs that take messages from files or from
// another queue. Insert validates the message, Decode does not. Errors repeat no content.
func (o *Outbox[TTx]) Decode(channel string, message []byte) (messaging.Message, error) {
	known, ok := o.channels[channel]
	switch {
	case !ok:
		return nil, fmt.Errorf("messagingriver: the channel is %q; want one of %s", channel, strings.Join(o.names(), ", "))
	case len(message) == 0:
		return nil, errors.New("messagingriver: message: required, but absent")
	}
	return known.decode(message)
}

// Priority says which messages go first.
type Priority int

// The priorities. A message goes before every message of a lower priority that has not begun.
const (
	Urgent Priority = 1 + iota // such as one-time codes
	High
	Normal
	Bulk // such as campaigns
)

// InsertOptions are properties of messages that are enqueued together. A zero field has its default.
type InsertOptions struct {
	// Priority is Normal by default.
	Priority Priority
	// At is when the messages are to be sent, by the database's clock; by default, and if it is past, at once.
	At time.Time
	// Expire is how long after At, or after they were enqueued, the messages may still be sent. Later they become Expired. By
	// default they never do.
	Expire time.Duration
	// Campaign is a name by which messages are counted, paused and cancelled, up to 255 bytes; by default none.
	Campaign string
	// MaxAttempts is how many attempts may fail before a message is parked, by default 25. Attempts that tried nothing do not
	// count, and neither do those that failed because the service or the account was in trouble.
	MaxAttempts int
}

func (i *InsertOptions) complete() error {
	switch {
	case i.Priority < 0 || i.Priority > Bulk:
		return fmt.Errorf("messagingriver: InsertOptions.Priority must be %d to %d, got %d", Urgent, Bulk, i.Priority)
	case i.Expire < 0 || i.MaxAttempts < 0:
		return fmt.Errorf("messagingriver: InsertOptions.Expire and MaxAttempts must not be negative, got %v and %d", i.Expire, i.MaxAttempts)
	case len(i.Campaign) > 255 || strings.ContainsRune(i.Campaign, 0) || !utf8.ValidString(i.Campaign):
		return errors.New("messagingriver: InsertOptions.Campaign must be at most 255 bytes of UTF-8 without a zero byte")
	}
	i.Priority = cmp.Or(i.Priority, Normal)
	i.MaxAttempts = cmp.Or(i.MaxAttempts, 25)
	return nil
}

// InsertMany is like Insert, for many messages of any channels, and returns how many of them are new. About a thousand at once
// are quickest. After an error the transaction must be rolled back.
func (o *Outbox[TTx]) InsertMany(ctx context.Context, tx TTx, messages []messaging.Message, options InsertOptions) (int, error) {
	if err := options.complete(); err != nil {
		return 0, err
	}
	if none := *new(TTx); any(tx) == any(none) {
		return 0, fmt.Errorf("messagingriver: tx: required, but nil: %w", messaging.ErrInvalid)
	}
	rows := make(list[row], len(messages))
	for i, message := range messages {
		var err error
		if rows[i], err = o.check(message); err != nil {
			return 0, err
		}
	}
	at := max(0, options.At.UnixMilli()) // 0 also for none
	added, err := fetchIn(ctx, o.database, tx, keyColumns, `
		INSERT INTO messaging_outbox (channel, reference, state, attempt, message, problem, history, created_at, due_at, not_before,
			expires_at, priority, max_attempts, campaign, recipient, seq)
		SELECT value->>'channel', value->>'reference', 'waiting', 0, value->>'message', '', '', CLOCK,
			CASE WHEN NOT EXISTS (SELECT 1 FROM messaging_pause WHERE kind = 'campaign' AND name = CAST($6 AS TEXT))
				THEN LATER(CAST($2 AS BIGINT), CLOCK) END,
			CAST($2 AS BIGINT), CASE WHEN CAST($3 AS BIGINT) > 0 THEN LATER(CAST($2 AS BIGINT), CLOCK) + CAST($3 AS BIGINT) END,
			CAST($4 AS BIGINT), CAST($5 AS BIGINT), NULLIF(CAST($6 AS TEXT), ''), value->>'recipient',
			CASE WHEN value->>'recipient' IS NOT NULL THEN NEXT END
		FROM ROWS WHERE true
		ON CONFLICT DO NOTHING
		RETURNING channel, reference`,
		rows, at, options.Expire.Milliseconds(), options.Priority, options.MaxAttempts, options.Campaign)
	if err == nil && len(added) > 0 {
		_, err = o.river.InsertManyFastTx(ctx, tx, jobsFor(added...))
	}
	return len(added), err
}

// row is a message that can be enqueued, as InsertMany's statement reads it.
type row struct {
	Key

	Message   messaging.Message `json:"message"`
	Recipient string            `json:"recipient,omitempty"` // if Options.InOrder
}

func (o *Outbox[TTx]) check(message messaging.Message) (row, error) {
	for name, channel := range o.channels {
		is, reference, recipient, err := channel.check(message)
		switch {
		case !is:
			continue
		case err == nil && (reference == "" || len(reference) > 255 || strings.ContainsRune(reference, 0)):
			err = fmt.Errorf("messagingriver: ReferenceID: want 1 to 255 bytes without a zero byte, got %d bytes: %w",
				len(reference), messaging.ErrInvalid)
		case !o.options.InOrder:
			recipient = ""
		}
		return row{Key{name, reference}, message, recipient}, err
	}
	return row{}, fmt.Errorf("messagingriver: got %T; want a Message of one of the packages %s", message, strings.Join(o.names(), ", "))
}

// channel is what the outbox does with the messages of one channel.
type channel struct {
	channel messaging.Channel
	// places bounds how many messages a process sends at once. Each channel has its own, so that one in trouble holds none of
	// another.
	places *semaphore.Weighted
	// batch is how many are claimed at a time: a part of the places, so that the next ones are claimed while these are sent and recorded.
	batch int
	// claiming is held by the job that claims messages.
	claiming *sync.Mutex
	flow     *flow
	// check reports whether a message is one of the channel, and what the client finds wrong with it.
	check  func(messaging.Message) (is bool, reference, recipient string, err error)
	decode func(data []byte) (messaging.Message, error)
	// send makes one attempt. A panic of a function of the program is an error whose verdict says whether something may have been
	// written.
	send func(context.Context, messaging.Message) (messaging.Receipt, error)
}

// A service is that of a channel whose messages are of type M.
type service[M messaging.Message] interface {
	Validate(m M) error
	SendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[messaging.Outcome[M]]
}

func channelOf[M messaging.Message](of messaging.Channel, service service[M], envelope func(M) (reference, recipient string)) channel {
	return channel{
		channel:  of,
		claiming: new(sync.Mutex),
		flow:     new(flow),
		check: func(message messaging.Message) (is bool, reference, recipient string, err error) {
			m, is := message.(M)
			if is {
				reference, recipient = envelope(m)
				err = service.Validate(m)
			}
			return is, reference, recipient, err
		},
		decode: func(data []byte) (messaging.Message, error) {
			var m M
			err := json.Unmarshal(data, &m)
			return m, err
		},
		send: func(ctx context.Context, m messaging.Message) (receipt messaging.Receipt, err error) {
			for out := range service.SendAll(ctx, slices.Values([]M{m.(M)}), 1) {
				receipt, err = out.Receipt, out.Err
			}
			return receipt, err
		},
	}
}

// names returns the channels, sorted.
func (o *Outbox[TTx]) names() []string { return slices.Sorted(maps.Keys(o.channels)) }

// known returns the channels as SQL.
func (o *Outbox[TTx]) known() string { return "('" + strings.Join(o.names(), "', '") + "')" }
