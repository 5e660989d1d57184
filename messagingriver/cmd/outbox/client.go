package main

import (
	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/setting"
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
	return client, setting.Rename(err, map[string]string{
		"WithPlainHTTP": "--plain-http",
		"WithBasicAuth": "MESSAGING_API_KEY and MESSAGING_API_SECRET",
	})
}
