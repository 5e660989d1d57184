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
	"unicode/utf8"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// Key names a message.
type Key struct {
	Channel   string `json:"channel"`   // the name of the channel, such as "sms"
	Reference string `json:"reference"` // the reference ID
}

// messageArgs are the arguments of a message's job.
type messageArgs struct {
	Channel   string `json:"channel" river:"unique"`
	Reference string `json:"reference" river:"unique"`
	// Message is as encoding/json writes it. It is deleted when the message was accepted.
	Message json.RawMessage `json:"message,omitempty"`

	// retryAfter is how long the job waits after an error. It is not stored.
	retryAfter time.Duration
}

const messageKind = "messaging"

// Kind implements river.JobArgs.
func (messageArgs) Kind() string { return messageKind }

// Hooks implements river.JobArgsWithHooks. River inserts a job with the time of the process, and one with a ScheduledAt has to wait for
// its scheduler. The hook makes a job that is not for later available at once, whatever the clock of the process says.
func (messageArgs) Hooks() []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		if job.State == rivertype.JobStateAvailable {
			job.ScheduledAt = new(time.Unix(0, 0))
		}
		return nil
	})}
}

// Priority says which messages go first.
type Priority int

// The priorities. A message goes before every message of a lower priority that no process holds.
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
	// At is when the messages are to be sent; by default, and if it is past, at once. They are sent up to 5 seconds later.
	At time.Time
	// Expire is how long after At, or after they were enqueued, the messages may still be sent. Later they are cancelled. By default
	// they never expire.
	Expire time.Duration
	// Campaign is a name by which messages are counted, paused and cancelled, up to 255 bytes; by default none.
	Campaign string
	// MaxAttempts is how many attempts may fail before a message is discarded, 1 to 1,000, by default 25. Attempts that failed because
	// of the service, the account or a rate do not count.
	MaxAttempts int
	// Unguarded has the messages sent without asking the client's guards, such as one-time codes, which must also reach people who have
	// opted out.
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
	case len(i.Campaign) > 255 || strings.ContainsRune(i.Campaign, 0) || !utf8.ValidString(i.Campaign):
		return errors.New("messagingriver: InsertOptions.Campaign must be at most 255 bytes of UTF-8 without a zero byte")
	}
	i.Priority = cmp.Or(i.Priority, Normal)
	i.MaxAttempts = cmp.Or(i.MaxAttempts, 25)
	return nil
}

// Insert enqueues a message in the caller's transaction: it is sent after the commit, and never if the transaction is rolled back. It
// reports whether the message is new. If one with the same channel and reference ID is in the outbox, where completed and cancelled ones
// stay for Options.Keep, that one stays as it is, and this one is not sent.
//
// A message that the client would reject is an error that matches messaging.ErrInvalid, and so is one without a reference ID, by which
// the outbox recognizes a message that is enqueued again, and looks up an unknown outcome. Before Migrate the error says so.
func (o *Outbox[TTx]) Insert(ctx context.Context, tx TTx, message messaging.Message) (bool, error) {
	added, err := o.InsertMany(ctx, tx, []messaging.Message{message}, InsertOptions{})
	return added == 1, err
}

// InsertMany is like Insert, for many messages of any channels, and returns how many of them are new. The error for a message names its
// index and its reference ID, and nothing is enqueued. After any other error the transaction must be rolled back.
func (o *Outbox[TTx]) InsertMany(ctx context.Context, tx TTx, messages []messaging.Message, options InsertOptions) (int, error) {
	var none TTx
	if any(tx) == any(none) {
		return 0, errors.New("messagingriver: the transaction is nil")
	}
	if err := options.complete(); err != nil {
		return 0, err
	}
	jobs, err := o.jobsOf(messages)
	if err != nil || len(jobs) == 0 {
		return 0, err
	}
	insertOptions, err := o.insertOptions(ctx, tx, options)
	if err != nil {
		return 0, err
	}
	for i, job := range jobs {
		itsOptions := *insertOptions
		itsOptions.Queue = queueOf(job.Args.(messageArgs).Channel)
		jobs[i].InsertOpts = &itsOptions
	}
	const atOnce = 2000
	added := 0
	for some := range slices.Chunk(jobs, atOnce) {
		results, err := o.inserter.InsertManyTx(ctx, tx, some) // InsertManyFastTx fails with a duplicate
		if err != nil {
			return 0, o.database.explain(err)
		}
		for _, result := range results {
			if !result.UniqueSkippedAsDuplicate {
				added++
			}
		}
	}
	return added, nil
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
	// Two transactions that insert the same messages in the same order do not wait for each other in a circle.
	slices.SortStableFunc(jobs, func(a, b river.InsertManyParams) int {
		return strings.Compare(a.Args.(messageArgs).Reference, b.Args.(messageArgs).Reference)
	})
	return jobs, nil
}

// argsOf checks a message and returns the arguments of its job.
func (o *Outbox[TTx]) argsOf(message messaging.Message) (messageArgs, error) {
	for name, channel := range o.channels {
		is, reference, err := channel.check(message)
		if !is {
			continue
		}
		args := messageArgs{Channel: name, Reference: reference}
		if err != nil {
			return args, err
		}
		if reference == "" || len(reference) > 255 || strings.ContainsRune(reference, 0) || !utf8.ValidString(reference) {
			return args, fmt.Errorf("ReferenceID: want 1 to 255 bytes of UTF-8 without a zero byte, got %d bytes: %w", len(reference), messaging.ErrInvalid)
		}
		args.Message, err = json.Marshal(message)
		if err == nil && hasZeroByte(args.Message) {
			err = fmt.Errorf("a text of the message has a zero byte, which PostgreSQL cannot store: %w", messaging.ErrInvalid)
		}
		return args, err
	}
	return messageArgs{}, fmt.Errorf("got %T; want a Message of one of the packages %s: %w", message,
		strings.Join(o.channelNames(), ", "), messaging.ErrInvalid)
}

// hasZeroByte reports whether a string of a JSON value has one.
func hasZeroByte(encoded []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(encoded, []byte(`\\`), nil), []byte(`\u0000`))
}

// spareAttempts is how many attempts River grants a job beyond its MaxAttempts. River discards a job in place of a rescue if it has none
// left, and a rescued job has to be looked up.
const spareAttempts = 100

func (o *Outbox[TTx]) insertOptions(ctx context.Context, tx TTx, options InsertOptions) (*river.InsertOpts, error) {
	n := note{Campaign: options.Campaign, MaxAttempts: options.MaxAttempts, Unguarded: options.Unguarded}
	now := time.Now()
	if !options.At.After(now) {
		options.At = time.Time{}
	}
	if options.Expire > 0 {
		begin := cmp.Or(options.At, now)
		n.Expires = begin.Add(options.Expire)
	}
	metadata, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	isPaused := false
	if options.Campaign != "" {
		// A campaign is paused if messages of it are pending.
		const pending = "SELECT EXISTS (SELECT 1 FROM JOBS WHERE kind = 'messaging' AND state = 'pending' AND IN_CAMPAIGN)"
		if _, err := o.database.scan(ctx, o.executorOf(tx), []any{&isPaused}, pending, options.Campaign); err != nil {
			return nil, err
		}
	}
	return &river.InsertOpts{
		Priority:    int(options.Priority),
		ScheduledAt: options.At,
		Metadata:    metadata,
		Pending:     isPaused,
		MaxAttempts: options.MaxAttempts + spareAttempts,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()},
	}, nil
}
