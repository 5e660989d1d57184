package messagingtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// two is a chat-app-2 message of these members.
func two(members string) string {
	return `{"messaging_product":"whatsapp","to":"+639171234567",` + members + `}`
}

func interactive(content string) string { return two(`"type":"interactive","interactive":` + content) }

func template(content string) string { return two(`"type":"template","template":` + content) }

// goodChatApp2 has a message of each type, and one of a type that does not exist yet.
var goodChatApp2 = map[string]string{
	"text":        two(`"recipient_type":"individual","type":"text","text":{"body":"Hi","preview_url":true},"context":{"message_id":"wamid.x"}`),
	"image":       two(`"type":"image","image":{"link":"https://example.com/a.png","caption":"Look"}`),
	"video":       two(`"type":"video","video":{"id":"17"}`),
	"audio":       two(`"type":"audio","audio":{"id":"17","voice":true}`),
	"document":    two(`"type":"document","document":{"link":"https://example.com/a.pdf","filename":"a.pdf"}`),
	"sticker":     two(`"type":"sticker","sticker":{"id":"17"}`),
	"location":    two(`"type":"location","location":{"latitude":14.5,"longitude":"-120.98","name":"Manila","address":"here"}`),
	"contacts":    two(`"type":"contacts","contacts":[{"name":{"formatted_name":"Ana"},"phones":[{"phone":"+63"}]}]`),
	"reaction":    two(`"type":"reaction","reaction":{"message_id":"wamid.x","emoji":"👍"}`),
	"interactive": interactive(`{"type":"button","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"buttons":[{"type":"reply"}]}}`),
	"template": template(`{"name":"order_ready","language":{"code":"en_US","policy":"deterministic"},"components":[` +
		`{"type":"HEADER","parameters":[{"type":"image","image":{"id":"17"}}]},{"type":"body","parameters":[{"type":"text","text":"Ana"}]},` +
		`{"type":"button","sub_type":"quick_reply","index":"0","parameters":[]},{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"body"}]}]}]}`),
	"hologram": two(`"type":"hologram","hologram":{"shape":null}`),
}

func TestChatApp2AcceptsEachType(t *testing.T) {
	t.Parallel()
	for kind, body := range goodChatApp2 {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			r := sendTo(t, newClient(t), s, chatApp2, body)
			require.Equal(t, http.StatusOK, r.status, "%s", r.body)
			m := s.Sent()[0]
			assert.Equal(t, channelChatApp2, m.Channel)
			assert.Equal(t, kind, m.Kind)
			assert.Equal(t, body, string(m.Body))
			assert.Empty(t, m.From)
			assert.Nil(t, m.Extra)
			texts := map[string]string{"text": "Hi", "image": "Look", "interactive": "B"}
			assert.Equal(t, texts[kind], m.Text)
			assert.Equal(t, kind == "template", m.Template == "order_ready")
		})
	}
}

func TestChatApp2Response(t *testing.T) {
	t.Parallel()
	id := "wamid." + base64.StdEncoding.EncodeToString([]byte("msg-1"))
	for name, tc := range map[string]struct{ address, to, contact string }{
		"a number":           {`"to":"+639171234567"`, "+639171234567", `{"input":"+639171234567","wa_id":"639171234567"}`},
		"a number without +": {`"to":"639171234567"`, "639171234567", `{"input":"639171234567","wa_id":"639171234567"}`},
		"a number as people write it": {
			`"to":"+63 (917) 123-4567"`, "+63 (917) 123-4567", `{"input":"+63 (917) 123-4567","wa_id":"639171234567"}`,
		},
		"a user": {`"recipient":"US.13491208655302741918"`, "US.13491208655302741918", `{"input":"US.13491208655302741918","user_id":"US.13491208655302741918"}`},
		"a number and a user": {
			`"to":"63917","recipient":"US.1"`, "63917", `{"input":"63917","wa_id":"63917"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			r := sendTo(t, newClient(t), s, chatApp2, `{"messaging_product":"whatsapp",`+tc.address+`,"text":{"body":"Hi"}}`)
			require.NoError(t, r.err)
			assert.Equal(t, http.StatusOK, r.status)
			assert.Equal(t, "application/json", r.header.Get("Content-Type"))
			assert.JSONEq(t, `{"messaging_product":"whatsapp","contacts":[`+tc.contact+`],"messages":[{"id":"`+id+`"}]}`, string(r.body))
			m := s.Sent()[0]
			assert.Equal(t, id, m.ID)
			assert.Equal(t, tc.to, m.To)
		})
	}
}

func TestChatApp2SentHasEveryField(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	body := two(`"text":{"body":"Hi"},"ttl":600,"sms_from":"ACME","sms_text":"Hi by SMS","dlrCallback":"https://example.com/dlr?s=%s","dlrReport":1,` +
		`"referenceId":"order-17","biz_opaque_callback_data":"x","message_activity_sharing":false,"app":"billing"`)
	require.Equal(t, http.StatusOK, sendTo(t, newClient(t), s, chatApp2, body).status)
	m := s.Sent()[0]
	m.At, m.StatusAt = time.Time{}, time.Time{}
	assert.Equal(t, Sent{
		ID: "wamid.bXNnLTE=", Channel: channelChatApp2, Kind: "text", To: "+639171234567", Text: "Hi", TTL: 10 * time.Minute,
		FallbackFrom: "ACME", FallbackText: "Hi by SMS", CallbackURL: "https://example.com/dlr?s=%s", ReferenceID: "order-17", Parts: 1,
		RequestID: "req-1", Body: json.RawMessage(body), Status: contract.StatusDelivered,
		Extra: map[string]json.RawMessage{"app": []byte(`"billing"`)},
	}, m)
}

func TestChatApp2RefusesEnvelope(t *testing.T) {
	t.Parallel()
	text := `"text":{"body":"Hi"}`
	checkRefusals(t, chatApp2, map[string]refusal{
		"no product":                    {`{"to":"639171234567",` + text + `}`, codeMissing},
		"another product":               {`{"messaging_product":"telegram","to":"639171234567",` + text + `}`, codeValue},
		"product null":                  {`{"messaging_product":null,"to":"639171234567",` + text + `}`, codeKind},
		"nobody":                        {`{"messaging_product":"whatsapp",` + text + `}`, codeMissing},
		"to empty":                      {`{"messaging_product":"whatsapp","to":"",` + text + `}`, codeMissing},
		"to a number":                   {`{"messaging_product":"whatsapp","to":639171234567,` + text + `}`, codeKind},
		"to a word":                     {`{"messaging_product":"whatsapp","to":"nobody",` + text + `}`, codeRecipient},
		"to a list":                     {`{"messaging_product":"whatsapp","to":["639171234567"],` + text + `}`, codeKind},
		"recipient empty":               {`{"messaging_product":"whatsapp","recipient":"",` + text + `}`, codeMissing},
		"recipient a number":            {`{"messaging_product":"whatsapp","recipient":"639171234567",` + text + `}`, codeRecipient},
		"a group":                       {two(`"recipient_type":"group",` + text), codeValue},
		"another recipient type":        {two(`"recipient_type":"channel",` + text), codeValue},
		"recipient type empty":          {two(`"recipient_type":"",` + text), codeMissing},
		"type null":                     {two(`"type":null,` + text), codeKind},
		"type empty":                    {two(`"type":"",` + text), codeMissing},
		"type a field of the envelope":  {two(`"type":"context","context":{"message_id":"wamid.x"}`), codePayload},
		"type a field of the service":   {two(`"type":"ttl","ttl":60`), codePayload},
		"no content":                    {two(`"type":"text"`), codePayload},
		"no content, no type":           {two(`"ttl":60`), codePayload},
		"content of another type":       {two(`"type":"image",` + text), codePayload},
		"two contents":                  {two(`"type":"text","image":{"id":"17"},` + text), codePayload},
		"an unknown type, no content":   {two(`"type":"hologram"`), codePayload},
		"an unknown type, null":         {two(`"type":"hologram","hologram":null`), codeKind},
		"an unknown type, a string":     {two(`"type":"hologram","hologram":"x"`), codeKind},
		"an unknown type, two contents": {two(`"type":"hologram","hologram":{},` + text), codePayload},
		"a name twice inside":           {two(`"text":{"body":"Hi","body":"Ho"}`), codeBody},
		"context a string":              {two(`"context":"wamid.x",` + text), codeKind},
		"context of nothing":            {two(`"context":{},` + text), codeMissing},
		"ttl a string":                  {two(`"ttl":"60",` + text), codeLifetime},
		"ttl zero":                      {two(`"ttl":0,` + text), codeLifetime},
		"half a fallback":               {two(`"sms_text":"Hi",` + text), codeFallback},
		"a fallback for a user": {
			`{"messaging_product":"whatsapp","recipient":"US.1","sms_from":"ACME","sms_text":"Hi",` + text + `}`,
			codeFallback,
		},
		"reference null": {two(`"referenceId":null,` + text), codeKind},
	})
}

func TestChatApp2RefusesContent(t *testing.T) {
	t.Parallel()
	checkRefusals(t, chatApp2, map[string]refusal{
		"text a string":               {two(`"text":"Hi"`), codeKind},
		"text null":                   {two(`"text":null`), codeKind},
		"text without body":           {two(`"text":{"preview_url":true}`), codeMissing},
		"text of an empty body":       {two(`"text":{"body":""}`), codeMissing},
		"body a number":               {two(`"text":{"body":1}`), codeKind},
		"media of nothing":            {two(`"type":"image","image":{}`), codePayload},
		"media twice":                 {two(`"type":"image","image":{"id":"17","link":"https://example.com/a.png"}`), codePayload},
		"media of an empty id":        {two(`"type":"audio","audio":{"id":""}`), codeMissing},
		"media of a number":           {two(`"type":"video","video":{"id":17}`), codeKind},
		"media of a path":             {two(`"type":"sticker","sticker":{"link":"/a.webp"}`), codeURL},
		"media an array":              {two(`"type":"image","image":[{"id":"17"}]`), codeKind},
		"template without a name":     {template(`{"language":{"code":"en"}}`), codeMissing},
		"template without a language": {template(`{"name":"t"}`), codeMissing},
		"language a string":           {template(`{"name":"t","language":"en"}`), codeKind},
		"language without a code":     {template(`{"name":"t","language":{"policy":"deterministic"}}`), codeMissing},
	})
}

// refusal is a body, and the code with which it is refused.
type refusal struct{ body, code string }

func checkRefusals(t *testing.T, path string, table map[string]refusal) {
	t.Helper()
	s, client := NewServer(t), newClient(t)
	for name, tc := range table {
		r := sendTo(t, client, s, path, tc.body)
		require.NoError(t, r.err, name)
		assert.Equal(t, http.StatusBadRequest, r.status, name)
		assert.Equal(t, tc.code, r.code(t), "%s: %s", name, r.body)
		assert.NotContains(t, string(r.body), "639171234567", name)
	}
	assert.Empty(t, s.Sent())
	assert.Equal(t, "1000000.00", s.Balance(), "a refused message costs nothing")
}

func TestChatApp2AcceptsEdges(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	body := `"body":{"text":"B"},`
	bodies := []string{
		two(`"text":{"body":" "}`),
		two(`"text":{"body":"Hi","emphasis":{"bold":[1]}}`),
		two(`"text":{"body":"Hi"},"preview_url":true,"direct_send_config":{"template_name":"t"},"optimization_spec":{"per_message_bid_multiplier":1.5}`),
		two(`"type":"reaction","reaction":{"message_id":"wamid.x","emoji":""}`),
		two(`"type":"hologram","hologram":[]`),
		template(`{"name":"t","language":{"code":"en"}}`),
		template(`{"name":"t","language":{"code":"en"},"components":[]}`),
		interactive(`{"type":"list",` + body + `"action":{"button":"Open","sections":[{"rows":[]}]}}`),
		interactive(`{"type":"button",` + body + `"header":{"type":"document","document":{"link":"https://example.com/a.pdf"}},"action":{"buttons":[{}]}}`),
		interactive(`{"type":"cta_url",` + body + `"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://example.com"}}}`),
		interactive(`{"type":"flow",` + body + `"action":{"name":"flow","parameters":{"flow_action_payload":{"data":{"x":null}}}}}`),
		interactive(`{"type":"location_request_message",` + body + `"action":{"name":"send_location"}}`),
		interactive(`{"type":"product","action":{"catalog_id":"c","product_retailer_id":"p"}}`),
		interactive(`{"type":"product_list",` + body + `"action":{"catalog_id":"c","sections":[{}]}}`),
		interactive(`{"type":"carousel",` + body + `"action":{"cards":[{}]}}`),
		interactive(`{"type":"call_permission_request","action":{"name":"call_permission_request"}}`),
		interactive(`{"type":"hologram","action":{"shape":{"x":null}}}`),
	}
	for _, body := range bodies {
		r := sendTo(t, client, s, chatApp2, body)
		assert.Equal(t, http.StatusOK, r.status, "%s: %s", body, r.body)
	}
	assert.Len(t, s.Sent(), len(bodies))
}
