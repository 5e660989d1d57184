package randomcontract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/randomcontract"
)

func TestOverlayIsValid(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		overlay := randomcontract.Overlay(seed)
		_, err := contract.Parse(overlay)
		require.NoError(t, err, "seed %d: %s", seed, overlay)
		require.Equal(t, string(overlay), string(randomcontract.Overlay(seed)))
	}
}
