package sandbox

import (
	"crypto/rand"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// startService starts the service that the sandbox shows.
func startService(config Config) *messagingtest.Server {
	opts := []messagingtest.Option{messagingtest.WithContract(config.Contract)}
	if config.Token != "" {
		opts = append(opts, messagingtest.WithToken(config.Token))
	}
	return messagingtest.Start(opts...)
}

func newSecret() string { return rand.Text() }
