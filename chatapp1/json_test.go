package chatapp1_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-querystring/query"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/sms"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMessagesAreThoseOfTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(tt.message)
			require.NoError(t, err)
			assert.JSONEq(t, tt.body, string(raw))
			call := described(t, tt.message)
			assert.Empty(t, call.Problems)
			body, err := json.Marshal(call.Body)
			require.NoError(t, err)
			extra, err := json.Marshal(call.Extra)
			require.NoError(t, err)
			assert.Equal(t, generic(t, []byte(tt.body)), merged(generic(t, body), generic(t, extra)), "the call is another message than the JSON")
			form, err := query.Values(call.Body)
			require.NoError(t, err)

			var b strings.Builder
			fmt.Fprintf(&b, "json:\n%s\n\ncall:\n%v\n\nbody:\n%s\n\nbody of a form:\n", raw, call.Op, body)
			for _, key := range slices.Sorted(maps.Keys(form)) {
				fmt.Fprintf(&b, "  %s = %+q\n", key, form[key])
			}
			fmt.Fprintf(&b, "\nextra, named %s:\n%s\n\nttl:\n%v\n\nreference:\n%q\n", call.ExtraName, extra, call.TTL, call.Reference)

			file := filepath.Join("testdata", "messages", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			assert.Equal(t, string(want), b.String())
		})
	}
}

func TestEveryGoldenFileHasItsMessage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "messages", "*"))
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, messages, strings.TrimSuffix(filepath.Base(file), ".golden"))
	}
	for kind := range payloads() {
		count := 0
		for name, tt := range messages {
			if reflect.TypeOf(tt.message.Payload).Name() == kind {
				count++
				complete := tt.message.Fallback != nil
				assert.Equal(t, strings.HasSuffix(name, "-complete"), complete, name)
			}
		}
		assert.Equal(t, 2, count, "%s: a golden file with the least, and one with all", kind)
	}
}

// generic gives a JSON object as it is, numbers as they are written.
func generic(t testing.TB, data []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	require.NoError(t, decoder.Decode(&object), "%s", data)
	return object
}

func merged(a, b map[string]any) map[string]any {
	whole := map[string]any{}
	maps.Copy(whole, a)
	maps.Copy(whole, b)
	return whole
}

func TestTheJSONOfAMessageRoundTrips(t *testing.T) {
	t.Parallel()
	type row struct {
		message chatapp1.Message
		body    string
	}
	rows := map[string]row{
		"nothing":               {chatapp1.Message{}, `{}`},
		"no payload":            {chatapp1.Message{ChannelID: "c", To: "12345"}, `{"from":"c","to":"12345"}`},
		"a reference alone":     {chatapp1.Message{ReferenceID: "r"}, `{"referenceId":"r"}`},
		"an empty text":         {chatapp1.Message{Payload: chatapp1.Text{}}, `{"text":""}`},
		"an empty image":        {chatapp1.Message{Payload: chatapp1.Image{}}, `{"image":""}`},
		"an empty video":        {chatapp1.Message{Payload: chatapp1.Video{}}, `{"video":""}`},
		"an empty button":       {chatapp1.Message{Payload: chatapp1.CallToAction{}}, `{"text":"","caption":"","action":""}`},
		"an empty template":     {chatapp1.Message{Payload: chatapp1.Template{}}, `{"templateId":""}`},
		"a text of spaces":      {chatapp1.Message{Payload: chatapp1.Text{Body: " "}}, `{"text":" "}`},
		"an empty parameter":    {chatapp1.Message{Payload: chatapp1.Template{ID: "t", Params: map[string]string{"": "", "a": ""}}}, `{"templateId":"t","templateParams":{"":"","a":""}}`},
		"a language alone":      {chatapp1.Message{Payload: chatapp1.Template{ID: "t", Language: "en"}}, `{"templateId":"t","templateLanguage":"en"}`},
		"a size alone":          {chatapp1.Message{Payload: chatapp1.Video{URL: "v", Size: math.MaxInt64}}, `{"video":"v","fileSize":9223372036854775807}`},
		"a size below zero":     {chatapp1.Message{Payload: chatapp1.Video{URL: "v", Size: -1}}, `{"video":"v","fileSize":-1}`},
		"an empty fallback":     {chatapp1.Message{Fallback: &sms.Fallback{}}, `{"sms_from":"","sms_text":""}`},
		"half a fallback":       {chatapp1.Message{Fallback: &sms.Fallback{Text: "x"}}, `{"sms_from":"","sms_text":"x"}`},
		"fields alone":          {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"a": "b"}}}, `{"a":"b"}`},
		"a field that is null":  {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"a": nil}}}, `{"a":null}`},
		"a field without name":  {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"": "b"}}}, `{"":"b"}`},
		"names of other case":   {chatapp1.Message{To: "1", Payload: chatapp1.Raw{Fields: map[string]any{"TO": "2", "Text": "x"}}}, `{"to":"1","TO":"2","Text":"x"}`},
		"fields of two kinds":   {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"text": "a", "image": "b"}}}, `{"text":"a","image":"b"}`},
		"a button with a video": {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"text": "a", "caption": "b", "action": "c", "video": "d"}}}, `{"text":"a","caption":"b","action":"c","video":"d"}`},
		"parameters alone":      {chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{"templateParams": map[string]any{"a": "b"}}}}, `{"templateParams":{"a":"b"}}`},
		"nested fields": {
			to.Raw(map[string]any{
				"o": map[string]any{"p": []any{true, nil, "x", map[string]any{}, []any{}}},
				"n": json.Number("1.50"), "big": json.Number("123456789012345678901234567890"), "huge": json.Number("1e400"), "minus": json.Number("-0"),
			}),
			`{"from":"channel-1","to":"+639171234567","o":{"p":[true,null,"x",{},[]]},"n":1.50,"big":123456789012345678901234567890,"huge":1e400,"minus":-0}`,
		},
	}
	for text, ttl := range map[string]time.Duration{
		"1": time.Second, "1.5": 1500 * time.Millisecond, "0.000000001": 1, "-0.25": -250 * time.Millisecond, "-7": -7 * time.Second,
		"59.999999999": time.Minute - 1, "1209600": 14 * 24 * time.Hour, "9223372036.854775807": math.MaxInt64, "10.01": 10*time.Second + 10*time.Millisecond,
	} {
		rows["a lifetime of "+text] = row{chatapp1.Message{TTL: ttl}, `{"ttl":` + text + `}`}
		rows["a video of "+text] = row{chatapp1.Message{Payload: chatapp1.Video{URL: "v", Duration: ttl}}, `{"video":"v","duration":` + text + `}`}
	}
	for name, tt := range messages {
		rows[name] = row{tt.message, tt.body}
	}
	for name, tt := range rows {
		raw, err := json.Marshal(tt.message)
		require.NoError(t, err, name)
		assert.Equal(t, generic(t, []byte(tt.body)), generic(t, raw), name)
		var back, read chatapp1.Message
		require.NoError(t, json.Unmarshal(raw, &back), name)
		assert.True(t, reflect.DeepEqual(tt.message, back), "%s: %s comes back as %#v", name, raw, asPlain(back))
		require.NoError(t, json.Unmarshal([]byte(tt.body), &read), name)
		assert.True(t, reflect.DeepEqual(tt.message, read), "%s: %s is read as %#v", name, tt.body, asPlain(read))
		again, err := json.Marshal(back)
		require.NoError(t, err, name)
		assert.Equal(t, string(raw), string(again), "%s: the same message is the same bytes", name)
	}
}

// asPlain is a message that shows itself, for the report of a failed test.
func asPlain(m chatapp1.Message) any {
	type plain chatapp1.Message
	return plain(m)
}

func TestMessagesAreStoredWithinOtherValues(t *testing.T) {
	t.Parallel()
	type job struct {
		Due      time.Time
		Messages []chatapp1.Message
		Next     *chatapp1.Message
		ByName   map[string]chatapp1.Message
	}
	next := complete(to.Image("https://cdn.example.com/a.png"))
	stored := job{
		Due: time.Date(2026, 10, 3, 9, 0, 0, 0, time.UTC), Messages: []chatapp1.Message{to.Text("one"), complete(to.Text("two"))}, Next: &next,
		ByName: map[string]chatapp1.Message{"a": to.Template(chatapp1.Template{ID: "t"})},
	}
	raw, err := json.Marshal(stored)
	require.NoError(t, err)
	var back job
	require.NoError(t, json.Unmarshal(raw, &back))
	assert.True(t, reflect.DeepEqual(stored, back), "%s", raw)
}

func TestAPayloadBehindAPointerHasTheJSONOfItsValue(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		behind := tt.message
		behind.Payload = pointer(tt.message.Payload)
		raw, err := json.Marshal(behind)
		require.NoError(t, err, name)
		assert.JSONEq(t, tt.body, string(raw), name)
		missing := tt.message
		missing.Payload = none(tt.message.Payload)
		raw, err = json.Marshal(missing)
		require.NoError(t, err, name)
		without := tt.message
		without.Payload = nil
		want, err := json.Marshal(without)
		require.NoError(t, err, name)
		assert.Equal(t, string(want), string(raw), "%s: a nil pointer is no payload", name)
	}
}

func TestBodiesThatAreWrittenInAnotherWayAreRead(t *testing.T) {
	t.Parallel()
	text := chatapp1.Text{Body: "Hi"}
	raw := func(name string, value any) chatapp1.Raw {
		return chatapp1.Raw{Fields: map[string]any{"text": "Hi", name: value}}
	}
	for body, want := range map[string]chatapp1.Message{
		" {\n\"to\" : \"1\" , \"text\":\t\"Hi\" } ": {To: "1", Payload: text},
		`{"text":"\u0048i","t\u006f":"1"}`:          {To: "1", Payload: text},
		`{"from":null,"to":null,"ttl":null,"sms_from":null,"sms_text":null,"dlrCallback":null,"dlrReport":null,"referenceId":null}`: {},
		`{"ttl":"600","text":"Hi"}`:                                      {TTL: 10 * time.Minute, Payload: text},
		`{"ttl":"1.5","text":"Hi"}`:                                      {TTL: 1500 * time.Millisecond, Payload: text},
		`{"ttl":6e2,"text":"Hi"}`:                                        {TTL: 10 * time.Minute, Payload: text},
		`{"ttl":1.50,"text":"Hi"}`:                                       {TTL: 1500 * time.Millisecond, Payload: text},
		`{"ttl":0,"text":"Hi"}`:                                          {Payload: text},
		`{"ttl":"0","text":"Hi"}`:                                        {Payload: text},
		`{"video":"v","duration":"90"}`:                                  {Payload: chatapp1.Video{URL: "v", Duration: 90 * time.Second}},
		`{"video":"v","duration":"0.5"}`:                                 {Payload: chatapp1.Video{URL: "v", Duration: 500 * time.Millisecond}},
		`{"video":"v","duration":9.0e1}`:                                 {Payload: chatapp1.Video{URL: "v", Duration: 90 * time.Second}},
		`{"video":"v","duration":0}`:                                     {Payload: chatapp1.Video{URL: "v"}},
		`{"video":"v","thumbnail":""}`:                                   {Payload: chatapp1.Video{URL: "v"}},
		`{"from":"","to":"","text":"Hi"}`:                                {Payload: text},
		`{"dlrCallback":"https://a.example/","dlrReport":1,"text":"Hi"}`: {CallbackURL: "https://a.example/", Payload: text},
		`{"dlrCallback":"https://a.example/","text":"Hi"}`:               {CallbackURL: "https://a.example/", Payload: text},
		`{"text":"","caption":"b","action":""}`:                          {Payload: chatapp1.CallToAction{Caption: "b"}},
		`{"caption":"b"}`:                                                {Payload: chatapp1.Raw{Fields: map[string]any{"caption": "b"}}},
		`{"text":"Hi","image":null}`:                                     {Payload: chatapp1.Text{Body: "Hi"}},
		`{"templateId":"t","templateParams":{"a":null}}`:                 {Payload: chatapp1.Raw{Fields: map[string]any{"templateId": "t", "templateParams": map[string]any{"a": nil}}}},
		`{"text":"Hi","mood":"x"}`:                                       {Payload: raw("mood", "x")},
		`{"text":"Hi","mood":{"a":1}}`:                                   {Payload: raw("mood", map[string]any{"a": json.Number("1")})},
		`{"text":"Hi","templateId":""}`:                                  {Payload: raw("templateId", "")},
		`{"text":"Hi","TTL":5}`:                                          {Payload: raw("TTL", json.Number("5"))},
		`{"text":5}`:                                                     {Payload: chatapp1.Raw{Fields: map[string]any{"text": json.Number("5")}}},
		`{"image":["a"]}`:                                                {Payload: chatapp1.Raw{Fields: map[string]any{"image": []any{"a"}}}},
		`{"video":"v","duration":"x"}`:                                   {Payload: chatapp1.Raw{Fields: map[string]any{"video": "v", "duration": "x"}}},
		`{"video":"v","duration":-1e400}`: {
			Payload: chatapp1.Raw{Fields: map[string]any{"video": "v", "duration": json.Number("-1e400")}},
		},
		`{"video":"v","fileSize":1.5}`: {Payload: chatapp1.Raw{Fields: map[string]any{"video": "v", "fileSize": json.Number("1.5")}}},
		`{"templateId":"t","templateParams":{"a":1}}`: {
			Payload: chatapp1.Raw{Fields: map[string]any{"templateId": "t", "templateParams": map[string]any{"a": json.Number("1")}}},
		},
		`{"templateId":"t","templateParams":[]}`: {Payload: chatapp1.Raw{Fields: map[string]any{"templateId": "t", "templateParams": []any{}}}},
	} {
		var m chatapp1.Message
		require.NoError(t, json.Unmarshal([]byte(body), &m), body)
		assert.True(t, reflect.DeepEqual(want, m), "%s is read as %#v", body, asPlain(m))
	}
}

func TestAMemberOfTheWrongKindIsAnErrorThatNamesItAndNotItsValue(t *testing.T) {
	t.Parallel()
	const strings, seconds = "a string", "a number of seconds"
	for name, want := range map[string]string{
		"from": strings, "to": strings, "sms_from": strings, "sms_text": strings, "dlrCallback": strings, "referenceId": strings, "ttl": seconds,
	} {
		values := []string{`639171234567`, `true`, `["PRIVATE"]`, `{"PRIVATE":"PRIVATE"}`}
		if want == seconds {
			values = []string{`"PRIVATE"`, `true`, `["PRIVATE"]`, `{"PRIVATE":1}`, `""`, `" 5"`, `"5s"`, `"null"`, `1e400`, `9223372036.9`, `-9223372037`, `"6391712345670000"`}
		}
		for _, value := range values {
			m := to.Text("old")
			body := fmt.Sprintf(`{"text":"Hi",%q:%s}`, name, value)
			err := json.Unmarshal([]byte(body), &m)
			require.EqualError(t, err, fmt.Sprintf("chatapp1: %q must be %s", name, want), body)
			assert.Equal(t, to.Text("old"), m, "%s: what cannot be read changes nothing", body)
		}
	}
}

func TestWhatIsNoObjectIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`[]`, `"PRIVATE"`, `639171234567`, `true`, `[{"text":"PRIVATE"}]`} {
		m := to.Text("old")
		require.EqualError(t, json.Unmarshal([]byte(body), &m), "chatapp1: a message must be a JSON object", body)
		assert.Equal(t, to.Text("old"), m, body)
	}
	for _, body := range []string{``, `{`, `{"text":"PRIVATE"} {}`, `{"text":}`} {
		var m chatapp1.Message
		require.Error(t, json.Unmarshal([]byte(body), &m), body)
		require.EqualError(t, m.UnmarshalJSON([]byte(body)), "chatapp1: a message must be a JSON object", body)
	}
}

func TestDecodingReplacesTheMessageWhole(t *testing.T) {
	t.Parallel()
	fallback := sms.Fallback{From: "old", Text: "old"}
	fields := map[string]any{"old": "old"}
	for _, body := range []string{`{"text":"new"}`, `{"to":"1"}`, `{}`, `{"a":"b"}`, `{"templateId":"t","templateParams":{"a":"b"}}`, `{"sms_text":"new"}`} {
		var want chatapp1.Message
		require.NoError(t, json.Unmarshal([]byte(body), &want), body)
		for _, payload := range []chatapp1.Payload{chatapp1.Raw{Fields: fields}, &chatapp1.Text{Body: "old"}, chatapp1.Template{ID: "old", Params: map[string]string{"old": "old"}}} {
			m := chatapp1.Message{ChannelID: "old", To: "old", Payload: payload, TTL: time.Hour, Fallback: &fallback, CallbackURL: "old", ReferenceID: "old"}
			require.NoError(t, json.Unmarshal([]byte(body), &m), body)
			assert.Equal(t, want, m, body)
		}
	}
	assert.Equal(t, sms.Fallback{From: "old", Text: "old"}, fallback, "what the old message pointed to stays as it is")
	assert.Equal(t, map[string]any{"old": "old"}, fields)
}

func TestAFieldOfRawUnderANameOfTheMessageHasNoJSON(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"from", "to", "ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"} {
		fields := map[string]any{"text": "PRIVATE", name: "PRIVATE"}
		for _, m := range []chatapp1.Message{to.Raw(fields), {Payload: chatapp1.Raw{Fields: fields}}, {Payload: &chatapp1.Raw{Fields: fields}}} {
			_, err := json.Marshal(m)
			require.ErrorContains(t, err, fmt.Sprintf("Payload.Fields[%q]", name))
			assert.NotContains(t, err.Error(), "PRIVATE")
		}
	}
}

func TestWhatCannotBeEncodedHasNoJSON(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{"a function": func() {}, "no number": math.NaN(), "a channel": make(chan int), "not JSON": json.Number("x")} {
		_, err := json.Marshal(to.Raw(map[string]any{"a": value}))
		require.Error(t, err, name)
	}
}

// unreadable matches the errors of decoding, which repeat nothing.
var unreadable = regexp.MustCompile(`^chatapp1: (a message must be a JSON object|"(from|to|sms_from|sms_text|dlrCallback|referenceId)" must be a string|"ttl" must be a number of seconds)$`)

func FuzzUnmarshal(f *testing.F) {
	for _, tt := range messages {
		f.Add([]byte(tt.body))
	}
	for _, seed := range []string{
		`{}`, `null`, `{"templateId":"t","templateParams":{"a":null}}`, `[]`, `{`, `"x"`, `{"from":1}`, `{"to":null,"text":"Hi"}`, `{"ttl":"600","text":"Hi"}`, `{"ttl":1e2}`, `{"ttl":-0.5,"text":""}`, `{"ttl":"x"}`,
		`{"ttl":9223372036.854775807}`, `{"ttl":0.0000000004}`, `{"ttl":1.0000000001}`, `{"ttl":"-0"}`, `{"ttl":9223372035.12345678912}`,
		`{"video":"v","duration":"90","fileSize":12}`, `{"video":"v","duration":1.5}`, `{"video":"v","duration":"","fileSize":1e3}`, `{"video":"v","fileSize":-0,"thumbnail":""}`,
		`{"text":"a","caption":"b","action":"c","image":"d"}`, `{"caption":"b"}`, `{"text":"a","image":"b"}`, `{"text":5}`, `{"text":"a","image":null}`,
		`{"templateId":"t","templateParams":{"a":"b"},"templateLanguage":"en"}`, `{"templateId":"t","templateParams":{}}`, `{"templateId":"t","templateParams":[1]}`,
		`{"sms_from":"","sms_text":""}`, `{"sms_text":"x","text":"y"}`, `{"dlrCallback":"https://a.example/%s","dlrReport":1,"text":"x"}`, `{"dlrReport":0}`,
		`{"a":{"b":[1.50,"2",null,true,{}]},"":0,"n":1e400}`, `{"From":"A","from":"B"}`, `{"from":"A","from":"B"}`, "{\"text\":\"\xff\"}", `{"text":"\ud800"}`, `{"\u0074o":"1"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second chatapp1.Message
		if err := first.UnmarshalJSON(data); err != nil {
			if !unreadable.MatchString(err.Error()) {
				t.Fatalf("the error repeats what it has read: %v", err)
			}
			return
		}
		raw, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("decoded and cannot be encoded: %v", err)
		}
		if err := json.Unmarshal(raw, &second); err != nil {
			t.Fatalf("encoded and cannot be decoded: %v", err)
		}
		if again, err := json.Marshal(second); err != nil || string(again) != string(raw) {
			t.Fatalf("%s became %s (%v)", raw, again, err)
		}
		if !reflect.DeepEqual(bare(first), bare(second)) {
			t.Fatalf("%#v became %#v", asPlain(first), asPlain(second))
		}
		before, after := generic(t, data), generic(t, raw)
		if (before["sms_from"] != nil || before["sms_text"] != nil) != (first.Fallback != nil) {
			t.Fatalf("%s has a fallback: %v", data, first.Fallback != nil)
		}
		_, isRaw := first.Payload.(chatapp1.Raw)
		if before, after := meaning(before, isRaw), meaning(after, isRaw); !same(before, after) {
			t.Fatalf("%v\nbecame\n%v", before, after)
		}
	})
}

// bare gives the message with nil for parameters that are none.
func bare(m chatapp1.Message) chatapp1.Message {
	if template, ok := m.Payload.(chatapp1.Template); ok && len(template.Params) == 0 {
		template.Params = nil
		m.Payload = template
	}
	return m
}

// meaning gives the members of a message without those that are absent: null, and the zero values of fields that a type has.
// What goes with a callback goes with it.
func meaning(object map[string]any, isRaw bool) map[string]any {
	typed := []string{"from", "to", "ttl", "sms_from", "sms_text", "dlrCallback", "referenceId"}
	if !isRaw {
		typed = append(typed, "text", "image", "video", "thumbnail", "duration", "fileSize", "caption", "action", "templateId", "templateParams", "templateLanguage")
	}
	kept := map[string]any{"ttl": 0.0}
	if !isRaw {
		kept["duration"] = 0.0
	}
	for name, value := range object {
		if value == nil || name == "dlrReport" {
			continue
		}
		if name == "ttl" || name == "duration" {
			value = seconds(value)
		}
		if slices.Contains(typed, name) {
			switch v := value.(type) {
			case string:
				value = nilIf(v == "", v)
			case json.Number:
				n, err := v.Int64()
				value = nilIf(err == nil && n == 0, v)
			case map[string]any:
				value = nilIf(len(v) == 0, v)
			}
		}
		if value != nil {
			kept[name] = value
		}
	}
	return kept
}

func nilIf(absent bool, value any) any {
	if absent {
		return nil
	}
	return value
}

// seconds gives a number of seconds, quoted or not, as a number; any other value as it is.
func seconds(value any) any {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
		return n
	}
	return value
}

// same compares objects; numbers of seconds are the same where they are within a nanosecond, or as near as a float can say.
func same(a, b map[string]any) bool {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))) {
		x, isNumber := a[name].(float64)
		y, isNumberToo := b[name].(float64)
		if isNumber && isNumberToo {
			if math.Abs(x-y) > 1e-9+math.Abs(x)*1e-15 {
				return false
			}
		} else if !reflect.DeepEqual(a[name], b[name]) {
			return false
		}
	}
	return true
}

func TestANameThatTheMessageUsesItselfOrAValueThatIsNoJSONIsNoMessage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"a taken name": {map[string]any{"ttl": 1, "to": "+639171234567", "a": 1}, `chatapp1: Payload.Fields["to"] is the name of a field of the message`},
		"no number":    {map[string]any{"n": json.Number("+639171234567")}, `chatapp1: Payload.Fields["n"] cannot be encoded`},
		"a channel":    {map[string]any{"c": make(chan int)}, `chatapp1: Payload.Fields["c"] cannot be encoded`},
	} {
		_, err := json.Marshal(chatapp1.New("channel-1", "+639181234567").Raw(tt.fields))
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), tt.want, name)
		assert.NotContains(t, err.Error(), "63917", name)
	}
}
