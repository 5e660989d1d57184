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

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

const (
	noID          = "the response names no message"
	unknownStatus = "the response has a status that is not a word"
	unknownCode   = "the response holds a code that the contract does not know"
	noCode        = "the response holds something that is not a code"
	repeated      = "the response has a member of the contract twice"
	errorNoCode   = "the response holds an error without a code"
)

func decoder(t testing.TB, overlay string) *codec.Send {
	t.Helper()
	c := parse(t, overlay)
	return codec.CompileSend(c, &c.SMSSend, sendURL, nil)
}

// response is a codec.Response without what follows from the rest.
type response struct {
	ID, RequestID, ReferenceID        string
	Parts                             int
	UnitCost, Cost, Balance, Operator string
	Code, Message, ErrorRequestID     string
	Class                             string
}

func flat(r codec.Response) response {
	return response{
		r.ID, r.RequestID, r.ReferenceID, r.Parts, r.UnitCost, r.Cost, r.Balance, r.Operator, r.Code, r.Message, r.Failure.RequestID, r.Class,
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	full := response{
		ID: "m-1", RequestID: "r-1", ReferenceID: "order-17", Parts: 2, UnitCost: "0.50", Cost: "1.00", Balance: "199.00", Operator: "OP_1",
	}
	fullAtTop := full
	fullAtTop.ErrorRequestID = "r-1" // where an error would name it too
	for name, tt := range map[string]struct {
		overlay, body string
		want          response
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
			want: response{ID: "m-1", Parts: 2},
		},
		"unknown members beside": {
			body: `{"a":[{"id":"x"},[[]],null],"data":{"b":{"id":"x"},"id":"m-1","z":[]},"Id":"x","ID":"x"}`,
			want: response{ID: "m-1"},
		},
		"data.transactionId":         {body: `{"data":{"transactionId":"m-1"}}`, want: response{ID: "m-1"}},
		"transactionId":              {body: `{"transactionId":"m-1"}`, want: response{ID: "m-1"}},
		"message.transactionId":      {body: `{"message":{"transactionId":"m-1"}}`, want: response{ID: "m-1"}},
		"messages.0.id":              {body: `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`, want: response{ID: "m-1"}},
		"Meta-shaped":                {body: `{"messaging_product":"x","contacts":[{"input":"1","wa_id":"1"}],"messages":[{"id":"m-1"}]}`, want: response{ID: "m-1"}},
		"only a second message":      {overlay: `{"sms.send": {"response": {"id": ["messages.1.id"]}}}`, body: `{"messages":[{"id":"m-1"},{"id":"m-2"}]}`, want: response{ID: "m-2"}},
		"a list at the top":          {overlay: `{"sms.send": {"response": {"id": ["0.id"]}}}`, body: `[{"id":"m-1"}]`, want: response{ID: "m-1"}},
		"the twelfth element":        {overlay: `{"sms.send": {"response": {"id": ["11"]}}}`, body: `[0,1,2,3,4,5,6,7,8,9,10,"m-11"]`, want: response{ID: "m-11"}},
		"a place that is shared":     {overlay: `{"sms.send": {"response": {"cost": ["x"], "balance": ["x"]}}}`, body: `{"id":"m","x":"5"}`, want: response{ID: "m", Cost: "5", Balance: "5"}},
		"a place within another":     {overlay: `{"sms.send": {"response": {"id": ["x", "x.id"]}}}`, body: `{"x":{"id":"m-1"}}`, want: response{ID: "m-1"}},
		"an ID that is a number":     {body: `{"id":12345678901234567890}`, want: response{ID: "12345678901234567890"}},
		"an ID with an exponent":     {body: `{"id":1.50E+2}`, want: response{ID: "1.50E+2"}},
		"money exactly as written":   {body: `{"id":"m","unitCost":0.10,"transactionCost":12345678901234567890.10,"remaining":-0.50}`, want: response{ID: "m", UnitCost: "0.10", Cost: "12345678901234567890.10", Balance: "-0.50"}},
		"remaining before balance":   {body: `{"id":"m","remainingBalance":1,"remaining":2}`, want: response{ID: "m", Balance: "2"}},
		"data before the top":        {body: `{"id":"top","data":{"id":"m-1"}}`, want: response{ID: "m-1"}, doubt: "the response has different IDs at data.id and id; say which"},
		"id before transactionId":    {body: `{"transactionId":"t","id":"m-1"}`, want: response{ID: "m-1"}, doubt: "the response has different IDs at id and transactionId; say which"},
		"parts that are no number":   {body: `{"id":"m","messageParts":"many"}`, want: response{ID: "m"}},
		"parts that are a fraction":  {body: `{"id":"m","messageParts":1.5}`, want: response{ID: "m"}},
		"parts in white space":       {body: `{"id":"m","messageParts":" 2 "}`, want: response{ID: "m", Parts: 2}},
		"an escaped value":           {body: `{"id":"m\u002d1\"\\\/","operatorCode":"\ud83d\ude00 \ud83d"}`, want: response{ID: "m-1\"\\/", Operator: "😀 \ufffd"}},
		"escaped names":              {body: `{"d\u0061ta":{"\u0069d":"m-1"}}`, want: response{ID: "m-1"}},
		"a name that is not ASCII":   {overlay: `{"sms.send": {"response": {"id": ["данные.空"]}}}`, body: `{"\u0434анные":{"空":"m-1"}}`, want: response{ID: "m-1"}},
		"invalid UTF-8 in a value":   {body: "{\"id\":\"m\xff\"}", doubt: "the response has an ID of more than 256"},
		"invalid UTF-8 in a name":    {overlay: `{"sms.send": {"response": {"id": ["x` + "\ufffd" + `"]}}}`, body: "{\"x\xff\":\"m-1\"}", want: response{ID: "m-1"}},
		"a byte order mark":          {body: "\ufeff" + `{"id":"m-1"}`, want: response{ID: "m-1"}},
		"a mark and white space":     {body: "\ufeff \n" + `{"id":"m-1"}`, want: response{ID: "m-1"}},
		"a name with a dot in it":    {body: `{"data.id":"x","data":{"id":"m-1"}}`, want: response{ID: "m-1"}},
		"no list of paths":           {overlay: `{"sms.send": {"response": {"operator": [], "status": []}}}`, body: `{"id":"m-1","status":"new","operatorCode":"OP_1"}`, want: response{ID: "m-1"}},
		"an object at a place":       {body: `{"data":{"id":{"id":"x"}},"id":"m-1","requestId":["r"],"operatorCode":{}}`, want: response{ID: "m-1"}},
		"a boolean ID":               {body: `{"data":{"id":true},"id":"m-1"}`, want: response{ID: "m-1"}},
		"data that is no object":     {body: `{"data":"x","id":"m-1"}`, want: response{ID: "m-1"}},
		"data that is a list":        {body: `{"data":[{"id":"x"}],"id":"m-1"}`, want: response{ID: "m-1"}},
		"messages that is an object": {body: `{"messages":{"id":"x"},"id":"m-1"}`, want: response{ID: "m-1"}},

		"null, then the second path":        {body: `{"data":{"id":null,"requestId":null},"id":"m-1","requestId":"r-1"}`, want: response{ID: "m-1", RequestID: "r-1", ErrorRequestID: "r-1"}},
		"null data, then the second path":   {body: `{"data":null,"id":"m-1"}`, want: response{ID: "m-1"}},
		"an empty text, then the second":    {body: `{"data":{"id":"","remaining":""},"id":"m-1","remainingBalance":"5"}`, want: response{ID: "m-1", Balance: "5"}},
		"duplicates: the first wins":        {body: `{"id":"m-1","id":"y","id":"x"}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate parents: the first wins": {body: `{"data":{"id":"m-1"},"data":{"id":"x","requestId":"x"}}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate, the first null":         {body: `{"data":{"id":null},"transactionId":"m-1","data":{"id":"x"}}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate parent, the first null":  {body: `{"data":null,"data":{"id":"x"},"id":"m-1"}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate parent, first a word":    {body: `{"data":"x","data":{"id":"x"},"id":"m-1"}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate parent, the first empty": {body: `{"messages":[],"messages":[{"id":"x"}],"id":"m-1"}`, want: response{ID: "m-1"}, doubt: repeated},
		"duplicate under an escaped name":   {body: `{"id":"m-1","\u0069d":"x"}`, want: response{ID: "m-1"}, doubt: repeated},
		"an earlier path that was null":     {body: `{"id":null,"transactionId":"m-1","id":"x"}`, want: response{ID: "m-1"}, doubt: repeated},
		"an earlier path that comes late":   {body: `{"transactionId":"t","id":"m-1","id":null}`, want: response{ID: "m-1"}, doubt: repeated},

		"status ok":              {body: `{"id":"m","status":"ok"}`, want: response{ID: "m"}},
		"status in capitals":     {body: `{"id":"m","status":"OK"}`, want: response{ID: "m"}},
		"status in white space":  {body: `{"id":"m","status":" Ok\n"}`, want: response{ID: "m"}},
		"status escaped":         {body: `{"id":"m","status":"\u006fk"}`, want: response{ID: "m"}},
		"status queued":          {body: `{"id":"m","status":"queued"}`, want: response{ID: "m"}},
		"status true":            {body: `{"id":"m","status":true}`, want: response{ID: "m"}},
		"status true, quoted":    {body: `{"id":"m","status":"true"}`, want: response{ID: "m"}},
		"status null":            {body: `{"id":"m","status":null}`, want: response{ID: "m"}},
		"status absent":          {body: `{"id":"m"}`, want: response{ID: "m"}},
		"status within data":     {body: `{"id":"m","data":{"status":"failed"}}`, want: response{ID: "m"}, doubt: "the response holds a status or a code that says"},
		"status false":           {body: `{"id":"m","status":false}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status unknown":         {body: `{"id":"m","status":"rejected"}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status like a known":    {body: `{"id":"m","status":"not ok"}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status empty":           {body: `{"id":"m","status":""}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status a number":        {body: `{"id":"m","status":1}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status zero":            {body: `{"id":"m","status":0}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status an object":       {body: `{"id":"m","status":{"ok":"ok"}}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status a list":          {body: `{"id":"m","status":["ok"]}`, want: response{ID: "m"}, doubt: unknownStatus},
		"status twice, last bad": {body: `{"id":"m","status":"ok","status":"no"}`, want: response{ID: "m"}, doubt: repeated},
		"status twice, last ok":  {body: `{"id":"m","status":"no","status":"ok"}`, want: response{ID: "m"}, doubt: repeated},
		"a number that is listed": {
			overlay: `{"sms.send": {"accepted": ["1", "2.0"]}}`, body: `{"id":"m","status":1}`, want: response{ID: "m"},
		},
		"no word is listed": {overlay: `{"sms.send": {"accepted": []}}`, body: `{"id":"m","status":"ok"}`, want: response{ID: "m"}, doubt: unknownStatus},
		"the second status path, the first null": {
			overlay: `{"sms.send": {"response": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":null},"status":"no"}`,
			want: response{ID: "m"}, doubt: unknownStatus,
		},
		"the first status path, an object": {
			overlay: `{"sms.send": {"response": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":{}},"status":"ok"}`,
			want: response{ID: "m"}, doubt: unknownStatus,
		},
		"the first status path, an empty text": {
			overlay: `{"sms.send": {"response": {"status": ["data.status", "status"]}}}`, body: `{"id":"m","data":{"status":""},"status":"ok"}`,
			want: response{ID: "m"}, doubt: unknownStatus,
		},

		"no ID":       {body: `{"status":"ok"}`, doubt: noID},
		"an empty ID": {body: `{"status":"ok","id":""}`, doubt: noID},
		"a null ID":   {body: `{"status":"ok","id":null}`, doubt: noID},
		"an ID under a new name": {
			overlay: `{"sms.send": {"response": {"id": ["uuid"]}}}`, body: `{"status":"ok","id":"x"}`, doubt: noID,
		},
		"an empty object":   {body: `{}`, doubt: noID},
		"an empty list":     {body: `[]`, doubt: noID},
		"null":              {body: `null`, doubt: noID},
		"a word":            {body: `"ok"`, doubt: noID},
		"a number":          {body: `17`, doubt: noID},
		"a list of answers": {body: `[{"id":"x"}]`, doubt: noID},

		"code 0":                  {body: `{"id":"m","code":0}`, want: response{ID: "m", Code: "0"}},
		"code 0, quoted":          {body: `{"id":"m","code":"0"}`, want: response{ID: "m", Code: "0"}},
		"code 200":                {body: `{"code":"200","message":"Successfully Sent","balance":"10","id":149039}`, want: response{ID: "149039", Code: "200", Message: "Successfully Sent"}},
		"code 200, a number":      {body: `{"id":"m","code":200,"status":"ok"}`, want: response{ID: "m", Code: "200"}},
		"code ok":                 {body: `{"id":"m","code":"OK"}`, want: response{ID: "m", Code: "OK"}},
		"code success":            {body: `{"id":"m","code":" Success ","status":"accepted"}`, want: response{ID: "m", Code: "Success"}},
		"code of success, no ID":  {body: `{"code":"200","message":"Successfully Sent","message_id":149039}`, want: response{Code: "200", Message: "Successfully Sent"}, doubt: noID},
		"code of success, status": {body: `{"id":"m","code":"ok","status":"failed"}`, want: response{ID: "m", Code: "ok"}, doubt: unknownStatus},
		"codes of success":        {body: `{"id":"m","code":"0","error":{"code":"ok"}}`, want: response{ID: "m", Code: "0"}},
		"codes of success renamed": {
			overlay: `{"errors": {"success": ["1000"]}}`, body: `{"id":"m","code":1000}`, want: response{ID: "m", Code: "1000"},
		},
		"code of success no more": {
			overlay: `{"errors": {"success": []}}`, body: `{"id":"m","code":"ok"}`, want: response{ID: "m", Code: "ok"}, doubt: unknownCode,
		},
		"code 000, quoted":        {body: `{"id":"m","status":"ok","code":"000"}`, want: response{ID: "m", Code: "000"}},
		"code 00000, quoted":      {body: `{"id":"m","status":"ok","code":"00000"}`, want: response{ID: "m", Code: "00000"}, doubt: unknownCode},
		"code 0 and no ID":        {body: `{"code":0,"status":"no"}`, want: response{Code: "0"}, doubt: unknownStatus},
		"code null":               {body: `{"id":"m","code":null}`, want: response{ID: "m"}},
		"code empty":              {body: `{"id":"m","code":""}`, want: response{ID: "m"}},
		"code a number":           {body: `{"code":40001,"message":"no"}`, want: response{Code: "40001", Message: "no", Class: "unauthorized"}},
		"code a text":             {body: `{"code":"200101","message":"no"}`, want: response{Code: "200101", Message: "no", Class: "insufficientBalance"}},
		"code of no class":        {body: `{"code":"INVALID_SENDER"}`, want: response{Code: "INVALID_SENDER"}, doubt: unknownCode},
		"code of no class, ID":    {body: `{"id":"m","status":"ok","code":"NEW"}`, want: response{ID: "m", Code: "NEW"}, doubt: unknownCode},
		"code in an error":        {body: `{"error":{"code":40001,"message":"no","fbtrace_id":"f-1"}}`, want: response{Code: "40001", Message: "no", ErrorRequestID: "f-1", Class: "unauthorized"}},
		"code null and in error":  {body: `{"code":null,"message":"","error":{"code":"40001","message":"no"}}`, want: response{Code: "40001", Message: "no", Class: "unauthorized"}},
		"two of no class":         {body: `{"code":1,"message":"a","error":{"code":2,"message":"b"}}`, want: response{Code: "1", Message: "a"}, doubt: unknownCode},
		"two of a class":          {body: `{"code":40001,"error":{"code":40002}}`, want: response{Code: "40001", Class: "unauthorized"}},
		"one of no class, of one": {body: `{"id":"m","code":1,"error":{"code":40002}}`, want: response{ID: "m", Code: "1"}, doubt: unknownCode},
		"code 0 before a code":    {body: `{"code":"0","error":{"code":"40001"}}`, want: response{Code: "40001", Class: "unauthorized"}},
		"code 0 before no class":  {body: `{"id":"m","code":"0","error":{"code":"X"}}`, want: response{ID: "m", Code: "X"}, doubt: unknownCode},
		"code no class before 0":  {body: `{"id":"m","code":"X","error":{"code":"0"}}`, want: response{ID: "m", Code: "X"}, doubt: unknownCode},
		"code 0.0":                {body: `{"id":"m","code":0.0}`, want: response{ID: "m", Code: "0.0"}, doubt: unknownCode},
		"code blank":              {body: `{"id":"m","code":" "}`, want: response{ID: "m"}},
		"code false":              {body: `{"id":"m","code":false}`, want: response{ID: "m"}},
		"code true":               {body: `{"id":"m","code":true}`, want: response{ID: "m"}, doubt: noCode},
		"code an object alone":    {body: `{"id":"m","code":{"x":1}}`, want: response{ID: "m"}, doubt: noCode},
		"code an object":          {body: `{"code":{"code":1},"error":{"code":2}}`, want: response{Code: "2"}, doubt: unknownCode},
		"code with an ID":         {body: `{"id":"m","status":"ok","code":40001}`, want: response{ID: "m", Code: "40001", Class: "unauthorized"}},
		"code 10 is not 0":        {body: `{"code":10}`, want: response{Code: "10"}, doubt: unknownCode},
		"blank ID":                {body: `{"id":" ","status":"ok"}`, want: response{}, doubt: noID},
		"parts beyond a number":   {body: `{"id":"m","messageParts":99999999999999999999}`, want: response{ID: "m"}},
		"parts below 0":           {body: `{"id":"m","messageParts":-3}`, want: response{ID: "m"}},
		"parts with a fraction":   {body: `{"id":"m","messageParts":2.0}`, want: response{ID: "m", Parts: 2}},
		"an error that is text":   {body: `{"error":"no","requestId":"r-1"}`, want: response{Message: "no", RequestID: "r-1", ErrorRequestID: "r-1"}, doubt: "the response holds an error without a code"},
		"a message alone":         {body: `{"message":"no"}`, want: response{Message: "no"}, doubt: noID},

		"ID none":            {body: `{"messageId":"None","id":"None"}`, doubt: noID},
		"ID null":            {body: `{"id":"null"}`, doubt: noID},
		"ID undefined":       {body: `{"id":"undefined"}`, doubt: noID},
		"ID n/a":             {body: `{"id":" N/A "}`, doubt: noID},
		"ID -":               {body: `{"id":"-"}`, doubt: noID},
		"ID 0":               {body: `{"id":0}`, doubt: noID},
		"ID 0, quoted":       {body: `{"id":"0"}`, doubt: noID},
		"ID %i":              {body: `{"id":"%i"}`, doubt: noID},
		"ID none, then real": {body: `{"data":{"id":"none"},"id":"m-1"}`, want: response{ID: "m-1"}},
		"renamed code and message": {
			overlay: `{"errors": {"code": ["fault.number"], "message": ["fault.texts.1"], "request": ["trace"]}}`,
			body:    `{"code":"x","fault":{"number":"7","texts":["a","no"]},"trace":"t-1"}`,
			want:    response{Code: "7", Message: "no", ErrorRequestID: "t-1"}, doubt: unknownCode,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overlay := tt.overlay
			if overlay == "" {
				overlay = `{}`
			}
			got, err := decoder(t, overlay).Decode([]byte(tt.body))
			require.NoError(t, err)
			if tt.doubt == "" {
				assert.Empty(t, got.Reason)
			} else {
				assert.True(t, strings.HasPrefix(got.Reason, tt.doubt), "doubt: %q", got.Reason)
			}
			if tt.want.RequestID == "" {
				tt.want.RequestID = tt.want.ErrorRequestID
			}
			assert.Equal(t, tt.want, flat(got))
			assert.Equal(t, got.Class != "", got.Claim == codec.Refuses)
		})
	}
}

// The parts of each of several messages are judged where they stand.
func TestDecodePartsWithinSeveralMessages(t *testing.T) {
	t.Parallel()
	send := decoder(t, `{"sms.send": {"response": {"id": ["messages.*.id"], "status": ["messages.*.parts.*.status"]}, "refused": ["no"]}}`)
	for body, want := range map[string]string{
		`{"messages":[{"id":"a","parts":[{"status":"ok"},{"status":"ok"}]},{"id":"b","parts":[{"status":"ok"}]}]}`: "accepted",
		`{"messages":[{"id":"a","parts":[{"status":"ok"}]},{"id":"b","parts":[{"status":"ok"},{"status":"no"}]}]}`: "unknown",
		`{"messages":[{"id":"a","parts":[{"status":"no"},{"status":"no"}]},{"id":"b","parts":[{"status":"no"}]}]}`: "refused",
		`{"messages":[{"id":"a","parts":[{"status":"ok"},{"status":"no"}]}]}`:                                      "unknown",
		`{"messages":[{"id":"a","parts":[{"status":"ok"}]},{"id":"b","parts":[]}]}`:                                "unknown",
		`{"messages":[{"id":"a","parts":[{"status":"ok"}]},{"id":"b","id":"c","parts":[{"status":"ok"}]}]}`:        "unknown",
	} {
		r, err := send.Decode([]byte(body))
		require.NoError(t, err)
		got := "accepted"
		switch {
		case r.Claim == codec.Refuses:
			got = "refused"
		case r.Claim != codec.Accepts:
			got = "unknown"
		}
		assert.Equal(t, want, got, "%s: %s", body, r.Reason)
	}
}

// Some services write a list as an object with numbers as names. The contract reads its first member, and the lists in it.
// Some encoders write a list whose positions have a gap as an object.
func TestDecodeObjectWithNumbersAsNames(t *testing.T) {
	t.Parallel()
	send := decoder(t, `{"sms.send": {"response": {"id": ["messages.*.id"], "status": ["messages.*.status"]}}}`)
	r, err := send.Decode([]byte(`{"messages":{"0":{"id":"a"}}}`))
	require.NoError(t, err)
	assert.Equal(t, "a", r.ID)
	assert.Empty(t, r.Reason)

	r, err = send.Decode([]byte(`{"messages":{"0":{"id":"a"},"1":{"id":"b","status":"failed"}}}`))
	require.NoError(t, err)
	assert.NotEmpty(t, r.Reason, "the second message may have failed")
	assert.NotContains(t, r.OtherReferences, "1", "a name is no value")
}

func TestDecodeErrorWithoutACode(t *testing.T) {
	t.Parallel()
	const doubt = "the response holds an error without a code (errors.code)"
	for body, want := range map[string]string{
		`{"id":"m","error":null}`:                    "",
		`{"id":"m","error":false}`:                   "",
		`{"id":"m","error":" "}`:                     "",
		`{"id":"m","error":0}`:                       "",
		`{"id":"m","error":{ }}`:                     "",
		`{"id":"m","error":[]}`:                      "",
		`{"id":"m","error":{"code":0,"message":""}}`: "",
		`{"id":"m","error":true}`:                    doubt,
		`{"id":"m","error":"no credit"}`:             doubt,
		`{"id":"m","error":7}`:                       doubt,
		`{"id":"m","error":["no credit"]}`:           doubt,
		`{"id":"m","error":{"message":"no credit"}}`: doubt,
		`{"id":"m","error":{"message":"failed"}}`:    doubt,
		`{"id":"m","error":"unknown"}`:               doubt,
		`{"id":"m","code":0,"error":{"code":""}}`:    "",
	} {
		got, err := decoder(t, `{}`).Decode([]byte(body))
		require.NoError(t, err)
		assert.Equal(t, want, got.Reason, body)
		rows := strings.Replace(body, `"id":"m"`, `"data":[]`, 1)
		_, _, err = compileList(t, "", false).Decode([]byte(rows), wire.Position{}, 0, nil)
		if want == "" {
			assert.NoError(t, err, rows)
			continue
		}
		require.ErrorIs(t, err, codec.ErrPage, rows)
		assert.EqualError(t, err, want, rows)
	}
	for overlay, body := range map[string]string{
		`{"errors":{"code":["data.code"]}}`:                                         `{"data":{"id":"m"}}`,
		`{"errors":{"code":["data.code"]},"sms.send":{"response":{"id":["data"]}}}`: `{"data":"m"}`,
		`{"errors":{"code":["code"]}}`:                                              `{"id":"m","error":"none"}`,
	} {
		got, err := decoder(t, overlay).Decode([]byte(body))
		require.NoError(t, err)
		assert.Empty(t, got.Reason, "%s: it is not the object of an error", overlay)
	}
	_, _, err := compileList(t, `{"errors":{"code":["data.code"]}}`, false).Decode([]byte(`{"data":[{"id":"m"}]}`), wire.Position{}, 0, nil)
	assert.NoError(t, err)
}

func TestDecodeOwn(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"code":"E-17"}`: true, `{"code":"200101"}`: true, `{"requestId":"q-1"}`: true, `{"data":{"requestId":"q-1"}}`: true,
		`{"code":403,"requestId":"q-1"}`: true, `{"code":"600"}`: true,
		`{}`: false, `{"message":"denied"}`: false, `{"code":"0"}`: false, `{"code":"OK"}`: false, `{"code":"null"}`: false, `{"code":"N/A"}`: false,
		`{"code":403}`: false, `{"code":"Forbidden"}`: false, `{"code":"404 Not Found"}`: false, `{"error":{"code":200}}`: false,
		`{"requestId":"null"}`: false, `{"requestId":"-"}`: false, `{"requestId":0}`: false,
	} {
		got, err := decoder(t, `{}`).Decode([]byte(body))
		require.NoError(t, err)
		assert.Equal(t, want, got.FromService, body)
	}
}

func TestDecodeRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	a := decoder(t, `{}`)
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
		got, err := a.Decode([]byte(body))
		require.Error(t, err, name)
		if err.Error() != "empty" {
			assert.Contains(t, err.Error(), "JSON", name)
		}
		assert.NotContains(t, err.Error(), "v4", name)
		assert.Zero(t, got, name)
	}
}

func TestDecodeDoubtDoesNotRepeatTheResponse(t *testing.T) {
	t.Parallel()
	a := decoder(t, `{}`)
	for _, body := range []string{
		`{"id":"v4lue","status":"v4lue"}`, `{"id":"v4lue","status":{"v4lue":1}}`, `{"message":"v4lue"}`, `{"v4lue":1}`, `"v4lue"`,
		`{"id":"v4lue","code":1,"message":"v4lue"}`, `{"code":"v4lue","message":"v4lue","status":"v4lue"}`,
	} {
		got, err := a.Decode([]byte(body))
		require.NoError(t, err, body)
		require.NotEmpty(t, got.Reason, body)
		assert.NotContains(t, got.Reason, "v4lue", body)
	}
}

func TestDecodeDepth(t *testing.T) {
	t.Parallel()
	nested := func(open, end string, depth int) string {
		return strings.Repeat(open, depth) + strings.Repeat(end, depth)
	}
	deepPath := strings.Repeat("a.", 100) + "id"
	a := decoder(t, `{"sms.send": {"response": {"id": ["`+deepPath+`", "id"]}}}`)
	for _, depth := range []int{1, 2, 5000, 9999, 10000, 10001, 20000, 100000} {
		for _, body := range []string{
			nested("[", "]", depth),
			strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1),
			strings.Repeat(`{"b":`, depth-1) + "[]" + strings.Repeat("}", depth-1),
			strings.Repeat(`[`, depth/2) + strings.Repeat(`{"a":`, depth-depth/2-1) + "{}" + strings.Repeat("}", depth-depth/2-1) + strings.Repeat("]", depth/2),
		} {
			_, err := a.Decode([]byte(body))
			require.Equal(t, json.Valid([]byte(body)), err == nil, "depth %d: %.20s: %v", depth, body, err)
		}
	}
	_, err := a.Decode([]byte(strings.Repeat("[", 10_000_000)))
	require.Error(t, err)
	_, err = a.Decode([]byte(strings.Repeat(`{"a":`, 5_000_000)))
	require.Error(t, err)

	got, err := a.Decode([]byte(strings.Repeat(`{"a":`, 100) + `{"id":"m-1"}` + strings.Repeat("}", 100)))
	require.NoError(t, err)
	assert.Equal(t, "m-1", got.ID)
}

func TestDecodeManyPaths(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 200 {
		list = append(list, strconv.Quote("a"+strconv.Itoa(i)+".id"))
	}
	send := decoder(t, `{"sms.send": {"response": {"id": [`+strings.Join(list, ",")+`]}}}`)
	got, err := send.Decode([]byte(`{"a199":{"id":"last"},"requestId":"r-1"}`))
	require.NoError(t, err)
	assert.Equal(t, response{ID: "last", RequestID: "r-1", ErrorRequestID: "r-1"}, flat(got))
	got, err = send.Decode([]byte(`{"a199":{"id":"last"},"a7":{"id":"seventh"}}`))
	require.NoError(t, err)
	assert.Equal(t, "seventh", got.ID)

	got, err = decoder(t, `{"sms.send":{"response":{"id":["id",""]}}}`).Decode([]byte(`"m-1"`))
	require.NoError(t, err)
	assert.Equal(t, response{ID: "m-1"}, flat(got), "the document itself")
}

func TestDecodeDoesNotKeepBody(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"m-1","operatorCode":"OP_1"}`)
	got, err := decoder(t, `{}`).Decode(body)
	require.NoError(t, err)
	clear(body)
	assert.Equal(t, response{ID: "m-1", Operator: "OP_1"}, flat(got))
}

func TestDecodeConcurrently(t *testing.T) {
	t.Parallel()
	send := decoder(t, `{}`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				got, err := send.Decode(fmt.Appendf(nil, `{"status":"ok","data":{"id":"m-%d"}}`, i))
				if assert.NoError(t, err) {
					assert.Equal(t, response{ID: "m-" + strconv.Itoa(i)}, flat(got))
				}
			}
		})
	}
	all.Wait()
}

func classOf(t *testing.T, send *codec.Send, code string) string {
	t.Helper()
	got, err := send.Decode([]byte(`{"code":` + strconv.Quote(code) + `}`))
	require.NoError(t, err)
	return got.Class
}

func TestDecodeDefaultClasses(t *testing.T) {
	t.Parallel()
	send := decoder(t, `{}`)
	for class, codes := range map[string]string{
		"unauthorized": "40001 40007 200244 200245 200246", "rateLimited": "40002", "insufficientBalance": "200101", "duplicate": "200206",
		"windowClosed": "131047", "notFound": "40005", "unavailable": "500101 50000 50001 50002 50003",
		"invalid": "200100 200102 200199 200200 200247 2001 40003 40004 2001011", "": "0 40006 400011 4000 200 200300 12001 ok",
	} {
		for code := range strings.FieldsSeq(codes) {
			assert.Equal(t, class, classOf(t, send, code), code)
		}
	}
}

func TestDecodeExactCodeWinsOverPrefix(t *testing.T) {
	t.Parallel()
	// Each class in turn has the shortest prefix, so that no order of the classes can hide a mistake.
	names := []string{"unauthorized", "rateLimited", "insufficientBalance", "duplicate", "windowClosed", "notFound", "unavailable", "invalid"}
	for shift := range names {
		name := func(i int) string { return names[(i+shift)%len(names)] }
		send := decoder(t, fmt.Sprintf(`{"errors": {"classes": {%q: ["1*"], %q: ["12*"], %q: ["123*"], %q: ["123"], %q: ["12"], %q: ["1"], %q: ["E-1*", "e-1"]}}}`,
			name(0), name(1), name(2), name(3), name(4), name(5), name(6)))
		for code, want := range map[string]string{
			"1": name(5), "12": name(4), "123": name(3), "10": name(0), "129": name(1), "1234": name(2), "13": name(0),
			"E-1": name(6), "E-17": name(6), "e-1": name(6), "e-17": "", "2": "",
		} {
			assert.Equal(t, want, classOf(t, send, code), "%s, shifted by %d", code, shift)
		}
	}
}

func FuzzSendDecode(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "\ufeff{}", `{"status":"ok","data":{"id":"m","messageParts":"1"}}`, `{"code":"0"}`, `{"code":40001,"message":"no"}`,
		`{"error":{"code":1,"message":"\ud83d\ude00"}}`, `{"messages":[{"id":"m"}]}`, `{"data":{"id":"x"},"data":null,"id":1e5}`,
		`{"id":"m","code":true}`, `{"id":"m","code":"NEW"}`, `{"id":"m","code":"40001"}`, `{"code":{"x":1}}`, `{"id":"%i"}`, `{"id":"m","code":"OK"}`, `{"id":1,"code":"00"}`,
		`{"status":{"a":[1,2,{"b":"c"}]}}`, "{\"id\":\"\xff\"}", `{"id":"\u00`, `[[[[[[`, `{"message":{"transactionId":true}}`, `{1:2}`, `{"a"1}`, `"text`, "\"a\nb\"", `{"id":"m"}` + strings.Repeat(" ", 5000),
	} {
		f.Add([]byte(seed))
	}
	send := decoder(f, `{}`)
	successCodes := parse(f, `{}`).Errors.Success
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := send.Decode(body)
		if valid := json.Valid([]byte(strings.TrimPrefix(string(body), "\ufeff"))); valid != (err == nil) {
			t.Fatalf("valid is %t, but the error is %v", valid, err)
		}
		if err != nil {
			require.Zero(t, got)
			return
		}
		isRefused := got.Claim == codec.Refuses
		isAccepted := got.Claim == codec.Accepts
		if got.Claim != codec.Contradictory && isRefused != (got.Class != "") {
			t.Errorf("refused without a class: %+v", got)
		}
		if (isAccepted || isRefused) != (got.Reason == "") {
			t.Errorf("a reason with a proof, or neither: %+v", got)
		}
		isErrorCode := got.Code != "" && !slices.Contains(successCodes, strings.ToLower(got.Code))
		if isAccepted && (got.ID == "" || isErrorCode) {
			t.Errorf("no doubt: %+v", got)
		}
		known := func(doubt string) bool { return strings.HasPrefix(got.Reason, doubt) }
		if got.Reason != "" && !slices.ContainsFunc([]string{noID, unknownStatus, unknownCode, noCode, errorNoCode, repeated, "the response h"}, known) {
			t.Errorf("a doubt that is not one of the known texts: %q", got.Reason)
		}
	})
}

func TestSendBlankGivesWay(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"sms.send": {"response": {"id": ["id"], "reference": ["first", "second"]}}}`)
	send := codec.CompileSend(c, &c.SMSSend, sendURL, nil)
	for _, blank := range []string{`""`, `" "`, `"\t"`, `null`} {
		got, err := send.Decode([]byte(`{"id":"m-1","first":` + blank + `,"second":"order-1"}`))
		require.NoError(t, err)
		assert.Equal(t, "order-1", got.ReferenceID, blank)
	}
}
