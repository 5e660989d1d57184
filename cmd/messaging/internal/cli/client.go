package cli

import (
	"cmp"
	"errors"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// NewClient returns the client of messaging.NewClientFromEnv. Its errors name variables and flags instead of options.
func NewClient(timeout time.Duration, plainHTTP bool, options ...messaging.Option) (*messaging.Client, error) {
	options = append(options, messaging.WithTimeout(timeout))
	if plainHTTP {
		options = append(options, messaging.WithPlainHTTP())
	}
	client, err := messaging.NewClientFromEnv(options...)
	if invalid, ok := errors.AsType[*messaging.ValidationError](err); ok {
		return nil, withoutOptions(invalid)
	}
	return client, err
}

// withoutOptions returns an error that names a variable or a flag wherever the library names an option.
func withoutOptions(err *messaging.ValidationError) error {
	fields := map[string]string{ //nolint:gosec // names of variables, not credentials
		"WithTimeout":   "--timeout",
		"WithRateLimit": "--rate",
		"WithToken":     "MESSAGING_TOKEN",
		"WithAPIKey":    "MESSAGING_API_KEY and MESSAGING_API_SECRET",
	}
	reasons := strings.NewReplacer(
		", or use an option such as WithAuth", "",
		"use WithBasicAuth", "set MESSAGING_API_KEY and MESSAGING_API_SECRET",
		"WithPlainHTTP", "--plain-http",
		"perSecond must", "must",
	)
	var problems []string
	for _, problem := range err.Problems {
		field := cmp.Or(fields[problem.Field], problem.Field)
		problems = append(problems, field+": "+reasons.Replace(problem.Reason))
	}
	return errors.New(strings.Join(problems, "; "))
}
