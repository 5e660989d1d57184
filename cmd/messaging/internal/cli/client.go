package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
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
		err = withoutOptions(invalid)
	}
	if err != nil && os.Getenv("MESSAGING_BASE_URL") == "" {
		err = fmt.Errorf(`%w; "messaging sandbox" runs a service on this machine and prints both`, err)
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

// advice returns what to do about an error of the service, or "" if the error says it all.
func advice(err error) string {
	failed, isOfService := errors.AsType[*messaging.Error](err)
	switch {
	case !isOfService:
		return ""
	case errors.Is(err, messaging.ErrUnauthorized):
		return "check MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET"
	case failed.StatusCode == http.StatusNotFound:
		return "check MESSAGING_BASE_URL, and the paths of MESSAGING_CONTRACT"
	default:
		return ""
	}
}
