package messagingriver_test

import (
	"context"
	"database/sql"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
)

// A delivery report proves that the service took the message.
func ExampleOutbox_Resolve_deliveryReport() { //nolint:testableexamples // prints nothing
	var outbox *messagingriver.Outbox[*sql.Tx] // of messagingriver.New
	hooks, err := webhook.NewReceiver(webhook.WithoutProof())
	if err != nil {
		return
	}
	handler := hooks.Delivery(func(ctx context.Context, report webhook.DeliveryReport) error {
		_, err := outbox.Resolve(ctx, messagingriver.Sent, messagingriver.Key{Channel: "chatapp1", Reference: report.ReferenceID})
		return err
	})
	_ = handler // mount it, as at /hooks/delivery
}
