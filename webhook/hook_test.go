package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

type spanKey struct{}

// spans is a hook that keeps what it was told.
type spans struct {
	started int
	ended   []webhook.Result
	inside  []any // the spans in the contexts
	panics  bool
}

func (s *spans) option() webhook.Option {
	return webhook.WithHook(webhook.Hook{Begin: s.begin, End: s.end})
}

func (s *spans) begin(ctx context.Context, callback webhook.Callback) context.Context {
	s.started++
	if s.panics {
		panic("hunter2 " + callback)
	}
	return context.WithValue(ctx, spanKey{}, s.started)
}

func (s *spans) end(ctx context.Context, result webhook.Result) {
	s.inside = append(s.inside, ctx.Value(spanKey{}))
	s.ended = append(s.ended, result)
	if s.panics {
		panic("hunter2")
	}
}

// rejections is a hook that keeps the errors of what was refused or panicked.
type rejections []error

func (r *rejections) option() webhook.Option {
	return webhook.WithHook(webhook.Hook{End: func(_ context.Context, result webhook.Result) {
		if result.Disposition == webhook.DispositionRefused || result.Disposition == webhook.DispositionPanicked {
			*r = append(*r, result.Err)
		}
	}})
}

func TestHook(t *testing.T) {
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
		h := named(t, listed, seen.option(), withKey(), webhook.WithStore(store)).
			SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
				span = ctx.Value(spanKey{})
				time.Sleep(250 * time.Millisecond)
				if panics {
					panic("hunter2")
				}
				return handleErr
			})
		hit := func(r *http.Request) []webhook.Result {
			t.Helper()
			seen.ended = nil
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Len(t, seen.inside, seen.started, "each beginning has an end")
			worst := 0
			for i, end := range seen.ended {
				worst = max(worst, end.StatusCode)
				assert.False(t, end.Began.IsZero())
				assert.Equal(t, webhook.CallbackSMS, end.Callback)
				end.Began = time.Time{}
				seen.ended[i] = end
				end.Err = nil
				for _, private := range []string{"hunter2", sender, "s3cret"} {
					assert.NotContains(t, fmt.Sprintf("%+v", end), private)
				}
			}
			assert.Equal(t, worst, w.Code)
			return seen.ended
		}
		result := func(disposition webhook.Disposition, id string, status int, took time.Duration, err error) []webhook.Result {
			return []webhook.Result{{
				Callback: webhook.CallbackSMS, Kind: "sms", ID: id, Disposition: disposition, StatusCode: status, Duration: took, Err: err,
			}}
		}
		const took = 250 * time.Millisecond
		query := func(id string) string {
			return "messageId=" + id + "&from=" + sender + "&text.body=hunter2&key=s3cret-of-16-chars"
		}
		assert.Equal(t, result(webhook.DispositionHandled, "m-1", 200, took, nil), hit(get(query("m-1"))))
		assert.Equal(t, 1, span)
		assert.Equal(t, result(webhook.DispositionDuplicate, "m-1", 200, 0, nil), hit(get(query("m-1"))))
		storeErr = webhook.ErrInProgress
		assert.Equal(t, result(webhook.DispositionInProgress, "m-1", 503, 0, storeErr), hit(get(query("m-1"))))
		storeErr = errors.New("hunter2")
		assert.Equal(t, result(webhook.DispositionStoreFailed, "m-1", 503, 0, storeErr), hit(get(query("m-1"))))
		storeErr, handleErr = nil, errors.New("hunter2")
		assert.Equal(t, result(webhook.DispositionFailed, "m-2", 500, took, handleErr), hit(get(query("m-2"))))
		handleErr = fmt.Errorf("hunter2: %w", webhook.ErrRetryLater)
		assert.Equal(t, result(webhook.DispositionRetryLater, "m-2", 503, took, handleErr), hit(get(query("m-2"))))
		handleErr, panics = nil, true
		panicked := hit(get(query("m-2")))
		assert.ErrorContains(t, panicked[0].Err, "a function panicked")
		assert.Equal(t, result(webhook.DispositionPanicked, "m-2", 500, took, panicked[0].Err), panicked)
		panics = false
		refused := hit(get("from=1111&key=hunter2"))
		require.ErrorIs(t, refused[0].Err, webhook.ErrProof)
		assert.Equal(t, "wrong proof of origin", refused[0].Reason())
		assert.Equal(t, result(webhook.DispositionRefused, "", 403, 0, refused[0].Err), refused)

		ends := hit(post("key=s3cret-of-16-chars", "", `{"results":[{"messageId":"m-1","from":"`+sender+`"},{"from":"1111"},{"text":"hunter2"}]}`))
		require.Len(t, ends, 3)
		assert.Equal(t, webhook.DispositionRefused, ends[0].Disposition)
		assert.Equal(t, "no sender", ends[0].Reason())
		assert.Equal(t, webhook.DispositionHandled, ends[1].Disposition, "another text than the message of that ID")
		assert.Equal(t, webhook.DispositionHandled, ends[2].Disposition)
		assert.Equal(t, seen.started, span, "each event has a span of its own")

		head := get(query("m-3"))
		head.Method = http.MethodHead
		assert.Equal(t, http.StatusOK, hit(head)[0].StatusCode)
		for i, inside := range seen.inside {
			assert.Equal(t, i+1, inside)
		}
	})
}

func TestHookShowsNoNumber(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"m-1": "m-1", "639171234567": "", "call me": "", "wamid.A-1_b:2": "wamid.A-1_b:2"} {
		var seen spans
		h := hooks(seen.option()).SMS(ignore)
		call(t, h, get("from=1111&message=x&messageId="+url.QueryEscape(id)))
		require.Len(t, seen.ended, 1)
		assert.Equal(t, want, seen.ended[0].ID, id)
	}
}

func TestHookOfStatuses(t *testing.T) {
	t.Parallel()
	var seen spans
	h := hooks(webhook.WithPOST(), seen.option(), webhook.WithStatuses(ignore)).
		ChatApp2(ignore)
	assert.Equal(t, 200, call(t, h, post("", "", `{"messages":[{"from":"1","id":"1","type":"text"}],"statuses":[{"id":"1","status":"read"}]}`)).Code)
	require.Len(t, seen.ended, 2)
	assert.Equal(t, []string{"chatapp2", "delivery"}, []string{seen.ended[0].Kind, seen.ended[1].Kind})
	assert.Equal(t, webhook.CallbackChatApp2, seen.ended[1].Callback)
}

func TestHookOfStatusesWithoutWithStatuses(t *testing.T) {
	t.Parallel()
	var seen spans
	var in inbox[webhook.ChatMessage]
	h := hooks(webhook.WithPOST(), seen.option()).ChatApp2(in.handle)
	body := `{"messages":[{"from":"1","id":"1","type":"text"}],"statuses":[{"id":"1","status":"read"},{"id":"2","status":"read"}]}`
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Len(t, in.got, 1)
	require.Len(t, seen.ended, 3)
	for _, end := range seen.ended[1:] {
		assert.Equal(t, "delivery", end.Kind)
		assert.Equal(t, webhook.DispositionRefused, end.Disposition)
		assert.Equal(t, "no function for the event", end.Reason())
		assert.Equal(t, 200, end.StatusCode)
	}
}

func TestHookOfAnEmptyList(t *testing.T) {
	t.Parallel()
	var seen spans
	h := named(t, `{"webhook.sms": {"events": ["results"]}}`, seen.option()).SMS(ignore)
	assert.Equal(t, 200, call(t, h, post("", "", `{"results":[]}`)).Code)
	assert.Equal(t, 1, seen.started)
	require.Len(t, seen.ended, 1)
	assert.Equal(t, webhook.DispositionHandled, seen.ended[0].Disposition)
}

func TestHooksNest(t *testing.T) {
	t.Parallel()
	var notes []string
	noting := func(name string) webhook.Option {
		return webhook.WithHook(webhook.Hook{
			Begin: func(ctx context.Context, _ webhook.Callback) context.Context {
				notes = append(notes, "begin "+name)
				return ctx
			},
			End: func(context.Context, webhook.Result) { notes = append(notes, "end "+name) },
		})
	}
	h := hooks(noting("a"), noting("b")).SMS(ignore)
	call(t, h, get(honest))
	assert.Equal(t, []string{"begin a", "begin b", "end b", "end a"}, notes)
}

func TestHookWithOneFunction(t *testing.T) {
	t.Parallel()
	begun := 0
	begin := webhook.WithHook(webhook.Hook{Begin: func(context.Context, webhook.Callback) context.Context {
		begun++
		return nil // which counts as the context that it got
	}})
	var in inbox[webhook.SMSMessage]
	assert.Equal(t, 200, call(t, hooks(begin).SMS(in.handle), get(honest)).Code)
	in.one(t)
	assert.Equal(t, 1, begun)
	_, err := webhook.NewReceiver(webhook.WithHook(webhook.Hook{}))
	require.ErrorContains(t, err, "WithHook: the hook has neither Begin nor End")
}

func TestHookPanicIsIgnored(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	assert.Equal(t, 200, call(t, hooks((&spans{panics: true}).option()).SMS(in.handle), get(honest)).Code)
	in.one(t)
}

func TestNoHookCostsNothing(t *testing.T) {
	// Not parallel: AllocsPerRun counts the allocations of all goroutines.
	r, w := get(honest), &discard{header: http.Header{}}
	allocations := func(options ...webhook.Option) float64 {
		h := hooks(options...).SMS(func(context.Context, webhook.SMSMessage) error { return nil })
		return testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) })
	}
	assert.LessOrEqual(t, allocations(), 11.0, "most are for the context")
	assert.Greater(t, allocations((&spans{}).option()), allocations())
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

// logTo returns an option that logs to a handler.
func logTo(handler slog.Handler) webhook.Option {
	return webhook.WithHook(webhook.LogHook(slog.New(handler)))
}

func TestDuplicatesAreLoggedAtDebug(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	h := hooks(logTo(slog.NewTextHandler(&text, nil)), webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))).
		SMS(ignore)
	call(t, h, get(honest))
	assert.Contains(t, text.String(), "outcome=handled")
	text.Reset()
	call(t, h, get(honest))
	assert.Empty(t, text.String())
}
