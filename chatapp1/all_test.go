package chatapp1_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/internal/wire"
)

var (
	errRefused = errors.New("refused")
	errUnsent  = errors.New("not sent")
)

// refusal is the error of a call with problems.
type refusal []wire.Problem

func (refusal) Error() string { return "refused before it was sent" }

// counter takes sends, and counts those under way. It has no listing and no policy to settle by: asking for one panics.
type counter struct {
	wire.Doer // what a test does not need

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

func (c *counter) Refuse(op wire.Operation, problems []wire.Problem) error {
	if op != wire.ChatApp1Send {
		return fmt.Errorf("the operation is %v", op)
	}
	return refusal(problems)
}

// slowly takes a second for each message: it refuses every third, loses the next, and accepts the others.
func slowly(ctx context.Context, reference string) (wire.Receipt, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return wire.Receipt{}, fmt.Errorf("%w: %w", wire.ErrOutcomeUnknown, ctx.Err())
	}
	if err := fate(reference); err != nil {
		return wire.Receipt{}, fmt.Errorf("message %s: %w", reference, err)
	}
	return wire.Receipt{ID: "m-" + reference, ReferenceID: reference}, nil
}

func fate(reference string) error {
	n, _ := strconv.Atoi(reference)
	return []error{errRefused, wire.ErrOutcomeUnknown, nil}[n%3]
}

// numbered makes n messages, and counts how many were taken.
func numbered(n int, taken *int) iter.Seq[chatapp1.Message] {
	return func(yield func(chatapp1.Message) bool) {
		for i := range n {
			if *taken++; !yield(to.Text("Hi").WithReference(strconv.Itoa(i))) {
				return
			}
		}
	}
}

func TestEachMessageHasItsOutcomeOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ messages, concurrency, most, seconds int }{
		{100, 1, 1, 100}, {100, 7, 7, 15}, {3, 1000, 3, 1}, {0, 5, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{send: slowly}
			taken, start := 0, time.Now()
			seen := map[int]bool{}
			for out := range chatapp1.NewService(c).SendAll(t.Context(), numbered(tt.messages, &taken), tt.concurrency) {
				reference := strconv.Itoa(out.Index)
				assert.False(t, seen[out.Index], "outcome %d comes twice", out.Index)
				seen[out.Index] = true
				assert.Equal(t, to.Text("Hi").WithReference(reference), out.Message, "the index is another message's")
				if expected := fate(reference); expected != nil {
					require.ErrorIs(t, out.Err, expected)
					require.ErrorContains(t, out.Err, "message "+reference+":")
					assert.Equal(t, chatapp1.Receipt{}, out.Receipt)
				} else {
					require.NoError(t, out.Err)
					assert.Equal(t, chatapp1.Receipt{ID: "m-" + reference, ReferenceID: reference}, out.Receipt)
				}
				assert.LessOrEqual(t, taken, len(seen)+tt.concurrency+1, "taken further ahead than there are workers")
			}
			assert.Len(t, seen, tt.messages)
			assert.Equal(t, tt.messages, taken)
			assert.EqualValues(t, tt.messages, c.begun.Load(), "an unknown outcome is not sent again")
			assert.EqualValues(t, tt.most, c.most.Load())
			assert.Equal(t, time.Duration(tt.seconds)*time.Second, time.Since(start))
		})
	}
}

func TestNothingIsTakenBeforeTheLoopBegins(t *testing.T) {
	t.Parallel()
	c := &counter{send: slowly}
	taken := 0
	chatapp1.NewService(c).SendAll(t.Context(), numbered(5, &taken), 2)
	assert.Zero(t, taken)
	assert.Zero(t, c.begun.Load())
}

func TestABreakBeginsNothingMoreAndWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{send: func(ctx context.Context, reference string) (wire.Receipt, error) {
			if reference != "0" {
				time.Sleep(time.Minute)
				assert.NoError(t, ctx.Err(), "what is under way is cancelled")
			}
			return slowly(ctx, reference)
		}}
		taken, start := 0, time.Now()
		for range chatapp1.NewService(c).SendAll(t.Context(), numbered(100, &taken), 4) {
			break
		}
		assert.Zero(t, c.under.Load(), "sends are left behind")
		assert.Equal(t, time.Minute+time.Second, time.Since(start))
		begun := c.begun.Load()
		assert.LessOrEqual(t, begun, int32(4))
		time.Sleep(time.Hour)
		assert.Equal(t, begun, c.begun.Load())
	}) // synctest fails where a goroutine is left
}

func TestACancelledRunHasAnOutcomeForEveryMessageThatWasTaken(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 20} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				cancel()
			}
			c := &counter{send: slowly}
			taken, ended, unsent := 0, 0, 0
			seen := map[int]bool{}
			for out := range chatapp1.NewService(c).SendAll(ctx, numbered(10_000, &taken), 8) {
				assert.False(t, seen[out.Index], "outcome %d comes twice", out.Index)
				seen[out.Index] = true
				assert.Equal(t, strconv.Itoa(out.Index), out.Message.ReferenceID)
				if errors.Is(out.Err, errUnsent) {
					require.ErrorIs(t, out.Err, context.Canceled)
					unsent++
				} else if ended++; ended == after {
					cancel()
				}
			}
			assert.Len(t, seen, taken)
			assert.EqualValues(t, ended, c.begun.Load(), "what was not begun is not sent")
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
		messages    iter.Seq[chatapp1.Message]
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
		var outcomes []chatapp1.Outcome
		for out := range chatapp1.NewService(c).SendAll(tt.ctx, tt.messages, tt.concurrency) {
			outcomes = append(outcomes, out)
		}
		require.Len(t, outcomes, 1, name)
		assert.Equal(t, -1, outcomes[0].Index, name)
		assert.Equal(t, chatapp1.Message{}, outcomes[0].Message, name)
		refused, ok := errors.AsType[refusal](outcomes[0].Err)
		require.True(t, ok, name)
		var fields []string
		for _, p := range refused {
			fields = append(fields, p.Field)
		}
		assert.ElementsMatch(t, tt.fields, fields, name)
		assert.Zero(t, c.begun.Load(), name)
	}
	assert.Zero(t, taken)
}

func TestAPrintedOutcomeShowsMeasuresOnly(t *testing.T) {
	t.Parallel()
	out := chatapp1.Outcome{
		Index: 3, Message: to.Text("PRIVATE").WithReference("PRIVATE"), Receipt: chatapp1.Receipt{ID: "m-1", Raw: []byte("PRIVATE")}, Err: errRefused,
	}
	for _, v := range []any{out, &out} {
		text := shown(v)
		assertSilent(t, text)
		assert.Contains(t, text, "m-1")
	}
	want := fmt.Sprintf("chatapp1.Outcome{Index: 3, Message: %v, Receipt: %v, Err: refused}", out.Message, out.Receipt)
	assert.Equal(t, want, fmt.Sprint(out))
	assert.Equal(t, want, out.LogValue().String())
	assert.True(t, strings.HasPrefix(fmt.Sprintf("%#v", &out), "chatapp1.Outcome{"))
}
