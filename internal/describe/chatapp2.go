package describe

import (
	"errors"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// ChatApp2 describes a message of chat app 2.
func ChatApp2(m chatapp2.Message) wire.Call {
	tail := wire.Tail{TTL: m.TTL, Fallback: (*wire.Fallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	members, err := m.Members()
	sent := make([]wire.Member, 0, 6)
	for name, value := range members {
		sent = append(sent, wire.Member{Name: name, Value: value})
	}
	problems, _ := errors.AsType[wire.ProblemsError](err) // Members returns no other error
	return wire.Call{
		Fields:      tail.AppendTo(make([]wire.Field, 0, 5)),
		Members:     sent,
		Extra:       m.Extra,
		ExtraField:  "Extra",
		ReferenceID: m.ReferenceID,
		Marketing:   m.Marketing || m.MarketingOptions != chatapp2.MarketingOptions{},
		Problems:    problems,
	}
}
