package describe

import (
	"errors"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// ChatApp2 describes a message of chat app 2.
func ChatApp2(m chatapp2.Message) wire.Call {
	options := wire.DeliveryOptions{TTL: m.TTL, Fallback: (*wire.Fallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	members, err := m.Members()
	call := wire.Call{
		Fields:      options.Fields(),
		Members:     make([]wire.Member, len(members)),
		Extra:       m.Extra,
		ExtraField:  "Extra",
		ReferenceID: m.ReferenceID,
		Marketing:   m.Marketing || m.MarketingOptions != chatapp2.MarketingOptions{},
		Problems:    problemsOf(err),
	}
	for i, member := range members {
		call.Members[i] = wire.Member(member)
	}
	return call
}

// problemsOf returns the problems that an error lists. An error that lists none is a problem itself, so that the message is not sent.
func problemsOf(err error) []wire.Problem {
	if err == nil {
		return nil
	}
	if problems, isList := errors.AsType[wire.ProblemsError](err); isList {
		return problems
	}
	return []wire.Problem{{Field: "Message", Reason: err.Error()}}
}
