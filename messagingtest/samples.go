package messagingtest

import (
	"encoding/base64"
	"fmt"
	"iter"
	"time"
)

// Who writes in the samples, and to whom. They are numbers that nobody has.
const (
	sampleFrom   = "15550002222"
	sampleTo     = "15550001111"
	sampleName   = "Ana"
	sampleUserID = "US.10000000000000315329"
)

// kindSystem is of messages that nobody has written.
const kindSystem = "system"

// InboundSamples returns an inbound chat-app message of every kind that is known, under a name that says what it is, so that
// a test can send each to a webhook:
//
//	for name, m := range messagingtest.InboundSamples() {
//		t.Run(name, func(t *testing.T) {
//			w := httptest.NewRecorder()
//			handler.ServeHTTP(w, messagingtest.ChatApp2Request("/hooks/two", m))
//			if w.Code != http.StatusOK {
//				t.Errorf("%d for %s", w.Code, m.Kind)
//			}
//		})
//	}
//
// The kinds of the third-party platform come as JSON in its shape, with ID, From, To, Name, Kind and ReceivedAt beside it
// that say the same
// (but for Name, which a message of the kind system has not): text, image, video, audio, document, sticker, location, contacts, button, interactive (button_reply,
// list_reply, nfm_reply, call_permission_reply, payment_method, and one that is yet to come), reaction (also one that is
// taken back, without an emoji and with an empty one), order, system (user_changed_number, user_changed_user_id,
// customer_identity_changed), unsupported, edit, revoke, request_welcome, and hologram, which nobody has heard of. Among the
// texts are a reply, one that was forwarded, one about a product, one from an advertisement, one of a user who shows no
// number, and one in its whole envelope; the last two have nothing beside the JSON that it says itself.
//
// Those whose name begins with "flat" have no JSON: text, the media, a location and a kind that nobody has heard of, in
// parameters of their own, and a text of no kind. That there are text, media and audio is of the specification, the
// parameters are defaults of the contract, and the JSON is the platform's.
//
// IDs are distinct, times a second apart, in the order of the samples. Each range makes them anew: they are the caller's to
// change. A correct receiver delivers every one of them.
func InboundSamples() iter.Seq2[string, InboundChatApp] {
	return func(yield func(string, InboundChatApp) bool) {
		at := time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC)
		for _, s := range append(flatSamples(), jsonSamples()...) {
			if !yield(s.name, s.at(at)) {
				return
			}
			at = at.Add(time.Second)
		}
	}
}

// sample is one message, all but what every message has.
type sample struct {
	name    string
	message InboundChatApp
	json    bool   // it comes as JSON
	members string // what that has beside what every message has
	alone   bool   // nothing comes beside it
	user    bool   // its sender shows no number
	around  string // the format of what stands around it
}

func (s sample) at(t time.Time) InboundChatApp {
	id := "wamid." + base64.StdEncoding.EncodeToString([]byte(s.name))
	m := s.message
	if s.json {
		sender := `"from":"` + sampleFrom + `"`
		if s.user {
			sender = `"from_user_id":"` + sampleUserID + `"`
		}
		m.JSON = fmt.Sprintf(`{%s,"id":"%s","timestamp":"%d","type":"%s"%s}`, sender, id, t.Unix(), m.Kind, s.members)
	}
	if s.around != "" {
		m.JSON = fmt.Sprintf(s.around, m.JSON)
	}
	if s.alone {
		return InboundChatApp{JSON: m.JSON}
	}
	m.ID, m.From, m.To, m.ReceivedAt = id, sampleFrom, sampleTo, t
	if m.Kind != kindSystem {
		m.Name = sampleName
	}
	return m
}

func flatSamples() []sample {
	const media = "https://media.example.com/"
	return []sample{
		{name: "flat text", message: InboundChatApp{Kind: "text", Text: "Does it come in another color?"}},
		{name: "flat text of no kind", message: InboundChatApp{Text: "100% yes; 1+1=2 & more 😀"}},
		{name: "flat image", message: InboundChatApp{Kind: "image", MediaURL: media + "1.jpg", MIMEType: "image/jpeg", Caption: "Taj Mahal"}},
		{name: "flat video", message: InboundChatApp{Kind: "video", MediaURL: media + "2.mp4?size=full&token=a%2Bb", MIMEType: "video/mp4"}},
		{name: "flat audio", message: InboundChatApp{Kind: "audio", MediaID: "1234567890987654321", MIMEType: "audio/ogg; codecs=opus"}},
		{
			name:    "flat document",
			message: InboundChatApp{Kind: "document", MediaURL: media + "3.pdf", MIMEType: "application/pdf", FileName: "año 2026.pdf"},
		},
		{name: "flat sticker", message: InboundChatApp{Kind: "sticker", MediaURL: media + "4.webp", MIMEType: "image/webp"}},
		{name: "flat location", message: InboundChatApp{Kind: "location", Latitude: "14.5995", Longitude: "-120.9842"}},
		{name: "flat location at zero", message: InboundChatApp{Kind: "location", Latitude: "0", Longitude: "0"}},
		{name: "flat hologram", message: InboundChatApp{Kind: "hologram", Extra: []Param{{"beam", "7"}}}},
	}
}

func jsonSamples() []sample {
	const (
		answered = `,"context":{"from":"` + sampleTo + `","id":"wamid.b3JkZXIgMTc="}`
		sha256   = `"sha256":"SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI="`
		reacted  = `"message_id":"wamid.b3JkZXIgMTc="`
		refused  = `,"errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown",` +
			`"error_data":{"details":"Message type is currently not supported."}}]`
		envelope = `{"object":"whatsapp_business_account","entry":[{"id":"10000000000000000","changes":[{"field":"messages",` +
			`"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"` + sampleTo + `","phone_number_id":"106540352242922"},` +
			`"contacts":[{"profile":{"name":"` + sampleName + `"},"wa_id":"` + sampleFrom + `"}],"messages":[%s]}}]}]}`
	)
	of := func(name, kind, members string) sample {
		return sample{name: name, message: InboundChatApp{Kind: kind}, json: true, members: members}
	}
	interactive := func(kind, members string) sample {
		return of("interactive "+kind, "interactive", `,"interactive":{"type":"`+kind+`","`+kind+`":{`+members+`}}`)
	}
	fromUser := of("text of a user without a number", "text", `,"text":{"body":"I have a name only"}`)
	fromUser.user, fromUser.alone = true, true
	inEnvelope := of("text in its envelope", "text", `,"text":{"body":"Hello from far outside"}`)
	inEnvelope.around, inEnvelope.alone = envelope, true
	return []sample{
		of("text", "text", `,"text":{"body":"Does it come in another color?"}`),
		of("text reply", "text", answered+`,"text":{"body":"Yes, please"}`),
		of("text forwarded", "text", `,"context":{"forwarded":true},"text":{"body":"forwarded text"}`),
		of("text forwarded often", "text", `,"context":{"frequently_forwarded":true},"text":{"body":"forwarded many times"}`),
		of("text about a product", "text", `,"context":{"from":"`+sampleTo+`","id":"wamid.Y2F0YWxvZw==",`+
			`"referred_product":{"catalog_id":"194836987003835","product_retailer_id":"di9ozbzfi4"}},"text":{"body":"Is this still available?"}`),
		of("text from an advertisement", "text", `,"referral":{"source_url":"https://ads.example.com/3cr4Wqqkv","source_id":"120226305854810726",`+
			`"source_type":"ad","body":"Summer succulents are here!","headline":"Chat with us","media_type":"image",`+
			`"image_url":"https://media.example.com/ad.jpg","ctwa_clid":"click-1","welcome_message":{"text":"Hi there!"}},`+
			`"text":{"body":"Can I get more info on this?"}`),
		fromUser,
		inEnvelope,
		of("image", "image", `,"image":{"caption":"Taj Mahal","mime_type":"image/jpeg",`+sha256+`,"id":"1003383421387256","url":"https://media.example.com/1"}`),
		of("video", "video", `,"video":{"caption":"The sea","mime_type":"video/mp4",`+sha256+`,"id":"765756756"}`),
		of("audio", "audio", `,"audio":{"mime_type":"audio/ogg; codecs=opus",`+sha256+`,"id":"1234567890987654321","voice":false}`),
		of("audio of a voice", "audio", `,"audio":{"mime_type":"audio/ogg; codecs=opus",`+sha256+`,"id":"1234567890987654322","voice":true}`),
		of("document", "document", `,"document":{"caption":"As agreed","filename":"contract.pdf","mime_type":"application/pdf",`+sha256+`,"id":"1234567890987654323"}`),
		of("sticker", "sticker", `,"sticker":{"mime_type":"image/webp",`+sha256+`,"id":"1234567890987654324","animated":true}`),
		of("location", "location", `,"location":{"latitude":37.44221496582,"longitude":-122.16165924072,"name":"Philz Coffee",`+
			`"address":"101 Forest Ave, Palo Alto, CA 94301","url":"https://coffee.example.com/"}`),
		of("location without a name", "location", `,"context":{"forwarded":true},"location":{"latitude":12.25089,"longitude":43.90539}`),
		of("contacts", "contacts", `,"contacts":[{"name":{"first_name":"Lucía","last_name":"Gómez","formatted_name":"Lucía Gómez"},`+
			`"org":{"company":"ACME"},"phones":[{"phone":"+15550003333","wa_id":"15550003333","type":"MOBILE"}]},`+
			`{"name":{"first_name":"Monica","formatted_name":"Monica"},"phones":[{"phone":"+15550004444","type":"HOME"}]}]`),
		of("button", "button", answered+`,"button":{"payload":"unsubscribe-1","text":"Unsubscribe"}`),
		interactive("button_reply", `"id":"cancel-button","title":"Cancel"`),
		interactive("list_reply", `"id":"priority_express","title":"Priority Mail Express","description":"Next Day to 2 Days"`),
		interactive("nfm_reply", `"response_json":"{\"flow_token\":\"token-1\",\"rating\":\"4\"}","body":"Sent","name":"flow"`),
		interactive("call_permission_reply", `"response":"accept","is_permanent":false,"expiration_timestamp":1791643463,"response_source":"user_action"`),
		interactive("payment_method", `"credential_id":"1234567"`),
		interactive("gesture_reply", `"gesture":"nod"`),
		of("reaction", "reaction", `,"reaction":{`+reacted+`,"emoji":"👍"}`),
		of("reaction taken back", "reaction", `,"reaction":{`+reacted+`}`),
		of("reaction taken back by an empty emoji", "reaction", `,"reaction":{`+reacted+`,"emoji":""}`),
		of("order", "order", `,"order":{"catalog_id":"194836987003835","text":"","product_items":[`+
			`{"product_retailer_id":"di9ozbzfi4","quantity":2,"item_price":30,"currency":"USD"},`+
			`{"product_retailer_id":"nqryix03ez","quantity":1,"item_price":25.5,"currency":"USD"}]}`),
		of("system user_changed_number", kindSystem, `,"system":{"body":"User Ana changed from 15550002222 to 15550003333","wa_id":"15550003333",`+
			`"type":"user_changed_number"}`),
		of("system user_changed_user_id", kindSystem, `,"system":{"body":"User Ana changed the user ID","user_id":"`+sampleUserID+`",`+
			`"type":"user_changed_user_id"}`),
		of("system customer_identity_changed", kindSystem, `,"identity":{"acknowledged":true,"created_timestamp":"1791038600","hash":"xyzxyz"},`+
			`"system":{"body":"User identity changed","type":"customer_identity_changed"}`),
		of("unsupported", "unsupported", refused),
		of("unsupported poll", "unsupported", refused+`,"unsupported":{"type":"poll"}`),
		of("edit", "edit", `,"edit":{"original_message_id":"wamid.b3JkZXIgMTc=","message":{"type":"image","image":{"caption":"Corrected",`+
			`"mime_type":"image/jpeg",`+sha256+`,"id":"1234567890"}}}`),
		of("revoke", "revoke", `,"revoke":{"original_message_id":"wamid.b3JkZXIgMTc="}`),
		of("request_welcome", "request_welcome", ""),
		of("hologram", "hologram", `,"hologram":{"beam":7}`),
	}
}
