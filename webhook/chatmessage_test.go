package webhook_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// chat has a query handled by both chat apps, which must agree, and returns the message.
func chat(t testing.TB, query string, options ...webhook.Option) webhook.ChatMessage {
	t.Helper()
	rcv := hooks(options...)
	var one, two inbox[webhook.ChatMessage]
	require.Equal(t, http.StatusOK, call(t, rcv.ChatApp1(one.handle), get(query)).Code, query)
	require.Equal(t, http.StatusOK, call(t, rcv.ChatApp2(two.handle), get(query)).Code, query)
	m, m2 := one.one(t), two.one(t)
	parsed, reports, err := rcv.ParseChatApp1(get(query))
	require.NoError(t, err)
	assert.Empty(t, reports)
	assert.Equal(t, []webhook.ChatMessage{m}, parsed)
	parsed, _, err = rcv.ParseChatApp2(get(query))
	require.NoError(t, err)
	assert.Equal(t, []webhook.ChatMessage{m2}, parsed)

	assert.Equal(t, webhook.CallbackChatApp1, m.Callback)
	assert.Equal(t, webhook.CallbackChatApp2, m2.Callback)
	m2.Callback = m.Callback
	assert.Equal(t, m, m2)
	assert.NotNil(t, m.Content)
	return m
}

// payload has a POST with a JSON body handled by chat app 2.
func payload(t testing.TB, body string, options ...webhook.Option) ([]webhook.ChatMessage, []webhook.DeliveryReport, error) {
	t.Helper()
	return hooks(append(options, webhook.WithPOST())...).ParseChatApp2(post("", "application/json", body))
}

func TestChatContentInParams(t *testing.T) {
	t.Parallel()
	const link = "https%3A%2F%2Fexample.com%2Fa.png"
	for _, tt := range []struct {
		name, query string
		want        webhook.Content
	}{
		{"text", "type=text&message=Hi", webhook.Text{Body: "Hi"}},
		{"text in another case", "kind=+TEXT+&text=Hi", webhook.Text{Body: "Hi"}},
		{"text of no kind", "message=Hi", webhook.Text{Body: "Hi"}},
		{"text that is absent", "type=text", webhook.Text{}},
		{"nothing", "", webhook.Text{}},
		{"image", "type=image&mediaUrl=" + link + "&mimeType=image/png&caption=Look", webhook.Media{Kind: "image", URL: "https://example.com/a.png", MIMEType: "image/png", Caption: "Look"}},
		{"every fact of a medium", "type=document&media_url=u&media_id=i&mime_type=m&caption=c&filename=f", webhook.Media{Kind: "document", URL: "u", ID: "i", MIMEType: "m", Caption: "c", FileName: "f"}},
		{"audio", "type=audio&mediaUrl=" + link + "&mimeType=audio/ogg", webhook.Media{Kind: "audio", URL: "https://example.com/a.png", MIMEType: "audio/ogg"}},
		{"video", "type=video&mediaId=7", webhook.Media{Kind: "video", ID: "7"}},
		{"sticker", "type=sticker&mediaId=7", webhook.Media{Kind: "sticker", ID: "7"}},
		{"a medium whose caption came as text", "type=image&mediaId=7&message=Look", webhook.Media{Kind: "image", ID: "7", Caption: "Look"}},
		{"a medium of no kind", "mediaUrl=u&message=Look", webhook.Media{URL: "u", Caption: "Look"}},
		{"a medium of no kind, with a type", "mediaUrl=u&mimeType=video/mp4", webhook.Media{Kind: "video", URL: "u", MIMEType: "video/mp4"}},
		{"a document of no kind", "mediaId=7&mimeType=application/pdf", webhook.Media{Kind: "document", ID: "7", MIMEType: "application/pdf"}},
		{"location", "type=location&latitude=14.5&longitude=-121.0", webhook.Location{Latitude: 14.5, Longitude: -121}},
		{"location of no kind", "latitude=+14.5&longitude=121", webhook.Location{Latitude: 14.5, Longitude: 121}},
		{"half a location", "latitude=14.5&message=Hi", webhook.Text{Body: "Hi"}},
		{"an invalid location", "type=location&latitude=north&longitude=121", webhook.Unknown{Kind: "location"}},
		{"a location beyond the globe", "type=location&latitude=90.1&longitude=121", webhook.Unknown{Kind: "location"}},
		{"a location beyond the date line", "type=location&latitude=90&longitude=-180.1", webhook.Unknown{Kind: "location"}},
		{"a location of no number", "type=location&latitude=NaN&longitude=Inf", webhook.Unknown{Kind: "location"}},
		{"an unknown kind", "type=Hologram&beam=7", webhook.Unknown{Kind: "Hologram"}},
		{"a kind that comes as JSON alone", "type=interactive&message=Yes", webhook.Unknown{Kind: "interactive"}},
		{"JSON in the text, and a kind", `type=text&message={"type":"image","image":{"id":"7"}}`, webhook.Text{Body: `{"type":"image","image":{"id":"7"}}`}},
		{"JSON in the text that is no message", `message={"type":"image"}`, webhook.Text{Body: `{"type":"image"}`}},
		{"JSON in the text of another kind", `message={"a":1}`, webhook.Text{Body: `{"a":1}`}},
		{"a list in the text", `message=[1,2]`, webhook.Text{Body: `[1,2]`}},
		{"JSON in the text that is cut off", `message={"type":"text","text":{"body":"a`, webhook.Text{Body: `{"type":"text","text":{"body":"a`}},
		{"no JSON where JSON may be", `payload=x&message=Hi`, webhook.Text{Body: "Hi"}},
		{"nothing where JSON may be", `payload=+`, webhook.Text{}},
		{"no JSON where JSON may be, and nothing else", `payload=x`, webhook.Unknown{}},
		{"JSON that is cut off", `payload={"type":"text","text":{"body":"a`, webhook.Unknown{}},
		{"JSON that is too deep", `payload=` + strings.Repeat(`{"a":`, 10_001) + "0" + strings.Repeat("}", 10_001), webhook.Unknown{}},
		{"JSON that says nothing, and nothing else", `payload={"a":1}`, webhook.Unknown{Raw: json.RawMessage(`{"a":1}`)}},
		{"JSON that says nothing", `payload={"a":1}&message=Hi`, webhook.Text{Body: "Hi"}},
		{"JSON that says nothing, and a medium", `payload={"a":1}&mediaId=7`, webhook.Media{ID: "7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := chat(t, "from="+sender+"&"+tt.query)
			assert.Equal(t, tt.want, m.Content)
			assert.Equal(t, sender, m.From)
		})
	}
}

func TestChatMessage(t *testing.T) {
	t.Parallel()
	const query = "id=m-1&from=+639171234567&to=+12345&name=Ana&type=text&message=Hi&timestamp=1791038663&referenceId=r-1"
	m := chat(t, query)
	assert.Equal(t, "m-1", m.ID)
	assert.Equal(t, "+639171234567", m.From)
	assert.Equal(t, "+12345", m.To)
	assert.Equal(t, "Ana", m.Name)
	assert.Equal(t, "r-1", m.ReferenceID)
	assert.Equal(t, int64(1791038663), m.ReceivedAt.Unix())
	assert.Equal(t, query, m.RawQuery)
	assert.Len(t, m.Params, 8)
	assert.Zero(t, m.Context)
	assert.Nil(t, m.JSON)
}

func TestChatSenderUserID(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "US.1", chat(t, "from_user_id=US.1&message=a").From)
	assert.Equal(t, "1111", chat(t, "from_user_id=US.1&from=1111").From, "the first in the contract")
	assert.Equal(t, "US.1", chat(t, `payload={"from_user_id":"US.1","type":"text","text":{"body":"a"}}`).From)
	assert.Equal(t, "1111", chat(t, `payload={"from_user_id":"US.1","from":"1111","type":"text","text":{"body":"a"}}`).From)
	assert.Equal(t, "+639171234567", chat(t, `payload={"from":"+639171234567","type":"text","text":{"body":"a"}}`).From, "a + in JSON that was not escaped")
}

// at is 2026-10-03 14:44:23 UTC.
func at() time.Time { return time.Unix(1791038663, 0).UTC() }

// Every kind of inbound message of the platform. The shapes are those of its public examples.
func TestChatContentInJSON(t *testing.T) {
	t.Parallel()
	const changedNumber = `{"type":"system","system":{"type":"user_changed_number","wa_id":"1"}}`
	for _, tt := range []struct {
		name, json string
		want       webhook.Content // nil: Unknown with everything kept
		kind       string
		context    webhook.Context
	}{
		{name: "text", json: `"type":"text","text":{"body":"Does it come in another color?"}`, want: webhook.Text{Body: "Does it come in another color?"}},
		{name: "text of white space", json: `"type":"text","text":{"body":" "}`, want: webhook.Text{Body: " "}},
		{name: "text with escapes", json: `"type":"text","text":{"body":"a\u00e9\ud83d\ude00\ud83d\n\"\u0000"}`, want: webhook.Text{Body: "aé😀\ufffd\n\"\x00"}},
		{name: "text without a text", json: `"type":"text","text":{"preview_url":true}`, kind: "text"},
		{name: "text that is no object", json: `"type":"text","text":"Hi"`, kind: "text"},
		{
			name: "image", json: `"type":"image","image":{"caption":"Taj Mahal","mime_type":"image/jpeg","sha256":"SfInY0gGKTs=","id":"1003383421387256","url":"https://example.com/media"}`,
			want: webhook.Media{Kind: "image", Caption: "Taj Mahal", MIMEType: "image/jpeg", SHA256: "SfInY0gGKTs=", ID: "1003383421387256", URL: "https://example.com/media"},
		},
		{name: "video", json: `"type":"video","video":{"mime_type":"video/mp4","sha256":"x","id":"1"}`, want: webhook.Media{Kind: "video", MIMEType: "video/mp4", SHA256: "x", ID: "1"}},
		{name: "audio", json: `"type":"audio","audio":{"mime_type":"audio/ogg; codecs=opus","sha256":"x","id":"1","voice":false}`, want: webhook.Media{Kind: "audio", MIMEType: "audio/ogg; codecs=opus", SHA256: "x", ID: "1"}},
		{name: "voice", json: `"type":"audio","audio":{"mime_type":"audio/ogg; codecs=opus","id":"1","voice":true}`, want: webhook.Media{Kind: "audio", MIMEType: "audio/ogg; codecs=opus", ID: "1", Voice: true}},
		{
			name: "document", json: `"type":"document","document":{"caption":"caption","filename":"filename.pdf","mime_type":"application/pdf","id":"1"}`,
			want: webhook.Media{Kind: "document", Caption: "caption", FileName: "filename.pdf", MIMEType: "application/pdf", ID: "1"},
		},
		{name: "sticker", json: `"type":"sticker","sticker":{"mime_type":"image/webp","id":"1","animated":true}`, want: webhook.Media{Kind: "sticker", MIMEType: "image/webp", ID: "1", Animated: true}},
		{name: "image without an image", json: `"type":"image"`, kind: "image"},
		{
			name: "location", json: `"location":{"latitude":37.44221496582,"longitude":-122.16165924072,"name":"Philz Coffee","address":"101 Forest Ave","url":"https://philzcoffee.com/"},"type":"location"`,
			want: webhook.Location{Latitude: 37.44221496582, Longitude: -122.16165924072, Name: "Philz Coffee", Address: "101 Forest Ave", URL: "https://philzcoffee.com/"},
		},
		{name: "location as strings", json: `"type":"location","location":{"latitude":"12.25","longitude":"43.5"}`, want: webhook.Location{Latitude: 12.25, Longitude: 43.5}},
		{name: "location without a longitude", json: `"type":"location","location":{"latitude":12.25}`, kind: "location"},
		{
			name: "contacts", json: `"type":"contacts","contacts":[{"name":{"first_name":"Lucía","last_name":"Gómez","formatted_name":"Lucía Gómez","middle_name":"M","prefix":"Dr","suffix":"II"},` +
				`"org":{"company":"Example","department":"D","title":"T"},"birthday":"1990-01-02","vcard":"BEGIN:VCARD","origin":"o",` +
				`"phones":[{"phone":"+15550003333","wa_id":"15550003333","type":"MOBILE"},{"phone":"1"}],"emails":[{"email":"a@example.com","type":"WORK"}],"urls":[{"url":"https://example.com","type":"HOME"}],` +
				`"addresses":[{"street":"S","city":"C","state":"ST","zip":"Z","country":"US","country_code":"us","type":"HOME"}]},{"name":{"formatted_name":"Monica"}},7]`,
			want: webhook.Contacts{
				{
					FormattedName: "Lucía Gómez", FirstName: "Lucía", MiddleName: "M", LastName: "Gómez", Prefix: "Dr", Suffix: "II",
					Company: "Example", Department: "D", Title: "T", Birthday: "1990-01-02", VCard: "BEGIN:VCARD", Origin: "o",
					Phones: []webhook.ContactPhone{{Number: "+15550003333", ID: "15550003333", Type: "MOBILE"}, {Number: "1"}},
					Emails: []webhook.ContactEmail{{Address: "a@example.com", Type: "WORK"}}, URLs: []webhook.ContactURL{{URL: "https://example.com", Type: "HOME"}},
					Addresses: []webhook.ContactAddress{{Street: "S", City: "C", State: "ST", ZIP: "Z", Country: "US", CountryCode: "us", Type: "HOME"}},
				},
				{FormattedName: "Monica"},
				{},
			},
		},
		{name: "contacts that are no list", json: `"type":"contacts","contacts":{}`, kind: "contacts"},
		{name: "too many contacts", json: `"type":"contacts","contacts":[{}` + strings.Repeat(",{}", 512) + `]`, kind: "contacts"},
		{
			name: "button of a template", json: `"context":{"from":"15550001111","id":"wamid.1"},"type":"button","button":{"payload":"Unsubscribe","text":"No more"}`,
			want: webhook.Reply{Kind: "button", ID: "Unsubscribe", Title: "No more"}, context: webhook.Context{ID: "wamid.1", From: "15550001111"},
		},
		{name: "button reply", json: `"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"cancel","title":"Cancel"}}`, want: webhook.Reply{Kind: "button_reply", ID: "cancel", Title: "Cancel"}},
		{
			name: "list reply", json: `"type":"interactive","interactive":{"list_reply":{"id":"express","title":"Express","description":"Next Day"},"type":"list_reply"}`,
			want: webhook.Reply{Kind: "list_reply", ID: "express", Title: "Express", Description: "Next Day"},
		},
		{
			name: "form", json: `"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{\"rating\":\"4\"}","body":"Sent","name":"flow"}}`,
			want: webhook.Reply{Kind: "nfm_reply", Name: "flow", Title: "Sent", Response: `{"rating":"4"}`},
		},
		{
			name: "permission to call", json: `"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept","expiration_timestamp":1791038663,"response_source":"user_action"}}`,
			want: webhook.Reply{Kind: "call_permission_reply", CallPermission: webhook.CallPermission{Response: "accept", ExpiresAt: at(), Source: "user_action"}},
		},
		{
			name: "permission to call for ever", json: `"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept","is_permanent":true,"response_source":"automatic"}}`,
			want: webhook.Reply{Kind: "call_permission_reply", CallPermission: webhook.CallPermission{Response: "accept", Permanent: true, Source: "automatic"}},
		},
		{
			name: "no permission to call", json: `"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"reject","response_source":"user_action"}}`,
			want: webhook.Reply{Kind: "call_permission_reply", CallPermission: webhook.CallPermission{Response: "reject", Source: "user_action"}},
		},
		{
			name: "payment method", json: `"type":"interactive","interactive":{"type":"payment_method","payment_method":{"payment_method":"pix"}}`,
			want: webhook.Reply{Kind: "payment_method", Response: `{"payment_method":"pix"}`},
		},
		{name: "another interactive", json: `"type":"interactive","interactive":{"type":"telepathy","telepathy":{}}`, kind: "interactive"},
		{name: "interactive without its part", json: `"type":"interactive","interactive":{"type":"button_reply"}`, kind: "interactive"},
		{name: "reaction", json: `"reaction":{"message_id":"wamid.1","emoji":"👍"},"type":"reaction"`, want: webhook.Reaction{MessageID: "wamid.1", Emoji: "👍"}},
		{name: "reaction taken back", json: `"type":"reaction","reaction":{"message_id":"wamid.1"}`, want: webhook.Reaction{MessageID: "wamid.1"}},
		{name: "reaction taken back, empty", json: `"type":"reaction","reaction":{"message_id":"wamid.1","emoji":""}`, want: webhook.Reaction{MessageID: "wamid.1"}},
		{name: "reaction to nothing", json: `"type":"reaction","reaction":{"emoji":"👍"}`, kind: "reaction"},
		{
			name: "order", json: `"type":"order","order":{"catalog_id":"194836987003835","text":"please","product_items":[{"product_retailer_id":"di9ozbzfi4","quantity":2,"item_price":30.50,"currency":"USD"},{"product_retailer_id":"x","quantity":"1.5","item_price":"0.10"}]}`,
			want: webhook.Order{CatalogID: "194836987003835", Text: "please", Items: []webhook.OrderItem{{ProductID: "di9ozbzfi4", Quantity: 2, Price: "30.50", Currency: "USD"}, {ProductID: "x", Price: "0.10"}}},
		},
		{
			name: "product", json: `"type":"product","product":{"catalog_id":"194836987003835","product_retailer_id":"di9ozbzfi4"}`, kind: "product",
			want: webhook.Product{CatalogID: "194836987003835", ProductID: "di9ozbzfi4"},
		},
		{name: "a product without its ID", json: `"type":"product","product":{"catalog_id":"194836987003835"}`, kind: "product"},
		{name: "order without items", json: `"type":"order","order":{"catalog_id":"1"}`, kind: "order"},
		{name: "order of too many items", json: `"type":"order","order":{"product_items":[0` + strings.Repeat(",0", 1024) + `]}`, kind: "order"},
		{
			name: "changed number", json: `"system":{"body":"User A changed","wa_id":"15550003333","type":"user_changed_number"},"type":"system"`,
			want: webhook.System{Kind: "user_changed_number", Body: "User A changed", NewID: "15550003333"},
		},
		{
			name: "changed number, older", json: `"system":{"body":"NAME changed","new_wa_id":"15550003333","type":"user_changed_number","customer":"c"},"type":"system"`,
			want: webhook.System{Kind: "user_changed_number", Body: "NAME changed", NewID: "15550003333", CustomerID: "c"},
		},
		{
			name: "changed user ID", json: `"system":{"body":"b","user_id":"US.2","previous_user_id":"US.1","parent_user_id":"US.ENT.1","type":"user_changed_user_id"},"type":"system"`,
			want: webhook.System{Kind: "user_changed_user_id", Body: "b", NewUserID: "US.2", PreviousUserID: "US.1", NewParentUserID: "US.ENT.1"},
		},
		{
			name: "changed identity", json: `"identity":{"acknowledged":true,"created_timestamp":"1791038663","hash":"xyz"},"system":{"body":"b","type":"customer_identity_changed"},"type":"system"`,
			want: webhook.System{Kind: "customer_identity_changed", Body: "b", IdentityHash: "xyz", IdentityAcknowledged: true, IdentityChangedAt: at()},
		},
		{
			name: "changed identity within", json: `"system":{"type":"customer_identity_changed","identity":{"hash":"xyz"}},"type":"system"`,
			want: webhook.System{Kind: "customer_identity_changed", IdentityHash: "xyz"},
		},
		{name: "unsupported", json: `"errors":[{"code":131051,"title":"Message type unknown"}],"type":"unsupported","unsupported":{"type":"poll"}`, kind: "unsupported"},
		{
			name: "edit", json: `"type":"edit","edit":{"original_message_id":"wamid.1","message":{"context":{"id":"M0"},"type":"image","image":{"caption":"c","id":"1"}}}`, kind: "edit",
			want: webhook.Edit{MessageID: "wamid.1", Content: webhook.Media{Kind: webhook.MediaImage, ID: "1", Caption: "c"}},
		},
		{
			name: "edit to a kind that is not known", json: `"type":"edit","edit":{"original_message_id":"wamid.1","message":{"type":"poll"}}`, kind: "edit",
			want: webhook.Edit{MessageID: "wamid.1", Content: webhook.Unknown{Kind: "poll", Raw: json.RawMessage(`{"type":"poll"}`)}},
		},
		{
			name: "edit to a notice", json: `"type":"edit","edit":{"original_message_id":"wamid.1","message":` + changedNumber + `}`, kind: "edit",
			want: webhook.Edit{MessageID: "wamid.1", Content: webhook.Unknown{Kind: "system", Raw: json.RawMessage(changedNumber)}},
		},
		{name: "edit of an edit", json: `"type":"edit","edit":{"original_message_id":"wamid.1","message":{"type":"edit","edit":{}}}`, kind: "edit"},
		{
			name: "edit of an edit in another case", kind: "edit",
			json: `"type":"edit","edit":{"original_message_id":"wamid.1","message":{"type":" EDIT ","edit":{"original_message_id":"wamid.2","message":{"type":"text","text":{"body":"a"}}}}}`,
		},
		{name: "revoke", json: `"type":"revoke","revoke":{"original_message_id":"wamid.1"}`, kind: "revoke", want: webhook.Revoke{MessageID: "wamid.1"}},
		{name: "request_welcome", json: `"type":"request_welcome"`, kind: "request_welcome", want: webhook.RequestWelcome{}},
		{
			name: "payment_notification", kind: "payment_notification",
			json: `"type":"payment_notification","payment_notification":{"reference_id":"order-17","amount":{"value":1999,"offset":100},"currency":"INR"}`,
		},
		{name: "an unknown kind", json: `"type":"poll_creation","poll_creation":{"name":"?"}`, kind: "poll_creation"},
		{name: "no kind", json: `"beam":7`},
		{name: "a kind that is no word", json: `"type":{"a":1}`},
		{name: "forwarded", json: `"context":{"forwarded":true},"type":"text","text":{"body":"a"}`, want: webhook.Text{Body: "a"}, context: webhook.Context{Forwarded: true}},
		{name: "forwarded often", json: `"context":{"frequently_forwarded":true},"type":"text","text":{"body":"a"}`, want: webhook.Text{Body: "a"}, context: webhook.Context{FrequentlyForwarded: true}},
		{
			name: "about a product", json: `"context":{"from":"15550001111","id":"wamid.1","referred_product":{"catalog_id":"194836987003835","product_retailer_id":"di9ozbzfi4"}},"text":{"body":"a"},"type":"text"`,
			want: webhook.Text{Body: "a"}, context: webhook.Context{ID: "wamid.1", From: "15550001111", CatalogID: "194836987003835", ProductID: "di9ozbzfi4"},
		},
		{name: "from an advertisement", json: `"referral":{"source_url":"https://fb.me/x","ctwa_clid":"c"},"type":"text","text":{"body":"a"}`, want: webhook.Text{Body: "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			object := `{"from":"15550002222","from_user_id":"US.1","id":"wamid.HBgLMTU1NTAwMDExMTEVAgARGBIA","timestamp":"1791038663",` + tt.json + `}`
			value := `{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550001111","phone_number_id":"100000000000002"},` +
				`"contacts":[{"profile":{"name":"Sheena Nelson"},"wa_id":"15550002222"}],"messages":[` + object + `]}`
			envelope := `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"value":` + value + `,"field":"messages"}]}]}`
			for form, text := range map[string]string{"alone": object, "in its value": value, "in its envelope": envelope} {
				for name, query := range map[string]string{
					"in a parameter of its own": "payload=" + url.QueryEscape(text), "in the text": "message=" + url.QueryEscape(text),
					"next to its kind": "type=" + tt.kind + "&payload=" + url.QueryEscape(text),
				} {
					if name == "in the text" && tt.kind == "" && tt.want == nil && form == "alone" {
						continue // a person may have typed it
					}
					m := chat(t, query)
					want := tt.want
					_, isSystem := want.(webhook.System)
					if name == "in the text" && isSystem { // a person may have typed it
						want = webhook.Unknown{Kind: cmp.Or(tt.kind, "system"), Raw: json.RawMessage(object)}
					}
					if want == nil {
						want = webhook.Unknown{Kind: tt.kind, Raw: json.RawMessage(object)}
					}
					require.Equal(t, want, m.Content, "%s %s", form, name)
					assert.Equal(t, tt.context, m.Context)
					assert.Equal(t, "15550002222", m.From)
					assert.Equal(t, "wamid.HBgLMTU1NTAwMDExMTEVAgARGBIA", m.ID)
					assert.True(t, at().Equal(m.ReceivedAt))
					assert.JSONEq(t, object, string(m.JSON))
					if form == "alone" {
						assert.Empty(t, m.To+m.Name)
					} else {
						assert.Equal(t, "15550001111", m.To)
						assert.Equal(t, "Sheena Nelson", m.Name)
					}
				}
			}

			// The same as the body of a POST.
			for _, text := range []string{object, value, envelope} {
				messages, _, err := payload(t, text)
				require.NoError(t, err)
				require.Len(t, messages, 1)
				m := messages[0]
				assert.Equal(t, "15550002222", m.From)
				assert.True(t, at().Equal(m.ReceivedAt))
				if tt.want != nil {
					assert.Equal(t, tt.want, m.Content)
					assert.Equal(t, tt.context, m.Context)
				} else if tt.kind != "" && tt.name != "text that is no object" { // as the body itself it is a parameter
					assert.Equal(t, webhook.Unknown{Kind: tt.kind, Raw: json.RawMessage(object)}, m.Content)
				}
			}
		})
	}
}

func TestChatParamsWinOverJSON(t *testing.T) {
	t.Parallel()
	const inner = `{"from":"2222","id":"j","timestamp":"1","type":"image","image":{"id":"1","url":"u","mime_type":"m","caption":"c","filename":"f"}}`
	value := `{"metadata":{"display_phone_number":"3333"},"contacts":[{"profile":{"name":"N"}}],"messages":[` + inner + `]}`
	query := "&payload=" + url.QueryEscape(value)
	m := chat(t, "x=y"+query)
	assert.Equal(t, webhook.Media{Kind: "image", ID: "1", URL: "u", MIMEType: "m", Caption: "c", FileName: "f"}, m.Content)
	assert.Equal(t, []string{"2222", "j", "3333", "N"}, []string{m.From, m.ID, m.To, m.Name})

	m = chat(t, "from=2222&id=j&to=3&name=4&timestamp=1791038663&mediaUrl=5&mediaId=6&mimeType=7&caption=8&fileName=9"+query)
	assert.Equal(t, webhook.Media{Kind: "image", URL: "5", ID: "6", MIMEType: "7", Caption: "8", FileName: "9"}, m.Content)
	assert.Equal(t, []string{"2222", "j", "3", "4"}, []string{m.From, m.ID, m.To, m.Name})
	assert.True(t, at().Equal(m.ReceivedAt))

	m = chat(t, "caption=8&message=no"+query)
	assert.Equal(t, webhook.Media{Kind: "image", URL: "u", ID: "1", MIMEType: "m", Caption: "8", FileName: "f"}, m.Content)
	assert.Equal(t, webhook.Text{Body: "Hi"}, chat(t, "type=text&message=Hi"+query).Content, "another kind")
	assert.Equal(t, webhook.Unknown{Kind: "hologram", Raw: json.RawMessage(inner)}, chat(t, "type=hologram"+query).Content)

	text := "&payload=" + url.QueryEscape(`{"from":"2222","type":"text","text":{"body":"inner"}}`)
	assert.Equal(t, webhook.Text{Body: "outer"}, chat(t, "message=outer"+text).Content)
	assert.Equal(t, webhook.Text{Body: "inner"}, chat(t, "message=+"+text).Content)
	where := "&payload=" + url.QueryEscape(`{"from":"2222","type":"location","location":{"latitude":1,"longitude":2,"name":"N"}}`)
	assert.Equal(t, webhook.Location{Latitude: 3, Longitude: 2, Name: "N"}, chat(t, "latitude=3"+where).Content)
}

func TestChatJSONInText(t *testing.T) {
	t.Parallel()
	inner := url.QueryEscape(`{"from":"2222","type":"text","text":{"body":"inner"}}`)
	assert.Equal(t, webhook.Text{Body: "inner"}, chat(t, "message="+inner).Content)
	assert.Equal(t, webhook.Text{Body: "body"}, chat(t, "content=content&body=body&message="+inner+"&text=+").Content, "the parameter that was read as JSON is no text")
	assert.Equal(t, webhook.Text{Body: "inner"}, chat(t, "payload=x&message="+inner).Content)
	assert.Equal(t, webhook.Text{Body: "inner"}, chat(t, "payload=+&message="+inner).Content)
	other := url.QueryEscape(`{"from":"2222","type":"text","text":{"body":"other"}}`)
	m := chat(t, "message="+inner+"&payload="+other)
	assert.JSONEq(t, `{"from":"2222","type":"text","text":{"body":"other"}}`, string(m.JSON), "JSON that a person cannot have typed comes first")
	third := url.QueryEscape(`{"from":"2222","type":"text","text":{"body":"third"}}`)
	m = chat(t, "payload="+other+"&payload="+third)
	assert.Equal(t, webhook.Text{Body: "other"}, m.Content, "then the first to arrive")
	assert.True(t, m.Ambiguous, "a person may have typed the first")
	assert.False(t, chat(t, "payload="+other+"&payload="+other).Ambiguous)
}

// A person who types JSON into a chat writes a text, unless no parameter says who wrote it.
func TestChatTypedJSON(t *testing.T) {
	t.Parallel()
	reply := `{"type":"button","id":"9","from":"9999","button":{"payload":"CONFIRM_PAYMENT","text":"Yes"}}`
	system := `{"type":"system","id":"9","from":"9999","system":{"type":"user_changed_number","wa_id":"9999"}}`
	status := `{"id":"9","status":"delivered","recipient_id":"9999"}`
	for _, typed := range []string{reply, system, status, `{"messages":[` + reply + `]}`, `{"entry":[{"changes":[{"value":{"messages":[` + system + `]}}]}]}`} {
		for _, flat := range []string{"from=1111", "from=1111&id=1", "from=1111&type=text"} {
			m := chat(t, flat+"&message="+url.QueryEscape(typed))
			assert.Equal(t, webhook.Text{Body: typed}, m.Content)
			assert.Equal(t, "1111", m.From)
			assert.Nil(t, m.JSON)
			assert.False(t, m.Ambiguous)
		}
		_, _, err := hooks().ParseChatApp2(get("id=1&message=" + url.QueryEscape(typed)))
		assert.ErrorIs(t, err, webhook.ErrNoSender)
	}
	assert.Equal(t, "CONFIRM_PAYMENT", chat(t, "message="+url.QueryEscape(reply)).Content.(webhook.Reply).ID)
	assert.Equal(t, webhook.Unknown{Kind: "system", Raw: json.RawMessage(system)}, chat(t, "message="+url.QueryEscape(system)).Content)
	_, reports, err := hooks().ParseChatApp2(get("message=" + url.QueryEscape(status)))
	assert.ErrorIs(t, err, webhook.ErrNoSender)
	assert.Empty(t, reports)

	messages, _, err := payload(t, system)
	require.NoError(t, err)
	assert.IsType(t, webhook.System{}, messages[0].Content, "a body was not typed")
}

// JSON that a person may have typed says no more than the person may say.
func TestChatJSONBesideParams(t *testing.T) {
	t.Parallel()
	const button = `"type":"button","button":{"payload":"CONFIRM_PAYMENT","text":"Yes"}`
	const image = `"type":"image","image":{"id":"7","caption":"c"}`
	const system = `{"type":"system","system":{"type":"user_changed_number","wa_id":"1"}}`
	status := `{"statuses":[{"id":"s1","status":"failed","recipient_id":"1"}]}`
	reply := webhook.Reply{Kind: "button", ID: "CONFIRM_PAYMENT", Title: "Yes"}
	hello := webhook.Text{Body: "hello"}
	for name, tt := range map[string]struct {
		query, payload string
		want           webhook.Content // nil: Unknown
		ambiguous      bool
	}{
		"a reply":                          {"from=1111&id=1", `{` + button + `}`, reply, false},
		"a reply of the same":              {"from=1111&id=1", `{"id":"1","from":"+1111",` + button + `}`, reply, false},
		"a reply of another sender":        {"from=1111&id=1", `{"from":"2222",` + button + `}`, nil, true},
		"a reply with another ID":          {"from=1111&id=1", `{"id":"2",` + button + `}`, nil, true},
		"a reply next to a text":           {"from=1111&id=1&text=hello", `{` + button + `}`, hello, true},
		"a reply next to an empty text":    {"from=1111&id=1&text=", `{` + button + `}`, reply, true},
		"a text next to a text":            {"from=1111&text=hello", `{"type":"text","text":{"body":"other"}}`, hello, true},
		"the same text":                    {"from=1111&text=hello", `{"type":"text","text":{"body":"hello"}}`, hello, false},
		"an image next to a text":          {"from=1111&text=hello", `{` + image + `}`, webhook.Media{Kind: "image", ID: "7", Caption: "hello"}, false},
		"an image of another next to text": {"from=1111&text=hello", `{"from":"2222",` + image + `}`, hello, true},
		"a notice":                         {"from=1111", system, nil, false},
		"a notice next to a text":          {"from=1111&text=hello", system, hello, true},
		"a status":                         {"from=1111&text=hello", status, hello, true},
		"a status by itself":               {"from=1111&text=hello", `{"id":"s1","status":"failed","recipient_id":"1"}`, hello, true},
		"several messages":                 {"from=1111&text=hello", `{"messages":[` + textMessage("a", "2222") + `,` + textMessage("b", "3333") + `]}`, hello, true},
		"a message and a status":           {"from=1111&text=hello", `{"messages":[` + textMessage("a", "1111") + `],"statuses":[{"id":"1"}]}`, hello, true},
		"no message":                       {"from=1111&text=hello", `{"messages":[]}`, hello, true},
		"what is no message":               {"from=1111&text=hello", `{"messages":[7]}`, hello, true},
		"something else":                   {"from=1111&text=hello", `{"a":1}`, hello, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, query := range []string{tt.query + "&payload=" + url.QueryEscape(tt.payload), "payload=" + url.QueryEscape(tt.payload) + "&" + tt.query} {
				m := chat(t, query, webhook.WithStatuses(func(context.Context, webhook.DeliveryReport) error {
					return errors.New("an invented report")
				}))
				assert.Equal(t, tt.ambiguous, m.Ambiguous)
				assert.Equal(t, "1111", m.From)
				if tt.want == nil {
					assert.IsType(t, webhook.Unknown{}, m.Content)
				} else {
					assert.Equal(t, tt.want, m.Content)
				}
			}
		})
	}
}

// A gateway that builds JSON by concatenation lets a text add members.
func TestChatRepeatedMembers(t *testing.T) {
	t.Parallel()
	const message = `{"from":"1111","id":"a","type":"text","text":{"body":"hi"},"from":"2222","id":"b"}`
	for _, body := range []string{message, envelopeOf(`{"messages":[` + message + `]}`), `{"messages":[` + message + `]}`} {
		messages, _, err := payload(t, body)
		require.NoError(t, err)
		require.Len(t, messages, 1)
		assert.Equal(t, "1111 a", messages[0].From+" "+messages[0].ID, "the first counts")
		assert.True(t, messages[0].Ambiguous, body)
	}
	for _, value := range []string{
		`{"messages":[` + textMessage("a", "1") + `],"messages":[` + textMessage("b", "2") + `]}`,
		`{"messages":[` + textMessage("a", "1") + `],"x":1,"x":2,"messages":[` + textMessage("b", "2") + `]}`,
	} {
		for _, body := range []string{value, envelopeOf(value)} {
			messages, _, err := payload(t, body)
			require.NoError(t, err)
			require.Len(t, messages, 2, "none is lost")
			assert.True(t, messages[0].Ambiguous && messages[1].Ambiguous)
		}
	}
	twice, _, err := payload(t, `{"from":"1111","from":"1111","id":"a","type":"text","text":{"body":"hi"}}`)
	require.NoError(t, err)
	assert.False(t, twice[0].Ambiguous)
	reports, err := hooks(webhook.WithPOST()).ParseDelivery(post("", "", `{"id":"1","status":"sent","recipient_id":"2","status":"read"}`))
	require.NoError(t, err)
	assert.Equal(t, webhook.StatusSent, reports[0].Status)
	assert.True(t, reports[0].Ambiguous)
}

// Where JSON and parameters name different senders or IDs, the event is flagged.
func TestChatAmbiguous(t *testing.T) {
	t.Parallel()
	inner := "&payload=" + url.QueryEscape(`{"from":"2222","id":"j","type":"text","text":{"body":"a"}}`)
	for query, want := range map[string]bool{
		"x=y": false, "from=2222": false, "from=%2B2222&id=j": false, "from=1111": true, "id=1": true, "from=2222&sender=3333": true, "message=b": true, "message=a": false,
	} {
		assert.Equal(t, want, chat(t, query+inner).Ambiguous, query)
	}
	assert.True(t, chat(t, "x=y"+inner+"&from=3333").Ambiguous, "in either order")

	messages, _, err := payload(t, `{"from":"1111","from_user_id":"US.1","id":"j","type":"text","text":{"body":"a"}}`)
	require.NoError(t, err)
	assert.Equal(t, "1111", messages[0].From)
	assert.False(t, messages[0].Ambiguous, "the platform names a sender twice, by number and by user ID")
}

// envelopeOf makes an envelope of the platform with a change for each value.
func envelopeOf(values ...string) string {
	changes := ""
	for _, v := range values {
		changes += `,{"value":` + v + `,"field":"messages"}`
	}
	return `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[` + strings.TrimPrefix(changes, ",") + `]}]}`
}

func envelopeIn(field, value string) string {
	return `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"value":` + value + `,"field":"` + field + `"}]}]}`
}

func textMessage(id, from string) string {
	return `{"from":"` + from + `","id":"` + id + `","type":"text","text":{"body":"text of ` + id + `"}}`
}

func TestMessageWithoutZeroBytes(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	m, err := rcv.ParseSMS(get("id=m%00&from=1111&to=2%00&referenceId=r%00&message=a%00b"))
	require.NoError(t, err)
	assert.Empty(t, m.ID+m.To+m.ReferenceID)
	assert.Equal(t, "a\x00b", m.Text, "texts are kept")
	assert.False(t, m.Ambiguous)
	_, err = rcv.ParseSMS(get("id=m-1&from=1111%00&message=a"))
	require.ErrorIs(t, err, webhook.ErrNoSender)

	chats, _, err := rcv.ParseChatApp2(post("", "", `{"from":"1111","from_user_id":"u\u0000","id":"m\u0000","type":"text","text":{"body":"a\u0000b"}}`))
	require.NoError(t, err)
	require.Len(t, chats, 1)
	assert.Empty(t, chats[0].ID+chats[0].UserID)
	assert.Equal(t, webhook.Text{Body: "a\x00b"}, chats[0].Content)
	_, _, err = rcv.ParseChatApp2(post("", "", `{"from":"1111\u0000","id":"m-1","type":"text","text":{"body":"a"}}`))
	require.ErrorIs(t, err, webhook.ErrNoSender)

	chats, _, err = rcv.ParseChatApp2(get("from=1111&message=a&payload=" + url.QueryEscape(`{"from":"1111","id":"m-1","type":"text","text":{"body":"b\u0000"}}`)))
	require.NoError(t, err)
	assert.True(t, chats[0].Ambiguous, "another text")
}

func TestChatEnvelope(t *testing.T) {
	t.Parallel()
	contacts := `"metadata":{"display_phone_number":"5555"},"contacts":[{"wa_id":"2222","profile":{"name":"Ana"}},{"wa_id":"3333","profile":{"name":"Ben"}}]`
	body := envelopeOf(
		`{`+contacts+`,"messages":[`+textMessage("a", "3333")+`,`+textMessage("b", "2222")+`]}`,
		`{"statuses":[{"id":"s","status":"read","recipient_id":"4444"}]}`,
		`{"messages":[`+textMessage("c", "4444")+`]}`,
	)
	messages, reports, err := payload(t, body)
	require.NoError(t, err)
	var got []string
	for _, m := range messages {
		got = append(got, m.ID+" "+m.From+" "+m.To+" "+m.Name+" "+m.Content.(webhook.Text).Body)
		assert.JSONEq(t, textMessage(m.ID, m.From), string(m.JSON))
		assert.False(t, m.Ambiguous)
	}
	assert.Equal(t, []string{"a 3333 5555 Ben text of a", "b 2222 5555 Ana text of b", "c 4444   text of c"}, got)
	require.Len(t, reports, 1)
	assert.Equal(t, "s", reports[0].ID)

	fromQuery, _, err := hooks().ParseChatApp2(get("payload=" + url.QueryEscape(body)))
	require.NoError(t, err)
	assert.Len(t, fromQuery, 3, "the same in a parameter")
	withFlat, _, err := hooks().ParseChatApp2(get("from=9999&id=9&type=image&payload=" + url.QueryEscape(body)))
	require.NoError(t, err)
	require.Len(t, withFlat, 1, "a parameter of several messages next to a sender")
	assert.Equal(t, "9 9999", withFlat[0].ID+" "+withFlat[0].From)
	assert.Equal(t, webhook.Unknown{Kind: "image", Raw: json.RawMessage(body)}, withFlat[0].Content)
	assert.True(t, withFlat[0].Ambiguous)
	withID, _, err := hooks().ParseChatApp2(get("id=9&type=image&payload=" + url.QueryEscape(body)))
	require.NoError(t, err)
	assert.Equal(t, "a 3333", withID[0].ID+" "+withID[0].From, "of several messages each says everything itself")
	assert.Equal(t, webhook.Text{Body: "text of a"}, withID[0].Content)
	assert.True(t, withID[0].Ambiguous)
}

// All events of an envelope are handled before it is answered with 200. If one fails the service calls again, and the store
// keeps the others from being handled twice.
func TestChatEnvelopeHandlesEach(t *testing.T) {
	t.Parallel()
	body := envelopeOf(`{"messages":[`+textMessage("a", "1")+`,`+textMessage("b", "1")+`,`+textMessage("c", "1")+`]}`, `{"statuses":[{"id":"s","status":"read"}]}`)
	handled := map[string]int{}
	fails := true
	count := func(id string) error {
		if id == "b" && fails {
			return errors.New("not yet")
		}
		handled[id]++
		return nil
	}
	h := hooks(webhook.WithPOST(), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)),
		webhook.WithStatuses(func(_ context.Context, d webhook.DeliveryReport) error { return count(d.ID) }),
	).ChatApp2(func(_ context.Context, m webhook.ChatMessage) error { return count(m.ID) })
	assert.Equal(t, 500, call(t, h, post("", "", body)).Code)
	assert.Equal(t, map[string]int{"a": 1, "c": 1, "s": 1}, handled)
	fails = false
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "s": 1}, handled)
}

// Statuses without a function get 200, and the hooks hear of them.
func TestChatEnvelopeWithoutWithStatuses(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	var rejected rejections
	rcv := hooks(webhook.WithPOST(), logTo(slog.NewTextHandler(&text, nil)), rejected.option())
	statuses := `{"statuses":[{"id":"s","status":"read","recipient_id":"1"}]}`
	for body, messages := range map[string]int{
		envelopeOf(statuses): 0, `{"id":"s","status":"read","recipient_id":"1"}`: 0, envelopeOf(statuses, `{"messages":[`+textMessage("a", "1")+`]}`): 1,
	} {
		text.Reset()
		rejected = nil
		var in inbox[webhook.ChatMessage]
		assert.Equal(t, 200, call(t, rcv.ChatApp2(in.handle), post("", "", body)).Code)
		assert.Len(t, in.got, messages)
		assert.Contains(t, text.String(), "refused: no function for the event")
		require.Len(t, rejected, 1)
		assert.ErrorIs(t, rejected[0], webhook.ErrUnhandled)
	}
}

func TestChatEnvelopeUnreadable(t *testing.T) {
	t.Parallel()
	ok := textMessage("a", "1")
	for name, tt := range map[string]struct {
		body   string
		reason error
		status int
		got    int
	}{
		"no message":                  {envelopeOf(`{"messages":[]}`), webhook.ErrUnhandled, 200, 0},
		"errors of the account":       {envelopeOf(`{"errors":[{"code":1}]}`), webhook.ErrUnhandled, 200, 0},
		"no sender":                   {envelopeOf(`{"messages":[{"id":"1","type":"text","text":{"body":"a"}}]}`), webhook.ErrNoSender, 400, 0},
		"one without a sender":        {envelopeOf(`{"messages":[{"id":"1","type":"text"},` + ok + `]}`), webhook.ErrNoSender, 400, 1},
		"one that is no object":       {envelopeOf(`{"messages":[7,` + ok + `]}`), webhook.ErrNoSender, 400, 1},
		"entries that are no objects": {`{"entry":[1,null,{"changes":[2,{"value":3},{"value":{"messages":4}}]}]}`, webhook.ErrNoSender, 400, 0},
		"as many as may be":           {`{"messages":[` + ok + strings.Repeat(`,`+ok, 999) + `]}`, nil, 200, 1000},
		"too many messages":           {`{"messages":[` + ok + strings.Repeat(`,`+ok, 1000) + `]}`, webhook.ErrTooLarge, 413, 0},
		"too many entries":            {`{"entry":[0` + strings.Repeat(",0", 1000) + `]}`, webhook.ErrTooLarge, 413, 0},
		"too many changes":            {`{"entry":[{"changes":[0` + strings.Repeat(",0", 1000) + `]}]}`, webhook.ErrTooLarge, 413, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rcv := hooks(webhook.WithPOST(), webhook.WithLimits(256, 1<<20))
			var in inbox[webhook.ChatMessage]
			assert.Equal(t, tt.status, call(t, rcv.ChatApp2(in.handle), post("", "", tt.body)).Code)
			assert.Len(t, in.got, tt.got)
			messages, _, err := rcv.ParseChatApp2(post("", "", tt.body))
			assert.ErrorIs(t, err, tt.reason)
			assert.Len(t, messages, tt.got)
		})
	}
	// Next to a sender in a parameter the JSON is kept as it came.
	for _, body := range []string{`{"messages":[7]}`, `{"entry":[1]}`} {
		m := chat(t, "from=1111&payload="+url.QueryEscape(body))
		assert.Equal(t, webhook.Unknown{Raw: json.RawMessage(body)}, m.Content)
	}
}

// The secret of a body is in no part of the event, which people store.
func TestChatSecretInJSONBody(t *testing.T) {
	t.Parallel()
	const message = `"from":"1","id":"a","type":"hologram","beam":"7"`
	for _, body := range []string{
		`{"key":"s3cret-of-16-chars",` + message + `}`, `{` + message + `,"key":"s3cret-of-16-chars"}`, `{"key":"s3cret-of-16-chars" , ` + message + ` ,"key":"no"}`,
		`{"key":"s3cret-of-16-chars","messages":[{` + message + `}]}`, `{"messages":[{` + message + `}],"key":"s3cret-of-16-chars"}`, `{"key":"s3cret-of-16-chars","from":"1","entry":[{"s3":"x"}]}`,
	} {
		messages, _, err := payload(t, body, withKey())
		require.NoError(t, err, body)
		require.Len(t, messages, 1)
		stored, err := json.Marshal(messages)
		require.NoError(t, err)
		assert.NotContains(t, string(stored), "s3cret-of-16-chars", body)
		assert.True(t, json.Valid(messages[0].JSON))
		raw := messages[0].Content.(webhook.Unknown).Raw
		assert.Equal(t, string(messages[0].JSON), string(raw))
	}
	messages, _, err := payload(t, `{"key":"s3cret-of-16-chars",`+message+`}`, withKey())
	require.NoError(t, err)
	assert.JSONEq(t, `{`+message+`}`, string(messages[0].JSON))
}

func TestChatSenderInContacts(t *testing.T) {
	t.Parallel()
	for contacts, want := range map[string]string{
		`[{"wa_id":"4444","user_id":"US.4"}]`: "4444", `[{"user_id":"US.4","profile":{"username":"ana"}}]`: "US.4", `[{"wa_id":"4444"},{"wa_id":"5555"}]`: "",
	} {
		messages, _, err := hooks().ParseChatApp2(get("payload=" + url.QueryEscape(`{"contacts":`+contacts+`,"messages":[{"type":"text","text":{"body":"a"}}]}`)))
		if want == "" {
			require.ErrorIs(t, err, webhook.ErrNoSender)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, messages[0].From)
		if want == "US.4" {
			assert.Equal(t, "ana", messages[0].Name)
		}
	}
}

func TestChatJSONBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		want webhook.Content
		json bool
	}{
		{`{"from":"1111","message":"Hi"}`, webhook.Text{Body: "Hi"}, false},
		{`{"from":"1111","type":"text","message":"Hi"}`, webhook.Text{Body: "Hi"}, true},
		{`{"from":"1111","type":"text","text":"Hi"}`, webhook.Text{Body: "Hi"}, true},
		{`{"from":"1111","type":"text","text":{"body":"Hi"}}`, webhook.Text{Body: "Hi"}, true},
		{`{"from":"1111","type":"image","mediaUrl":"u"}`, webhook.Media{Kind: "image", URL: "u"}, true},
		{`{"from":"1111","type":"hologram","beam":7}`, webhook.Unknown{Kind: "hologram", Raw: json.RawMessage(`{"from":"1111","type":"hologram","beam":7}`)}, true},
		{`{"from":"1111","payload":{"type":"reaction","reaction":{"message_id":"1"}}}`, webhook.Reaction{MessageID: "1"}, true},
		{`{"from":"1111","message":{"type":"reaction","reaction":{"message_id":"1"}}}`, webhook.Reaction{MessageID: "1"}, true},
		{`{"from":"1111","type":"reaction","message":{"type":"reaction","reaction":{"message_id":"1"}}}`, webhook.Reaction{MessageID: "1"}, true},
		{`{"from":"1111","payload":"{\"type\":\"reaction\",\"reaction\":{\"message_id\":\"1\"}}"}`, webhook.Reaction{MessageID: "1"}, true},
		{`{"from":"1111","latitude":1.5,"longitude":-2}`, webhook.Location{Latitude: 1.5, Longitude: -2}, false},
	} {
		messages, _, err := payload(t, tt.body)
		require.NoError(t, err, tt.body)
		m := messages[0]
		assert.Equal(t, tt.want, m.Content, tt.body)
		assert.Equal(t, "1111", m.From, tt.body)
		assert.Equal(t, tt.json, m.JSON != nil, tt.body)
	}
	messages, _, err := payload(t, `{"from":"1111","type":"text","text":{"body":"Hi"},"n":null,"b":true}`)
	require.NoError(t, err)
	assert.Equal(t, webhook.Params{{Name: "from", Value: "1111"}, {Name: "type", Value: "text"}, {Name: "text", Value: `{"body":"Hi"}`}, {Name: "n"}, {Name: "b", Value: "true"}}, messages[0].Params)
}

func TestChatMessageFromEnvelope(t *testing.T) {
	t.Parallel()
	value := `{"contacts":[{"profile":{"name":"Sheena Nelson","username":"sheena"},"wa_id":"15550002222","user_id":"US.1"}],"messages":[` +
		`{"from":"15550002222","id":"wamid.1","group_id":"group-1","type":"text","text":{"body":"Hi"},"referral":{"source_url":"https://fb.me/x",` +
		`"source_id":"120","source_type":"ad","body":"Succulents","headline":"Chat with us","media_type":"video","video_url":"https://example.com/v",` +
		`"thumbnail_url":"https://example.com/t","ctwa_clid":"click","welcome_message":{"text":"Hello"}}}]}`
	messages, _, err := payload(t, envelopeOf(value))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	m := messages[0]
	assert.Equal(t, []string{"15550002222", "US.1", "Sheena Nelson", "sheena", "group-1"}, []string{m.From, m.UserID, m.Name, m.Username, m.GroupID})
	assert.Equal(t, webhook.Referral{
		SourceURL: "https://fb.me/x", SourceID: "120", SourceType: "ad", Headline: "Chat with us", Body: "Succulents", MediaType: "video",
		MediaURL: "https://example.com/v", ThumbnailURL: "https://example.com/t", ClickID: "click", Welcome: "Hello",
	}, m.Referral)
	data, err := json.Marshal(m)
	require.NoError(t, err)
	var stored webhook.ChatMessage
	require.NoError(t, json.Unmarshal(data, &stored))
	assert.Equal(t, m, stored)
}

func TestEditIsStored(t *testing.T) {
	t.Parallel()
	for _, content := range []webhook.Content{
		webhook.Edit{MessageID: "wamid.1", Content: webhook.Text{Body: "Hi"}},
		webhook.Edit{MessageID: "wamid.1", Content: webhook.Contacts{{FirstName: "A"}}},
		webhook.Edit{},
		webhook.Revoke{MessageID: "wamid.1"},
		webhook.Product{CatalogID: "1", ProductID: "x"},
		webhook.RequestWelcome{},
	} {
		data, err := json.Marshal(webhook.ChatMessage{Content: content})
		require.NoError(t, err)
		var stored webhook.ChatMessage
		require.NoError(t, json.Unmarshal(data, &stored))
		assert.Equal(t, content, stored.Content)
	}
	_, err := json.Marshal(webhook.ChatMessage{Content: webhook.Edit{Content: &webhook.Text{}}})
	require.Error(t, err)
	var stored webhook.ChatMessage
	require.Error(t, json.Unmarshal([]byte(`{"content":{"edit":{"content":{"hologram":{}}}}}`), &stored))
	require.Error(t, json.Unmarshal([]byte(`{"content":{"edit":{"content":7}}}`), &stored))
}

func TestTestNotificationOfThePlatform(t *testing.T) {
	t.Parallel()
	messages, _, err := payload(t, `{"field":"messages","value":{"messages":[`+textMessage("a", "15550002222")+`]}}`)
	require.NoError(t, err)
	assert.Len(t, messages, 1)
}
