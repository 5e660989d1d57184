package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
)

// overlay makes an option of a contract overlay.
func overlay(t *testing.T, text string) messaging.Option {
	t.Helper()
	names, err := contract.Parse([]byte(text))
	require.NoError(t, err)
	return messaging.WithContract(names)
}

func TestCredentialsOnTheWire(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		option  messaging.Option
		overlay string
		header  map[string]string
		query   string
		body    map[string]any // members next to the message
	}{
		"token":            {messaging.WithToken("T"), `{}`, map[string]string{"Authorization": "Bearer T"}, "", nil},
		"other scheme":     {messaging.WithToken("T"), `{"auth":{"token":{"scheme":"Token"}}}`, map[string]string{"Authorization": "Token T"}, "", nil},
		"no scheme":        {messaging.WithToken("T"), `{"auth":{"token":{"scheme":""}}}`, map[string]string{"Authorization": "T"}, "", nil},
		"other header":     {messaging.WithToken("T"), `{"auth":{"token":{"header":"x-api-token","scheme":""}}}`, map[string]string{"X-Api-Token": "T"}, "", nil},
		"source":           {messaging.WithTokenSource(issue("T")), `{"auth":{"token":{"scheme":""}}}`, map[string]string{"Authorization": "T"}, "", nil},
		"pair in body":     {messaging.WithAPIKey("K", `S"&`), `{}`, nil, "", map[string]any{"apiKey": "K", "apiSecret": `S"&`}},
		"pair in query":    {messaging.WithAPIKey("K", "S&"), `{"auth":{"keyPair":{"in":"query","key":"user"}}}`, nil, "user=K&apiSecret=S%26", nil},
		"pair in header":   {messaging.WithAPIKey("K", "S"), `{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":"X-Secret"}}}`, map[string]string{"X-Key": "K", "X-Secret": "S"}, "", nil},
		"pair as basic":    {messaging.WithAPIKey("K", "S"), `{"auth":{"keyPair":{"in":"basic"}}}`, map[string]string{"Authorization": "Basic SzpT"}, "", nil},
		"pair nested":      {messaging.WithAPIKey("K", "S"), `{"auth":{"keyPair":{"key":"auth.k","secret":"auth.s"}}}`, nil, "", map[string]any{"auth": map[string]any{"k": "K", "s": "S"}}},
		"basic":            {messaging.WithBasicAuth("u", "p:p"), `{}`, map[string]string{"Authorization": "Basic dTpwOnA="}, "", nil},
		"function":         {messaging.WithAuth(sign), `{}`, map[string]string{"X-Signature": "POST /sms/send 66"}, "", nil},
		"for sms":          {messaging.WithBasicAuth("u", "p", messaging.ChannelSMS), `{}`, map[string]string{"Authorization": "Basic dTpw"}, "", nil},
		"for another only": {messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1), `{}`, map[string]string{"Authorization": "Bearer tok-SECRET"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, mock := mocked(t, tt.option, overlay(t, tt.overlay))
			requests := responding(mock, http.StatusOK, `{"id":"m"}`)
			_, err := client.SMS.Send(t.Context(), one)
			require.NoError(t, err)
			r := (*requests)[0]
			header := map[string]string{}
			for field := range r.Header {
				switch field {
				case "Accept", "Content-Type", "User-Agent":
				default:
					header[field] = r.Header.Get(field)
				}
			}
			if tt.header == nil {
				tt.header = map[string]string{}
			}
			assert.Equal(t, tt.header, header)
			assert.Equal(t, tt.query, r.URL.RawQuery)
			want := map[string]any{"from": one.From, "to": one.To, "text": one.Text, "referenceId": one.ReferenceID}
			maps.Copy(want, tt.body)
			raw, _ := io.ReadAll(r.Body)
			var got map[string]any
			require.NoError(t, json.Unmarshal(raw, &got))
			assert.Equal(t, want, got)
		})
	}
}

func issue(value string) func(context.Context) (messaging.Token, error) {
	return func(context.Context) (messaging.Token, error) { return messaging.Token{Value: value}, nil }
}

// sign is what a user's signature looks like: it sees method, path and body of the finished request.
func sign(r *http.Request) error {
	body, err := r.GetBody()
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(body)
	r.Header.Set("X-Signature", fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, len(raw)))
	return err
}

func TestSendWithoutCredentialsForTheChannel(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient(baseURL, messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp2))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
	assert.ErrorContains(t, err, "no credentials for sms")
}

func TestAuthFailureSendsNothing(t *testing.T) {
	t.Parallel()
	secret := errors.New("the vault said SECRET")
	for name, option := range map[string]messaging.Option{
		"function":  messaging.WithAuth(func(*http.Request) error { return secret }),
		"source":    messaging.WithTokenSource(func(context.Context) (messaging.Token, error) { return messaging.Token{}, secret }),
		"no token":  messaging.WithTokenSource(issue("")),
		"bad token": messaging.WithTokenSource(issue("SECRET\r\nX-Injected: 1")),
		"a scheme":  messaging.WithTokenSource(issue("bearer SECRET")),
		"host": messaging.WithAuth(func(r *http.Request) error {
			r.URL = &url.URL{Scheme: "https", Host: "evil.example.com", Path: "/sms/send"}
			return nil
		}),
		"plain": messaging.WithAuth(func(r *http.Request) error { r.URL.Scheme = "http"; return nil }),
		"header": messaging.WithAuth(func(r *http.Request) error {
			r.Header["X-A"] = []string{"SECRET\n"}
			return nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, mock := mocked(t, option)
			responding(mock, http.StatusOK, `{"id":"m"}`)
			_, err := client.SMS.Send(t.Context(), message)
			require.Error(t, err)
			assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err), "%v", err)
			assert.Zero(t, mock.GetTotalCallCount())
			assertSilent(t, fmt.Sprintf("%v %+v %#v", err, err, err))
			if name == "function" || name == "source" {
				assert.ErrorIs(t, err, secret, "the cause is there for those who ask")
			}
		})
	}
}

func TestAuthRunsForEachAttempt(t *testing.T) {
	t.Parallel()
	calls := 0
	client, mock := mocked(t, messaging.WithAuth(func(r *http.Request) error {
		calls++
		r.Header.Add("X-Attempt", fmt.Sprint(calls))
		return nil
	}))
	requests := responding(mock, http.StatusTooManyRequests, ``)
	_, err := client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrRateLimited)
	require.Len(t, *requests, 3)
	for i, r := range *requests {
		assert.Equal(t, []string{fmt.Sprint(i + 1)}, r.Header["X-Attempt"])
	}
}

func TestTokenSourceRefreshesAfter401(t *testing.T) {
	t.Parallel()
	issued := 0
	client, mock := mocked(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			issued++
			return messaging.Token{Value: fmt.Sprint("t-", issued), Expiry: time.Now().Add(time.Hour)}, nil
		}))
	requests := responding(mock, http.StatusUnauthorized, ``)
	_, err := client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrUnauthorized)
	require.Len(t, *requests, 2)
	assert.Equal(t, "Bearer t-1", (*requests)[0].Header.Get("Authorization"))
	assert.Equal(t, "Bearer t-2", (*requests)[1].Header.Get("Authorization"))
	responding(mock, http.StatusOK, `{"id":"m"}`)
	for range 3 {
		_, err = client.SMS.Send(t.Context(), message)
		require.NoError(t, err)
	}
	assert.Equal(t, 2, issued)
}

// The token may have expired, so nothing is wrong with the account until a fresh one is refused, too.
func TestSendCanBeRepeatedIfItGotNoFreshTokenAfter401(t *testing.T) {
	t.Parallel()
	issued := 0
	client, mock := mocked(t, messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
		issued++
		if issued > 1 {
			return messaging.Token{}, errors.New("the issuer is down")
		}
		return messaging.Token{Value: "t", Expiry: time.Now().Add(time.Hour)}, nil
	}))
	requests := responding(mock, http.StatusUnauthorized, ``)
	_, err := client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrUnauthorized)
	require.Len(t, *requests, 1)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
	_, retryable := messaging.Retryable(err)
	assert.True(t, retryable)
	assert.False(t, messaging.IsAccountProblem(err))
}

func TestNewClientFromEnvSaysWhichContractNeedsASecret(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	require.NoError(t, os.WriteFile(empty, []byte("{}"), 0o600))
	other, err := contract.Parse([]byte(`{"auth":{"keyPair":{"secret":"password"}}}`))
	require.NoError(t, err)
	const isUnset = "MESSAGING_CONTRACT is not set"
	for name, tt := range map[string]struct {
		file    string
		options []messaging.Option
		isUnset bool
	}{
		"default contract":         {isUnset: true},
		"contract of a file":       {file: empty},
		"contract of an option":    {options: []messaging.Option{messaging.WithContract(other)}},
		"key pair of an option":    {options: []messaging.Option{messaging.WithAPIKey("k", "")}},
		"default contract, option": {options: []messaging.Option{messaging.WithContract(contract.Default())}, isUnset: true},
	} {
		t.Setenv("MESSAGING_BASE_URL", baseURL)
		t.Setenv("MESSAGING_TOKEN", "")
		t.Setenv("MESSAGING_API_KEY", "k")
		t.Setenv("MESSAGING_API_SECRET", "")
		t.Setenv("MESSAGING_CONTRACT", tt.file)
		_, err := messaging.NewClientFromEnv(tt.options...)
		require.ErrorContains(t, err, "needs a secret, too", name)
		assert.Equal(t, tt.isUnset, strings.Contains(err.Error(), isUnset), name)
	}
}
