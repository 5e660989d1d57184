package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

type stored struct {
	At       time.Time     `json:"at"`
	TTL      time.Duration `json:"ttl"`
	Untagged string
}

func TestStoreRoundTrip(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]stored{
		`{}`: {At: time.Time{}.In(time.FixedZone("", 8*60*60))},
		`{"Untagged":"x","at":"2026-10-03T14:44:23Z","ttl":"1m30s"}`: {
			At: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC), TTL: 90 * time.Second, Untagged: "x",
		},
	} {
		data, err := wire.Store(&message, nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var again stored
		require.NoError(t, wire.Restore(data, &again, nil))
		assert.True(t, message.At.Equal(again.At))
		assert.Equal(t, message.Untagged, again.Untagged)
	}
}

func TestDecodeStoredSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	var message stored
	err := wire.Restore([]byte(`{"at":"s3cret"}`), &message, nil)
	assert.EqualError(t, err, `"at" must be a time such as "2026-10-03T14:44:23Z"`)
	err = wire.Restore([]byte(`{"ttl":"s3cret"}`), &message, nil)
	assert.EqualError(t, err, `"ttl" must be a duration such as "1m30s"`)
}
