package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

func TestStatusText(t *testing.T) {
	t.Parallel()
	for status, word := range map[contract.Status]string{
		contract.StatusUnknown: "unknown", contract.StatusDelivered: "delivered", "held": "held",
	} {
		text, err := json.Marshal(status)
		require.NoError(t, err)
		assert.Equal(t, `"`+word+`"`, string(text))
		var again contract.Status
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, status, again)
	}
}

func TestStatusFinal(t *testing.T) {
	t.Parallel()
	for _, status := range []contract.Status{contract.StatusUnknown, contract.StatusQueued, contract.StatusSent, "held"} {
		assert.False(t, status.Final(), status)
	}
	for _, status := range []contract.Status{
		contract.StatusDelivered, contract.StatusRead, contract.StatusPlayed, contract.StatusFailed, contract.StatusExpired,
		contract.StatusRejected, contract.StatusDeleted,
	} {
		assert.True(t, status.Final(), status)
	}
}

func TestStatusFailed(t *testing.T) {
	t.Parallel()
	for _, status := range []contract.Status{contract.StatusFailed, contract.StatusExpired, contract.StatusRejected} {
		assert.True(t, status.Failed(), status)
	}
	for _, status := range []contract.Status{
		contract.StatusUnknown, contract.StatusQueued, contract.StatusSent, contract.StatusDelivered, contract.StatusRead,
		contract.StatusPlayed, contract.StatusDeleted, "held",
	} {
		assert.False(t, status.Failed(), status)
	}
}

func TestStatusesOfTheContractHaveConstants(t *testing.T) {
	t.Parallel()
	for status := range table.Of(contract.Default()).WebhookDelivery.Statuses {
		assert.Contains(t, []contract.Status{
			contract.StatusQueued, contract.StatusSent, contract.StatusDelivered, contract.StatusRead, contract.StatusFailed,
			contract.StatusExpired, contract.StatusRejected,
		}, contract.Status(status))
	}
}

func TestStatusSupersedes(t *testing.T) {
	t.Parallel()
	order := [][]contract.Status{
		{contract.StatusUnknown, "a new word"},
		{contract.StatusQueued},
		{contract.StatusSent},
		{contract.StatusFailed, contract.StatusExpired, contract.StatusRejected},
		{contract.StatusDelivered},
		{contract.StatusRead},
		{contract.StatusPlayed},
		{contract.StatusDeleted},
	}
	for i, statuses := range order {
		for j, others := range order {
			for _, status := range statuses {
				for _, old := range others {
					assert.Equal(t, i > j, status.Supersedes(old), "%q after %q", status, old)
				}
			}
		}
	}
}
