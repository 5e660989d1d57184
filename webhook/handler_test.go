package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	sender = "639171234567"
	honest = "id=m-1&from=" + sender + "&to=21581&message=hunter2&timestamp=1791038663"
)

func TestAnswers(t *testing.T) {
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
		{name: "prefetch", query: honest, header: http.Header{"Sec-Purpose": {"prefetch"}}, status: 204},
		{name: "prerender", query: honest, header: http.Header{"Sec-Purpose": {"Prefetch;Prerender"}}, status: 204},
		{name: "an older prefetch", query: honest, header: http.Header{"Purpose": {"prefetch"}}, status: 204},
		{name: "Mozilla's prefetch", query: honest, header: http.Header{"X-Moz": {"prefetch"}}, status: 204},
		{name: "a preview", query: honest, header: http.Header{"X-Purpose": {"x", "preview"}}, status: 204},
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
			h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
				runs++
				if tt.handle != nil {
					return tt.handle()
				}
				return nil
			}, tt.opts...)
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
			_, err := webhook.ParseSMS(r, tt.opts...)
			refusal, refused := errors.AsType[*webhook.RejectError](err)
			if tt.runs > 0 {
				assert.NoError(t, err)
			} else if assert.True(t, refused, "%v", err) {
				assert.Equal(t, tt.status, refusal.Status)
			}
		})
	}
}

// Each request is wrong in all that is checked after it as well.
func TestChecksComeInTheOrderThatIsPromised(t *testing.T) {
	t.Parallel()
	secret := webhook.WithSecret("key", "s3cret")
	const many = "&a=b&a=b&a=b&a=b"
	long := many + "&x=" + strings.Repeat("a", 100)
	limits := webhook.WithLimits(4, 100)
	prefetch := http.Header{"Purpose": {"prefetch"}}
	for _, tt := range []struct {
		method string
		query  string
		header http.Header
		reason error
		status int
	}{
		{"PATCH", "key=no" + long, prefetch, webhook.ErrMethod, 405},
		{"HEAD", "key=no" + long, prefetch, webhook.ErrProbe, 200},
		{"GET", "key=no" + long, prefetch, webhook.ErrProbe, 204},
		{"GET", "key=no" + long, nil, webhook.ErrTooLong, 414},
		{"GET", "key=no" + many, nil, webhook.ErrProof, 403},
		{"GET", many + "&key=no", nil, webhook.ErrProof, 403},
		{"GET", "key=s3cret" + many, nil, webhook.ErrTooManyParams, 414},
		{"GET", many + "&key=s3cret", nil, webhook.ErrTooManyParams, 414},
		{"GET", "key=s3cret&message=x", nil, webhook.ErrNoSender, 400},
	} {
		r := get(tt.query)
		r.Method, r.Header = tt.method, tt.header
		_, err := webhook.ParseSMS(r, secret, limits)
		require.ErrorIs(t, err, tt.reason, tt.query)
		w := call(t, webhook.SMS(new(inbox[webhook.SMSMessage]).handle, secret, limits), r)
		assert.Equal(t, tt.status, w.Code, tt.query)
	}
}

func TestWhatWasRefusedIsTold(t *testing.T) {
	t.Parallel()
	type told struct {
		r   *http.Request
		err error
	}
	for _, tt := range []struct {
		name   string
		r      *http.Request
		handle func() error
		reason error
	}{
		{"wrong secret", get(honest + "&key=no"), nil, webhook.ErrProof},
		{"no sender", get("key=s3cret"), nil, webhook.ErrNoSender},
		{"POST", post(honest, "", ""), nil, webhook.ErrMethod},
		{"HEAD", httptest.NewRequest(http.MethodHead, "/?"+honest, http.NoBody), nil, nil},
		{"handled", get(honest + "&key=s3cret"), nil, nil},
		{"failed", get(honest + "&key=s3cret"), func() error { return errors.New("no") }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var all []told
			h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
				if tt.handle != nil {
					return tt.handle()
				}
				return nil
			}, webhook.WithSecret("key", "s3cret"), webhook.WithOnReject(func(r *http.Request, err error) { all = append(all, told{r, err}) }))
			call(t, h, tt.r)
			if tt.reason == nil {
				assert.Empty(t, all)
				return
			}
			require.Len(t, all, 1)
			assert.Same(t, tt.r, all[0].r)
			assert.ErrorIs(t, all[0].err, tt.reason)
		})
	}
}

func TestAPanicIsToldWithItsStack(t *testing.T) {
	t.Parallel()
	var told error
	onReject := webhook.WithOnReject(func(_ *http.Request, err error) { told = err })
	boom := errors.New("hunter2")
	h := webhook.SMS(func(context.Context, webhook.SMSMessage) error { panic(boom) }, onReject)
	assert.Equal(t, http.StatusInternalServerError, call(t, h, get(honest)).Code)
	p, ok := errors.AsType[*webhook.PanicError](told)
	require.True(t, ok)
	assert.Equal(t, boom, p.Value)
	assert.Equal(t, "sms", p.Event)
	assert.ErrorIs(t, told, boom)
	assert.Contains(t, string(p.Stack), "TestAPanicIsToldWithItsStack")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		assert.NotContains(t, fmt.Sprintf(verb, told), "hunter2", verb)
	}
	assert.NotContains(t, fmt.Sprint(p.LogValue()), "hunter2")

	h = webhook.SMS(new(inbox[webhook.SMSMessage]).handle, onReject, webhook.WithVerifier(func(*http.Request) error { panic("hunter2") }))
	assert.Equal(t, http.StatusInternalServerError, call(t, h, get(honest)).Code)
	assert.ErrorAs(t, told, &p)
	assert.Equal(t, "hunter2", p.Value)
	assert.NoError(t, p.Unwrap())
}

func TestAPanicWhileItIsToldIsAnswered(t *testing.T) {
	t.Parallel()
	h := webhook.SMS(new(inbox[webhook.SMSMessage]).handle, webhook.WithOnReject(func(*http.Request, error) { panic("no") }))
	assert.Equal(t, http.StatusInternalServerError, call(t, h, get("message=x")).Code)
}

// A function that ends its goroutine, as FailNow of a test does, must not leave its claim behind.
func TestAFunctionThatEndsItsGoroutineGivesItsClaimBack(t *testing.T) {
	t.Parallel()
	ends := true
	h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
		if ends {
			runtime.Goexit()
		}
		return nil
	}, webhook.WithStore(webhook.NewMemoryStore(10, time.Hour)))
	var wg sync.WaitGroup
	wg.Go(func() { h.ServeHTTP(httptest.NewRecorder(), get(honest)) })
	wg.Wait()
	ends = false
	assert.Equal(t, http.StatusOK, call(t, h, get(honest)).Code)
}

func TestTheContextIsThatOfTheRequest(t *testing.T) {
	t.Parallel()
	type key struct{}
	h := webhook.SMS(func(ctx context.Context, _ webhook.SMSMessage) error {
		assert.Equal(t, "here", ctx.Value(key{}))
		return nil
	})
	call(t, h, get(honest).WithContext(context.WithValue(t.Context(), key{}, "here")))
}

// statusKeeper is an answer of a router that keeps the status itself, and has another in mind for a handler that writes nothing.
type statusKeeper struct {
	*httptest.ResponseRecorder

	status int
}

func (k *statusKeeper) Status() int            { return k.status }
func (k *statusKeeper) WriteHeader(status int) { k.status = status }

func TestARouterThatKeepsTheStatusIsTold(t *testing.T) {
	t.Parallel()
	w := &statusKeeper{httptest.NewRecorder(), http.StatusNotFound}
	webhook.SMS(new(inbox[webhook.SMSMessage]).handle).ServeHTTP(w, get(honest))
	assert.Equal(t, http.StatusOK, w.status)
}

func TestLogging(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		var fails, panics bool
		store := &fakeStore{}
		h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
			time.Sleep(250 * time.Millisecond)
			if panics {
				panic("hunter2 " + sender)
			}
			if fails {
				return errors.New("hunter2 " + sender)
			}
			return nil
		}, webhook.WithLogger(slog.New(slog.NewJSONHandler(&text, nil))), webhook.WithSecret("key", "s3cret"), webhook.WithStore(store))
		hit := func(r *http.Request) map[string]any {
			t.Helper()
			text.Reset()
			h.ServeHTTP(httptest.NewRecorder(), r)
			for _, private := range []string{"hunter2", sender, "s3cret", "21581"} {
				assert.NotContains(t, text.String(), private)
			}
			if text.Len() == 0 {
				return nil
			}
			var record map[string]any
			require.NoError(t, json.Unmarshal(text.Bytes(), &record))
			delete(record, "time")
			assert.Equal(t, "webhook", record["msg"])
			assert.Equal(t, "sms", record["kind"])
			delete(record, "msg")
			delete(record, "kind")
			return record
		}
		const query = honest + "&key=s3cret"
		const took = 250e6
		assert.Equal(t, map[string]any{"level": "INFO", "id": "m-1", "verdict": "handled", "duration": took}, hit(get(query)))
		assert.Equal(t, map[string]any{"level": "INFO", "id": "m-1", "verdict": "duplicate", "duration": 0.0}, hit(get(query)))
		store.state = webhook.InProgress
		assert.Equal(t, map[string]any{"level": "INFO", "id": "m-1", "verdict": "in progress", "duration": 0.0}, hit(get(query)))
		store.state, store.claimErr = 0, errors.New("hunter2 "+sender)
		assert.Equal(t, map[string]any{"level": "ERROR", "id": "m-1", "verdict": "not claimed", "duration": 0.0}, hit(get(query)))
		*store = fakeStore{completeErr: errors.New("hunter2 " + sender)}
		assert.Equal(t, map[string]any{"level": "ERROR", "id": "m-1", "verdict": "handled, not recorded", "duration": took}, hit(get(query)))
		*store = fakeStore{}
		fails = true
		assert.Equal(t, map[string]any{"level": "ERROR", "id": "m-1", "verdict": "failed", "duration": took}, hit(get(query)))
		store.releaseErr = errors.New("hunter2 " + sender)
		assert.Equal(t, map[string]any{"level": "ERROR", "id": "m-1", "verdict": "failed, not released", "duration": took}, hit(get(query)))
		*store = fakeStore{}
		panics = true
		assert.Equal(t, map[string]any{"level": "ERROR", "id": "m-1", "verdict": "panicked", "duration": took}, hit(get(query)))
		assert.Equal(t, map[string]any{"level": "WARN", "id": "", "verdict": "refused: wrong proof of origin", "duration": 0.0}, hit(get(honest+"&key=no")))
		assert.Equal(t, map[string]any{"level": "WARN", "id": "", "verdict": "refused: no sender", "duration": 0.0}, hit(get("key=s3cret&message=hunter2")))
		assert.Nil(t, hit(httptest.NewRequest(http.MethodHead, "/", http.NoBody)))

		panics, fails = false, false
		long := hit(get("id=" + strings.Repeat("é", 500) + "&from=1111&key=s3cret"))
		assert.Equal(t, strings.Repeat("é", 64)+"…", long["id"], "an ID is logged up to a bound")
	})
}

func TestConstructionRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	handle := func(context.Context, webhook.SMSMessage) error { return nil }
	var none *webhook.MemoryStore
	for name, construct := range map[string]func(){
		"no function":               func() { webhook.SMS(nil) },
		"no function of chat app 1": func() { webhook.ChatApp1(nil) },
		"no function of chat app 2": func() { webhook.ChatApp2(nil) },
		"no function of delivery":   func() { webhook.Delivery(nil) },
		"nil option":                func() { webhook.SMS(handle, nil) },
		"no secret":                 func() { webhook.WithSecret("key") },
		"empty secret":              func() { webhook.WithSecret("key", "") },
		"blank secret":              func() { webhook.WithSecret("key", "s3cret", " \t") },
		"empty parameter":           func() { webhook.WithSecret("", "s3cret") },
		"no path secret":            func() { webhook.WithPathSecret("key") },
		"empty path secret":         func() { webhook.WithPathSecret("key", "a", "") },
		"empty path value":          func() { webhook.WithPathSecret(" ", "s3cret") },
		"too many parameters": func() {
			var many []webhook.Option
			for i := range 33 {
				many = append(many, webhook.WithSecret(fmt.Sprint("key", i), "a"))
			}
			webhook.SMS(handle, many...)
		},
		"the same parameter twice":        func() { webhook.SMS(handle, webhook.WithSecret("key", "a"), webhook.WithSecret("key", "b")) },
		"a parameter of the message":      func() { webhook.SMS(handle, webhook.WithSecret("message", "a")) },
		"a parameter of the message JSON": func() { webhook.ChatApp1(nil2, webhook.WithSecret("payload", "a")) },
		"a parameter, in a parser":        func() { _, _ = webhook.ParseSMS(get(""), webhook.WithSecret("from", "a")) },
		"no verifier":                     func() { webhook.WithVerifier(nil) },
		"nothing to tell":                 func() { webhook.WithOnReject(nil) },
		"no store":                        func() { webhook.WithStore(nil) },
		"a nil memory store":              func() { webhook.WithStore(none) },
		"no logger":                       func() { webhook.WithLogger(nil) },
		"no parameters":                   func() { webhook.WithLimits(0, 1) },
		"no bytes":                        func() { webhook.WithLimits(1, 0) },
		"negative window":                 func() { webhook.WithDuplicateWindow(-1) },
		"an invalid contract":             func() { webhook.WithContract(emptyContract) },
		"a store of nothing":              func() { webhook.NewMemoryStore(0, time.Hour) },
		"a store for no time":             func() { webhook.NewMemoryStore(1, 0) },
	} {
		assert.Panics(t, construct, name)
	}
	assert.NotPanics(t, func() { webhook.SMS(handle, webhook.WithSecret("payload", "a")) }, "it is no parameter of an SMS")
	assert.NotPanics(t, func() {
		webhook.SMS(handle, webhook.WithSecret("a", "x"), webhook.WithSecret("b", "x"), webhook.WithDuplicateWindow(0))
	})
}

func nil2(context.Context, webhook.ChatApp1Message) error { return nil }

func TestAnOptionMayServeManyHandlers(t *testing.T) {
	t.Parallel()
	base := []webhook.Option{webhook.WithSecret("a", "1")}
	one := webhook.SMS(new(inbox[webhook.SMSMessage]).handle, append(base, webhook.WithSecret("b", "2"))...)
	two := webhook.SMS(new(inbox[webhook.SMSMessage]).handle, append(base, webhook.WithSecret("c", "3"))...)
	assert.Equal(t, 200, call(t, one, get("from=1111&a=1&b=2")).Code)
	assert.Equal(t, 403, call(t, one, get("from=1111&a=1&c=3")).Code)
	assert.Equal(t, 200, call(t, two, get("from=1111&a=1&c=3")).Code)
	assert.Equal(t, 403, call(t, two, get("from=1111&a=1&b=2")).Code)
}

func TestNoFormOfAHandlerShowsASecret(t *testing.T) {
	t.Parallel()
	option := webhook.WithSecret("key", "s3cret")
	h := webhook.SMS(new(inbox[webhook.SMSMessage]).handle, option, webhook.WithPathSecret("p", "s3cret"))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{h, &h, option, struct{ H http.Handler }{h}} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "s3cret")
			assert.NotContains(t, fmt.Sprintf(verb, value), "733363726574")
			assert.NotContains(t, fmt.Sprintf(verb, value), "115 51 99")
		}
	}
}
