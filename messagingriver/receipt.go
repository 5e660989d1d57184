package messagingriver

import (
	"context"
	"encoding/json"

	"github.com/riverqueue/river"

	messaging "github.com/messaging-service/messaging-go"
)

// setReceipt makes a receipt the output of the job.
func (o *Outbox[TTx]) setReceipt(ctx context.Context, job *river.Job[messageArgs], receipt messaging.Receipt) {
	output, err := outputOf(receipt)
	if err == nil {
		err = river.RecordOutput(ctx, output)
	}
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: the receipt of an accepted message cannot be kept", "job", job.ID, "error", err)
	}
}

// outputOf returns a receipt as a JSON value that PostgreSQL can store.
func outputOf(receipt messaging.Receipt) (any, error) {
	receipt.Raw = nil // it may repeat the number or the text
	encoded, err := json.Marshal(receipt)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(encoded, &value); err != nil {
		return nil, err
	}
	return valueWithoutZeroBytes(value), nil
}

// valueWithoutZeroBytes returns a JSON value whose texts PostgreSQL can store.
func valueWithoutZeroBytes(value any) any {
	switch value := value.(type) {
	case string:
		return withoutZeroBytes(value)
	case []any:
		for i := range value {
			value[i] = valueWithoutZeroBytes(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = valueWithoutZeroBytes(value[name])
		}
	}
	return value
}
