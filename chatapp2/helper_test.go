package chatapp2

import (
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// callOf returns what package describe makes of a message.
func callOf(m Message) wire.Call {
	options := wire.DeliveryOptions{TTL: m.TTL, Fallback: (*wire.Fallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	members, err := m.Members()
	problems, _ := errors.AsType[wire.ProblemsError](err)
	call := wire.Call{Fields: options.Fields(), Extra: m.Extra, Problems: problems}
	for _, member := range members {
		call.Members = append(call.Members, wire.Member(member))
	}
	return call
}

// problemsOf returns what is wrong with a message, also by its fields that the contract names.
func problemsOf(m Message) []wire.Problem {
	call := callOf(m)
	problems := call.Problems
	for _, field := range call.Fields {
		ttl, _ := field.Value.(time.Duration)
		switch {
		case field.Required && field.Text == "":
			problems = append(problems, wire.Problem{Field: field.Name, Reason: "required, but absent"})
		case field.Text != "" && field.Reason != "":
			problems = append(problems, wire.Problem{Field: field.Name, Reason: field.Reason})
		case wire.CheckText(field.Text) != "":
			problems = append(problems, wire.Problem{Field: field.Name, Reason: wire.CheckText(field.Text)})
		case ttl < 0:
			problems = append(problems, wire.Problem{Field: field.Name, Reason: "must not be negative"})
		}
	}
	return problems
}

// bodyOf returns the members of a message as an object.
func bodyOf(m Message) string {
	object := []byte{'{'}
	for i, member := range callOf(m).Members {
		if i > 0 {
			object = append(object, ',')
		}
		name, _ := wire.Encode(member.Name)
		object = append(append(append(object, name...), ':'), member.Value...)
	}
	return string(append(object, '}'))
}
