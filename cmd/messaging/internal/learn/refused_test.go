package learn

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
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

// intakeText has a send whose status is at intake.
const intakeText = requestText + "=== accepted\nid: h-1\nstatus: TAKEN\n\n" + `{"messageId": "h-1", "intake": "TAKEN"}` + "\n\n"

// TestLearnRefusedWords: rows of the listing have the words of the status, whatever HTTP status the refusal has.
func TestLearnRefusedWords(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refusal string
		want    any
	}{
		"with a status of success": {"http: 200\nclass: invalid\n\n" + `{"intake": "TURNED_DOWN"}`, []any{"TURNED_DOWN"}},
		"with an error":            {"http: 422\nclass: invalid\n\n" + `{"intake": "TURNED_DOWN"}`, []any{"TURNED_DOWN"}},
		"with an error and a code": {"http: 422\nclass: invalid\n\n" + `{"intake": "TURNED_DOWN", "code": "E1"}`, []any{"TURNED_DOWN"}},
		"a word that is accepted":  {"http: 422\nclass: invalid\n\n" + `{"intake": "TAKEN", "code": "E1"}`, nil},
		"a default accepted word":  {"http: 422\nclass: invalid\n\n" + `{"intake": "Queued", "code": "E1"}`, nil},
		"the HTTP status":          {"http: 422\nclass: invalid\n\n" + `{"intake": 422, "code": "E1"}`, nil},
		"a number":                 {"http: 422\nclass: invalid\n\n" + `{"intake": 7, "code": "E1"}`, nil},
		"a number with its line":   {"http: 422\nclass: invalid\nstatus: 7\n\n" + `{"intake": 7, "code": "E1"}`, []any{"7"}},
		"an empty body":            {"http: 422\nclass: invalid\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, intakeText+"=== refused\n"+tt.refusal)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(got, "sms.send", "refused"))
		})
	}
}

// TestLearnRefusedRows: a row with the word of a refusal is refused, so that no sum counts it as accepted.
func TestLearnRefusedRows(t *testing.T) {
	t.Parallel()
	const rows = `{"rows": [{"messageId": "h-2", "intake": "TURNED_DOWN"}]}`
	examples, err := Parse(intakeText + "=== refused\nhttp: 422\nclass: invalid\n\n" + `{"intake": "TURNED_DOWN"}` +
		"\n\n=== row\nid: h-2\npath: /m\nsendStatus: TURNED_DOWN\n\n" + rows)
	require.NoError(t, err)
	result, err := Learn(examples)
	require.NoError(t, err)
	names, err := contract.Parse([]byte(result.Overlay))
	require.NoError(t, err)
	client, err := (&stub{status: http.StatusOK, body: rows}).client(names)
	require.NoError(t, err)
	read, err := firstRows(client)
	require.NoError(t, err)
	require.Len(t, read, 1)
	assert.Equal(t, messaging.Refused, client.SMS.Verdict(read[0]))
}

// TestLearnStatusByRow: the line sendStatus: of a row also names the status in the response to a send, whose name is unusual.
func TestLearnStatusByRow(t *testing.T) {
	t.Parallel()
	const text = requestText + "=== accepted\nid: h-1\n\n" + `{"messageId": "h-1", "intake": "TAKEN", "kind": "sms"}` +
		"\n\n=== refused\nhttp: 422\nclass: invalid\n\n" + `{"intake": "TURNED_DOWN", "kind": "error"}` + "\n\n"
	got, err := learnObject(t, text+"=== row\nid: h-2\npath: /m\nsendStatus: TAKEN\n\n"+`{"rows": [{"messageId": "h-2", "intake": "TAKEN"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"intake"}, at(got, "sms.send", "response", "status"))
	assert.Equal(t, []any{"TURNED_DOWN"}, at(got, "sms.send", "refused"))

	got, err = learnObject(t, text)
	require.NoError(t, err)
	assert.Nil(t, at(got, "sms.send", "response", "status"), "nothing says which member is the status")
}

// TestLearnNotesMissingRefusedWords: refusals without a word of the status do not show how a row says that its message was refused.
func TestLearnNotesMissingRefusedWords(t *testing.T) {
	t.Parallel()
	const (
		refusal = "=== refused\nhttp: 422\nclass: invalid\n\n" + `{"code": "E1"}` + "\n\n"
		note    = "no refusal in the examples has a word at intake: look up which words there mean refused; without them a refused row of the listing counts as accepted"
		row     = "=== row\nid: h-1\npath: /m\nsendStatus: TAKEN\n\n" + `{"rows": [{"messageId": "h-1", "intake": "TAKEN"}]}`
	)
	for name, tt := range map[string]struct {
		text      string
		want      any
		isPrinted bool
	}{
		"no word":                 {intakeText + refusal, note, false},
		"a row with the status":   {intakeText + refusal + row, note, true},
		"a word in a refusal":     {intakeText + refusal + strings.Replace(refusal, `{`, `{"intake": "TURNED_DOWN", `, 1) + row, nil, false},
		"no refusal":              {intakeText + row, nil, false},
		"a status in numbers":     {strings.ReplaceAll(intakeText, "TAKEN", "17") + refusal, nil, false},
		"a status that is a text": {requestText + "=== accepted\nid: 0703\n\nOK: 0703\n\n=== refused\nhttp: 400\nclass: invalid\n\nERR 1", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			examples, err := Parse(tt.text)
			require.NoError(t, err)
			result, err := Learn(examples)
			require.NoError(t, err)
			assert.Equal(t, tt.want, at(overlayOf(t, result), "sms.send", "refused//"))
			assert.Equal(t, tt.isPrinted, slices.Contains(result.Warnings, "sms.send.refused: "+note))
		})
	}
}

// TestLearnKnownStatusOfRefusal: the line status: of a refusal names the word there, and so the member of the status.
func TestLearnKnownStatusOfRefusal(t *testing.T) {
	t.Parallel()
	const accepted = requestText + "=== accepted\nid: h-1\n\n" + `{"messageId": "h-1", "intake": "TAKEN", "state": "new"}` + "\n\n"
	got, err := learnObject(t, accepted+"=== refused\nhttp: 422\nclass: invalid\nstatus: TURNED_DOWN\n\n"+`{"intake": "TURNED_DOWN", "state": "void"}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"intake"}, at(got, "sms.send", "response", "status"))
	assert.Equal(t, []any{"TURNED_DOWN"}, at(got, "sms.send", "refused"))
	assert.Contains(t, at(got, "sms.send", "accepted"), "TAKEN")

	got, err = learnObject(t, requestText+"=== accepted\nid: 0703\n\nOK: 0703\n\n=== refused\nhttp: 200\nclass: invalid\nstatus: ERR 1\n\nERR 1")
	require.NoError(t, err)
	assert.Equal(t, []any{"ERR 1"}, at(got, "sms.send", "refused"))

	_, err = learnObject(t, requestText+"=== accepted\nid: 0703\n\nOK: 0703\n\n=== refused\nhttp: 400\nclass: invalid\nstatus: no\n\n"+`{"code": "E1", "done": "no"}`)
	require.ErrorContains(t, err, `the status "no" is a member here, but an accepted response is a text`)

	for body, want := range map[string]string{
		`{"intake": "LEFT"}`:                    `nothing in the example has the value of status, "TURNED_DOWN"`,
		`{"outcome": "TURNED_DOWN", "code": 1}`: `the status "TURNED_DOWN", at outcome, is not that of the response`,
	} {
		_, err = learnObject(t, accepted+"=== refused\nhttp: 422\nclass: invalid\nstatus: TURNED_DOWN\n\n"+body)
		require.ErrorContains(t, err, want)
	}
}
