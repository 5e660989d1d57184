package inbox_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// long is a lease that outlasts every test.
const long = time.Hour

var errHandle = errors.New("not handled")

func newStore(t *testing.T, c *engine.Connection, lease time.Duration) *inbox.Store {
	t.Helper()
	s, err := inbox.NewStore(t.Context(), c, lease)
	require.NoError(t, err)
	return s
}

// claim is a call of Once whose handler is running.
type claim struct {
	outcome chan error // what the handler returns
	result  chan error // what Once returns
}

// tryClaim calls Once. It returns a claim if Once calls the handler, and the error of Once otherwise.
func tryClaim(t *testing.T, s *inbox.Store, key string) (*claim, error) {
	t.Helper()
	c := &claim{outcome: make(chan error, 1), result: make(chan error, 1)}
	called := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		c.result <- s.Once(t.Context(), key, func(context.Context) error {
			close(called)
			return <-c.outcome
		})
	})
	t.Cleanup(func() {
		select {
		case c.outcome <- errHandle:
		default:
		}
		wg.Wait()
	})
	select {
	case <-called:
		return c, nil
	case err := <-c.result:
		c.outcome <- nil
		return nil, err
	}
}

func requireClaim(t *testing.T, s *inbox.Store, key string) *claim {
	t.Helper()
	c, err := tryClaim(t, s, key)
	require.NoError(t, err)
	require.NotNil(t, c, "the key is handled")
	return c
}

// requireClaimAfterLease claims a key as soon as the lease of its claim has ended.
func requireClaimAfterLease(t *testing.T, s *inbox.Store, key string) (c *claim) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		c, err = tryClaim(t, s, key)
		return err == nil && c != nil
	}, time.Minute, 20*time.Millisecond, "the lease does not end")
	return c
}

// complete lets the handler return nil, and release lets it return an error.
func (c *claim) complete(t *testing.T) {
	t.Helper()
	c.outcome <- nil
	require.NoError(t, <-c.result)
}

func (c *claim) release(t *testing.T) {
	t.Helper()
	c.outcome <- errHandle
	require.ErrorIs(t, <-c.result, errHandle)
}

func assertInProgress(t *testing.T, s *inbox.Store, key string) {
	t.Helper()
	_, err := tryClaim(t, s, key)
	require.ErrorIs(t, err, webhook.ErrInProgress)
}

func assertHandled(t *testing.T, s *inbox.Store, key string) {
	t.Helper()
	c, err := tryClaim(t, s, key)
	require.NoError(t, err)
	assert.Nil(t, c, "the event is handled again")
}

// assertOneWins has many goroutines handle each key over several stores at once.
func assertOneWins(t *testing.T, keys int, stores ...*inbox.Store) {
	t.Helper()
	const calls = 64
	var mu sync.Mutex
	var handled, inProgress int
	for key := range keys {
		var wg, others sync.WaitGroup
		others.Add(calls - 1)
		begin := make(chan struct{})
		for i := range calls {
			wg.Go(func() {
				<-begin
				called := false
				err := stores[i%len(stores)].Once(t.Context(), fmt.Sprint("sms.", key), func(context.Context) error {
					called = true
					others.Wait()
					return nil
				})
				mu.Lock()
				defer mu.Unlock()
				if called {
					assert.NoError(t, err)
					handled++
					return
				}
				others.Done()
				if assert.ErrorIs(t, err, webhook.ErrInProgress) {
					inProgress++
				}
			})
		}
		close(begin)
		wg.Wait()
	}
	assert.Equal(t, keys, handled)
	assert.Equal(t, keys*(calls-1), inProgress)
}

func TestStore(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	messagingtest.TestStore(t, func() webhook.Store { return newStore(t, c, 4*time.Second) })
}

func TestStoreOneClaimWins(t *testing.T) {
	t.Parallel()
	s, c := startEngine(t)
	assertOneWins(t, 4, newStore(t, c, long), newStore(t, connect(t, s.URL()), long))
}

func TestStoreKeepsHandled(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	short, other := newStore(t, c, time.Second), newStore(t, c, time.Second)
	requireClaim(t, short, "sms.1").complete(t)
	requireClaim(t, short, "sms.2")
	requireClaimAfterLease(t, other, "sms.2") // by now the lease of the first claim would have ended, too
	for _, s := range []*inbox.Store{short, other} {
		assertHandled(t, s, "sms.1")
	}
}

func TestStoreReleasesAfterFailure(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	one, other := newStore(t, c, long), newStore(t, c, long)
	for range 10 {
		claim := requireClaim(t, one, "sms.1")
		assertInProgress(t, other, "sms.1")
		claim.release(t)
	}
	requireClaim(t, other, "sms.1")
}

func TestStoreReleaseMarkerExpires(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	requireClaim(t, newStore(t, c, long), "sms.1").release(t)
	bucket, err := c.JetStream.Stream(t.Context(), c.BucketStream(engine.Claims))
	require.NoError(t, err)
	marker, err := bucket.GetLastMsgForSubject(t.Context(), c.BucketSubject(engine.Claims, base64.RawURLEncoding.EncodeToString([]byte("sms.1"))))
	require.NoError(t, err)
	assert.Equal(t, "1m0s", marker.Header.Get(jetstream.MsgTTLHeader))
}

func TestStoreReleaseKeepsNewClaim(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	stalled, other := newStore(t, c, time.Second), newStore(t, c, long)
	first := requireClaim(t, stalled, "sms.1")
	second := requireClaimAfterLease(t, other, "sms.1")
	first.release(t)
	assertInProgress(t, stalled, "sms.1")
	second.release(t)
	requireClaim(t, stalled, "sms.1")
}

func TestStoreReleaseKeepsNewClaimOfSameStore(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	s, other := newStore(t, c, 4*time.Second), newStore(t, c, long)
	first := requireClaim(t, s, "sms.1")
	second := requireClaimAfterLease(t, s, "sms.1")
	first.release(t)
	assertInProgress(t, other, "sms.1")
	second.release(t)
	requireClaim(t, other, "sms.1")
}

func TestStoreCompletesAfterLease(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	stalled, other := newStore(t, c, time.Second), newStore(t, c, long)
	first := requireClaim(t, stalled, "sms.1")
	second := requireClaimAfterLease(t, other, "sms.1")
	first.complete(t)
	second.release(t)
	assertHandled(t, other, "sms.1")
}

func TestStoreClaimAfterLostResponse(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	lossy := new(lossyEngine)
	s, other := newStore(t, lossy.over(c), long), newStore(t, c, long)
	lossy.responses.Store(1)
	claim := requireClaim(t, s, "sms.1")
	assertInProgress(t, other, "sms.1")
	lossy.responses.Store(1)
	claim.release(t)
	requireClaim(t, other, "sms.1")
}

func TestStoreFailsIfNotRecorded(t *testing.T) {
	t.Parallel()
	engine, c := startEngine(t)
	s := newStore(t, c, long)
	err := s.Once(t.Context(), "sms.1", func(context.Context) error {
		engine.Close()
		return nil
	})
	assert.ErrorIs(t, err, inbox.ErrUnavailable)
}

func TestNewStoreRejectsShortLease(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewStore(t.Context(), nil, time.Millisecond)
	assert.ErrorContains(t, err, "want at least 1s")
}

func TestStoreRejectsBadKey(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	_, err := tryClaim(t, newStore(t, c, long), "")
	require.Error(t, err)
	assert.NotErrorIs(t, err, inbox.ErrUnavailable)
}
