package sandbox

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestPageShowsEveryContent sends the golden messages of chat app 2, and checks each on the page.
func TestPageShowsEveryContent(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sent := 0
	root := "../../../../chatapp2/testdata/golden"
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "envelope") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		status, text := r.do(http.MethodPost, "/chatapp2/send", string(body))
		require.Equal(t, http.StatusOK, status, "%s: %s", path, text)
		sent++
		id := document.Parse([]byte(text)).At("messages.0.id").Text()
		m := r.settled(id, func(m Message) bool { return m.State != "" })
		if sent%10 == 0 {
			contains(t, r.page("?channel=chatapp2&to="+url.QueryEscape(m.To)+"&message="+url.QueryEscape(id)), `id="details"`, path)
		}
		st := r.lock()
		b := bubbleOf(*st.book.byID[id].Sent, r.table)
		st.unlock()
		isEmpty := b.Body == "" && b.Label == "" && b.Media.Kind == "" && b.Header == "" && b.JSON == "" && b.Facts == nil && !b.Place.Exists()
		assert.False(t, isEmpty, path)
		return nil
	}))
	assert.Greater(t, sent, 100)
}

func TestBubble(t *testing.T) {
	t.Parallel()
	names := table.Of(contract.Default())
	chat2 := func(kind, content string) messagingtest.Sent {
		return messagingtest.Sent{ID: "wamid.1", Channel: channelChatApp2, Kind: kind, Body: json.RawMessage(`{"type":"` + kind + `","` + kind + `":` + content + `}`)}
	}
	for name, tc := range map[string]struct {
		message messagingtest.Sent
		want    bubble
	}{
		"text": {chat2("text", `{"body":"Hi"}`), bubble{Body: "Hi"}},
		"reply buttons": {
			chat2("interactive", `{"type":"button","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"buttons":[{"type":"reply","reply":{"id":"y","title":"Yes"}}]}}`),
			bubble{Header: "H", Body: "B", Footer: "F", Buttons: []button{{Label: "Yes", Answer: &Answer{Kind: AnswerButton, Payload: "y", Text: "Yes"}}}},
		},
		"list": {
			chat2("interactive", `{"type":"list","body":{"text":"B"},"action":{"button":"Times","sections":[{"title":"S","rows":[{"id":"r","title":"R","description":"D"}]}]}}`),
			bubble{Body: "B", Menu: "Times", Rows: []button{{Title: "S"}, {Label: "R", Hint: "D", Answer: &Answer{Kind: AnswerListRow, Payload: "r", Text: "R", Description: "D"}}}},
		},
		"an unknown member": {
			chat2("interactive", `{"type":"cta_url","tone":"calm","body":{"text":"B","size":2},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://a.example.com/","color":"red"}}}`),
			bubble{Body: "B", Buttons: []button{{Label: "Go", Hint: "cta_url", URL: "https://a.example.com/"}}},
		},
		"a link that runs code": {
			chat2("interactive", `{"type":"cta_url","body":{"text":"B"},"action":{"parameters":{"display_text":"Go","url":"javascript:alert(1)"}}}`),
			bubble{Body: "B", Buttons: []button{{Label: "Go", Hint: "cta_url"}}},
		},
		"template": {
			chat2("template", `{"name":"order","language":{"code":"en"},"components":[{"type":"BODY","parameters":[{"type":"text","text":"Ana"},{"type":"currency","parameter_name":"sum","currency":{"fallback_value":"$1"}}]},{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"Yes"}]}]}`),
			bubble{
				Label: "Template · order · en", Facts: []fact{{"{{1}}", "Ana"}, {"{{sum}}", "$1"}},
				Buttons: []button{{Label: "Yes", Hint: "quick_reply", Answer: &Answer{Kind: AnswerQuickReply, Text: "Yes", Payload: "Yes"}}},
			},
		},
		"order": {
			chat2("interactive", `{"type":"order_details","body":{"text":"B"},"action":{"parameters":{"currency":"INR","total_amount":{"value":5,"offset":100},"order":{"items":[{"name":"Bread","quantity":2,"amount":{"value":1050,"offset":100}}]}}}}`),
			bubble{Body: "B", Buttons: []button{{Label: "Review and pay", Hint: "order_details"}}},
		},
		"reaction":         {chat2("reaction", `{"message_id":"m","emoji":"👍"}`), bubble{Label: "Reaction", Reaction: "👍", About: "m"}},
		"something new":    {chat2("hologram", `{"beam":7}`), bubble{Label: "hologram", JSON: "{\n  \"beam\": 7\n}"}},
		"nothing in it":    {chat2("interactive", `null`), bubble{}},
		"of another shape": {chat2("contacts", `"x"`), bubble{Label: "Contacts"}},
		"chat app 1": {
			messagingtest.Sent{Channel: channelChatApp1, Kind: "call_to_action", Text: "T", Body: json.RawMessage(`{"image":"https://a.example.com/1","caption":"C","action":"https://b.example.com/"}`)},
			bubble{Body: "T", Media: media{Kind: "image", URL: "https://a.example.com/1"}, Buttons: []button{{Label: "C", URL: "https://b.example.com/"}}},
		},
		"chat app 1 template": {
			messagingtest.Sent{Channel: channelChatApp1, Kind: "template", Template: "t-1", Body: json.RawMessage(`{"templateId":"t-1","templateLanguage":"en","templateParams":{"b":"2","a":"1"}}`)},
			bubble{Label: "Template · t-1 · en", Facts: []fact{{"a", "1"}, {"b", "2"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := bubbleOf(tc.message, names)
			if name == "nothing in it" {
				got.Label, got.JSON = "", ""
			}
			if tc.message.Channel == channelChatApp2 {
				for _, offer := range tc.want.offers() {
					offer.Channel, offer.Message = channelChatApp2, "wamid.1"
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []piece{
		{Text: "see "}, {Text: "https://a.example.com/x?y=1", Link: "https://a.example.com/x?y=1"}, {Text: ". "}, {Control: "U+202E"}, {Text: "ok\n"},
	}, slices.DeleteFunc(pieces("see https://a.example.com/x?y=1. \u202eok\n"), func(p piece) bool { return p == piece{} }))
	assert.Empty(t, pieces(""))
	assert.Contains(t, pieces("HTTPS://a.example.com/\u202e3pm"), piece{Control: "U+202E"}, "behind a link")
	assert.Contains(t, pieces("ftps+HTTP://a.example.com\u202e"), piece{Control: "U+202E"})
	long := pieces(strings.Repeat("é", shownText))
	assert.Equal(t, "… 8000 bytes in all", long[len(long)-1].Control)
}

func FuzzPieces(f *testing.F) {
	for _, seed := range []string{"", "a", "https://a.example.com", "\u202e\x00", "\xff\xfe", "http://[::1", strings.Repeat("\u2066", 3000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range pieces(text) {
			assert.NotContains(t, p.Text, "\u202e")
			assert.Regexp(t, `^((?i:https?)://[^/?#]|$)`, p.Link)
		}
	})
}

// FuzzExchange shows arbitrary requests.
func FuzzExchange(f *testing.F) {
	f.Add("text", `{"messaging_product":"whatsapp","type":"text","text":{"body":"Hi"}}`)
	f.Add("interactive", `{"interactive":{"type":"carousel","action":{"cards":[{"card_index":0,"action":{"buttons":[{"type":"quick_reply"}]}}]}}}`)
	f.Add("template", `{"template":{"components":[{"type":"carousel","cards":[{"components":[]}]}]}}`)
	f.Add("order", `{"sender":"A","recipient":["1"],"body":{"text":"x"}}`)
	f.Add("", "from=A&to=%ZZ&text=1")
	f.Fuzz(func(t *testing.T, kind, body string) {
		names := table.Of(contract.Default())
		for _, channel := range table.Channels() {
			bubbleOf(messagingtest.Sent{Channel: channel.Name, Kind: kind, Body: json.RawMessage(body)}, names)
		}
		s := &Sandbox{core: &core{table: names}}
		for _, operation := range append(operationNames(), "") {
			x := Exchange{Operation: operation}
			if fields, send := s.sentFields(&x, []byte(body)); send != nil {
				x.describe(fields, send)
			}
			assert.LessOrEqual(t, len(x.To)+len(x.Text)+len(x.Reference), 2*maxName+previewText)
		}
	})
}
