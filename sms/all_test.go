package sms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// counter takes sends, and counts those under way.
type counter struct {
	clerk

	send  func(ctx context.Context, reference string) (wire.Receipt, error)
	begun atomic.Int32
	under atomic.Int32
	most  atomic.Int32
}

func (c *counter) Send(ctx context.Context, call wire.Call) (wire.Receipt, error) {
	if ctx.Err() != nil {
		return wire.Receipt{}, fmt.Errorf("%w: %w", errUnsent, ctx.Err())
	}
	c.begun.Add(1)
	under := c.under.Add(1)
	defer c.under.Add(-1)
	for most := c.most.Load(); under > most; most = c.most.Load() {
		c.most.CompareAndSwap(most, under)
	}
	return c.send(ctx, call.Reference)
}

// slowly accepts every message after a second.
func slowly(ctx context.Context, reference string) (wire.Receipt, error) {
	if err := wait(ctx, time.Second); err != nil {
		return wire.Receipt{}, fmt.Errorf("%w: %w", wire.ErrOutcomeUnknown, err)
	}
	return wire.Receipt{ID: "m-" + reference, ReferenceID: reference}, nil
}

// numbered makes n messages, and counts how many were taken.
func numbered(n int, taken *int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for i := range n {
			m := valid
			m.ReferenceID = strconv.Itoa(i)
			if *taken++; !yield(m) {
				return
			}
		}
	}
}

// books checks that each outcome comes once, under the index of its message.
type books struct {
	t    *testing.T
	seen map[int]bool
}

func newBooks(t *testing.T) *books {
	t.Helper()
	return &books{t: t, seen: map[int]bool{}}
}

func (b *books) enter(out Outcome) {
	assert.False(b.t, b.seen[out.Index], "outcome %d comes twice", out.Index)
	b.seen[out.Index] = true
	assert.Equal(b.t, strconv.Itoa(out.Index), out.Message.ReferenceID, "the index is another message's")
	if out.Err == nil {
		assert.Equal(b.t, out.Message.ReferenceID, out.Receipt.ReferenceID, "the receipt is another message's")
	}
}

func TestEachMessageHasItsOutcomeOnceUnderRandomFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 3000
		fate := func(reference string) *rand.Rand {
			i, _ := strconv.ParseUint(reference, 10, 64)
			return rand.New(rand.NewPCG(17, i))
		}
		want := func(reference string) error {
			return []error{nil, errRefused, errUnsent, wire.ErrOutcomeUnknown}[fate(reference).IntN(4)]
		}
		c := &counter{send: func(ctx context.Context, reference string) (wire.Receipt, error) {
			require.NoError(t, wait(ctx, time.Duration(fate(reference).Int64N(int64(time.Second)))))
			if err := want(reference); err != nil {
				return wire.Receipt{}, fmt.Errorf("message %s: %w", reference, err)
			}
			return wire.Receipt{ID: "m-" + reference, ReferenceID: reference}, nil
		}}
		taken, inOrder := 0, true
		b := newBooks(t)
		for out := range NewService(c).SendAll(t.Context(), numbered(n, &taken), 64) {
			inOrder = inOrder && out.Index == len(b.seen)
			b.enter(out)
			if expected := want(out.Message.ReferenceID); expected != nil {
				require.ErrorIs(t, out.Err, expected)
				require.ErrorContains(t, out.Err, "message "+out.Message.ReferenceID+":")
			} else {
				require.NoError(t, out.Err)
			}
		}
		assert.Len(t, b.seen, n)
		assert.Equal(t, n, taken)
		assert.EqualValues(t, n, c.begun.Load(), "sent once each")
		assert.False(t, inOrder, "an outcome waits for one before it")
		assert.EqualValues(t, 64, c.most.Load())
	})
}

func TestAsManyAreSentAtOnceAsWasSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ messages, concurrency, most, seconds int }{
		{100, 1, 1, 100}, {100, 7, 7, 15}, {100, 100, 100, 1}, {3, 1000, 3, 1}, {0, 5, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{send: slowly}
			taken, start := 0, time.Now()
			b := newBooks(t)
			for out := range NewService(c).SendAll(t.Context(), numbered(tt.messages, &taken), tt.concurrency) {
				require.NoError(t, out.Err)
				b.enter(out)
				assert.LessOrEqual(t, taken, len(b.seen)+tt.concurrency+1, "taken further ahead than there are workers")
			}
			assert.Len(t, b.seen, tt.messages)
			assert.EqualValues(t, tt.most, c.most.Load())
			assert.Equal(t, time.Duration(tt.seconds)*time.Second, time.Since(start))
			assert.Zero(t, c.under.Load())
		})
	}
}

func goroutine() string {
	stack := make([]byte, 64)
	id, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte(" ["))
	return string(id)
}

func TestMessagesAreRangedInTheCallersGoroutine(t *testing.T) {
	t.Parallel()
	caller := goroutine()
	taken := 0
	messages := func(yield func(Message) bool) {
		assert.Equal(t, caller, goroutine(), "at the beginning")
		for m := range numbered(100, &taken) {
			assert.Equal(t, caller, goroutine())
			if !yield(m) {
				return
			}
		}
		assert.Equal(t, caller, goroutine(), "at the end")
	}
	c := &counter{send: func(_ context.Context, reference string) (wire.Receipt, error) {
		return wire.Receipt{ReferenceID: reference}, nil
	}}
	for out := range NewService(c).SendAll(t.Context(), messages, 8) {
		assert.Equal(t, caller, goroutine())
		require.NoError(t, out.Err)
	}
	assert.Equal(t, 100, taken)
}

func TestNothingIsTakenBeforeTheLoopBegins(t *testing.T) {
	t.Parallel()
	c := &counter{send: slowly}
	taken := 0
	NewService(c).SendAll(t.Context(), numbered(5, &taken), 2)
	assert.Zero(t, taken)
	assert.Zero(t, c.begun.Load())
}

func TestABreakBeginsNothingMoreAndWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{send: func(ctx context.Context, reference string) (wire.Receipt, error) {
			if reference != "0" {
				require.NoError(t, wait(ctx, time.Minute), "what is under way is not cancelled")
			}
			return slowly(ctx, reference)
		}}
		taken, start := 0, time.Now()
		closed := false
		messages := func(yield func(Message) bool) {
			defer func() { closed = true }()
			numbered(100, &taken)(yield)
		}
		for range NewService(c).SendAll(t.Context(), messages, 4) {
			break
		}
		assert.Zero(t, c.under.Load(), "sends are left behind")
		assert.Equal(t, time.Minute+time.Second, time.Since(start))
		assert.True(t, closed)
		begun := c.begun.Load()
		assert.LessOrEqual(t, begun, int32(4))
		time.Sleep(time.Hour)
		assert.Equal(t, begun, c.begun.Load())
	})
}

func TestACancelledRunHasAnOutcomeForEveryMessageThatWasTaken(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 20, 50} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				cancel()
			}
			c := &counter{send: slowly}
			taken, accepted, unknown, unsent := 0, 0, 0, 0
			b := newBooks(t)
			for out := range NewService(c).SendAll(ctx, numbered(10_000, &taken), 8) {
				b.enter(out)
				switch {
				case out.Err == nil:
					if accepted++; accepted == after {
						cancel()
					}
				case errors.Is(out.Err, wire.ErrOutcomeUnknown):
					unknown++
				default:
					require.ErrorIs(t, out.Err, errUnsent)
					require.ErrorIs(t, out.Err, context.Canceled)
					unsent++
				}
			}
			assert.Len(t, b.seen, taken)
			assert.EqualValues(t, accepted+unknown, c.begun.Load(), "what was not begun is not sent")
			assert.LessOrEqual(t, taken, after+2*8+1, "more are taken after the end")
			assert.Positive(t, unsent)
		})
	}
}

func TestWhatCannotBeginIsOneOutcomeWithAllProblems(t *testing.T) {
	t.Parallel()
	taken := 0
	for name, tt := range map[string]struct {
		ctx         context.Context //nolint:containedctx // a table
		messages    iter.Seq[Message]
		concurrency int
		fields      []string
	}{
		"no workers":           {t.Context(), numbered(5, &taken), 0, []string{"concurrency"}},
		"fewer than none":      {t.Context(), numbered(5, &taken), -3, []string{"concurrency"}},
		"no messages":          {t.Context(), nil, 1, []string{"messages"}},
		"no context":           {nil, numbered(5, &taken), 1, []string{"ctx"}},
		"nothing of all these": {nil, nil, 0, []string{"messages", "concurrency", "ctx"}},
	} {
		c := &counter{send: slowly}
		var outcomes []Outcome
		for out := range NewService(c).SendAll(tt.ctx, tt.messages, tt.concurrency) {
			outcomes = append(outcomes, out)
		}
		require.Len(t, outcomes, 1, name)
		assert.Equal(t, -1, outcomes[0].Index, name)
		assert.Equal(t, Message{}, outcomes[0].Message, name)
		var refused refusal
		require.ErrorAs(t, outcomes[0].Err, &refused, name)
		assert.ElementsMatch(t, tt.fields, refused.fields(), name)
		assert.Zero(t, c.begun.Load(), name)
	}
	assert.Zero(t, taken)
}

func TestAHugeConcurrencyCostsNoMoreThanItsMessages(t *testing.T) {
	t.Parallel()
	c := &counter{send: func(_ context.Context, reference string) (wire.Receipt, error) {
		return wire.Receipt{ReferenceID: reference}, nil
	}}
	for _, concurrency := range []int{1 << 40, int(^uint(0) >> 1)} {
		taken := 0
		b := newBooks(t)
		assert.NotPanics(t, func() {
			for out := range NewService(c).SendAll(t.Context(), numbered(3, &taken), concurrency) {
				b.enter(out)
			}
		})
		assert.Len(t, b.seen, 3)
	}
}

func TestSendAllSettlesOnlyWhereTheClientSaysSo(t *testing.T) {
	t.Parallel()
	for _, settles := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost", "nothing listed", false)
			c.settles = settles
			messages := func(yield func(Message) bool) { _ = yield(valid) && yield(withReference) }
			outcomes := map[int]Outcome{}
			for out := range NewService(c).SendAll(t.Context(), messages, 1) {
				outcomes[out.Index] = out
			}
			require.Len(t, outcomes, 2)
			assert.Equal(t, withReference, outcomes[1].Message)
			if !settles {
				assert.Equal(t, "send@0s send@0s", strings.Join(c.events, " "))
				assert.Equal(t, valid, outcomes[0].Message)
				require.ErrorIs(t, outcomes[0].Err, wire.ErrOutcomeUnknown)
				require.ErrorIs(t, outcomes[1].Err, wire.ErrOutcomeUnknown)
				return
			}
			assert.Equal(t, "send@0s look@0s look@2s send@2s look@2s", strings.Join(c.events, " "))
			assert.Len(t, outcomes[0].Message.ReferenceID, 26)
			for _, out := range outcomes {
				require.NoError(t, out.Err)
				assert.Equal(t, "listed-1", out.Receipt.ID)
				assert.Equal(t, out.Message.ReferenceID, out.Receipt.ReferenceID)
			}
			assert.Equal(t, outcomes[0].Message.ReferenceID, c.references[0], "what is looked up is what was sent")
		})
	}
}

func TestSendAllResendsWhatIsNotListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk("lost accepted", "nothing", true)
		c.settles = true
		for out := range NewService(c).SendAll(t.Context(), func(yield func(Message) bool) { yield(valid) }, 4) {
			require.NoError(t, out.Err)
			assert.Equal(t, "sent-2", out.Receipt.ID)
		}
		assert.Equal(t, "send@0s look@0s look@2s look@4s look@6s send@6s", strings.Join(c.events, " "))
	})
}

func TestAPanicInTheLoopLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{send: slowly}
		taken := 0
		assert.PanicsWithValue(t, "in the loop", func() {
			for range NewService(c).SendAll(t.Context(), numbered(100, &taken), 8) {
				panic("in the loop")
			}
		})
		assert.Zero(t, c.under.Load(), "sends are left behind")
		assert.PanicsWithValue(t, "in the messages", func() {
			messages := func(yield func(Message) bool) {
				yield(valid)
				panic("in the messages")
			}
			for range NewService(c).SendAll(t.Context(), messages, 8) {
			}
		})
		assert.Zero(t, c.under.Load(), "sends are left behind")
	}) // synctest fails where a goroutine is left
}

// Not parallel: it looks at the memory of the whole process.
func TestAMillionMessagesTakeNoMoreMemoryThanAFew(t *testing.T) {
	n := 1_000_000
	if raced {
		n = 100_000
	}
	receipt := wire.Receipt{ID: "m-1"}
	c := &counter{send: func(context.Context, string) (wire.Receipt, error) { return receipt, nil }}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc // with what is not collected yet
	}
	runtime.GC()
	start := heap()
	taken, outcomes, most := 0, 0, uint64(0)
	for out := range NewService(c).SendAll(t.Context(), numbered(n, &taken), 32) {
		if out.Err != nil {
			require.NoError(t, out.Err)
		}
		if outcomes++; outcomes%(n/100) == 0 {
			most = max(most, heap())
		}
	}
	assert.Equal(t, n, outcomes)
	assert.Less(t, most, start+16<<20)
}

func TestAPrintedOutcomeShowsMeasuresOnly(t *testing.T) {
	t.Parallel()
	out := Outcome{Index: 3, Message: Message{From: "ACME", To: "+639171234567", Text: "PRIVATE"}, Receipt: Receipt{ID: "m-1", Raw: []byte("PRIVATE")}}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("sent", "outcome", out, "pointer", &out)
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %q", out, out, out, out, &out), log.String()} {
		assert.NotContains(t, shown, "PRIVATE")
		assert.NotContains(t, shown, "639171234567")
		assert.Contains(t, shown, "m-1")
	}
}
