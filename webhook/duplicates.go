package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Store remembers which events were handled, so that each is handled once however often it comes: see [WithStore].
// [NewMemoryStore] makes one for a single process. For several, implement it over what they share, such as a table with
// the key as its primary key, or a key-value bucket. The three methods are called from many goroutines at once.
//
// A handler claims the key of an event, calls the user's function where the claim was its own, and then completes it, or
// releases it where the function failed or panicked. A key is 1 to 256 characters of A-Z, a-z, 0-9 and -_=. (no dot first,
// last or beside another), and differs from others byte by byte: mind the collation of a table. It holds a message ID or a
// reference ID, or a hash, and no secret, number or text.
//
// # How long
//
// A claim must expire by itself some time after it was made, its lease: else a process that crashed between claim and
// completion would keep the message from ever being handled. A function that takes longer than the lease may be running
// twice for one event, since the next delivery can claim the key; whichever ends first completes it, and a failure of one
// releases the claim of the other. So make the lease longer than the function can take, and give the function a deadline.
//
// What is done has to be remembered for as long as the service may call again, some days for many services. The
// specification does not say how long that is.
//
// # Keys without an ID
//
// The key of an event is its ID, for a delivery report with the status; or the reference ID and the status. An inbound
// message without an ID has a hash of its parameters as its key, where they have a time among them that could be read. Where they have not,
// the same parameters may be a second honest message, and count as the same only for the window of
// [WithDuplicateWindow]. A [MemoryStore] keeps it exactly. With any other Store such an event has two keys, which
// hold spans of half a window that overlap: the same within half a window is always found, beyond the window never.
type Store interface {
	// Claim claims a key, in one atomic step. It returns Claimed where nobody had it, or the lease of who had it is over;
	// InProgress where somebody has it; Done where it was completed. After an error the event is not handled, and the
	// service is told to call again (503). The context is that of the request.
	Claim(ctx context.Context, key string) (ClaimState, error)
	// Complete marks a key as done. It is called once the user's function has returned nil. After an error the service is
	// told all the same that the event was handled (200), since it was; the error is logged, and another delivery would be
	// handled again once the lease is over. The context outlives the request and ends after 10 s.
	Complete(ctx context.Context, key string) error
	// Release gives a claim back, so that the next delivery can claim the key at once. What is done stays done. It is called
	// when the user's function has failed or panicked. The context is as that of Complete.
	Release(ctx context.Context, key string) error
}

// ClaimState is what became of a claim. The zero value is none of the three, and counts as an error.
type ClaimState uint8

const (
	// Claimed: the key is the caller's, who now handles the event.
	Claimed ClaimState = iota + 1
	// InProgress: the event is being handled. The service is told to call again (503 with Retry-After).
	InProgress
	// Done: the event was handled. The service is told so again (200).
	Done
)

// String gives the state in words.
func (s ClaimState) String() string {
	switch s {
	case Claimed:
		return "claimed"
	case InProgress:
		return "in progress"
	case Done:
		return "done"
	default:
		return "webhook.ClaimState(" + strconv.Itoa(int(s)) + ")"
	}
}

// settleTimeout bounds Complete and Release, which do not end with the request.
const settleTimeout = 10 * time.Second

// identified is an event, which a handler hands to the user's function.
type identified interface{ identity() identity }

// identity is what makes an event the same when it comes again.
type identity struct {
	id        string
	reference string
	status    string
	hasStatus bool // the status is part of what makes an event
	timed     bool // it carries the time, so that the same parameters are the same event
	params    Params
}

// longestKey is room for most keys, and the bound that Store promises.
const longestKey = 256

// appendKey appends the name of an event in a store. Where windowed is true the key counts for a while only.
func (e *identity) appendKey(b []byte, event string) (key []byte, windowed bool) {
	b = append(b, event...)
	switch {
	case e.id != "" && !e.hasStatus:
		return appendWords(b, "id", "", e.id), false
	case e.id != "":
		return appendWords(b, "id", e.statusWord(), e.id), false
	case e.reference != "":
		return appendWords(b, "ref", e.statusWord(), e.reference), false
	default:
		sum := e.hash()
		return hex.AppendEncode(append(b, ".params."...), sum[:]), !e.timed
	}
}

// key gives the name of an event in a store, and whether it holds for good.
func (e *identity) key(event string) (key string, lasting bool) {
	b, windowed := e.appendKey(nil, event)
	return string(b), !windowed
}

// statusWord gives the status, which may have come in any case and may be absent.
func (e *identity) statusWord() string {
	return first(strings.ToLower(strings.TrimSpace(e.status)), "-")
}

// appendWords appends the parts of a key where they are words that any store can keep, else a hash of them.
func appendWords(b []byte, kind, status, id string) []byte {
	if !isKeyWord(id, true) || !isKeyWord(status, false) && status != "" {
		text := append(binary.AppendUvarint([]byte(kind), uint64(len(status))), status...)
		sum := sha256.Sum256(append(text, id...))
		return hex.AppendEncode(append(b, ".hash."...), sum[:])
	}
	b = append(append(append(b, '.'), kind...), '.')
	if status != "" {
		b = append(append(b, status...), '.')
	}
	return append(b, id...)
}

// appendBare appends the name of an event for a store that takes any bytes and hashes what is long.
func (e *identity) appendBare(b []byte, event string) (key []byte, windowed bool) {
	if e.id == "" || e.hasStatus {
		return e.appendKey(b, event)
	}
	return append(append(append(b, event...), 0), e.id...), false
}

// isKeyWord tells whether a word can stand in a key as it is. Dots may stand in the last word alone, and only within it.
func isKeyWord(word string, dots bool) bool {
	const longest = 100
	if word == "" || len(word) > longest {
		return false
	}
	for i := range len(word) {
		switch c := word[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '=':
		case c == '.' && dots && i > 0 && i < len(word)-1 && word[i-1] != '.':
		default:
			return false
		}
	}
	return true
}

// hash hashes the parameters, each with its length, so that no two lists of them look the same.
func (e *identity) hash() [sha256.Size]byte {
	size := 0
	for _, p := range e.params {
		size += len(p.Name) + len(p.Value) + 2*binary.MaxVarintLen32
	}
	b := make([]byte, 0, size)
	for _, p := range e.params {
		b = append(binary.AppendUvarint(b, uint64(len(p.Name))), p.Name...)
		b = append(binary.AppendUvarint(b, uint64(len(p.Value))), p.Value...)
	}
	return sha256.Sum256(b)
}

// claims are what a handler holds of a store while it handles an event.
type claims struct {
	store  Store
	memory *MemoryStore // the store, if it is one: it needs neither keys as strings nor contexts
	lease  lease        // of memory
	keys   [2]string    // of another store: one key, or two for a window; none where the event is never the same
}

// claim claims an event. Where it returns Claimed without an error, complete or release has to follow.
func (c *claims) claim(ctx context.Context, event string, e *identity, window time.Duration) (ClaimState, error) {
	if c.memory != nil {
		var room [128]byte
		key, windowed := e.appendBare(room[:0], event)
		switch {
		case !windowed:
			window = 0
		case window == 0:
			return Claimed, nil
		}
		var state ClaimState
		state, c.lease = c.memory.claim(key, window)
		return state, nil
	}
	var room [longestKey]byte
	key, windowed := e.appendKey(room[:0], event)
	switch {
	case !windowed:
		c.keys[0] = string(key)
		return c.store.Claim(ctx, c.keys[0])
	case window == 0:
		return Claimed, nil
	default:
		return c.claimWindow(ctx, string(key), window)
	}
}

// claimWindow claims two keys. They hold spans of time of one length, those of the second beginning in the middle of those of
// the first, so that two moments less than half a span apart are within one of either kind.
func (c *claims) claimWindow(ctx context.Context, key string, window time.Duration) (ClaimState, error) {
	now, span := time.Now().UnixNano(), int64(window)
	for i, from := range []int64{now, now + span/2} {
		one := key + "." + strconv.Itoa(i) + "." + strconv.FormatInt(from/span, 10)
		state, err := c.store.Claim(ctx, one)
		if err != nil || state != Claimed {
			if releaseErr := c.release(ctx); err == nil {
				err = releaseErr
			}
			return state, err
		}
		c.keys[i] = one
	}
	return Claimed, nil
}

// complete marks the event as done.
func (c *claims) complete(ctx context.Context, event string, e *identity) error {
	switch {
	case c.memory == nil:
		return c.settle(ctx, c.store.Complete)
	case c.lease.number != 0 && !c.memory.end(c.lease, true): // the lease was over; the event is done all the same
		if key, windowed := e.appendBare(nil, event); !windowed { // a window is over as well
			c.memory.complete(key)
		}
	}
	return nil
}

// release gives the event back.
func (c *claims) release(ctx context.Context) error {
	switch {
	case c.memory == nil:
		return c.settle(ctx, c.store.Release)
	case c.lease.number != 0:
		c.memory.end(c.lease, false)
	}
	return nil
}

// settle ends the claims, all of them whatever the errors, under a context that outlives the request.
func (c *claims) settle(ctx context.Context, end func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var failed error
	for _, key := range c.keys {
		if key == "" {
			continue
		}
		if err := endOne(ctx, key, end); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// endOne ends a claim. A store that panics has failed, and the other claim is ended all the same.
func endOne(ctx context.Context, key string, end func(context.Context, string) error) (err error) {
	defer func() {
		if recover() != nil {
			err = errStorePanicked
		}
	}()
	return end(ctx, key)
}

var errStorePanicked = errors.New("the store panicked")

// isTimed tells of a time that tells events apart: one that was read, and is no stand-in for none.
func isTimed(at time.Time) bool { return !at.IsZero() && at.Unix() > 0 }
