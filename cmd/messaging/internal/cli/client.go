package cli

import (
	"cmp"
	"errors"
	"regexp"
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

// equivalents are what a user of the command sets instead of an option of the library.
var equivalents = map[string]string{ //nolint:gochecknoglobals,gosec // never written; names of variables, not credentials
	"WithTimeout":   "--timeout",
	"WithRateLimit": "--rate",
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
		reason, _, _ := strings.Cut(problem.Reason, ", or use an option") // without an equivalent
		reason = strings.TrimPrefix(reason, "perSecond ")                 // the parameter of WithRateLimit
		reason = optionName.ReplaceAllStringFunc(reason, equivalent)
		problems = append(problems, equivalent(problem.Field)+": "+reason)
	}
	return errors.New(strings.Join(problems, "; "))
}
