package chatapp2

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATextThatIsNoUTF8IsNotQueuedAsAnother(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]Message{
		"a text":          {To: "15550001111", Content: Text{Body: "a\xff"}},
		"a row":           {To: "15550001111", Content: Interactive{Body: "B", Action: List{Button: "b", Sections: []Section{{Rows: []Row{{ID: "1", Title: "\xff"}}}}}}},
		"a parameter":     {To: "15550001111", Content: Template{Name: "a", Language: "en", Components: []Component{Body("\xff")}}},
		"a flow's data":   {To: "15550001111", Content: Interactive{Body: "B", Action: Flow{ID: "1", CTA: "c", Screen: "S", Data: map[string]any{"a": "\xff"}}}},
		"an extra member": {To: "15550001111", Content: Text{Body: "a"}, Extra: map[string]any{"a": []string{"\xff"}}},
		"a reference":     {To: "15550001111", Content: Text{Body: "a"}, ReferenceID: "\xff"},
	} {
		_, err := json.Marshal(m)
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), "UTF-8", name)
	}
}

func TestWhatIsRawIsCheckedAsFarAsItIsKnownAndPassesWithLenientLimits(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]Content{
		"content":     Raw{Type: "text", JSON: json.RawMessage(`{"body":"","future":1}`)},
		"odd content": Raw{Type: "text", JSON: json.RawMessage(`{"body":["a"]}`)},
		"action":      Interactive{Body: "B", Action: RawAction{Type: "list", JSON: json.RawMessage(`{"button":"b","tabs":[]}`)}},
		"name":        Interactive{Body: "B", Action: RawAction{Type: "location_request_message", JSON: json.RawMessage(`{"name":"send_place"}`)}},
		"component":   Template{Name: "a", Language: "en", Components: []Component{RawComponent{json.RawMessage(`{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"from":1}}]}`)}}},
		"parameter":   Template{Name: "a", Language: "en", Components: []Component{TemplateBody{RawParameter{json.RawMessage(`{"type":"text","text":["a"]}`)}}}},
	} {
		problems := Message{To: "15550001111", Content: content}.validate()
		require.NotEmpty(t, problems, name)
		for _, problem := range problems {
			assert.True(t, problem.Limit, "%s: %v", name, problem)
		}
	}
	for name, content := range map[string]Content{
		"content":   Raw{Type: "text", JSON: json.RawMessage(`{"body":"B","future":1}`)},
		"action":    Interactive{Body: "B", Action: RawAction{Type: "cta_url", JSON: json.RawMessage(`{"name":"cta_url","parameters":{"display_text":"a","url":"https://a.example","future":1}}`)}},
		"a header":  Template{Name: "a", Language: "en", Components: []Component{TemplateCards{{TemplateHeader{RawParameter{json.RawMessage(`{"type":"image","image":{"id":"1","future":1}}`)}}}, {TemplateHeader{Image{Media: MediaID("1")}}}}}},
		"one card":  Template{Name: "a", Language: "en", Components: []Component{TemplateCards{{TemplateHeader{RawParameter{json.RawMessage(`{"type":"product","product":{"catalog_id":"1","product_retailer_id":"2","future":1}}`)}}}}}},
		"a new one": Raw{Type: "hologram", JSON: json.RawMessage(`{"beam":7}`)},
	} {
		assert.Empty(t, Message{To: "15550001111", Content: content}.validate(), name)
	}
}
