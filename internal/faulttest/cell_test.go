package faulttest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// A target is what a fault hits: a message of a channel, or a page of a listing.
type target struct {
	call    string
	channel *channel // nil for a listing
	page    int      // of a listing, from 1
	wrapped bool     // by WithTransport, and observed: nothing else may differ
}

// targets returns every channel, a listing of two pages, and calls of an observed client with a wrapped transport.
func targets() []target {
	var all []target
	for i := range channels {
		all = append(all, target{call: channels[i].name, channel: &channels[i]})
	}
	return append(all,
		target{call: "list", page: 1}, target{call: "list, second page", page: 2},
		target{call: "sms, wrapped", channel: &channels[0], wrapped: true}, target{call: "list, wrapped", page: 1, wrapped: true},
	)
}

// listPages are the listing under test, as the service sends it, and listedIDs are the IDs of its rows.
var (
	listPages = []string{
		`{"status":"ok","pageNumber":1,"hasNext":true,"data":[` + listRow("t-1") + `,` + listRow("t-2") + `]}`,
		`{"status":"ok","pageNumber":2,"hasNext":false,"data":[` + listRow("t-3") + `]}`,
	}
	listedIDs = []string{"t-1", "t-2", "t-3"}
)

// lastOfFirstPage is the row after which the second page is asked for.
const lastOfFirstPage = "t-2"

func listRow(id string) string {
	return `{"transactionId":"` + id + `","to":"` + testNumber + `","text":"` + testText + `"}`
}

// A cell of the matrix is a fault on one kind of connection that hits one target.
type cell struct {
	fault
	target

	on          connection
	certificate tls.Certificate
	authority   *x509.CertPool
	table       *resultTable
	clears      bool // the fault ends after two attempts
}

// cellsOf returns a cell for each kind of connection and each target that the fault can hit, and a second one where the fault
// may end in time.
func cellsOf(template cell) []cell {
	var cells []cell
	for on := http1Fresh; on <= http2Reused; on <<= 1 {
		for _, target := range targets() {
			c := template
			c.on, c.target = on, target
			want := c.want()
			if c.fault.on&on == 0 || want.verdict == nil {
				continue
			}
			cells = append(cells, c)
			if want.clears {
				c.clears = true
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// want returns what must come of the call.
func (c cell) want() outcome {
	want := c.send
	if c.channel == nil {
		want = c.read
		if want.verdict != nil && !slices.Contains(want.verdict, messaging.Accepted) {
			want.verdict = []messaging.Verdict{0} // the error of a read has none
		}
	}
	if !c.clears {
		return want
	}
	arrived := 1
	if want.arrived > 0 {
		arrived += maxAttempts - 1
	}
	return outcome{arrived: arrived, verdict: []messaging.Verdict{messaging.Accepted}, endless: want.endless}
}

// A result is what came of a call.
type result struct {
	peer  *peer
	setup error    // why the fault could not hit anything
	id    string   // of the message
	rows  []string // the IDs of the rows that were listed
	errs  []error
	took  time.Duration
}

// prepareAll sets up cells. The function that it returns makes all calls at once, because most of them only wait.
func prepareAll(t *testing.T, cells []cell) func() []result {
	t.Helper()
	calls := make([]func() result, len(cells))
	for i, c := range cells {
		calls[i] = c.prepare(t)
	}
	return func() []result {
		results := make([]result, len(cells))
		var running sync.WaitGroup
		for i, call := range calls {
			if cells[i].alone {
				results[i] = call()
			} else {
				running.Go(func() { results[i] = call() })
			}
		}
		running.Wait()
		return results
	}
}

// judgeAll checks results, each in a subtest.
func judgeAll(t *testing.T, cells []cell, results []result) {
	t.Helper()
	for i, c := range cells {
		name := c.on.String() + ", " + c.call
		if c.clears {
			name += ", then it clears"
		}
		t.Run(name, func(t *testing.T) {
			r := results[i]
			// A busy machine may have missed what has to happen in time. More than a few such cells are no accident.
			const maxReruns = 16
			if (c.waits && !c.looksRight(r) || !c.isOnConnection(r)) && c.table.reruns.Add(1) <= maxReruns {
				r = c.prepare(t)()
			}
			c.judge(t, r)
		})
	}
}

// looksRight reports whether the fault seems to have hit what it was meant to hit.
func (c cell) looksRight(r result) bool {
	want, arrived := c.want(), len(c.arrived(r))
	if want.endless {
		arrived = min(arrived, want.arrived)
	}
	if r.setup != nil || arrived != want.arrived {
		return false
	}
	if len(r.errs) == 0 {
		return slices.Contains(want.verdict, messaging.Accepted)
	}
	e, ok := errors.AsType[*messaging.Error](r.errs[0])
	return ok && slices.Contains(want.verdict, e.Verdict) &&
		(want.status == e.StatusCode || want.status == anyStatus) &&
		(want.attempts == e.Attempts || want.attempts == 0)
}

// prepare sets up the peer and the client. The function that it returns makes the call that the fault hits.
func (c cell) prepare(t *testing.T) (call func() result) {
	t.Helper()
	var begun atomic.Bool // requests before the call under test pass
	var strikes atomic.Int64
	strikes.Store(math.MaxInt64)
	if c.clears {
		strikes.Store(maxAttempts - 1)
	}
	strike := func() bool { return begun.Load() && strikes.Add(-1) >= 0 }
	p := newPeer(t, c.peerScript(strike))
	patient := newClient(t, p.url(), c.clientOptions(t, strike)...) // for requests before the call under test
	client := patient
	if c.option != nil {
		var err error
		client, err = patient.With(c.option)
		require.NoError(t, err)
	}
	return func() result {
		life, cancel := context.WithTimeout(t.Context(), peerLife/2)
		defer cancel()
		var occupant sync.WaitGroup
		defer occupant.Wait()
		defer p.stop() // which ends what the occupant waits for
		r := result{peer: p}
		// begin lets the fault begin and returns the caller's context.
		begin := func() (context.Context, context.CancelFunc) {
			if c.idle != nil {
				r.setup = errors.Join(r.setup, waitFor(p.noticed))
			}
			begun.Store(true)
			if c.occupied {
				occupant.Go(func() { _, _ = c.sendMessage(life, patient, "occupant") })
				r.setup = errors.Join(r.setup, waitFor(p.struck))
			}
			if c.ctx == nil {
				return context.WithCancel(life)
			}
			return c.ctx(life, p)
		}
		if c.page > 1 {
			c.listBothPages(life, client, begin, &r)
			return r
		}
		if c.on&reused != 0 {
			_, r.setup = c.sendMessage(life, patient, "warm-up")
		}
		ctx, stop := begin()
		defer stop()
		start := time.Now()
		if c.channel == nil {
			r.rows, r.errs = c.list(ctx, client, p, func() {})
		} else {
			var err error
			if r.id, err = c.sendMessage(ctx, client, testReference); err != nil {
				r.errs = []error{err}
			}
		}
		r.took = time.Since(start)
		return r
	}
}

// peerScript returns what the peer does.
func (c cell) peerScript(strike func() bool) script {
	s := script{
		http2: c.on&overHTTP2 != 0, strikes: strike,
		accept: c.accept, begin: c.begin, early: c.early, react: c.react, idle: c.idle,
	}
	if c.on&reused != 0 || c.page > 1 {
		s.warmUp = 1
	}
	s.parting = c.on&fresh != 0 && c.page > 1
	if c.occupied && s.http2 {
		s.streams = 1
	}
	if !c.tls {
		return s
	}
	proper := &tls.Config{Certificates: []tls.Certificate{c.certificate}}
	if s.http2 {
		proper.NextProtos = []string{"h2"}
	}
	s.tls = proper.Clone()
	if c.handshake != nil {
		s.tls.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if !strike() {
				return nil, nil
			}
			other := proper.Clone()
			c.handshake(other)
			return other, nil
		}
	}
	return s
}

// clientOptions returns what the caller has set up: an HTTP client of its own only where the fault needs one.
func (c cell) clientOptions(t *testing.T, strike func() bool) []messaging.Option {
	t.Helper()
	options := []messaging.Option{messaging.WithLenientLimits()} // some texts are longer than the platform allows
	if c.wrapped {
		options = append(options, messaging.WithObserver(silentObserver{t, testText}), messaging.WithTransport(copying))
	}
	http2 := c.on&overHTTP2 != 0
	if !http2 && c.dial == nil && c.proxy == nil && !c.tls && c.transport == nil {
		return options
	}
	tr := &http.Transport{}
	if http2 {
		tr = http2Transport()
	}
	if c.tls {
		tr.TLSClientConfig = &tls.Config{RootCAs: c.authority}
	}
	if c.dial != nil {
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strike() {
				return c.dial(ctx)
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	}
	if c.proxy != nil {
		via, err := url.Parse(c.proxy(t))
		require.NoError(t, err)
		tr.Proxy = func(*http.Request) (*url.URL, error) {
			if strike() {
				return via, nil
			}
			return nil, nil
		}
	}
	if c.transport != nil {
		c.transport(tr)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return append(options, messaging.WithHTTPClient(&http.Client{Transport: tr}))
}

// copying wraps a transport as tracers do: it sends a copy of the request, with a context of its own.
func copying(base http.RoundTripper) http.RoundTripper {
	return wrapper(func(r *http.Request) (*http.Response, error) {
		type span struct{}
		return base.RoundTrip(r.Clone(context.WithValue(r.Context(), span{}, "1")))
	})
}

type wrapper func(*http.Request) (*http.Response, error)

func (f wrapper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sendMessage sends the message under test, or another one that has another reference.
func (c cell) sendMessage(ctx context.Context, client *messaging.Client, reference string) (id string, err error) {
	text := testText
	if c.text != "" && reference == testReference {
		text = c.text
	}
	over := c.channel
	if over == nil {
		over = &channels[0]
	}
	return over.send(ctx, client, "+"+testNumber, text, reference)
}

// list lists everything, and calls turning when the second page is about to be asked for.
func (c cell) list(ctx context.Context, client *messaging.Client, p *peer, turning func()) (rows []string, errs []error) {
	for tx, err := range client.SMS.List(ctx, sms.ListOptions{To: "+" + testNumber, Extra: url.Values{"text": {testText}}}) {
		if err != nil {
			errs = append(errs, err)
		} else {
			rows = append(rows, tx.ID)
		}
		if tx.ID == lastOfFirstPage && p.page.CompareAndSwap(0, 1) {
			turning()
		}
		if len(rows)+len(errs) > 2*len(listedIDs) {
			return rows, append(errs, errors.New("the listing does not end"))
		}
	}
	return rows, errs
}

// listBothPages lists, and lets the fault begin between the first page and the second.
func (c cell) listBothPages(life context.Context, client *messaging.Client, begin func() (context.Context, context.CancelFunc), r *result) {
	ctx := &lateContext{Context: life, done: make(chan struct{})}
	stop, start := context.CancelFunc(func() {}), time.Now()
	r.rows, r.errs = c.list(ctx, client, r.peer, func() {
		var caller context.Context
		caller, stop = begin()
		start = time.Now()
		ctx.follow(caller)
	})
	r.took = time.Since(start)
	stop()
}

// A lateContext is a caller's context that ends with another one, which is known only in the middle of a listing.
type lateContext struct {
	context.Context //nolint:containedctx // it is the context

	done chan struct{}
	mu   sync.Mutex
	err  error
}

func (c *lateContext) Done() <-chan struct{} { return c.done }

func (c *lateContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// follow ends the context with another one.
func (c *lateContext) follow(other context.Context) {
	end := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = other.Err()
		close(c.done)
	}
	if other.Err() != nil {
		end()
		return
	}
	context.AfterFunc(other, end)
}

// judge checks what came of the call, and enters it into the table.
func (c cell) judge(t *testing.T, r result) {
	t.Helper()
	require.NoError(t, r.setup, "the fault could not hit anything")
	assert.Less(t, r.took, peerLife*3/8, "the call ended only because the peer did")
	want := c.want()
	arrived := c.arrived(r)
	c.table.enter(c, len(arrived), r)
	if want.endless {
		const mostPerAttempt = 9
		assert.GreaterOrEqual(t, len(arrived), want.arrived, "times that the service had the whole request")
		assert.LessOrEqual(t, len(arrived), maxAttempts*mostPerAttempt, "times that the service had the whole request")
	} else {
		if want.replayed&c.on != 0 {
			want.arrived++
		}
		assert.Len(t, arrived, want.arrived, "times that the service had the whole request")
	}
	if c.channel == nil {
		c.judgeListing(t, r, want)
	} else {
		c.judgeSend(t, r, want, arrived)
	}
	c.judgeConnection(t, r, want)
}

// judgeConnection checks that the fault hit the kind of connection that it was meant to hit.
func (c cell) judgeConnection(t *testing.T, r result, want outcome) {
	t.Helper()
	if _, began := r.peer.request(2); !began && c.idle == nil && (c.on&fresh == 0 || c.page == 2) {
		assert.Zero(t, want.arrived)
	}
	assert.True(t, c.isOnConnection(r), "the fault must hit a connection that is fresh, or that of the first request")
}

// isOnConnection reports whether the fault hit the kind of connection that it was meant to hit.
func (c cell) isOnConnection(r result) bool {
	if c.on&fresh != 0 && c.page < 2 || r.setup != nil {
		return true
	}
	before, _ := r.peer.request(1)
	hit, began := r.peer.request(2)
	if !began && c.idle == nil {
		return true
	}
	return (before.conn == hit.conn) == (c.idle == nil && c.on&reused != 0)
}

// arrived returns the whole requests among those that the fault could hit.
func (c cell) arrived(r result) []arrival {
	if c.channel != nil {
		return r.peer.seen(testReference)
	}
	pages := r.peer.filter(arrival.isListing)
	if c.page == 1 && len(r.rows) > 0 {
		return pages[:len(pages)-1] // without the second page
	}
	return pages[min(c.page-1, len(pages)):]
}

func (c cell) judgeSend(t *testing.T, r result, want outcome, arrived []arrival) {
	t.Helper()
	if len(r.errs) > 0 {
		assertOutcome(t, r.errs[0], want)
		if e, ok := errors.AsType[*messaging.Error](r.errs[0]); ok {
			assert.Equal(t, c.channel.operation(), e.Operation)
		}
		return
	}
	assertOutcome(t, nil, want)
	if len(arrived) > 0 {
		assert.Equal(t, fmt.Sprint("m-", arrived[len(arrived)-1].index), r.id, "the response to this send, not to another")
	}
}

// judgeListing checks that a listing yields every row once, or ends with an error that says all that is known.
func (c cell) judgeListing(t *testing.T, r result, want outcome) {
	t.Helper()
	for i, page := range r.peer.filter(arrival.isListing) {
		if page.query == nil { // HTTP/2
			continue
		}
		number := "1"
		if i > 0 && (c.page > 1 || i >= len(c.arrived(r))) {
			number = "2"
		}
		assert.Equal(t, number, page.query.Get("pageNumber"))
		assert.Equal(t, testText, page.query.Get("text"))
	}
	if slices.Contains(want.verdict, messaging.Accepted) {
		assert.Empty(t, r.errs)
		assert.Equal(t, listedIDs, r.rows)
		return
	}
	if c.page == 1 {
		assert.Empty(t, r.rows)
	} else {
		assert.Equal(t, listedIDs[:slices.Index(listedIDs, lastOfFirstPage)+1], r.rows)
	}
	require.Len(t, r.errs, 1, "one error, and then the end")
	assertReadFailure(t, r.errs[0], want)
}

// assertReadFailure checks that everything an error says about a read is true and consistent.
func assertReadFailure(t *testing.T, err error, want outcome) {
	t.Helper()
	assert.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	assert.NotErrorIs(t, err, messaging.ErrNotSent)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "sms.list", e.Operation)
	assert.Empty(t, e.ReferenceID)
	assert.Zero(t, e.Verdict)
	assert.True(t, strings.HasPrefix(err.Error(), "messaging: sms.list failed: "), "%v", err)
	assertResponse(t, e, want)
}
