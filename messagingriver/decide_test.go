package messagingriver

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/fence"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// The row of a job decides whether its message may be sent.
func TestInDoubt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		isPostgres bool
		metadata   string
		fetches    int
		want       bool
	}{
		{"PostgreSQL: a new message", true, `{}`, 1, false},
		{"PostgreSQL: rescued without a mark", true, `{"river:rescue_count": 1}`, 2, false},
		{"PostgreSQL: a mark and no outcome", true, `{"begun": "B"}`, 2, true},
		{"PostgreSQL: a mark and the outcome of an earlier attempt", true, `{"begun": "B", "ended": "A"}`, 3, true},
		{"PostgreSQL: a mark and its outcome", true, `{"begun": "B", "ended": "B", "river:rescue_count": 1}`, 3, false},
		{"PostgreSQL: a mark of an attempt that made no request", true, `{"begun": "B", "ended": "A", "unsent": "B"}`, 3, false},
		{"PostgreSQL: a mark, and an earlier attempt that made no request", true, `{"begun": "B", "unsent": "A"}`, 3, true},
		{"PostgreSQL: snoozed more often than River remembers", true, `{"begun": "B"}`, 100, true},
		{"PostgreSQL: the outcome is unknown", true, `{"verdict": "unknown", "begun": "B", "ended": "B"}`, 2, true},
		{"SQLite: a new message", false, `{}`, 1, false},
		{"SQLite: rescued", false, `{"river:rescue_count": 1, "decided_fetches": 1}`, 2, true},
		{"SQLite: rescued, and decided about", false, `{"river:rescue_count": 1, "decided_rescues": 1, "decided_fetches": 1}`, 2, false},
		{"SQLite: a fetch without an outcome", false, `{}`, 2, true},
		{"SQLite: each fetch had an outcome", false, `{"decided_fetches": 7}`, 8, false},
		{"SQLite: more fetches than River remembers", false, `{"decided_fetches": 100}`, 100, false},
		{"SQLite: rescued after more fetches than River remembers", false, `{"decided_fetches": 100, "river:rescue_count": 1}`, 100, true},
		{"SQLite: looked up before", false, `{"decided_fetches": 1, "in_doubt": true}`, 2, true},
		{"SQLite: looked up more often than River remembers", false, `{"in_doubt": true}`, 100, true},
		{"SQLite: the outcome is unknown", false, `{"verdict": "unknown", "decided_fetches": 1}`, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var m metadata
			assert.NoError(t, json.Unmarshal([]byte(tt.metadata), &m))
			rules := newDoubtRules(&database{isPostgres: tt.isPostgres})
			assert.Equal(t, tt.want, rules.isInDoubt(&m, tt.fetches))
		})
	}
}

// Metadata without a verdict proves that no request began only if attempts write marks, and none has.
func TestProvesUnsent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		isPostgres bool
		metadata   string
		want       bool
	}{
		{"PostgreSQL: no mark", true, `{}`, true},
		{"PostgreSQL: rescued without a mark", true, `{"river:rescue_count": 1}`, true},
		{"PostgreSQL: a mark and no outcome", true, `{"begun": "B"}`, false},
		{"PostgreSQL: a mark and its outcome", true, `{"begun": "B", "ended": "B"}`, false},
		{"PostgreSQL: the service refused the message", true, `{"verdict": "refused"}`, false},
		{"PostgreSQL: the outcome is unknown", true, `{"verdict": "unknown"}`, false},
		{"SQLite: no outcome", false, `{}`, false},
		{"SQLite: rescued, and decided about", false, `{"river:rescue_count": 1, "decided_rescues": 1}`, false},
	} {
		var m metadata
		require.NoError(t, json.Unmarshal([]byte(tt.metadata), &m), tt.name)
		rules := newDoubtRules(&database{isPostgres: tt.isPostgres})
		assert.Equal(t, tt.want, rules.provesUnsent(&m), tt.name)
	}
}

// An attempt records no verdict if another attempt may have the job, and replaces none.
func TestUnsentResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		claimAge time.Duration
		verdict  string
		want     any
	}{
		{"the first attempt", time.Second, "", verdictNotSent},
		{"the claim is old", maxClaimAge, "", nil},
		{"the service refused the message before", time.Second, verdictRefused, nil},
	} {
		job := &river.Job[messageArgs]{JobRow: &rivertype.JobRow{AttemptedAt: new(time.Now().Add(-tt.claimAge))}}
		r := unsentResult(job, &metadata{Verdict: tt.verdict}, waitResult(time.Minute, "a worker of another version"))
		assert.Equal(t, tt.want, r.facts[keyVerdict], tt.name)
	}
}

// A key that an attempt sets, or a statement reads, is a member of the metadata.
func TestMetadataKeys(t *testing.T) {
	t.Parallel()
	members := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[metadata]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members[name] = true
	}
	for _, key := range []string{
		keyVerdict, keyReason, keyClasses, keyFailures, keyUnknownSince, keyEndsAs, keyEnded, keyUnsent, keyDecidedRescues, keyDecidedFetches,
		keyInDoubt,
	} {
		assert.True(t, members[key], key)
	}
	members["pause"] = true // of a queue
	isRead := regexp.MustCompile(`metadata->>?'([^']+)'`)
	read := map[string]bool{}
	for _, set := range []statements{postgresStatements(), sqliteStatements()} {
		for _, field := range reflect.VisibleFields(reflect.TypeFor[statements]()) {
			if field.Type.Kind() != reflect.String {
				continue // its fields follow
			}
			statement := reflect.ValueOf(set).FieldByIndex(field.Index).String()
			for _, found := range isRead.FindAllStringSubmatch(statement, -1) {
				assert.True(t, members[found[1]], "%s: %s", field.Name, found[1])
				read[found[1]] = true
			}
		}
	}
	assert.True(t, read["resolved_not_sent"], "the statements were read")
}

// testRules are rules whose allowRequest is a function.
type testRules struct {
	doubtRules

	allow func(context.Context, *attempt) error
}

func (r testRules) allowRequest(ctx context.Context, a *attempt) error { return r.allow(ctx, a) }

// newTestAttempt returns an attempt on a job that was fetched at an uptime.
func newTestAttempt(claimedAt time.Duration, allow func(context.Context, *attempt) error) *attempt {
	return &attempt{
		channel:   channel{halt: new(halt)},
		job:       &river.Job[messageArgs]{JobRow: new(rivertype.JobRow), Args: messageArgs{Channel: "sms"}},
		metadata:  new(metadata),
		claimedAt: claimedAt,
		rules:     testRules{allow: allow},
	}
}

// A process that was frozen begins no request when it continues.
func TestOldClaimBeginsNothing(t *testing.T) {
	t.Parallel()
	marked := 0
	mark := func(context.Context, *attempt) error { marked++; return nil }
	claimed := func(ago time.Duration) *attempt { return newTestAttempt(uptime()-ago, mark) }
	assert.NoError(t, claimed(maxClaimAge-time.Second).enter(t.Context()))
	assert.ErrorIs(t, claimed(maxClaimAge).enter(t.Context()), errClaimOld)
	assert.Equal(t, 1, marked)

	// It is frozen while the mark is written.
	frozen := newTestAttempt(uptime(), func(_ context.Context, a *attempt) error {
		a.claimedAt -= maxClaimAge
		return nil
	})
	assert.ErrorIs(t, frozen.enter(t.Context()), errClaimOld)
	assert.False(t, frozen.progress.hasEntered())
}

// A process that paused a channel begins no request, but for the probes.
func TestHaltedChannelBeginsNothing(t *testing.T) {
	t.Parallel()
	mark := func(context.Context, *attempt) error { return nil }
	halted := newTestAttempt(uptime(), mark)
	halted.channel.halt.begin()
	assert.ErrorIs(t, halted.enter(t.Context()), errHalted)
	assert.False(t, halted.progress.hasEntered())

	probe := newTestAttempt(uptime(), mark)
	probe.job.Queue = probesOf("sms")
	probe.channel.halt.begin()
	assert.NoError(t, probe.enter(t.Context()))

	halted.channel.halt.end()
	assert.NoError(t, halted.enter(t.Context()))
}

// An attempt that was abandoned while its mark was written begins no request, and an attempt that has begun cannot be abandoned.
func TestAttemptIsAbandonedOrBegun(t *testing.T) {
	t.Parallel()
	a := newTestAttempt(uptime(), func(_ context.Context, a *attempt) error {
		assert.True(t, a.progress.abandon())
		return nil
	})
	assert.ErrorIs(t, a.enter(t.Context()), errAbandoned)
	assert.False(t, a.progress.hasEntered())

	begun := newTestAttempt(uptime(), func(context.Context, *attempt) error { return nil })
	assert.NoError(t, begun.enter(t.Context()))
	assert.False(t, begun.progress.abandon())
	assert.NoError(t, begun.enter(t.Context()), "the client has a fresh token")
}

// stateError is an error of PostgreSQL by a driver other than pgx.
type stateError string

func (e stateError) Error() string { return "relation does not exist" }

func (e stateError) SQLState() string { return string(e) }

func TestErrorsOfOtherDriversMatchErrNotMigrated(t *testing.T) {
	t.Parallel()
	assert.ErrorIs(t, explain(stateError("42P01")), ErrNotMigrated)
	assert.ErrorIs(t, explain(stateError("3F000")), ErrNotMigrated)
	assert.NotErrorIs(t, explain(stateError("23505")), ErrNotMigrated)
}

// Without a mark no request begins.
func TestRequestNeedsItsMark(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errJobLost, fmt.Errorf("%w: the database is away", errUnconfirmed)} {
		a := newTestAttempt(uptime(), func(context.Context, *attempt) error { return err })
		assert.ErrorIs(t, a.enter(t.Context()), err)
		assert.False(t, a.progress.hasEntered())
		rule := a.classify(err, false)
		assert.Equal(t, actionSnooze, rule.action)
		assert.Equal(t, verdictNotSent, rule.recordedVerdict)
	}
}

// On SQLite, too, no request begins if the database cannot say whether the message was resolved as Sent.
func TestSQLiteRequestNeedsTheDatabase(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "outbox.db"))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	d := newDatabase(nil, riversqlite.New(db).GetExecutor(), false, "")
	a := newTestAttempt(uptime(), countRules{db: &d}.allowRequest)
	assert.ErrorIs(t, a.enter(t.Context()), errUnconfirmed)
	assert.False(t, a.progress.hasEntered())
}

// A message whose request never began was not sent, regardless of the error.
func TestClassifyUnsent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err     error
		isOpen  bool
		want    action
		channel channelEffect
	}{
		{ErrExpired, false, actionCancel, effectNone},
		{errClaimOld, true, actionSnooze, effectNone},
		{errAbandoned, true, actionSnooze, effectNone},
		{errJobLost, true, actionSnooze, effectNone},
		{errUnconfirmed, true, actionSnooze, effectNone},
		{errHalted, false, actionSnooze, effectNone},
		{context.Canceled, false, actionSnooze, effectNone},
		{context.DeadlineExceeded, false, actionSnooze, effectNone},
		{messaging.ErrBreakerOpen, false, actionSnooze, effectHeldBack},
		{messaging.ErrUnauthorized, false, actionSnooze, effectHeldBack},
		{context.Canceled, true, actionSnooze, effectHeldBack},
		{errors.New("panic (string)"), false, actionRetry, effectNone},
		{&messaging.Error{Verdict: messaging.Unknown}, false, actionRetry, effectNone},
		{&messaging.Error{Verdict: messaging.NotSent}, false, actionSnooze, effectNone},
	} {
		a := &attempt{metadata: new(metadata)}
		rule := a.classify(tt.err, tt.isOpen)
		assert.Equal(t, tt.want, rule.action, "%v", tt.err)
		assert.Equal(t, tt.channel, rule.channel, "%v", tt.err)
	}
}

// After a request may have begun, only the verdict of the client decides.
func TestClassifyEntered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err     error
		isOpen  bool
		want    action
		channel channelEffect
	}{
		{nil, false, actionComplete, effectWorks},
		{&messaging.Error{Verdict: messaging.Unknown}, false, actionLookUp, effectNone},
		{&messaging.Error{Verdict: messaging.Unknown}, true, actionLookUp, effectSuspected},
		{&messaging.Error{Verdict: messaging.Refused}, false, actionCancel, effectWorks},
		{&messaging.Error{Verdict: messaging.Refused}, true, actionSnooze, effectSuspected},
		{&messaging.Error{Verdict: messaging.NotSent}, false, actionRetry, effectNone},
		{&messaging.Error{Verdict: messaging.NotSent}, true, actionSnooze, effectHeldBack},
		{errors.New("panic (string)"), false, actionLookUp, effectNone},
		{context.Canceled, false, actionLookUp, effectNone},
	} {
		a := &attempt{metadata: new(metadata)}
		a.progress.enter()
		rule := a.classify(tt.err, tt.isOpen)
		assert.Equal(t, tt.want, rule.action, "%v", tt.err)
		assert.Equal(t, tt.channel, rule.channel, "%v", tt.err)
	}
}

// The service refused the token of a request, and the outbox let no request with a fresh token begin. That says nothing about the account.
func TestClassifyStopAfterARefusedToken(t *testing.T) {
	t.Parallel()
	for stop, want := range map[error]action{errHalted: actionSnooze, errUnconfirmed: actionSnooze, ErrExpired: actionCancel} {
		service := messagingtest.NewServer(t)
		service.Inject(messagingtest.FaultStatus(http.StatusUnauthorized, 0), 1)
		client, err := messaging.NewClient(service.URL, messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			return messaging.Token{Value: service.Token, Expiry: time.Now().Add(time.Hour)}, nil
		}))
		require.NoError(t, err)
		requests := 0
		a := newTestAttempt(uptime(), func(context.Context, *attempt) error {
			requests++
			if requests > 1 {
				return stop
			}
			return nil
		})
		message := sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: "a"}
		_, err = client.SMS.Send(fence.With(t.Context(), a.enter), message)
		require.ErrorIs(t, err, messaging.ErrUnauthorized)
		require.ErrorIs(t, err, stop)
		rule := a.classify(err, false)
		assert.Equal(t, want, rule.action, "%v", stop)
		assert.Equal(t, effectNone, rule.channel, "%v", stop)
		assert.Equal(t, verdictNotSent, rule.recordedVerdict, "%v", stop)
		assert.Equal(t, stop.Error(), rule.reason)
		if want == actionSnooze {
			assert.GreaterOrEqual(t, rule.messageWait, time.Second, "%v", stop)
		}
	}
}

func TestCleanedReceipts(t *testing.T) {
	t.Parallel()
	value := map[string]any{"id": "a\x00b", "more": []any{"\x00", 1.0, map[string]any{"x": "c\x00"}}}
	assert.Equal(t, map[string]any{"id": "ab", "more": []any{"", 1.0, map[string]any{"x": "c"}}}, valueWithoutZeroBytes(value))
	assert.True(t, hasZeroByte([]byte(`{"text":"a\u0000b"}`)))
	assert.False(t, hasZeroByte([]byte(`{"text":"a\\u0000b"}`)))
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1200*time.Millisecond, backoff(1))
	assert.Greater(t, backoff(25), 5*24*time.Hour)
	assert.Equal(t, backoff(25), backoff(1000))
}

// blockedWorker is a worker whose Stop reports its call and then waits.
type blockedWorker struct{ called, released chan struct{} }

func (blockedWorker) Start(context.Context) error { return nil }

func (w blockedWorker) Stop(context.Context) error {
	w.called <- struct{}{}
	<-w.released
	return nil
}

// A Stop that returns after the outbox was started again leaves the new run alone.
func TestLateStopLeavesTheNextRun(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:") // has no content to delete
	require.NoError(t, err)
	defer db.Close()
	o := &Outbox[*sql.Tx]{database: newDatabase(nil, riversqlite.New(db).GetExecutor(), false, "")}
	o.options.Logger = slog.New(slog.DiscardHandler)
	worker := blockedWorker{make(chan struct{}), make(chan struct{})}
	first := newRun(t.Context())
	first.setWorker(worker)
	close(first.done)
	require.True(t, o.process.begin(first))
	stopped := make(chan error)
	go func() { stopped <- o.Stop(t.Context()) }()
	<-worker.called
	worker.released <- struct{}{}
	assert.NoError(t, <-stopped)
	assert.Nil(t, o.process.currentRun())

	late := newRun(t.Context())
	late.setWorker(worker)
	close(late.done)
	require.True(t, o.process.begin(late))
	<-late.stopTurn // as another call of Stop that stops the worker
	go func() { stopped <- o.Stop(t.Context()) }()
	<-late.ctx.Done() // the call has found its run
	o.process.end(late)
	next := newRun(t.Context())
	next.setWorker(worker)
	require.True(t, o.process.begin(next))
	late.stopTurn <- struct{}{}
	assert.NoError(t, <-stopped)
	assert.Same(t, next, o.process.currentRun())
	assert.NoError(t, next.ctx.Err())
	assert.True(t, next.isWorking.Load())
}

// The port of this process differs in each attempt, and would make different reasons of equal failures.
func TestReasonLeavesOutTheLocalAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = connection.Read(make([]byte, 1))
		_ = connection.(*net.TCPConn).SetLinger(0) // so that the connection is reset
		_ = connection.Close()
	}()
	address := listener.Addr().String()
	client, err := messaging.NewClient("http://"+address, messaging.WithToken("t"), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	require.ErrorContains(t, err, "->"+address)
	assert.Contains(t, reasonOf(err), " tcp "+address+": ")
}

// The last lookup is when SettleFor ends, and the reason says why the outcome became unknown.
func TestResultOfLookup(t *testing.T) {
	t.Parallel()
	o := &Outbox[*sql.Tx]{options: Options{SettleFor: 15 * time.Minute}}
	notListed := fmt.Errorf("%w: no message", messaging.ErrNotListed)
	after := func(age time.Duration) doubt {
		return doubt{since: time.Now().Add(-age), reason: "HTTP 503"}
	}
	early := o.resultOfLookup(after(4*time.Minute), notListed)
	assert.InDelta(t, 2*time.Minute, early.wait, float64(time.Second))
	assert.Equal(t, "HTTP 503; then no message with this reference ID is listed", early.facts[keyReason])

	late := o.resultOfLookup(after(14*time.Minute), notListed)
	assert.InDelta(t, time.Minute, late.wait, float64(time.Second))

	last := o.resultOfLookup(after(15*time.Minute), notListed)
	assert.Equal(t, rivertype.JobStateDiscarded, last.state)
	assert.Equal(t, "HTTP 503; then no message with this reference ID is listed", last.reason)

	newer := fmt.Errorf("%w: a", messaging.ErrUnknownKey)
	assert.Equal(t, rivertype.JobStateScheduled, o.resultOfLookup(after(24*time.Hour), newer).state, "an updated process may read it")
	assert.Equal(t, rivertype.JobStateDiscarded, o.resultOfLookup(after(25*time.Hour), newer).state)

	failed := o.resultOfLookup(after(15*time.Minute), errors.New("HTTP 500"))
	assert.Equal(t, "HTTP 503; then HTTP 500", failed.facts[keyReason], "a lookup that failed is quoted")
}
