package chatapp1_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// The tags are the fast path: where they are not the default contract's names, a client without an overlay sends wrong ones.
func TestTheTagsAreTheDefaultContract(t *testing.T) {
	t.Parallel()
	standard := contract.Default().ChatApp1Send
	f := standard.Fields
	require.Equal(t, []string{"callback"}, slices.Collect(maps.Keys(standard.With)), "what goes with a field needs a field in the bodies")
	require.Equal(t, map[string]any{"dlrReport": json.Number("1")}, standard.With["callback"])
	assert.Empty(t, standard.Constants, "a constant needs a field in the bodies")
	assert.Equal(t, contract.TTLSeconds, standard.TTL, "bodies hold seconds")
	assert.Equal(t, contract.EncodingJSON, standard.Encoding)

	beside := map[string]string{
		f.Channel: "ChannelID", f.To: "To", f.TTL: "TTL", f.FallbackFrom: "Fallback.From", f.FallbackText: "Fallback.Text",
		f.Callback: "CallbackURL", "dlrReport": "DLRReport", f.Reference: "ReferenceID",
	}
	var used []string
	for kind, own := range map[string]map[string]string{
		"Text":         {f.Text: "Payload.Body"},
		"Image":        {f.Image: "Payload.URL"},
		"Video":        {f.Video: "Payload.URL", f.Thumbnail: "Payload.ThumbnailURL", f.Duration: "Payload.Duration", f.Size: "Payload.Size"},
		"CallToAction": {f.Text: "Payload.Text", f.Image: "Payload.ImageURL", f.Caption: "Payload.Caption", f.URL: "Payload.URL"},
		"Template":     {f.Template: "Payload.ID", f.Params: "Payload.Params", f.Language: "Payload.Language"},
		"Raw":          {},
	} {
		payload := payloads()[kind]
		want := maps.Clone(beside)
		maps.Copy(want, own)
		got := map[string]string{}
		for field := range fieldsOf(t, payload) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			inQuery, _, _ := strings.Cut(field.Tag.Get("url"), ",")
			assert.Equal(t, name, inQuery, "%s.%s", kind, field.Name)
			assert.NotContains(t, got, name, "%s has the name twice", kind)
			got[name] = userName(field)
			used = append(used, name)
			if name != "dlrReport" {
				assertFieldOf(t, payload, userName(field))
			}
		}
		assert.Equal(t, want, got, kind)
		assert.Len(t, own, reflect.TypeOf(payload).NumField()-len(unnamed(kind)), "%s has a field without a name", kind)
	}
	for field, name := range reflect.ValueOf(f).Fields() {
		assert.Contains(t, used, name.String(), "%s of the contract has no field in a body", field.Name)
	}
}

// unnamed gives the fields of a payload that stand for names of their own.
func unnamed(kind string) []string {
	if kind == "Raw" {
		return []string{"Fields"}
	}
	return nil
}

// fieldsOf gives the fields of the body in which a payload is sent, with those of embedded structs.
func fieldsOf(t *testing.T, p chatapp1.Payload) func(func(reflect.StructField) bool) {
	t.Helper()
	body := reflect.TypeOf(described(t, chatapp1.Message{Payload: p}).Body)
	require.Equal(t, reflect.Pointer, body.Kind())
	require.Equal(t, reflect.Struct, body.Elem().Kind())
	return func(yield func(reflect.StructField) bool) {
		for _, field := range reflect.VisibleFields(body.Elem()) {
			if !field.Anonymous && !yield(field) {
				return
			}
		}
	}
}

// userName is what an error calls a field.
func userName(field reflect.StructField) string {
	if name := field.Tag.Get("field"); name != "" {
		return name
	}
	return field.Name
}

// assertFieldOf checks that a message with the payload has the field that an error names.
func assertFieldOf(t *testing.T, p chatapp1.Payload, path string) {
	t.Helper()
	at := reflect.TypeFor[chatapp1.Message]()
	for name := range strings.SplitSeq(path, ".") {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		field, ok := at.FieldByName(name)
		if !assert.True(t, ok, "errors name %s, which a message with %T does not have", path, p) {
			return
		}
		at = field.Type
		if name == "Payload" {
			at = reflect.TypeOf(p)
		}
	}
}

// A contract may say that the service has no such field: then that the field is absent is no problem, if it is known by the
// name that the problem has.
func TestWhatIsAbsentIsNamedAsInTheBody(t *testing.T) {
	t.Parallel()
	for kind, p := range payloads() {
		zero := reflect.Zero(reflect.TypeOf(p)).Interface().(chatapp1.Payload)
		var names []string
		for field := range fieldsOf(t, zero) {
			names = append(names, userName(field))
		}
		for _, problem := range described(t, chatapp1.Message{Payload: zero}).Problems {
			if problem.Absent {
				assert.Contains(t, names, problem.Field, kind)
			}
		}
	}
}

func TestFieldsOfRawStandBesideTheMessage(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"text": "Hi", "n": json.Number("1.50"), "o": map[string]any{"p": nil}}
	for _, p := range []chatapp1.Payload{chatapp1.Raw{Fields: fields}, &chatapp1.Raw{Fields: fields}} {
		call := described(t, complete(chatapp1.Message{ChannelID: "channel-1", To: number, Payload: p}))
		assert.Equal(t, fields, call.Extra)
		assert.Equal(t, "Payload.Fields", call.ExtraName, "what an error calls them")
		body, err := json.Marshal(call.Body)
		require.NoError(t, err)
		assert.JSONEq(t, `{"from":"channel-1","to":"+639171234567",`+delivered+`}`, string(body))
	}
	for kind, p := range payloads() {
		if kind != "Raw" {
			assert.Nil(t, described(t, chatapp1.Message{Payload: p}).Extra, kind)
		}
	}
}

func TestAPayloadBehindAPointerIsSentAsItsValue(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		behind := tt.message
		behind.Payload = pointer(tt.message.Payload)
		want, got := described(t, tt.message), described(t, behind)
		assert.Equal(t, want.Body, got.Body, name)
		assert.Equal(t, want.Extra, got.Extra, name)
		assert.Equal(t, want.Problems, got.Problems, name)
	}
	for name, p := range payloads() {
		want := described(t, chatapp1.Message{ChannelID: "c", To: number})
		got := described(t, chatapp1.Message{ChannelID: "c", To: number, Payload: none(p)})
		assert.Equal(t, []wire.Problem{{Field: "Payload", Reason: want.Problems[0].Reason}}, got.Problems, name)
		assert.Equal(t, want, got, name)
	}
}
