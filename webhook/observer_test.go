package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

type spanKey struct{}

// spans is an observer that keeps what it was told.
type spans struct {
	started int
	ended   []webhook.EventResult
	inside  []any // the spans in the contexts
	panics  bool
}

func (s *spans) StartEvent(ctx context.Context, event webhook.Event) context.Context {
	s.started++
	if s.panics {
		panic("hunter2 " + event.Callback)
	}
	return context.WithValue(ctx, spanKey{}, s.started)
}

func (s *spans) EndEvent(ctx context.Context, _ webhook.Event, result webhook.EventResult) {
	s.inside = append(s.inside, ctx.Value(spanKey{}))
	s.ended = append(s.ended, result)
	if s.panics {
		panic("hunter2")
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var storeErr, handleErr error
		panics := false
		memory := webhook.NewMemoryStore(10, time.Hour)
		store := storeFunc(func(ctx context.Context, key string, handle func(context.Context) error) error {
			if storeErr != nil {
				return storeErr
			}
			return memory.Once(ctx, key, handle)
		})
		var seen spans
		var span any
		h := named(t, listed, webhook.WithObserver(&seen), webhook.WithSecret("key", "s3cret"), webhook.WithStore(store)).
			SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
				span = ctx.Value(spanKey{})
				time.Sleep(250 * time.Millisecond)
				if panics {
					panic("hunter2")
				}
				return handleErr
			})
		hit := func(r *http.Request) []webhook.EventResult {
			t.Helper()
			seen.ended = nil
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Len(t, seen.inside, seen.started, "each beginning has an end")
			worst := 0
			for _, end := range seen.ended {
				worst = max(worst, end.StatusCode)
				for _, private := range []string{"hunter2", sender, "s3cret", "m-1"} {
					assert.NotContains(t, fmt.Sprintf("%+v", end), private)
				}
			}
			assert.Equal(t, worst, w.Code)
			return seen.ended
		}
		result := func(outcome webhook.Outcome, status int, took time.Duration) []webhook.EventResult {
			return []webhook.EventResult{{Kind: webhook.CallbackSMS, Outcome: outcome, StatusCode: status, Duration: took}}
		}
		const took = 250 * time.Millisecond
		query := func(id string) string { return "messageId=" + id + "&from=" + sender + "&text.body=hunter2&key=s3cret" }
		assert.Equal(t, result(webhook.OutcomeHandled, 200, took), hit(get(query("m-1"))))
		assert.Equal(t, 1, span)
		assert.Equal(t, result(webhook.OutcomeDuplicate, 200, 0), hit(get(query("m-1"))))
		storeErr = webhook.ErrInProgress
		assert.Equal(t, result(webhook.OutcomeInProgress, 503, 0), hit(get(query("m-1"))))
		storeErr = errors.New("hunter2")
		assert.Equal(t, result(webhook.OutcomeStoreFailed, 503, 0), hit(get(query("m-1"))))
		storeErr, handleErr = nil, errors.New("hunter2")
		assert.Equal(t, result(webhook.OutcomeFailed, 500, took), hit(get(query("m-2"))))
		handleErr = fmt.Errorf("hunter2: %w", webhook.ErrRetryLater)
		assert.Equal(t, result(webhook.OutcomeRetryLater, 503, took), hit(get(query("m-2"))))
		handleErr, panics = nil, true
		assert.Equal(t, result(webhook.OutcomePanicked, 500, took), hit(get(query("m-2"))))
		panics = false
		refused := result(webhook.OutcomeRejected, 403, 0)
		refused[0].Reason = "wrong proof of origin"
		assert.Equal(t, refused, hit(get("from=1111&key=hunter2")))

		ends := hit(post("key=s3cret", "", `{"results":[{"messageId":"m-1","from":"`+sender+`"},{"from":"1111"},{"text":"hunter2"}]}`))
		require.Len(t, ends, 3)
		assert.Equal(t, webhook.OutcomeRejected, ends[0].Outcome)
		assert.Equal(t, "no sender", ends[0].Reason)
		assert.Equal(t, webhook.OutcomeHandled, ends[1].Outcome, "another text than the message of that ID")
		assert.Equal(t, webhook.OutcomeHandled, ends[2].Outcome)
		assert.Equal(t, seen.started, span, "each event has a span of its own")

		head := get(query("m-3"))
		head.Method = http.MethodHead
		assert.Equal(t, http.StatusOK, hit(head)[0].StatusCode)
		for i, inside := range seen.inside {
			assert.Equal(t, i+1, inside)
		}
	})
}

func TestObserverOfStatuses(t *testing.T) {
	t.Parallel()
	var seen spans
	h := hooks(webhook.WithPOST(), webhook.WithObserver(&seen), webhook.WithStatuses(new(inbox[webhook.DeliveryReport]).handle)).
		ChatApp2(new(inbox[webhook.ChatMessage]).handle)
	assert.Equal(t, 200, call(t, h, post("", "", `{"messages":[{"from":"1","id":"1","type":"text"}],"statuses":[{"id":"1","status":"read"}]}`)).Code)
	require.Len(t, seen.ended, 2)
	assert.Equal(t, []webhook.Callback{webhook.CallbackChatApp2, webhook.CallbackDelivery}, []webhook.Callback{seen.ended[0].Kind, seen.ended[1].Kind})
}

func TestObserverOfStatusesThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	var seen spans
	in, rejected := inbox[webhook.ChatMessage]{}, 0
	h := hooks(webhook.WithPOST(), webhook.WithObserver(&seen), webhook.WithOnReject(func(*http.Request, error) { rejected++ })).ChatApp2(in.handle)
	body := `{"messages":[{"from":"1","id":"1","type":"text"}],"statuses":[{"id":"1","status":"read"},{"id":"2","status":"read"}]}`
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Len(t, in.got, 1)
	assert.Equal(t, 2, rejected)
	require.Len(t, seen.ended, 3)
	for _, end := range seen.ended[1:] {
		assert.Equal(t, webhook.EventResult{
			Kind: webhook.CallbackDelivery, Outcome: webhook.OutcomeRejected, Reason: "events of another kind", StatusCode: 200, Duration: end.Duration,
		}, end)
	}
}

func TestObserverOfAnEmptyList(t *testing.T) {
	t.Parallel()
	var seen spans
	h := named(t, `{"webhook.sms": {"events": ["results"]}}`, webhook.WithObserver(&seen)).SMS(new(inbox[webhook.SMSMessage]).handle)
	assert.Equal(t, 200, call(t, h, post("", "", `{"results":[]}`)).Code)
	assert.Equal(t, 1, seen.started)
	require.Len(t, seen.ended, 1)
	assert.Equal(t, webhook.EventResult{
		Kind: webhook.CallbackSMS, Outcome: webhook.OutcomeHandled, StatusCode: 200, Duration: seen.ended[0].Duration,
	}, seen.ended[0])
}

// order is an observer that notes its name.
type order struct {
	name  string
	notes *[]string
}

func (o order) StartEvent(ctx context.Context, _ webhook.Event) context.Context {
	*o.notes = append(*o.notes, "start "+o.name)
	return ctx
}

func (o order) EndEvent(context.Context, webhook.Event, webhook.EventResult) {
	*o.notes = append(*o.notes, "end "+o.name)
}

func TestObserversNest(t *testing.T) {
	t.Parallel()
	var notes []string
	h := hooks(webhook.WithObserver(order{"a", &notes}), webhook.WithObserver(order{"b", &notes})).SMS(new(inbox[webhook.SMSMessage]).handle)
	call(t, h, get(honest))
	assert.Equal(t, []string{"start a", "start b", "end b", "end a"}, notes)
}

func TestObserverPanicIsIgnored(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	assert.Equal(t, 200, call(t, hooks(webhook.WithObserver(&spans{panics: true})).SMS(in.handle), get(honest)).Code)
	in.one(t)
	_, err := webhook.NewReceiver(webhook.WithObserver(nil))
	require.ErrorContains(t, err, "WithObserver: the argument is nil")
}

func TestNoObserverCostsNothing(t *testing.T) {
	// Not parallel: AllocsPerRun counts those of all goroutines.
	r, w := get(honest), &discard{header: http.Header{}}
	allocations := func(options ...webhook.Option) float64 {
		h := hooks(options...).SMS(func(context.Context, webhook.SMSMessage) error { return nil })
		return testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) })
	}
	assert.LessOrEqual(t, allocations(), 11.0, "most are those of the context")
	assert.Greater(t, allocations(webhook.WithObserver(&spans{})), allocations())
}

func TestRetryLater(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		err    error
		status int
		after  string
	}{
		{"a time", webhook.RetryLater(90 * time.Second), 503, "90"},
		{"a part of a second", webhook.RetryLater(1500 * time.Millisecond), 503, "2"},
		{"no time", webhook.RetryLater(0), 503, "1"},
		{"less than none", webhook.RetryLater(-time.Hour), 503, "1"},
		{"the longest time", webhook.RetryLater(1<<63 - 1), 503, "9223372037"},
		{"wrapped", fmt.Errorf("hunter2: %w", webhook.RetryLater(time.Minute)), 503, "60"},
		{"joined", errors.Join(errors.New("hunter2"), webhook.RetryLater(time.Minute)), 503, "60"},
		{"the error itself", webhook.ErrRetryLater, 503, "1"},
		{"the error itself, wrapped", fmt.Errorf("hunter2: %w", webhook.ErrRetryLater), 503, "1"},
		{"another", errors.New("hunter2"), 500, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, options := range [][]webhook.Option{nil, {webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))}} {
				in := inbox[webhook.SMSMessage]{err: tt.err}
				h := hooks(options...).SMS(in.handle)
				w := call(t, h, get(honest))
				assert.Equal(t, tt.status, w.Code)
				assert.Equal(t, tt.after, w.Header().Get("Retry-After"))
				in.err = nil
				assert.Equal(t, 200, call(t, h, get(honest)).Code)
				assert.Len(t, in.got, 2, "the store forgot it")
			}
		})
	}
	assert.ErrorIs(t, webhook.RetryLater(time.Second), webhook.ErrRetryLater)
	assert.EqualError(t, webhook.RetryLater(time.Second), "webhook: retry later (1s)")
}

func TestRetryLaterOfSeveralEvents(t *testing.T) {
	t.Parallel()
	errs := map[string]error{"1": webhook.RetryLater(time.Second), "2": webhook.RetryLater(time.Minute), "3": errors.New("no"), "4": nil}
	handled := 0
	h := named(t, listed, webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))).SMS(func(_ context.Context, m webhook.SMSMessage) error {
		handled++
		return errs[m.ID]
	})
	const body = `{"results":[{"messageId":"1","from":"1"},{"messageId":"2","from":"1"},{"messageId":"3","from":"1"},{"messageId":"4","from":"1"}]}`
	w := call(t, h, post("", "", body))
	assert.Equal(t, 503, w.Code)
	assert.Equal(t, "60", w.Header().Get("Retry-After"))
	assert.Equal(t, 4, handled)
	clear(errs)
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Equal(t, 7, handled, "the one that was handled is not handled again")
}

func TestDuplicatesAreLoggedAtDebug(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	h := hooks(webhook.WithLogger(slog.New(slog.NewTextHandler(&text, nil))), webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))).
		SMS(new(inbox[webhook.SMSMessage]).handle)
	call(t, h, get(honest))
	assert.Contains(t, text.String(), "verdict=handled")
	text.Reset()
	call(t, h, get(honest))
	assert.Empty(t, text.String())
}
