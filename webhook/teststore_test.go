package webhook_test

import (
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestMemoryStoreIsStore(t *testing.T) {
	messagingtest.TestStore(t, webhook.NewMemoryStore(100, time.Hour))
}
