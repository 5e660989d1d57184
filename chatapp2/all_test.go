package chatapp2

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// bulkDoer takes a second for each message, and knows its fate from its reference. Under a context that has ended nothing
// begins.
type bulkDoer struct {
	wire.Doer // what a test does not need

	fate  func(reference string) error
	begun atomic.Int32
	under atomic.Int32
	most  atomic.Int32
}

var (
	errBulkRefused = errors.New("refused")
	errBulkUnsent  = errors.New("not sent")
)

func (d *bulkDoer) Send(ctx context.Context, call wire.Call) (wire.Receipt, error) {
	if ctx.Err() != nil {
		return wire.Receipt{}, fmt.Errorf("%w: %w", errBulkUnsent, ctx.Err())
	}
	d.begun.Add(1)
	under := d.under.Add(1)
	defer d.under.Add(-1)
	for most := d.most.Load(); under > most; most = d.most.Load() {
		d.most.CompareAndSwap(most, under)
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return wire.Receipt{}, fmt.Errorf("%w: %w", wire.ErrOutcomeUnknown, ctx.Err())
	}
	if d.fate != nil {
		if err := d.fate(call.Reference); err != nil {
			return wire.Receipt{}, fmt.Errorf("message %s: %w", call.Reference, err)
		}
	}
	return wire.Receipt{ID: "wamid." + call.Reference, ReferenceID: call.Reference}, nil
}

// bulkErrors is the error of a call with problems.
type bulkErrors []wire.Problem

func (r bulkErrors) Error() string { return "refused: " + strconv.Itoa(len(r)) + " problems" }

func (d *bulkDoer) Refuse(op wire.Operation, problems []wire.Problem) error {
	if op != wire.ChatApp2Send {
		panic(op)
	}
	return bulkErrors(problems)
}

// bulkMessages makes n messages, and counts how many were taken.
func bulkMessages(n int, taken *int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for i := range n {
			m := goldenTo(Text{Body: "Hi"})
			m.ReferenceID = strconv.Itoa(i)
			if *taken++; !yield(m) {
				return
			}
		}
	}
}

func TestEachMessageOfABulkHasItsOutcomeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fates := []error{nil, errBulkRefused, errBulkUnsent, wire.ErrOutcomeUnknown}
		d := &bulkDoer{fate: func(reference string) error {
			i, err := strconv.Atoi(reference)
			require.NoError(t, err)
			return fates[i%len(fates)]
		}}
		taken, start := 0, time.Now()
		seen := map[int]bool{}
		for out := range NewService(d).SendAll(t.Context(), bulkMessages(100, &taken), 8) {
			assert.False(t, seen[out.Index], "outcome %d comes twice", out.Index)
			seen[out.Index] = true
			assert.Equal(t, strconv.Itoa(out.Index), out.Message.ReferenceID, "the index is another message's")
			assert.Equal(t, Text{Body: "Hi"}, out.Message.Content)
			if want := fates[out.Index%len(fates)]; want != nil {
				require.ErrorIs(t, out.Err, want)
				require.ErrorContains(t, out.Err, "message "+out.Message.ReferenceID+":")
				assert.Equal(t, Receipt{}, out.Receipt)
			} else {
				require.NoError(t, out.Err)
				assert.Equal(t, Receipt{ID: "wamid." + out.Message.ReferenceID, ReferenceID: out.Message.ReferenceID}, out.Receipt)
			}
			assert.LessOrEqual(t, taken, len(seen)+8+1, "taken further ahead than there are workers")
		}
		assert.Len(t, seen, 100)
		assert.Equal(t, 100, taken)
		assert.EqualValues(t, 100, d.begun.Load(), "an unknown outcome is not sent again")
		assert.EqualValues(t, 8, d.most.Load())
		assert.Equal(t, 13*time.Second, time.Since(start))
	})
}

func TestABreakOfABulkWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := new(bulkDoer)
		taken := 0
		for range NewService(d).SendAll(t.Context(), bulkMessages(100, &taken), 4) {
			break
		}
		assert.Zero(t, d.under.Load(), "sends are left behind")
		begun := d.begun.Load()
		assert.LessOrEqual(t, begun, int32(2*4))
		time.Sleep(time.Hour)
		assert.Equal(t, begun, d.begun.Load(), "something begins after the break")
	})
}

func TestACancelledBulkHasAnOutcomeForEveryMessageThatWasTaken(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 20} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				cancel()
			}
			d := new(bulkDoer)
			taken, accepted, unknown, unsent := 0, 0, 0, 0
			for out := range NewService(d).SendAll(ctx, bulkMessages(10_000, &taken), 8) {
				assert.Equal(t, strconv.Itoa(out.Index), out.Message.ReferenceID)
				switch {
				case out.Err == nil:
					if accepted++; accepted == after {
						cancel()
					}
				case errors.Is(out.Err, wire.ErrOutcomeUnknown):
					unknown++
				default:
					require.ErrorIs(t, out.Err, errBulkUnsent)
					require.ErrorIs(t, out.Err, context.Canceled)
					unsent++
				}
			}
			assert.Equal(t, taken, accepted+unknown+unsent)
			assert.EqualValues(t, accepted+unknown, d.begun.Load(), "what was not begun is not sent")
			assert.LessOrEqual(t, taken, after+2*8+1, "more are taken after the end")
		})
	}
}

func TestNothingIsTakenBeforeTheLoopOfABulkBegins(t *testing.T) {
	t.Parallel()
	d := new(bulkDoer)
	taken := 0
	NewService(d).SendAll(t.Context(), bulkMessages(5, &taken), 2)
	assert.Zero(t, taken)
	assert.Zero(t, d.begun.Load())
	for range NewService(d).SendAll(t.Context(), slices.Values([]Message(nil)), 2) {
		t.Error("an outcome of no message")
	}
}

func TestABulkThatCannotBeginIsOneOutcomeWithAllProblems(t *testing.T) {
	t.Parallel()
	taken := 0
	for name, tt := range map[string]struct {
		ctx         context.Context //nolint:containedctx // a table
		messages    iter.Seq[Message]
		concurrency int
		fields      []string
	}{
		"no workers":           {t.Context(), bulkMessages(5, &taken), 0, []string{"concurrency"}},
		"fewer than none":      {t.Context(), bulkMessages(5, &taken), -3, []string{"concurrency"}},
		"no messages":          {t.Context(), nil, 1, []string{"messages"}},
		"no context":           {nil, bulkMessages(5, &taken), 1, []string{"ctx"}},
		"nothing of all these": {nil, nil, 0, []string{"messages", "concurrency", "ctx"}},
	} {
		d := new(bulkDoer)
		outcomes := slices.Collect(NewService(d).SendAll(tt.ctx, tt.messages, tt.concurrency))
		require.Len(t, outcomes, 1, name)
		assert.Equal(t, -1, outcomes[0].Index, name)
		assert.Equal(t, Message{}, outcomes[0].Message, name)
		assert.Equal(t, Receipt{}, outcomes[0].Receipt, name)
		var refused bulkErrors
		require.ErrorAs(t, outcomes[0].Err, &refused, name)
		var fields []string
		for _, problem := range refused {
			fields = append(fields, problem.Field)
		}
		assert.Equal(t, tt.fields, fields, name)
		assert.Zero(t, d.begun.Load(), name)
	}
	assert.Zero(t, taken)
}

func TestAMessageWithProblemsIsOneOutcomeAmongOthers(t *testing.T) {
	t.Parallel()
	d := new(sendDoer)
	good, bad := goldenTo(Text{Body: "Hi"}), goldenTo(Text{})
	outcomes := slices.Collect(NewService(d).SendAll(t.Context(), slices.Values([]Message{good, bad}), 1))
	require.Len(t, outcomes, 2)
	assert.Equal(t, good, outcomes[0].Message)
	assert.Equal(t, bad, outcomes[1].Message)
	require.Len(t, d.call.Problems, 1, "the rest of the library gets the problems and refuses")
	assert.Equal(t, "Content.Body", d.call.Problems[0].Field)
}
