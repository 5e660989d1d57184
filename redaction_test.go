package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
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

func TestNothingThatIsPrintedShowsASecretOrWhatBelongsToARecipient(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	inQuery, err := contract.Parse([]byte(`{"auth":{"keyPair":{"in":"query"}}}`))
	require.NoError(t, err)
	options := map[string]messaging.Option{
		"token":  messaging.WithToken("tok-SECRET"),
		"source": messaging.WithTokenSource(issue("tok-SECRET")),
		"pair":   messaging.WithAPIKey("key-SECRET", "pair-SECRET"),
		"basic":  messaging.WithAuth(messaging.Basic("user-SECRET", "SECRET")),
	}
	for name, option := range options {
		assertSilent(t, shown(t, option, true))
		client, err := messaging.NewClient(baseURL, option, messaging.WithHTTPClient(&http.Client{Jar: jar, Transport: leaky{}}), messaging.WithContract(inQuery))
		require.NoError(t, err, name)
		_, failed := client.SMS.Send(t.Context(), message) // the source has issued its token by now
		require.Error(t, failed)
		for _, v := range []any{client, *client, client.SMS, *client.SMS, failed} {
			assertSilent(t, shown(t, v, true))
		}
	}
	assertSilent(t, shown(t, messaging.Basic("user-SECRET", "SECRET"), true))
	assertSilent(t, shown(t, messaging.Token{Value: "tok-SECRET", Expiry: time.Now()}, false))
	for _, err := range everyError(t) {
		assertSilent(t, shown(t, err, true))
		assertSilent(t, fmt.Sprintf("%v %+v %#v %s %q", fmt.Errorf("wrapped: %w", err), fmt.Errorf("wrapped: %w", err), fmt.Errorf("wrapped: %w", err), fmt.Errorf("wrapped: %w", err), errors.Join(err)))
		if e, ok := errors.AsType[*messaging.Error](err); ok {
			assertSilent(t, shown(t, *e, false))
		}
	}
}

func TestAPrintedMessageOrReceiptShowsMeasuresOnly(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	answering(mock, http.StatusOK, `{"id":"m-1","to":"+639171234567","text":"Tom & Jerry"}`)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	for _, v := range []any{message, &message, receipt, &receipt} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			assertSilent(t, fmt.Sprintf(verb, v))
		}
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Info("shown", "value", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("shown", "value", v)
		assertSilent(t, out.String())
	}
	assert.Equal(t, `sms.Message{From: 4 characters, To: 13 characters, Text: 17 characters, CallbackURL: 53 characters, ReferenceID: 8 characters}`, fmt.Sprint(message))
	assert.Contains(t, fmt.Sprint(receipt), `ID: "m-1"`)
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
			for _, ctx := range []context.Context{t.Context(), ended} {
				_, err := client.SMS.Send(ctx, message)
				require.Error(t, err, "%d %s", status, code)
				all = append(all, err)
			}
		}
	}
	for _, body := range []string{"Tom & Jerry +639171234567", `{"id":"Tom & Jerry"`, ""} {
		client, mock := mocked(t)
		answering(mock, http.StatusOK, body)
		_, err := client.SMS.Send(t.Context(), message)
		require.Error(t, err)
		all = append(all, err)
	}
	client, _ := mocked(t)
	wrong := message
	wrong.To, wrong.Text, wrong.CallbackURL = "+639171234567 SECRET", "Jerry\xff", "shop.example.com/SECRET"
	wrong.Extra = map[string]any{"to": "SECRET"}
	_, err := client.SMS.Send(t.Context(), wrong)
	require.Error(t, err)
	_, construction := messaging.NewClient("https://user:SECRET@shop.example.com?token=SECRET", messaging.WithToken("SECRET\n"), messaging.WithAPIKey(" SECRET", ""))
	require.Error(t, construction)
	return append(all, err, construction)
}
