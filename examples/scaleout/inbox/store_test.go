package inbox_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/webhook"
)

// long is a lease that outlasts every test.
const long = time.Hour

func newStore(t *testing.T, c *engine.Connection, lease time.Duration) *inbox.Store {
	t.Helper()
	s, err := inbox.NewStore(t.Context(), c, lease, quiet())
	require.NoError(t, err)
	return s
}

func assertClaim(t *testing.T, s webhook.Store, key string, want webhook.ClaimState) {
	t.Helper()
	got, err := s.Claim(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// requireFree claims a key as soon as it can be claimed.
func requireFree(t *testing.T, s webhook.Store, key string) {
	t.Helper()
	require.Eventually(t, func() bool {
		state, err := s.Claim(t.Context(), key)
		return err == nil && state == webhook.Claimed
	}, time.Minute, 20*time.Millisecond, "the lease has no end")
}

// assertOneWins has many goroutines claim each key over two stores at once.
func assertOneWins(t *testing.T, keys int, stores ...*inbox.Store) {
	t.Helper()
	const claims = 64
	var mu sync.Mutex
	states := make(map[webhook.ClaimState]int)
	for key := range keys {
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range claims {
			wg.Go(func() {
				<-begin
				state, err := stores[i%len(stores)].Claim(t.Context(), fmt.Sprint("sms.id.", key))
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				states[state]++
			})
		}
		close(begin)
		wg.Wait()
	}
	assert.Equal(t, map[webhook.ClaimState]int{webhook.Claimed: keys, webhook.InProgress: keys * (claims - 1)}, states)
}

func TestStoreOneClaimWins(t *testing.T) {
	t.Parallel()
	s, c := startEngine(t)
	assertOneWins(t, 4, newStore(t, c, long), newStore(t, connect(t, s.URL()), long))
}

func TestStoreKeepsDone(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	short, other := newStore(t, c, time.Second), newStore(t, c, time.Second)
	assertClaim(t, short, "sms.id.done", webhook.Claimed)
	require.NoError(t, short.Complete(t.Context(), "sms.id.done"))
	assertClaim(t, short, "sms.id.later", webhook.Claimed)
	requireFree(t, other, "sms.id.later") // so the lease of the other would be over, too
	require.NoError(t, short.Release(t.Context(), "sms.id.done"))
	for _, s := range []*inbox.Store{short, other} {
		assertClaim(t, s, "sms.id.done", webhook.Done)
	}
}

func TestStoreReleaseFreesKey(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	one, other := newStore(t, c, long), newStore(t, c, long)
	for range 10 {
		assertClaim(t, one, "sms.id.1", webhook.Claimed)
		assertClaim(t, other, "sms.id.1", webhook.InProgress)
		require.NoError(t, other.Release(t.Context(), "sms.id.1"), "it has none")
		assertClaim(t, other, "sms.id.1", webhook.InProgress)
		require.NoError(t, one.Release(t.Context(), "sms.id.1"))
	}
}

func TestStoreReleaseMarkerExpires(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	s := newStore(t, c, long)
	assertClaim(t, s, "sms.id.1", webhook.Claimed)
	require.NoError(t, s.Release(t.Context(), "sms.id.1"))
	bucket, err := c.JetStream.Stream(t.Context(), "KV_"+engine.Claims)
	require.NoError(t, err)
	marker, err := bucket.GetLastMsgForSubject(t.Context(), "$KV."+engine.Claims+".sms.id.1")
	require.NoError(t, err)
	assert.Equal(t, "1m0s", marker.Header.Get(jetstream.MsgTTLHeader))
}

func TestStoreReleaseKeepsNewClaim(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	stopped, other := newStore(t, c, time.Second), newStore(t, c, long)
	assertClaim(t, stopped, "sms.id.1", webhook.Claimed)
	requireFree(t, other, "sms.id.1")
	require.NoError(t, stopped.Release(t.Context(), "sms.id.1"))
	assertClaim(t, stopped, "sms.id.1", webhook.InProgress)
	require.NoError(t, other.Release(t.Context(), "sms.id.1"))
	assertClaim(t, stopped, "sms.id.1", webhook.Claimed)
}

func TestStoreReleaseKeepsNewClaimOfSameProcess(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	s, other := newStore(t, c, 4*time.Second), newStore(t, c, long)
	assertClaim(t, s, "sms.id.1", webhook.Claimed)
	requireFree(t, s, "sms.id.1")
	require.NoError(t, s.Release(t.Context(), "sms.id.1"))
	assertClaim(t, other, "sms.id.1", webhook.InProgress)
	require.NoError(t, s.Release(t.Context(), "sms.id.1"))
	assertClaim(t, other, "sms.id.1", webhook.Claimed)
}

func TestStoreCompletesAfterTakeover(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	stopped, other := newStore(t, c, time.Second), newStore(t, c, long)
	assertClaim(t, stopped, "sms.id.1", webhook.Claimed)
	requireFree(t, other, "sms.id.1")
	require.NoError(t, stopped.Complete(t.Context(), "sms.id.1"))
	require.NoError(t, other.Release(t.Context(), "sms.id.1"))
	assertClaim(t, other, "sms.id.1", webhook.Done)
}

func TestStoreClaimAfterLostResponse(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	lossy := new(lossyEngine)
	s, other := newStore(t, lossy.over(c), long), newStore(t, c, long)
	lossy.responses.Store(1)
	assertClaim(t, s, "sms.id.1", webhook.Claimed)
	assertClaim(t, other, "sms.id.1", webhook.InProgress)
	lossy.responses.Store(1)
	require.NoError(t, s.Release(t.Context(), "sms.id.1"))
	assertClaim(t, other, "sms.id.1", webhook.Claimed)
}

func TestNewStoreRejectsShortLease(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewStore(t.Context(), nil, time.Millisecond, quiet())
	assert.ErrorContains(t, err, "shorter than 1s")
}

func TestStoreRejectsBadKey(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	_, err := newStore(t, c, long).Claim(t.Context(), "a b")
	require.Error(t, err)
	assert.NotErrorIs(t, err, inbox.ErrUnavailable)
}
