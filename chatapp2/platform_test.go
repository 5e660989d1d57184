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

// Bodies of the platform's documentation that were once rejected or not typed.
func TestPlatformBodiesAreValid(t *testing.T) {
	t.Parallel()
	card := func(index, id string) string {
		return `{"card_index":` + index + `,"type":"cta_url","header":{"type":"image","image":{"id":"1"}},
			"action":{"buttons":[{"type":"quick_reply","quick_reply":{"id":"` + id + `","title":"Learn more"}}]}}`
	}
	const text = `"type":"text","text":{"body":"Hi"}`
	for name, body := range map[string]string{
		"recipient beside to":            `"to":"15550001111","recipient":"US.13491208655302741918",` + text,
		"coupon code of 20 characters":   platformTemplate(`{"type":"button","sub_type":"copy_code","index":0,"parameters":[{"type":"coupon_code","coupon_code":"ABCDEFGHIJ0123456789"}]}`),
		"coupon code of 16 characters":   platformTemplate(`{"type":"button","sub_type":"COPY_CODE","index":0,"parameters":[{"type":"coupon_code","coupon_code":"ABCDEFGHIJ012345"}]}`),
		"quick-reply button with a text": platformTemplate(`{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"text","text":"Yes"}]}`),
		"reply ID of 21 characters":      platformInteractive("carousel", `{"cards":[`+card("0", "learn-purple-echeveria")+`,`+card("1", strings.Repeat("b", 256))+`]}`),
		"equal row IDs in two sections":  platformInteractive("list", `{"button":"b","sections":[{"title":"1","rows":[{"id":"1","title":"a"}]},{"title":"2","rows":[{"id":"1","title":"b"}]}]}`),
	} {
		m := platformMessage(t, body)
		assert.Empty(t, problemsOf(m), name)
		assert.Empty(t, jsonRaws(m), name)
		assert.Empty(t, jsonDiff("", jsonTree(t, []byte(`{`+body+`}`)), jsonTree(t, []byte(bodyOf(m)))), name)
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
	for name, tt := range map[string]struct{ body, field string }{
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
}

// A new word of the platform passes as data: it is a limit, and is sent as it is.
func TestWordsThatAreNewAreLimits(t *testing.T) {
	t.Parallel()
	for _, m := range []Message{
		{To: "15550001111", Content: Template{Name: "a", Language: "en", Policy: "fallback"}, MarketingOptions: MarketingOptions{ProductPolicy: "LAX"}},
		goldenTo(validInteractive(Flow{ID: "1", CTA: "Open", Mode: "preview", Action: "jump"})),
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
