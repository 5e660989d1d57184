package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const baseURL = "https://api.example.com"

// noContext is a nil context that linters do not see.
var noContext context.Context

// one is a small message with a reference ID.
var one = sms.Message{From: "ACME", To: "639171234567", Text: "x", ReferenceID: "r-1"}

// message is valid and has every field.
var message = sms.Message{
	From: "ACME", To: "+639171234567", Text: "Tom & <Jerry> é 😀", ReferenceID: "order-17",
	CallbackURL: "https://shop.example.com/dlr?status=%s&id=%i&type=%tr",
}

// mocked returns a client and the mock that responds to its requests.
func mocked(t *testing.T, options ...messaging.Option) (*messaging.Client, *httpmock.MockTransport) {
	t.Helper()
	mock := httpmock.NewMockTransport()
	options = append([]messaging.Option{
		messaging.WithToken("tok-SECRET"), messaging.WithHTTPClient(&http.Client{Transport: mock}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}),
	}, options...)
	client, err := messaging.NewClient(baseURL, options...)
	require.NoError(t, err)
	return client, mock
}

// responding registers the response to every send, and returns the requests as they come.
func responding(mock *httpmock.MockTransport, status int, body string) *[]*http.Request {
	var mu sync.Mutex
	requests := new([]*http.Request)
	mock.RegisterResponder(http.MethodPost, `=~/send$`, func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		*requests = append(*requests, r)
		return httpmock.NewStringResponse(status, body), nil
	})
	return requests
}

func TestNewClientChecksTheBaseURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		baseURL, baseURL + "/", baseURL + "/v1", "https://api.example.com:8443", "HTTPS://api.example.com",
		"http://127.0.0.1:8080", "http://127.9.9.9", "http://localhost:1", "http://[::1]:8080",
	} {
		_, err := messaging.NewClient(good, messaging.WithToken("t"))
		require.NoError(t, err, good)
	}
	for _, bad := range []string{
		"", "api.example.com", "/relative", "ftp://api.example.com", "https://", "https://:443", "https:api.example.com",
		"https://user:SECRET@api.example.com", "https://SECRET@api.example.com", "https://api.example.com/?key=SECRET",
		"https://api.example.com/?", "https://api.example.com/#", "https://api.example.com/#SECRET", "https://api example.com",
		"https://api.example.com:SECRET", "http://api.example.com", "http://localhost.example.com", "http://10.0.0.1",
	} {
		_, err := messaging.NewClient(bad, messaging.WithToken("t"))
		var v *messaging.ValidationError
		require.ErrorAs(t, err, &v, bad)
		assert.Equal(t, "baseURL", v.Field, bad)
		assert.NotContains(t, err.Error(), "SECRET")
	}
	_, err := messaging.NewClient("http://gateway.internal", messaging.WithToken("t"), messaging.WithPlainHTTP())
	require.NoError(t, err)
}

func TestNewClientKeepsABasePath(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"/gateway/v1", "/gateway/v1/"} {
		mock := httpmock.NewMockTransport()
		requests := responding(mock, http.StatusOK, `{"id":"m"}`)
		client, err := messaging.NewClient(baseURL+base, messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: mock}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, baseURL+"/gateway/v1/sms/send", (*requests)[0].URL.String())
	}
}

func TestNewClientNeedsCredentials(t *testing.T) {
	t.Parallel()
	_, err := messaging.NewClient(baseURL)
	require.ErrorIs(t, err, messaging.ErrInvalid)
	assert.ErrorContains(t, err, "credentials")
}

func TestNewClientRejectsBadOptionsTogether(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]messaging.Option{
		"WithToken":         messaging.WithToken(""),
		"WithToken ":        messaging.WithToken("a\nb"),
		"WithToken  ":       messaging.WithToken(" padded "),
		"WithToken 0":       messaging.WithToken("Bearer t"),
		"WithToken 00":      messaging.WithToken("bEARER t"),
		"WithTokenSource":   messaging.WithTokenSource(nil),
		"WithAPIKey":        messaging.WithAPIKey("", "s"),
		"WithAPIKey ":       messaging.WithAPIKey("k", ""),
		"WithAuth":          messaging.WithAuth(nil),
		"WithBasicAuth":     messaging.WithBasicAuth("u", "p", messaging.Channel(0)),
		"WithBasicAuth 0":   messaging.WithBasicAuth("u", "p", messaging.Channel(9)),
		"WithBasicAuth 00":  messaging.WithBasicAuth("a:b", "p"),
		"WithBasicAuth 000": messaging.WithBasicAuth("", "p"),
		"WithHTTPClient":    messaging.WithHTTPClient(nil),
		"WithHTTPClient ":   messaging.WithHTTPClient(&http.Client{Timeout: -1}),
		"WithTimeout":       messaging.WithTimeout(0),
		"WithTimeout ":      messaging.WithTimeout(-time.Second),
		"WithRetry":         messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: -1}),
		"WithRetry ":        messaging.WithRetry(messaging.RetryPolicy{MinWait: -1}),
		"WithRetry  ":       messaging.WithRetry(messaging.RetryPolicy{MinWait: 2 * time.Second, MaxWait: time.Second}),
		"WithRateLimit":     messaging.WithRateLimit(0, 1),
		"WithRateLimit ":    messaging.WithRateLimit(math.NaN(), 1),
		"WithRateLimit  ":   messaging.WithRateLimit(math.Inf(1), 1),
		"WithRateLimit 0":   messaging.WithRateLimit(1, 0),
		"WithLogger":        messaging.WithLogger(nil),
		"options[1]":        nil,
	} {
		_, err := messaging.NewClient(baseURL, messaging.WithToken("t"), option)
		var v *messaging.ValidationError
		if assert.ErrorAs(t, err, &v, name) {
			assert.Equal(t, strings.TrimRight(name, " 0"), v.Field)
			assert.NotEmpty(t, v.Reason)
		}
	}
	_, err := messaging.NewClient("", messaging.WithTimeout(-1), messaging.WithRateLimit(0, 1))
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Len(t, v.Problems, 4, "timeout, response size, base URL and credentials in one error: %v", err)
}

func TestOptionsLastOneWins(t *testing.T) {
	t.Parallel()
	overlay, err := contract.Parse([]byte(`{"auth":{"token":{"header":"X-Token","scheme":""}}}`))
	require.NoError(t, err)
	for _, options := range [][]messaging.Option{
		{messaging.WithContract(overlay), messaging.WithToken("old"), messaging.WithToken("new")},
		{messaging.WithToken("old"), messaging.WithAPIKey("k", "s"), messaging.WithToken("new"), messaging.WithContract(overlay)},
	} {
		client, mock := mocked(t, options...)
		requests := responding(mock, http.StatusOK, `{"id":"m"}`)
		_, err = client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
		assert.Equal(t, []string{"new"}, (*requests)[0].Header["X-Token"])
		assert.Empty(t, (*requests)[0].Header.Get("Authorization"))
	}
}

func TestWithSharesConnections(t *testing.T) {
	t.Parallel()
	var connections sync.Map
	var isSlow atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		if isSlow.Load() {
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		}
		_, _ = w.Write([]byte(`{"id":"m"}`))
	}))
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken("t"), messaging.WithRateLimit(1000, 3))
	require.NoError(t, err)
	same, err := client.With(messaging.WithTimeout(time.Minute))
	require.NoError(t, err)
	fast, err := client.With(messaging.WithTimeout(50 * time.Millisecond))
	require.NoError(t, err)

	for _, c := range []*messaging.Client{client, same, client} {
		_, err = c.SMS.Send(t.Context(), message)
		require.NoError(t, err)
	}
	count := 0
	connections.Range(func(any, any) bool { count++; return true })
	assert.Equal(t, 1, count, "connections")
	isSlow.Store(true)
	_, err = fast.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))

	_, err = client.With(messaging.WithTimeout(-1))
	require.ErrorIs(t, err, messaging.ErrInvalid)
}

func TestWithSharesTheRateLimit(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, messaging.WithRateLimit(0.001, 2))
	responding(mock, http.StatusOK, `{"id":"m"}`)
	derived, err := client.With(messaging.WithTimeout(time.Second))
	require.NoError(t, err)
	for _, c := range []*messaging.Client{client, derived} {
		_, err = c.SMS.Send(t.Context(), message)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = derived.SMS.Send(ctx, message)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 2, mock.GetTotalCallCount())
}

func TestNewClientFromEnv(t *testing.T) {
	service := messagingtest.NewServer(t)
	overlay := filepath.Join(t.TempDir(), "contract.json")
	require.NoError(t, os.WriteFile(overlay, []byte(`{"sms.send":{"fields":{"text":"text"}}}`), 0o600))
	oneKey := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(oneKey, []byte(`{"auth":{"keyPair":{"secret":""}}}`), 0o600))
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"sms.sned":{}}`), 0o600))
	for name, tt := range map[string]struct {
		set   map[string]string
		field string // of the error, or ""
	}{
		"token":                    {map[string]string{"MESSAGING_TOKEN": service.Token}, ""},
		"key pair":                 {map[string]string{"MESSAGING_API_KEY": service.APIKey, "MESSAGING_API_SECRET": service.APISecret}, ""},
		"contract":                 {map[string]string{"MESSAGING_TOKEN": service.Token, "MESSAGING_CONTRACT": overlay}, ""},
		"no credentials":           {nil, "MESSAGING_TOKEN"},
		"an invalid base URL":      {map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_BASE_URL": "x"}, "MESSAGING_BASE_URL"},
		"a token with white space": {map[string]string{"MESSAGING_TOKEN": "t "}, "MESSAGING_TOKEN"},
		"a key with white space":   {map[string]string{"MESSAGING_API_KEY": "k ", "MESSAGING_API_SECRET": "s"}, "MESSAGING_API_KEY"},
		"a secret with a break":    {map[string]string{"MESSAGING_API_KEY": "k", "MESSAGING_API_SECRET": "s\n"}, "MESSAGING_API_SECRET"},
		"no base URL":              {map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_BASE_URL": ""}, "MESSAGING_BASE_URL"},
		"key alone":                {map[string]string{"MESSAGING_API_KEY": "k"}, "MESSAGING_API_SECRET"},
		"key with a secret, contract without": {
			map[string]string{"MESSAGING_API_KEY": "k", "MESSAGING_API_SECRET": "s", "MESSAGING_CONTRACT": oneKey}, "MESSAGING_API_SECRET",
		},
		"secret alone":       {map[string]string{"MESSAGING_API_SECRET": "s"}, "MESSAGING_API_KEY"},
		"two kinds":          {map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_API_KEY": "k"}, "MESSAGING_TOKEN"},
		"contract not there": {map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_CONTRACT": overlay + "x"}, "MESSAGING_CONTRACT"},
		"contract broken":    {map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_CONTRACT": broken}, "MESSAGING_CONTRACT"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT"} {
				t.Setenv(variable, tt.set[variable])
			}
			t.Setenv("MESSAGING_BASE_URL", service.URL)
			if empty, ok := tt.set["MESSAGING_BASE_URL"]; ok {
				t.Setenv("MESSAGING_BASE_URL", empty)
			}
			client, err := messaging.NewClientFromEnv()
			if tt.field != "" {
				var v *messaging.ValidationError
				require.ErrorAs(t, err, &v)
				assert.Equal(t, tt.field, v.Field)
				return
			}
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), message)
			require.NoError(t, err)
		})
	}
}

// A contract with a key alone must not send anyone to look for a secret.
func TestNewClientFromEnvAsksForTheCredentialsOfTheContract(t *testing.T) {
	oneKey := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(oneKey, []byte(`{"auth":{"keyPair":{"secret":""}}}`), 0o600))
	t.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
	for _, variable := range []string{"MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET"} {
		t.Setenv(variable, "")
	}
	for path, want := range map[string]string{
		"":     "set it, or MESSAGING_API_KEY and MESSAGING_API_SECRET, or use an option",
		oneKey: "set it, or MESSAGING_API_KEY, or use an option",
	} {
		t.Setenv("MESSAGING_CONTRACT", path)
		_, err := messaging.NewClientFromEnv()
		assert.ErrorContains(t, err, want)
	}
}

func TestNewClientFromEnvReportsAllProblems(t *testing.T) {
	for name, tt := range map[string]struct {
		set     map[string]string
		options []messaging.Option
		want    []string // fields
	}{
		"nothing set":              {nil, nil, []string{"MESSAGING_BASE_URL", "MESSAGING_TOKEN"}},
		"nothing set, credentials": {nil, []messaging.Option{messaging.WithToken("t")}, []string{"MESSAGING_BASE_URL"}},
		"a bad option as well": {
			map[string]string{"MESSAGING_API_SECRET": "s"},
			[]messaging.Option{messaging.WithTimeout(-1)},
			[]string{"WithTimeout", "MESSAGING_API_KEY", "MESSAGING_BASE_URL"},
		},
		"no contract, and a key": {
			map[string]string{"MESSAGING_CONTRACT": "/hunter2", "MESSAGING_API_KEY": "k"}, nil, []string{"MESSAGING_CONTRACT", "MESSAGING_BASE_URL"},
		},
		"two kinds of credentials": {
			map[string]string{"MESSAGING_TOKEN": "t", "MESSAGING_API_KEY": "k"}, nil, []string{"MESSAGING_TOKEN", "MESSAGING_BASE_URL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{
				"MESSAGING_BASE_URL", "MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT",
			} {
				t.Setenv(variable, tt.set[variable])
			}
			_, err := messaging.NewClientFromEnv(tt.options...)
			var invalid *messaging.ValidationError
			require.ErrorAs(t, err, &invalid)
			var fields []string
			for _, p := range invalid.Problems {
				fields = append(fields, p.Field)
			}
			assert.ElementsMatch(t, tt.want, fields)
		})
	}
}

func TestVariables(t *testing.T) {
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/{account}/a.{zone_2}.json"}, "sms.list": {"path": "/{account}"}}`))
	require.NoError(t, err)
	service := messagingtest.NewServer(t, messagingtest.WithContract(names))
	var paths []string
	wrap := func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			paths = append(paths, r.URL.EscapedPath())
			return base.RoundTrip(r)
		})
	}
	file := filepath.Join(t.TempDir(), "contract.json")
	overlay, err := json.Marshal(names)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	t.Setenv("MESSAGING_CONTRACT", file)
	t.Setenv("MESSAGING_BASE_URL", service.URL)
	t.Setenv("MESSAGING_TOKEN", service.Token)
	t.Setenv("MESSAGING_API_KEY", "")
	t.Setenv("MESSAGING_API_SECRET", "")
	t.Setenv("MESSAGING_VAR_ACCOUNT", "")
	t.Setenv("MESSAGING_VAR_ZONE_2", "eu")
	var wrong *messaging.ValidationError
	_, err = messaging.NewClientFromEnv()
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, []messaging.Problem{{
		Field: "MESSAGING_VAR_ACCOUNT", Reason: "required, but absent: paths of the contract have the variable {account}",
	}}, wrong.Problems)
	t.Setenv("MESSAGING_VAR_ACCOUNT", "..")
	_, err = messaging.NewClientFromEnv()
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "MESSAGING_VAR_ACCOUNT", wrong.Field)

	t.Setenv("MESSAGING_VAR_ACCOUNT", "AC/1 é?")
	client, err := messaging.NewClientFromEnv(messaging.WithTransport(wrap))
	require.NoError(t, err)
	other, err := client.With(messaging.WithVariable("account", "AC-2"))
	require.NoError(t, err)
	for _, c := range []*messaging.Client{client, other} {
		_, err = c.SMS.Send(t.Context(), message)
		require.NoError(t, err)
	}
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"/AC%2F1%20%C3%A9%3F/a.eu.json", "/AC-2/a.eu.json", "/AC%2F1%20%C3%A9%3F"}, paths)

	for value, reason := range map[string]string{
		"": "empty", ".": "dots", "..": "dots", "/x": "host", `\x`: "backslash", "a/../b": "..", "a\nb": "control",
	} {
		_, err = messaging.NewClient(service.URL, messaging.WithToken("t"), messaging.WithVariable("account", value))
		require.ErrorContains(t, err, "WithVariable: the value of {account} ", "%q", value)
		assert.ErrorContains(t, err, reason, "%q", value)
	}
}

// A contract without a secret is for an account with one API key.
func TestAPIKeyWithoutASecret(t *testing.T) {
	for place, find := range map[string]func(r *http.Request, body string) string{
		"body":   func(_ *http.Request, body string) string { return body },
		"query":  func(r *http.Request, _ string) string { return r.URL.RawQuery },
		"header": func(r *http.Request, _ string) string { return fmt.Sprint(r.Header) },
	} {
		t.Run(place, func(t *testing.T) {
			client, err := messaging.NewClient(baseURL, messaging.WithAPIKey("key-1", ""),
				overlay(t, `{"auth":{"keyPair":{"in":"`+place+`","key":"Access-Key","secret":""}}}`),
				roundTripper(func(r *http.Request) (*http.Response, error) {
					var body []byte
					if r.Body != nil {
						body, _ = io.ReadAll(r.Body)
					}
					assert.Contains(t, find(r, string(body))+r.URL.RawQuery, "key-1")
					assert.NotContains(t, string(body)+r.URL.RawQuery, "apiSecret")
					assert.NotContains(t, string(body), `"":`)
					if r.Method == http.MethodGet {
						return respond(r, http.StatusOK, `{"data":[]}`), nil
					}
					return respond(r, http.StatusOK, accepted), nil
				}).option())
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), one)
			require.NoError(t, err)
			_, err = client.SMS.Find(t.Context(), "r-1")
			if place == "body" {
				require.ErrorIs(t, err, messaging.ErrInvalid, "a GET has none")
				return
			}
			require.ErrorIs(t, err, messaging.ErrNotListed)
		})
	}
	_, err := messaging.NewClient(baseURL, messaging.WithAPIKey("k", ""))
	require.EqualError(t, err, "messaging: WithAPIKey: needs a secret, too, because the contract has one (auth.keyPair.secret)")
	_, err = messaging.NewClient(baseURL, messaging.WithAPIKey("k", "s"), overlay(t, `{"auth":{"keyPair":{"secret":""}}}`))
	require.EqualError(t, err, "messaging: WithAPIKey: got a secret, but the contract has a key alone (auth.keyPair.secret)")
}

// A key pair without a stated place goes into the body of a send, and never into a URL.
func TestAPIKeyWithoutAPlaceForReads(t *testing.T) {
	client, mock := mocked(t, messaging.WithAPIKey("key-1", "SECRET"))
	responding(mock, http.StatusOK, accepted)
	_, err := client.SMS.Send(t.Context(), one)
	require.NoError(t, err)
	const want = `messaging: sms.list: contract: names no place for the key pair in a request without a body (auth.keyPair.in); ` +
		`write {"auth": {"keyPair": {"in": "header"}}}, or "basic", or "query" if the service accepts it in the URL only`
	_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Len(t, errs, 1)
	require.EqualError(t, errs[0], want)
	_, err = client.SMS.Find(t.Context(), "r-1")
	require.EqualError(t, err, want)
	_, err = client.SMS.SendOnce(t.Context(), one)
	require.EqualError(t, err, want)
	settling, err := client.With(messaging.WithSettle(messaging.SettlePolicy{}))
	require.NoError(t, err)
	for outcome := range settling.SMS.SendAll(t.Context(), slices.Values([]sms.Message{one}), 1) {
		require.EqualError(t, outcome.Err, want)
	}
	assert.Equal(t, 1, mock.GetTotalCallCount(), "nothing else was sent")
}

func TestWithHTTPClientDoesNotChangeTheClient(t *testing.T) {
	t.Parallel()
	mock := httpmock.NewMockTransport()
	responding(mock, http.StatusInternalServerError, "")
	user := &http.Client{Transport: mock, Timeout: time.Minute}
	before := *user
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithHTTPClient(user), messaging.WithTimeout(time.Second))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	require.Error(t, err)
	assert.Equal(t, before.Timeout, user.Timeout)
	assert.Same(t, before.Transport, user.Transport)
	assert.Nil(t, user.CheckRedirect)
	assert.Nil(t, user.Jar)
}

func TestWithHTTPClientTimeout(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	service.Inject(messagingtest.FaultSlow(time.Minute), 1)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithHTTPClient(&http.Client{Timeout: 50 * time.Millisecond}))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), message)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "50ms")
}

func TestWithLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client, mock := mocked(t, messaging.WithLogger(logger))
	responding(mock, http.StatusBadGateway, "")
	_, err := client.SMS.Send(t.Context(), message)
	require.Error(t, err)
	assert.Contains(t, out.String(), `level=DEBUG msg="messaging: attempt" operation=sms.send attempt=1 status=502`)
	assert.Contains(t, out.String(), `level=WARN msg="messaging: outcome unknown" error.operation=sms.send error.verdict=unknown error.reference_id=order-17 error.status=502`)
	assertSilent(t, out.String())
}

func TestLogHasEachAttempt(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level][]string{
		slog.LevelDebug: {
			`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=1 status=503 took=0s reason="messaging: sms.list failed: HTTP 503, unavailable"`,
			`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=2 status=0 took=0s error="dial tcp: connection refused" written=false`,
			`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=3 status=0 took=1s error="no complete response within the timeout of 1s" written=true`,
			`level=DEBUG msg="messaging: attempt" operation=sms.list attempt=4 status=200 took=250ms`,
			``,
		},
		slog.LevelInfo: {``},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			attempts := 0
			base := roundTripper(func(r *http.Request) (*http.Response, error) {
				attempts++
				switch attempts {
				case 1:
					return respond(r, http.StatusServiceUnavailable, ""), nil
				case 2:
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
				case 3:
					<-r.Context().Done()
					return nil, r.Context().Err()
				default:
					time.Sleep(250 * time.Millisecond)
					return respond(r, http.StatusOK, `{"data":[]}`), nil
				}
			})
			client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("SECRET"), messaging.WithLogger(logger),
				messaging.WithTimeout(time.Second), base.option())
			require.NoError(t, err)
			_, err = client.SMS.Find(t.Context(), "order-17")
			require.ErrorIs(t, err, messaging.ErrNotListed)
			assert.Equal(t, want, strings.Split(out.String(), "\n"))
		})
	}
}

// The log of an attempt says why the service said no, as far as it may be shown, and where a request went that found nothing.
func TestLogOfAnAttemptSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
		reason string // or "" if the attempt has none
	}{
		{http.StatusTooManyRequests, `{"code":"40002","message":"slow down"}`, `messaging: sms.send refused: HTTP 429, code 40002, rate limited, "slow down"`},
		{http.StatusBadRequest, `{"code":"200202","message":"not to +639171234567: Tom & <Jerry> é"}`, `messaging: sms.send refused: HTTP 400, code 200202, invalid, "not to +***"`},
		{http.StatusOK, `{"code":"200101","data":{"id":"m"}}`, "messaging: sms.send refused: HTTP 200, code 200101, insufficient balance"},
		{http.StatusNotFound, `<html>`, `messaging: sms.send has an unknown outcome: HTTP 404, a page responded to POST /sms/send: the base URL or the path may be wrong, not found, "<html>"`},
		{http.StatusOK, accepted, ""},
	} {
		var out bytes.Buffer
		client, mock := mocked(t, messaging.WithLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))),
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		responding(mock, tt.status, tt.body)
		_, err := client.SMS.Send(t.Context(), message)
		assert.Equal(t, tt.reason == "", err == nil)
		var record struct{ Msg, Reason string }
		require.NoError(t, json.NewDecoder(&out).Decode(&record))
		assert.Equal(t, "messaging: attempt", record.Msg)
		assert.Equal(t, tt.reason, record.Reason)
		assertSilent(t, out.String()+record.Reason)
	}
}

// assertSilent checks that a text shows no secret, number or content.
func assertSilent(t *testing.T, shown string) {
	t.Helper()
	for _, secret := range []string{"SECRET", "9171234567", "Jerry", "status=%s", "shop.example.com"} {
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret)} {
			if at := strings.Index(shown, form); at >= 0 {
				t.Errorf("shows %q: %.300s", secret, shown[max(0, at-150):])
			}
		}
	}
}
