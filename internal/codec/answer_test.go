package codec_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
)

const (
	noID        = "the answer names no message"
	unknownWord = "the answer's status is no word"
	codeZero    = "the answer holds the code 0"
	noCode      = "the answer holds something that is no code"
	bothOfThem  = "the answer names a message, and holds a code"
)

func answers(t testing.TB, overlay string) *codec.Answers {
	t.Helper()
	c := parse(t, overlay)
	return codec.CompileAnswers(c.SMSSend.Send, c.Errors)
}

func TestAnswerIsReadInEveryShape(t *testing.T) {
	full := codec.Answer{
		ID: "m-1", RequestID: "r-1", ReferenceID: "order-17", Parts: 2, UnitCost: "0.50", Cost: "1.00", Balance: "199.00", Operator: "OP_1",
	}
	fullAtTop := full
	fullAtTop.ErrorRequestID = "r-1" // where an error would name it too
	for name, tt := range map[string]struct {
		overlay, body string
		want          codec.Answer
		doubt         string // how it begins
	}{
		"enveloped": {
			body: `{"status":"ok","data":{"id":"m-1","requestId":"r-1","referenceId":"order-17","messageParts":2,"unitCost":0.50,"transactionCost":1.00,"remaining":199.00,"operatorCode":"OP_1"}}`,
			want: full,
		},
		"enveloped, numbers quoted": {
			body: `{"status":"ok","data":{"id":"m-1","requestId":"r-1","referenceId":"order-17","messageParts":"2","unitCost":"0.50","transactionCost":"1.00","remaining":"199.00","operatorCode":"OP_1"}}`,
			want: full,
		},
		"flat": {
			body: `{"id":"m-1","requestId":"r-1","referenceId":"order-17","messageParts":2,"unitCost":0.50,"transactionCost":1.00,"remainingBalance":199.00,"operatorCode":"OP_1"}`,
			want: fullAtTop,
		},
		"white space everywhere": {
			body: " \t\r\n{ \"status\" :\n\"ok\" , \"data\" : { \"id\" : \"m-1\" , \"messageParts\" : 2 } }\r\n ",
			want: codec.Answer{ID: "m-1", Parts: 2},
		},
		"unknown members beside": {
			body: `{"a":[{"id":"x"},[[]],null],"data":{"b":{"id":"x"},"id":"m-1","z":[]},"Id":"x","ID":"x"}`,
			want: codec.Answer{ID: "m-1"},
		},
		"data.transactionId":         {body: `{"data":{"transactionId":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"transactionId":              {body: `{"transactionId":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"message.transactionId":      {body: `{"message":{"transactionId":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"messages.0.id":              {body: `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`, want: codec.Answer{ID: "m-1"}},
		"Meta-shaped":                {body: `{"messaging_product":"x","contacts":[{"input":"1","wa_id":"1"}],"messages":[{"id":"m-1"}]}`, want: codec.Answer{ID: "m-1"}},
		"only a second message":      {overlay: `{"sms.send": {"answer": {"id": ["messages.1.id"]}}}`, body: `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`, want: codec.Answer{ID: "m-2"}},
		"a list at the top":          {overlay: `{"sms.send": {"answer": {"id": ["0.id"]}}}`, body: `[{"id":"m-1"}]`, want: codec.Answer{ID: "m-1"}},
		"the twelfth element":        {overlay: `{"sms.send": {"answer": {"id": ["11"]}}}`, body: `[0,1,2,3,4,5,6,7,8,9,10,"m-11"]`, want: codec.Answer{ID: "m-11"}},
		"a place that is shared":     {overlay: `{"sms.send": {"answer": {"id": ["x"], "reference": ["x"], "operator": ["x"]}}}`, body: `{"x":"v"}`, want: codec.Answer{ID: "v", ReferenceID: "v", Operator: "v"}},
		"a place within another":     {overlay: `{"sms.send": {"answer": {"id": ["x", "x.id"]}}}`, body: `{"x":{"id":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"an ID that is a number":     {body: `{"id":12345678901234567890}`, want: codec.Answer{ID: "12345678901234567890"}},
		"an ID with an exponent":     {body: `{"id":1.50E+2}`, want: codec.Answer{ID: "1.50E+2"}},
		"money exactly as written":   {body: `{"id":"m","unitCost":0.10,"transactionCost":12345678901234567890.10,"remaining":-0.50}`, want: codec.Answer{ID: "m", UnitCost: "0.10", Cost: "12345678901234567890.10", Balance: "-0.50"}},
		"remaining before balance":   {body: `{"id":"m","remainingBalance":1,"remaining":2}`, want: codec.Answer{ID: "m", Balance: "2"}},
		"data before the top":        {body: `{"id":"top","data":{"id":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"id before transactionId":    {body: `{"transactionId":"t","id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"parts that are no number":   {body: `{"id":"m","messageParts":"many"}`, want: codec.Answer{ID: "m"}},
		"parts that are a fraction":  {body: `{"id":"m","messageParts":1.5}`, want: codec.Answer{ID: "m"}},
		"parts in white space":       {body: `{"id":"m","messageParts":" 2 "}`, want: codec.Answer{ID: "m", Parts: 2}},
		"an escaped value":           {body: `{"id":"m\u002d1\n\"\\\/","operatorCode":"\ud83d\ude00 \ud83d"}`, want: codec.Answer{ID: "m-1\n\"\\/", Operator: "😀 \ufffd"}},
		"escaped names":              {body: `{"d\u0061ta":{"\u0069d":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"a name that is not ASCII":   {overlay: `{"sms.send": {"answer": {"id": ["данные.空"]}}}`, body: `{"\u0434анные":{"空":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"invalid UTF-8 in a value":   {body: "{\"id\":\"m\xff\"}", want: codec.Answer{ID: "m\ufffd"}},
		"invalid UTF-8 in a name":    {overlay: `{"sms.send": {"answer": {"id": ["x` + "\ufffd" + `"]}}}`, body: "{\"x\xff\":\"m-1\"}", want: codec.Answer{ID: "m-1"}},
		"a byte order mark":          {body: "\ufeff" + `{"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"a mark and white space":     {body: "\ufeff \n" + `{"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"a name with a dot in it":    {body: `{"data.id":"x","data":{"id":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"no list of paths":           {overlay: `{"sms.send": {"answer": {"operator": [], "status": []}}}`, body: `{"id":"m-1","status":"failed","operatorCode":"OP_1"}`, want: codec.Answer{ID: "m-1"}},
		"an object at a place":       {body: `{"data":{"id":{"id":"x"}},"id":"m-1","requestId":["r"],"operatorCode":{}}`, want: codec.Answer{ID: "m-1"}},
		"a boolean ID":               {body: `{"data":{"id":true},"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"data that is no object":     {body: `{"data":"x","id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"data that is a list":        {body: `{"data":[{"id":"x"}],"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"messages that is an object": {body: `{"messages":{"id":"x"},"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},

		"null, then the second path":        {body: `{"data":{"id":null,"requestId":null},"id":"m-1","requestId":"r-1"}`, want: codec.Answer{ID: "m-1", RequestID: "r-1", ErrorRequestID: "r-1"}},
		"null data, then the second path":   {body: `{"data":null,"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"an empty text, then the second":    {body: `{"data":{"id":"","remaining":""},"id":"m-1","remainingBalance":"5"}`, want: codec.Answer{ID: "m-1", Balance: "5"}},
		"duplicates: the last wins":         {body: `{"id":"x","id":"y","id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"duplicate parents: the last wins":  {body: `{"data":{"id":"x","requestId":"x"},"data":{"id":"m-1"}}`, want: codec.Answer{ID: "m-1"}},
		"duplicate, the last null":          {body: `{"data":{"id":"x"},"transactionId":"m-1","data":{"id":null}}`, want: codec.Answer{ID: "m-1"}},
		"duplicate parent, the last null":   {body: `{"data":{"id":"x"},"data":null,"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"duplicate parent, the last a word": {body: `{"data":{"id":"x"},"data":"x","id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"duplicate parent, the last empty":  {body: `{"messages":[{"id":"x"}],"messages":[],"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"duplicate under an escaped name":   {body: `{"id":"x","\u0069d":"m-1"}`, want: codec.Answer{ID: "m-1"}},
		"an earlier path that turns null":   {body: `{"id":"x","transactionId":"m-1","id":null}`, want: codec.Answer{ID: "m-1"}},
		"an earlier path that comes late":   {body: `{"transactionId":"t","id":null,"id":"m-1"}`, want: codec.Answer{ID: "m-1"}},

		"status ok":              {body: `{"id":"m","status":"ok"}`, want: codec.Answer{ID: "m"}},
		"status in capitals":     {body: `{"id":"m","status":"OK"}`, want: codec.Answer{ID: "m"}},
		"status in white space":  {body: `{"id":"m","status":" Ok\n"}`, want: codec.Answer{ID: "m"}},
		"status escaped":         {body: `{"id":"m","status":"\u006fk"}`, want: codec.Answer{ID: "m"}},
		"status queued":          {body: `{"id":"m","status":"queued"}`, want: codec.Answer{ID: "m"}},
		"status true":            {body: `{"id":"m","status":true}`, want: codec.Answer{ID: "m"}},
		"status true, quoted":    {body: `{"id":"m","status":"true"}`, want: codec.Answer{ID: "m"}},
		"status null":            {body: `{"id":"m","status":null}`, want: codec.Answer{ID: "m"}},
		"status absent":          {body: `{"id":"m"}`, want: codec.Answer{ID: "m"}},
		"status within data":     {body: `{"id":"m","data":{"status":"failed"}}`, want: codec.Answer{ID: "m"}},
		"status false":           {body: `{"id":"m","status":false}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status unknown":         {body: `{"id":"m","status":"rejected"}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status like a known":    {body: `{"id":"m","status":"not ok"}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status empty":           {body: `{"id":"m","status":""}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status a number":        {body: `{"id":"m","status":1}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status zero":            {body: `{"id":"m","status":0}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status an object":       {body: `{"id":"m","status":{"ok":"ok"}}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status a list":          {body: `{"id":"m","status":["ok"]}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status twice, last bad": {body: `{"id":"m","status":"ok","status":"no"}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"status twice, last ok":  {body: `{"id":"m","status":"no","status":"ok"}`, want: codec.Answer{ID: "m"}},
		"a number that is listed": {
			overlay: `{"sms.send": {"accepted": ["1", "2.0"]}}`, body: `{"id":"m","status":1}`, want: codec.Answer{ID: "m"},
		},
		"no word is listed": {overlay: `{"sms.send": {"accepted": []}}`, body: `{"id":"m","status":"ok"}`, want: codec.Answer{ID: "m"}, doubt: unknownWord},
		"the second status path, the first null": {
			overlay: `{"sms.send": {"answer": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":null},"status":"no"}`,
			want: codec.Answer{ID: "m"}, doubt: unknownWord,
		},
		"the first status path, an object": {
			overlay: `{"sms.send": {"answer": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":{}},"status":"ok"}`,
			want: codec.Answer{ID: "m"}, doubt: unknownWord,
		},
		"the first status path, an empty text": {
			overlay: `{"sms.send": {"answer": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":""},"status":"ok"}`,
			want: codec.Answer{ID: "m"}, doubt: unknownWord,
		},

		"no ID":       {body: `{"status":"ok"}`, doubt: noID},
		"an empty ID": {body: `{"status":"ok","id":""}`, doubt: noID},
		"a null ID":   {body: `{"status":"ok","id":null}`, doubt: noID},
		"an ID under a new name": {
			overlay: `{"sms.send": {"answer": {"id": ["uuid"]}}}`, body: `{"status":"ok","id":"x"}`, doubt: noID,
		},
		"an empty object":   {body: `{}`, doubt: noID},
		"an empty list":     {body: `[]`, doubt: noID},
		"null":              {body: `null`, doubt: noID},
		"a word":            {body: `"ok"`, doubt: noID},
		"a number":          {body: `17`, doubt: noID},
		"a list of answers": {body: `[{"id":"x"}]`, doubt: noID},

		"code 0":                 {body: `{"id":"m","code":0}`, want: codec.Answer{ID: "m", Code: "0"}, doubt: codeZero},
		"code 0, quoted":         {body: `{"id":"m","code":"0"}`, want: codec.Answer{ID: "m", Code: "0"}, doubt: codeZero},
		"code 000, quoted":       {body: `{"id":"m","status":"ok","code":"000"}`, want: codec.Answer{ID: "m", Code: "000"}, doubt: codeZero},
		"code 0 and no ID":       {body: `{"code":0,"status":"no"}`, want: codec.Answer{Code: "0"}, doubt: codeZero},
		"code null":              {body: `{"id":"m","code":null}`, want: codec.Answer{ID: "m"}},
		"code empty":             {body: `{"id":"m","code":""}`, want: codec.Answer{ID: "m"}},
		"code a number":          {body: `{"code":40001,"message":"no"}`, want: codec.Answer{Code: "40001", Message: "no", Refused: true}, doubt: noID},
		"code a text":            {body: `{"code":"200101","message":"no"}`, want: codec.Answer{Code: "200101", Message: "no", Refused: true}, doubt: noID},
		"code a word":            {body: `{"code":"INVALID_SENDER"}`, want: codec.Answer{Code: "INVALID_SENDER", Refused: true}, doubt: noID},
		"code in an error":       {body: `{"error":{"code":40001,"message":"no","fbtrace_id":"f-1"}}`, want: codec.Answer{Code: "40001", Message: "no", ErrorRequestID: "f-1", Refused: true}, doubt: noID},
		"code null and in error": {body: `{"code":null,"message":"","error":{"code":"40001","message":"no"}}`, want: codec.Answer{Code: "40001", Message: "no", Refused: true}, doubt: noID},
		"code at top and within": {body: `{"code":1,"message":"a","error":{"code":2,"message":"b"}}`, want: codec.Answer{Code: "1", Message: "a", Refused: true}, doubt: noID},
		"code 0.0":               {body: `{"id":"m","code":0.0}`, want: codec.Answer{ID: "m", Code: "0.0"}, doubt: codeZero},
		"code +0 with space":     {body: `{"id":"m","code":" +0 "}`, want: codec.Answer{ID: "m", Code: "+0"}, doubt: codeZero},
		"code blank":             {body: `{"id":"m","code":" "}`, want: codec.Answer{ID: "m"}},
		"code false":             {body: `{"id":"m","code":false}`, want: codec.Answer{ID: "m"}},
		"code true":              {body: `{"id":"m","code":true}`, want: codec.Answer{ID: "m"}, doubt: "the answer holds something that is no code"},
		"code an object alone":   {body: `{"id":"m","code":{"x":1}}`, want: codec.Answer{ID: "m"}, doubt: "the answer holds something that is no code"},
		"code 0 before a code":   {body: `{"code":"0","error":{"code":"40001"}}`, want: codec.Answer{Code: "40001", Refused: true}, doubt: noID},
		"blank ID":               {body: `{"id":" ","status":"ok"}`, want: codec.Answer{}, doubt: noID},
		"parts beyond a number":  {body: `{"id":"m","messageParts":99999999999999999999}`, want: codec.Answer{ID: "m"}},
		"parts below 0":          {body: `{"id":"m","messageParts":-3}`, want: codec.Answer{ID: "m"}},
		"parts with a fraction":  {body: `{"id":"m","messageParts":2.0}`, want: codec.Answer{ID: "m", Parts: 2}},
		"code an object":         {body: `{"code":{"code":1},"error":{"code":2}}`, want: codec.Answer{Code: "2", Refused: true}, doubt: noID},
		"code with an ID":        {body: `{"id":"m","status":"ok","code":40001}`, want: codec.Answer{ID: "m", Code: "40001", Refused: true}},
		"code 10 is not 0":       {body: `{"code":10}`, want: codec.Answer{Code: "10", Refused: true}, doubt: noID},
		"an error that is text":  {body: `{"error":"no","requestId":"r-1"}`, want: codec.Answer{Message: "no", RequestID: "r-1", ErrorRequestID: "r-1"}, doubt: noID},
		"a message alone":        {body: `{"message":"no"}`, want: codec.Answer{Message: "no"}, doubt: noID},
		"renamed code and message": {
			overlay: `{"errors": {"code": ["fault.number"], "message": ["fault.texts.1"], "request": ["trace"]}}`,
			body:    `{"code":"x","fault":{"number":"7","texts":["a","no"]},"trace":"t-1"}`,
			want:    codec.Answer{Code: "7", Message: "no", ErrorRequestID: "t-1", Refused: true}, doubt: noID,
		},
	} {
		t.Run(name, func(t *testing.T) {
			overlay := tt.overlay
			if overlay == "" {
				overlay = `{}`
			}
			got, err := answers(t, overlay).Read([]byte(tt.body))
			require.NoError(t, err)
			if tt.doubt == "" {
				assert.Empty(t, got.Doubt)
			} else {
				assert.True(t, strings.HasPrefix(got.Doubt, tt.doubt), "doubt: %q", got.Doubt)
			}
			got.Doubt = ""
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestAnswerThatIsNoJSONIsAnErrorThatDoesNotRepeatIt(t *testing.T) {
	a := answers(t, `{}`)
	for name, body := range map[string]string{
		"nothing":                        "",
		"white space":                    " \n",
		"a byte order mark alone":        "\ufeff",
		"two byte order marks":           "\ufeff\ufeff" + `{"id":"m"}`,
		"a mark behind white space":      " \ufeff" + `{"id":"m"}`,
		"a mark behind":                  `{"id":"m"}` + "\ufeff",
		"half a mark":                    "\xef\xbb" + `{"id":"m"}`,
		"a page":                         "<html><body>502 v4lue</body></html>",
		"a word":                         "v4lue",
		"text behind":                    `{"id":"m"} v4lue`,
		"a brace behind":                 `{"id":"m"}}`,
		"a comma behind":                 `{"id":"m"},`,
		"a second object":                `{"id":"m"}{"id":"v4lue"}`,
		"a second object, next line":     "{\"id\":\"m\"}\n{\"id\":\"v4lue\"}\n",
		"a NUL behind":                   "{\"id\":\"m\"}\x00",
		"single quotes":                  `{'id':'v4lue'}`,
		"a name without quotes":          `{id:"v4lue"}`,
		"a comma before the end":         `{"id":"v4lue",}`,
		"a comma before the end, list":   `[1,]`,
		"a comma at the start":           `{,"id":"m"}`,
		"two commas":                     `{"id":"m",,"x":1}`,
		"no comma":                       `{"id":"m" "x":1}`,
		"no colon":                       `{"id" "v4lue"}`,
		"no value":                       `{"id":}`,
		"a name alone":                   `{"id"}`,
		"a number as a name":             `{1:"v4lue"}`,
		"brackets that do not match":     `{"data":["v4lue"}}`,
		"a list closed as an object":     `["v4lue"}`,
		"a leading zero":                 `{"id":01}`,
		"a leading plus":                 `{"id":+1}`,
		"a leading dot":                  `{"id":.5}`,
		"a trailing dot":                 `{"id":5.}`,
		"an empty exponent":              `{"id":5e}`,
		"a minus alone":                  `{"id":-}`,
		"hexadecimal":                    `{"id":0x1f}`,
		"NaN":                            `{"id":NaN}`,
		"a literal in capitals":          `{"id":True}`,
		"a longer literal":               `{"id":truex}`,
		"an escape that does not exist":  `{"id":"\v4lue"}`,
		"a short escape":                 `{"id":"\u12"}`,
		"an escape with a bad digit":     `{"id":"\u12g4"}`,
		"a raw newline in a text":        "{\"id\":\"v4\nlue\"}",
		"a raw NUL in a text":            "{\"id\":\"v4lue\x00\"}",
		"a raw tab in a name":            "{\"i\td\":\"v4lue\"}",
		"a comment":                      `{"id":"m"/* v4lue */}`,
		"a no-break space":               "{\u00a0\"id\":\"m\"}",
		"a form feed":                    "{\f\"id\":\"m\"}",
		"what is bad where nobody looks": `{"x":{"y":[1,{"z":tru}]},"id":"m"}`,
	} {
		require.False(t, json.Valid([]byte(strings.TrimPrefix(body, "\ufeff"))), name)
		got, err := a.Read([]byte(body))
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), "JSON", name)
		assert.NotContains(t, err.Error(), "v4", name)
		assert.Zero(t, got, name)
	}
}

func TestDoubtNeverRepeatsWhatTheAnswerSays(t *testing.T) {
	a := answers(t, `{}`)
	for _, body := range []string{
		`{"id":"v4lue","status":"v4lue"}`, `{"id":"v4lue","status":{"v4lue":1}}`, `{"message":"v4lue"}`, `{"v4lue":1}`, `"v4lue"`,
		`{"id":"v4lue","code":0,"message":"v4lue"}`, `{"code":"v4lue","message":"v4lue","status":"v4lue"}`,
	} {
		got, err := a.Read([]byte(body))
		require.NoError(t, err, body)
		require.NotEmpty(t, got.Doubt, body)
		assert.NotContains(t, got.Doubt, "v4lue", body)
	}
}

func TestAnswerMayNestAsDeepAsInEncodingJSON(t *testing.T) {
	nested := func(open, end string, depth int) string {
		return strings.Repeat(open, depth) + strings.Repeat(end, depth)
	}
	deepPath := strings.Repeat("a.", 100) + "id"
	a := answers(t, `{"sms.send": {"answer": {"id": ["`+deepPath+`", "id"]}}}`)
	for _, depth := range []int{1, 2, 5000, 9999, 10000, 10001, 20000, 100000} {
		for _, body := range []string{
			nested("[", "]", depth),
			strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1),
			strings.Repeat(`{"b":`, depth-1) + "[]" + strings.Repeat("}", depth-1),
			strings.Repeat(`[`, depth/2) + strings.Repeat(`{"a":`, depth-depth/2-1) + "{}" + strings.Repeat("}", depth-depth/2-1) + strings.Repeat("]", depth/2),
		} {
			_, err := a.Read([]byte(body))
			require.Equal(t, json.Valid([]byte(body)), err == nil, "depth %d: %.20s: %v", depth, body, err)
		}
	}
	_, err := a.Read([]byte(strings.Repeat("[", 10_000_000)))
	require.Error(t, err)
	_, err = a.Read([]byte(strings.Repeat(`{"a":`, 5_000_000)))
	require.Error(t, err)

	got, err := a.Read([]byte(strings.Repeat(`{"a":`, 100) + `{"id":"m-1"}` + strings.Repeat("}", 100)))
	require.NoError(t, err)
	assert.Equal(t, "m-1", got.ID)
}

func TestAnswerWithManyPathsIsRead(t *testing.T) {
	var list []string
	for i := range 200 {
		list = append(list, strconv.Quote("a"+strconv.Itoa(i)+".id"))
	}
	a := answers(t, `{"sms.send": {"answer": {"id": [`+strings.Join(list, ",")+`]}}}`)
	got, err := a.Read([]byte(`{"a199":{"id":"last"},"requestId":"r-1"}`))
	require.NoError(t, err)
	assert.Equal(t, codec.Answer{ID: "last", RequestID: "r-1", ErrorRequestID: "r-1"}, got)
	got, err = a.Read([]byte(`{"a199":{"id":"last"},"a7":{"id":"seventh"}}`))
	require.NoError(t, err)
	assert.Equal(t, "seventh", got.ID)
}

func TestAnswerDoesNotDependOnTheBytesThatItWasReadFrom(t *testing.T) {
	body := []byte(`{"id":"m-1","operatorCode":"OP_1"}`)
	got, err := answers(t, `{}`).Read(body)
	require.NoError(t, err)
	clear(body)
	assert.Equal(t, codec.Answer{ID: "m-1", Operator: "OP_1"}, got)
}

func TestAnswersAreReadByManyAtOnce(t *testing.T) {
	a := answers(t, `{}`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				got, err := a.Read(fmt.Appendf(nil, `{"status":"ok","data":{"id":"m-%d"}}`, i))
				if assert.NoError(t, err) {
					assert.Equal(t, codec.Answer{ID: "m-" + strconv.Itoa(i)}, got)
				}
				assert.Equal(t, codec.Invalid, a.Class("200199"))
			}
		})
	}
	all.Wait()
}

func TestAcceptedWordsAreThoseOfTheTimeOfCompiling(t *testing.T) {
	c := contract.Default()
	a := codec.CompileAnswers(c.SMSSend.Send, c.Errors)
	c.SMSSend.Accepted[0] = "changed"
	got, err := a.Read([]byte(`{"id":"m","status":"ok"}`))
	require.NoError(t, err)
	assert.Empty(t, got.Doubt)
}

func TestCodesHaveTheClassesOfTheDefaultContract(t *testing.T) {
	a := answers(t, `{}`)
	for code, want := range map[string]codec.Class{
		"40001": codec.Unauthorized, "40007": codec.Unauthorized, "200244": codec.Unauthorized, "200245": codec.Unauthorized, "200246": codec.Unauthorized,
		"40002": codec.RateLimited, "200101": codec.InsufficientBalance, "200206": codec.Duplicate, "40005": codec.NotFound,
		"500101": codec.Unavailable, "50000": codec.Unavailable, "50001": codec.Unavailable, "50002": codec.Unavailable, "50003": codec.Unavailable,
		"200100": codec.Invalid, "200102": codec.Invalid, "200199": codec.Invalid, "200200": codec.Invalid, "200247": codec.Invalid, "2001": codec.Invalid,
		"40003": codec.Invalid, "40004": codec.Invalid, "2001011": codec.Invalid,
		"": codec.NoClass, "0": codec.NoClass, "40006": codec.NoClass, "400011": codec.NoClass, "4000": codec.NoClass, "200": codec.NoClass, "200300": codec.NoClass, "12001": codec.NoClass,
	} {
		assert.Equal(t, want, a.Class(code), code)
	}
}

func TestExactCodeWinsOverABeginningAndALongerBeginningOverAShorter(t *testing.T) {
	// Each class in turn has the shortest beginning, so that no order of the classes can hide a mistake.
	names := []string{"unauthorized", "rateLimited", "insufficientBalance", "duplicate", "notFound", "unavailable", "invalid"}
	classes := []codec.Class{codec.Unauthorized, codec.RateLimited, codec.InsufficientBalance, codec.Duplicate, codec.NotFound, codec.Unavailable, codec.Invalid}
	for shift := range names {
		name := func(i int) string { return names[(i+shift)%len(names)] }
		class := func(i int) codec.Class { return classes[(i+shift)%len(classes)] }
		a := answers(t, fmt.Sprintf(`{"errors": {"classes": {%q: ["1*"], %q: ["12*"], %q: ["123*"], %q: ["123"], %q: ["12"], %q: ["1"], %q: ["E-1*", "e-1"]}}}`,
			name(0), name(1), name(2), name(3), name(4), name(5), name(6)))
		for code, want := range map[string]codec.Class{
			"1": class(5), "12": class(4), "123": class(3), "10": class(0), "129": class(1), "1234": class(2), "13": class(0),
			"E-1": class(6), "E-17": class(6), "e-1": class(6), "e-17": codec.NoClass, "2": codec.NoClass,
		} {
			assert.Equal(t, want, a.Class(code), "%s, shifted by %d", code, shift)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "\ufeff{}", `{"status":"ok","data":{"id":"m","messageParts":"1"}}`, `{"code":"0"}`, `{"code":40001,"message":"no"}`,
		`{"error":{"code":1,"message":"\ud83d\ude00"}}`, `{"messages":[{"id":"m"}]}`, `{"data":{"id":"x"},"data":null,"id":1e5}`,
		`{"id":"m","code":true}`, `{"id":"m","code":"NEW"}`, `{"id":"m","code":"40001"}`, `{"code":{"x":1}}`,
		`{"status":{"a":[1,2,{"b":"c"}]}}`, "{\"id\":\"\xff\"}", `{"id":"\u00`, `[[[[[[`, `{"message":{"transactionId":true}}`,
	} {
		f.Add([]byte(seed))
	}
	a := answers(f, `{}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := a.Read(body)
		if valid := json.Valid([]byte(strings.TrimPrefix(string(body), "\ufeff"))); valid != (err == nil) {
			t.Fatalf("valid is %t, but the error is %v", valid, err)
		}
		if err != nil {
			if got != (codec.Answer{}) {
				t.Errorf("an answer beside an error: %+v", got)
			}
			return
		}
		if got.Refused && strings.Trim(got.Code, "0") == "" {
			t.Errorf("refused by the code %q", got.Code)
		}
		if got.Doubt == "" && got.ID == "" {
			t.Error("no doubt, though the answer names no message")
		}
		known := func(doubt string) bool { return strings.HasPrefix(got.Doubt, doubt) }
		if got.Doubt != "" && !slices.ContainsFunc([]string{noID, unknownWord, codeZero, noCode, bothOfThem}, known) {
			t.Errorf("a doubt that is not one of the known texts: %q", got.Doubt)
		}
		a.Class(got.Code)
	})
}

func TestTheDocumentItselfMayBeWhatIsLookedFor(t *testing.T) {
	got, err := answers(t, `{"sms.send":{"answer":{"id":["id",""]}}}`).Read([]byte(`"m-1"`))
	require.NoError(t, err)
	assert.Equal(t, codec.Answer{ID: "m-1"}, got)
}
