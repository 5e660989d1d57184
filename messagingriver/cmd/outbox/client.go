package main

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
)

// newClient returns the client for a command. An outbox needs a client even if the command does not call the service. The client of such
// a command needs no variables.
func (op *operator) newClient(required requirement) (*messaging.Client, error) {
	hasVariables := op.getenv("MESSAGING_BASE_URL") != "" || op.getenv("MESSAGING_CONTRACT") != ""
	withoutCredentials := messaging.WithToken("none")
	switch {
	case required == requiresService && op.plainHTTP:
		return clientFromEnv(messaging.WithPlainHTTP())
	case required == requiresService:
		return clientFromEnv()
	case required == requiresContract && hasVariables:
		return clientFromEnv(messaging.WithPlainHTTP(), withoutCredentials)
	default:
		return messaging.NewClient("https://service.example", withoutCredentials)
	}
}

// clientFromEnv returns the client of messaging.NewClientFromEnv. Its errors name variables and flags instead of options.
func clientFromEnv(options ...messaging.Option) (*messaging.Client, error) {
	client, err := messaging.NewClientFromEnv(options...)
	if invalid, ok := errors.AsType[*messaging.ValidationError](err); ok {
		return nil, withoutOptions(invalid)
	}
	return client, err
}

// equivalents are what a user of the command sets instead of an option of the library.
var equivalents = map[string]string{ //nolint:gochecknoglobals,gosec // never written; names of variables, not credentials
	"WithPlainHTTP": "--plain-http",
	"WithToken":     "MESSAGING_TOKEN",
	"WithAPIKey":    "MESSAGING_API_KEY and MESSAGING_API_SECRET",
	"WithBasicAuth": "MESSAGING_API_KEY and MESSAGING_API_SECRET",
}

var optionName = regexp.MustCompile(`\bWith[A-Z]\w*`)

// withoutOptions returns an error that names a variable or a flag wherever the library names an option.
func withoutOptions(err *messaging.ValidationError) error {
	equivalent := func(option string) string { return cmp.Or(equivalents[option], option) }
	var problems []string
	for _, problem := range err.Problems {
		reason, _, _ := strings.Cut(problem.Reason, ", or use an option") // has no equivalent
		reason = optionName.ReplaceAllStringFunc(reason, equivalent)
		problems = append(problems, equivalent(problem.Field)+": "+reason)
	}
	return errors.New(strings.Join(problems, "; "))
}
