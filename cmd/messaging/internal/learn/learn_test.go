package learn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// requestText is an example that most tests begin with.
const requestText = `=== request
from: ACME
to: 639171234567
text: Your order is ready
reference: order-17
callback: https://shop.example.com/dlr

curl https://api.example.com/v3/messages -H 'Authorization: Bearer TOKEN' \
  -d '{"sender": "ACME", "recipient": "639171234567", "body": "Your order is ready", "ref": "order-17",
       "notify": {"url": "https://shop.example.com/dlr", "format": "json"}, "channel": "sms"}'

`

const acceptedText = `=== accepted
id: h-1

{"messageId": "h-1", "state": "queued"}

`

// learnObject learns from the text of a file.
func learnObject(t *testing.T, text string) (map[string]any, error) {
	t.Helper()
	examples, err := Parse(text)
	require.NoError(t, err)
	got, err := Learn(examples)
	if err != nil {
		return nil, err
	}
	return overlayOf(t, got), nil
}

// overlayOf returns the overlay of a result as an object.
func overlayOf(t *testing.T, result Result) map[string]any {
	t.Helper()
	var overlay map[string]any
	require.NoError(t, json.Unmarshal([]byte(result.Overlay), &overlay))
	return overlay
}

// at returns the value at keys of an overlay.
func at(overlay map[string]any, keys ...string) any {
	var value any = overlay
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

func TestLearnRequest(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"text": "body", "to": "recipient", "from": "sender", "reference": "ref", "callback": "notify.url",
	}, at(got, "sms.send", "fields"))
	assert.Equal(t, map[string]any{"channel": "sms"}, at(got, "sms.send", "constants"))
	assert.Equal(t, map[string]any{"callback": map[string]any{"notify.format": "json"}}, at(got, "sms.send", "with"))
	assert.Equal(t, "/v3/messages", at(got, "sms.send", "path"))
	assert.Nil(t, got["auth"], "a bearer token is the default")
}

func TestLearnCredentials(t *testing.T) {
	t.Parallel()
	const (
		values = "=== request\nto: 639171234567\ntext: Hi there\n"
		body   = `{"to":"639171234567","text":"Hi there"}`
	)
	credentials := map[string]string{"token": "T0ken", "key": "K3y", "secret": "S3cret"}
	for name, tt := range map[string]struct {
		request string
		want    map[string]any
	}{
		"a scheme":      {"POST /m\nAuthorization: App T0ken\n\n" + body, map[string]any{"token": map[string]any{"scheme": "App"}}},
		"a token alone": {"POST /m\nAuthorization: T0ken\n\n" + body, map[string]any{"token": map[string]any{"scheme": ""}}},
		"a token in a header": {
			"POST /m\nX-Gate: T0ken\n\n" + body, map[string]any{"token": map[string]any{"header": "X-Gate", "scheme": ""}},
		},
		"a user and a password": {"curl -u K3y:S3cret https://x.example/m -d '" + body + "'", map[string]any{"keyPair": map[string]any{"in": "basic"}}},
		"basic":                 {"POST /m\nAuthorization: Basic SzN5OlMzY3JldA==\n\n" + body, map[string]any{"keyPair": map[string]any{"in": "basic"}}},
		"two headers": {
			"POST /m\nX-Key: K3y\nX-Secret: S3cret\n\n" + body,
			map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Key", "secret": "X-Secret"}},
		},
		"a key alone": {
			"POST /m\nX-Api-Key: anything\n\n" + body, map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Api-Key", "secret": ""}},
		},
		"the query": {
			"POST /m?u=K3y&p=S3cret\n\n" + body, map[string]any{"keyPair": map[string]any{"in": "query", "key": "u", "secret": "p"}},
		},
		"the body": {
			"POST /m\n\nto=639171234567&text=Hi+there&u=K3y&p=S3cret", map[string]any{"keyPair": map[string]any{
				"in": "body", "in//": "a listing by GET has no body: look up where its credentials go", "key": "u", "secret": "p",
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := values
			for key, value := range credentials {
				if strings.Contains(tt.request, value) {
					lines += key + ": " + value + "\n"
				}
			}
			got, err := learnObject(t, lines+"\n"+tt.request+"\n\n"+acceptedText+"=== row\nid: h-1\n\n"+`{"rows": [{"handle": "h-1"}]}`)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got["auth"])
			text, err := json.Marshal(got)
			require.NoError(t, err)
			for _, secret := range []string{"T0ken", "K3y", "S3cret", "anything"} {
				assert.NotContains(t, string(text), secret)
			}
		})
	}
}

// TestLearnRefusesUnusedCredential: the error does not show the credential.
func TestLearnRefusesUnusedCredential(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"token", "key", "secret"} {
		_, err := learnObject(t, strings.Replace(requestText, "from: ACME", "from: ACME\n"+key+": T0ken", 1)+acceptedText)
		require.ErrorContains(t, err, "nothing in the example has the value of "+key)
		assert.NotContains(t, err.Error(), "T0ken")
	}
}

// TestLearnEmptyHeader: a header without a value has no token in it, even if the example names none.
func TestLearnEmptyHeader(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== request\nto: 639171234567\ntext: Hi there\n\nPOST /m\nX-Api-Key:\n\n"+
		`{"to":"639171234567","text":"Hi there"}`+"\n\n"+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Api-Key", "secret": ""}}, got["auth"])
}

// TestLearnLeavesUnknownCredentialsOut: an undeclared secret must not become a constant.
func TestLearnLeavesUnknownCredentialsOut(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, strings.Replace(requestText, `"channel": "sms"`, `"api_key": "hush", "userToken": "hush"`, 1)+acceptedText)
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hush")
	assert.Contains(t, at(got, "sms.send", "constants", "api_key//"), "looks like a credential")
	assert.Nil(t, at(got, "sms.send", "constants//"), "no message is sent with a constant")
}

func TestLearnHeadersAndVariables(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== request\nto: 639171234567\ntext: Hi there\n\nPOST https://api.example.com/v1/{accountId}/<app>/sms HTTP/1.1\n"+
		"Host: api.example.com\nX-Version: 3\n\n"+`{"to":"639171234567","text":"Hi there"}`+"\n\n"+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, "/v1/{accountid}/{app}/sms", at(got, "sms.send", "path"))
	assert.Equal(t, map[string]any{"X-Version": "3"}, got["headers"])
}

// TestLearnQuery learns a request whose parameters are all in its query.
func TestLearnQuery(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== request\nto: 639171234567\ntext: Hi there\n\ncurl -X POST 'https://api.example.com/sms?n=639171234567&m=Hi%20there&v=2'\n\n"+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, "query", at(got, "sms.send", "encoding"))
	assert.Equal(t, "n", at(got, "sms.send", "fields", "to"))
	assert.Equal(t, map[string]any{"v": "2"}, at(got, "sms.send", "constants"))
}

// TestLearnText learns a response that is a text.
func TestLearnText(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+"=== accepted\nid: 0703\n\nOK: 0703\n\n=== refused\nhttp: 200\nclass: unauthorized\n\nERR 401\n")
	require.NoError(t, err)
	assert.Equal(t, []any{""}, at(got, "sms.send", "response", "status"))
	assert.Equal(t, []any{}, at(got, "sms.send", "response", "id"))
	assert.Contains(t, at(got, "sms.send", "accepted"), "OK: *")
	assert.Equal(t, []any{"ERR 401"}, at(got, "errors", "classes", "unauthorized"))
}

// TestLearnRejectsExamples has contradictory examples, and requests that a contract cannot make.
func TestLearnRejectsExamples(t *testing.T) {
	t.Parallel()
	request := func(text string) string {
		return "=== request\nto: 639171234567\ntext: Hi there\n\n" + text + "\n\n" + acceptedText
	}
	const body = `{"to":"639171234567","text":"Hi there"}`
	for name, tt := range map[string]struct{ text, want string }{
		"a refusal that looks accepted": {
			requestText + acceptedText + "=== refused\nhttp: 200\nclass: invalid\n\n" + `{"messageId": "h-2", "state": "queued"}`,
			"line 17, refused: the result is accepted and not refused",
		},
		"an accepted response without anything": {
			requestText + "=== accepted\n\n{\"x\": []}\n", "line 12, accepted: the result is unknown and not accepted",
		},
		"a refusal of another class": {
			requestText + acceptedText + "=== refused\nhttp: 401\nclass: invalid\n\n{\"oops\": 1}", "refused as unauthorized and not as invalid",
		},
		"an ID that is not there":      {requestText + "=== accepted\nid: h-9\n\n{\"messageId\": \"h-1\"}\n", `nothing in the example has the value of id, "h-9"`},
		"another recipient":            {requestText + "=== accepted\nid: h-1\n\n" + `{"messageId": "h-1", "recipient": "447700900000"}`, "add the line to:"},
		"a value at two places":        {request("POST /m\n\n" + `{"to":"639171234567","text":"Hi there","copy":"639171234567"}`), "a contract writes it once"},
		"a value within another":       {request("POST /m\n\n" + `{"to":"639171234567","text":"Hi there","log":"to 639171234567"}`), "a contract writes it once"},
		"a value in the path":          {request("POST /m/639171234567\n\n" + body), "the path has the value of to"},
		"a value in a header":          {request("POST /m\nX-To: 639171234567\n\n" + body), "the header X-To has a value of the message"},
		"no text":                      {request("POST /m\n\n" + `{"to":"639171234567"}`), `nothing in the example has the value of text`},
		"a GET":                        {request("GET /m?to=639171234567&text=Hi+there"), "the request is a GET"},
		"a list":                       {request("POST /m\n\n[" + body + "]"), "the request is a list"},
		"XML":                          {request("POST /m\n\n<to>639171234567</to>"), "the request is XML"},
		"a multipart form":             {request("curl https://x.example/m -F to=639171234567"), "multipart form"},
		"a file":                       {request("curl https://x.example/m -d @message.json"), "names a file"},
		"a quote without end":          {request("curl https://x.example/m -d '{"), "has no end"},
		"parameters and a body":        {request("POST /m?x=1\n\n" + body), `the parameter "x" in its query as well as a body`},
		"a body without its path":      {request(body), "want the line path:"},
		"a delivery with another word": {requestText + acceptedText + "=== delivery\nid: h-1\nstatus: gone\nmeans: failed\n\nid=h-1&status=left", `nothing in the example has the value of status, "gone"`},
		"a row without the ID":         {requestText + acceptedText + "=== row\nid: h-7\n\n" + `{"rows": [{"messageId": "h-1"}]}`, `nothing in the example has the value of id, "h-7"`},
		"a time that nothing reads":    {requestText + acceptedText + "=== row\nid: h-1\ncreated: 5th of May\n\n" + `{"rows": [{"messageId": "h-1", "at": "5th of May"}]}`, "the default contract does not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := learnObject(t, tt.text)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestLearnCodesOfSuccess: a response with another code must not count as accepted.
func TestLearnCodesOfSuccess(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+"=== accepted\nid: h-1\n\n"+`{"result": {"errorCode": 100, "countryCode": "PH", "messageId": "h-1"}}`+"\n")
	require.NoError(t, err)
	assert.Equal(t, []any{"code", "error.code", "result.errorCode"}, at(got, "errors", "code"))
	assert.Contains(t, at(got, "errors", "success"), "100")
	assert.NotContains(t, at(got, "errors", "success"), "PH")
}

// TestLearnStatus has responses with several members that may be the status.
func TestLearnStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ accepted, refused, want string }{
		"the member that differs in a refusal": {
			`{"id": "h-1", "status": "done", "outcome": "kept"}`, `{"status": "done", "outcome": "dropped"}`, "outcome",
		},
		"a name of a status":          {`{"id": "h-1", "type": "sms", "state": "queued"}`, "", "state"},
		"a word and not its sentence": {`{"id": "h-1", "status": "0", "statusText": "Message was sent"}`, "", "status"},
		"a word and not its number":   {`{"id": "h-1", "status": {"id": "26", "group": "pending"}}`, "", "status.group"},
		"the status next to the ID":   {`{"a": {"status": "fine"}, "message": {"id": "h-1", "status": "queued"}}`, "", "message.status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := requestText + "=== accepted\nid: h-1\n\n" + tt.accepted + "\n"
			if tt.refused != "" {
				text += "=== refused\nhttp: 200\nclass: invalid\n\n" + tt.refused + "\n"
			}
			got, err := learnObject(t, text)
			require.NoError(t, err)
			assert.Equal(t, []any{tt.want}, at(got, "sms.send", "response", "status"))
		})
	}
}

// TestLearnRemovesTakenPaths has a service whose ID has the default name of another concept: two concepts cannot share a path.
func TestLearnRemovesTakenPaths(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+"=== accepted\nid: h-1\n\n"+`{"requestId": "h-1"}`+"\n")
	require.NoError(t, err)
	assert.Equal(t, []any{"requestId"}, at(got, "sms.send", "response", "id"))
	assert.NotContains(t, at(got, "sms.send", "response", "request"), "requestId")
}

func TestLearnKnownStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ status, response, refusal, path, word string }{
		"a boolean":               {"true", `{"result": {"id": "h-1"}, "ok": true}`, `{"ok": false, "error": "x"}`, "ok", "true"},
		"a boolean next to codes": {"true", `{"result": {"id": "h-1"}, "ok": true}`, `{"ok": false, "code": "E1"}`, "ok", "true"},
		"a word":                  {"fine", `{"result": {"id": "h-1"}, "ok": "fine"}`, `{"ok": "false"}`, "ok", "fine"},
		"a list":                  {"true", `{"id": "h-1", "ok": [true]}`, `{"ok": [false]}`, "ok.0", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learnObject(t, requestText+"=== accepted\nid: h-1\nstatus: "+tt.status+"\n\n"+tt.response+
				"\n\n=== refused\nhttp: 200\nclass: invalid\n\n"+tt.refusal)
			require.NoError(t, err)
			assert.Equal(t, []any{tt.path}, at(got, "sms.send", "response", "status"))
			assert.Contains(t, at(got, "sms.send", "accepted"), tt.word)
			assert.Equal(t, []any{"false"}, at(got, "sms.send", "refused"))
		})
	}
}

// TestLearnRefusesUnusedValue: a value that a line gives is found and used, or the error says why not.
func TestLearnRefusesUnusedValue(t *testing.T) {
	t.Parallel()
	const response = `{"result": {"id": "h-1"}, "ok": true}`
	for want, examples := range map[string]string{
		`nothing in the example has the value of status, "nope"`:      "id: h-1\nstatus: nope\n\n" + response,
		`the status "h-1", at result.id, is not that of the response`: "id: h-1\nstatus: h-1\n\n" + response,
		`the status "true", at ok, is not that of the response`: "id: h-1\nstatus: true\n\n" + response +
			"\n\n=== refused\nhttp: 200\nclass: invalid\n\n" + `{"ok": true}`,
		`the status "done", at a, is not that of the response`: "id: h-1\nstatus: done\n\n" + `{"id": "h-1", "a": "done"}` +
			"\n\n=== accepted\nid: h-1\nstatus: kept\n\n" + `{"id": "h-1", "b": "kept"}`,
		`nothing in the example has the value of to, "639170000009"`: "id: h-1\nto: 639170000009\n\n" + response,
		`nothing in the example has the value of id, "h-2"`:          "id: h-2\n\nOK h-1",
		`nothing in the example has the value of status, "DONE"`:     "id: h-1\nstatus: DONE\n\nOK h-1",
		`cost: "0.5" is within a text`:                               "id: h-1\ncost: 0.5\n\nOK h-1 0.5",
	} {
		_, err := learnObject(t, requestText+"=== accepted\n"+examples)
		require.ErrorContains(t, err, want)
	}
}

// TestLearnKeepsKnownReference has the reference at its default path, and a request without one.
func TestLearnKeepsKnownReference(t *testing.T) {
	t.Parallel()
	request := strings.NewReplacer("reference: order-17\n", "", `, "ref": "order-17"`, "").Replace(requestText)
	got, err := learnObject(t, request+"=== accepted\nid: h-1\nreference: r-1\n\n"+`{"messageId": "h-1", "referenceId": "r-1"}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"referenceId"}, at(got, "sms.send", "response", "reference"))
}

// TestLearnNumericStatuses: the default contract's guess that 1 means delivered is dropped for a service with numeric statuses.
func TestLearnNumericStatuses(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText+"=== delivery\nid: h-1\nstatus: 3\nmeans: delivered\n\nid=h-1&s=3\n")
	require.NoError(t, err)
	delivered := at(got, "webhook.delivery", "statuses", "delivered")
	assert.Contains(t, delivered, "3")
	assert.NotContains(t, delivered, "1")
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"no heading":         {"curl", "line 1: want a heading"},
		"an unknown kind":    {"=== requests\n", "want one of === request, accepted"},
		"an unknown key":     {"=== accepted\ncolour: red\n", `line 2: unknown key "colour"; want one of http`},
		"a key twice":        {"=== accepted\nid: a\nid: b\n", `line 3: the key "id" is repeated`},
		"no request":         {acceptedText, "add a section === request"},
		"no accepted":        {requestText, "add a section === accepted"},
		"two requests":       {requestText + requestText, "there is one on line 1"},
		"no recipient":       {"=== request\ntext: Hi\n\ncurl", "want the line to:"},
		"no example":         {"=== request\nto: 1\ntext: Hi\n", "the text of the example is missing"},
		"no status":          {"=== refused\nclass: invalid\n\n{}", "want the line http:"},
		"no HTTP status":     {"=== refused\nclass: invalid\nhttp: never\n\n{}", `want an HTTP status, got "never"`},
		"a status of 500":    {"=== refused\nclass: invalid\nhttp: 500\n\n{}", "want the status of a refusal"},
		"an unknown class":   {"=== refused\nclass: wrong\nhttp: 400\n\n{}", "class: want one of duplicate, forbidden"},
		"no meaning":         {"=== delivery\nid: 1\nstatus: 7\n\na=1", "want the line means:"},
		"an unknown meaning": {"=== delivery\nid: 1\nstatus: LOST\nmeans: lost\n\na=1", `means: want one of delivered, read, queued, sent, failed, expired, rejected, got "lost"`},
		"an assignment":      {"=== request\nfrom=ACME\nto: 1\n\nto=1", `line 2: "from=" is no "name: value"; want "from: " and the value, or an empty line in front of the text`},
		"a relative path":    {"=== request\nto: 1\ntext: Hi\npath: m\n\n{}", "begins with /"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(tt.text)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestParseReadsFormBelowKeys: a form is a text, even without an empty line in front of it.
func TestParseReadsFormBelowKeys(t *testing.T) {
	t.Parallel()
	examples, err := Parse(requestText + acceptedText + "=== delivery\nid: h-1\nstatus: DELIVRD\nid=h-1&s=DELIVRD\n")
	require.NoError(t, err)
	assert.Equal(t, "id=h-1&s=DELIVRD", examples.delivery[0].text)
}

// TestParseReadsStatusLine reads a response with a status line.
func TestParseReadsStatusLine(t *testing.T) {
	t.Parallel()
	examples, err := Parse(requestText + "=== accepted\nid: h-1\n\nHTTP/1.1 202 Accepted\nContent-Type: application/json\n\n{\"messageId\": \"h-1\"}\n")
	require.NoError(t, err)
	assert.Equal(t, 202, examples.accepted[0].status)
	assert.Equal(t, `{"messageId": "h-1"}`, examples.accepted[0].text)
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`curl -H 'a: b' "c d"`:            {"curl", "-H", "a: b", "c d"},
		"curl \\\n  -d x":                 {"curl", "-d", "x"},
		`a"b\"c\\d\$e\n"f`:                {`ab"c\d$e\nf`},
		`$'it\'s\u00e9\x41\n'`:            {"it's\u00e9A\n"},
		`$'\x21abc'`:                      {"!abc"},
		`$'\xc3\xa9\xc2\x85'`:             {"\u00e9\u0085"},
		`$'\d\xg\ug\\\"\a'`:               {`\d\xg\ug\"` + "\a"},
		`'it'\''s'`:                       {"it's"},
		`a\ b '' ""`:                      {"a b", "", ""},
		`''>a`:                            {""},
		`-d '{"a": "\u00e9"}' $TOKEN <x>`: {"-d", `{"a": "\u00e9"}`, "$TOKEN", "<x>"},
		`$'\ud83d\ude00 \ud83dx\ude00'`:   {"😀 \uFFFDx\uFFFD"},
		`a | jq 'b'`:                      {"a"},
		`'a'|jq`:                          {"a"},
		`a && b`:                          {"a"},
		`a&`:                              {"a"},
		`a; b`:                            {"a"},
		`a > b`:                           {"a"},
		`a 2>/dev/null`:                   {"a"},
		"a # it's\n b":                    {"a", "b"},
		`a#b '#' "|" \; '&>'`:             {"a#b", "#", "|", ";", "&>"},
		`x/<a>/m?b=1&c=<d>`:               {"x/<a>/m?b=1&c=<d>"},
	} {
		got, err := shellWords(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// parseSend reads a request of a send.
func parseSend(text string) (*request, error) {
	example := &Example{text: text}
	return example.parseSend()
}

func TestParseCurl(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]request{
		`curl -sS -XPOST https://x.example/m -d a=1 -d b=2`:                        {method: "POST", path: "/m", body: "a=1&b=2", isForm: true},
		`$ curl --request POST --url=https://x.example/m --json '{"a": 1}'`:        {method: "POST", path: "/m", body: `{"a": 1}`, isJSON: true},
		`curl x.example/m --data-urlencode 'a=1 & 2' --data-raw @b=3 --compressed`: {method: "POST", path: "/m", body: "a=1+%26+2&@b=3", isForm: true},
		`curl -G -X POST https://x.example/m?a=1 -d b=2`:                           {method: "POST", path: "/m", query: "a=1&b=2"},
		`curl -sX POST https://x.example/m -d a=1`:                                 {method: "POST", path: "/m", body: "a=1", isForm: true},
		`curl https://x.example/m -sXPOST -sSd a=1`:                                {method: "POST", path: "/m", body: "a=1", isForm: true},
		`curl -sG -X POST https://x.example/m --data-urlencode 'a=1 2'`:            {method: "POST", path: "/m", query: "a=1+2"},
		`curl -sH 'Accept: */*' https://x.example/m -d a=1`:                        {method: "POST", path: "/m", body: "a=1", isForm: true},
	} {
		got, err := parseSend(text)
		require.NoError(t, err, text)
		got.header = nil
		assert.Equal(t, want, *got, text)
	}
}

// TestParseCurlIgnoresWhatDoesNotChangeTheRequest has commands as documentation shows them, with their surroundings.
func TestParseCurlIgnoresWhatDoesNotChangeTheRequest(t *testing.T) {
	t.Parallel()
	for _, around := range []string{
		"CURL | jq", "CURL|jq", "CURL > out", "CURL >out", "CURL 2>/dev/null", "CURL; echo", "CURL && echo", "CURL &", "CURL # note", "CURL | jq '{\n id }'",
		"CURL --retry-delay 1", "CURL -D file", "CURL --resolve x.example:443:127.0.0.1", "CURL -sSD file --max-redirs=3", "CURL --limit-rate 1k -i",
	} {
		text := strings.Replace(around, "CURL", `curl https://x.example/v1/sms -d '{"to": "639171234567"}'`, 1)
		got, err := parseSend(text)
		require.NoError(t, err, text)
		assert.Equal(t, "/v1/sms", got.path, text)
		assert.JSONEq(t, `{"to": "639171234567"}`, got.body, text)
	}
}

// TestParseCurlRefusesWhatItCannotLearn has options that change the request in a way that a contract cannot, and commands of several requests.
func TestParseCurlRefusesWhatItCannotLearn(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"https://x.example/v2/sms?key=hunter2":       "curl: a second URL, https://x.example/v2/sms: want one request",
		"https://me:hunter2@x.example/v2/sms":        "curl: a second URL, https://x.example/v2/sms: want one request",
		"--url https://x.example/v2/sms":             "curl: --url: a second URL, https://x.example/v2/sms: want one request",
		"--unknown hunter2":                          "curl: a word that is neither an option nor the URL",
		"-H Authorization: hunter2":                  "curl: a word that is neither an option nor the URL: put a value with spaces into quotes",
		"--next https://x.example/v2/sms":            "a second URL, https://x.example/v2/sms",
		"-K options.txt":                             "curl: -K: names a file",
		"--url-query a=1":                            "curl: --url-query: put its parameters into the URL",
		"--request-target /m":                        "curl: --request-target: put its path into the URL",
		"--aws-sigv4 aws:amz:eu-west-1:sms -u id:no": "curl: --aws-sigv4: signs the request, which a contract cannot do",
		"-d": "curl: -d has no value",
	} {
		_, err := parseSend("curl https://x.example/v1/sms -d to=639171234567 " + options)
		require.ErrorContains(t, err, want, options)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// parsers are inputs that a person pastes.
func parsers() []string {
	return []string{
		`curl -H 'A: b' https://x.example/m?a=%zz -d "$'x"`, "POST /m HTTP/1.1\nA: b\n\n{\"a\": [1, {\"b\": null}]}", `{"a": {"b": [[], {}]}}`,
		`curl x.example 2>a | b -d; $'\ud83d\u`,
		"a=1&b=%&&=&c", "https://x.example/in?from=1&text=a%20b", "<html>", "", "curl", "curl -d", "POST", "[{}]", "\x00\xff",
	}
}

func FuzzParsers(f *testing.F) {
	for _, seed := range parsers() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseSend(text); err == nil {
			require.Equal(t, "POST", r.method)
			require.True(t, r.path == "" || strings.HasPrefix(r.path, "/"), r.path)
		}
		command, rest := cutCurl(text)
		require.LessOrEqual(t, len(command)+len(rest), len(text))
		if c, err := parseCallback(text); err == nil {
			require.NotNil(t, c.call())
		}
		require.LessOrEqual(t, len(leavesOf(text)), maxLeaves)
	})
}

// FuzzLearn: an overlay is a valid contract without credentials.
func FuzzLearn(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(requestText + acceptedText)
	f.Fuzz(func(t *testing.T, text string) {
		examples, err := Parse(text)
		if err != nil {
			return
		}
		got, err := Learn(examples)
		if err != nil {
			return
		}
		_, err = contract.Parse([]byte(got.Overlay))
		require.NoError(t, err)
	})
}

// A command that a browser copied has a cookie of the session.
func TestLearnKeepsNoSession(t *testing.T) {
	t.Parallel()
	text := requestText + acceptedText
	without, err := learnObject(t, text)
	require.NoError(t, err)
	with, err := learnObject(t, strings.Replace(text, " -H ", " -H 'Cookie: session=hunter2' -H ", 1))
	require.NoError(t, err)
	assert.Equal(t, without, with)
}

// A contract writes each parameter once, so a list of tags cannot be learned.
func TestLearnRefusesARepeatedParameter(t *testing.T) {
	t.Parallel()
	_, err := learnObject(t, `=== request
from: ACME
to: 639171234567
text: Hi

curl https://api.example.com/send -d from=ACME -d to=639171234567 -d text=Hi -d tag=a -d tag=b

`+acceptedText)
	require.ErrorContains(t, err, `the parameter "tag" twice`)
}
