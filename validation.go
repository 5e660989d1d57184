package messaging

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Problem is one thing wrong with an argument.
type Problem struct {
	// Field names the argument as in Go: "To", "Extra[\"to\"]", "Content.Action.Sections[1].Rows[3].Title", "WithTimeout".
	Field string
	// Reason says what is wrong and what is allowed. It may repeat a number or a duration, but never a text.
	Reason string
	// Limit reports whether the value exceeds a limit that the platform behind a channel documents, such as the length of a
	// title. The platform changes these limits: WithLenientLimits skips their checks.
	Limit bool
}

// ValidationError is the error of a message or an option that this library rejected. Nothing was sent. It lists every problem, repeats
// no text of a value, and matches ErrInvalid and ErrNotSent.
type ValidationError struct {
	// Operation is the contract's name of the operation, such as "sms.send", or "FirstAccepted". It is "" if a client could not be made.
	Operation string
	// Field and Reason are those of the first problem.
	Field  string
	Reason string
	// Problems lists all problems, at least one, in the order of the fields.
	Problems []Problem

	causes []error
}

func invalid(operation string, problems []wire.Problem, causes ...error) *ValidationError {
	e := &ValidationError{Operation: operation, Field: problems[0].Field, Reason: problems[0].Reason, causes: causes}
	for _, p := range problems {
		e.Problems = append(e.Problems, Problem{Field: p.Field, Reason: p.Reason, Limit: p.Limit})
	}
	return e
}

// Error returns each field with what is wrong and what is allowed. For a send it says that nothing was sent.
func (e *ValidationError) Error() string {
	switch {
	case e.Operation == "":
		return "messaging: " + e.problems()
	case strings.HasSuffix(e.Operation, ".send"):
		return "messaging: " + e.Operation + " not sent: " + e.problems()
	default:
		return "messaging: " + e.Operation + ": " + e.problems()
	}
}

func (e *ValidationError) problems() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.Field + ": " + p.Reason
	}
	return strings.Join(parts, "; ")
}

// Is reports whether target is ErrInvalid or ErrNotSent.
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid || target == ErrNotSent }

// Unwrap returns the causes, such as the error of reading a file that an environment variable names.
func (e *ValidationError) Unwrap() []error { return e.causes }
