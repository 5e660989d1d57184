package randomcontract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/randomcontract"
)

func TestOverlayIsValid(t *testing.T) {
	t.Parallel()
	for seed := uint64(1001); seed <= 1100; seed++ { // messagingtest tries those before
		overlay := randomcontract.Overlay(seed)
		_, err := contract.Parse(overlay)
		require.NoError(t, err, "seed %d: %s", seed, overlay)
		require.Equal(t, string(overlay), string(randomcontract.Overlay(seed)))
	}
}
