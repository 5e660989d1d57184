package chatapp2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// jsonMessages are messages as a program makes them, one of each kind and each kind with everything.
func jsonMessages() map[string]Message {
	to := func(content Content) Message { return Message{To: "+15550001111", Content: content} }
	interactive := func(action Action) Message { return to(Interactive{Body: "Body", Action: action}) }
	template := func(components ...Component) Message {
		return to(Template{Name: "a_template", Language: "en_US", Components: components})
	}
	header := func(parameter Parameter) Message { return template(TemplateHeader{Parameter: parameter}) }
	sections := []ProductSection{{Title: "A", Products: []ProductItem{{"1"}, {"2"}}}, {Title: "B", Products: []ProductItem{{"3"}}}}
	image, video := Image{Media: Media{Link: "https://example.com/a.png?b=c&d"}}, Video{Media: Media{ID: "1"}}
	return map[string]Message{
		"envelope": {
			To: "+15550001111", Content: Text{Body: "Hi"}, ReplyTo: "wamid.A", CallbackData: "c", Fallback: &sms.Fallback{From: "ACME", Text: "Hi <b>"},
			TTL: time.Hour, CallbackURL: "https://a.example/?s=%s&t=%t", ReferenceID: "r",
			Extra: map[string]any{"category": "utility", "n": json.Number("1.50"), "o": map[string]any{"p": []any{true, nil, json.Number("1e400")}}, "null": nil},
		},
		"user":      {To: "US.1349", Content: Text{Body: "Hi"}},
		"marketing": {To: "15550001111", Content: Template{Name: "a", Language: "en", Policy: "deterministic"}, MarketingOptions: MarketingOptions{ProductPolicy: "STRICT", ActivitySharing: new(false)}},
		"sharing":   {To: "15550001111", Content: Template{Name: "a", Language: "en"}, MarketingOptions: MarketingOptions{ActivitySharing: new(true)}},
		"nothing":   {},
		"empty":     {Fallback: &sms.Fallback{}},

		"text":        to(Text{Body: "é \"x\" <b> & \u2028 \\ 😀\n", PreviewURL: true}),
		"no text":     to(Text{}),
		"image":       to(Image{Media: Media{ID: "1"}, Caption: "c"}),
		"video":       to(Video{Media: Media{Link: "https://example.com/a"}, Caption: "c"}),
		"audio":       to(Audio{Media: Media{ID: "1"}, Voice: true}),
		"document":    to(Document{Media: Media{ID: "1"}, Caption: "c", FileName: "a.pdf"}),
		"sticker":     to(Sticker{Media: Media{ID: "1"}}),
		"location":    to(Location{Latitude: 37.44211676562361, Longitude: -122.16155960083124, Name: "n", Address: "a"}),
		"middle":      to(Location{}),
		"tiny":        to(Location{Latitude: math.SmallestNonzeroFloat64, Longitude: -1e-21}),
		"reaction":    to(Reaction{MessageID: "wamid.A", Emoji: "👍"}),
		"no reaction": to(Reaction{MessageID: "wamid.A"}),
		"contacts": to(Contacts{{
			Name:      ContactName{"Dr Ana B. C Jr", "Ana", "C", "B.", "Jr", "Dr"},
			Addresses: []ContactAddress{{"1 Road", "Cebu", "C", "6000", "Philippines", "ph", "HOME"}}, Birthday: "2012-08-18", Emails: []ContactEmail{{"a@example.com", "WORK"}},
			Org: ContactOrg{"ACME", "D", "T"}, Phones: []ContactPhone{{"+1", "HOME", "1"}}, URLs: []ContactURL{{"https://example.com", "WORK"}},
		}, {Name: ContactName{FormattedName: "Bo"}, Emails: []ContactEmail{}}}),
		"raw":            to(Raw{Type: "hologram", JSON: json.RawMessage(`{"a":[1,"2",null,{"b":"<c>&"}],"d":1.50}`)}),
		"raw, no object": to(Raw{Type: "hologram", JSON: json.RawMessage(`"x"`)}),
		"raw, no JSON":   to(Raw{Type: "hologram"}),

		"buttons":           to(Interactive{Header: HeaderText{Text: "H", SubText: "S"}, Body: "B", Footer: "F", Action: ReplyButtons{{"1", "A"}, {"2", "B"}}}),
		"list":              interactive(List{Button: "B", Sections: []Section{{"S", []Row{{"1", "R", "D"}, {ID: "2", Title: "R"}}}, {Title: "T", Rows: []Row{{ID: "3", Title: "R"}}}}}),
		"link":              to(Interactive{Header: image, Body: "B", Action: CTAURL{DisplayText: "Open", URL: "https://example.com/?a=b&c"}}),
		"flow":              to(Interactive{Header: video, Body: "B", Action: Flow{ID: "1", CTA: "Open", Mode: "draft", Token: "t", Action: "navigate", Screen: "S", Data: map[string]any{"a": json.Number("1"), "b": []any{"<c>"}}}}),
		"flow, text":        interactive(Flow{Name: "n", CTA: "Open", Screen: "S", Data: `{"a":1}`}),
		"product":           to(Interactive{Action: Product{"1", "2"}}),
		"product list":      to(Interactive{Header: HeaderText{Text: "H"}, Body: "B", Action: ProductList{"1", sections}}),
		"catalog":           interactive(CatalogMessage{"1"}),
		"catalog, no more":  interactive(CatalogMessage{}),
		"location request":  interactive(LocationRequest{}),
		"contact request":   interactive(ContactRequest{}),
		"cards of links":    interactive(Carousel{Cards: []Card{{Header: image, Body: "1", Action: CTAURL{DisplayText: "O", URL: "https://example.com"}}, {Header: video, Action: CTAURL{DisplayText: "O", URL: "https://example.com"}}}}),
		"cards of buttons":  interactive(Carousel{Cards: []Card{{Header: image, Action: ReplyButtons{{"1", "A"}}}, {Header: image, Action: ReplyButtons{{"2", "A"}}}}}),
		"cards of products": interactive(Carousel{Cards: []Card{{Action: Product{"1", "2"}}, {Action: Product{"1", "3"}}}}),
		"document header":   to(Interactive{Header: Document{Media: Media{ID: "1"}, FileName: "a.pdf"}, Body: "B", Action: ReplyButtons{{"1", "A"}}}),
		"no action":         to(Interactive{Header: image, Body: "B"}),
		"raw action":        interactive(RawAction{Type: "warp", JSON: json.RawMessage(`{"name":"warp","parameters":{"a":[1.50]}}`)}),

		"template":           template(),
		"template, nothing":  to(Template{}),
		"texts":              template(TemplateHeader{Parameter: TextParam{Text: "H"}}, Body("Ana", "<b>&")),
		"named":              template(TemplateBody{Named("first_name", "Ana"), Currency{Name: "price", FallbackValue: "$1", Code: "USD", Amount1000: 1000}, DateTime{Name: "day", FallbackValue: "today"}}),
		"no texts":           template(TemplateBody{}, TemplateHeader{}),
		"money and dates":    template(TemplateBody{Currency{FallbackValue: "$0", Code: "USD"}, DateTime{"", "x", 5, 1977, 2, 25, new(0), new(33), "GREGORIAN"}}),
		"image parameter":    header(image),
		"video parameter":    header(video),
		"document parameter": header(Document{Media: Media{ID: "1"}, FileName: "a.pdf"}),
		"GIF parameter":      header(GIF{Media: Media{ID: "1"}}),
		"location parameter": header(Location{Latitude: 1.5, Name: "n", Address: "a"}),
		"product parameter":  header(Product{"1", "2"}),
		"raw parameter":      template(TemplateBody{RawParameter{JSON: json.RawMessage(`{"a":[1.50],"type":"scent"}`)}}),
		"buttons of templates": template(
			QuickReplyButton{Index: 0, Payload: "p"}, QuickReplyButton{Index: 1}, URLButton{Index: 2, Suffix: "s?a&b"}, CopyCodeButton{Index: 3, Code: "A1"}, CatalogButton{Index: 4, ThumbnailProductRetailerID: "1"},
			CatalogButton{Index: 5}, ProductsButton{Index: 6, ThumbnailProductRetailerID: "1", Sections: sections}, FlowButton{Index: 7, Token: "t", Data: map[string]any{"a": nil}}, FlowButton{Index: 8}),
		"cards":           template(TemplateCards{{TemplateHeader{Parameter: image}, Body("a"), QuickReplyButton{Payload: "p"}}, {TemplateHeader{Parameter: image}, Body("b"), QuickReplyButton{Payload: "q"}}}),
		"offer":           template(LimitedTimeOffer{ExpiresAt: time.UnixMilli(1893456000123).UTC()}),
		"no offer":        template(LimitedTimeOffer{}),
		"raw component":   template(RawComponent{JSON: json.RawMessage(`{"a":[1.50],"type":"smell"}`)}),
		"many components": template(Body(strings.Split(strings.Repeat("a ", 100), " ")[:100]...)),
	}
}

// The platform has another name for a user ID than for a number. In a Message both are the recipient.
func TestUserIDIsDecodedAsTo(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(Message{Recipient: "US.1349", Content: Text{Body: "Hi"}})
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"recipient":"US.1349"`)
	var back Message
	require.NoError(t, json.Unmarshal(raw, &back))
	assert.Equal(t, Message{To: "US.1349", Content: Text{Body: "Hi"}}, back)
}

func TestMessageRoundTrip(t *testing.T) {
	t.Parallel()
	for name, m := range jsonMessages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(m)
			require.NoError(t, err)
			var back Message
			require.NoError(t, json.Unmarshal(raw, &back), "%s", raw)
			again, err := json.Marshal(back)
			require.NoError(t, err)
			assert.Equal(t, string(raw), string(again))
			assert.Equal(t, m, back)
		})
	}
}

func TestMarshalJSONIsStable(t *testing.T) {
	t.Parallel()
	for name, m := range jsonMessages() {
		first, err := json.Marshal(m)
		require.NoError(t, err, name)
		for range 20 {
			again, err := json.Marshal(m)
			require.NoError(t, err, name)
			require.Equal(t, string(first), string(again), name)
		}
	}
}

func TestMarshalJSON(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(Message{
		To: "+15550001111", Content: Text{Body: "Hi", PreviewURL: true}, ReplyTo: "wamid.A", CallbackData: "c",
		Fallback: &sms.Fallback{From: "ACME", Text: "by SMS"}, TTL: time.Minute, CallbackURL: "https://a.example/?s=%s", ReferenceID: "r",
		Extra: map[string]any{"zebra": 1, "category": "utility"},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+15550001111","type":"text",`+
		`"text":{"body":"Hi","preview_url":true},"context":{"message_id":"wamid.A"},"biz_opaque_callback_data":"c","category":"utility","zebra":1,`+
		`"ttl":"1m0s","fallback":{"from":"ACME","text":"by SMS"},"callbackURL":"https://a.example/?s=%s","referenceID":"r"}`, string(raw))
}

func TestMarshalJSONDoesNotEscapeForHTML(t *testing.T) {
	t.Parallel()
	m := Message{
		To: "15550001111", Content: Template{Name: "a", Language: "en", Components: []Component{
			Body("<b>&"),
			URLButton{Suffix: "<b>&"},
			FlowButton{Index: 1, Data: map[string]any{"<b>&": "<b>&"}},
			RawComponent{JSON: json.RawMessage(`{"<b>&":"<b>&"}`)},
		}},
		CallbackURL: "https://a.example/?a&b", Fallback: &sms.Fallback{From: "<b>&", Text: "<b>&"}, Extra: map[string]any{"<b>&": "<b>&"},
	}
	plain, err := m.MarshalJSON()
	require.NoError(t, err)
	assert.NotContains(t, string(plain), `\u003c`)
	assert.NotContains(t, string(plain), `\u0026`)
	escaped, err := json.Marshal(m)
	require.NoError(t, err)
	assert.NotContains(t, string(escaped), `\\u00`)
	assert.Equal(t, jsonTree(t, plain), jsonTree(t, escaped))
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(m))
	assert.Equal(t, string(plain)+"\n", b.String())
}

func TestTTLIsStoredExactly(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[time.Duration]string{
		time.Second: "1s", 1500 * time.Millisecond: "1.5s", time.Nanosecond: "1ns", time.Hour + time.Nanosecond: "1h0m0.000000001s",
		-time.Second: "-1s", math.MaxInt64: "2562047h47m16.854775807s", 30 * 24 * time.Hour: "720h0m0s",
	} {
		raw, err := json.Marshal(Message{TTL: ttl})
		require.NoError(t, err)
		assert.Contains(t, string(raw), `"ttl":"`+want+`"}`)
		var back Message
		require.NoError(t, json.Unmarshal([]byte(`{"ttl":"`+want+`"}`), &back))
		assert.Equal(t, ttl, back.TTL)
	}
}

func TestMarshalJSONRejectsAKeyThatComesTwice(t *testing.T) {
	t.Parallel()
	text := Text{Body: "x"}
	full := Message{
		To: "15550001111", Recipient: "US.1", Content: text, ReplyTo: "w", CallbackData: "c", MarketingOptions: MarketingOptions{ProductPolicy: "STRICT", ActivitySharing: new(false)},
	}
	for _, name := range []string{
		"messaging_product", "recipient_type", "to", "recipient", "type", "text", "context", "biz_opaque_callback_data", "product_policy", "message_activity_sharing",
	} {
		m := full
		m.Extra = map[string]any{name: "s3cret"}
		_, err := json.Marshal(m)
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		assert.NotContains(t, err.Error(), "s3cret")
	}
	for _, name := range storedNames() {
		_, err := json.Marshal(Message{To: "15550001111", Content: text, Extra: map[string]any{name: 1}})
		require.ErrorContains(t, err, fmt.Sprintf("%q", name), "Extra")
		_, err = json.Marshal(Message{To: "15550001111", Content: Raw{Type: name, JSON: json.RawMessage(`1`)}})
		require.ErrorContains(t, err, fmt.Sprintf("%q", name), "a type of content")
	}
	for _, name := range []string{"messaging_product", "recipient_type", "to", "type"} {
		_, err := json.Marshal(Message{To: "15550001111", Content: Raw{Type: name, JSON: json.RawMessage(`1`)}})
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
	_, err := json.Marshal(Message{To: "15550001111", Content: Raw{Type: "hologram", JSON: json.RawMessage(`1`)}, Extra: map[string]any{"hologram": 2}})
	require.ErrorContains(t, err, `"hologram"`)
}

// A name in another case would be sent to the platform as a member of its own: a message with Marketing would go to people who opted out.
func TestJSONRejectsAKnownNameInAnotherCase(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]string{
		"Marketing": "marketing", "MARKETING": "marketing", "TTL": "ttl", "Fallback": "fallback", "callbackUrl": "callbackURL", "referenceId": "referenceID",
		"To": "to", "Context": "context",
	} {
		want := fmt.Sprintf("there is no member %q; want %q", name, known)
		err := json.Unmarshal([]byte(`{"to":"15550001111","text":{"body":"x"},"`+name+`":"s3cret"}`), new(Message))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "s3cret")
		m := Message{To: "15550001111", Content: Text{Body: "x"}, Extra: map[string]any{name: "s3cret"}}
		_, err = json.Marshal(m)
		require.ErrorContains(t, err, want)
		assert.NotEmpty(t, problemsOf(m), "%s: a message that is valid can be stored", name)
	}
}

func TestMarshalJSONRejectsWhatHasNoJSON(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]Message{
		"extra":     {Extra: map[string]any{"a": func() {}}},
		"infinite":  {Extra: map[string]any{"a": math.Inf(1)}},
		"raw":       {Content: Raw{Type: "hologram", JSON: json.RawMessage(`{`)}},
		"two":       {Content: Raw{Type: "hologram", JSON: json.RawMessage(`1 2`)}},
		"action":    {Content: Interactive{Action: RawAction{Type: "a", JSON: json.RawMessage(`}`)}}},
		"component": {Content: Template{Components: []Component{RawComponent{JSON: json.RawMessage(``)}}}},
		"parameter": {Content: Template{Components: []Component{TemplateBody{RawParameter{JSON: json.RawMessage(`nul`)}}}}},
		"flow data": {Content: Interactive{Action: Flow{Data: make(chan int)}}},
		"degrees":   {Content: Location{Latitude: math.NaN()}},
	} {
		_, err := json.Marshal(m)
		assert.Error(t, err, name)
		assert.NotEmpty(t, problemsOf(m), name)
	}
}

func TestUnmarshalJSONKeepsUnknownTypesRaw(t *testing.T) {
	t.Parallel()
	read := func(body string) Message {
		var m Message
		require.NoError(t, json.Unmarshal([]byte(body), &m))
		return m
	}
	m := read(`{"to":"15550001111","type":"hologram","hologram":{"id":7.50,"a":"<b>"}}`)
	assert.Equal(t, Raw{Type: "hologram", JSON: json.RawMessage(`{"a":"<b>","id":7.50}`)}, m.Content)
	assert.Nil(t, m.Extra)
	m = read(`{"to":"15550001111","type":"Hologram","Hologram":[1]}`)
	assert.Equal(t, Raw{Type: "Hologram", JSON: json.RawMessage(`[1]`)}, m.Content)
	m = read(`{"to":"15550001111","type":"hologram"}`)
	assert.Equal(t, Raw{Type: "hologram"}, m.Content)
	assert.True(t, jsonRejects(t, m, "Content.JSON", false))

	m = read(`{"to":"15550001111","type":"interactive","interactive":{"type":"warp","body":{"text":"B"},"action":{"name":"warp","speed":9.50}}}`)
	assert.Equal(t, Interactive{Body: "B", Action: RawAction{Type: "warp", JSON: json.RawMessage(`{"name":"warp","speed":9.50}`)}}, m.Content)
	assert.Empty(t, problemsOf(m))

	m = read(`{"to":"15550001111","type":"template","template":{"name":"a","language":{"code":"en"},"components":[{"type":"smell","strength":9.50},
		{"type":"button","sub_type":"teleport","index":0},{"type":"body","parameters":[{"type":"scent","scent":"rose"},{"type":"text","text":"x"}]}]}}`)
	assert.Equal(t, Template{Name: "a", Language: "en", Components: []Component{
		RawComponent{JSON: json.RawMessage(`{"strength":9.50,"type":"smell"}`)},
		RawComponent{JSON: json.RawMessage(`{"index":0,"sub_type":"teleport","type":"button"}`)},
		TemplateBody{RawParameter{JSON: json.RawMessage(`{"scent":"rose","type":"scent"}`)}, TextParam{Text: "x"}},
	}}, m.Content)
	assert.Empty(t, problemsOf(m))
}

func TestUnmarshalJSONPutsUnknownMembersIntoExtra(t *testing.T) {
	t.Parallel()
	var m Message
	require.NoError(t, json.Unmarshal([]byte(`{"to":"15550001111","type":"text","text":{"body":"x"},"image":{"id":"1"},
		"n":12345678901234567890.50,"o":{"p":[1,"2",null,true]},"z":null,"context":{"message_id":"w","forwarded":true},"product_policy":{"a":1},"message_activity_sharing":"maybe"}`), &m))
	assert.Equal(t, Text{Body: "x"}, m.Content)
	assert.Equal(t, map[string]any{
		"image": map[string]any{"id": "1"}, "n": json.Number("12345678901234567890.50"), "o": map[string]any{"p": []any{json.Number("1"), "2", nil, true}}, "z": nil,
		"context": map[string]any{"message_id": "w", "forwarded": true}, "product_policy": map[string]any{"a": json.Number("1")}, "message_activity_sharing": "maybe",
	}, m.Extra)
	assert.Empty(t, m.ReplyTo)
	assert.Zero(t, m.MarketingOptions)
	_, err := json.Marshal(m)
	assert.NoError(t, err)
}

func TestUnmarshalJSONReadsTheKeysOfTheLibrary(t *testing.T) {
	t.Parallel()
	want := Message{
		To: "15550001111", Content: Text{Body: "x"}, TTL: 90500 * time.Millisecond, Fallback: &sms.Fallback{From: "ACME", Text: "y"}, CallbackURL: "https://a.example/", ReferenceID: "r",
	}
	for body, want := range map[string]Message{
		`{"to":15550001111,"text":{"body":"x"},"ttl":"90.5s","fallback":{"from":"ACME","text":"y"},"callbackURL":"https://a.example/","referenceID":"r"}`:                           want,
		`{"to":"15550001111","text":{"body":"x"},"ttl":null,"fallback":null,"callbackURL":null,"referenceID":null,"recipient":null,"context":null,"biz_opaque_callback_data":null}`: {To: "15550001111", Content: Text{Body: "x"}},
	} {
		var m Message
		require.NoError(t, json.Unmarshal([]byte(body), &m))
		assert.Equal(t, want, m)
	}
}

// A read receipt or a typing indicator goes to the same endpoint of the platform, but is no message.
func TestUnmarshalJSONRejectsWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"messaging_product":"whatsapp","status":"read","message_id":"wamid.s3cret"}`,
		`{"messaging_product":"whatsapp","status":"read","message_id":"wamid.s3cret","typing_indicator":{"type":"text"}}`,
		`{"typing_indicator":{"type":"text"}}`,
	} {
		var m Message
		err := json.Unmarshal([]byte(body), &m)
		require.EqualError(t, err, "chatapp2: the message cannot be decoded: a read receipt or typing indicator is not a message")
	}
}

func TestUnmarshalJSONWithoutAType(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]Content{
		`{"text":{"body":"x"}}`:                                          Text{Body: "x"},
		`{"text":{"body":"x"},"image":{"id":"1"}}`:                       Text{Body: "x"},
		`{"image":{"id":"1"}}`:                                           Image{Media: Media{ID: "1"}},
		`{"type":null,"image":{"id":"1"}}`:                               Image{Media: Media{ID: "1"}},
		`{"template":{"name":"a","language":{"code":"en"}}}`:             Template{Name: "a", Language: "en"},
		`{"reaction":{"message_id":"w","emoji":""}}`:                     Reaction{MessageID: "w"},
		`{"image":{"id":"1"},"video":{"id":"1"}}`:                        nil,
		`{"interactive":{"type":"product","action":{"catalog_id":"1"}}}`: Interactive{Action: Product{CatalogID: "1"}},
	} {
		var m Message
		require.NoError(t, json.Unmarshal([]byte(body), &m), body)
		assert.Equal(t, want, m.Content, body)
		if want == nil {
			assert.True(t, jsonRejects(t, m, "Content", false), body)
		}
	}
}

func TestUnmarshalJSONErrorsNeverRepeatAValue(t *testing.T) {
	t.Parallel()
	old := Message{To: "15550001111", Content: Text{Body: "old"}, ReferenceID: "r", Extra: map[string]any{"a": 1}}
	for body, want := range map[string]string{
		`[]`: "object", `"s3cret"`: "object", `53`: "object", `true`: "object", `null`: "object", `["s3cret"]`: "object",
		`{"messaging_product":"s3cret"}`: `"messaging_product"`, `{"messaging_product":["s3cret"]}`: `"messaging_product"`, `{"messaging_product":53}`: `"messaging_product"`,
		`{"to":["s3cret"]}`: `"to"`, `{"to":{"s3cret":1}}`: `"to"`, `{"to":true}`: `"to"`, `{"recipient":["s3cret"]}`: `"recipient"`, `{"recipient_type":{"s3cret":1}}`: `"recipient_type"`, `{"recipient_type":"s3cret"}`: `"recipient_type"`, `{"recipient_type":"group"}`: `"recipient_type"`,
		`{"type":["s3cret"]}`: `"type"`, `{"type":{"s3cret":1}}`: `"type"`, `{"type":true}`: `"type"`, `{"type":53}`: `"type"`,
		`{"ttl":"s3cret"}`: `"ttl"`, `{"ttl":["s3cret"]}`: `"ttl"`, `{"ttl":true}`: `"ttl"`, `{"ttl":{}}`: `"ttl"`, `{"ttl":53}`: `"ttl"`, `{"ttl":"53"}`: `"ttl"`,
		`{"fallback":53}`: `"fallback"`, `{"fallback":{"from":"s3cret"}}`: `"fallback"`, `{"fallback":{"from":"s3cret","text":"s3cret","s3cret":1}}`: `"fallback"`,
		`{"callbackURL":{"s3cret":1}}`: `"callbackURL"`, `{"referenceID":["s3cret"]}`: `"referenceID"`,
	} {
		m := old
		err := json.Unmarshal([]byte(body), &m)
		require.ErrorContains(t, err, want, body)
		assert.NotContains(t, err.Error(), "s3cret", body)
		assert.NotContains(t, err.Error(), "53", body)
		assert.Equal(t, old, m, "the message was touched by %s", body)
	}
	for _, body := range []string{``, `{`, `{"to":"s3cret"`, `{} s3cret`, `{'s3cret'}`} {
		m := old
		require.Error(t, m.UnmarshalJSON([]byte(body)), body)
		assert.Equal(t, old, m, "the message was touched by %s", body)
	}
}

func TestUnmarshalJSONReplacesTheMessage(t *testing.T) {
	t.Parallel()
	for name, old := range jsonMessages() {
		require.NoError(t, json.Unmarshal([]byte(`{"to":"15550002222","recipient_type":"individual","text":{"body":"new"}}`), &old))
		assert.Equal(t, Message{To: "15550002222", Content: Text{Body: "new"}}, old, name)
	}
}

func TestUnmarshalJSONInsideOtherDocuments(t *testing.T) {
	t.Parallel()
	var queue struct {
		Messages []Message
		Next     *Message
		None     *Message
	}
	require.NoError(t, json.Unmarshal([]byte(`{"Messages":[{"text":{"body":"1"}},{"image":{"id":"2"}}],"Next":{"text":{"body":"3"}},"None":null}`), &queue))
	require.Len(t, queue.Messages, 2)
	assert.Equal(t, Text{Body: "1"}, queue.Messages[0].Content)
	assert.Equal(t, Image{Media: Media{ID: "2"}}, queue.Messages[1].Content)
	require.NotNil(t, queue.Next)
	assert.Equal(t, Text{Body: "3"}, queue.Next.Content)
	assert.Nil(t, queue.None)
}
