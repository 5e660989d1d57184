package describe

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestChatApp2HasMembersAndProblems(t *testing.T) {
	t.Parallel()
	call := ChatApp2(chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{}})
	var names []string
	for _, m := range call.Members {
		names = append(names, m.Name)
	}
	assert.Equal(t, []string{"messaging_product", "recipient_type", "to", "type", "text"}, names)
	assert.Equal(t, []wire.Problem{{Field: "Content.Body", Reason: "required, but absent"}}, call.Problems)
}

func TestErrorThatListsNoProblemsIsAProblem(t *testing.T) {
	t.Parallel()
	assert.Empty(t, problemsOf(nil))
	assert.Equal(t, []wire.Problem{{Field: "Message", Reason: "broken"}}, problemsOf(errors.New("broken")))
}

// A send of a template has a budget for allocations, and this is the part of it before the contract.
func TestChatApp2Allocations(t *testing.T) {
	// Not parallel: AllocsPerRun counts the allocations of all goroutines.
	m := chatapp2.Message{To: "+639171234567", Content: chatapp2.Template{
		Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")},
	}}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { ChatApp2(m) }), 6.0)
}
