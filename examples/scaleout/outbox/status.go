package outbox

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Status is the progress of a campaign: what became of each message, and the work that is left.
type Status struct {
	// Messages counts the messages by state. Total counts all messages.
	Messages map[State]int
	Total    int
	// PossibleDuplicates counts the messages that may have been sent more than once: an attempt had no verdict when another started.
	PossibleDuplicates int
	// Unreadable counts records of another version, and damaged ones. They are left alone.
	Unreadable int
	// Missing counts open messages without a token in the stream: nobody would send them. Reconcile creates their tokens.
	Missing int
	// Lost counts tokens without a record. Reconcile parks these messages: load them again.
	Lost int
	// PerSecond is the number of verdicts per second in the last rateWindow.
	PerSecond float64
	// Waiting is the number of tokens in the stream, including those in flight. Oldest is how long the first of them has been there.
	Waiting uint64
	Oldest  time.Duration
	// Breakers are the open breakers.
	Breakers []Breaker
}

const rateWindow = 5 * time.Second

// Final returns the number of messages in a final state.
func (s Status) Final() int { return s.Messages[Accepted] + s.Messages[Refused] + s.Messages[Parked] }

// String returns the status in one line, and another for each open breaker.
func (s Status) String() string {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	for _, state := range States() {
		add(s.Messages[state], string(state))
	}
	add(s.PossibleDuplicates, "POSSIBLY SENT TWICE")
	add(s.Unreadable, "UNREADABLE")
	add(s.Missing, "WITHOUT A TOKEN (run campaign reconcile)")
	add(s.Lost, "WITHOUT A RECORD (run campaign reconcile)")
	if parts == nil {
		parts = []string{"no messages"}
	}
	lines := []string{fmt.Sprintf("%s; %.0f/s", strings.Join(parts, ", "), s.PerSecond)}
	if s.Waiting > 0 {
		lines[0] += fmt.Sprintf("; lag %d, oldest %v", s.Waiting, s.Oldest.Round(100*time.Millisecond))
	}
	for _, b := range s.Breakers {
		lines = append(lines, fmt.Sprintf("BREAKER of %s open since %s: %s", b.Channel, b.Opened.Format(time.RFC3339), b.Reason))
	}
	return strings.Join(lines, "\n")
}

// Status reads every record and every token. It takes about 200 bytes for each token.
func (o *Outbox) Status(ctx context.Context) (Status, error) { return o.survey(ctx, false) }

// Reconcile is like Status, and repairs what is missing and lost. Workers and loaders can run meanwhile.
func (o *Outbox) Reconcile(ctx context.Context) (Status, error) { return o.survey(ctx, true) }

// Watch reports the status at once and then once per interval, until report returns false or ctx ends. For a million records, the interval
// is at least 20 s, so that the engine is left to the workers. While the engine is away, Watch waits.
func (o *Outbox) Watch(ctx context.Context, interval time.Duration, report func(Status) (more bool)) error {
	const perRecord = 20 * time.Microsecond
	for first := true; ; first = false {
		status, err := o.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller has ended it
		case err != nil && first:
			return err
		case err == nil && !report(status):
			return nil
		}
		if !engine.Sleep(ctx, max(interval, time.Duration(status.Total)*perRecord)) {
			return nil
		}
	}
}

// survey compares every record with the tokens in the stream.
func (o *Outbox) survey(ctx context.Context, repair bool) (Status, error) {
	s := Status{Messages: map[State]int{}}
	stream, err := o.engine.Stream(ctx, engine.Outbox)
	if err != nil {
		return s, err
	}
	listCtx, cancel := context.WithTimeout(ctx, time.Minute)
	info, err := stream.Info(listCtx, jetstream.WithSubjectFilter(">"))
	cancel()
	if err != nil {
		return s, fmt.Errorf("outbox: listing the tokens: %w", err)
	}
	if s.Waiting = info.State.Msgs; s.Waiting > 0 {
		s.Oldest = max(0, info.TimeStamp.Sub(info.State.FirstTime))
	}
	if s.Breakers, err = o.Breakers(ctx); err != nil {
		return s, err
	}
	tokens := info.State.Subjects
	seed, open := maphash.MakeSeed(), map[uint64]Entry{}
	for e, err := range o.All(ctx) {
		if errors.Is(err, ErrUnreadable) {
			s.Unreadable++
			continue
		}
		if err != nil {
			return s, err
		}
		key := maphash.String(seed, e.Key)
		if before, ok := open[key]; ok { // it has changed since it was read, and comes again
			s.count(before, -1)
			delete(open, key)
		}
		s.count(e, 1)
		if age := info.TimeStamp.Sub(e.Since); e.State.IsFinal() && age >= 0 && age < rateWindow {
			s.PerSecond += 1 / rateWindow.Seconds()
		}
		if !e.State.IsFinal() {
			open[key] = Entry{Record: Record{State: e.State, Overtaken: e.Overtaken}}
		}
		subject := o.subject(e)
		_, present := tokens[subject]
		delete(tokens, subject)
		if present || e.State.IsFinal() {
			continue
		}
		missing, err := o.isMissing(ctx, stream, e.Key, repair)
		if err != nil {
			return s, err
		}
		if missing {
			s.Missing++
		}
	}
	for subject := range tokens { // the others are of records that have moved on, or were read before their tokens were created
		key, _ := keyOfSubject(subject)
		e, err := o.read(ctx, key)
		if errors.Is(err, ErrUnreadable) || e.revision != 0 || key == "" {
			continue
		}
		if err == nil && repair {
			_, _, err = o.swap(ctx, e, lostRecord())
		}
		if err != nil {
			return s, err
		}
		s.Lost++
	}
	return s, nil
}

// count counts a record, or takes it back if n is -1.
func (s *Status) count(e Entry, n int) {
	s.Messages[e.State] += n
	s.Total += n
	if len(e.Overtaken) > 0 {
		s.PossibleDuplicates += n
	}
}

// lostRecord returns the record of a message of which only the token is left.
func lostRecord() Record {
	return Record{State: Parked, Lane: string(Normal), Reason: "the engine lost the record: load the message again"}
}

// isMissing reports whether a message is still open and without a token, and creates the token if repair is set.
func (o *Outbox) isMissing(ctx context.Context, stream jetstream.Stream, key string, repair bool) (bool, error) {
	e, err := o.read(ctx, key)
	if errors.Is(err, ErrUnreadable) || err == nil && (e.revision == 0 || e.State.IsFinal()) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if repair {
		return o.publish(ctx, e)
	}
	_, err = stream.GetLastMsgForSubject(ctx, o.subject(e))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true, nil
	}
	return false, err
}
