package cli

import (
	"errors"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// NewClient returns the client of messaging.NewClientFromEnv. Its errors name variables and flags instead of options.
func NewClient(timeout time.Duration, plainHTTP bool, options ...messaging.Option) (*messaging.Client, error) {
	const token, pair = "MESSAGING_TOKEN", "MESSAGING_API_KEY and MESSAGING_API_SECRET"
	options = append(options, messaging.WithTimeout(timeout))
	if plainHTTP {
		options = append(options, messaging.WithPlainHTTP())
	}
	client, err := messaging.NewClientFromEnv(options...)
	if err != nil {
		err = errors.New(strings.NewReplacer(
			", or use an option such as WithAuth", "",
			"use WithBasicAuth", "set "+pair,
			"baseURL", "MESSAGING_BASE_URL", "WithPlainHTTP", "--plain-http", "WithTimeout", "--timeout",
			"WithRateLimit: perSecond", "--rate:", "WithToken", token, "WithAPIKey", pair,
		).Replace(err.Error()))
	}
	return client, err
}
