package stored_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/stored"
)

type message struct {
	At       time.Time     `json:"at"`
	TTL      time.Duration `json:"ttl"`
	Untagged string
}

func TestStoreRoundTrip(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]message{
		`{}`: {At: time.Time{}.In(time.FixedZone("", 8*60*60))},
		`{"Untagged":"x","at":"2026-10-03T14:44:23Z","ttl":"1m30s"}`: {
			At: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC), TTL: 90 * time.Second, Untagged: "x",
		},
	} {
		data, err := stored.Encode("sms", &m, nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var again message
		require.NoError(t, stored.Decode("sms", data, &again, nil))
		assert.True(t, m.At.Equal(again.At))
		assert.Equal(t, m.Untagged, again.Untagged)
	}
}

func TestDecodeSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	var m message
	err := stored.Decode("sms", []byte(`{"at":"s3cret"}`), &m, nil)
	assert.EqualError(t, err, `sms: the message cannot be decoded: "at" must be a time such as "2026-10-03T14:44:23Z"`)
	err = stored.Decode("sms", []byte(`{"ttl":"s3cret"}`), &m, nil)
	assert.EqualError(t, err, `sms: the message cannot be decoded: "ttl" must be a duration such as "1m30s"`)
}
