package cli

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/setting"
)

// NewClient returns the client of messaging.NewClientFromEnv. Its errors name variables and flags instead of options.
func NewClient(timeout time.Duration, plainHTTP bool, options ...messaging.Option) (*messaging.Client, error) {
	options = append(options, messaging.WithTimeout(timeout))
	if plainHTTP {
		options = append(options, messaging.WithPlainHTTP())
	}
	client, err := messaging.NewClientFromEnv(options...)
	err = setting.Rename(err, map[string]string{
		"WithTimeout":   "--timeout",
		"WithRateLimit": "--rate",
		"WithPlainHTTP": "--plain-http",
		"WithBasicAuth": "MESSAGING_API_KEY and MESSAGING_API_SECRET",
	})
	if err != nil && os.Getenv("MESSAGING_BASE_URL") == "" {
		err = fmt.Errorf(`%w; "messaging sandbox" runs a service on this machine and prints both`, err)
	}
	return client, err
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
