package faulttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/sms"
)

// These messages are valid, and complete in the fields that hold personal data. Jerry, the number and the callback URL are
// what must not show.
var (
	personalFallback = sms.Fallback{From: "ACME", Text: "Tom & Jerry by SMS"}
	personalSMS      = sms.Message{
		From: "ACME", To: "+639171234567", Text: "Tom & Jerry", ReferenceID: "order-17",
		CallbackURL: "https://shop.example.com/dlr?status=%s&id=%i&type=%tr",
	}
)

// assertSilent fails where a text shows a secret or something of a personal message.
func assertSilent(t *testing.T, text string) {
	t.Helper()
	assertAbsent(t, text, "SECRET", "9171234567", "Jerry", "status=%s", "shop.example.com")
}

// verbs are for values that are no number. For the others, package fmt prints what it finds in a value without calling its
// methods.
var (
	verbs      = []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"}
	otherVerbs = []string{"%t", "%c", "%U", "%e", "%b", "%o"}
)

// printEveryWay prints a value in every way that a program might: alone and inside other values, in every verb, as JSON and
// through the handlers of slog.
func printEveryWay(value any) string {
	type exportedField struct{ Value any }
	var out bytes.Buffer
	for _, v := range []any{value, &value, exportedField{value}, []any{value}, map[string]any{"k": value}} {
		for _, verb := range verbs {
			fmt.Fprintf(&out, verb, v)
		}
		fmt.Fprintln(&out, v)
		if raw, err := json.Marshal(v); err == nil {
			out.Write(raw)
		} else {
			out.WriteString(err.Error())
		}
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("shown", "value", v, slog.Any("any", v))
		}
	}
	for _, verb := range otherVerbs {
		fmt.Fprintf(&out, verb, value)
	}
	return out.String()
}

// printUnexported prints a struct that holds the value in an unexported field, whose methods package fmt cannot call. Only
// pointers and functions show nothing then.
func printUnexported(value any) string {
	type unexportedField struct{ value any }
	return fmt.Sprintf("%v %+v %#v", unexportedField{value}, unexportedField{value}, unexportedField{value})
}

// A signer is an Auth as a user may write it, careless about printing.
type signer struct{ Key, secret string }

func (s signer) Authenticate(r *http.Request) error {
	r.Header.Set("X-Signature", s.Key+s.secret)
	return nil
}

// A leakyTransport returns errors that say everything that they should not.
type leakyTransport struct{}

func (leakyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: "Post", URL: r.URL.String() + "&more=SECRET", Err: errors.New("Tom & Jerry, +639171234567, SECRET")}
}

// A silentObserver fails where a step shows a secret or something of a personal message. Steps and results have no methods, so
// %+v shows all of them; a call is printed in every way.
type silentObserver struct {
	t      *testing.T
	secret string // must not show, and is not printed with the client either
}

func (o silentObserver) StartStep(ctx context.Context, step messaging.Step) context.Context {
	o.check(fmt.Sprintf("%+v", step))
	return ctx
}

func (o silentObserver) EndStep(_ context.Context, step messaging.Step, result messaging.StepResult) {
	if step.Kind != messaging.StepCall {
		o.check(fmt.Sprintf("%+v %+v", step, result))
		return
	}
	o.check(printEveryWay([]any{step, result}))
}

func (o silentObserver) check(shown string) {
	assertSilent(o.t, shown)
	assertAbsent(o.t, shown, o.secret)
}

// optionsIn returns the names of the options that a file of the module declares.
func optionsIn(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(moduleRoot, file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// clientOptions returns every option of the root package by its name, with a secret where it can hold one.
func clientOptions(t *testing.T) map[string][]messaging.Option {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	service, err := url.Parse(baseURL)
	require.NoError(t, err)
	jar.SetCookies(service, []*http.Cookie{{Name: "session", Value: "SECRET"}})
	var log bytes.Buffer
	t.Cleanup(func() { assertSilent(t, strings.ReplaceAll(log.String(), `"by":"SECRET"`, "")) })
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})).With("by", "SECRET")
	return map[string][]messaging.Option{
		"WithToken": {messaging.WithToken("tok-SECRET")},
		"WithTokenSource": {messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			return messaging.Token{Value: "tok-SECRET"}, nil
		})},
		"WithAPIKey": {messaging.WithAPIKey("key-SECRET", "pair-SECRET")},
		"WithAuth": {
			messaging.WithAuth(signer{"SECRET", "SECRET"}.Authenticate),
			messaging.WithAuth((&signer{"SECRET", "SECRET"}).Authenticate, messaging.ChannelSMS, messaging.ChannelChatApp1, messaging.ChannelChatApp2),
		},
		"WithBasicAuth": {messaging.WithBasicAuth("user-SECRET", "SECRET")},
		"WithHTTPClient": {messaging.WithHTTPClient(&http.Client{Jar: jar, Transport: &http.Transport{
			Proxy:              http.ProxyURL(&url.URL{Scheme: "https", User: url.UserPassword("user", "SECRET"), Host: deadAddress}),
			ProxyConnectHeader: http.Header{"Authorization": {"SECRET"}},
		}})},
		"WithTransport":     {messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper { return base })},
		"WithObserver":      {messaging.WithObserver(silentObserver{t, "SECRET"})},
		"WithTimeout":       {messaging.WithTimeout(time.Second)},
		"WithBreaker":       {messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: time.Minute})},
		"WithRetry":         {messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Microsecond, MaxWait: time.Microsecond})},
		"WithRateLimit":     {messaging.WithRateLimit(1e6, 1000)},
		"WithSettle":        {messaging.WithSettle(messaging.SettlePolicy{Window: time.Millisecond, Interval: time.Millisecond})},
		"WithContract":      {messaging.WithContract(contract.Default())}, // holds no secret, as its documentation says
		"WithVariable":      {messaging.WithVariable("account", "AC-42")}, // no secret, as its documentation says
		"WithLenientLimits": {messaging.WithLenientLimits()},
		"WithLogger":        {messaging.WithLogger(logger)},
		"WithPlainHTTP":     {messaging.WithPlainHTTP()},
	}
}

// TestOptionsDoNotPrintSecrets prints every option of the root package, and a client made with it.
func TestOptionsDoNotPrintSecrets(t *testing.T) {
	t.Parallel()
	options := clientOptions(t)
	assert.ElementsMatch(t, optionsIn(t, "options.go"), slices.Collect(maps.Keys(options)), "every option is printed here")
	for name, variants := range options {
		for _, option := range variants {
			assertSilent(t, printEveryWay(option)+printUnexported(option))
			client, err := messaging.NewClient(baseURL, messaging.WithToken("tok-SECRET"), option)
			require.NoError(t, err, name)
			assertClientSilent(t, client)
		}
	}
	assertSilent(t, printEveryWay(messaging.Token{Value: "tok-SECRET", Expiry: time.Now()}))
}

// TestClientsDoNotPrintSecrets prints clients with each kind of credentials, their services, and the errors of their calls.
// The breakers of the clients open, and what then waits for them does so in the time of synctest.
func TestClientsDoNotPrintSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := clientOptions(t)
		shared := slices.Concat(slices.Collect(maps.Values(options))...)
		for _, credentials := range []string{"WithToken", "WithTokenSource", "WithAPIKey", "WithAuth", "WithBasicAuth"} {
			for _, option := range options[credentials] {
				client, err := messaging.NewClient(baseURL, append(slices.Clone(shared), option, messaging.WithHTTPClient(&http.Client{Transport: leakyTransport{}}), noRetry)...)
				require.NoError(t, err)
				derived, err := client.With(option)
				require.NoError(t, err)
				for _, c := range []*messaging.Client{client, derived} {
					for _, err := range callEverything(t, c) { // a token source has issued its token by now
						require.Error(t, err)
						assertErrorSilent(t, err)
					}
					assertClientSilent(t, c)
				}
			}
		}
		inQuery, err := contract.Parse([]byte(`{"auth":{"keyPair":{"in":"query"}}}`))
		require.NoError(t, err)
		client, err := messaging.NewClient(baseURL, messaging.WithAPIKey("key-SECRET", "SECRET"), messaging.WithContract(inQuery))
		require.NoError(t, err)
		assertClientSilent(t, client)
		assertSilent(t, printEveryWay(inQuery))
	})
}

func assertClientSilent(t *testing.T, client *messaging.Client) {
	t.Helper()
	assertSilent(t, printEveryWay(client)+printUnexported(client)+printEveryWay(*client))
	for _, service := range servicesOf(client) {
		assertSilent(t, printEveryWay(service.Interface())+printUnexported(service.Interface()))
	}
}

// assertErrorSilent prints an error as it comes, and as callers pass it on.
func assertErrorSilent(t *testing.T, err error) {
	t.Helper()
	assertSilent(t, printEveryWay(err)+printUnexported(err))
	for _, passed := range []error{fmt.Errorf("wrapped: %w", err), errors.Join(err, errors.New("another"))} {
		assertSilent(t, fmt.Sprintf("%v %+v %#v %s %q", passed, passed, passed, passed, passed))
	}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		assertSilent(t, printEveryWay(*e))
	}
}

// arguments returns what a method of a service is called with, by type. A type of another kind needs a line here. A validation gets a
// message with a wrong recipient.
func arguments(t *testing.T, method reflect.Type, isValid bool) (args []reflect.Value) {
	t.Helper()
	values := []any{
		"Jerry", 2, time.Now(), sms.ListOptions{To: "+639171234567", ReferenceID: "Jerry", Extra: url.Values{"text": {"Jerry"}}},
	}
	for _, c := range channeltest.Channels() {
		values = append(values, personal(c, isValid))
	}
	for in := range method.Ins() {
		isA := func(value any) bool { return reflect.TypeOf(value) == in }
		isSequence := func(value any) bool { return in.Kind() == reflect.Func && in.In(0).In(0) == reflect.TypeOf(value) }
		switch n, m := slices.IndexFunc(values, isA), slices.IndexFunc(values, isSequence); {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(t.Context()))
		case n >= 0:
			args = append(args, reflect.ValueOf(values[n]))
		case m >= 0:
			args = append(args, reflect.MakeFunc(in, func(yield []reflect.Value) []reflect.Value {
				for range 2 {
					if !yield[0].Call([]reflect.Value{reflect.ValueOf(values[m])})[0].Bool() {
						break
					}
				}
				return nil
			}))
		default:
			require.Fail(t, "arguments needs a line for this type", "%s", in)
		}
	}
	return args
}

// personal returns a message of a channel that is complete in the fields that hold personal data.
func personal(c channeltest.Channel, isValid bool) any {
	m := reflect.New(reflect.TypeOf(c.Message("", "", ""))).Elem()
	m.Set(reflect.ValueOf(c.Message(personalSMS.To, personalSMS.Text, personalSMS.ReferenceID)))
	set := func(name string, value any) {
		if field := m.FieldByName(name); field.IsValid() {
			field.Set(reflect.ValueOf(value))
		}
	}
	set("CallbackURL", personalSMS.CallbackURL)
	set("TTL", 10*time.Minute)
	set("Fallback", &personalFallback)
	if !isValid {
		set("To", personalSMS.To+" Jerry")
	}
	return m.Interface()
}

// errorsIn returns the errors of a result: itself, of an outcome, or those that a sequence yields.
func errorsIn(result reflect.Value) (errs []error) {
	if err, ok := reflect.TypeAssert[error](result); ok {
		return []error{err}
	}
	if result.Kind() == reflect.Struct && result.FieldByName("Err").IsValid() {
		return errorsIn(result.FieldByName("Err"))
	}
	if result.Kind() != reflect.Func {
		return nil
	}
	if result.Type().CanSeq2() {
		for _, err := range result.Seq2() {
			errs = append(errs, errorsIn(err)...)
		}
		return errs
	}
	for out := range result.Seq() {
		errs = append(errs, errorsIn(out)...)
	}
	return errs
}

// callEverything calls every exported method of every service, and returns the errors.
func callEverything(t *testing.T, client *messaging.Client) (errs []error) {
	t.Helper()
	for name, service := range servicesOf(client) {
		for i := range service.NumMethod() {
			method := service.Type().Method(i).Name
			if method == "Verdict" { // it returns no error
				continue
			}
			var got []error
			for _, result := range service.Method(i).Call(arguments(t, service.Method(i).Type(), method != "Validate")) {
				got = append(got, errorsIn(result)...)
			}
			assert.NotEmpty(t, got, "%s.%s returned no error: does the test call it so that it fails?", name, method)
			errs = append(errs, got...)
		}
	}
	return errs
}

// sends are the calls that send one message, by operation.
func sends() map[string]func(ctx context.Context, client *messaging.Client) error {
	all := map[string]func(context.Context, *messaging.Client) error{}
	for _, c := range channeltest.Channels() {
		all[c.Name+".send"] = func(ctx context.Context, client *messaging.Client) error {
			for name, service := range servicesOf(client) {
				if strings.EqualFold(name, c.Name) {
					results := service.MethodByName("Send").Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(personal(c, true))})
					err, _ := reflect.TypeAssert[error](results[1])
					return err
				}
			}
			return nil
		}
	}
	return all
}

// respondingClient returns a client whose requests all get the same response.
func respondingClient(t *testing.T, status int, body string, options ...messaging.Option) *messaging.Client {
	t.Helper()
	transport := roundTripperFunc(func(r *http.Request) (*http.Response, error) { return newResponse(r, status, body), nil })
	options = append([]messaging.Option{
		messaging.WithToken("tok-SECRET"), transport.option(),
		withoutBreaker,
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}),
		messaging.WithObserver(silentObserver{t, "SECRET"}),
	}, options...)
	client, err := messaging.NewClient(baseURL, options...)
	require.NoError(t, err)
	return client
}

// TestErrorsDoNotPrintPersonalData prints errors of a service that echoes what it was sent.
func TestErrorsDoNotPrintPersonalData(t *testing.T) {
	t.Parallel()
	const body = `{"code":"%s","status":"Tom & Jerry","message":"+639171234567: Tom & Jerry","requestId":"639171234567","data":{"id":"m"}}`
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, status := range []int{200, 201, 302, 400, 401, 403, 404, 408, 429, 500, 503} {
		for _, code := range []string{"", "200202", "639171234567", "Tom & Jerry"} {
			client := respondingClient(t, status, fmt.Sprintf(body, code))
			for _, send := range sends() {
				for _, ctx := range []context.Context{t.Context(), ended} {
					err := send(ctx, client)
					require.Error(t, err, "%d %s", status, code)
					assertErrorSilent(t, err)
				}
			}
		}
	}
	for _, body := range []string{"Tom & Jerry +639171234567", `{"id":"Tom & Jerry"`, ""} {
		client := respondingClient(t, http.StatusOK, body)
		for _, send := range sends() {
			err := send(t.Context(), client)
			require.Error(t, err)
			assertErrorSilent(t, err)
		}
	}
}

func TestValidationErrorsDoNotPrintValues(t *testing.T) {
	t.Parallel()
	client := respondingClient(t, http.StatusOK, acceptedBody)
	wrong := personalSMS
	wrong.To, wrong.Text, wrong.CallbackURL = "+639171234567 SECRET", "Jerry\xff", "shop.example.com/SECRET"
	wrong.Extra = map[string]any{"to": "SECRET"}
	_, errSMS := client.SMS.Send(t.Context(), wrong)

	wrong1 := chatapp1.New("\xffSECRET", "+639171234567 SECRET").
		Template(chatapp1.Template{ID: "Jerry\xff", Language: "Jerry\xff", Params: map[string]string{"a": "Jerry\xff"}}).
		WithFallback(sms.Fallback{From: "Jerry\xff", Text: "Jerry\xff"}).WithCallback("shop.example.com/SECRET")
	_, err1 := client.ChatApp1.Send(t.Context(), wrong1)
	_, errRaw := client.ChatApp1.Send(t.Context(), chatapp1.New("c", "12345").Raw(map[string]any{"to": "SECRET", "f": func() {}}))

	wrong2 := chatapp2.Message{TTL: 10 * time.Minute, Fallback: &personalFallback}
	wrong2.To, wrong2.CallbackURL = "+639171234567 SECRET", "shop.example.com/SECRET"
	wrong2.Content = chatapp2.Image{Media: chatapp2.Media{ID: "SECRET", Link: "shop.example.com"}}
	wrong2.Extra = map[string]any{"ttl": "SECRET", "type": "SECRET"}
	_, err2 := client.ChatApp2.Send(t.Context(), wrong2)

	_, errNew := messaging.NewClient("https://user:SECRET@shop.example.com?token=SECRET", messaging.WithToken("SECRET\n"), messaging.WithAPIKey(" SECRET", ""))
	for _, err := range []error{errSMS, err1, errRaw, err2, errNew} {
		require.Error(t, err)
		assertErrorSilent(t, err)
	}
}

func TestLogsHoldNoPersonalData(t *testing.T) {
	t.Parallel()
	for name, send := range sends() {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusBadGateway} {
			var out bytes.Buffer
			client := respondingClient(t, status, `{"message":"+639171234567: Tom & Jerry"}`,
				messaging.WithLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
			require.Error(t, send(t.Context(), client))
			assert.Contains(t, out.String(), `"operation":"`+name+`"`)
			unknown := status == http.StatusOK || status == http.StatusBadGateway
			assert.Equal(t, unknown, bytes.Contains(out.Bytes(), []byte(`"WARN"`)), "%s", &out)
			assertSilent(t, out.String())
		}
	}
}

// Messages, receipts and transactions print as plain data, so that a failed test shows what differs. Their LogValue leaves out
// personal data.
func TestMessagesPrintAsPlainData(t *testing.T) {
	t.Parallel()
	receipt, err := respondingClient(t, http.StatusOK, `{"id":"m-1","to":"+639171234567","text":"Tom & Jerry"}`).SMS.Send(t.Context(), personalSMS)
	require.NoError(t, err)
	receipt.Raw = nil // a []byte prints as numbers
	for _, c := range channeltest.Channels() {
		assertPrintsPlainly(t, personal(c, true), "Tom & Jerry")
	}
	assertPrintsPlainly(t, receipt, "m-1")
	assertPrintsPlainly(t, sms.Transaction{ID: "t-1", To: "639171234567", Text: "Tom & Jerry", Description: "to Jerry"}, "Tom & Jerry")
}

// assertPrintsPlainly checks that package fmt shows a value, and that slog shows nothing personal of it.
func assertPrintsPlainly(t *testing.T, value any, shows string) {
	t.Helper()
	assert.Contains(t, fmt.Sprintf("%+v", value), shows)
	assert.NotImplements(t, (*fmt.Formatter)(nil), value)
	assert.NotImplements(t, (*fmt.Stringer)(nil), value)
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("shown", "value", value)
	}
	assertSilent(t, out.String())
	assert.Contains(t, out.String(), "value")
}
