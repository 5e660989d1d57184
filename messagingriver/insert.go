package messagingriver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
)

// Key names a message.
type Key struct {
	Channel   string `json:"channel"`     // sms, chatapp1 or chatapp2, as messaging.Channel.String returns it; see messaging.ParseChannel
	Reference string `json:"referenceID"` // the reference ID, 1 to 255 bytes
}

// messageArgs are the arguments of a message's job.
type messageArgs struct {
	Channel   string `json:"channel" river:"unique"`
	Reference string `json:"reference" river:"unique"`
	// Message is as encoding/json writes it. It is deleted when the message was accepted.
	Message json.RawMessage `json:"message,omitempty"`

	// retryAfter is the wait of a retryable result, for which River asks the worker with NextRetry. It is not stored.
	retryAfter time.Duration
}

const messageKind = "messaging"

// Kind implements river.JobArgs.
func (messageArgs) Kind() string { return messageKind }

// dueByDatabase makes a new job due by the clock of the database. River would use the clock of this process on PostgreSQL. If that were ahead,
// the job would wait; if it were behind, the job would go before those that have waited longer. River stores the time of the database instead of
// a zero time.
func dueByDatabase(_ context.Context, job *rivertype.JobInsertParams) error {
	if job.ScheduledAt == nil {
		job.ScheduledAt = new(time.Time{})
	}
	return nil
}

// Priority says which messages go first.
type Priority int

// The priorities. Messages of a higher priority are sent first. They are River's, from 1 to 4.
const (
	Urgent Priority = 1 // such as one-time codes
	Normal Priority = 3
	Bulk   Priority = 4 // such as campaigns
)

// InsertOptions are properties of messages that are enqueued together. A zero field has its default.
type InsertOptions struct {
	// Priority is Normal by default.
	Priority Priority
	// At is the earliest time to send the messages. Sending may begin up to 5 seconds after it. The zero time and times in the past mean at
	// once.
	At time.Time
	// Expire is how long after At the messages may still be sent, even if At has passed, or after they were enqueued if At is zero. Later they are
	// cancelled. By default they never expire. Messages of a paused campaign are not cancelled until the campaign is resumed.
	Expire time.Duration
	// Campaign is a name by which messages are counted, paused and cancelled, up to 255 bytes. By default they have none.
	Campaign string
	// MaxAttempts is how many attempts may fail before a message is discarded, 1 to 1,000, by default 25. Attempts that failed because
	// of the service, the account or a rate do not count, and neither do those that a guard postponed.
	MaxAttempts int
	// Unguarded sends the messages without asking the client's guards. One-time codes, for example, must reach people who opted out. A guard that
	// checks the 24-hour window of chat app 2, such as conversations.Book, is not asked either.
	Unguarded bool
}

func (i *InsertOptions) complete() error {
	const mostAttempts = 1000
	switch {
	case i.Priority < 0 || i.Priority > Bulk:
		return fmt.Errorf("messagingriver: InsertOptions.Priority must be %d to %d, got %d", Urgent, Bulk, i.Priority)
	case i.Expire < 0:
		return fmt.Errorf("messagingriver: InsertOptions.Expire must not be negative, got %v", i.Expire)
	case i.MaxAttempts < 0 || i.MaxAttempts > mostAttempts:
		return fmt.Errorf("messagingriver: InsertOptions.MaxAttempts must be 0 to %d, got %d", mostAttempts, i.MaxAttempts)
	case !reference.IsStorable(i.Campaign):
		return errors.New("messagingriver: InsertOptions.Campaign must be at most 255 bytes of UTF-8 without a zero byte")
	}
	i.Priority = cmp.Or(i.Priority, Normal)
	i.MaxAttempts = cmp.Or(i.MaxAttempts, 25)
	return nil
}

// Insert enqueues a message in the caller's transaction: it is sent after the commit, and never if the transaction is rolled back.
//
// The reference ID identifies the message, and an unknown outcome is looked up by it. Insert reports whether the message is new. If the
// outbox has a message with the same channel and reference ID, Insert keeps that message and returns false. Completed and cancelled messages
// count for Options.Keep.
//
// A message that the client would reject, or one without a reference ID, is an error that matches messaging.ErrInvalid: nothing is enqueued, and
// the transaction can continue. After any other error it must be rolled back. Before Migrate, the error matches ErrNotMigrated.
func (o *Outbox[TTx]) Insert(ctx context.Context, tx TTx, message messaging.Message) (isNew bool, err error) {
	args, err := o.argsOf(message)
	if err != nil {
		return false, fmt.Errorf("messagingriver: %w", err)
	}
	known, err := o.insertJobs(ctx, tx, []river.InsertManyParams{{Args: args}}, InsertOptions{})
	if err != nil {
		return false, err
	}
	return len(known) == 0, nil
}

// InsertMany is like Insert for many messages of any channels. It returns how many of them are new. If a message is invalid, the error names
// its index and reference ID, and nothing is enqueued.
//
// There may be any number of messages: each statement enqueues up to 2,000. But all are in memory and in one transaction, which holds up other
// writers of SQLite, so enqueue a large campaign in several transactions. The command "outbox load" enqueues 1,000 in each.
//
// The messages of one call are enqueued in the order of their reference IDs, not in the order of the slice: order-10 before order-2. So
// concurrent calls with the same messages cannot deadlock. Workers take messages of the same priority in the order in which they were enqueued.
// To choose the order within a call, use reference IDs that sort in it, such as order-02 and order-10.
func (o *Outbox[TTx]) InsertMany(ctx context.Context, tx TTx, messages []messaging.Message, options InsertOptions) (added int, err error) {
	jobs, err := o.jobsOf(messages)
	if err != nil {
		return 0, err
	}
	known, err := o.insertJobs(ctx, tx, jobs, options)
	if err != nil {
		return 0, err
	}
	return len(jobs) - len(known), nil
}

// InsertManyReturningKnown is like InsertMany, but returns the records of the messages that the outbox had before, in no particular order.
// They may differ from the given messages, such as by their campaign or their recipient.
func (o *Outbox[TTx]) InsertManyReturningKnown(
	ctx context.Context, tx TTx, messages []messaging.Message, options InsertOptions,
) (known []Record, err error) {
	jobs, err := o.jobsOf(messages)
	if err != nil {
		return nil, err
	}
	rows, err := o.insertJobs(ctx, tx, jobs, options)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		known = append(known, o.recordOf(row))
	}
	return known, nil
}

// insertJobs inserts jobs that are new, and returns the jobs that the outbox has for the others.
func (o *Outbox[TTx]) insertJobs(
	ctx context.Context, tx TTx, jobs []river.InsertManyParams, options InsertOptions,
) (known []*rivertype.JobRow, err error) {
	if err = checkTx(tx); err != nil {
		return nil, err
	}
	if err = options.complete(); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	shared, err := o.insertOptions(ctx, tx, options)
	if err != nil {
		return nil, err
	}
	for i, job := range jobs {
		jobOptions := *shared
		jobOptions.Queue = queueOf(job.Args.(messageArgs).Channel)
		jobs[i].InsertOpts = &jobOptions
	}
	const batchSize = 2000
	for batch := range slices.Chunk(jobs, batchSize) {
		results, err := o.inserter.InsertManyTx(ctx, tx, batch) // InsertManyFastTx fails on a duplicate
		if err != nil {
			return nil, explain(err)
		}
		for _, result := range results {
			if result.UniqueSkippedAsDuplicate {
				known = append(known, result.Job)
			}
		}
	}
	return known, nil
}

// jobsOf returns the jobs of messages, without their options.
func (o *Outbox[TTx]) jobsOf(messages []messaging.Message) ([]river.InsertManyParams, error) {
	jobs := make([]river.InsertManyParams, 0, len(messages))
	seen := make(map[Key]bool, len(messages))
	for i, message := range messages {
		args, err := o.argsOf(message)
		if err != nil {
			return nil, fmt.Errorf("messagingriver: messages[%d], reference %q: %w", i, args.Reference, err)
		}
		key := Key{args.Channel, args.Reference}
		if seen[key] { // River fails if one statement has a key twice
			continue
		}
		seen[key] = true
		jobs = append(jobs, river.InsertManyParams{Args: args})
	}
	// In one order, so that two calls with the same messages cannot deadlock: each waits for the other's commit before it enqueues a duplicate.
	slices.SortFunc(jobs, func(a, b river.InsertManyParams) int {
		first, second := a.Args.(messageArgs), b.Args.(messageArgs)
		byChannel := strings.Compare(first.Channel, second.Channel)
		return cmp.Or(byChannel, strings.Compare(first.Reference, second.Reference))
	})
	return jobs, nil
}

// argsOf checks a message and returns the arguments of its job.
func (o *Outbox[TTx]) argsOf(message messaging.Message) (messageArgs, error) {
	name := channelOf(message)
	c, isKnown := o.channels[name]
	if !isKnown {
		return messageArgs{}, fmt.Errorf("got %T; want a Message of one of the packages %s: %w", message,
			strings.Join(o.channelNames(), ", "), messaging.ErrInvalid)
	}
	args := messageArgs{Channel: name, Reference: reference.Of(message)}
	if err := c.validate(message); err != nil {
		return args, err
	}
	if !reference.IsStorable(args.Reference) || args.Reference == "" {
		return args, fmt.Errorf("ReferenceID: want 1 to 255 bytes of UTF-8 without a zero byte, got %d bytes: %w",
			len(args.Reference), messaging.ErrInvalid)
	}
	var err error
	args.Message, err = json.Marshal(message)
	if err == nil && hasZeroByte(args.Message) {
		err = fmt.Errorf("a text of the message has a zero byte, which PostgreSQL cannot store: %w", messaging.ErrInvalid)
	}
	return args, err
}

// hasZeroByte reports whether a string in a JSON value has a zero byte.
func hasZeroByte(encoded []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(encoded, []byte(`\\`), nil), []byte(`\u0000`))
}

// spareAttempts is how many attempts River grants a job beyond its MaxAttempts. River would discard a job without attempts left, and not
// rescue it, but a rescued job has to be looked up.
const spareAttempts = 100

// insertOptions returns the options of River for messages that are enqueued together, without their queue.
func (o *Outbox[TTx]) insertOptions(ctx context.Context, tx TTx, options InsertOptions) (*river.InsertOpts, error) {
	m := metadata{Campaign: options.Campaign, MaxAttempts: options.MaxAttempts, Unguarded: options.Unguarded}
	now := time.Now()
	if options.Expire > 0 {
		begin := options.At // even if it has passed
		if begin.IsZero() {
			begin = now
		}
		m.Expires = begin.Add(options.Expire)
	}
	if !options.At.After(now) {
		options.At = time.Time{}
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	isPaused, err := o.isCampaignPaused(ctx, o.executorOf(tx), options.Campaign)
	if err != nil {
		return nil, err
	}
	return &river.InsertOpts{
		Priority:    int(options.Priority),
		ScheduledAt: options.At,
		Metadata:    encoded,
		Pending:     isPaused,
		MaxAttempts: options.MaxAttempts + spareAttempts,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()},
	}, nil
}
