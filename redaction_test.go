package messaging_test

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
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// verbs are those that a person may use for a value that is no number; nonsense are the rest, for which package fmt prints
// what it finds in a value without asking the value's methods.
var (
	verbs    = []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"}
	nonsense = []string{"%t", "%c", "%U", "%e", "%b", "%o"}
)

// shown prints a value in every way that a program might, by accident or on purpose: bare, within what is exported, and
// within what is not.
func shown(t *testing.T, value any, hidden bool) string {
	t.Helper()
	type exportedField struct{ Value any }
	type unexportedField struct{ value any }
	var out bytes.Buffer
	if hidden { // package fmt cannot ask the methods of what it finds here; a pointer or a function has nothing to show
		fmt.Fprintf(&out, "%v %+v %#v", unexportedField{value}, unexportedField{value}, unexportedField{value})
	}
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
	for _, verb := range nonsense {
		fmt.Fprintf(&out, verb, value)
	}
	return out.String()
}

// TestNothingThatIsPrintedShowsASecretOrWhatBelongsToARecipient prints, in every verb, as JSON, and through both of slog's
// handlers:
//
//   - every option of the root package and of package webhook, each with something secret in it where it can have that;
//   - clients made of each and of all of them, derived clients, and their services;
//   - a contract beside the credentials that it places;
//   - the handlers of package webhook, what they refuse, and what a function of the user's panicked with;
//   - the errors of every operation, those of bulk sends and of listings among them, bare, wrapped and joined.
//
// What is meant to hold content, and shows it as JSON alone, is printed by TestAPrintedMessageOrReceiptShowsMeasuresOnly. The
// errors of real faults are printed in the same way by TestEveryFaultEndsWithTheRightVerdict.
func TestNothingThatIsPrintedShowsASecretOrWhatBelongsToARecipient(t *testing.T) {
	t.Parallel()
	options := secretiveOptions(t)
	assert.ElementsMatch(t, optionsOf(t, "options.go"), slices.Collect(maps.Keys(options)), "an option that is not printed")
	var all []messaging.Option
	for name, each := range options {
		for _, option := range each {
			assertSilent(t, shown(t, option, true))
			all = append(all, option)
			client, err := messaging.NewClient(baseURL, append([]messaging.Option{messaging.WithToken("tok-SECRET"), messaging.WithHTTPClient(&http.Client{Transport: leaky{}}), noRetry}, option)...)
			require.NoError(t, err, name)
			assertSilent(t, shown(t, client, true))
			assertSilent(t, shown(t, *client, false))
		}
	}
	for _, credentials := range []string{"WithToken", "WithTokenSource", "WithAPIKey", "WithAuth"} {
		for _, option := range options[credentials] {
			client, err := messaging.NewClient(baseURL, append(slices.Clone(all), option, messaging.WithHTTPClient(&http.Client{Transport: leaky{}}), noRetry)...)
			require.NoError(t, err)
			derived, err := client.With(option)
			require.NoError(t, err)
			for _, c := range []*messaging.Client{client, derived} {
				for _, err := range everyCall(t, c) { // a source has issued its token by now
					require.Error(t, err)
					assertErrorSilent(t, err)
				}
				assertClientSilent(t, c)
			}
		}
	}
	placed, err := contract.Parse([]byte(`{"auth":{"keyPair":{"in":"query"}}}`))
	require.NoError(t, err)
	client, err := messaging.NewClient(baseURL, messaging.WithAPIKey("key-SECRET", "SECRET"), messaging.WithContract(placed))
	require.NoError(t, err)
	assertClientSilent(t, client)
	assertSilent(t, shown(t, placed, true))
	assertSilent(t, shown(t, &placed, true))
	assertSilent(t, shown(t, messaging.Basic("user-SECRET", "SECRET"), true))
	assertSilent(t, shown(t, messaging.Token{Value: "tok-SECRET", Expiry: time.Now()}, false))
	for _, err := range everyError(t) {
		assertErrorSilent(t, err)
	}

	hooks := secretiveHookOptions()
	assert.ElementsMatch(t, optionsOf(t, "webhook/options.go"), slices.Collect(maps.Keys(hooks)), "an option that is not printed")
	var together []webhook.Option
	for _, option := range hooks {
		assertSilent(t, shown(t, option, true))
		assertHandlersSilent(t, option)
		together = append(together, option)
	}
	assertHandlersSilent(t, together...)
	for _, err := range everyHookError(t) {
		assertErrorSilent(t, err)
	}
}

// noRetry keeps a call that fails from waiting.
var noRetry = messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})

// optionsOf gives the names of the options that a file declares.
func optionsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// signer is an Auth as a user may write it, careless about printing.
type signer struct{ Key, secret string }

func (s signer) Authenticate(r *http.Request) error {
	r.Header.Set("X-Signature", s.Key+s.secret)
	return nil
}

// secretiveOptions gives every option of the root package by its name, with something secret where it can have that.
func secretiveOptions(t *testing.T) map[string][]messaging.Option {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	service, err := url.Parse(baseURL)
	require.NoError(t, err)
	jar.SetCookies(service, []*http.Cookie{{Name: "session", Value: "SECRET"}})
	var log bytes.Buffer
	t.Cleanup(func() { assertSilent(t, strings.ReplaceAll(log.String(), `"by":"SECRET"`, "")) })
	return map[string][]messaging.Option{
		"WithToken":       {messaging.WithToken("tok-SECRET")},
		"WithTokenSource": {messaging.WithTokenSource(issue("tok-SECRET"))},
		"WithAPIKey":      {messaging.WithAPIKey("key-SECRET", "pair-SECRET")},
		"WithAuth": {
			messaging.WithAuth(messaging.Basic("user-SECRET", "SECRET")),
			messaging.WithAuth(signer{"SECRET", "SECRET"}),
			messaging.WithAuth(&signer{"SECRET", "SECRET"}, messaging.ChannelSMS, messaging.ChannelChatApp1, messaging.ChannelChatApp2),
			messaging.WithAuth(messaging.AuthFunc(signer{"SECRET", "SECRET"}.Authenticate)),
		},
		"WithHTTPClient": {messaging.WithHTTPClient(&http.Client{Jar: jar, Transport: &http.Transport{
			Proxy:              http.ProxyURL(&url.URL{Scheme: "https", User: url.UserPassword("user", "SECRET"), Host: "127.0.0.1:1"}),
			ProxyConnectHeader: http.Header{"Authorization": {"SECRET"}},
		}})},
		"WithTimeout":       {messaging.WithTimeout(time.Second)},
		"WithRetry":         {messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Microsecond, MaxWait: time.Microsecond})},
		"WithRateLimit":     {messaging.WithRateLimit(1e6, 1000)},
		"WithSettle":        {messaging.WithSettle(messaging.SettlePolicy{Window: time.Millisecond, Interval: time.Millisecond})},
		"WithContract":      {messaging.WithContract(contract.Default())}, // no place for a secret, as its documentation says
		"WithLenientLimits": {messaging.WithLenientLimits()},
		"WithMaxAnswer":     {messaging.WithMaxAnswer(1 << 10)},
		"WithLogger":        {messaging.WithLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})).With("by", "SECRET"))},
		"WithUserAgent":     {messaging.WithUserAgent("shop/1.0")},
		"WithPlainHTTP":     {messaging.WithPlainHTTP()},
	}
}

// assertClientSilent prints a client and its services, as they are and as pointers.
func assertClientSilent(t *testing.T, client *messaging.Client) {
	t.Helper()
	for _, v := range []any{client, *client, client.SMS, *client.SMS, client.ChatApp1, *client.ChatApp1, client.ChatApp2, *client.ChatApp2} {
		assertSilent(t, shown(t, v, true))
	}
}

// assertErrorSilent prints an error as it comes, and as callers pass it on.
func assertErrorSilent(t *testing.T, err error) {
	t.Helper()
	assertSilent(t, shown(t, err, true))
	for _, passed := range []error{fmt.Errorf("wrapped: %w", err), errors.Join(err, errors.New("another"))} {
		assertSilent(t, fmt.Sprintf("%v %+v %#v %s %q", passed, passed, passed, passed, passed))
	}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		assertSilent(t, shown(t, *e, false))
	}
}

// everyCall makes every call that a client can make, and gives the error of each.
func everyCall(t *testing.T, client *messaging.Client) (errs []error) {
	t.Helper()
	ctx := t.Context()
	for _, send := range complete {
		errs = append(errs, send(ctx, client))
	}
	_, err := client.SMS.SendOnce(ctx, message)
	errs = append(errs, err)
	_, err = client.SMS.Find(ctx, "Jerry")
	errs = append(errs, err)
	for _, err := range client.SMS.List(ctx, sms.ListOptions{To: "+639171234567", Extra: url.Values{"text": {"Jerry"}}}) {
		errs = append(errs, err)
	}
	for _, err := range client.SMS.Pages(ctx, sms.ListOptions{ReferenceID: "Jerry", PagesAhead: 2}) {
		errs = append(errs, err)
	}
	for o := range client.SMS.SendAll(ctx, slices.Values([]sms.Message{message, message}), 2) {
		assertPrintedSilently(t, o, &o)
		errs = append(errs, o.Err)
	}
	for o := range client.ChatApp1.SendAll(ctx, slices.Values([]chatapp1.Message{chatMessage1, chatMessage1}), 2) {
		assertPrintedSilently(t, o, &o)
		errs = append(errs, o.Err)
	}
	for o := range client.ChatApp2.SendAll(ctx, slices.Values([]chatapp2.Message{chatMessage2, chatMessage2}), 2) {
		assertPrintedSilently(t, o, &o)
		errs = append(errs, o.Err)
	}
	return errs
}

// secretiveHookOptions gives every option of package webhook by its name, with something secret where it can have that.
func secretiveHookOptions() map[string]webhook.Option {
	store := webhook.NewMemoryStore(10, time.Minute)
	_, _ = store.Claim(context.Background(), "Jerry 639171234567")
	return map[string]webhook.Option{
		"WithSecret":          webhook.WithSecret("key", "new-SECRET", "SECRET"),
		"WithPathSecret":      webhook.WithPathSecret("name", "SECRET"),
		"WithVerifier":        webhook.WithVerifier(func(*http.Request) error { return errors.New("SECRET") }),
		"WithOnReject":        webhook.WithOnReject(func(*http.Request, error) {}),
		"WithStore":           webhook.WithStore(store),
		"WithDuplicateWindow": webhook.WithDuplicateWindow(time.Second),
		"WithPOST":            webhook.WithPOST(),
		"WithContract":        webhook.WithContract(contract.Default()),
		"WithLogger":          webhook.WithLogger(slog.New(slog.DiscardHandler).With("by", "SECRET")),
		"WithLimits":          webhook.WithLimits(10, 1000),
	}
}

// assertHandlersSilent prints a handler of each kind.
func assertHandlersSilent(t *testing.T, options ...webhook.Option) {
	t.Helper()
	for _, handler := range []http.Handler{
		webhook.SMS(func(context.Context, webhook.SMSMessage) error { return nil }, options...),
		webhook.ChatApp1(func(context.Context, webhook.ChatApp1Message) error { return nil }, options...),
		webhook.ChatApp2(func(context.Context, webhook.ChatApp2Message) error { return nil }, options...),
		webhook.Delivery(func(context.Context, webhook.DeliveryReport) error { return nil }, options...),
	} {
		assertSilent(t, shown(t, handler, true))
	}
}

// everyHookError gives what webhooks refuse and why, each from a request that holds number, text and secret.
func everyHookError(t *testing.T) (errs []error) {
	t.Helper()
	const query = "from=639171234567&to=ACME&text=Tom+%26+Jerry&key=SECRET"
	told := webhook.WithOnReject(func(_ *http.Request, err error) { errs = append(errs, err) })
	fire := func(method, query, body string, options ...webhook.Option) {
		r := httptest.NewRequestWithContext(t.Context(), method, "/hooks/sms?"+query, strings.NewReader(body))
		webhook.SMS(func(context.Context, webhook.SMSMessage) error { panic("SECRET Jerry 639171234567") }, append(options, told)...).
			ServeHTTP(httptest.NewRecorder(), r)
	}
	fire(http.MethodGet, query, "") // panics
	fire(http.MethodGet, query, "", webhook.WithSecret("key", "other-SECRET"))
	fire(http.MethodGet, query, "", webhook.WithPathSecret("name", "SECRET"))
	for _, cause := range []error{
		errors.New("SECRET Jerry"),
		&url.Error{Op: "Get", URL: "https://shop.example.com/?SECRET", Err: errors.New("Jerry")},
		fmt.Errorf("%w", &url.Error{Op: "Get", URL: "https://shop.example.com/?SECRET", Err: errors.New("Jerry")}),
	} {
		fire(http.MethodGet, query, "", webhook.WithVerifier(func(*http.Request) error { return cause }))
	}
	fire(http.MethodGet, query, "", webhook.WithVerifier(func(*http.Request) error { panic(errors.New("SECRET")) }))
	fire(http.MethodDelete, query, "")
	fire(http.MethodGet, query, "", webhook.WithLimits(2, 1000))
	fire(http.MethodGet, query, "", webhook.WithLimits(10, 20))
	fire(http.MethodGet, "text=Jerry&to=639171234567&key=SECRET", "")
	for _, body := range []string{`{"text":"Jerry","secret":"SECRET"`, "\x00Jerry SECRET", strings.Repeat("SECRET", 1000)} {
		for _, contentType := range []string{"application/json", "image/png", ""} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/sms?text=Jerry", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			_, err := webhook.ParseSMS(r, webhook.WithPOST(), webhook.WithLimits(10, 1000))
			errs = append(errs, err)
		}
	}
	for _, parse := range []func(*http.Request) error{
		func(r *http.Request) error { _, err := webhook.ParseChatApp1(r); return err },
		func(r *http.Request) error { _, err := webhook.ParseChatApp2(r); return err },
		func(r *http.Request) error { _, err := webhook.ParseDelivery(r); return err },
	} {
		errs = append(errs, parse(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?text=Jerry&key=SECRET", http.NoBody)))
	}
	for _, base := range []string{"shop.example.com?SECRET", "https://shop.example.com/?key=SECRET", "https://shop.example.com/#SECRET", "https://user:SECRET@shop.example.com /"} {
		_, err := webhook.DeliveryURL(base, webhook.WithSecret("key", "SECRET"))
		errs = append(errs, err)
	}
	for i, err := range errs {
		require.Error(t, err, "%d", i)
	}
	return errs
}

// complete sends a message that is set in every field, over each channel.
var complete = map[string]func(ctx context.Context, client *messaging.Client) error{
	"sms.send": func(ctx context.Context, client *messaging.Client) error {
		_, err := client.SMS.Send(ctx, message)
		return err
	},
	"chatapp1.send": func(ctx context.Context, client *messaging.Client) error {
		_, err := client.ChatApp1.Send(ctx, chatMessage1)
		return err
	},
	"chatapp2.send": func(ctx context.Context, client *messaging.Client) error {
		_, err := client.ChatApp2.Send(ctx, chatMessage2)
		return err
	},
}

// assertPrintedSilently prints and logs values that show their content as JSON, and in no other way.
func assertPrintedSilently(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		var out bytes.Buffer
		for _, verb := range append(verbs, nonsense...) {
			fmt.Fprintf(&out, verb, v)
			fmt.Fprintf(&out, verb, struct{ Value any }{v})
			fmt.Fprintf(&out, verb, []any{v})
		}
		fmt.Fprintln(&out, v, fmt.Errorf("wrapped: %v", v))
		slog.New(slog.NewJSONHandler(&out, nil)).Info("shown", "value", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("shown", "value", v, "group", slog.GroupValue(slog.Any("value", v)))
		assertSilent(t, out.String())
	}
}

func TestAPrintedMessageOrReceiptShowsMeasuresOnly(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	answering(mock, http.StatusOK, `{"id":"m-1","to":"+639171234567","text":"Tom & Jerry"}`)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	receipt1, err := client.ChatApp1.Send(t.Context(), chatMessage1)
	require.NoError(t, err)
	receipt2, err := client.ChatApp2.Send(t.Context(), chatMessage2)
	require.NoError(t, err)
	draft := chatapp1.New("Jerry", "+639171234567")
	assertPrintedSilently(
		t, message, &message, receipt, &receipt, sms.Outcome{Message: message, Receipt: receipt},
		draft, &draft, chatMessage1, &chatMessage1, chatMessage1.Payload, receipt1, &receipt1, chatapp1.Outcome{Message: chatMessage1, Receipt: receipt1},
		chatMessage2, &chatMessage2, chatMessage2.Content, receipt2, &receipt2, chatapp2.Outcome{Message: chatMessage2, Receipt: receipt2},
		instead, &instead,
	)
	for _, m := range []chatapp1.Message{
		draft.Image("https://shop.example.com/i.jpg"),
		draft.Video(chatapp1.Video{URL: "https://shop.example.com/v", ThumbnailURL: "https://shop.example.com/t"}),
		draft.CallToAction(chatapp1.CallToAction{Text: "Jerry", ImageURL: "https://shop.example.com/i", Caption: "Jerry", URL: "https://shop.example.com"}),
		draft.Template(chatapp1.Template{ID: "Jerry", Language: "Jerry", Params: map[string]string{"Jerry": "Jerry"}}),
		draft.Raw(map[string]any{"Jerry": "Jerry"}),
	} {
		assertPrintedSilently(t, m, m.Payload)
	}
	for _, content := range []chatapp2.Content{
		chatapp2.Image{Media: chatapp2.Media{Link: "https://shop.example.com/i.jpg"}, Caption: "Jerry"},
		chatapp2.Template{Name: "jerry", Language: "en", Components: []chatapp2.Component{chatapp2.Body("Jerry")}},
		chatapp2.Interactive{Body: "Jerry", Footer: "Jerry", Action: chatapp2.ReplyButtons{{ID: "Jerry", Title: "Jerry"}}},
		chatapp2.Raw{Type: "Jerry", JSON: json.RawMessage(`"Jerry"`)},
	} {
		m := chatMessage2
		m.Content, m.Extra = content, map[string]any{"Jerry": "Jerry"}
		assertPrintedSilently(t, m, content)
	}
	assert.Equal(t, `sms.Message{From: 4 characters, To: 13 characters, Text: 17 characters, CallbackURL: 53 characters, ReferenceID: 8 characters}`, fmt.Sprint(message))
	assert.Contains(t, fmt.Sprint(receipt), `ID: "m-1"`)
	assert.Contains(t, fmt.Sprint(receipt1), `ID: "m-1"`)
	assert.Contains(t, fmt.Sprint(receipt2), `ID: "m-1"`)
}

func TestNoLogShowsWhatBelongsToARecipient(t *testing.T) {
	t.Parallel()
	for operation, send := range complete {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusBadGateway} {
			var out bytes.Buffer
			client, mock := mocked(t, messaging.WithLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
			answering(mock, status, `{"message":"+639171234567: Tom & Jerry"}`)
			require.Error(t, send(t.Context(), client))
			assert.Contains(t, out.String(), `"operation":"`+operation+`"`)
			assert.Equal(t, status == http.StatusOK || status == http.StatusBadGateway, bytes.Contains(out.Bytes(), []byte(`"WARN"`)), "%s", &out)
			assertSilent(t, out.String())
		}
	}
}

// leaky is a round tripper whose errors say everything that they should not.
type leaky struct{}

func (leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: "Post", URL: r.URL.String() + "&more=SECRET", Err: errors.New("Tom & Jerry, +639171234567, SECRET")}
}

// everyError gives one error of each kind, of a service that repeats what it was sent.
func everyError(t *testing.T) []error {
	t.Helper()
	const echo = `{"code":"%s","status":"Tom & Jerry","message":"+639171234567: Tom & Jerry","requestId":"639171234567","data":{"id":"m"}}`
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var all []error
	for _, status := range []int{200, 201, 302, 400, 401, 403, 404, 408, 429, 500, 503} {
		for _, code := range []string{"", "200202", "639171234567", "Tom & Jerry"} {
			client, mock := mocked(t)
			answering(mock, status, fmt.Sprintf(echo, code))
			for _, send := range complete {
				for _, ctx := range []context.Context{t.Context(), ended} {
					err := send(ctx, client)
					require.Error(t, err, "%d %s", status, code)
					all = append(all, err)
				}
			}
		}
	}
	for _, body := range []string{"Tom & Jerry +639171234567", `{"id":"Tom & Jerry"`, ""} {
		client, mock := mocked(t)
		answering(mock, http.StatusOK, body)
		for _, send := range complete {
			err := send(t.Context(), client)
			require.Error(t, err)
			all = append(all, err)
		}
	}
	client, _ := mocked(t)
	wrong := message
	wrong.To, wrong.Text, wrong.CallbackURL = "+639171234567 SECRET", "Jerry\xff", "shop.example.com/SECRET"
	wrong.Extra = map[string]any{"to": "SECRET"}
	_, err := client.SMS.Send(t.Context(), wrong)
	require.Error(t, err)
	wrong1 := chatapp1.New("\xffSECRET", "+639171234567 SECRET").Template(chatapp1.Template{ID: "Jerry\xff", Language: "Jerry\xff", Params: map[string]string{"a": "Jerry\xff"}})
	_, err1 := client.ChatApp1.Send(t.Context(), wrong1.WithFallback(sms.Fallback{From: "Jerry\xff", Text: "Jerry\xff"}).WithCallback("shop.example.com/SECRET"))
	require.Error(t, err1)
	_, errRaw := client.ChatApp1.Send(t.Context(), chatapp1.New("c", "12345").Raw(map[string]any{"to": "SECRET", "f": func() {}}))
	require.Error(t, errRaw)
	wrong2 := chatMessage2
	wrong2.To, wrong2.Content, wrong2.CallbackURL = "+639171234567 SECRET", chatapp2.Image{Media: chatapp2.Media{ID: "SECRET", Link: "shop.example.com"}}, "shop.example.com/SECRET"
	wrong2.Extra = map[string]any{"ttl": "SECRET", "type": "SECRET"}
	_, err2 := client.ChatApp2.Send(t.Context(), wrong2)
	require.Error(t, err2)
	all = append(all, err1, errRaw, err2)
	_, construction := messaging.NewClient("https://user:SECRET@shop.example.com?token=SECRET", messaging.WithToken("SECRET\n"), messaging.WithAPIKey(" SECRET", ""))
	require.Error(t, construction)
	return append(all, err, construction)
}
