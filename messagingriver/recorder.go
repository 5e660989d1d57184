package messagingriver

import (
	"context"
	"sync"
	"time"
)

// recordUntil records a result, also if ctx has ended, and tries again until a time if the database is away.
func (o *Outbox[TTx]) recordUntil(ctx context.Context, end time.Time, r result) error {
	for {
		err := o.recorder.add(r, func(all []result) error { return o.record(ctx, all) })
		if err == nil || time.Now().After(end) {
			return err
		}
		<-time.After(min(o.options.SendTimeout/20, time.Second))
	}
}

// record records results once. One counts if its attempt is the last and nothing is final: a late response is worth more than
// "unknown", and less than what a person decided. Somebody who had a message sent again is not overruled by a lookup that knows
// nothing.
func (o *Outbox[TTx]) record(ctx context.Context, results []result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	return o.database.exec(ctx, `
		UPDATE messaging_outbox
		SET state = value->>'state', receipt = value->>'receipt', problem = value->>'problem',
			due_at = CLOCK + CAST(value->>'wait' AS BIGINT),
			history = CASE WHEN value->>'history' = '' OR LENGTH(history) > 8000 THEN history
				ELSE history || ',{"began":' || began_at || ',"ended":' || CLOCK || ',' || (value->>'history') || '}' END,
			failures = failures + CAST(value->>'failed' AS BIGINT),
			message = CASE WHEN value->>'state' = 'accepted' THEN NULL ELSE message END,
			recipient = CASE WHEN value->>'state' IN ('accepted', 'refused', 'expired') THEN NULL ELSE recipient END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference'
			AND attempt = CAST(value->>'attempt' AS BIGINT) AND state || '' IN ('waiting', 'sending', 'unknown', 'parked')
			AND NOT (state || '' = 'waiting' AND value->>'state' IN ('unknown', 'parked'))`,
		list[result](results))
}

// recorder joins the results of a process: what comes while some are written goes into the next statement.
type recorder struct {
	mu      sync.Mutex
	writing chan struct{} // has an element for each statement that runs: one is executed while another is committed
	next    *results      // is not written yet, or nil
}

// results are written together.
type results struct {
	all  []result
	done chan struct{} // closed when err is known
	err  error
}

// add returns when a result has been written, by its caller or by another one.
func (r *recorder) add(one result, write func([]result) error) error {
	r.mu.Lock()
	first := r.next == nil
	if first {
		r.next = &results{done: make(chan struct{})}
	}
	mine := r.next
	mine.all = append(mine.all, one)
	r.mu.Unlock()
	if !first {
		<-mine.done
		return mine.err
	}
	r.writing <- struct{}{}
	defer func() { <-r.writing }()
	r.mu.Lock()
	r.next = nil
	r.mu.Unlock()
	mine.err = write(mine.all)
	close(mine.done)
	return mine.err
}
