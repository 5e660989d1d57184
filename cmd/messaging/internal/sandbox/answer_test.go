package sandbox

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// receiver is a program that receives answers with package webhook.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	texts []webhook.SMSMessage
	chats []webhook.ChatMessage
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "a-long-enough-secret"), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)), webhook.WithPOST())
	require.NoError(t, err)
	chat := func(_ context.Context, m webhook.ChatMessage) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.chats = append(r.chats, m)
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("/sms", hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.texts = append(r.texts, m)
		return nil
	}))
	mux.Handle("/chatapp1", hooks.ChatApp1(chat))
	mux.Handle("/chatapp2", hooks.ChatApp2(chat))
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) webhooks() map[string]string {
	urls := map[string]string{}
	for _, c := range []string{channelSMS, channelChatApp1, channelChatApp2} {
		urls[c] = r.URL + "/" + c + "?key=a-long-enough-secret"
	}
	return urls
}

func TestAnswersReachReceiver(t *testing.T) { //nolint:tparallel // the answers come one after the other
	t.Parallel()
	program := newReceiver(t)
	r := newRig(t, Config{Webhooks: program.webhooks()})
	offer := sendOffers(r)
	for _, tc := range []struct {
		name, body string
		want       webhook.Content
	}{
		{"text", `{"channel":"chatapp2","from":"` + ana + `","text":"Yes"}`, webhook.Text{Body: "Yes"}},
		{"text by chat app 1", `{"channel":"chatapp1","from":"` + ana + `","text":"Yes & no + 1"}`, webhook.Text{Body: "Yes & no + 1"}},
		{
			"button", `{"channel":"chatapp2","from":"` + ana + `","kind":"button","payload":"y","text":"Yes","message":"` + offer["buttons"] + `"}`,
			webhook.Reply{ID: "y", Title: "Yes", Kind: "button_reply"},
		},
		{
			"row", `{"channel":"chatapp2","from":"` + ana + `","kind":"list","payload":"r","message":"` + offer["list"] + `"}`,
			webhook.Reply{ID: "r", Title: "R", Description: "D", Kind: "list_reply"},
		},
		{
			"quick reply", `{"channel":"chatapp2","from":"` + ana + `","kind":"quick_reply","payload":"stop","message":"` + offer["template"] + `"}`,
			webhook.Reply{ID: "stop", Title: "stop", Kind: "button"},
		},
		{"reaction", `{"channel":"chatapp2","from":"` + ana + `","kind":"reaction","text":"👍","message":"` + offer["list"] + `"}`, webhook.Reaction{MessageID: offer["list"], Emoji: "👍"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got struct{ Calls []Call }
			r.api(http.MethodPost, "replies", tc.body, &got)
			require.Len(t, got.Calls, 1)
			require.Equal(t, http.StatusOK, got.Calls[0].Status)
			program.mu.Lock()
			defer program.mu.Unlock()
			last := program.chats[len(program.chats)-1]
			assert.Equal(t, "639171234567", trimPlus(last.From))
			if want, isReply := tc.want.(webhook.Reply); isReply {
				reply, ok := last.Content.(webhook.Reply)
				require.True(t, ok, "%T", last.Content)
				assert.Equal(t, want.ID, reply.ID)
				assert.Equal(t, want.Title, reply.Title)
				return
			}
			assert.Equal(t, tc.want, last.Content)
		})
	}
	r.api(http.MethodPost, "replies", `{"channel":"chatapp2","from":"`+ana+`","kind":"form","message":"`+offer["flow"]+`"}`, nil)
}

func TestLocationsAndImagesReachReceiver(t *testing.T) {
	t.Parallel()
	program := newReceiver(t)
	r := newRig(t, Config{Webhooks: program.webhooks()})
	for _, channel := range []string{"chatapp1", "chatapp2"} {
		r.api(http.MethodPost, "replies", `{"channel":"`+channel+`","from":"`+ana+`","kind":"location","latitude":"14.5","longitude":"-120","text":"Here"}`, nil)
		r.api(http.MethodPost, "replies", `{"channel":"`+channel+`","from":"`+ana+`","kind":"image","url":"https://a.example.com/1.jpg","text":"A caption"}`, nil)
		program.mu.Lock()
		location, isLocation := program.chats[len(program.chats)-2].Content.(webhook.Location)
		image, isImage := program.chats[len(program.chats)-1].Content.(webhook.Media)
		program.mu.Unlock()
		assert.True(t, isLocation && isImage, channel)
		assert.InDelta(t, 14.5, location.Latitude, 0, channel)
		assert.Equal(t, "https://a.example.com/1.jpg", image.URL, channel)
	}
}

func TestMediaReachReceiver(t *testing.T) {
	t.Parallel()
	program := newReceiver(t)
	r := newRig(t, Config{Webhooks: program.webhooks()})
	for kind, want := range map[string]webhook.Media{
		"audio":    {MIMEType: "audio/ogg"},
		"document": {MIMEType: "application/pdf", Caption: "Receipt", FileName: "receipt 7.pdf"},
		"sticker":  {MIMEType: "image/webp"},
		"video":    {MIMEType: "video/mp4", Caption: "Receipt"},
	} {
		text := ""
		if want.Caption != "" {
			text = `,"text":"` + want.Caption + `"`
		}
		r.api(http.MethodPost, "replies", `{"channel":"chatapp2","from":"`+ana+`","kind":"`+kind+`","url":"https://a.example.com/receipt%207.pdf?v=1"`+text+`}`, nil)
		program.mu.Lock()
		medium, isMedium := program.chats[len(program.chats)-1].Content.(webhook.Media)
		program.mu.Unlock()
		require.True(t, isMedium, kind)
		assert.NotEmpty(t, medium.ID, kind)
		medium.ID = ""
		want.Kind = webhook.MediaKind(kind)
		want.URL = "https://a.example.com/receipt%207.pdf?v=1"
		assert.Equal(t, want, medium, kind)
	}
}

// sendOffers sends messages that offer something to tap, and returns their IDs.
func sendOffers(r *rig) map[string]string {
	r.t.Helper()
	ids := map[string]string{}
	for name, content := range map[string]string{
		"text":     `"type":"text","text":{"body":"Hi"}`,
		"buttons":  `"type":"interactive","interactive":{"type":"button","body":{"text":"B"},"action":{"buttons":[{"type":"reply","reply":{"id":"y","title":"Yes"}},{"type":"reply","reply":{"id":"n","title":"No"}}]}}`,
		"list":     `"type":"interactive","interactive":{"type":"list","body":{"text":"B"},"action":{"button":"Times","sections":[{"title":"S","rows":[{"id":"r","title":"R","description":"D"}]}]}}`,
		"template": `"type":"template","template":{"name":"order","language":{"code":"en"},"components":[{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"stop"}]}]}`,
		"flow":     `"type":"interactive","interactive":{"type":"flow","body":{"text":"B"},"action":{"name":"flow","parameters":{"flow_message_version":"3","flow_cta":"Open","flow_id":"f","flow_token":"token-1"}}}`,
	} {
		status, text := r.do(http.MethodPost, "/chatapp2/send", `{"messaging_product":"whatsapp","to":"`+ana+`",`+content+`}`)
		require.Equal(r.t, http.StatusOK, status, "%s: %s", name, text)
		ids[name] = document.Parse([]byte(text)).At("messages.0.id").Text()
	}
	return ids
}

// TestTapsAreValidated: a test with a typo must not pass.
func TestTapsAreValidated(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	offer := sendOffers(r)
	sms := r.sendSMS("ACME", ana, "Hi")
	for _, tc := range []struct {
		message, from, what string
		status              int
		want                string
	}{
		{"wamid.none", ana, `"kind":"button","payload":"y"`, 404, "message: no message has the ID wamid.none"},
		{"wamid.none", ana, `"kind":"reaction","text":"👍"`, 404, "no message has the ID"},
		{"wamid.none", ana, `"text":"quoted"`, 404, "no message has the ID"},
		{offer["text"], ana, `"kind":"button","payload":"y"`, 400, "it offers nothing to tap"},
		{offer["buttons"], ana, `"kind":"button","payload":"yes"`, 400, `it has button with payload \"y\" and text \"Yes\", button with payload \"n\" and text \"No\"`},
		{offer["buttons"], ana, `"kind":"button","payload":"y","text":"No"`, 400, "the message has no such button"},
		{offer["buttons"], ana, `"kind":"list","payload":"y"`, 400, "the message has no such list"},
		{offer["list"], ana, `"kind":"button","payload":"r"`, 400, `it has list with payload \"r\" and text \"R\"; use kind list`},
		{offer["list"], ana, `"kind":"list","payload":"s"`, 400, `it has list with payload \"r\" and text \"R\"`},
		{offer["flow"], ana, `"kind":"form","payload":"token-2"`, 400, "token-1"},
		{offer["buttons"], "+639180001111", `"kind":"button","payload":"y"`, 400, "from: the message was sent to " + ana},
		{offer["list"], "+639180001111", `"kind":"reaction","text":"👍"`, 400, "from: the message was sent to " + ana},
		{sms, ana, `"kind":"button","payload":"y"`, 400, "it was sent by sms"},
		{offer["buttons"], "0063 917 123 4567", `"kind":"button","text":"No"`, 400, "from: "},
		{offer["buttons"], "639171234567", `"kind":"button","text":"No"`, 200, `"id"`},
	} {
		status, text := r.do(http.MethodPost, Root+"replies", `{"channel":"chatapp2","from":"`+tc.from+`","message":"`+tc.message+`",`+tc.what+`}`)
		assert.Equal(t, tc.status, status, "%s: %s", tc.what, text)
		assert.Contains(t, text, tc.want, tc.what)
	}
}

func trimPlus(s string) string {
	if s != "" && s[0] == '+' {
		return s[1:]
	}
	return s
}

func TestAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	program := newReceiver(t)
	r := newRig(t, Config{Webhooks: program.webhooks()})
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Yes or no?"})
	require.NoError(t, err)
	r.messages(1)
	var got struct {
		ID    string
		Calls []Call
	}
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`, &got)
	id := got.ID
	r.api(http.MethodPost, "messages/"+id+"/repeat", `{}`, &got)
	assert.Len(t, got.Calls, 1)
	r.api(http.MethodPost, "messages/"+id+"/repeat", `{"twice":true}`, &got)
	assert.GreaterOrEqual(t, len(got.Calls), 2)
	program.mu.Lock()
	defer program.mu.Unlock()
	require.Len(t, program.texts, 1, "a receiver handles an event once")
	assert.Equal(t, "Yes", program.texts[0].Text)
	assert.Equal(t, "ACME", program.texts[0].To, "it goes to the sender of the last message")
	page := r.page("?channel=sms&to=639171234567")
	contains(t, page, "answer → 200")
	lacks(t, page, "a-long-enough-secret")
}

func TestRepliesAreListed(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "Yes or no?")
	began := time.Now()
	var ids []string
	for _, body := range []string{
		`{"channel":"sms","from":"` + ana + `","text":"Yes"}`,
		`{"channel":"chatapp2","from":"` + ana + `","text":"No"}`,
		`{"channel":"sms","from":"+639180001111","text":"Perhaps"}`,
	} {
		var got struct{ ID string }
		r.api(http.MethodPost, "replies", body, &got)
		ids = append(ids, got.ID)
	}
	for query, want := range map[string][]string{
		"":                                  ids,
		"?from=639171234567":                ids[:2],
		"?from=%2B639171234567&channel=sms": ids[:1],
		"?text=PERHAPS":                     ids[2:],
		"?limit=1":                          ids[2:],
		"?limit=1&after=" + ids[0]:          ids[1:2],
		"?after=" + ids[2]:                  {},
	} {
		var got struct{ Replies []Message }
		r.api(http.MethodGet, "replies"+query, "", &got)
		found := []string{}
		for _, reply := range got.Replies {
			assert.Equal(t, "answer", reply.Direction)
			assert.WithinRange(t, reply.At, began, time.Now(), "each has the time at which it came")
			found = append(found, reply.ID)
		}
		assert.Equal(t, want, found, query)
	}
	assert.Len(t, r.messages(1), 1, "answers are not among the messages")
	for query, want := range map[string]int{"?after=in-0": http.StatusNotFound, "?channel=fax": http.StatusBadRequest, "?limit=x": http.StatusBadRequest} {
		status, text := r.do(http.MethodGet, Root+"replies"+query, "")
		assert.Equal(t, want, status, "%s: %s", query, text)
	}
}

func TestAnswerWithoutWebhook(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var got struct {
		Note  string
		Calls []Call
	}
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Hello?"}`, &got)
	assert.Contains(t, got.Note, "no webhook is set")
	assert.Empty(t, got.Calls)
	contains(t, r.page("?channel=sms&to=639171234567"), "Hello?")
}

func TestFailedAnswerIsRetried(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	hook.status = http.StatusInternalServerError
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	var got struct{ Calls []Call }
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Hello?"}`, &got)
	require.Len(t, got.Calls, retries+1)
	assert.Equal(t, 3, got.Calls[2].Try)
	contains(t, r.page("?channel=sms&to=639171234567"), "answer → 500")
	hook.Close()
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Hello?"}`, &got)
	assert.NotEmpty(t, got.Calls[0].Error)
	assert.NotContains(t, got.Calls[0].Error, "messagingtest")
}

func TestAnswerIsValidated(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for body, want := range map[string]string{
		`{"channel":"fax","from":"1","text":"x"}`:                                                     "channel must be",
		`{"channel":"sms","text":"x"}`:                                                                "from is missing",
		`{"channel":"sms","from":"1"}`:                                                                "text is missing",
		`{"channel":"sms","from":"1","kind":"image","url":"https://a.example.com/"}`:                  "does not exist on this channel",
		`{"channel":"chatapp1","from":"1","kind":"button","payload":"y","message":"m"}`:               "does not exist on this channel",
		`{"channel":"chatapp2","from":"1","kind":"button","payload":"y"}`:                             "message is missing",
		`{"channel":"chatapp2","from":"1","kind":"button","message":"m"}`:                             "payload is missing",
		`{"channel":"chatapp2","from":"1","kind":"image","url":"file:///etc/passwd"}`:                 "url must be",
		`{"channel":"chatapp2","from":"1","kind":"location","latitude":"91","longitude":"0"}`:         "decimal degrees",
		`{"channel":"chatapp2","from":"1","kind":"location","latitude":"0x1p-2","longitude":"0"}`:     "decimal degrees",
		`{"channel":"chatapp2","from":"1","kind":"location","latitude":"NaN","longitude":"Infinity"}`: "decimal degrees",
		`{"channel":"chatapp2","from":"1","kind":"reaction","text":"x"}`:                              "message is missing",
		`{"channel":"chatapp1","from":"1","kind":"document","url":"https://a.example.com/"}`:          "does not exist on this channel",
		`{"channel":"chatapp2","from":"1","kind":"document"}`:                                         "url must be",
		`{"channel":"chatapp2","from":"1","kind":"audio","text":"x","url":"https://a.example.com/"}`:  "audio has no caption",
		`{"channel":"chatapp2","from":"1","kind":"telepathy"}`:                                        "kind must be",
	} {
		status, text := r.do(http.MethodPost, Root+"replies", body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, text, want, body)
	}
	status, _ := r.do(http.MethodPost, Root+"messages/msg-9/repeat", `{}`)
	assert.Equal(t, http.StatusNotFound, status)
}

func TestAnswersInEveryForm(t *testing.T) {
	t.Parallel()
	program := newReceiver(t)
	r := newRig(t, Config{Webhooks: program.webhooks()})
	for i, form := range []string{formForm, formJSON, formContract} {
		r.api(http.MethodPatch, "settings", `{"webhookForm":"`+form+`"}`, nil)
		var got struct{ Calls []Call }
		r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"by `+form+`"}`, &got)
		require.Equal(t, http.StatusOK, got.Calls[0].Status, form)
		program.mu.Lock()
		assert.Equal(t, "by "+form, program.texts[i].Text)
		program.mu.Unlock()
		contains(t, r.page("page/traffic?exchange="+itoa(got.Calls[0].Exchange)), "by", form)
	}
	status, _ := r.do(http.MethodPatch, Root+"settings", `{"webhookForm":"xml"}`)
	assert.Equal(t, http.StatusBadRequest, status)
}
