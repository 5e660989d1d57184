package messagingtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSendResponse(t *testing.T) {
	s := NewServer(t)
	began := time.Now()
	body := `{"from":"ACME","to":"+639171234567","text":"Hi <Ana> & Bob","dlrCallback":"https://example.com/dlr?s=%s&id=%i",` +
		`"dlrReport":1,"referenceId":"order-17","app":"billing","nested":{"a":[1,2]}}`
	r := send(t, newClient(t), s, body)
	assert.Equal(t, "application/json", r.header.Get("Content-Type"))
	assert.Equal(t, map[string]string{
		"id": "msg-1", "requestId": "req-1", "referenceId": "order-17", "messageParts": "1", "unitCost": "0.50",
		"transactionCost": "0.50", "remaining": "999999.50", "operatorCode": "OP_1", "currency": "XTS",
	}, r.data(t))
	assert.NotContains(t, string(r.body), "639171234567")
	assert.NotContains(t, string(r.body), "Ana")

	sent := s.Sent()
	require.Len(t, sent, 1)
	assert.WithinRange(t, sent[0].At, began, time.Now())
	sent[0].At = time.Time{}
	assert.Equal(t, Sent{
		ID: "msg-1", Channel: channelSMS, Kind: "text", Body: json.RawMessage(body),
		From: "ACME", To: "+639171234567", Text: "Hi <Ana> & Bob", CallbackURL: "https://example.com/dlr?s=%s&id=%i",
		ReferenceID: "order-17", Parts: 1, RequestID: "req-1",
		Extra: map[string]json.RawMessage{"app": []byte(`"billing"`), "nested": []byte(`{"a":[1,2]}`)},
	}, sent[0])
}

func TestSendMinimalMessage(t *testing.T) {
	s := NewServer(t)
	data := send(t, newClient(t), s, goodBody).data(t)
	assert.NotContains(t, data, "referenceId")
	assert.Nil(t, s.Sent()[0].Extra)
}

func TestSendAcceptsSameReference(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	body := `{"from":"ACME","to":"639171234567","text":"Hi","referenceId":"order-17"}`
	first, second := send(t, client, s, body).data(t), send(t, client, s, body).data(t)
	assert.NotEqual(t, first["id"], second["id"])
	assert.Len(t, s.Sent(), 2)
}

func TestSendRefuses(t *testing.T) {
	checkRefusals(t, "/sms/send", map[string]refusal{
		"no body":                 {``, codeBody},
		"not JSON":                {`from=ACME&to=639171234567`, codeBody},
		"cut JSON":                {`{"from":"ACME","to":"639171234567","text":"Hi"`, codeBody},
		"a comma too many":        {`{"from":"ACME","to":"639171234567","text":"Hi",}`, codeBody},
		"an array":                {`[` + goodBody + `]`, codeBody},
		"null":                    {`null`, codeBody},
		"a string":                {`"Hi"`, codeBody},
		"two documents":           {goodBody + goodBody, codeBody},
		"text after it":           {goodBody + "x", codeBody},
		"a name twice":            {`{"from":"ACME","to":"639171234567","text":"Hi","text":"Ho"}`, codeBody},
		"a name twice inside":     {`{"from":"ACME","to":"639171234567","text":"Hi","app":[{"a":1e999,"b":{},"a":2}]}`, codeBody},
		"not UTF-8":               {"{\"from\":\"ACME\",\"to\":\"639171234567\",\"text\":\"H\xff\"}", codeBody},
		"from absent":             {`{"to":"639171234567","text":"Hi"}`, codeMissing},
		"from empty":              {`{"from":"","to":"639171234567","text":"Hi"}`, codeMissing},
		"from by another case":    {`{"From":"ACME","to":"639171234567","text":"Hi"}`, codeMissing},
		"from null":               {`{"from":null,"to":"639171234567","text":"Hi"}`, codeKind},
		"to absent":               {`{"from":"ACME","text":"Hi"}`, codeMissing},
		"to empty":                {`{"from":"ACME","to":"","text":"Hi"}`, codeMissing},
		"to a number":             {`{"from":"ACME","to":639171234567,"text":"Hi"}`, codeKind},
		"to a list":               {`{"from":"ACME","to":["639171234567"],"text":"Hi"}`, codeKind},
		"text absent":             {`{"from":"ACME","to":"639171234567"}`, codeMissing},
		"text empty":              {`{"from":"ACME","to":"639171234567","text":""}`, codeMissing},
		"text an object":          {`{"from":"ACME","to":"639171234567","text":{}}`, codeKind},
		"reference a number":      {`{"from":"ACME","to":"639171234567","text":"Hi","referenceId":17}`, codeKind},
		"4 digits":                {`{"from":"ACME","to":"6391","text":"Hi"}`, codeRecipient},
		"16 digits":               {`{"from":"ACME","to":"6391712345678901","text":"Hi"}`, codeRecipient},
		"two plus":                {`{"from":"ACME","to":"++639171234567","text":"Hi"}`, codeRecipient},
		"plus in the middle":      {`{"from":"ACME","to":"63917+1234567","text":"Hi"}`, codeRecipient},
		"blanks in the number":    {`{"from":"ACME","to":"63 917 1234567","text":"Hi"}`, codeRecipient},
		"a word":                  {`{"from":"ACME","to":"nobody","text":"Hi"}`, codeRecipient},
		"other digits":            {`{"from":"ACME","to":"٦٣٩١٧١٢٣٤٥٦٧","text":"Hi"}`, codeRecipient},
		"callback, no report":     {withCallback(`"https://example.com/dlr"`, ``), codeCallback},
		"callback a number":       {withCallback(`1`, `1`), codeKind},
		"callback empty":          {withCallback(`""`, `1`), codeMissing},
		"callback a path":         {withCallback(`"/dlr"`, `1`), codeCallback},
		"callback ftp":            {withCallback(`"ftp://example.com/dlr"`, `1`), codeCallback},
		"callback without host":   {withCallback(`"https:///dlr"`, `1`), codeCallback},
		"callback of port only":   {withCallback(`"https://:80/dlr"`, `1`), codeCallback},
		"callback with a blank":   {withCallback(`"https://example.com/a b"`, `1`), codeCallback},
		"callback with a newline": {withCallback(`"https://example.com/a\nb"`, `1`), codeCallback},
	})
}

func withCallback(callback, report string) string {
	if report != "" {
		report = `,"dlrReport":` + report
	}
	return `{"from":"ACME","to":"639171234567","text":"Hi","dlrCallback":` + callback + report + `}`
}

func TestSendAcceptsEdges(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	for _, body := range []string{
		`{"from":"ACME","to":"63917","text":"Hi"}`,
		`{"from":"ACME","to":"+639171234567890","text":"Hi"}`,
		`{"from":"639170000000","to":"639171234567","text":" "}`,
		`{"from":"ACME","to":"639171234567","text":"Hi","referenceId":""}`,
		" \n" + goodBody + "\n",
		withCallback(`"http://127.0.0.1:8080"`, `1`),
		withCallback(`"HTTPS://user@example.com/%i/%s?x=%tr&y=100%#%"`, `1`),
		withCallback(`"http://[::1]:80?s=%s"`, `1`),
	} {
		send(t, client, s, body).data(t)
	}
	assert.Len(t, s.Sent(), 8)
}

func TestSendContentType(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	for kind, status := range map[string]int{
		"application/json":                  200,
		"application/json; charset=utf-8":   200,
		"application/json; charset=UTF-8":   200,
		"Application/JSON":                  200,
		"application/json; charset=latin-1": 400,
		"application/x-www-form-urlencoded": 400,
		"text/plain":                        400,
		"application/json; charset":         400,
		"":                                  400,
	} {
		req := newRequest(t, s, goodBody)
		req.Header.Set("Content-Type", kind)
		r := do(client, req)
		require.NoError(t, r.err)
		assert.Equal(t, status, r.status, kind)
		if status != 200 {
			assert.Equal(t, codeContentType, r.code(t), kind)
		}
	}
}

func TestParts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		parts      int
	}{
		{"one", "a", 1},
		{"160 of GSM-7", strings.Repeat("a", 160), 1},
		{"161 of GSM-7", strings.Repeat("a", 161), 2},
		{"306 of GSM-7", strings.Repeat("é", 306), 2},
		{"307 of GSM-7", strings.Repeat("\n", 307), 3},
		{"80 of the extension", strings.Repeat("€", 80), 1},
		{"81 of the extension", strings.Repeat("€", 81), 2},
		{"an extension is not divided", strings.Repeat("a", 152) + "{" + strings.Repeat("a", 152), 3},
		{"160 that do not fit into two parts' headers", strings.Repeat("a", 152) + "{aaaaaa", 1},
		{"70 of UCS-2", strings.Repeat("я", 70), 1},
		{"71 of UCS-2", strings.Repeat("я", 71), 2},
		{"134 of UCS-2", strings.Repeat("я", 134), 2},
		{"135 of UCS-2", strings.Repeat("я", 135), 3},
		{"35 beyond the basic plane", strings.Repeat("😀", 35), 1},
		{"36 beyond the basic plane", strings.Repeat("😀", 36), 2},
		{"a pair is not divided", strings.Repeat("😀", 67), 3},
		{"no GSM-7: ç", "ç" + strings.Repeat("a", 70), 2},
		{"no GSM-7: backquote", "`" + strings.Repeat("a", 69), 1},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.parts, countParts(tc.text)) })
	}
}

func TestSendCountsParts(t *testing.T) {
	s := NewServer(t)
	data := send(t, newClient(t), s, `{"from":"ACME","to":"639171234567","text":"`+strings.Repeat("я", 135)+`"}`).data(t)
	assert.Equal(t, "3", data["messageParts"])
	assert.Equal(t, "0.50", data["unitCost"])
	assert.Equal(t, "1.50", data["transactionCost"])
	assert.Equal(t, "999998.50", data["remaining"])
	assert.Equal(t, 3, s.Sent()[0].Parts)
}
