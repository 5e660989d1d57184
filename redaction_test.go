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
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
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
		for _, send := range complete {
			failed := send(t.Context(), client) // the source has issued its token by now
			require.Error(t, failed)
			assertSilent(t, shown(t, failed, true))
		}
		for _, v := range []any{client, *client, client.SMS, *client.SMS, client.ChatApp1, *client.ChatApp1, client.ChatApp2, *client.ChatApp2} {
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
