package chatapp2

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A struct that embeds a type of a sealed interface has its methods and compiles in its place. It must be reported.
type (
	embeddedContent   struct{ Content }
	embeddedAction    struct{ Action }
	embeddedHeader    struct{ Header }
	embeddedComponent struct{ Component }
	embeddedParameter struct{ Parameter }
)

func TestStructThatEmbedsATypeIsRejected(t *testing.T) {
	t.Parallel()
	template := func(component Component) Content {
		return Template{Name: "n", Language: "en", Components: []Component{component}}
	}
	for field, content := range map[string]Content{
		"Content":                  embeddedContent{Text{Body: "Hi"}},
		"Content.Action":           Interactive{Body: "b", Action: embeddedAction{ReplyButtons{{"1", "A"}}}},
		"Content.Header":           Interactive{Body: "b", Header: embeddedHeader{HeaderText{Text: "h"}}, Action: ReplyButtons{{"1", "A"}}},
		"Content.Components[0]":    template(embeddedComponent{TemplateBody{}}),
		"Content.Components[0][0]": template(TemplateBody{embeddedParameter{TextParam{Text: "x"}}}),
	} {
		m := Message{To: "639171234567", Content: content}
		problems := problemsOf(m)
		require.Len(t, problems, 1, field)
		assert.Equal(t, field, problems[0].Field)
		assert.Regexp(t, "^must be a type of this library, not chatapp2.embedded", problems[0].Reason)
		_, err := json.Marshal(m)
		assert.ErrorContains(t, err, "must be a type of this library", field)
	}
	nothing := Message{To: "639171234567", Content: embeddedContent{}}
	assert.Len(t, problemsOf(nothing), 1, "a nil interface within the struct")
}
