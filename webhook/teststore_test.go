package webhook_test

import (
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestMemoryStoreIsStore(t *testing.T) {
	t.Parallel()
	messagingtest.TestStore(t, func() webhook.Store {
		store := webhook.NewMemoryStore(20_000, time.Hour)
		store.Lease = 3 * time.Second
		return store
	})
}
