package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Contract holds every wire name that the client and the webhooks use, and the rules for the names. Get one
// from [Default] or [Parse]; the zero Contract is the default.
//
// A Contract never changes. Copies are cheap, and it may be used from many goroutines at once. It is configuration and
// may be printed or logged, so keep credentials out of it.
type Contract struct {
	reference
}

// reference is embedded under an unexported name: users of this package do not see the table.
type reference = table.Reference

// Default returns the default contract.
func Default() Contract { return Contract{} }

// Parse returns the default contract changed by overlay, a JSON object that names only what differs. The smallest overlay is
// {}. The package comment has the grammar. Parse checks each value; messaging.NewClient checks that the names of a request go together.
//
// The error joins an [*Error] for each of the first twenty problems, and one for the number of the rest.
func Parse(overlay []byte) (Contract, error) {
	t, problems := table.Parse(overlay)
	if t == nil {
		return Contract{}, joinProblems(problems)
	}
	return Contract{table.NewReference(t)}, nil
}

// FromEnv returns the contract of the overlay in the file that MESSAGING_CONTRACT names, or the default contract if the variable is
// empty. Errors do not show the path, because the variable may hold a secret by mistake. If the overlay is wrong, the error is that of [Parse],
// which begins with "contract:".
func FromEnv() (Contract, error) {
	file := os.Getenv(table.EnvFile)
	if file == "" {
		return Default(), nil
	}
	overlay, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		return Contract{}, &fileError{err}
	}
	return Parse(overlay)
}

// fileError is an error of reading a file. Its text does not show the path.
type fileError struct{ cause error }

func (e *fileError) Error() string {
	cause := e.cause
	if pathError, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = pathError.Err
	}
	return "the file that it names cannot be read: " + cause.Error()
}

func (e *fileError) Unwrap() error { return e.cause }

// MarshalJSON returns the complete table, which Parse accepts as an overlay.
func (c Contract) MarshalJSON() ([]byte, error) { return json.Marshal(table.Of(c)) }

// Error is one problem of an overlay. [Parse] joins those that it finds: errors.As finds the first, and the joined error's
// Unwrap() []error returns them all. Neither field repeats a value of the overlay, which may be a secret.
type Error struct {
	// Path is the place in the table: sms.send.fields.from, or errors.notProcessed[1] in a list. Empty for the whole overlay.
	Path string
	// Reason says what is wrong there, and what is allowed.
	Reason string
}

// Error returns path and reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return "contract: " + e.Reason
	}
	return "contract: " + e.Path + ": " + e.Reason
}

func joinProblems(problems table.Problems) error {
	var all []error
	for _, p := range problems.List {
		all = append(all, &Error{Path: p.Path, Reason: p.Reason})
	}
	if problems.More > 0 {
		all = append(all, &Error{Reason: fmt.Sprintf("%d more problems", problems.More)})
	}
	return errors.Join(all...)
}
