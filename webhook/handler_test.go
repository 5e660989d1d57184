package webhook_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	sender = "639171234567"
	honest = "id=m-1&from=" + sender + "&to=21581&message=hunter2&timestamp=1791038663"
)

func TestHandlerStatus(t *testing.T) {
	t.Parallel()
	fail := errors.New("the password is hunter2")
	for _, tt := range []struct {
		name   string
		method string
		query  string
		header http.Header
		opts   []webhook.Option
		handle func() error
		status int
		runs   int
	}{
		{name: "handled", query: honest, status: 200, runs: 1},
		{name: "the function fails", query: honest, handle: func() error { return fail }, status: 500, runs: 1},
		{name: "the function panics", query: honest, handle: func() error { panic("hunter2") }, status: 500, runs: 1},
		{name: "the function panics with nil", query: honest, handle: func() error { panic(nil) }, status: 500, runs: 1}, //nolint:govet // what users do
		{name: "the function aborts", query: honest, handle: func() error { panic(http.ErrAbortHandler) }, status: 500, runs: 1},
		{name: "HEAD", method: "HEAD", query: honest, status: 200},
		{name: "HEAD that is not an event", method: "HEAD", status: 200},
		{name: "POST", method: "POST", query: honest, status: 405},
		{name: "PUT where POST is taken", method: "PUT", query: honest, opts: []webhook.Option{webhook.WithPOST()}, status: 405},
		{name: "DELETE", method: "DELETE", query: honest, status: 405},
		{name: "OPTIONS", method: "OPTIONS", query: honest, status: 405},
		{name: "a method in lower case", method: "get", query: honest, status: 405},
		{name: "prefetch", query: honest, header: http.Header{"Sec-Purpose": {"prefetch"}}, status: 503},
		{name: "prerender", query: honest, header: http.Header{"Sec-Purpose": {"Prefetch;Prerender"}}, status: 503},
		{name: "an older prefetch", query: honest, header: http.Header{"Purpose": {"prefetch"}}, status: 503},
		{name: "Mozilla's prefetch", query: honest, header: http.Header{"X-Moz": {"prefetch"}}, status: 503},
		{name: "a preview", query: honest, header: http.Header{"X-Purpose": {"x", "preview"}}, status: 503},
		{name: "another purpose", query: honest, header: http.Header{"Sec-Purpose": {"delivery"}, "Purpose": {""}}, status: 200, runs: 1},
		{name: "no sender", query: "message=x", status: 400},
		{name: "a blank sender", query: "from=+%20%09&message=x", status: 400},
		{name: "nothing", status: 400},
		{name: "as long as may be", query: honest + "&x=" + strings.Repeat("a", 64<<10-len(honest)-3), status: 200, runs: 1},
		{name: "longer", query: honest + "&x=" + strings.Repeat("a", 64<<10-len(honest)-2), status: 414},
		{name: "as many parameters as may be", query: honest + strings.Repeat("&a=b", 251), status: 200, runs: 1},
		{name: "more", query: honest + strings.Repeat("&a=b", 252), status: 414},
		{name: "a limit of parameters", query: honest, opts: []webhook.Option{webhook.WithLimits(4, 1000)}, status: 414},
		{name: "a limit of bytes", query: honest, opts: []webhook.Option{webhook.WithLimits(5, len(honest)-1)}, status: 414},
		{name: "limits that are met", query: honest, opts: []webhook.Option{webhook.WithLimits(5, len(honest))}, status: 200, runs: 1},
		{name: "separators are no parameters", query: honest + strings.Repeat("&", 1000), status: 200, runs: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			h := hooks(tt.opts...).SMS(func(context.Context, webhook.SMSMessage) error {
				runs++
				if tt.handle != nil {
					return tt.handle()
				}
				return nil
			})
			r := get(tt.query)
			if tt.method != "" {
				r.Method = tt.method
			}
			r.Header = tt.header
			w := call(t, h, r)
			assert.Equal(t, tt.status, w.Code)
			assert.Equal(t, tt.runs, runs)
			if tt.status == http.StatusMethodNotAllowed {
				want := "GET, HEAD"
				if tt.opts != nil {
					want = "GET, HEAD, POST"
				}
				assert.Equal(t, want, w.Header().Get("Allow"))
			}
			assert.NotContains(t, fmt.Sprint(w.Header()), "hunter2")

			// The parser says what the handler answers.
			_, err := hooks(tt.opts...).ParseSMS(r)
			refusal, refused := errors.AsType[*webhook.RejectError](err)
			if tt.runs > 0 {
				assert.NoError(t, err)
			} else if assert.True(t, refused, "%v", err) {
				assert.Equal(t, tt.status, refusal.Status)
			}
		})
	}
}

// Each request is wrong in all that is checked later as well.
func TestHandlerChecksInOrder(t *testing.T) {
	t.Parallel()
	const many = "&a=b&a=b&a=b&a=b"
	long := many + "&x=" + strings.Repeat("a", 100)
	rcv := hooks(webhook.WithPathSecret("place", "p4th-of-16-characters"), withKey(), webhook.WithLimits(4, 100))
	prefetch := http.Header{"Purpose": {"prefetch"}}
	for _, tt := range []struct {
		method, path, query string
		header              http.Header
		reason              error
		status              int
	}{
		{"PATCH", "no", "key=no" + long, prefetch, webhook.ErrProof, 404},
		{"PATCH", "p4th-of-16-characters", "key=no" + long, prefetch, webhook.ErrMethod, 405},
		{"HEAD", "p4th-of-16-characters", "key=no" + long, prefetch, webhook.ErrPrefetch, 200},
		{"GET", "p4th-of-16-characters", "key=no" + long, prefetch, webhook.ErrTooLong, 414},
		{"GET", "p4th-of-16-characters", "key=no" + many, prefetch, webhook.ErrProof, 404},
		{"GET", "p4th-of-16-characters", many + "&key=no", prefetch, webhook.ErrProof, 404},
		{"GET", "p4th-of-16-characters", "key=s3cret-of-16-chars" + many, prefetch, webhook.ErrPrefetch, 503},
		{"GET", "p4th-of-16-characters", "key=s3cret-of-16-chars" + many, nil, webhook.ErrTooLong, 414},
		{"GET", "p4th-of-16-characters", many + "&key=s3cret-of-16-chars", nil, webhook.ErrTooLong, 414},
		{"GET", "p4th-of-16-characters", "key=s3cret-of-16-chars&message=x", nil, webhook.ErrNoSender, 400},
	} {
		r := get(tt.query)
		r.Method, r.Header = tt.method, tt.header
		r.SetPathValue("place", tt.path)
		_, err := rcv.ParseSMS(r)
		require.ErrorIs(t, err, tt.reason, tt.query)
		w := call(t, rcv.SMS(ignore), r)
		assert.Equal(t, tt.status, w.Code, tt.query)
	}
}

// A callback is not a page: what a browser or a link preview fetches ahead is neither handled nor silent.
func TestHandlerReportsPrefetch(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		var text bytes.Buffer
		var rejected rejections
		var in inbox[webhook.SMSMessage]
		h := hooks(withKey(), logTo(slog.NewTextHandler(&text, nil)), rejected.option()).SMS(in.handle)
		r := get(honest + "&key=s3cret-of-16-chars")
		r.Header.Set(header, "preview")
		w := call(t, h, r)
		assert.Equal(t, http.StatusServiceUnavailable, w.Code)
		assert.Empty(t, in.got)
		require.Len(t, rejected, 1)
		assert.ErrorIs(t, rejected[0], webhook.ErrPrefetch)
		assert.Contains(t, text.String(), "level=WARN")

		r = get(honest + "&key=no")
		r.Header.Set(header, "preview")
		assert.Equal(t, http.StatusForbidden, call(t, h, r).Code)
	}
}

func TestHookGetsRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		r      *http.Request
		handle error
		reason error
	}{
		{"wrong secret", get(honest + "&key=no"), nil, webhook.ErrProof},
		{"no sender", get("key=s3cret-of-16-chars"), nil, webhook.ErrNoSender},
		{"POST", post(honest, "", ""), nil, webhook.ErrMethod},
		{"HEAD", httptest.NewRequest(http.MethodHead, "/?"+honest, http.NoBody), nil, webhook.ErrPrefetch},
		{"handled", get(honest + "&key=s3cret-of-16-chars"), nil, nil},
		{"failed", get(honest + "&key=s3cret-of-16-chars"), errors.New("no"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var all rejections
			in := inbox[webhook.SMSMessage]{err: tt.handle}
			call(t, hooks(withKey(), all.option()).SMS(in.handle), tt.r)
			if tt.reason == nil {
				assert.Empty(t, all)
				return
			}
			require.Len(t, all, 1)
			assert.ErrorIs(t, all[0], tt.reason)
		})
	}
}

func TestHookGetsPanics(t *testing.T) {
	t.Parallel()
	var told rejections
	boom := errors.New("hunter2")
	h := hooks(told.option()).SMS(func(context.Context, webhook.SMSMessage) error { panic(boom) })
	assert.Equal(t, http.StatusInternalServerError, call(t, h, get(honest)).Code)
	require.Len(t, told, 1)
	assert.ErrorIs(t, told[0], boom)
	assert.Equal(t, "webhook: sms: a function panicked", told[0].Error())

	h = hooks(told.option(), webhook.WithVerifier(func(*http.Request) error { panic("hunter2") })).SMS(ignore)
	assert.Equal(t, http.StatusInternalServerError, call(t, h, get(honest)).Code)
	require.Len(t, told, 2)
	assert.Equal(t, "webhook: sms: a function panicked", told[1].Error())
	assert.NoError(t, errors.Unwrap(told[1]))
}

func TestNewReceiverNeedsAProof(t *testing.T) {
	t.Parallel()
	_, err := webhook.NewReceiver(webhook.WithPOST())
	require.EqualError(t, err, "webhook: anyone could call: want WithSecret, WithPathSecret or WithVerifier, or WithoutProof to accept every call")
	for _, proof := range []webhook.Option{
		webhook.WithSecret("key", "s3cret-of-16-chars"), webhook.WithPathSecret("key", "s3cret-of-16-chars"),
		webhook.WithVerifier(func(*http.Request) error { return nil }), webhook.WithoutProof(),
	} {
		_, err := webhook.NewReceiver(proof)
		require.NoError(t, err)
	}
}

// A function that ends its goroutine, as FailNow of a test does, must not leave its claim behind.
func TestStoreGoexitReleases(t *testing.T) {
	t.Parallel()
	ends := true
	h := hooks(webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))).SMS(func(context.Context, webhook.SMSMessage) error {
		if ends {
			runtime.Goexit()
		}
		return nil
	})
	var wg sync.WaitGroup
	wg.Go(func() { h.ServeHTTP(httptest.NewRecorder(), get(honest)) })
	wg.Wait()
	ends = false
	assert.Equal(t, http.StatusOK, call(t, h, get(honest)).Code)
}

type contextKey struct{}

// contextOf has an event handled whose request has the context, and calls look with the context of the handle function.
func contextOf(request context.Context, t *testing.T, look func(context.Context), options ...webhook.Option) {
	t.Helper()
	h := hooks(options...).SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
		look(ctx)
		return nil
	})
	assert.Equal(t, http.StatusOK, call(t, h, get(honest).WithContext(request)).Code)
}

func TestHandlerContextValues(t *testing.T) {
	t.Parallel()
	contextOf(context.WithValue(t.Context(), contextKey{}, "here"), t, func(ctx context.Context) {
		assert.Equal(t, "here", ctx.Value(contextKey{}))
		assert.NoError(t, ctx.Err())
	})
}

func TestHandlerContextTimeout(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			want, options := 30*time.Second, []webhook.Option(nil)
			if timeout > 0 {
				want, options = timeout, []webhook.Option{webhook.WithHandlerTimeout(timeout)}
			}
			began := time.Now()
			contextOf(t.Context(), t, func(ctx context.Context) {
				deadline, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.Equal(t, want, deadline.Sub(began))
				<-ctx.Done()
				assert.Equal(t, want, time.Since(began))
				assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			}, options...)
		})
	}
}

func TestHandlerContextOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		request, hangUp := context.WithCancel(t.Context())
		contextOf(request, t, func(ctx context.Context) {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			hangUp()
			time.Sleep(time.Second)
			assert.NoError(t, ctx.Err())
			assert.NoError(t, context.Cause(ctx))
			assert.NoError(t, child.Err())
		})
	})
}

func TestHandlerContextEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		cause error
	}{
		{"base context", errors.New("the server ends")},
		{"base context of signal.NotifyContext", fmt.Errorf("terminated signal received: %w", context.Canceled)}, // its cause matches Canceled, depending on the Go release
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base, end := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			server := httptest.NewUnstartedServer(hooks(webhook.WithHandlerTimeout(time.Hour)).SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
				end(tt.cause)
				select {
				case <-ctx.Done():
				case <-time.After(30 * time.Second):
				}
				ended <- ctx.Err()
				return nil
			}))
			server.Config.BaseContext = func(net.Listener) context.Context { return base }
			server.Start()
			defer server.Close()
			response, err := server.Client().Get(server.URL + "/?" + honest)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.ErrorIs(t, <-ended, context.Canceled)
		})
	}
	t.Run("deadline of the request", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			request, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			contextOf(request, t, func(ctx context.Context) {
				<-ctx.Done()
				assert.Equal(t, time.Second, time.Since(began))
			})
		})
	})
}

func TestHandlerContextEndsWithTheHandler(t *testing.T) {
	t.Parallel()
	var kept []context.Context
	keep := func(ctx context.Context) { kept = append(kept, ctx) }
	contextOf(t.Context(), t, keep)
	contextOf(t.Context(), t, func(ctx context.Context) {
		assert.NoError(t, ctx.Err())
		keep(ctx)
	})
	for _, ctx := range kept {
		<-ctx.Done()
		assert.Error(t, ctx.Err())
		child, cancel := context.WithCancel(ctx)
		<-child.Done()
		cancel()
	}
}

// statusKeeper is an answer of a router that keeps the status itself, and has another in mind for a handler that writes nothing.
type statusKeeper struct {
	*httptest.ResponseRecorder

	status int
}

func (k *statusKeeper) Status() int            { return k.status }
func (k *statusKeeper) WriteHeader(status int) { k.status = status }

func TestHandlerWritesStatus(t *testing.T) {
	t.Parallel()
	w := &statusKeeper{httptest.NewRecorder(), http.StatusNotFound}
	hooks().SMS(ignore).ServeHTTP(w, get(honest))
	assert.Equal(t, http.StatusOK, w.status)
}

func TestLogHook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		var handleErr, storeErr error
		panics := false
		memory := webhook.NewMemoryStore(10, time.Hour)
		store := storeFunc(func(ctx context.Context, key string, handle func(context.Context) error) error {
			return cmp.Or(memory.Once(ctx, key, handle), storeErr)
		})
		h := hooks(logTo(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})), withKey(), webhook.WithStore(store)).
			SMS(func(context.Context, webhook.SMSMessage) error {
				time.Sleep(250 * time.Millisecond)
				if panics {
					panic("hunter2 " + sender)
				}
				return handleErr
			})
		hit := func(r *http.Request) map[string]any {
			t.Helper()
			text.Reset()
			h.ServeHTTP(httptest.NewRecorder(), r)
			for _, private := range []string{"hunter2", sender, "s3cret-of-16-chars", "21581"} {
				assert.NotContains(t, text.String(), private)
			}
			if text.Len() == 0 {
				return nil
			}
			var record map[string]any
			require.NoError(t, json.Unmarshal(text.Bytes(), &record))
			delete(record, "time")
			assert.Equal(t, "webhook", record["msg"])
			assert.Equal(t, "sms", record["callback"])
			delete(record, "msg")
			delete(record, "callback")
			return record
		}
		const query = "&from=" + sender + "&to=21581&message=hunter2&key=s3cret-of-16-chars"
		record := func(level, id, outcome string, took float64) map[string]any {
			return map[string]any{"level": level, "id": id, "outcome": outcome, "duration": took}
		}
		const took = 250e6
		assert.Equal(t, record("INFO", "m-1", "handled", took), hit(get("id=m-1"+query)))
		assert.Equal(t, record("DEBUG", "m-1", "duplicate", 0), hit(get("id=m-1"+query)))
		storeErr = webhook.ErrInProgress
		assert.Equal(t, record("DEBUG", "m-1", "in progress", 0), hit(get("id=m-1"+query)))
		storeErr = errors.New("hunter2 " + sender)
		assert.Equal(t, record("ERROR", "m-1", "store failed", 0), hit(get("id=m-1"+query)))
		assert.Equal(t, record("ERROR", "m-2", "store failed", took), hit(get("id=m-2"+query)), "handled, but perhaps not recorded")
		storeErr, handleErr = nil, errors.New("hunter2 "+sender)
		assert.Equal(t, record("ERROR", "m-3", "failed", took), hit(get("id=m-3"+query)))
		panics = true
		panicked := hit(get("id=m-3" + query))
		assert.Contains(t, panicked["stack"], "handler_test.go")
		delete(panicked, "stack")
		assert.Equal(t, record("ERROR", "m-3", "panicked", took), panicked)
		panics, handleErr = false, nil
		assert.Equal(t, record("WARN", "", "refused: wrong proof of origin", 0), hit(get(honest+"&key=no")))
		assert.Equal(t, record("WARN", "", "refused: no sender", 0), hit(get("key=s3cret-of-16-chars&message=hunter2")))
		assert.Nil(t, hit(httptest.NewRequest(http.MethodHead, "/", http.NoBody)))

		for id, want := range map[string]string{
			"wamid.A-1_b:2": "wamid.A-1_b:2", "order-20261122": "order-20261122", "639171234567": "", "m-639171234567": "", "call me": "", "a@b.example": "",
			"wamid.bXNnLTI=": "wamid.bXNnLTI=", "wamid.bXNnLTE=": "wamid.bXNnLTE=", "wamid.bXNnL==": "wamid.bXNnL==", "a===": "", "a=b": "", "639171234567=": "",
			strings.Repeat("a", 64): strings.Repeat("a", 64), strings.Repeat("a", 65): "", strings.Repeat("é", 20): "",
		} {
			logged := hit(get("id=" + url.QueryEscape(id) + "&from=1111&key=s3cret-of-16-chars"))
			assert.Equal(t, want, logged["id"], "%q is shown only if it can hold neither a number nor a sentence", id)
		}
	})
}

func TestLogHookPanics(t *testing.T) {
	t.Parallel()
	h := hooks(logTo(panickingLog{slog.DiscardHandler})).SMS(ignore)
	require.NotPanics(t, func() { assert.Equal(t, 200, call(t, h, get(honest)).Code) })
}

type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool { return true }

func (panickingLog) Handle(context.Context, slog.Record) error { panic("hunter2") }

func TestNewReceiverReportsBadOptions(t *testing.T) {
	t.Parallel()
	var none *webhook.MemoryStore
	var all []webhook.Option
	tests := map[string]struct {
		option webhook.Option
		says   string
	}{
		"nil option":                 {nil, "option 1 is nil"},
		"no secret":                  {webhook.WithSecret("key"), "WithSecret: no secret is given"},
		"empty secret":               {webhook.WithSecret("key", ""), "WithSecret: a secret has fewer than 16 characters"},
		"blank secret":               {webhook.WithSecret("key", "s3cret-of-16-chars", strings.Repeat(" \t", 16)), "WithSecret: a secret has fewer than 16 characters"},
		"short secret":               {webhook.WithSecret("key", "fifteen-letters"), "WithSecret: a secret has fewer than 16 characters"},
		"name as the secret":         {webhook.WithSecret("callback-secret-key", "callback-secret-key"), "WithSecret: a secret is the name itself"},
		"name as the path secret":    {webhook.WithPathSecret("key", "key"), "WithPathSecret: a secret is the name itself"},
		"empty parameter":            {webhook.WithSecret("", "s3cret-of-16-chars"), "WithSecret: the name is empty"},
		"no path secret":             {webhook.WithPathSecret("key"), "WithPathSecret: no secret is given"},
		"empty path secret":          {webhook.WithPathSecret("key", "s3cret-of-16-chars", ""), "WithPathSecret: a secret has fewer than 16 characters"},
		"empty path value":           {webhook.WithPathSecret(" ", "s3cret-of-16-chars"), "WithPathSecret: the name is empty"},
		"parameter of an SMS":        {webhook.WithSecret("message", "s3cret-of-16-chars"), "WithSecret: the sms callback needs the parameter"},
		"parameter of a chat app":    {webhook.WithSecret("payload", "s3cret-of-16-chars"), "WithSecret: the chatapp1 callback needs the parameter"},
		"parameter of a report":      {webhook.WithSecret("_status", "s3cret-of-16-chars"), "WithSecret: the delivery callback needs the parameter"},
		"nil verifier":               {webhook.WithVerifier(nil), "WithVerifier: the argument is nil"},
		"empty hook":                 {webhook.WithHook(webhook.Hook{}), "WithHook: the hook has neither Begin nor End"},
		"nil logger":                 {webhook.WithHook(webhook.LogHook(nil)), "WithHook: the hook has neither Begin nor End: LogHook(nil) makes such a hook"},
		"nil function for others":    {webhook.WithOther(nil), "WithOther: the argument is nil"},
		"nil function to stop":       {webhook.WithPreferences(nil), "WithPreferences: the argument is nil"},
		"nil function for statuses":  {webhook.WithStatuses(nil), "WithStatuses: the argument is nil"},
		"nil store":                  {webhook.WithStore(nil), "WithStore: the argument is nil"},
		"nil memory store":           {webhook.WithStore(none), "WithStore: the argument is nil"},
		"store of nothing":           {webhook.WithStore(webhook.NewMemoryStore(0, time.Hour)), "WithStore: the capacity"},
		"store for no time":          {webhook.WithStore(webhook.NewMemoryStore(1, 0)), "WithStore: the capacity"},
		"store without a lease":      {webhook.WithStore(new(webhook.MemoryStore)), "WithStore: the capacity"},
		"no parameters":              {webhook.WithLimits(0, 1), "WithLimits: both limits"},
		"no bytes":                   {webhook.WithLimits(1, 0), "WithLimits: both limits"},
		"handler timeout of nothing": {webhook.WithHandlerTimeout(0), "WithHandlerTimeout: the timeout must be positive"},
	}
	for name, tt := range tests {
		rcv, err := webhook.NewReceiver(tt.option)
		assert.Nil(t, rcv, name)
		assert.ErrorContains(t, err, "webhook: "+tt.says, name)
		assert.NotContains(t, err.Error(), "s3cret-of-16-chars")
		all = append(all, tt.option)
	}
	_, err := webhook.NewReceiver(append(all, webhook.WithSecret("a", "s3cret-of-16-chars"), webhook.WithSecret("a", "another-of-16-chars"))...)
	for name, tt := range tests {
		if tt.option != nil {
			assert.ErrorContains(t, err, tt.says, name)
		}
	}
	assert.ErrorContains(t, err, "two options name the same parameter")

	_, err = webhook.NewReceiver(webhook.WithSecret("a", "s3cret-of-16-chars"), webhook.WithSecret("b", "s3cret-of-16-chars"), webhook.WithContract(contract.Contract{}))
	assert.NoError(t, err)
}

// A nil function fails each event, as one that panics does: nothing is lost, since the service calls again.
func TestHandlerNilFunction(t *testing.T) {
	t.Parallel()
	var told rejections
	rcv := hooks(told.option())
	for _, h := range []http.Handler{rcv.SMS(nil), rcv.ChatApp1(nil), rcv.ChatApp2(nil), rcv.Delivery(nil)} {
		assert.Equal(t, http.StatusInternalServerError, call(t, h, get("id=1&from=1111")).Code)
		assert.ErrorContains(t, told[len(told)-1], "a function panicked")
	}
}

func TestReceiverTakesEveryCallback(t *testing.T) {
	t.Parallel()
	methods := map[string]reflect.Type{} // by their names in lower case
	for method := range reflect.TypeFor[*webhook.Receiver]().Methods() {
		methods[strings.ToLower(method.Name)] = method.Type
	}
	for name := range table.Of(contract.Default()).Webhooks() {
		if handler := methods[name]; assert.NotNil(t, handler, "Receiver has no handler for webhook.%s of the contract", name) {
			assert.Equal(t, reflect.TypeFor[http.Handler](), handler.Out(0), name)
		}
		assert.NotNil(t, methods["parse"+name], "Receiver does not parse webhook.%s of the contract", name)
	}
}

func TestDocumentationListsEveryCallback(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("callback.go")
	require.NoError(t, err)
	for name := range table.Of(contract.Default()).Webhooks() {
		assert.Regexp(t, `(?i)//\t`+name+` +Parse`+name+` `, string(page))
	}
}

func TestOptionReused(t *testing.T) {
	t.Parallel()
	base := []webhook.Option{webhook.WithSecret("a", "1-of-16-characters")}
	one := hooks(append(base, webhook.WithSecret("b", "2-of-16-characters"))...).SMS(ignore)
	two := hooks(append(base, webhook.WithSecret("c", "3-of-16-characters"))...).SMS(ignore)
	assert.Equal(t, 200, call(t, one, get("from=1111&a=1-of-16-characters&b=2-of-16-characters")).Code)
	assert.Equal(t, 403, call(t, one, get("from=1111&a=1-of-16-characters&c=3-of-16-characters")).Code)
	assert.Equal(t, 200, call(t, two, get("from=1111&a=1-of-16-characters&c=3-of-16-characters")).Code)
	assert.Equal(t, 403, call(t, two, get("from=1111&a=1-of-16-characters&b=2-of-16-characters")).Code)
}

func TestReceiverPrintsNoSecret(t *testing.T) {
	t.Parallel()
	option := webhook.WithSecret("key", "s3cret-of-16-chars")
	rcv := hooks(option, webhook.WithPathSecret("p", "s3cret-of-16-chars"))
	h := rcv.SMS(ignore)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{rcv, *rcv, h, &h, option, struct{ H http.Handler }{h}} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "s3cret-of-16-chars")
			assert.NotContains(t, fmt.Sprintf(verb, value), "733363726574")
			assert.NotContains(t, fmt.Sprintf(verb, value), "115 51 99")
		}
	}
}

// slowBody takes its time, as a slow caller does.
type slowBody struct{ io.Reader }

func (b slowBody) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return b.Reader.Read(p)
}

func TestHandlerTimeoutBeginsAfterTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hooks(webhook.WithPOST(), webhook.WithHandlerTimeout(time.Second)).SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
			return ctx.Err()
		})
		r := post("", "", "")
		r.Body = io.NopCloser(slowBody{strings.NewReader("from=1111&message=a")})
		r.ContentLength = -1
		assert.Equal(t, 200, call(t, h, r).Code)
	})
}

func TestBodyOfManyMembers(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), webhook.WithLimits(1<<20, 8<<20))
	body := `{"from":"1"` + strings.Repeat(`,"text":[]`, 100_000) + `}`
	began := time.Now()
	_, _, err := rcv.ParseChatApp2(post("", "", body))
	require.NoError(t, err)
	assert.Less(t, time.Since(began), time.Minute, "the work grows as the square of the members")
}
