package sms_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

var valid = sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"}

// byConcept returns the fields of a call by concept.
func byConcept(fields []wire.Field) map[string]wire.Field {
	all := map[string]wire.Field{}
	for _, f := range fields {
		all[f.Concept] = f
	}
	return all
}

func TestCall(t *testing.T) {
	t.Parallel()
	m := sms.Message{
		From: "ACME", To: "+639171234567", Text: "Hi", CallbackURL: "https://example.com/%s", ReferenceID: "r-1",
		Extra: map[string]any{"tag": "x"},
	}
	call := describe.SMS(m)
	assert.Subset(t, call.Fields, []wire.Field{
		{Concept: "from", Name: "From", Text: "ACME", Required: true},
		{Concept: "to", Name: "To", Text: "+639171234567", Required: true},
		{Concept: "text", Name: "Text", Text: "Hi", Required: true},
		{Concept: "callback", Name: "CallbackURL", Text: "https://example.com/%s"},
		{Concept: "reference", Name: "ReferenceID", Text: "r-1"},
	})
	assert.Equal(t, m.Extra, call.Extra)
	assert.Equal(t, "Extra", call.ExtraField)
	assert.Equal(t, "r-1", call.ReferenceID)
	assert.Empty(t, call.Problems)
}

// Concepts and field names are those of the contract and of the Message, each once.
func TestSMSDescribesEveryFieldOfTheContract(t *testing.T) {
	t.Parallel()
	fields := byConcept(describe.SMS(valid).Fields)
	for concept := range table.Of(contract.Default()).SMSSend.Fields {
		assert.Contains(t, fields, concept)
	}
	require.Len(t, fields, len(table.Of(contract.Default()).SMSSend.Fields))
	require.Len(t, fields, reflect.TypeFor[sms.Message]().NumField()-2, "all but Extra and Marketing, which is not sent")
	for concept, f := range fields {
		_, ok := reflect.TypeFor[sms.Message]().FieldByName(f.Name)
		assert.True(t, ok, "errors name %s for %s, which a Message does not have", f.Name, concept)
	}
}

func TestCallChecksItsFields(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*sms.Message)
		concept string
	}{
		"blank sender":          {func(m *sms.Message) { m.From = " \t" }, "from"},
		"two recipients":        {func(m *sms.Message) { m.To = "639171234567,639181234567" }, "to"},
		"short recipient":       {func(m *sms.Message) { m.To = "1234" }, "to"},
		"long recipient":        {func(m *sms.Message) { m.To = strings.Repeat("1", 16) }, "to"},
		"callback without host": {func(m *sms.Message) { m.CallbackURL = "https:///x" }, "callback"},
		"callback with a break": {func(m *sms.Message) { m.CallbackURL = "https://a.example/\r\n" }, "callback"},
	} {
		m := valid
		tt.change(&m)
		for concept, f := range byConcept(describe.SMS(m).Fields) {
			assert.Equal(t, concept == tt.concept, f.Reason != "", "%s: %s: %s", name, concept, f.Reason)
			assert.NotContains(t, f.Reason, "639171234567")
		}
	}
	m := valid
	m.Text = " "
	assert.Empty(t, byConcept(describe.SMS(m).Fields)["text"].Reason, "a text of spaces is a text")
}

func TestQuery(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	options := sms.ListOptions{
		CreatedAfter: at, CreatedBefore: at.Add(1), ID: "i", ReferenceID: "r", RequestID: "q", CategoryID: "c", From: "f", To: "t",
		Status: "s", Page: 3, PageSize: 7, SortBy: "column",
	}
	q := describe.SMSList(options)
	assert.Empty(t, q.Problems)
	assert.Equal(t, wire.Position{Set: true, Number: 3}, q.At)
	params := q.Params
	for concept := range table.Of(contract.Default()).SMSList.Params {
		switch concept {
		case "page", "offset", "cursor", "createdAfter", "createdBefore":
		default:
			assert.Contains(t, params, concept)
		}
	}
	assert.Equal(t, wire.Position{}, describe.SMSList(sms.ListOptions{}).At)
}

// A field without a tag would be left out of a request, silently.
func TestQueryKnowsEachOption(t *testing.T) {
	t.Parallel()
	concepts := table.Of(contract.Default()).SMSList.Params
	for field := range reflect.TypeFor[sms.ListOptions]().Fields() {
		concept, omit, _ := strings.Cut(field.Tag.Get("url"), ",")
		if concept == "-" {
			continue
		}
		assert.Contains(t, concepts, concept, field.Name)
		assert.Equal(t, "omitempty", omit, field.Name)
	}
}

func TestContractHasEachColumn(t *testing.T) {
	t.Parallel()
	list := table.Of(contract.Default()).SMSList
	for _, column := range []string{sms.ByCreated, sms.BySent, sms.ByPrice, sms.ByDeliveryStatus} {
		assert.Contains(t, list.Sorts, column)
	}
	for column, name := range list.Sorts {
		assert.Equal(t, list.Record[column][0], name, "the default is the member of the row")
	}
}

func TestQueryOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		options sms.ListOptions
		want    string
	}{
		{sms.ListOptions{}, ""},
		{sms.ListOptions{SortBy: "x"}, "ascending"},
		{sms.ListOptions{SortBy: "x", Descending: true}, "descending"},
		{sms.ListOptions{Descending: true}, "descending"},
	} {
		assert.Equal(t, tt.want, describe.SMSList(tt.options).Params.Get("order"), "%+v", tt.options)
	}
}

func TestQueryProblems(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		options sms.ListOptions
		fields  []string
	}{
		"nothing":              {sms.ListOptions{}, nil},
		"in order":             {sms.ListOptions{CreatedAfter: at, CreatedBefore: at.Add(1), Page: 1, PageSize: 1}, nil},
		"one bound":            {sms.ListOptions{CreatedAfter: at}, nil},
		"the other bound":      {sms.ListOptions{CreatedBefore: at}, nil},
		"page below zero":      {sms.ListOptions{Page: -1}, []string{"Page"}},
		"page size below zero": {sms.ListOptions{PageSize: -1}, []string{"PageSize"}},
		"bounds reversed":      {sms.ListOptions{CreatedAfter: at, CreatedBefore: at.Add(-1)}, []string{"CreatedBefore"}},
		"equal bounds":         {sms.ListOptions{CreatedAfter: at, CreatedBefore: at}, []string{"CreatedBefore"}},
		"a bound before time":  {sms.ListOptions{CreatedAfter: time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)}, []string{"CreatedAfter"}},
		"a bound too late":     {sms.ListOptions{CreatedBefore: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"CreatedBefore"}},
		"several":              {sms.ListOptions{Page: -1, PageSize: -1}, []string{"Page", "PageSize"}},
	} {
		q := describe.SMSList(tt.options)
		var fields []string
		for _, p := range q.Problems {
			fields = append(fields, p.Field)
		}
		assert.Equal(t, tt.fields, fields, name)
	}
}

// A row fills the fields with a concept of the contract, and each concept fills one.
func TestTransactionHasFieldForEachConcept(t *testing.T) {
	t.Parallel()
	concepts := map[string][]string{}
	for field := range reflect.TypeFor[sms.Transaction]().Fields() {
		if concept := field.Tag.Get("concept"); concept != "" {
			concepts[concept] = append(concepts[concept], field.Name)
		} else {
			assert.Contains(t, []string{"Status", "ErrorCode", "ReadError", "Extra"}, field.Name)
		}
	}
	record := table.Of(contract.Default()).SMSList.Record
	assert.Len(t, concepts, len(record))
	for concept := range record {
		assert.Len(t, concepts[concept], 1, concept)
	}
}

func TestMessageJSON(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message sms.Message
		want    string
	}{
		"complete": {
			sms.Message{
				From: "ACME", To: "+639171234567", Text: "é \"<x>\"", CallbackURL: "https://a.example/?s=%s", ReferenceID: "r", Marketing: true,
				Extra: map[string]any{"to": "x", "n": json.Number("1.50"), "o": map[string]any{"p": []any{true, nil}}},
			},
			`{"from":"ACME","to":"+639171234567","text":"é \"<x>\"","callbackURL":"https://a.example/?s=%s","referenceID":"r","marketing":true,"extra":{"to":"x","n":1.50,"o":{"p":[true,null]}}}`,
		},
		"minimal":    {valid, `{"from":"ACME","to":"+639171234567","text":"Hi"}`},
		"empty":      {sms.Message{}, `{}`},
		"extra only": {sms.Message{Extra: map[string]any{"a": json.Number("12345678901234567890")}}, `{"extra":{"a":12345678901234567890}}`},
	} {
		for field, value := range reflect.ValueOf(tt.message).Fields() {
			assert.False(t, name == "complete" && value.IsZero(), "the complete message lacks %s", field.Name)
		}
		raw, err := json.Marshal(tt.message)
		require.NoError(t, err, name)
		assert.JSONEq(t, tt.want, string(raw), name)
		var back sms.Message
		require.NoError(t, json.Unmarshal(raw, &back), name)
		assert.Equal(t, tt.message, back, name)
		again, err := json.Marshal(back)
		require.NoError(t, err, name)
		assert.Equal(t, string(raw), string(again), name)
	}
}

func TestMessageJSONDoesNotLoseAnything(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		`{"from":"A","sender":"SECRET"}`:       `unknown key "sender"`,
		`{"From":"A","from":"SECRET"}`:         `"from" comes twice`,
		`{"639171234567":"A"}`:                 `unknown key (a key that is not shown)`,
		`{"from":"A","from":"SECRET"}`:         `"from" comes twice`,
		`{"from":639171234567}`:                `"from" must hold a string`,
		`{"extra":{"a":1,"a":"SECRET"}}`:       `"a" comes twice`,
		`{"extra":{"a":1,"A":2}}`:              "",
		`{"extra":["SECRET"]}`:                 `"extra" must hold an object`,
		`["SECRET"]`:                           "want a JSON object",
		`"SECRET"`:                             "want a JSON object",
		"{\"text\":\"caf\xe9 SECRET\"}":        "valid UTF-8",
		`{"extra":{"a":1,"b":{"c":"\u00e9"}}}`: "",
		`{"from":null,"extra":null}`:           "",
	} {
		m := sms.Message{From: "old", Extra: map[string]any{"old": 1}}
		err := json.Unmarshal([]byte(body), &m)
		if says == "" {
			require.NoError(t, err, body)
			assert.NotEqual(t, "old", m.From, "the message is replaced")
			continue
		}
		require.ErrorContains(t, err, says, body)
		assert.NotContains(t, err.Error(), "SECRET", body)
		assert.NotContains(t, err.Error(), "639171234567", body)
		assert.Equal(t, "old", m.From, "%s: an error changes nothing", body)
	}
	for _, body := range []string{``, `{`, `{"from":"SECRET"} {}`} {
		require.Error(t, new(sms.Message).UnmarshalJSON([]byte(body)), body)
	}
	for name, m := range map[string]sms.Message{
		"a text":         {Text: "caf\xe9"},
		"an extra text":  {Extra: map[string]any{"a": []string{"caf\xe9"}}},
		"an extra name":  {Extra: map[string]any{"caf\xe9": 1}},
		"an extra value": {Extra: map[string]any{"f": func() {}}},
	} {
		_, err := json.Marshal(m)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "caf", name)
	}
}

func FuzzMessageJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"from":"A","to":"1","text":"x","extra":{"x":1e400}}`, `{"extra":{"a":{"b":[1,"2",null]},"":0}}`, `null`, `{"From":"A","from":"B"}`,
		`{"from":"\u00c4\ud83d\ude00","to":"1","text":"Grüße 😀\n"}`, `{"text":"\ud800"}`, "{\"text\":\"\xff\"}", `{"text":"\x"}`, "{\"text\":\"\n\"}", `{"text":"cut`, `{1:2}`, `{"a"1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second sms.Message
		if json.Unmarshal(data, &first) != nil {
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
	})
}

func TestCallHasEveryField(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[sms.Message]().NumField() {
		var m sms.Message
		field := reflect.ValueOf(&m).Elem().Field(i)
		name := reflect.TypeFor[sms.Message]().Field(i).Name
		isSent := func(f wire.Field) bool {
			isSet := f.Text != "" || f.Value != nil && !reflect.ValueOf(f.Value).IsZero()
			return f.Name == name && isSet
		}
		switch name {
		case "Extra":
			m.Extra = map[string]any{"k": "v"}
			assert.Equal(t, m.Extra, describe.SMS(m).Extra)
		case "Marketing":
			m.Marketing = true
			assert.True(t, describe.SMS(m).Marketing)
		default:
			field.Set(notZero(t, field.Type()))
			assert.True(t, slices.ContainsFunc(describe.SMS(m).Fields, isSent), "internal/describe does not send %s", name)
		}
	}
}

// notZero returns a value of a type that a field can have.
func notZero(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	for _, value := range []any{"value", int64(1), time.Unix(1, 0), time.Second, map[string]string{"k": "v"}} {
		if reflect.TypeOf(value) == of {
			return reflect.ValueOf(value)
		}
	}
	t.Fatalf("no field is sent as a %s", of)
	return reflect.Value{}
}
