package messagingtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/contract"
)

// one is a chat-app-1 message of these members.
func one(members string) string { return `{"from":"channel-1","to":"+639171234567",` + members + `}` }

// goodChatApp1 has a message of each kind.
var goodChatApp1 = map[string]string{
	"text":           one(`"text":"Hi"`),
	"image":          one(`"image":"https://example.com/a.png?x=1#y"`),
	"video":          one(`"video":"https://example.com/a.mp4","thumbnail":"https://example.com/a.png","duration":12.5,"fileSize":1048576`),
	"call_to_action": one(`"text":"Hi","caption":"Open","action":"https://example.com","image":"http://example.com/a.png"`),
	"template":       one(`"templateId":"t-1","templateParams":{"name":"Ana","empty":""},"templateLanguage":"en"`),
}

func TestChatApp1AcceptsEachKind(t *testing.T) {
	t.Parallel()
	for kind, body := range goodChatApp1 {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			data := sendTo(t, newClient(t), s, chatApp1, body).data(t)
			assert.Equal(t, map[string]string{
				"id": "msg-1", "requestId": "req-1", "messageParts": "1", "unitCost": "0.50", "transactionCost": "0.50",
				"remaining": "999999.50", "operatorCode": "OP_1", "currency": "XTS",
			}, data)
			m := s.Sent()[0]
			assert.Equal(t, kind, m.Kind)
			assert.Equal(t, body, string(m.Body))
			assert.Nil(t, m.Extra)
			if kind == "template" {
				assert.Equal(t, "t-1", m.Template)
			} else {
				assert.Empty(t, m.Template)
			}
		})
	}
}

func TestChatApp1AcceptsTextBesideAMedium(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for kind, body := range map[string]string{
		"image": `"text":"Hi","image":"https://example.com/a.png"`,
		"video": `"text":"Hi","video":"https://example.com/a.mp4"`,
		"raw":   `"sticker":{"id":7}`,
	} {
		s.Reset()
		sendTo(t, newClient(t), s, chatApp1, one(body)).data(t)
		assert.Equal(t, kind, s.Sent()[0].Kind)
	}
}

func TestChatApp1SentHasEveryField(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	body := one(`"text":"Hi","ttl":600,"sms_from":"ACME","sms_text":"Hi by SMS","dlrCallback":"https://example.com/dlr?s=%s","dlrReport":1,` +
		`"referenceId":"order-17","app":{"a":[1, null]},"none":null`)
	data := sendTo(t, newClient(t), s, chatApp1, body).data(t)
	assert.Equal(t, "order-17", data["referenceId"])
	m := s.Sent()[0]
	at := m.At
	m.At, m.StatusAt = time.Time{}, time.Time{}
	assert.Equal(t, Sent{
		ID: "msg-1", Channel: channelChatApp1, Kind: "text", From: "channel-1", To: "+639171234567", Text: "Hi", TTL: 10 * time.Minute,
		FallbackFrom: "ACME", FallbackText: "Hi by SMS", CallbackURL: "https://example.com/dlr?s=%s", ReferenceID: "order-17", Parts: 1,
		RequestID: "req-1", Body: json.RawMessage(body), Status: contract.StatusDelivered,
		Extra: map[string]json.RawMessage{"app": []byte(`{"a":[1,null]}`), "none": []byte(`null`)},
	}, m)
	assert.Equal(t, at, s.Sent()[0].StatusAt)
	assert.WithinDuration(t, time.Now(), at, time.Minute)
}

func TestChatApp1Refuses(t *testing.T) {
	t.Parallel()
	checkRefusals(t, chatApp1, map[string]refusal{
		"from absent":        {`{"to":"639171234567","text":"Hi"}`, codeMissing},
		"from a number":      {`{"from":1,"to":"639171234567","text":"Hi"}`, codeKind},
		"to absent":          {`{"from":"c","text":"Hi"}`, codeMissing},
		"to null":            {`{"from":"c","to":null,"text":"Hi"}`, codeKind},
		"to a word":          {`{"from":"c","to":"nobody","text":"Hi"}`, codeRecipient},
		"no payload":         {one(`"ttl":60`), codePayload},
		"text empty":         {one(`"text":""`), codeMissing},
		"text null":          {one(`"text":null`), codeKind},
		"text an object":     {one(`"text":{"body":"Hi"}`), codeKind},
		"text and template":  {one(`"text":"Hi","templateId":"t"`), codePayload},
		"image and video":    {one(`"image":"https://example.com/a.png","video":"https://example.com/a.mp4"`), codePayload},
		"image and template": {one(`"image":"https://example.com/a.png","templateId":"t"`), codePayload},
		"action and video": {
			one(`"text":"Hi","caption":"Go","action":"https://example.com","video":"https://example.com/a"`),
			codePayload,
		},
		"action and template":           {one(`"text":"Hi","caption":"Go","action":"https://example.com","templateId":"t"`), codePayload},
		"video and template":            {one(`"video":"https://example.com/a.mp4","templateId":"t"`), codePayload},
		"image a path":                  {one(`"image":"/a.png"`), codeURL},
		"image without scheme":          {one(`"image":"example.com/a.png"`), codeURL},
		"image ftp":                     {one(`"image":"ftp://example.com/a.png"`), codeURL},
		"image of data":                 {one(`"image":"data:image/png;base64,AA=="`), codeURL},
		"image with a bad escape":       {one(`"image":"https://example.com/%zz"`), codeURL},
		"image with a blank":            {one(`"image":"https://example.com/a b"`), codeURL},
		"image empty":                   {one(`"image":""`), codeMissing},
		"image an object":               {one(`"image":{"link":"https://example.com/a.png"}`), codeKind},
		"thumbnail alone":               {one(`"thumbnail":"https://example.com/a.png"`), codeMissing},
		"thumbnail a word":              {one(`"video":"https://example.com/a.mp4","thumbnail":"x"`), codeURL},
		"video a word":                  {one(`"video":"x"`), codeURL},
		"duration a string":             {one(`"video":"https://example.com/a.mp4","duration":"12"`), codeKind},
		"duration null":                 {one(`"video":"https://example.com/a.mp4","duration":null`), codeKind},
		"duration zero":                 {one(`"video":"https://example.com/a.mp4","duration":0`), codeValue},
		"duration below zero":           {one(`"video":"https://example.com/a.mp4","duration":-1`), codeValue},
		"duration too large":            {one(`"video":"https://example.com/a.mp4","duration":1e999`), codeKind},
		"size a string":                 {one(`"video":"https://example.com/a.mp4","fileSize":"12"`), codeKind},
		"size a fraction":               {one(`"video":"https://example.com/a.mp4","fileSize":1.5`), codeValue},
		"size zero":                     {one(`"video":"https://example.com/a.mp4","fileSize":0`), codeValue},
		"duration of an image":          {one(`"image":"https://example.com/a.png","duration":3`), codePayload},
		"caption without action":        {one(`"text":"Hi","caption":"Go"`), codeMissing},
		"action without caption":        {one(`"text":"Hi","action":"https://example.com"`), codeMissing},
		"action without text":           {one(`"caption":"Go","action":"https://example.com"`), codeMissing},
		"action a word":                 {one(`"text":"Hi","caption":"Go","action":"open"`), codeURL},
		"caption empty":                 {one(`"text":"Hi","caption":"","action":"https://example.com"`), codeMissing},
		"params alone":                  {one(`"templateParams":{}`), codeMissing},
		"language alone":                {one(`"templateLanguage":"en"`), codeMissing},
		"template empty":                {one(`"templateId":""`), codeMissing},
		"template a number":             {one(`"templateId":7`), codeKind},
		"params an array":               {one(`"templateId":"t","templateParams":["a"]`), codeKind},
		"params null":                   {one(`"templateId":"t","templateParams":null`), codeKind},
		"params of a number":            {one(`"templateId":"t","templateParams":{"a":1}`), codeKind},
		"params of null":                {one(`"templateId":"t","templateParams":{"a":null}`), codeKind},
		"params of a name twice":        {one(`"templateId":"t","templateParams":{"a":"1","a":"1"}`), codeBody},
		"language empty":                {one(`"templateId":"t","templateLanguage":""`), codeMissing},
		"ttl zero":                      {one(`"text":"Hi","ttl":0`), codeLifetime},
		"ttl below zero":                {one(`"text":"Hi","ttl":-60`), codeLifetime},
		"ttl a fraction":                {one(`"text":"Hi","ttl":60.5`), codeLifetime},
		"ttl with a point":              {one(`"text":"Hi","ttl":60.0`), codeLifetime},
		"ttl with an exponent":          {one(`"text":"Hi","ttl":6e1`), codeLifetime},
		"ttl a string":                  {one(`"text":"Hi","ttl":"60"`), codeLifetime},
		"ttl null":                      {one(`"text":"Hi","ttl":null`), codeLifetime},
		"ttl true":                      {one(`"text":"Hi","ttl":true`), codeLifetime},
		"ttl too large":                 {one(`"text":"Hi","ttl":9223372037`), codeLifetime},
		"fallback without text":         {one(`"text":"Hi","sms_from":"ACME"`), codeFallback},
		"fallback without from":         {one(`"text":"Hi","sms_text":"Hi"`), codeFallback},
		"fallback of an empty text":     {one(`"text":"Hi","sms_from":"ACME","sms_text":""`), codeFallback},
		"fallback of two empty strings": {one(`"text":"Hi","sms_from":"","sms_text":""`), codeFallback},
		"fallback of null":              {one(`"text":"Hi","sms_from":"ACME","sms_text":null`), codeKind},
		"reference a number":            {one(`"text":"Hi","referenceId":17`), codeKind},
		"callback without report":       {one(`"text":"Hi","dlrCallback":"https://example.com"`), codeCallback},
		"callback a path":               {one(`"text":"Hi","dlrCallback":"/dlr","dlrReport":1`), codeCallback},
	})
}

func TestChatApp1AcceptsEdges(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	for _, body := range []string{
		one(`"text":" "`),
		one(`"text":"Hi","ttl":1`),
		one(`"text":"Hi","ttl":9223372036`),
		one(`"text":"Hi","sms_from":"ACME","sms_text":"Hi"`),
		one(`"text":"Hi","caption":"Go","action":"HTTPS://user@example.com:8443/a%20b?x=y"`),
		one(`"video":"https://example.com/a.mp4"`),
		one(`"templateId":"t","templateParams":{}`),
		one(`"text":"Hi","keyboard":null`),
		`{"from":"c","to":"63917","text":"Hi"}`,
	} {
		sendTo(t, client, s, chatApp1, body).data(t)
	}
	assert.Len(t, s.Sent(), 9)
}
