package sms

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// clerk takes sends and look-ups, lets each end as its script says, and writes down when it began. The last word of a
// script counts for all that follow. A call under a context that has ended is not begun and not written down.
//
//	sends:    accepted lost refused unsent duplicate
//	look-ups: listed nothing other stranger broken missing hanging
type clerk struct {
	wire.Doer // what a test does not need

	policy        wire.SettlePolicy
	settles       bool
	sends, looks  string
	sendTime      time.Duration // how long a send takes
	lookTime      time.Duration
	mu            sync.Mutex
	start         time.Time
	sent, looked  int
	events        []string // "send@0s look@2s"
	references    []string // of sends and look-ups
	answered      []error  // errors of sends
	afterLookedAt func(n int)
}

var (
	errRefused = errors.New("refused")
	errUnsent  = errors.New("not sent")
	errBroken  = errors.New("the look-up is broken")
)

func newClerk(sends, looks string, resend bool) *clerk {
	return &clerk{
		policy: wire.SettlePolicy{Window: 6 * time.Second, Interval: 2 * time.Second, Resend: resend},
		sends:  sends, looks: looks, start: time.Now(),
	}
}

// word is the n-th of a script, from 0.
func word(script string, n int) string {
	words := strings.Fields(script)
	return words[min(n, len(words)-1)]
}

func (c *clerk) note(event, reference string) {
	c.events = append(c.events, fmt.Sprintf("%s@%v", event, time.Since(c.start)))
	c.references = append(c.references, reference)
}

func (c *clerk) Send(ctx context.Context, call wire.Call) (wire.Receipt, error) {
	if ctx.Err() != nil {
		return wire.Receipt{}, fmt.Errorf("%w: %w", errUnsent, ctx.Err())
	}
	c.mu.Lock()
	n := c.sent
	c.sent++
	c.note("send", call.Reference)
	c.mu.Unlock()
	var err error
	switch w := word(c.sends, n); w {
	case "accepted":
		err = wait(ctx, c.sendTime)
		if err == nil {
			return wire.Receipt{ID: fmt.Sprint("sent-", n+1), ReferenceID: call.Reference, StatusCode: 200}, nil
		}
	case "lost":
		err = wait(ctx, c.sendTime)
	case "refused":
		return c.fails(errRefused)
	case "unsent":
		return c.fails(errUnsent)
	case "duplicate":
		return c.fails(fmt.Errorf("%w: %w", errRefused, wire.ErrDuplicate))
	default:
		panic(w)
	}
	if err == nil {
		err = errors.New("no answer")
	}
	return c.fails(fmt.Errorf("send %d: %w: %w", n+1, wire.ErrOutcomeUnknown, err))
}

func (c *clerk) fails(err error) (wire.Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = append(c.answered, err)
	return wire.Receipt{}, err
}

func (c *clerk) List(ctx context.Context, q wire.Query) (wire.Page, error) {
	if ctx.Err() != nil {
		return wire.Page{}, ctx.Err()
	}
	reference := q.Filter.(*filter).ReferenceID
	c.mu.Lock()
	n := c.looked
	c.looked++
	c.note("look", reference)
	c.mu.Unlock()
	if c.afterLookedAt != nil {
		defer c.afterLookedAt(n + 1)
	}
	if err := wait(ctx, c.lookTime); err != nil {
		return wire.Page{}, err
	}
	switch w := word(c.looks, n); w {
	case "listed":
		return wire.Page{Last: true, Records: []wire.Record{{
			ID: "listed-1", RequestID: "q-1", ReferenceID: reference, Parts: 2, Price: "0.50", Operator: "OP_1", Text: "Hi",
		}}}, nil
	case "nothing":
		return wire.Page{Last: true}, nil
	case "stranger":
		return wire.Page{Last: true, Records: []wire.Record{{ID: "other-1", ReferenceID: reference, To: "+639180000000"}}}, nil
	case "missing": // as after an HTTP 404
		return wire.Page{}, wire.ErrNotFound
	case "hanging":
		<-ctx.Done()
		return wire.Page{}, ctx.Err()
	case "other":
		return wire.Page{Last: true, Records: []wire.Record{{ID: "other-1", ReferenceID: "another"}}}, nil
	case "broken":
		return wire.Page{}, errBroken
	default:
		panic(w)
	}
}

func (c *clerk) Ahead(wire.Operation, wire.Position) (wire.Position, bool) {
	return wire.Position{}, false
}

func (c *clerk) Refuse(_ wire.Operation, problems []wire.Problem) error { return refusal(problems) }

func (c *clerk) Fail(_ wire.Operation, reason string, kind error) error { return failure{reason, kind} }

func (c *clerk) Settle() (wire.SettlePolicy, bool) { return c.policy, c.settles }

var withReference = Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "r-1"}

func TestSendOnceGivesTheMessageAReference(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		c := newClerk("accepted", "nothing", false)
		receipt, err := NewService(c).SendOnce(t.Context(), valid)
		require.NoError(t, err)
		require.Len(t, c.references, 1)
		assert.Len(t, receipt.ReferenceID, 26)
		assert.Equal(t, c.references[0], receipt.ReferenceID)
		assert.False(t, seen[receipt.ReferenceID], "a reference names one message")
		seen[receipt.ReferenceID] = true
	}
	assert.Empty(t, valid.ReferenceID, "the caller's message stays as it is")

	c := newClerk("accepted", "nothing", false)
	_, err := NewService(c).SendOnce(t.Context(), withReference)
	require.NoError(t, err)
	assert.Equal(t, []string{"r-1"}, c.references, "the caller's own is kept")
}

func TestSendOnceAsksAndSendsUnderOneReference(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk("lost", "nothing", true)
		_, err := NewService(c).SendOnce(t.Context(), valid)
		require.ErrorIs(t, err, wire.ErrOutcomeUnknown)
		assert.Equal(t, 2, c.sent)
		assert.Len(t, c.references[0], 26)
		for _, reference := range c.references {
			assert.Equal(t, c.references[0], reference)
		}
	})
}

func TestWhatBecomesOfAMessageThatIsSentOnce(t *testing.T) {
	t.Parallel()
	const (
		window      = "look@0s look@2s look@4s look@6s"
		again       = "look@6s look@8s look@10s look@12s"
		first, next = "sent-1", "sent-2"
		found       = "listed-1"
	)
	for name, tt := range map[string]struct {
		sends, looks string
		resend       bool
		events       string
		id           string // of the receipt; empty: there is an error
	}{
		"accepted":                            {"accepted", "nothing", true, "send@0s", first},
		"refused":                             {"refused", "nothing", true, "send@0s", ""},
		"a duplicate":                         {"duplicate", "listed", true, "send@0s", ""},
		"not sent":                            {"unsent", "nothing", true, "send@0s", ""},
		"listed at once":                      {"lost", "listed", false, "send@0s look@0s", found},
		"listed late":                         {"lost", "nothing nothing listed", true, "send@0s look@0s look@2s look@4s", found},
		"listed at the end of the window":     {"lost", "nothing nothing nothing listed", true, "send@0s " + window, found},
		"listed behind failures":              {"lost", "broken nothing broken listed", true, "send@0s " + window, found},
		"never listed":                        {"lost", "nothing", false, "send@0s " + window, ""},
		"look-ups all fail":                   {"lost", "broken", true, "send@0s " + window, ""},
		"the last look-up fails":              {"lost", "nothing nothing nothing broken", true, "send@0s " + window, ""},
		"the filter is ignored":               {"lost", "other", true, "send@0s look@0s", ""},
		"the filter is ignored later":         {"lost", "nothing broken other listed", true, "send@0s look@0s look@2s look@4s", ""},
		"a row of another number":             {"lost", "nothing stranger listed", true, "send@0s look@0s look@2s", ""},
		"the path of look-ups is missing":     {"lost", "missing", true, "send@0s " + window, ""},
		"look-ups hang":                       {"lost", "hanging", true, "send@0s look@0s", ""},
		"the last look-up hangs":              {"lost", "nothing nothing nothing hanging", true, "send@0s " + window, ""},
		"the filter is ignored, no resend":    {"lost", "other", false, "send@0s look@0s", ""},
		"resent and accepted":                 {"lost accepted", "nothing", true, "send@0s " + window + " send@6s", next},
		"resent where only the last succeeds": {"lost accepted", "broken broken broken nothing", true, "send@0s " + window + " send@6s", next},
		"resent, a duplicate, listed":         {"lost duplicate", "nothing nothing nothing nothing nothing listed", true, "send@0s " + window + " send@6s look@6s look@8s", found},
		"resent, a duplicate, never listed":   {"lost duplicate accepted", "nothing", true, "send@0s " + window + " send@6s " + again, ""},
		"resent, a duplicate, other rows":     {"lost duplicate accepted", "nothing nothing nothing nothing other", true, "send@0s " + window + " send@6s look@6s", ""},
		"resent, lost, listed":                {"lost lost", "nothing nothing nothing nothing listed", true, "send@0s " + window + " send@6s look@6s", found},
		"resent, lost, never listed":          {"lost lost accepted", "nothing", true, "send@0s " + window + " send@6s " + again, ""},
		"resent and refused":                  {"lost refused accepted", "nothing nothing nothing nothing listed", true, "send@0s " + window + " send@6s", ""},
		"resent and not sent":                 {"lost unsent accepted", "nothing nothing nothing nothing listed", true, "send@0s " + window + " send@6s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newClerk(tt.sends, tt.looks, tt.resend)
				receipt, err := NewService(c).SendOnce(t.Context(), withReference)
				assert.Equal(t, tt.events, strings.Join(c.events, " "))
				for _, reference := range c.references {
					assert.Equal(t, "r-1", reference)
				}
				if tt.id == "" {
					require.Equal(t, c.answered[0], err, "the error is not that of the first send")
					assert.Equal(t, strings.HasPrefix(tt.sends, "lost"), errors.Is(err, wire.ErrOutcomeUnknown))
					assert.Equal(t, Receipt{}, receipt)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tt.id, receipt.ID)
				assert.Equal(t, "r-1", receipt.ReferenceID)
			})
		})
	}
}

func TestAReceiptThatComesFromARowHoldsWhatTheRowSays(t *testing.T) {
	t.Parallel()
	receipt, err := NewService(newClerk("lost", "listed", false)).SendOnce(t.Context(), withReference)
	require.NoError(t, err)
	assert.Equal(t, Receipt{ID: "listed-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, Cost: "0.50", Operator: "OP_1"}, receipt)
}

func TestTheWindowEndsWithALookUpWhateverTheIntervalIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		window, interval time.Duration
		events           string
	}{
		{5 * time.Second, 2 * time.Second, "send@0s look@0s look@2s look@4s look@5s"},
		{time.Second, time.Minute, "send@0s look@0s look@1s"},
		{time.Second, time.Second, "send@0s look@0s look@1s"},
		{time.Nanosecond, time.Second, "send@0s look@0s look@1ns"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost", "nothing", false)
			c.policy.Window, c.policy.Interval = tt.window, tt.interval
			_, err := NewService(c).SendOnce(t.Context(), withReference)
			require.ErrorIs(t, err, wire.ErrOutcomeUnknown)
			assert.Equal(t, tt.events, strings.Join(c.events, " "))
		})
	}
}

func TestALookUpThatBeganInTheWindowMayLastAWhileLonger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		looks  string
		slow   time.Duration
		events string
		took   time.Duration
	}{
		{"nothing", 4 * time.Second, "send@0s look@0s look@6s send@10s", 10 * time.Second},
		{"nothing", 5500 * time.Millisecond, "send@0s look@0s look@6s", 11 * time.Second},
		{"nothing", 2500 * time.Millisecond, "send@0s look@0s look@4.5s look@7s send@9.5s", 9500 * time.Millisecond},
		{"hanging", 0, "send@0s look@0s", 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost accepted", tt.looks, true)
			c.lookTime = tt.slow
			_, err := NewService(c).SendOnce(t.Context(), withReference)
			assert.Equal(t, tt.events, strings.Join(c.events, " "))
			assert.Equal(t, tt.took, time.Since(c.start))
			assert.Equal(t, c.sent == 1, errors.Is(err, wire.ErrOutcomeUnknown))
		})
	}
}

func TestTwoWaysToWriteANumberAreTheSame(t *testing.T) {
	t.Parallel()
	for listed, same := range map[string]bool{
		"+639171234567": true, "639171234567": true, "00639171234567": true, "09171234567": true, "9171234567": true,
		"+63 (917) 123-4567": true, "": true, "4567": true,
		"+639171234568": false, "+639170234567": false, "639171234567 0": false, "4568": false,
	} {
		assert.Equal(t, same, sameNumber(listed, "+639171234567"), listed)
		assert.Equal(t, same, sameNumber("+639171234567", listed), listed)
	}
}

func TestTheWindowOfTheResendIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk("lost lost", "nothing", true)
		c.sendTime = 10 * time.Second // longer than the window
		_, err := NewService(c).SendOnce(t.Context(), withReference)
		require.ErrorIs(t, err, wire.ErrOutcomeUnknown)
		assert.Equal(t, "send@0s look@10s look@12s look@14s look@16s send@16s look@26s look@28s look@30s look@32s", strings.Join(c.events, " "))
	})
}

// A whole course with a resend takes 10 s, the look-ups of the first window and of the second included. The context ends at
// every quarter of a second of it, and between them.
func TestAContextThatEndsAtAnyPointEndsItSoonAndNothingIsSentAfterwards(t *testing.T) {
	t.Parallel()
	course := func(t *testing.T, ctx context.Context) (*clerk, time.Duration, error) {
		t.Helper()
		c := newClerk("lost", "nothing", true)
		c.policy.Window, c.policy.Interval = 3*time.Second, time.Second
		c.sendTime, c.lookTime = time.Second, 250*time.Millisecond
		_, err := NewService(c).SendOnce(ctx, withReference)
		return c, time.Since(c.start), err
	}
	var whole time.Duration
	var resent time.Duration
	synctest.Test(t, func(t *testing.T) {
		c, took, err := course(t, t.Context())
		require.ErrorIs(t, err, wire.ErrOutcomeUnknown)
		require.Equal(t, 2, c.sent)
		whole = took
		for _, event := range c.events {
			if at, ok := strings.CutPrefix(event, "send@"); ok {
				resent, err = time.ParseDuration(at)
				require.NoError(t, err)
			}
		}
	})
	require.Greater(t, resent, 3*time.Second)
	for limit := 125 * time.Millisecond; limit < whole; limit += 125 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			c, took, err := course(t, ctx)
			require.ErrorIs(t, err, wire.ErrOutcomeUnknown, "%v", limit)
			require.Equal(t, c.answered[0], err, "%v: the error of the first send", limit)
			assert.LessOrEqual(t, took, limit)
			if limit < resent {
				assert.Equal(t, 1, c.sent, "%v: sent again", limit)
			}
		})
	}
}

func TestAContextThatEndsWithTheLastLookUpForbidsTheResend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := newClerk("lost accepted", "nothing", true)
		c.afterLookedAt = func(n int) {
			if n == 4 {
				cancel()
			}
		}
		_, err := NewService(c).SendOnce(ctx, withReference)
		require.Equal(t, c.answered[0], err)
		assert.Equal(t, 1, c.sent)
	})
}

func TestAContextThatHasEndedSendsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newClerk("accepted", "listed", true)
	_, err := NewService(c).SendOnce(ctx, withReference)
	require.ErrorIs(t, err, errUnsent)
	assert.Empty(t, c.events)
}
