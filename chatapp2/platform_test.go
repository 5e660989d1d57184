package chatapp2

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// platformMessage decodes a message in the platform's shape.
func platformMessage(t *testing.T, members string) Message {
	t.Helper()
	var m Message
	require.NoError(t, json.Unmarshal([]byte(`{"messaging_product":"whatsapp",`+members+`}`), &m))
	return m
}

func platformInteractive(kind, action string) string {
	return `"to":"15550001111","type":"interactive","interactive":{"type":"` + kind + `","body":{"text":"B"},"action":` + action + `}`
}

func platformTemplate(component string) string {
	return `"to":"15550001111","type":"template","template":{"name":"a","language":{"code":"en"},"components":[` + component + `]}`
}

// platformOrder has an order of 1,650 with one item.
const platformOrder = `{"reference_id":"abc.123_xyz-1","type":"physical-goods","currency":"INR",
	"payment_settings":[{"type":"payment_gateway","payment_gateway":{"type":"razorpay","configuration_name":"c"}}],
	"shipping_info":{"country":"IN","addresses":[{"name":"Asha","phone_number":"919000090000","address":"Bandra","city":"Mumbai","state":"MH","in_pin_code":"400051",
		"house_number":"12","tower_number":"5","building_name":"One BKC","landmark_area":"Near BKC Circle"}]},
	"order":{"catalog_id":"8","items":[{"amount":{"offset":100,"value":200000},"sale_amount":{"offset":100,"value":150000},"name":"Blue Elf Aloe","quantity":1,
		"country_of_origin":"India","importer_name":"Imports and Exports","importer_address":{"address_line1":"One BKC","address_line2":"Bandra","city":"Mumbai",
		"zone_code":"MH","postal_code":"400051","country_code":"IN"}}],
		"subtotal":{"offset":100,"value":150000},"shipping":{"offset":100,"value":20000},"tax":{"offset":100,"value":10000},
		"discount":{"offset":100,"value":15000,"description":"Additional 10% off"},"status":"pending","expiration":{"timestamp":"1726627150"}},
	"total_amount":{"offset":100,"value":165000}}`

// Bodies of the platform's documentation that were once rejected or not typed.
func TestPlatformBodiesAreValid(t *testing.T) {
	t.Parallel()
	card := func(index, id string) string {
		return `{"card_index":` + index + `,"type":"cta_url","header":{"type":"image","image":{"id":"1"}},
			"action":{"buttons":[{"type":"quick_reply","quick_reply":{"id":"` + id + `","title":"Learn more"}}]}}`
	}
	const text = `"type":"text","text":{"body":"Hi"}`
	for name, body := range map[string]string{
		"recipient beside to":              `"to":"15550001111","recipient":"US.13491208655302741918",` + text,
		"coupon code of 20 characters":     platformTemplate(`{"type":"button","sub_type":"copy_code","index":0,"parameters":[{"type":"coupon_code","coupon_code":"ABCDEFGHIJ0123456789"}]}`),
		"coupon code of 16 characters":     platformTemplate(`{"type":"button","sub_type":"COPY_CODE","index":0,"parameters":[{"type":"coupon_code","coupon_code":"ABCDEFGHIJ012345"}]}`),
		"quick-reply button with a text":   platformTemplate(`{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"text","text":"Yes"}]}`),
		"order status partially_shipped":   platformInteractive("order_status", `{"name":"review_order","parameters":{"reference_id":"r","order":{"status":"partially_shipped"}}}`),
		"order status partially-shipped":   platformInteractive("order_status", `{"name":"review_order","parameters":{"reference_id":"r","order":{"status":"partially-shipped"}}}`),
		"reply ID of 21 characters":        platformInteractive("carousel", `{"cards":[`+card("0", "learn-purple-echeveria")+`,`+card("1", strings.Repeat("b", 256))+`]}`),
		"equal row IDs in two sections":    platformInteractive("list", `{"button":"b","sections":[{"title":"1","rows":[{"id":"1","title":"a"}]},{"title":"2","rows":[{"id":"1","title":"b"}]}]}`),
		"order with importer and shipping": platformInteractive("order_details", `{"name":"review_and_pay","parameters":`+platformOrder+`}`),
		"button with such an order":        platformTemplate(`{"type":"button","sub_type":"order_details","index":0,"parameters":[{"type":"action","action":{"order_details":` + platformOrder + `}}]}`),
		"payment link preview of a button": platformInteractive("cta_url", `{"name":"cta_url","parameters":{"display_text":"Pay","url":"https://a.example","payment_link_preview":true}}`),
		"payment link preview of a URL":    platformTemplate(`{"type":"button","sub_type":"URL","index":0,"parameters":[{"type":"text","text":"id","payment_link_preview":true}]}`),
		"provider of a header":             `"to":"15550001111","type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"http://a.example/a.png","provider":{"name":"p"}}},"body":{"text":"B"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"a"}}]}}`,
		"provider of a parameter":          platformTemplate(`{"type":"header","parameters":[{"type":"image","image":{"link":"http://a.example/a.png","provider":{"name":"p"}}}]}`),
		"provider as a name":               `"to":"15550001111","type":"image","image":{"link":"http://a.example/a.png","provider":"p"}`,
		"voice call button":                platformTemplate(`{"type":"button","sub_type":"voice_call","parameters":[{"type":"ttl_minutes","ttl_minutes":100}]}`),
	} {
		m := platformMessage(t, body)
		assert.Empty(t, problemsOf(m), name)
		assert.Empty(t, jsonRaws(m), name)
		if name != "provider as a name" && name != "voice call button" { // which have another canonical spelling
			assert.Empty(t, jsonDiff("", jsonTree(t, []byte(`{`+body+`}`)), jsonTree(t, []byte(bodyOf(m)))), name)
		}
	}
}

func TestPlatformNumbersAreLimits(t *testing.T) {
	t.Parallel()
	for number, limit := range map[string]bool{
		"+1 (555) 000-1111": true, "1-555-000-1111": true, "(+1)5550001111": true,
		"15550001111,15550002222": false, "15550001111 15550002222": false, "1.555.000.1111": false, "+1 (555)": false, " ": false,
	} {
		problems := problemsOf(Message{To: number, Content: Text{Body: "Hi"}})
		if assert.Len(t, problems, 1, number) {
			assert.Equal(t, "To", problems[0].Field, number)
			assert.Equal(t, limit, problems[0].Limit, number)
		}
	}
}

// Bodies that the platform rejects and this package once did not.
func TestPlatformRulesAreChecked(t *testing.T) {
	t.Parallel()
	order := func(old, with string) string {
		require.Contains(t, platformOrder, old)
		return platformInteractive("order_details", `{"name":"review_and_pay","parameters":`+strings.Replace(platformOrder, old, with, 1)+`}`)
	}
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, tt := range map[string]struct{ body, field string }{
		"item name of 61":                   {order("Blue Elf Aloe", long(61)), "Content.Action.Order.Items[0].Name"},
		"tax description of 61":             {order(`"value":10000}`, `"value":10000,"description":"`+long(61)+`"}`), "Content.Action.Order.Tax.Description"},
		"shipping description of 61":        {order(`"value":20000}`, `"value":20000,"description":"`+long(61)+`"}`), "Content.Action.Order.Shipping.Description"},
		"discount description of 61":        {order("Additional 10% off", long(61)), "Content.Action.Order.Discount.Description"},
		"discount program of 61":            {order(`"description":"Additional 10% off"`, `"discount_program_name":"`+long(61)+`"`), "Content.Action.Order.Discount.DiscountProgramName"},
		"expiration description of 121":     {order(`"1726627150"`, `"1726627150","description":"`+long(121)+`"`), "Content.Action.Order.Expiration.Description"},
		"offset of 1000 in INR":             {order(`"offset":100,"value":165000`, `"offset":1000,"value":1650000`), "Content.Action.Total.Offset"},
		"total above the sum":               {order(`"value":165000`, `"value":165001`), "Content.Action.Total"},
		"total below the sum":               {order(`"value":165000`, `"value":164999`), "Content.Action.Total"},
		"total without the discount":        {order(`"value":15000,`, `"value":0,`), "Content.Action.Total"},
		"card headers of two kinds":         {platformInteractive("carousel", `{"cards":[{"card_index":0,"type":"cta_url","header":{"type":"image","image":{"id":"1"}},"action":{"name":"cta_url","parameters":{"display_text":"a","url":"https://a.example"}}},{"card_index":1,"type":"cta_url","header":{"type":"video","video":{"id":"1"}},"action":{"name":"cta_url","parameters":{"display_text":"a","url":"https://a.example"}}}]}`), "Content.Action.Cards[1].Header"},
		"coupon code of 21":                 {platformTemplate(`{"type":"button","sub_type":"copy_code","index":0,"parameters":[{"type":"coupon_code","coupon_code":"ABCDEFGHIJ01234567890"}]}`), "Content.Components[0].Code"},
		"quick reply with text and payload": {platformTemplate(`{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"text","text":"a"},{"type":"payload","payload":"b"}]}`), "Content.Components[0].Text"},
		"equal row IDs in one section":      {platformInteractive("list", `{"button":"b","sections":[{"rows":[{"id":"1","title":"a"},{"id":"1","title":"b"}]}]}`), "Content.Action.Sections[0].Rows[1].ID"},
	} {
		m := platformMessage(t, tt.body)
		problems := problemsOf(m)
		if assert.Len(t, problems, 1, "%s: %v", name, problems) {
			assert.Equal(t, tt.field, problems[0].Field, name)
		}
	}
	brazil := goldenTo(validInteractive(validChanged(validOrder(), func(o *OrderDetails) {
		o.Currency, o.Total, o.Order.Subtotal = "BRL", OrderAmount{Value: 150500, Offset: 1000}, OrderAmount{Value: 150500, Offset: 1000}
		o.Order.Items[0].Amount, o.Order.Tax = OrderAmount{Value: 150500, Offset: 1000}, OrderAmount{Offset: 1000}
	})))
	problems := problemsOf(brazil)
	require.Len(t, problems, 4)
	for _, problem := range problems {
		assert.True(t, strings.HasSuffix(problem.Field, ".Offset") && problem.Limit, "%v", problem)
		assert.Equal(t, "want 100 for BRL", problem.Reason)
	}
}

// A new word of the platform passes as data: it is a limit, and is sent as it is.
func TestWordsThatAreNewAreLimits(t *testing.T) {
	t.Parallel()
	order := validChanged(validOrder(), func(o *OrderDetails) { o.Type, o.Order.Type = "rented-goods", "slow_pay" })
	for _, m := range []Message{
		{To: "15550001111", Content: Template{Name: "a", Language: "en", Policy: "fallback"}, MarketingOptions: MarketingOptions{ProductPolicy: "LAX"}},
		goldenTo(validInteractive(Flow{ID: "1", CTA: "Open", Mode: "preview", Action: "jump"})),
		goldenTo(validInteractive(order)),
		goldenTo(validInteractive(OrderStatus{ReferenceID: "r", Status: "returned"})),
	} {
		problems := problemsOf(m)
		assert.NotEmpty(t, problems)
		for _, problem := range problems {
			assert.True(t, problem.Limit, "%v", problem)
		}
		var decoded Message
		raw, err := json.Marshal(m)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &decoded))
		assert.Equal(t, m, decoded)
	}
}
