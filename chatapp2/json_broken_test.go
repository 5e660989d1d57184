package chatapp2

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What one value alone does not show: things that come twice, that do not go together, or that are too many together.
func TestBodiesWhosePartsDoNotMatchAreRejected(t *testing.T) {
	t.Parallel()
	row := func(id int) string { return fmt.Sprintf(`{"id":"%d","title":"R"}`, id) }
	rows := func(from, n int) string { return jsonJoin(from, n, row) }
	items := func(n int) string {
		return jsonJoin(0, n, func(int) string { return `{"product_retailer_id":"sku"}` })
	}
	text := func(n int) string { return `{"type":"text","text":"` + strings.Repeat("é", n) + `"}` }
	const (
		link   = `{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.com"}}`
		quick  = `{"buttons":[{"type":"quick_reply","quick_reply":{"id":"1","title":"A"}}]}`
		image  = `{"type":"image","image":{"id":"1"}}`
		header = `{"type":"header","parameters":[{"type":"image","image":{"id":"1"}}]}`
		code   = `{"type":"button","sub_type":"copy_code","index":%d,"parameters":[{"type":"coupon_code","coupon_code":"A1"}]}`
		reply  = `{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"p"}]}`
		offer  = `{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"expiration_time_ms":1}}]}`
	)
	card := func(index int, action string) string {
		return fmt.Sprintf(`{"card_index":%d,"type":"cta_url","header":%s,"action":%s}`, index, image, action)
	}
	product := `{"card_index":1,"type":"product","action":{"product_retailer_id":"sku","catalog_id":"1"}}`
	interactive := func(kind, action string) string {
		return fmt.Sprintf(`"to":"15550001111","type":"interactive","interactive":{"type":%q,"header":{"type":"text","text":"H"},"body":{"text":"B"},"action":%s}`, kind, action)
	}
	cards := func(all ...string) string {
		return `"to":"15550001111","type":"interactive","interactive":{"type":"carousel","body":{"text":"B"},"action":{"cards":[` + strings.Join(all, ",") + `]}}`
	}
	template := func(components ...string) string {
		return `"to":"15550001111","type":"template","template":{"name":"a","language":{"code":"en"},"components":[` + strings.Join(components, ",") + `]}`
	}
	body := func(parameters ...string) string {
		return `{"type":"body","parameters":[` + strings.Join(parameters, ",") + `]}`
	}
	const say = `"type":"text","text":{"body":"x"}`
	for name, tt := range map[string]struct{ body, field string }{
		"no recipient":                     {say, "To"},
		"no content":                       {`"to":"15550001111"`, "Content"},
		"a fallback without a sender":      {`"to":"15550001111","fallback":{"from":"","text":"x"},` + say, "Fallback.From"},
		"a fallback without a text":        {`"to":"15550001111","fallback":{"from":"ACME","text":""},` + say, "Fallback.Text"},
		"a policy without a template":      {`"to":"15550001111","product_policy":"STRICT",` + say, "MarketingOptions"},
		"the same ID twice":                {interactive("button", `{"buttons":[{"type":"reply","reply":{"id":"1","title":"A"}},{"type":"reply","reply":{"id":"1","title":"B"}}]}`), "Content.Action[1].ID"},
		"the same title twice":             {interactive("button", `{"buttons":[{"type":"reply","reply":{"id":"1","title":"A"}},{"type":"reply","reply":{"id":"2","title":"A"}}]}`), "Content.Action[1].Title"},
		"the same row twice in a section":  {interactive("list", `{"button":"B","sections":[{"title":"1","rows":[`+rows(0, 1)+`,`+rows(0, 1)+`]}]}`), "Content.Action.Sections[0].Rows[1].ID"},
		"eleven rows in two sections":      {interactive("list", `{"button":"B","sections":[{"title":"1","rows":[`+rows(0, 6)+`]},{"title":"2","rows":[`+rows(6, 5)+`]}]}`), "Content.Action.Sections"},
		"a second section without a title": {interactive("list", `{"button":"B","sections":[{"title":"1","rows":[`+rows(0, 1)+`]},{"rows":[`+rows(1, 1)+`]}]}`), "Content.Action.Sections[1].Title"},
		"31 products in two sections":      {interactive("product_list", `{"catalog_id":"1","sections":[{"title":"1","product_items":[`+items(15)+`]},{"title":"2","product_items":[`+items(16)+`]}]}`), "Content.Action.Sections"},
		"a flow by ID and by name":         {interactive("flow", `{"name":"flow","parameters":{"flow_message_version":"3","flow_id":"1","flow_name":"a","flow_cta":"Open"}}`), "Content.Action"},
		"flow data without a screen":       {interactive("flow", `{"name":"flow","parameters":{"flow_message_version":"3","flow_id":"1","flow_cta":"Open","flow_action_payload":{"data":{"a":1}}}}`), "Content.Action.Screen"},
		"one card":                         {cards(card(0, link)), "Content.Action.Cards"},
		"eleven cards":                     {cards(jsonJoin(0, 11, func(i int) string { return card(i, link) })), "Content.Action.Cards"},
		"a link and buttons on cards":      {cards(card(0, link), card(1, quick)), "Content.Action.Cards[1].Action"},
		"a link and a product on cards":    {cards(card(0, link), product), "Content.Action.Cards[1].Action"},
		"a button twice on a card":         {cards(card(0, quick), card(1, `{"buttons":[{"type":"quick_reply","quick_reply":{"id":"1","title":"A"}},{"type":"quick_reply","quick_reply":{"id":"1","title":"B"}}]}`)), "Content.Action.Cards[1].Action[1].ID"},
		"more buttons on a card":           {cards(card(0, quick), card(1, `{"buttons":[{"type":"quick_reply","quick_reply":{"id":"1","title":"A"}},{"type":"quick_reply","quick_reply":{"id":"2","title":"B"}}]}`)), "Content.Action.Cards[1].Action"},
		"two headers":                      {template(header, header), "Content.Components[1]"},
		"two bodies":                       {template(body(text(1)), header, body(text(1))), "Content.Components[2]"},
		"two buttons at one place":         {template(reply, reply), "Content.Components[1]"},
		"two codes to copy":                {template(fmt.Sprintf(code, 0), fmt.Sprintf(code, 1)), "Content.Components[1]"},
		"a name on one parameter of two":   {template(body(text(1), `{"type":"text","text":"x","parameter_name":"a"}`)), "Content.Components[0]"},
		"the same name twice":              {template(body(`{"type":"text","text":"x","parameter_name":"a"}`, `{"type":"text","text":"x","parameter_name":"a"}`)), "Content.Components[0][1].Name"},
		"two long texts in a body":         {template(header, body(text(512), text(513))), "Content.Components[1]"},
		"a long body alone":                {template(body(text(32768), text(1))), "Content.Components[0]"},
		"a long body beside an offer":      {template(body(text(601)), offer), "Content.Components[0]"},
		"a long body on a card":            {template(`{"type":"carousel","cards":[{"card_index":0,"components":[` + body(text(161)) + `]}]}`), "Content.Components[0][0][0]"},
		"eleven template cards":            {template(`{"type":"carousel","cards":[` + jsonJoin(0, 11, func(i int) string { return fmt.Sprintf(`{"card_index":%d,"components":[%s]}`, i, header) }) + `]}`), "Content.Components[0]"},
		"cards that fill different parts":  {template(`{"type":"carousel","cards":[{"card_index":0,"components":[` + header + `]},{"card_index":1,"components":[` + body(text(1)) + `]}]}`), "Content.Components[0][1]"},
		"cards on a card":                  {template(`{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"carousel","cards":[{"card_index":0,"components":[` + header + `]}]}]}]}`), "Content.Components[0][0][0]"},
		"31 products on a button":          {template(`{"type":"button","sub_type":"mpm","index":0,"parameters":[{"type":"action","action":{"thumbnail_product_retailer_id":"1","sections":[{"title":"1","product_items":[` + items(30) + `]},{"title":"2","product_items":[` + items(1) + `]}]}}]}`), "Content.Components[0].Sections"},
		"the type of an action missing":    {`"to":"15550001111","type":"interactive","interactive":{"body":{"text":"B"},"action":` + link + `}`, "Content.Action.Type"},
		"an action missing":                {`"to":"15550001111","type":"interactive","interactive":{"type":"cta_url","body":{"text":"B"}}`, "Content.Action.JSON"},
		"an offer without a parameter":     {template(`{"type":"limited_time_offer"}`), "Content.Components[0].JSON"},
		"two parameters on a url button":   {template(`{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), "Content.Components[0].JSON"},
		"a button without a sub_type":      {template(`{"type":"button","index":0,"parameters":[{"type":"text","text":"a"}]}`), "Content.Components[0].JSON"},
		"an index of another kind":         {template(`{"type":"button","sub_type":"url","index":"a","parameters":[{"type":"text","text":"a"}]}`), "Content.Components[0].JSON"},
		"a payload without its value":      {template(`{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload"}]}`), "Content.Components[0].Payload"},
		"a component without a type":       {template(`{"parameters":[{"type":"text","text":"a"}]}`), "Content.Components[0].JSON"},
		"a parameter without a type":       {template(`{"type":"body","parameters":[{"text":"a"}]}`), "Content.Components[0][0].JSON"},
		"a card index twice":               {template(`{"type":"carousel","cards":[{"card_index":0,"components":[` + header + `]},{"card_index":0,"components":[` + header + `]}]}`), "Content.Components[0].JSON"},
		"a card without an index":          {template(`{"type":"carousel","cards":[{"components":[` + header + `]},{"card_index":1,"components":[` + header + `]}]}`), "Content.Components[0].JSON"},
		"a list without a header's type":   {`"to":"15550001111","type":"interactive","interactive":{"type":"list","header":{"text":"H"},"body":{"text":"B"},"action":{"button":"b","sections":[{"rows":[{"id":"1","title":"a"}]}]}}`, "Content.JSON"},
		"an action without its name":       {`"to":"15550001111","type":"interactive","interactive":{"type":"location_request_message","body":{"text":"B"},"action":{}}`, "Content.Action"},
		"a reply without a type":           {`"to":"15550001111","type":"interactive","interactive":{"type":"button","body":{"text":"B"},"action":{"buttons":[{"reply":{"id":"1","title":"a"}}]}}`, "Content.Action.JSON"},
		"a context without its message":    {`"to":"15550001111","type":"text","text":{"body":"B"},"context":{}`, `Extra["context"]`},
		"a number for a text":              {`"to":"15550001111","type":"text","text":{"body":5}`, "Content.JSON"},
		"a text for an object":             {`"to":"15550001111","type":"text","text":"Hi"`, "Content.JSON"},
		"words for degrees":                {`"to":"15550001111","type":"location","location":{"latitude":"abc","longitude":"5"}`, "Content.JSON"},
		"a parameter without a type on it": {template(`{"type":"button","sub_type":"url","index":0,"parameters":[{"text":"123"}]}`), "Content.Components[0].JSON"},
		"a parameter of another kind":      {template(`{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"payload","payload":"123"}]}`), "Content.Components[0].JSON"},
		"two bodies, one of them raw":      {template(body(text(1)) + `,{"type":"body","new":1,"parameters":[{"type":"text","text":"a"}]}`), "Content.Components[1]"},
		"a raw parameter of nothing":       {template(`{"type":"body","parameters":[{"type":"currency","currency":{"code":"USD","new":1}}]}`), "Content.Components[0][0].FallbackValue"},
		"a reaction in reply":              {`"to":"15550001111","type":"reaction","reaction":{"message_id":"wamid.A","emoji":""},"context":{"message_id":"wamid.B","new":1}`, `Extra["context"]`},
		"a card without its action":        {`"to":"15550001111","type":"interactive","interactive":{"type":"carousel","body":{"text":"B"},"action":{"cards":[{"card_index":0,"type":"cta_url","header":{"type":"image","image":{"id":"1"}}},{"card_index":1,"type":"cta_url","header":{"type":"image","image":{"id":"1"}},"action":{"name":"cta_url","parameters":{"display_text":"a","url":"https://a.example"}}}]}}`, "Content.Action.Cards[0].Action"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := []byte(`{"messaging_product":"whatsapp",` + tt.body + `}`)
			var m Message
			require.NoError(t, json.Unmarshal(raw, &m), "%s", raw)
			assert.True(t, jsonRejects(t, m, tt.field, false), "%s is not rejected, but %v: %s", tt.field, problemsOf(m), raw)
			assert.Empty(t, jsonDiff("", jsonPruned(jsonTree(t, raw)), jsonPruned(jsonWritten(t, m))))
		})
	}
}

func jsonJoin(from, n int, one func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = one(from + i)
	}
	return strings.Join(all, ",")
}
