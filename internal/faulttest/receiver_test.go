package faulttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

func newReceiver(t *testing.T, options ...webhook.Option) *webhook.Receiver {
	t.Helper()
	hooks, err := webhook.NewReceiver(append([]webhook.Option{webhook.WithoutProof()}, options...)...)
	require.NoError(t, err)
	return hooks
}

// handlersOf returns every handler that a Receiver makes, by a path. Each calls handle.
func handlersOf(hooks *webhook.Receiver, handle func() error) map[string]http.Handler {
	handlers := map[string]http.Handler{}
	for method, call := range reflect.ValueOf(hooks).Methods() {
		signature := call.Type()
		if signature.NumIn() != 1 || signature.NumOut() != 1 || signature.Out(0) != reflect.TypeFor[http.Handler]() {
			continue
		}
		callback := reflect.MakeFunc(signature.In(0), func([]reflect.Value) []reflect.Value {
			err := handle()
			return []reflect.Value{reflect.ValueOf(&err).Elem()}
		})
		handlers["/"+strings.ToLower(method.Name)], _ = reflect.TypeAssert[http.Handler](call.Call([]reflect.Value{callback})[0])
	}
	if len(handlers) < 4 {
		panic("a Receiver has a handler for each callback")
	}
	return handlers
}

// parsersOf returns the error of each parser, by the path of its handler or by its name.
func parsersOf(hooks *webhook.Receiver) map[string]func(r *http.Request) error {
	parsers := map[string]func(r *http.Request) error{}
	for method, call := range reflect.ValueOf(hooks).Methods() {
		if name, ok := strings.CutPrefix(method.Name, "Parse"); ok {
			parsers["/"+strings.ToLower(name)] = func(r *http.Request) error {
				results := call.Call([]reflect.Value{reflect.ValueOf(r)})
				err, _ := reflect.TypeAssert[error](results[len(results)-1])
				return err
			}
		}
	}
	if len(parsers) < 4 {
		panic("a Receiver has a parser for each callback")
	}
	return parsers
}

func TestReceiverLimitsQuery(t *testing.T) {
	var handled atomic.Int64
	mux := http.NewServeMux()
	for path, handler := range handlersOf(newReceiver(t), func() error { handled.Add(1); return nil }) {
		mux.Handle(path, handler)
	}
	const largeHeader = 4 << 20
	for _, tt := range []struct {
		name   string
		bytes  int64
		header int // http.Server.MaxHeaderBytes
		status int
	}{
		{"a server that reads it", mebi, largeHeader, http.StatusRequestURITooLong},
		{"a server with its defaults", mebi + 8*kibi, 0, http.StatusRequestHeaderFieldsTooLarge}, // net/http allows 4 KiB more than it says
	} {
		server := httptest.NewUnstartedServer(mux)
		server.Config.MaxHeaderBytes = tt.header
		server.Start()
		t.Cleanup(server.Close)
		for _, path := range []string{"/sms", "/chatapp1", "/chatapp2", "/delivery"} {
			for name, part := range map[string]string{"one parameter": "x", "many parameters": "x=1&"} {
				t.Run(tt.name+", "+path+", "+name, func(t *testing.T) {
					const front = "from=639171234567&id=m-1&status=delivered&text="
					query := front + strings.Repeat(part, int(tt.bytes)/len(part))
					var status int
					used := allocated(func() { status = get(t, server.Listener.Addr().String(), path+"?"+query[:tt.bytes]) })
					assert.Equal(t, tt.status, status)
					assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
				})
			}
		}
	}
	assert.Zero(t, handled.Load())
}

// get sends a GET and returns the status of the response. It writes to the connection itself, because a server that has read
// enough responds and closes before net/http's client has written everything.
func get(t *testing.T, address, target string) int {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(peerLife)))
	go func() { _, _ = io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: hooks.example\r\n\r\n") }()
	var status int
	_, err = fmt.Fscanf(c, "HTTP/1.1 %d", &status)
	require.NoError(t, err)
	return status
}

// Anyone who knows the URL can call it.
func TestReceiverDeepJSON(t *testing.T) {
	hooks := newReceiver(t, webhook.WithPOST(), webhook.WithLimits(256, int(16*mebi)))
	for _, unit := range []string{"[", `{"a":`} {
		deep := nested(unit, 100_000)
		t.Run("body, "+unit, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"from":"639171234567","more":`+deep+`}`))
			r.Header.Set("Content-Type", "application/json")
			var err error
			used := allocated(func() { _, _, err = hooks.ParseChatApp2(r) })
			assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
			require.Error(t, err)
			assert.Less(t, len(err.Error()), 200)
		})
		t.Run("parameter, "+unit, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?from=639171234567&payload="+url.QueryEscape(deep), http.NoBody)
			var messages []webhook.ChatMessage
			var err error
			used := allocated(func() { messages, _, err = hooks.ParseChatApp2(r) })
			assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
			require.NoError(t, err, "a message with a sender is not lost")
			require.Len(t, messages, 1)
			assert.Equal(t, deep, messages[0].Params.Get("payload"))
			_, _, err = newReceiver(t).ParseChatApp2(r)
			require.ErrorIs(t, err, webhook.ErrTooLong, "without a higher limit")
		})
	}
}

// receiverOptions returns every option of package webhook by its name, with a secret where it can hold one.
func receiverOptions() map[string]webhook.Option {
	return map[string]webhook.Option{
		"WithSecret":         webhook.WithSecret("key", "new-SECRET-of-16-characters", "SECRET-of-16-characters"),
		"WithPathSecret":     webhook.WithPathSecret("name", "SECRET-of-16-characters"),
		"WithVerifier":       webhook.WithVerifier(func(*http.Request) error { return errors.New("SECRET") }),
		"WithoutProof":       webhook.WithoutProof(),
		"WithStore":          webhook.WithStore(webhook.NewMemoryStore(10, time.Minute)),
		"WithHandlerTimeout": webhook.WithHandlerTimeout(time.Second),
		"WithStatuses":       webhook.WithStatuses(func(context.Context, webhook.DeliveryReport) error { return nil }),
		"WithOther":          webhook.WithOther(func(context.Context, webhook.Other) error { return nil }),
		"WithPreferences":    webhook.WithPreferences(func(context.Context, webhook.Preference) error { return nil }),
		"WithPOST":           webhook.WithPOST(),
		"WithContract":       webhook.WithContract(contract.Default()),
		"WithLimits":         webhook.WithLimits(10, 1000),
		"WithHook":           webhook.WithHook(webhook.LogHook(slog.New(slog.DiscardHandler).With("by", "SECRET"))),
	}
}

// TestReceiversDoNotPrintSecrets prints every option of package webhook, and the handlers made with it.
func TestReceiversDoNotPrintSecrets(t *testing.T) {
	t.Parallel()
	options := receiverOptions()
	assert.ElementsMatch(t, optionsIn(t, "webhook/options.go"), slices.Collect(maps.Keys(options)), "every option is printed here")
	all := map[string][]webhook.Option{"all": slices.Collect(maps.Values(options))}
	for name, option := range options {
		assertSilent(t, printEveryWay(option)+printUnexported(option))
		all[name] = []webhook.Option{option}
	}
	for _, options := range all {
		for _, handler := range handlersOf(newReceiver(t, options...), func() error { return nil }) {
			assertSilent(t, printEveryWay(handler)+printUnexported(handler))
		}
	}
}

// TestRejectionsDoNotPrintPersonalData prints what a receiver refuses and why, each for a request with number, text and secret.
func TestRejectionsDoNotPrintPersonalData(t *testing.T) {
	t.Parallel()
	for i, err := range rejections(t) {
		require.Error(t, err, "%d", i)
		var out strings.Builder
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("rejected", "error", err)
		}
		assertSilent(t, out.String()+fmt.Sprintf("%v %+v %s %q %v", err, err, err, err, errors.Join(err)))
	}
}

func rejections(t *testing.T) (errs []error) {
	t.Helper()
	const query = "from=639171234567&to=ACME&text=Tom+%26+Jerry&key=SECRET"
	collect := webhook.WithHook(webhook.Hook{End: func(_ context.Context, result webhook.Result) { errs = append(errs, result.Err) }})
	call := func(method, query string, options ...webhook.Option) {
		t.Helper()
		before := len(errs)
		r := httptest.NewRequestWithContext(t.Context(), method, "/hooks/sms?"+query, http.NoBody)
		handlersOf(newReceiver(t, append(options, collect)...), func() error { panic("SECRET Jerry 639171234567") })["/sms"].
			ServeHTTP(httptest.NewRecorder(), r)
		require.Len(t, errs, before+1)
	}
	call(http.MethodGet, query) // panics
	call(http.MethodGet, query, webhook.WithSecret("key", "other-SECRET-of-16-characters"))
	call(http.MethodGet, query, webhook.WithPathSecret("name", "SECRET-of-16-characters"))
	for _, cause := range []error{
		errors.New("SECRET Jerry"),
		&url.Error{Op: "Get", URL: "https://shop.example.com/?SECRET", Err: errors.New("Jerry")},
		fmt.Errorf("%w", &url.Error{Op: "Get", URL: "https://shop.example.com/?SECRET", Err: errors.New("Jerry")}),
	} {
		call(http.MethodGet, query, webhook.WithVerifier(func(*http.Request) error { return cause }))
	}
	call(http.MethodGet, query, webhook.WithVerifier(func(*http.Request) error { panic(errors.New("SECRET")) }))
	call(http.MethodDelete, query)
	call(http.MethodGet, query, webhook.WithLimits(2, 1000))
	call(http.MethodGet, query, webhook.WithLimits(10, 20))
	call(http.MethodGet, "text=Jerry&to=639171234567&key=SECRET")
	posts := newReceiver(t, webhook.WithPOST(), webhook.WithLimits(10, 1000))
	for _, body := range []string{`{"text":"Jerry","secret":"SECRET"`, "\x00Jerry SECRET", strings.Repeat("SECRET", 1000)} {
		for _, contentType := range []string{"application/json", "image/png", ""} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/sms?text=Jerry", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			_, err := posts.ParseSMS(r)
			errs = append(errs, err)
		}
	}
	for _, parse := range parsersOf(newReceiver(t)) {
		errs = append(errs, parse(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?text=Jerry&key=SECRET", http.NoBody)))
	}
	secret := newReceiver(t, webhook.WithSecret("key", "SECRET-of-16-characters"))
	for _, base := range []string{"shop.example.com?SECRET", "https://shop.example.com/?key=SECRET", "https://shop.example.com/#SECRET", "https://user:SECRET@shop.example.com /"} {
		_, err := secret.DeliveryURL(base)
		errs = append(errs, err)
	}
	return errs
}

// Events print as plain data, so that a failed test shows what differs. Their LogValue leaves out personal data.
func TestEventsPrintAsPlainData(t *testing.T) {
	t.Parallel()
	const query = "/?from=639171234567&to=ACME&id=m-1&status=delivered&text=Tom+%26+Jerry&payload=Jerry"
	hooks := newReceiver(t)
	request := func() *http.Request {
		return httptest.NewRequestWithContext(t.Context(), http.MethodGet, query, http.NoBody)
	}
	message, err := hooks.ParseSMS(request())
	require.NoError(t, err)
	chats, _, err := hooks.ParseChatApp1(request())
	require.NoError(t, err)
	reports, err := hooks.ParseDelivery(request())
	require.NoError(t, err)
	assertPrintsPlainly(t, message, "Tom & Jerry")
	assertPrintsPlainly(t, chats[0], "Tom & Jerry")
	assertPrintsPlainly(t, reports[0], "639171234567")
}
