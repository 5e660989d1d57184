package faulttest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

var (
	soakFor  = flag.Duration("soak", 0, "how long the soak runs, with at least 20,000 messages; 0 makes it short. -timeout must be longer")
	soakSeed = flag.Uint64("soakseed", 0, "the seed of the soak, to repeat the faults of a run; 0 draws one")
)

const (
	// faulty is the share of requests that meet a fault.
	faulty = 0.3
	// hasty is how long an impatient client waits for a response, and window how long a client looks for a message. The
	// slowest responses take longer than either, so that a lookup can begin within the window and end after it.
	hasty  = 60 * time.Millisecond
	window = 50 * time.Millisecond
)

// soakFaults returns the faults that a request can meet. None lets the service process a message after its sender has an outcome.
func soakFaults() []messagingtest.Fault {
	faults := []messagingtest.Fault{
		messagingtest.FaultAcceptThenDrop(), messagingtest.FaultAcceptThenDrop(), messagingtest.FaultDropUnread(), messagingtest.FaultDropUnread(),
		messagingtest.FaultTruncated(), messagingtest.FaultNotJSON(),
		messagingtest.FaultSlow(2 * time.Millisecond), messagingtest.FaultSlow(3 * hasty / 2),
		messagingtest.FaultStatus(http.StatusTooManyRequests, -1), messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second),
		messagingtest.FaultStatus(http.StatusServiceUnavailable, -1), messagingtest.FaultStatus(http.StatusServiceUnavailable, time.Second),
	}
	for _, status := range []int{200, 400, 401, 404, 408, 429, 500, 502, 503, 504} {
		faults = append(faults, messagingtest.FaultStatus(status, 0))
	}
	return faults
}

// TestSoak sends in every way while requests meet faults, contexts end and the service goes away. Then it compares the verdicts
// with what the service has, message by message.
//
// It counts the goroutines of the process, so it is not parallel.
func TestSoak(t *testing.T) {
	seed, atLeast, parts := *soakSeed, 1_500, size{each: 36, atOnce: 12}
	if seed == 0 {
		seed = rand.Uint64()
	}
	if *soakFor > 0 {
		atLeast, parts = 20_000, size{each: 200, atOnce: 64}
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < *soakFor+*soakFor/4 {
			t.Fatalf("the test binary ends in %v: a soak of %v needs a longer -timeout", time.Until(deadline), *soakFor)
		}
	}
	goroutines := runtime.NumGoroutine()
	start := time.Now()
	counted := newCounts()
	var heap []uint64
	for number := uint64(0); counted.messages() < atLeast || time.Since(start) < *soakFor; number++ {
		newRound(t, seed, number, parts, counted).run()
		if t.Failed() {
			t.Fatalf("round %d failed; -soakseed %d with -soak %v repeats its faults", number, seed, *soakFor)
		}
		heap = append(heap, heapInUse())
	}
	took := time.Since(start)
	t.Logf("seed %d: %d rounds in %v, then %d KiB of heap and %d goroutines more than at the start\n%s", seed, len(heap),
		took.Round(time.Millisecond), heap[len(heap)-1]>>10, runtime.NumGoroutine()-goroutines, counted.report(took))
	for _, verdict := range []messaging.Verdict{messaging.Accepted, messaging.Refused, messaging.NotSent, messaging.Unknown} {
		assert.Positive(t, counted.verdicts[verdict], "no message was %v: the soak proves too little", verdict)
	}
	if many := 8; len(heap) >= many {
		assert.Less(t, slices.Min(heap[len(heap)-3:]), slices.Max(heap[1:4])+4<<20, "the heap grows over the rounds: %v", heap)
	}
	if !assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 }, 20*time.Second, 20*time.Millisecond) {
		stacks := make([]byte, 1<<20)
		t.Logf("%d goroutines before, %d after:\n%s", goroutines, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	}
}

// heapInUse returns the bytes that are in use after a garbage collection.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // the second empties every sync.Pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A size is how many messages each part of a round sends, and how many at the same time.
type size struct{ each, atOnce int }

// A round is a service with its clients, from the first message to the comparison.
type round struct {
	t            *testing.T
	seed, number uint64
	size
	began  time.Time
	srv    *messagingtest.Server
	lag    time.Duration
	book   *book
	counts *counts

	failures atomic.Int32

	// quiet is not counted. The others have the counts as their logger. hasty and patient settle.
	quiet, plain, hasty, patient *messaging.Client
}

func newRound(t *testing.T, seed, number uint64, parts size, counts *counts) *round {
	t.Helper()
	r := &round{t: t, seed: seed, number: number, size: parts, began: time.Now(), srv: messagingtest.Start(messagingtest.WithContract(pairInQuery(t))), counts: counts}
	r.book = &book{fail: r.fail, entries: map[string]*entry{}}
	random := r.random("round")
	switch number % 3 {
	case 0: // listed late, but within the window
		r.lag = window / 2
	case 1: // listed too late: a processed message is sent again, and only the service can refuse it
		r.lag = 3 * window / 2
		r.srv.RefuseDuplicates(true)
	default: // listed at once
	}
	r.srv.SetLag(r.lag)
	credentials := []messaging.Option{
		messaging.WithToken(r.srv.Token),
		messaging.WithAPIKey(r.srv.APIKey, r.srv.APISecret),
		messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
			return messaging.Token{Value: r.srv.Token, Expiry: time.Now().Add(time.Hour)}, nil
		}),
	}
	options := []messaging.Option{
		credentials[random.IntN(len(credentials))],
		messaging.WithContract(pairInQuery(t)),
		withoutBreaker,
		messaging.WithRetry(messaging.RetryPolicy{MinWait: time.Millisecond, MaxWait: 20 * time.Millisecond}),
	}
	if random.IntN(4) == 0 {
		options = append(options, messaging.WithRateLimit(4000, parts.atOnce/2))
	}
	var err error
	r.quiet, err = messaging.NewClient(r.srv.URL, options...)
	require.NoError(t, err)
	with := func(client *messaging.Client, options ...messaging.Option) *messaging.Client {
		derived, err := client.With(options...)
		require.NoError(t, err)
		return derived
	}
	settle := messaging.SettlePolicy{Window: window, Interval: window / 6}
	r.plain = with(r.quiet, messaging.WithLogger(slog.New(counts)))
	r.hasty = with(r.plain, messaging.WithTimeout(hasty), messaging.WithSettle(settle))
	r.patient = with(r.plain, messaging.WithTimeout(time.Minute), messaging.WithSettle(settle))
	return r
}

// random returns the random source for one part of a round, or for one message.
func (r *round) random(part string) *rand.Rand {
	name := fnv.New64a()
	_, _ = fmt.Fprint(name, r.number, part)
	return rand.New(rand.NewPCG(r.seed, name.Sum64()))
}

// fail reports an error. After twenty of them it only fails the test.
func (r *round) fail(format string, args ...any) {
	r.t.Helper()
	if r.failures.Add(1) > 20 {
		r.t.Fail()
		return
	}
	r.t.Errorf("-soakseed %d, round %d, lag %v: %s", r.seed, r.number, r.lag, fmt.Sprintf(format, args...))
}

func (r *round) run() {
	r.t.Helper()
	defer r.srv.Close()
	r.srv.InjectRandomly(r.seed+r.number, faulty, soakFaults()...)
	ctx, stop := context.WithCancel(r.t.Context())
	var readers, chats sync.WaitGroup
	readers.Go(func() { r.list(ctx) })
	chats.Go(func() {
		for _, other := range channels[1:] {
			r.sendEach(other, "each", r.plain, other.send)
			r.sendAll(other, "all", r.plain)
			r.cancelAll(other, "cancelled", r.plain)
		}
	})
	text := channels[0]
	r.sendEach(text, "each", r.plain, text.send)
	r.sendEach(text, "once", r.hasty, sendOnce)
	r.sendEach(text, "once, patient", r.patient, sendOnce)
	r.sendAll(text, "all", r.plain)
	r.sendAll(text, "all, settled", r.hasty)
	r.sendAll(text, "all, patient", r.patient)
	r.cancelAll(text, "cancelled", r.hasty)
	r.cancelAll(text, "cancelled, patient", r.patient)
	r.breakAll(text, "broken", r.quiet)
	chats.Wait()
	stop()
	readers.Wait()
	r.readBack()
	r.srv.InjectRandomly(r.seed-r.number, faulty, soakFaults()...)
	r.closeServer(text, "closed", r.hasty)
	r.srv.Close() // returns when nothing is processed any more
	r.compare()
}

// names returns the references of the messages of one part of the round.
func (r *round) names(by channel, part string) []string {
	names := make([]string, r.each)
	for i := range names {
		names[i] = fmt.Sprintf("%s %s %d", by.name, part, i)
	}
	return names
}

// A sendFunc sends one message.
type sendFunc func(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error)

func sendOnce(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
	receipt, err := client.SMS.SendOnce(ctx, sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference})
	return receipt.ID, err
}

// sendEach sends one by one from many goroutines. Some of their contexts end early.
func (r *round) sendEach(by channel, part string, client *messaging.Client, send sendFunc) {
	references := r.names(by, part)
	var next atomic.Int64
	var senders sync.WaitGroup
	for range r.atOnce {
		senders.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(references)); i = next.Add(1) - 1 {
				reference := references[i]
				ctx, cancel := randomContext(r.t.Context(), r.random(reference))
				r.book.open(by, reference)
				id, err := send(ctx, client, fmt.Sprintf("+63917%07d", i), "text of "+reference, reference)
				r.book.enter(sent{reference: reference, id: id, err: err})
				cancel()
			}
		})
	}
	senders.Wait()
}

// randomContext returns a context that for one message in four ends: before the send, early or late.
func randomContext(ctx context.Context, random *rand.Rand) (context.Context, context.CancelFunc) {
	longest := []time.Duration{200 * time.Microsecond, 2 * time.Millisecond, window / 2, 3 * window}[random.IntN(4)]
	within := time.Duration(random.Int64N(int64(longest)))
	switch random.IntN(16) {
	case 0:
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return ended, cancel
	case 1:
		return context.WithTimeout(ctx, within)
	case 2, 3:
		cancelled, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(within, cancel)
		return cancelled, func() {
			timer.Stop()
			cancel()
		}
	default:
		return ctx, func() {}
	}
}

// outcomes sends all messages, and enters each outcome into the book before it yields it.
func (r *round) outcomes(ctx context.Context, by channel, client *messaging.Client, references []string) iter.Seq[sent] {
	taken := each(slices.Values(references), func(reference string) string {
		r.book.open(by, reference)
		return reference
	})
	return each(by.sendAll(ctx, client, taken, r.atOnce), func(out sent) sent {
		if out.index < 0 || out.index >= len(references) || references[out.index] != out.reference {
			r.fail("outcome %d is that of %q", out.index, out.reference)
		}
		r.book.enter(out)
		return out
	})
}

// sendAll sends all messages and reads every outcome.
func (r *round) sendAll(by channel, part string, client *messaging.Client) {
	references, seen := r.names(by, part), 0
	for range r.outcomes(r.t.Context(), by, client, references) {
		seen++
	}
	if seen != len(references) {
		r.fail("%s %s: %d outcomes for %d messages", by.name, part, seen, len(references))
	}
}

// cancelAll cancels in the middle and keeps ranging. Sometimes it then sends what was not sent, which is always safe.
func (r *round) cancelAll(by channel, part string, client *messaging.Client) {
	references := r.names(by, part)
	random := r.random(by.name + part)
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	at, seen := random.IntN(len(references)), 0
	for range r.outcomes(ctx, by, client, references) {
		if seen++; seen == at && random.IntN(2) == 0 {
			cancel()
		} else if seen == at {
			defer time.AfterFunc(time.Duration(random.Int64N(int64(10*time.Millisecond))), cancel).Stop()
		}
	}
	if random.IntN(2) == 0 {
		for range r.outcomes(r.t.Context(), by, client, r.book.notSent(references)) {
			continue
		}
	}
}

// breakAll leaves the loop in the middle. Messages that were on their way have no outcome then: those in flight, those whose outcome was not
// yet read, and those that waited for a retry, which the service has not processed.
func (r *round) breakAll(by channel, part string, client *messaging.Client) {
	references := r.names(by, part)
	left := r.random(by.name + part).IntN(len(references))
	var waits openWaits
	client, err := client.With(messaging.WithObserver(&waits))
	require.NoError(r.t, err)
	for range r.outcomes(r.t.Context(), by, client, references) {
		if left--; left <= 0 {
			break
		}
	}
	unseen := r.book.giveUp(references)
	if most := 2*r.atOnce + waits.most(); unseen > most {
		r.fail("%s %s: %d messages were on their way at the break, want at most %d", by.name, part, unseen, most)
	}
}

// openWaits is an observer that counts how many messages wait for a retry at once.
type openWaits struct {
	mu           sync.Mutex
	now, highest int
}

func (w *openWaits) StartStep(ctx context.Context, step messaging.Step) context.Context {
	if step.Kind == messaging.StepBackoff {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now++
		w.highest = max(w.highest, w.now)
	}
	return ctx
}

func (w *openWaits) EndStep(_ context.Context, step messaging.Step, _ messaging.StepResult) {
	if step.Kind == messaging.StepBackoff {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now--
	}
}

func (w *openWaits) most() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.highest
}

// closeServer closes the service in the middle.
func (r *round) closeServer(by channel, part string, client *messaging.Client) {
	references, seen := r.names(by, part), 0
	for range r.outcomes(r.t.Context(), by, client, references) {
		if seen++; seen == len(references)/2 {
			r.srv.Close()
		}
	}
}

// list lists while messages are sent, in the order of their arrival. No row comes twice, and none is missing that was there
// when the listing began.
func (r *round) list(ctx context.Context) {
	random := r.random("list")
	for ctx.Err() == nil {
		missing := map[string]bool{}
		for _, row := range r.srv.Sent() {
			if row.Channel == "sms" && time.Since(row.At) > r.lag {
				missing[row.ID] = true
			}
		}
		options := sms.ListOptions{PageSize: 1 + random.IntN(100), SortBy: "dateCreated"}
		seen := map[string]bool{}
		whole := true
		for tx, err := range r.plain.SMS.List(ctx, options) {
			if err != nil {
				whole = false
				continue
			}
			if seen[tx.ID] {
				r.fail("row %s of %q came twice in a listing (%+v)", tx.ID, tx.ReferenceID, options)
			}
			seen[tx.ID] = true
			delete(missing, tx.ID)
		}
		if whole && len(missing) > 0 {
			r.fail("a listing of %d rows left out %d: %v", len(seen), len(missing), slices.Sorted(maps.Keys(missing)))
		}
		if whole {
			r.counts.listed()
		}
	}
}

// readBack compares a listing without faults with the receipts.
func (r *round) readBack() {
	r.srv.InjectRandomly(0, 0)
	r.srv.SetLag(0)
	listed := map[string][]string{}
	for tx, err := range r.plain.SMS.List(r.t.Context(), sms.ListOptions{PageSize: 500, SortBy: "dateCreated"}) {
		if err != nil {
			r.fail("listing: %v", err)
			return
		}
		listed[tx.ReferenceID] = append(listed[tx.ReferenceID], tx.ID)
	}
	found := 0
	for reference, p := range r.book.accepted(channels[0]) {
		if !slices.Equal(listed[reference], []string{p.id}) {
			r.fail("%q was accepted as %s, and is listed as %v", reference, p.id, listed[reference])
		}
		if found++; found > 20 {
			continue
		}
		if tx, err := r.plain.SMS.Find(r.t.Context(), reference); err != nil || tx.ID != p.id {
			r.fail("%q was accepted as %s, and found as %q: %v", reference, p.id, tx.ID, err)
		}
	}
}

// compare compares the book with the ledger of the service, message by message.
func (r *round) compare() {
	ledger := map[string][]messagingtest.Sent{}
	for _, row := range r.srv.Sent() {
		ledger[row.ReferenceID] = append(ledger[row.ReferenceID], row)
	}
	for reference, rows := range ledger {
		if r.book.entries[reference] == nil {
			r.fail("no caller sent %s, which the ledger has with the reference %q", rows[0].ID, reference)
		}
	}
	for reference, p := range r.book.entries {
		rows := ledger[reference]
		verdict := messaging.VerdictOf(p.err)
		wrong := len(rows) > 1
		switch {
		case p.open && !p.givenUp:
			wrong = true
		case p.givenUp:
		case verdict == messaging.Accepted:
			wrong = len(rows) != 1 || rows[0].ID != p.id
		case verdict == messaging.Refused, verdict == messaging.NotSent:
			wrong = len(rows) != 0
		}
		var ids []string
		for _, row := range rows {
			ids = append(ids, fmt.Sprintf("%s at %v", row.ID, row.At.Sub(r.began)))
			wrong = wrong || row.Channel != p.channel || row.Text != "x" && row.Text != "text of "+reference
		}
		if wrong {
			r.fail("%q by %s: %v as %q, and the ledger has %d rows %v\nopen %v, given up %v, error: %v", reference, p.channel, verdict,
				p.id, len(rows), ids, p.open, p.givenUp, p.err)
		}
		r.counts.end(p, len(rows))
	}
}

// A book is what the callers of a round know about their messages.
type book struct {
	fail    func(format string, args ...any)
	mu      sync.Mutex
	entries map[string]*entry // by reference
}

// An entry is what is known about one message.
type entry struct {
	channel string
	open    bool // there is no outcome yet
	givenUp bool // there will be none
	id      string
	err     error
}

// open enters a message, or opens the entry of one that was not sent again.
func (b *book) open(by channel, reference string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.entries[reference]; p != nil && (p.open || messaging.VerdictOf(p.err) != messaging.NotSent) {
		b.fail("%q was taken twice", reference)
	}
	b.entries[reference] = &entry{channel: by.name, open: true}
}

// enter enters an outcome, and checks that it is consistent.
func (b *book) enter(out sent) {
	verdict := messaging.VerdictOf(out.err)
	e, _ := errors.AsType[*messaging.Error](out.err)
	switch {
	case (out.id != "") != (verdict == messaging.Accepted),
		errors.Is(out.err, messaging.ErrOutcomeUnknown) != (verdict == messaging.Unknown),
		errors.Is(out.err, messaging.ErrNotSent) != (verdict == messaging.NotSent),
		out.err != nil && (e == nil || e.ReferenceID != out.reference):
		b.fail("%q: %v as %q is not consistent with its error: %v", out.reference, verdict, out.id, out.err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.entries[out.reference]
	if p == nil || !p.open {
		b.fail("%q has a second outcome, or one that no caller waits for: %v, %v", out.reference, verdict, out.err)
		return
	}
	p.open, p.id, p.err = false, out.id, out.err
}

// notSent returns the references that were not sent, or not even taken.
func (b *book) notSent(references []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(references), func(reference string) bool {
		p := b.entries[reference]
		return p != nil && (p.open || messaging.VerdictOf(p.err) != messaging.NotSent)
	})
}

// giveUp marks messages whose outcome will not come, and returns their number.
func (b *book) giveUp(references []string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, reference := range references {
		if p := b.entries[reference]; p != nil && p.open {
			p.givenUp = true
			n++
		}
	}
	return n
}

// accepted returns the entries of the messages that a channel has accepted.
func (b *book) accepted(by channel) map[string]entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]entry{}
	for reference, p := range b.entries {
		if p.channel == by.name && !p.open && p.err == nil {
			all[reference] = *p
		}
	}
	return all
}

// counts are what a soak met. They are a slog.Handler: the log of the clients has a record for each attempt.
type counts struct {
	mu       sync.Mutex
	verdicts map[messaging.Verdict]int
	rows     map[messaging.Verdict]int // in the ledger
	givenUp  int
	attempts map[string]int // by what came of them
	requests int
	calls    int // sends that reached the network
	doubts   int // sends with an unknown outcome
	listings int
}

func newCounts() *counts {
	return &counts{
		verdicts: map[messaging.Verdict]int{}, rows: map[messaging.Verdict]int{}, attempts: map[string]int{},
	}
}

// Enabled implements slog.Handler.
func (c *counts) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (c *counts) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements slog.Handler.
func (c *counts) WithGroup(string) slog.Handler { return c }

// Handle implements slog.Handler.
func (c *counts) Handle(_ context.Context, record slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if record.Level == slog.LevelWarn {
		c.doubts++
		return nil
	}
	values := map[string]slog.Value{}
	record.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value
		return true
	})
	c.requests++
	if strings.HasSuffix(values["operation"].String(), ".send") && values["attempt"].Int64() == 1 {
		c.calls++
	}
	_, failed := values["error"]
	switch status := values["status"].Int64(); {
	case status == 0 && values["written"].Bool():
		c.attempts["no response"]++
	case status == 0:
		c.attempts["nothing written"]++
	case failed:
		c.attempts["unreadable response"]++
	default:
		c.attempts[fmt.Sprint(status)]++
	}
	return nil
}

// listed counts a complete listing.
func (c *counts) listed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listings++
}

// end counts a message and its rows in the ledger.
func (c *counts) end(p *entry, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.givenUp {
		c.givenUp++
		return
	}
	c.verdicts[messaging.VerdictOf(p.err)]++
	c.rows[messaging.VerdictOf(p.err)] += rows
}

// messages returns the number of messages.
func (c *counts) messages() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.givenUp
	for _, count := range c.verdicts {
		n += count
	}
	return n
}

func (c *counts) report(took time.Duration) string {
	n := c.messages()
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages, %.0f a second\n", n, float64(n)/took.Seconds())
	for _, verdict := range slices.Sorted(maps.Keys(c.verdicts)) {
		fmt.Fprintf(&b, "  %6d %v, %d in the ledger\n", c.verdicts[verdict], verdict, c.rows[verdict])
	}
	fmt.Fprintf(&b, "  %6d whose outcome was not read\n", c.givenUp)
	fmt.Fprintf(&b, "%d sends, %d of them in doubt at first\n", c.calls, c.doubts)
	fmt.Fprintf(&b, "%d listings meanwhile\n%d requests\n", c.listings, c.requests)
	for _, what := range slices.Sorted(maps.Keys(c.attempts)) {
		fmt.Fprintf(&b, "  %6d %s\n", c.attempts[what], what)
	}
	return b.String()
}

// pairInQuery returns the default contract with a place for a key pair that sends and lookups have.
func pairInQuery(t *testing.T) contract.Contract {
	t.Helper()
	names, err := contract.Parse([]byte(`{"auth": {"keyPair": {"in": "query"}}}`))
	require.NoError(t, err)
	return names
}
