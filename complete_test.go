package messaging_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A field without a tag would be stored under its Go name, which is not to be changed again.
func TestMessagesHaveAKeyInStorageForEachField(t *testing.T) {
	t.Parallel()
	for _, message := range []any{sms.Message{}, sms.Fallback{}, chatapp1.Message{}} {
		for field := range reflect.TypeOf(message).Fields() {
			if !field.IsExported() {
				continue
			}
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			assert.True(t, strings.EqualFold(key, field.Name) && key != field.Name, "the tag json of %T.%s", message, field.Name)
		}
	}
}

// A duration that one side counts in seconds and the other in minutes would reach no test of either.
func TestServerReadsEveryDurationOfAMessage(t *testing.T) {
	t.Parallel()
	const want = 2 * time.Minute
	app1 := chatapp1.Message{ChannelID: "channel-1", To: "+639171234567", Payload: chatapp1.Text{Body: "Hi"}}
	app2 := chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Hi"}}
	text := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"}
	for _, message := range []any{&text, &app1, &app2} {
		for field, value := range reflect.ValueOf(message).Elem().Fields() {
			if field.Type != reflect.TypeFor[time.Duration]() {
				continue
			}
			value.SetInt(int64(want))
			srv := messagingtest.NewServer(t)
			client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
			require.NoError(t, err)
			switch m := message.(type) {
			case *sms.Message:
				_, err = client.SMS.Send(t.Context(), *m)
			case *chatapp1.Message:
				_, err = client.ChatApp1.Send(t.Context(), *m)
			case *chatapp2.Message:
				_, err = client.ChatApp2.Send(t.Context(), *m)
			}
			require.NoError(t, err)
			var got []time.Duration
			for _, value := range reflect.ValueOf(srv.Sent()[0]).Fields() {
				if d, ok := reflect.TypeAssert[time.Duration](value); ok {
					got = append(got, d)
				}
			}
			assert.Contains(t, got, want, "%T.%s", message, field.Name)
			value.SetZero()
		}
	}
}

// Every method that makes requests has an Example.
func TestServicesHaveExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		examples.Write(source)
	}
	for field := range reflect.TypeFor[messaging.Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		require.Positive(t, field.Type.NumMethod(), field.Name)
		for method := range field.Type.Methods() {
			if method.Name != "Validate" {
				name := "Example" + field.Type.Elem().Name() + "_" + method.Name
				assert.True(t, strings.Contains(examples.String(), "func "+name+"()"), name) //nolint:testifylint // it would print them all
			}
		}
	}
}
