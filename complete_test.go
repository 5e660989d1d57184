package messaging_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A field without a tag would be stored under its Go name, which is not to be changed again.
func TestMessagesHaveAKeyInStorageForEachField(t *testing.T) {
	t.Parallel()
	for _, channel := range channeltest.Channels() {
		assertStored(t, reflect.TypeOf(channel.Message(chatNumber, "Hi", "order-17")))
	}
}

// assertStored checks the tags of a message, and of what it points to. A message with no tag at all is stored in the platform's shape.
func assertStored(t *testing.T, message reflect.Type) {
	t.Helper()
	isTagged := func(field reflect.StructField) bool { return field.Tag.Get("json") != "" }
	fields := reflect.VisibleFields(message)
	for _, field := range fields {
		if inner := field.Type; inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct {
			assertStored(t, inner.Elem())
		}
		if field.IsExported() && slices.ContainsFunc(fields, isTagged) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			assert.True(t, strings.EqualFold(key, field.Name) && key != field.Name, "the tag json of %v.%s", message, field.Name)
		}
	}
}

func TestMessagesKeepEveryFieldInStorage(t *testing.T) {
	t.Parallel()
	for _, channel := range channeltest.Channels() {
		message := channel.Message(chatNumber, "Hi", "order-17")
		whole := reflect.New(reflect.TypeOf(message))
		whole.Elem().Set(reflect.ValueOf(message))
		setAll(t, whole.Elem())
		stored, err := json.Marshal(whole.Interface())
		require.NoError(t, err)
		got := reflect.New(whole.Type().Elem())
		require.NoError(t, json.Unmarshal(stored, got.Interface()))
		assert.Equal(t, whole.Interface(), got.Interface(), "%s: a field is lost in storage", channel.Name)
	}
}

// setAll sets every exported field of a struct that is zero, and of the structs in it.
func setAll(t *testing.T, to reflect.Value) {
	t.Helper()
	for field, value := range to.Fields() {
		switch {
		case !field.IsExported():
		case value.Kind() == reflect.Struct:
			setAll(t, value)
		case !value.IsZero():
		case value.Kind() == reflect.Pointer && value.Type().Elem().Kind() == reflect.Struct:
			value.Set(reflect.New(value.Type().Elem()))
			setAll(t, value.Elem())
		case value.Kind() == reflect.Pointer:
			value.Set(reflect.New(value.Type().Elem()))
		case value.Kind() == reflect.String:
			value.SetString("x")
		case value.CanInt():
			value.SetInt(int64(2 * time.Minute))
		case value.Kind() == reflect.Bool:
			value.SetBool(true)
		case value.Kind() == reflect.Map:
			value.Set(reflect.MakeMap(value.Type()))
			value.SetMapIndex(reflect.ValueOf("x"), reflect.ValueOf("y"))
		default:
			require.Failf(t, "no value", "%v: extend setAll by a %v", field.Name, value.Type())
		}
	}
}

// A duration that one side counts in seconds and the other in minutes would reach no test of either.
func TestServerReadsEveryDurationOfAMessage(t *testing.T) {
	t.Parallel()
	for _, channel := range channeltest.Channels() {
		message := reflect.ValueOf(channel.Message(chatNumber, "Hi", "order-17"))
		for _, field := range reflect.VisibleFields(message.Type()) {
			if field.Type == reflect.TypeFor[time.Duration]() {
				assert.True(t, readsDuration(t, channel, message, field), "%s: %s", channel.Name, field.Name)
			}
		}
	}
}

// readsDuration reports whether the test server reads the duration that a message is sent with: the first that the client takes.
func readsDuration(t *testing.T, channel channeltest.Channel, message reflect.Value, field reflect.StructField) bool {
	t.Helper()
	srv := messagingtest.NewServer(t)
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	require.NoError(t, err)
	for _, want := range []time.Duration{2 * time.Minute, 2 * time.Second, 2 * time.Hour, 48 * time.Hour} {
		changed := reflect.New(message.Type()).Elem()
		changed.Set(message)
		changed.FieldByIndex(field.Index).SetInt(int64(want))
		_, err = channel.SendMessage(t.Context(), client, changed.Interface())
		if errors.Is(err, messaging.ErrInvalid) {
			continue
		}
		require.NoError(t, err)
		for _, value := range reflect.ValueOf(srv.Sent()[0]).Fields() {
			if d, ok := reflect.TypeAssert[time.Duration](value); ok && d == want {
				return true
			}
		}
		return false
	}
	return false
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
