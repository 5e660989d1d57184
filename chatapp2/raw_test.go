package chatapp2

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRawThatDoesNotFitItsKnownTypeIsALimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content Content
		field   string
	}{
		"content": {Raw{Type: "text", JSON: json.RawMessage(`{"body":["a"]}`)}, "Content.JSON"},
		"action": {
			Interactive{Body: "B", Action: RawAction{Type: "list", JSON: json.RawMessage(`{"button":"b","sections":{}}`)}},
			"Content.Action.JSON",
		},
		"name": {
			Interactive{Body: "B", Action: RawAction{Type: "location_request_message", JSON: json.RawMessage(`{"name":"send_place"}`)}},
			"Content.Action.JSON",
		},
		"component": {
			Template{Name: "a", Language: "en", Components: []Component{RawComponent{json.RawMessage(`{"type":"limited_time_offer"}`)}}},
			"Content.Components[0].JSON",
		},
		"parameter": {
			Template{Name: "a", Language: "en", Components: []Component{
				TemplateBody{RawParameter{json.RawMessage(`{"type":"text","text":["a"]}`)}},
			}},
			"Content.Components[0][0].JSON",
		},
	} {
		problems := problemsOf(goldenTo(tt.content))
		require.Len(t, problems, 1, name)
		assert.Equal(t, tt.field, problems[0].Field, name)
		assert.Contains(t, problems[0].Reason, "is not what the platform documents", name)
		assert.True(t, problems[0].Limit, name)
	}
}

// The platform has types that this package has no Go type for.
func TestRawSendsTypesThatThePackageDoesNotHave(t *testing.T) {
	t.Parallel()
	const order = `{"reference_id":"r","type":"physical-goods","currency":"INR","payment_settings":[{"type":"payment_gateway"}],
		"beneficiaries":[{"name":"Asha"}],"total_amount":{"value":1650,"offset":100},
		"order":{"status":"pending","items":[{"name":"Aloe","amount":{"value":1650,"offset":100},"quantity":1,
			"importer_name":"Imports","importer_address":{"city":"Mumbai"}}],
			"subtotal":{"value":1650,"offset":100},"tax":{"value":0,"offset":100},"expiration":{"timestamp":"1726627150"}}}`
	button := func(kind, parameters string) string {
		return platformTemplate(`{"type":"button","sub_type":"` + kind + `","index":0,"parameters":[` + parameters + `]}`)
	}
	for name, tt := range map[string]struct{ body, held string }{
		"order to pay":            {platformInteractive("order_details", `{"name":"review_and_pay","parameters":`+order+`}`), "RawAction"},
		"order status":            {platformInteractive("order_status", `{"name":"review_order","parameters":{"reference_id":"r","order":{"status":"shipped"}}}`), "RawAction"},
		"address form":            {platformInteractive("address_message", `{"name":"address_message","parameters":{"country":"IN"}}`), "RawAction"},
		"voice call":              {platformInteractive("voice_call", `{"name":"voice_call","parameters":{"ttl_minutes":100}}`), "RawAction"},
		"call permission":         {platformInteractive("call_permission_request", `{"name":"call_permission_request"}`), "RawAction"},
		"payment link":            {platformInteractive("cta_url", `{"name":"cta_url","parameters":{"display_text":"Pay","url":"https://a.example","payment_link_preview":true}}`), "RawAction"},
		"order button":            {button("order_details", `{"type":"action","action":{"order_details":`+order+`}}`), "RawComponent"},
		"voice call button":       {button("voice_call", `{"type":"ttl_minutes","ttl_minutes":100}`), "RawComponent"},
		"payment link button":     {button("url", `{"type":"text","text":"id","payment_link_preview":true}`), "RawComponent"},
		"order status template":   {platformTemplate(`{"type":"order_status","parameters":[{"type":"order_status","order_status":{"reference_id":"r","order":{"status":"shipped"}}}]}`), "RawComponent"},
		"tap target":              {platformTemplate(`{"type":"tap_target_configuration","parameters":[{"type":"tap_target_configuration","tap_target_configuration":[{"url":"https://a.example","title":"a"}]}]}`), "RawComponent"},
		"new parameter of a body": {platformTemplate(`{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"emoji","emoji":{"name":"tea"}}]}`), "RawParameter"},
		"provider of media":       {`"to":"15550001111","type":"image","image":{"link":"http://a.example/a.png","provider":{"name":"p"}}`, "Raw"},
	} {
		m := platformMessage(t, tt.body)
		assert.Equal(t, []string{tt.held}, jsonRaws(m), name)
		assert.Empty(t, problemsOf(m), name)
		assert.Empty(t, jsonDiff("", jsonTree(t, []byte(`{`+tt.body+`}`)), jsonTree(t, []byte(bodyOf(m)))), name)
	}
}

func TestRawTakesNewMembers(t *testing.T) {
	t.Parallel()
	cards := func(first, second TemplateCard) Content {
		return Template{Name: "a", Language: "en", Components: []Component{TemplateCards{first, second}}}
	}
	image := TemplateCard{TemplateHeader{Image{Media: MediaID("1")}}}
	for name, content := range map[string]Content{
		"content":       Raw{Type: "text", JSON: json.RawMessage(`{"body":"B","future":1}`)},
		"no known part": Raw{Type: "image", JSON: json.RawMessage(`{"future":1}`)},
		"action": Interactive{Body: "B", Action: RawAction{
			Type: "cta_url", JSON: json.RawMessage(`{"name":"cta_url","parameters":{"display_text":"a","url":"https://a.example","future":1}}`),
		}},
		"header of a card": cards(TemplateCard{TemplateHeader{RawParameter{json.RawMessage(`{"type":"image","image":{"id":"1","future":1}}`)}}}, image),
		"new content":      Raw{Type: "hologram", JSON: json.RawMessage(`{"beam":7}`)},
		"new components": Template{Name: "a", Language: "en", Components: []Component{
			RawComponent{json.RawMessage(`{"type":"scent"}`)}, RawComponent{json.RawMessage(`{"type":"scent"}`)},
		}},
	} {
		assert.Empty(t, problemsOf(goldenTo(content)), name)
	}
}

func TestMarshalJSONRejectsInvalidUTF8(t *testing.T) {
	t.Parallel()
	text := Text{Body: "a"}
	for name, m := range map[string]Message{
		"a text":          {Content: Text{Body: "a\xff"}},
		"a row":           {Content: Interactive{Body: "B", Action: List{Button: "b", Sections: []Section{{Rows: []Row{{ID: "1", Title: "\xff"}}}}}}},
		"a parameter":     {Content: Template{Name: "a", Language: "en", Components: []Component{Body("\xff")}}},
		"a flow's data":   {Content: Interactive{Body: "B", Action: Flow{ID: "1", CTA: "c", Screen: "S", Data: map[string]any{"a": "\xff"}}}},
		"raw content":     {Content: Raw{Type: "poll", JSON: json.RawMessage("\"\xff\"")}},
		"a type":          {Content: Raw{Type: "\xff", JSON: json.RawMessage(`1`)}},
		"an extra member": {Content: text, Extra: map[string]any{"a": []string{"\xff"}}},
		"an extra name":   {Content: text, Extra: map[string]any{"\xff": 1}},
		"a reference":     {Content: text, ReferenceID: "\xff"},
		"a callback":      {Content: text, CallbackURL: "https://a.example/\xff"},
		"a recipient":     {Content: text, Recipient: "US.\xff"},
	} {
		_, err := json.Marshal(m)
		assert.ErrorContains(t, err, "UTF-8", name)
	}
}
