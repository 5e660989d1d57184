package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

const secret = "s3cr3t"

func secretCall() wire.Call {
	return wire.Call{
		Op:        wire.SMSSend,
		Body:      &struct{ To, Text string }{"+639171234567", secret},
		Message:   []byte(`{"to":"+639171234567","text":"` + secret + `"}`),
		Extra:     map[string]any{secret: secret},
		ExtraName: secret,
		Reference: secret,
		Problems:  []wire.Problem{{Field: secret, Reason: secret}},
	}
}

// holders gives a call alone and where a caller may keep it.
func holders() map[string]any {
	call := secretCall()
	type holder struct {
		Name string
		Call wire.Call
	}
	type pointerHolder struct {
		Name string
		Call *wire.Call
	}
	type embedder struct{ wire.Call }
	type anyHolder struct{ Value any }
	return map[string]any{
		"value":                     call,
		"pointer":                   &call,
		"field":                     holder{"n", call},
		"field behind a pointer":    &holder{"n", call},
		"pointer field":             pointerHolder{"n", &call},
		"pointer behind a pointer":  &pointerHolder{"n", &call},
		"embedded":                  embedder{call},
		"field of interface type":   anyHolder{call},
		"pointer in an interface":   anyHolder{&call},
		"element of a slice":        []wire.Call{call},
		"pointer in a slice":        []*wire.Call{&call},
		"value of a map":            map[string]wire.Call{"k": call},
		"several levels of nesting": map[string]any{"k": []any{holder{"n", call}, &call}},
	}
}

func TestCallShowsNothingOfAMessageInAnyVerb(t *testing.T) {
	for name, value := range holders() {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%x", "%X", "% x", "%#x", "%t", "%10.3v", "%-20s", "%o", "%c", "%U", "%e"} {
			printed := fmt.Sprintf(verb, value)
			assert.NotContains(t, printed, secret, "%s as %s", name, verb)
			assert.NotContains(t, printed, "639171234567", "%s as %s", name, verb)
			assert.NotContains(t, printed, fmt.Sprintf("%x", secret), "%s as %s", name, verb)
			assert.NotContains(t, printed, fmt.Sprintf("%X", secret), "%s as %s", name, verb)
			assert.NotContains(t, printed, fmt.Sprintf("% x", secret), "%s as %s", name, verb)
			assert.NotContains(t, printed, fmt.Sprintf("%d", []byte(secret)), "%s as %s", name, verb)
		}
	}
}

func TestCallPrintsItsOperation(t *testing.T) {
	call := secretCall()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%x"} {
		assert.Equal(t, "wire.Call(sms.send)", fmt.Sprintf(verb, call), verb)
		assert.Equal(t, "wire.Call(sms.send)", fmt.Sprintf(verb, &call), verb)
	}
	assert.Equal(t, "wire.Call(sms.send)", fmt.Sprint(call))
	assert.Equal(t, "failed: wire.Call(sms.send)", fmt.Errorf("failed: %v", call).Error())
}

func TestCallEncodesItsOperationAlone(t *testing.T) {
	for name, value := range holders() {
		raw, err := json.Marshal(value)
		require.NoError(t, err, name)
		assert.NotContains(t, string(raw), secret, name)
		assert.NotContains(t, string(raw), "639171234567", name)
		assert.Contains(t, string(raw), `"sms.send"`, name)
	}
}

func TestCallLogsItsOperationAlone(t *testing.T) {
	for format, tt := range map[string]struct {
		handler func(*bytes.Buffer) slog.Handler
		want    string
	}{
		"text": {func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) }, ` one=sms.send two=sms.send`},
		"json": {func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) }, `"one":"sms.send","two":"sms.send"`},
	} {
		for name, value := range holders() {
			var log bytes.Buffer
			slog.New(tt.handler(&log)).With("bound", value).WithGroup("group").Info("sending", "call", value)
			assert.NotContains(t, log.String(), secret, "%s as %s", name, format)
			assert.NotContains(t, log.String(), "639171234567", "%s as %s", name, format)
		}
		var log bytes.Buffer
		call := secretCall()
		slog.New(tt.handler(&log)).Info("sending", "one", call, "two", &call)
		assert.Contains(t, log.String(), tt.want, format)
	}
}

func TestOperationIsNamedAsInTheContract(t *testing.T) {
	for operation, want := range map[wire.Operation]string{
		wire.SMSSend: "sms.send", wire.SMSList: "sms.list", wire.ChatApp1Send: "chatapp1.send", wire.ChatApp2Send: "chatapp2.send", 255: "operation 255",
	} {
		assert.Equal(t, want, operation.String())
	}
}

func TestChecksCollectProblemsInTheirOrder(t *testing.T) {
	t.Parallel()
	var c wire.Checks
	c.Found("To", "")
	assert.Empty(t, c, "no reason is no problem")
	c.Found("To", "is wrong")
	c.Absent("Text")
	c.Limit("Title", "is long")
	assert.Equal(t, wire.Checks{
		{Field: "To", Reason: "is wrong"},
		{Field: "Text", Reason: "required, but absent", Absent: true},
		{Field: "Title", Reason: "is long", Limit: true},
	}, c)
}
