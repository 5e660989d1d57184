package wire_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// delivered is set in every field.
func delivered() wire.Delivery {
	return wire.NewDelivery(10*time.Minute, "https://example.com/%s?id=%i", "order-17").WithFallback("ACME", "Your order 17 is ready")
}

// The names of a Delivery stand in struct tags, and in the table of the contract: they must not drift apart, in either channel.
func TestTagsOfADeliveryAreTheNamesOfTheDefaultContract(t *testing.T) {
	t.Parallel()
	concepts := map[string]string{
		"TTL": "TTL", "FallbackFrom": "FallbackFrom", "FallbackText": "FallbackText", "CallbackURL": "Callback", "ReferenceID": "Reference",
	}
	standard := contract.Default()
	for name, tt := range map[string]struct {
		send   contract.Send
		fields any
		ttl    contract.TTLUnit
	}{
		"chatapp1": {standard.ChatApp1Send.Send, standard.ChatApp1Send.Fields, standard.ChatApp1Send.TTL},
		"chatapp2": {standard.ChatApp2Send.Send, standard.ChatApp2Send.Fields, standard.ChatApp2Send.TTL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, contract.TTLSeconds, tt.ttl, "Seconds are what is sent where nothing is rewritten")
			assert.Empty(t, tt.send.Constants, "a constant needs a field in the body")
			require.Equal(t, map[string]map[string]any{"callback": {"dlrReport": json.Number("1")}}, tt.send.With)
			want := map[string]string{"DLRReport": "dlrReport"}
			for field, concept := range concepts {
				value := reflect.ValueOf(tt.fields).FieldByName(concept)
				require.True(t, value.IsValid(), concept)
				want[field] = value.String()
			}
			require.Equal(t, len(want), reflect.TypeFor[wire.Delivery]().NumField())
			for field := range reflect.TypeFor[wire.Delivery]().Fields() {
				assert.Equal(t, want[field.Name]+",omitzero", field.Tag.Get("json"), field.Name)
				assert.Equal(t, want[field.Name]+",omitempty", field.Tag.Get("url"), field.Name)
			}
		})
	}
}

func TestFieldsOfADeliveryAreCalledAsAUserKnowsThem(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for field := range reflect.TypeFor[wire.Delivery]().Fields() {
		if name := field.Tag.Get("field"); name != "" {
			names[field.Name] = name
		}
	}
	assert.Equal(t, map[string]string{"FallbackFrom": "Fallback.From", "FallbackText": "Fallback.Text"}, names)
}

func TestDeliveryIsWrittenUnderItsNamesAndAbsentWhereItIsZero(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		delivery wire.Delivery
		want     string
	}{
		"nothing":         {wire.Delivery{}, `{}`},
		"nothing, by New": {wire.NewDelivery(0, "", ""), `{}`},
		"all":             {delivered(), `{"ttl":600,"sms_from":"ACME","sms_text":"Your order 17 is ready","dlrCallback":"https://example.com/%s?id=%i","dlrReport":1,"referenceId":"order-17"}`},
		"a lifetime":      {wire.NewDelivery(1500*time.Millisecond, "", ""), `{"ttl":1.5}`},
		"a callback":      {wire.NewDelivery(0, "https://a.example", ""), `{"dlrCallback":"https://a.example","dlrReport":1}`},
		"a reference":     {wire.NewDelivery(0, "", "r"), `{"referenceId":"r"}`},
		"empty fallback":  {wire.NewDelivery(0, "", "").WithFallback("", ""), `{"sms_from":"","sms_text":""}`},
	} {
		raw, err := json.Marshal(tt.delivery)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, string(raw), name)
	}
}

func TestFallbackOfADeliveryIsThereWhereOneOfItsFieldsIs(t *testing.T) {
	t.Parallel()
	word := "w"
	for name, tt := range map[string]struct {
		delivery   wire.Delivery
		from, text string
		ok         bool
	}{
		"none":          {wire.Delivery{}, "", "", false},
		"both":          {wire.Delivery{}.WithFallback("A", "B"), "A", "B", true},
		"both empty":    {wire.Delivery{}.WithFallback("", ""), "", "", true},
		"a sender only": {wire.Delivery{FallbackFrom: &word}, "w", "", true},
		"a text only":   {wire.Delivery{FallbackText: &word}, "", "w", true},
	} {
		from, text, ok := tt.delivery.Fallback()
		assert.Equal(t, tt.from, from, name)
		assert.Equal(t, tt.text, text, name)
		assert.Equal(t, tt.ok, ok, name)
	}
}

func TestWithFallbackGivesACopy(t *testing.T) {
	t.Parallel()
	first := wire.NewDelivery(time.Minute, "", "r")
	second := first.WithFallback("A", "B")
	third := second.WithFallback("C", "D")
	_, _, ok := first.Fallback()
	assert.False(t, ok)
	from, _, _ := second.Fallback()
	assert.Equal(t, "A", from)
	from, _, _ = third.Fallback()
	assert.Equal(t, "C", from)
	assert.Equal(t, first.TTL, third.TTL)
}

func TestDeliveryThatIsWholeHasNoProblem(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]wire.Delivery{
		"nothing":                  {},
		"all":                      delivered(),
		"a lifetime with fraction": wire.NewDelivery(1500*time.Millisecond, "", ""), // the unit is the contract's
		"the longest lifetime":     wire.NewDelivery(1<<63-1, "", ""),
		"a text of white space":    wire.Delivery{}.WithFallback("ACME", " "),
		"any script":               wire.Delivery{}.WithFallback("空 к", "\u2028😀\ufffd"),
	} {
		assert.Empty(t, d.Check(), name)
	}
}

func TestEachProblemOfADeliveryNamesItsField(t *testing.T) {
	t.Parallel()
	with := func(from, text string) wire.Delivery { return wire.Delivery{}.WithFallback(from, text) }
	word := "s3cr3t"
	for name, tt := range map[string]struct {
		delivery wire.Delivery
		want     wire.Problem
	}{
		"a negative lifetime":     {wire.NewDelivery(-90*time.Second, "", ""), wire.Problem{Field: "TTL", Reason: "must not be negative, got -1m30s"}},
		"a hair below nothing":    {wire.NewDelivery(-1, "", ""), wire.Problem{Field: "TTL", Reason: "must not be negative, got -1ns"}},
		"a fallback from nobody":  {with("", word), wire.Problem{Field: "Fallback.From", Reason: "required, but absent", Absent: true}},
		"no sender at all":        {wire.Delivery{FallbackText: &word}, wire.Problem{Field: "Fallback.From", Reason: "required, but absent", Absent: true}},
		"a sender of white space": {with(" \t\n", word), wire.Problem{Field: "Fallback.From", Reason: "a sender ID is required, got white space only"}},
		"a sender not UTF-8":      {with("s3cr3t\xff", word), wire.Problem{Field: "Fallback.From", Reason: "must be valid UTF-8, and is not at byte 6"}},
		"a fallback of nothing":   {with(word, ""), wire.Problem{Field: "Fallback.Text", Reason: "required, but absent", Absent: true}},
		"no text at all":          {wire.Delivery{FallbackFrom: &word}, wire.Problem{Field: "Fallback.Text", Reason: "required, but absent", Absent: true}},
		"a text not UTF-8":        {with(word, "s3cr3t\xff"), wire.Problem{Field: "Fallback.Text", Reason: "must be valid UTF-8, and is not at byte 6"}},
		"a callback without host": {wire.NewDelivery(0, "https:///s3cr3t", ""), wire.Problem{Field: "CallbackURL", Reason: wire.CheckCallbackURL("https:///s3cr3t")}},
		"a callback of two lines": {wire.NewDelivery(0, "https://a.example/s3cr3t\n", ""), wire.Problem{Field: "CallbackURL", Reason: "must not hold white space or control characters"}},
		"a reference not UTF-8":   {wire.NewDelivery(0, "", "s3cr3t\xff"), wire.Problem{Field: "ReferenceID", Reason: "must be valid UTF-8, and is not at byte 6"}},
	} {
		problems := tt.delivery.Check()
		assert.Equal(t, []wire.Problem{tt.want}, problems, name)
		for _, p := range problems {
			assert.NotContains(t, p.Reason, "s3cr3t", name)
		}
	}
}

func TestEveryProblemOfADeliveryIsToldAtOnceAndNoneIsALimit(t *testing.T) {
	t.Parallel()
	d := wire.NewDelivery(-1, "x", "\xff").WithFallback("", "")
	var fields []string
	for _, p := range d.Check() {
		fields = append(fields, p.Field)
		assert.False(t, p.Limit, p.Field)
	}
	assert.Equal(t, []string{"TTL", "Fallback.From", "Fallback.Text", "CallbackURL", "ReferenceID"}, fields)
}

func membersOf(t *testing.T, object string) map[string]json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &members))
	return members
}

func TestDeliveryIsTakenFromTheMembersOfAMessage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		object string
		want   wire.Delivery
		left   []string
	}{
		"nothing":                    {`{}`, wire.Delivery{}, nil},
		"others alone":               {`{"text":"x","TTL":1}`, wire.Delivery{}, []string{"TTL", "text"}},
		"null alone":                 {`{"ttl":null,"sms_from":null,"sms_text":null,"dlrCallback":null,"dlrReport":null,"referenceId":null}`, wire.Delivery{}, nil},
		"a lifetime in quotes":       {`{"ttl":"1.5"}`, wire.NewDelivery(1500*time.Millisecond, "", ""), nil},
		"a callback brings its mark": {`{"dlrCallback":"https://a.example"}`, wire.NewDelivery(0, "https://a.example", ""), nil},
		"a mark without a callback":  {`{"dlrReport":1}`, wire.Delivery{}, nil},
		"another mark":               {`{"dlrReport":"full","dlrCallback":"https://a.example"}`, wire.NewDelivery(0, "https://a.example", ""), nil},
		"an empty callback":          {`{"dlrCallback":"","dlrReport":1}`, wire.Delivery{}, nil},
		"an empty fallback":          {`{"sms_from":"","sms_text":""}`, wire.Delivery{}.WithFallback("", ""), nil},
		"all, beside others": {
			`{"to":"1","ttl":600,"sms_from":"ACME","sms_text":"Your order 17 is ready","dlrCallback":"https://example.com/%s?id=%i","dlrReport":1,"referenceId":"order-17","from":"2"}`,
			delivered(),
			[]string{"from", "to"},
		},
	} {
		members := membersOf(t, tt.object)
		var d wire.Delivery
		require.NoError(t, d.Take(members), name)
		assert.Equal(t, tt.want, d, name)
		assert.Equal(t, tt.left, slices.Sorted(maps.Keys(members)), name)
	}
}

func TestDeliveryIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, d := range []wire.Delivery{
		{}, delivered(), wire.NewDelivery(1, "", ""), wire.NewDelivery(-time.Second, "x", "\u2028"), wire.Delivery{}.WithFallback("", ""),
	} {
		raw, err := json.Marshal(d)
		require.NoError(t, err)
		members := membersOf(t, string(raw))
		var again wire.Delivery
		require.NoError(t, again.Take(members))
		assert.Equal(t, d, again)
		assert.Empty(t, members)
	}
}

func TestDeliveryOfTheWrongKindIsAnErrorThatRepeatsNothing(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"ttl":"s3cr3t"}`:         `"ttl" must be a number of seconds`,
		`{"ttl":true}`:             `"ttl" must be a number of seconds`,
		`{"ttl":{"s3cr3t":1}}`:     `"ttl" must be a number of seconds`,
		`{"ttl":[60]}`:             `"ttl" must be a number of seconds`,
		`{"ttl":1e11}`:             `"ttl" must be a number of seconds`,
		`{"sms_from":4711}`:        `"sms_from" must be a string`,
		`{"sms_from":["s3cr3t"]}`:  `"sms_from" must be a string`,
		`{"sms_text":{"a":4711}}`:  `"sms_text" must be a string`,
		`{"dlrCallback":4711}`:     `"dlrCallback" must be a string`,
		`{"dlrCallback":false}`:    `"dlrCallback" must be a string`,
		`{"referenceId":4711}`:     `"referenceId" must be a string`,
		`{"referenceId":[null]}`:   `"referenceId" must be a string`,
		`{"referenceId":{"a":{}}}`: `"referenceId" must be a string`,
	} {
		var d wire.Delivery
		assert.EqualError(t, d.Take(membersOf(t, object)), want, object)
	}
}

func TestTakeReadsAMemberAndRemovesIt(t *testing.T) {
	t.Parallel()
	members := membersOf(t, `{"name":"Ana","gone":null,"count":7,"list":[1,2]}`)
	name, gone, absent, count := "", "kept", "kept", 0
	require.NoError(t, wire.Take(members, "name", &name))
	require.NoError(t, wire.Take(members, "gone", &gone))
	require.NoError(t, wire.Take(members, "absent", &absent))
	require.NoError(t, wire.Take(members, "count", &count))
	assert.Equal(t, "Ana", name)
	assert.Equal(t, "kept", gone, "null leaves the target as it is")
	assert.Equal(t, "kept", absent)
	assert.Equal(t, 7, count)
	assert.Equal(t, []string{"list"}, slices.Sorted(maps.Keys(members)))
	require.Error(t, wire.Take(members, "list", &name))
	assert.Equal(t, "Ana", name)
	assert.Empty(t, members, "what cannot be read is gone too")
	require.NoError(t, wire.Take(nil, "name", &name))
}
