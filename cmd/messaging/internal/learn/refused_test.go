package learn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLearnUnusualCode has refusals whose code has no usual name. The first has no line code:, and the second has one.
func TestLearnUnusualCode(t *testing.T) {
	t.Parallel()
	const (
		first  = "=== refused\nhttp: 400\nclass: invalid\n\n" + `{"fault": {"reason": "The sender is unknown", "num": 12}}` + "\n\n"
		second = "=== refused\nhttp: 402\nclass: insufficientBalance\ncode: 20\n\n" + `{"fault": {"reason": "No credit is left", "num": 20}}` + "\n\n"
	)
	got, err := learnObject(t, requestText+acceptedText+first+second)
	require.NoError(t, err)
	assert.Equal(t, []any{"fault.num"}, at(got, "errors", "code"))
	assert.Equal(t, []any{"12"}, at(got, "errors", "classes", "invalid"))
	assert.Equal(t, []any{"20"}, at(got, "errors", "classes", "insufficientBalance"))
	assert.Nil(t, at(got, "errors", "code//"))
}

// TestLearnRefusesForbiddenByCode: only the HTTP status tells the class forbidden, which has no list of codes in a contract.
func TestLearnRefusesForbiddenByCode(t *testing.T) {
	t.Parallel()
	const body = `{"outcome": "DENIED", "fault": {"no": "P-101"}}`
	for lines, want := range map[string]string{
		"http: 200\nclass: forbidden\ncode: P-101\n": "line 17, refused: class forbidden is known by HTTP 403 alone, and not by a code",
		"http: 400\nclass: forbidden\n":              "class forbidden is known by HTTP 403 alone, and not by a code: remove this example",
		"http: 403\nclass: forbidden\ncode: P-101\n": "",
	} {
		got, err := learnObject(t, requestText+acceptedText+"=== refused\n"+lines+"\n"+body)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Nil(t, at(got, "errors", "classes", "forbidden"))
	}
}

// TestLearnRecipientClass has the code of a number that cannot get the message, for which the default contract has no code.
func TestLearnRecipientClass(t *testing.T) {
	t.Parallel()
	const refusal = "=== refused\nhttp: 400\nclass: unreachable\n\n" + `{"code": "E17"}`
	got, err := learnObject(t, requestText+acceptedText+refusal)
	require.NoError(t, err)
	assert.Equal(t, []any{"E17"}, at(got, "errors", "classes", "unreachable"))
}

// TestLearnRequestIDOfRefusals has the line request: for the ID by which the support of the service finds a request.
func TestLearnRequestIDOfRefusals(t *testing.T) {
	t.Parallel()
	const refused = "=== refused\nhttp: 400\nclass: invalid\nrequest: t-9000\n\n"
	got, err := learnObject(t, requestText+acceptedText+refused+`{"code": "E1", "fault": {"trace": "t-9000"}}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"fault.trace"}, at(got, "errors", "request"))

	got, err = learnObject(t, requestText+acceptedText+refused+`{"code": "E1", "requestId": "t-9000"}`)
	require.NoError(t, err)
	assert.Nil(t, at(got, "errors", "request"), "a name of the default contract")

	_, err = learnObject(t, requestText+acceptedText+refused+`{"code": "E1"}`)
	require.ErrorContains(t, err, "nothing in the example has the value of request")

	const both = `{"code": "E1", "fault": {"trace": "t-9000"}, "requestId": "r-1"}` // requestId is a name of sms.send.response, too
	_, err = learnObject(t, requestText+acceptedText+refused+both)
	require.ErrorContains(t, err, `got the request ID "r-1", want "t-9000"`)
}

// TestLearnCommentsOnMissingCode: a code that was not found must not be lost without a comment.
func TestLearnCommentsOnMissingCode(t *testing.T) {
	t.Parallel()
	const found = "=== refused\nhttp: 403\nclass: forbidden\n\n" + `{"code": "E7"}` + "\n\n"
	for name, tt := range map[string]struct {
		refusals string
		want     any
	}{
		"one": {
			"=== refused\nhttp: 400\nclass: invalid\n\n" + `{"fault": {"reason": "The sender is unknown", "num": 12}}`,
			"no code was found in the example of line 17: add code: and its value, if the response has one",
		},
		"two of three": {
			"=== refused\nhttp: 400\nclass: invalid\n\n" + `{"num": 12}` + "\n\n" + found + "=== refused\nhttp: 401\nclass: unauthorized\n\n" + `{"num": 13}`,
			"no code was found in the examples of lines 17, 29: add code: and its value, if a response has one",
		},
		"a sentence alone":    {"=== refused\nhttp: 400\nclass: invalid\n\n" + `{"reason": "The sender is unknown", "ok": false, "status": 400}`, nil},
		"the accepted values": {"=== refused\nhttp: 400\nclass: invalid\n\n" + `{"state": "queued", "reason": "The sender is unknown"}`, nil},
		"no body":             {"=== refused\nhttp: 400\nclass: invalid\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, requestText+acceptedText+tt.refusals)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(got, "errors", "code//"))
		})
	}
}

// TestLearnKeepsCodesOfThePlatform: examples of SMS never show a code of chat app 2, whose platform has the same codes for every provider.
func TestLearnKeepsCodesOfThePlatform(t *testing.T) {
	t.Parallel()
	refusal := func(class, code string) string {
		return "=== refused\nhttp: 400\nclass: " + class + "\n\n" + `{"code": "` + code + `"}` + "\n\n"
	}
	for name, tt := range map[string]struct {
		refusals string
		want     any
	}{
		"not shown":             {refusal("invalid", "E17"), nil},
		"a code of the account": {refusal("windowClosed", "E18"), []any{"E18"}},
		"another class has it":  {refusal("invalid", "131047"), []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, requestText+acceptedText+tt.refusals)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(got, "errors", "classes", "windowClosed"))
			assert.Equal(t, []any{}, at(got, "errors", "classes", "duplicate"), "a code of the service")
		})
	}
}
