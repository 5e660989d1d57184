package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// fakeStore is a store as a user would write one, that does what a test tells it.
type fakeStore struct {
	mu    sync.Mutex
	keys  map[string]webhook.ClaimState
	calls []string

	state                             webhook.ClaimState // 0: what the keys say
	claimErr, completeErr, releaseErr error
	contexts                          []context.Context
}

func (s *fakeStore) Claim(ctx context.Context, key string) (webhook.ClaimState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.contexts = append(s.calls, "claim "+key), append(s.contexts, ctx)
	if s.claimErr != nil || s.state != 0 {
		return s.state, s.claimErr
	}
	if s.keys[key] != 0 {
		return s.keys[key], nil
	}
	if s.keys == nil {
		s.keys = map[string]webhook.ClaimState{}
	}
	s.keys[key] = webhook.InProgress
	return webhook.Claimed, nil
}

func (s *fakeStore) Complete(ctx context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.contexts = append(s.calls, "complete "+key), append(s.contexts, ctx)
	if s.completeErr == nil {
		s.keys[key] = webhook.Done
	}
	return s.completeErr
}

func (s *fakeStore) Release(ctx context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.contexts = append(s.calls, "release "+key), append(s.contexts, ctx)
	if s.releaseErr == nil && s.keys[key] != webhook.Done {
		delete(s.keys, key)
	}
	return s.releaseErr
}

// stores are the kinds of stores, which a handler treats differently and which have to behave the same.
func stores() map[string]func() webhook.Store {
	return map[string]func() webhook.Store{
		"memory": func() webhook.Store { return webhook.NewMemoryStore(1000, time.Hour) },
		"user's": func() webhook.Store { return &fakeStore{} },
		"memory behind another type": func() webhook.Store {
			return struct{ webhook.Store }{webhook.NewMemoryStore(1000, time.Hour)}
		},
	}
}

func TestWhatWasHandledIsNotHandledAgain(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.SMSMessage]
			h := webhook.SMS(in.handle, webhook.WithStore(store()))
			in.err = errors.New("not yet")
			assert.Equal(t, 500, call(t, h, get("id=1&from=1111")).Code)
			assert.Equal(t, 500, call(t, h, get("id=1&from=1111")).Code, "a failure gives the claim back")
			in.err = nil
			assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
			assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
			assert.Equal(t, 200, call(t, h, get("id=1&from=1111&attempt=2")).Code, "the ID is the key")
			assert.Len(t, in.got, 3)
			assert.Equal(t, 200, call(t, h, get("id=2&from=1111")).Code)
			assert.Len(t, in.got, 4)
		})
	}
}

func TestAPanicGivesTheClaimBack(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		runs := 0
		h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
			if runs++; runs == 1 {
				panic("no")
			}
			return nil
		}, webhook.WithStore(store()))
		assert.Equal(t, 500, call(t, h, get(honest)).Code, name)
		assert.Equal(t, 200, call(t, h, get(honest)).Code, name)
		assert.Equal(t, 2, runs, name)
	}
}

func TestOfManyAtOnceOneIsHandled(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		for _, query := range []string{"id=1&from=1111", "from=1111&message=no+id", "from=1111&message=no+id&timestamp=1791038663"} {
			t.Run(name+" "+query, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var runs atomic.Int32
					h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
						runs.Add(1)
						time.Sleep(time.Second)
						return nil
					}, webhook.WithStore(store()))
					var wg sync.WaitGroup
					var answers [2]atomic.Int32
					for range 64 {
						wg.Go(func() {
							switch call(t, h, get(query)).Code {
							case http.StatusOK:
								answers[0].Add(1)
							case http.StatusServiceUnavailable:
								answers[1].Add(1)
							}
						})
					}
					wg.Wait()
					assert.EqualValues(t, 1, runs.Load())
					assert.EqualValues(t, 1, answers[0].Load())
					assert.EqualValues(t, 63, answers[1].Load())
					assert.Equal(t, 200, call(t, h, get(query)).Code)
					assert.EqualValues(t, 1, runs.Load())
				})
			})
		}
	}
}

// What names an event in a store, and that any store can keep the name.
func TestKeys(t *testing.T) {
	t.Parallel()
	keys := func(t *testing.T, h func(webhook.Option) http.Handler, query string) []string {
		t.Helper()
		store := &fakeStore{}
		require.Equal(t, 200, call(t, h(webhook.WithStore(store)), get(query)).Code, query)
		var keys []string
		for _, c := range store.calls {
			if key, ok := strings.CutPrefix(c, "claim "); ok {
				assert.Regexp(t, `^[-_=a-zA-Z0-9]+(\.[-_=a-zA-Z0-9]+)*$`, key)
				assert.LessOrEqual(t, len(key), 256)
				keys = append(keys, key)
			}
		}
		return keys
	}
	sms := func(store webhook.Option) http.Handler {
		return webhook.SMS(new(inbox[webhook.SMSMessage]).handle, store)
	}
	one := func(store webhook.Option) http.Handler {
		return webhook.ChatApp1(new(inbox[webhook.ChatApp1Message]).handle, store)
	}
	delivery := func(store webhook.Option) http.Handler {
		return webhook.Delivery(new(inbox[webhook.DeliveryReport]).handle, store)
	}
	for _, tt := range []struct {
		handler func(webhook.Option) http.Handler
		query   string
		want    string
	}{
		{sms, "id=m-1&from=1", `^sms\.id\.m-1$`},
		{sms, "id=wamid.HBgL.x==&from=1", `^sms\.id\.wamid\.HBgL\.x==$`},
		{sms, "id=.m-1&from=1", `^sms\.hash\.[0-9a-f]{64}$`},
		{sms, "id=m..1&from=1", `^sms\.hash\.[0-9a-f]{64}$`},
		{sms, "id=m-1.&from=1", `^sms\.hash\.[0-9a-f]{64}$`},
		{sms, "id=m+1&from=1", `^sms\.hash\.[0-9a-f]{64}$`},
		{sms, "id=" + strings.Repeat("x", 1000) + "&from=1", `^sms\.hash\.[0-9a-f]{64}$`},
		{one, "id=m-1&from=1", `^chatapp1\.id\.m-1$`},
		{one, `payload={"id":"m-2","from":"1","type":"x"}`, `^chatapp1\.id\.m-2$`},
		{sms, "from=1&timestamp=1791038663", `^sms\.params\.[0-9a-f]{64}$`},
		{delivery, "id=m-1&status=DELIVRD", `^delivery\.id\.delivrd\.m-1$`},
		{delivery, "id=m-1&referenceId=r-1&status=1", `^delivery\.id\.1\.m-1$`},
		{delivery, "referenceId=r-1&status=1", `^delivery\.ref\.1\.r-1$`},
		{delivery, "referenceId=r-1", `^delivery\.ref\.-\.r-1$`},
		{delivery, "id=m-1&status=a.b", `^delivery\.hash\.[0-9a-f]{64}$`},
		{delivery, "id=" + strings.Repeat("x", 100) + "&status=" + strings.Repeat("y", 100), `^delivery\.id\.y{100}\.x{100}$`},
	} {
		got := keys(t, tt.handler, tt.query)
		require.Len(t, got, 1, tt.query)
		assert.Regexp(t, tt.want, got[0])
	}
	for _, different := range [][2]string{
		{"id=m+1&status=1", "id=m+1&status=2"}, {"id=m+1&status=1", "referenceId=m+1&status=1"}, {"id=+ab&status=x+", "id=ab&status=x++"},
	} {
		assert.NotEqual(t, keys(t, delivery, different[0]), keys(t, delivery, different[1]), different)
	}
	for _, different := range [][2]string{
		{"from=1&timestamp=1&message=ab", "from=1&timestamp=1&message=a&b"}, {"from=1&timestamp=1&a=b&c=d", "from=1&timestamp=1&a=b%26c%3Dd"}, {"from=1&timestamp=1", "from=1&timestamp=2"},
	} {
		assert.NotEqual(t, keys(t, sms, different[0]), keys(t, sms, different[1]), different)
	}
	assert.Equal(t, keys(t, sms, "from=1&timestamp=1&message=a%20b"), keys(t, sms, "from=1&timestamp=1&message=a+b"))
	assert.Len(t, keys(t, sms, "from=1&message=yes"), 2, "a window")
}

func TestDeliveryReportsOfOneMessageAreDuplicatesByStatus(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		var in inbox[webhook.DeliveryReport]
		h := webhook.Delivery(in.handle, webhook.WithStore(store()))
		for _, query := range []string{"id=1&status=sent", "id=1&status=delivered", "id=1&status=SENT", "referenceId=1&status=sent", "id=1&status=enroute", "id=1", "id=1&status="} {
			assert.Equal(t, 200, call(t, h, get(query)).Code, name)
		}
		assert.Len(t, in.got, 5, "%s: enroute is another report than sent, though it means the same", name)
	}
}

func TestHandlersOfDifferentKindsMayShareAStore(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		shared := webhook.WithStore(store())
		var sms inbox[webhook.SMSMessage]
		var one inbox[webhook.ChatApp1Message]
		var two inbox[webhook.ChatApp2Message]
		var reports inbox[webhook.DeliveryReport]
		for _, h := range []http.Handler{
			webhook.SMS(sms.handle, shared), webhook.ChatApp1(one.handle, shared), webhook.ChatApp2(two.handle, shared), webhook.Delivery(reports.handle, shared),
		} {
			assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
		}
		assert.Equal(t, []int{1, 1, 1, 1}, []int{len(sms.got), len(one.got), len(two.got), len(reports.got)}, name)
	}
}

// Two honest "yes" are two messages, unless the second comes at once.
func TestWithoutIDAndTimeAMessageCountsForAWindow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		store   string
		opts    []webhook.Option
		query   string
		handled []bool // of the same at these times, the first of which is handled
		at      []time.Duration
	}{
		{
			"memory", nil, "from=1111&message=yes",
			[]bool{true, false, false, true, false, true},
			[]time.Duration{0, time.Second, 59 * time.Second, 60 * time.Second, 119 * time.Second, 120 * time.Second},
		},
		{
			"memory",
			[]webhook.Option{webhook.WithDuplicateWindow(time.Second)},
			"from=1111&message=yes",
			[]bool{true, false, true},
			[]time.Duration{0, 999 * time.Millisecond, time.Second},
		},
		{"memory", []webhook.Option{webhook.WithDuplicateWindow(0)}, "from=1111&message=yes", []bool{true, true}, []time.Duration{0, 0}},
		{"memory", nil, "from=1111&message=yes&timestamp=1791038663", []bool{true, false, false}, []time.Duration{0, 61 * time.Second, 50 * time.Minute}},
		{"memory", nil, "from=1111&message=yes&timestamp=yesterday", []bool{true, false, true}, []time.Duration{0, 59 * time.Second, 61 * time.Second}},
		{"memory", nil, "from=1111&message=yes&timestamp=0", []bool{true, false, true}, []time.Duration{0, 59 * time.Second, 61 * time.Second}},
		{"memory", nil, "from=1111&message=yes&id=1", []bool{true, false}, []time.Duration{0, 61 * time.Second}},
		{"memory", []webhook.Option{webhook.WithDuplicateWindow(2 * time.Hour)}, "from=1111&message=yes", []bool{true, false, true}, []time.Duration{0, 59 * time.Minute, time.Hour}},
		{"user's", nil, "from=1111&message=yes", []bool{true, false, true}, []time.Duration{0, 30*time.Second - 1, 90 * time.Second}},
		{"user's", nil, "from=1111&message=yes", []bool{true, false, true}, []time.Duration{50 * time.Second, 79 * time.Second, 110 * time.Second}},
		{"user's", nil, "from=1111&message=yes", []bool{true, false, true}, []time.Duration{20 * time.Second, 49 * time.Second, 80 * time.Second}},
		{"user's", []webhook.Option{webhook.WithDuplicateWindow(0)}, "from=1111&message=yes", []bool{true, true}, []time.Duration{0, 0}},
	} {
		t.Run(fmt.Sprint(tt.store, tt.query, tt.at), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var in inbox[webhook.SMSMessage]
				h := webhook.SMS(in.handle, append(tt.opts, webhook.WithStore(stores()[tt.store]()))...)
				for i, at := range tt.at {
					time.Sleep(time.Until(began.Add(at)))
					before := len(in.got)
					assert.Equal(t, 200, call(t, h, get(tt.query)).Code)
					assert.Equal(t, tt.handled[i], len(in.got) > before, "at %s", at)
				}
			})
		})
	}
}

// The window counts from when the first came, however long that took, and what is being handled is not handled twice.
func TestAWindowCountsFromTheArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
			runs.Add(1)
			time.Sleep(90 * time.Second)
			return nil
		}, webhook.WithStore(webhook.NewMemoryStore(10, time.Hour)))
		const query = "from=1111&message=yes"
		done := make(chan int)
		go func() { done <- call(t, h, get(query)).Code }()
		time.Sleep(70 * time.Second)
		assert.Equal(t, 503, call(t, h, get(query)).Code)
		assert.Equal(t, 200, <-done)
		assert.Equal(t, 200, call(t, h, get(query)).Code)
		assert.EqualValues(t, 2, runs.Load(), "at 90 s it is another message")
	})
}

// A function slower than the lease is given up: the next delivery is handled, and whichever ends well completes both.
func TestAFunctionThatIsSlowerThanItsLease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		query  string
		second bool // comes when the lease of the first is over, while that is still running
		fails  bool // the first
		runs   int32
	}{
		{"and nobody comes", "id=1&from=1111", false, false, 1},
		{"and another comes", "id=1&from=1111", true, false, 2},
		{"and another comes, and it fails", "id=1&from=1111", true, true, 2},
		{"and nobody comes, and it fails", "id=1&from=1111", false, true, 2},
		{"and it is the same for a while only", "from=1111&message=yes", false, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
					if runs.Add(1) > 1 {
						return nil
					}
					time.Sleep(90 * time.Second)
					if tt.fails {
						return errors.New("no")
					}
					return nil
				}, webhook.WithStore(webhook.NewMemoryStore(10, time.Minute)))
				done := make(chan struct{})
				go func() {
					call(t, h, get(tt.query))
					close(done)
				}()
				time.Sleep(59 * time.Second)
				assert.Equal(t, 503, call(t, h, get(tt.query)).Code)
				time.Sleep(2 * time.Second)
				if tt.second {
					assert.Equal(t, 200, call(t, h, get(tt.query)).Code)
				}
				<-done
				assert.Equal(t, 200, call(t, h, get(tt.query)).Code)
				assert.Equal(t, tt.runs, runs.Load())
			})
		})
	}
}

func TestAStoreThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("hunter2")
	for _, tt := range []struct {
		name   string
		store  *fakeStore
		fail   bool
		query  string
		status int
		runs   int
		calls  []string
	}{
		{"claim", &fakeStore{claimErr: broken}, false, "id=1&from=1", 503, 0, []string{"claim sms.id.1"}},
		{"claim, with a state all the same", &fakeStore{claimErr: broken, state: webhook.Claimed}, false, "id=1&from=1", 503, 0, []string{"claim sms.id.1"}},
		{"a state that is none", &fakeStore{state: 17}, false, "id=1&from=1", 503, 0, []string{"claim sms.id.1"}},
		{"complete", &fakeStore{completeErr: broken}, false, "id=1&from=1", 200, 1, []string{"claim sms.id.1", "complete sms.id.1"}},
		{"release", &fakeStore{releaseErr: broken}, true, "id=1&from=1", 500, 1, []string{"claim sms.id.1", "release sms.id.1"}},
		{"in progress", &fakeStore{state: webhook.InProgress}, false, "id=1&from=1", 503, 0, []string{"claim sms.id.1"}},
		{"done", &fakeStore{state: webhook.Done}, false, "id=1&from=1", 200, 0, []string{"claim sms.id.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
				runs++
				if tt.fail {
					return errors.New("no")
				}
				return nil
			}, webhook.WithStore(tt.store))
			assert.Equal(t, tt.status, call(t, h, get(tt.query)).Code)
			assert.Equal(t, tt.runs, runs)
			assert.Equal(t, tt.calls, tt.store.calls)
		})
	}
}

// panicky is a store whose Complete panics.
type panicky struct{ fakeStore }

func (*panicky) Complete(context.Context, string) error { panic("hunter2") }

func TestAPanicOfAStoreAfterAHandledMessageIsNoFailure(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	assert.Equal(t, 200, call(t, webhook.SMS(in.handle, webhook.WithStore(new(panicky))), get(honest)).Code)
	in.one(t)
}

func TestCompleteAndReleaseOutliveTheRequest(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		store := &fakeStore{}
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "here"))
		h := webhook.SMS(func(context.Context, webhook.SMSMessage) error {
			cancel() // the service has hung up
			if fails {
				return errors.New("no")
			}
			return nil
		}, webhook.WithStore(storeThatLooks{store, t}))
		call(t, h, get(honest).WithContext(ctx))
		require.Len(t, store.contexts, 2)
		assert.Equal(t, "here", store.contexts[1].Value(key{}))
		deadline, ok := store.contexts[1].Deadline()
		assert.True(t, ok)
		assert.Less(t, time.Until(deadline), 11*time.Second)
	}
}

// storeThatLooks checks the contexts when it gets them.
type storeThatLooks struct {
	*fakeStore

	t *testing.T
}

func (s storeThatLooks) Complete(ctx context.Context, key string) error {
	assert.NoError(s.t, ctx.Err())
	return s.fakeStore.Complete(ctx, key)
}

func (s storeThatLooks) Release(ctx context.Context, key string) error {
	assert.NoError(s.t, ctx.Err())
	return s.fakeStore.Release(ctx, key)
}

func TestAWindowThatIsHalfClaimedIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{}
		var in inbox[webhook.SMSMessage]
		h := webhook.SMS(in.handle, webhook.WithStore(store))
		time.Sleep(50 * time.Second)
		assert.Equal(t, 200, call(t, h, get("from=1&message=yes")).Code)
		time.Sleep(20 * time.Second) // in another span of the first kind, and the same of the second
		store.calls = nil
		assert.Equal(t, 200, call(t, h, get("from=1&message=yes")).Code)
		in.one(t)
		require.Len(t, store.calls, 3)
		assert.Equal(t, strings.Replace(store.calls[0], "claim", "release", 1), store.calls[2])
	})
}

func TestClaimStates(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "claimed in progress done webhook.ClaimState(0)", fmt.Sprint(webhook.Claimed, " ", webhook.InProgress, " ", webhook.Done, " ", webhook.ClaimState(0)))
}

func TestTheDuplicateKeyOfAnEventIsTheOneThatItsStoreSees(t *testing.T) {
	t.Parallel()
	type keyed interface {
		DuplicateKey() (key string, lasting bool)
	}
	var got keyed
	handlers := map[string]func(webhook.Option) http.Handler{
		"sms": func(store webhook.Option) http.Handler {
			return webhook.SMS(func(_ context.Context, m webhook.SMSMessage) error { got = m; return nil }, store)
		},
		"chatapp1": func(store webhook.Option) http.Handler {
			return webhook.ChatApp1(func(_ context.Context, m webhook.ChatApp1Message) error { got = m; return nil }, store)
		},
		"chatapp2": func(store webhook.Option) http.Handler {
			return webhook.ChatApp2(func(_ context.Context, m webhook.ChatApp2Message) error { got = m; return nil }, store)
		},
		"delivery": func(store webhook.Option) http.Handler {
			return webhook.Delivery(func(_ context.Context, d webhook.DeliveryReport) error { got = d; return nil }, store)
		},
	}
	for kind, handler := range handlers {
		for _, query := range []string{
			"id=m-1&from=1&status=2", "id=m+1&from=1&status=2", "id=m-1&from=1&timestamp=1791038663", "referenceId=r-1&from=1&status=DELIVRD",
			"from=1&timestamp=1791038663&referenceId=r-1", "from=1&message=yes&referenceId=r-1",
		} {
			store := &fakeStore{}
			require.Equal(t, http.StatusOK, call(t, handler(webhook.WithStore(store)), get(query)).Code, "%s %s", kind, query)
			key, lasting := got.DuplicateKey()
			claimed, ok := strings.CutPrefix(store.calls[0], "claim ")
			require.True(t, ok)
			if lasting {
				assert.Equal(t, claimed, key, "%s %s", kind, query)
			} else {
				assert.True(t, strings.HasPrefix(claimed, key+".0."), "%s %s: %s is not a span of %s", kind, query, claimed, key)
			}
			assert.Equal(t, kind == "delivery" || strings.Contains(query, "id=") || strings.Contains(query, "timestamp="), lasting, "%s %s", kind, query)
		}
	}
}
