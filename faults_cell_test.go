package messaging_test

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

// A faultCall is what a fault hits: a message of a channel, or a page of a listing.
type faultCall struct {
	call    string
	channel *channel // nil: a listing
	page    int      // which of its pages, from 1
}

var faultCalls = []faultCall{
	{call: "sms", channel: &channels[0]},
	{call: "chatapp1", channel: &channels[1]},
	{call: "chatapp2", channel: &channels[2]},
	{call: "list", page: 1},
	{call: "list, second page", page: 2},
}

// faultPages are the listing under test, as the service sends it, and listedIDs the IDs of its rows.
var (
	faultPages = []string{
		`{"status":"ok","pageNumber":1,"hasNext":true,"data":[` + pageRow("t-1") + `,` + pageRow("t-2") + `]}`,
		`{"status":"ok","pageNumber":2,"hasNext":false,"data":[` + pageRow("t-3") + `]}`,
	}
	listedIDs = []string{"t-1", "t-2", "t-3"}
)

// lastOfFirstPage is the row behind which the second page is asked for.
const lastOfFirstPage = "t-2"

func pageRow(id string) string {
	return `{"transactionId":"` + id + `","to":"` + faultNumber + `","text":"` + faultText + `"}`
}

// A faultCell is one field of the matrix: a fault on one kind of connection that hits one call.
type faultCell struct {
	fault
	faultCall

	on          connection
	certificate tls.Certificate
	authority   *x509.CertPool
	table       *faultTable
	clears      bool // the fault ends in time
}

// cellsOf gives a cell for each kind of connection and each call that the fault can hit, and another where it is told that
// the fault ends in time.
func cellsOf(cell faultCell) []faultCell {
	var cells []faultCell
	for cell.on = http1Fresh; cell.on <= http2Reused; cell.on <<= 1 {
		for _, call := range faultCalls {
			cell.faultCall, cell.clears = call, false
			if want := cell.want(); cell.fault.on&cell.on != 0 && want.verdict != nil {
				cells = append(cells, cell)
				if cell.clears = want.clears; cell.clears {
					cells = append(cells, cell)
				}
			}
		}
	}
	return cells
}

// want is what must come of the call.
func (f faultCell) want() outcome {
	want := f.send
	if f.channel == nil {
		want = f.read
	}
	if !f.clears {
		return want
	}
	arrived := 1
	if want.arrived > 0 {
		arrived += faultAttempts - 1
	}
	return outcome{arrived: arrived, verdict: []messaging.Verdict{messaging.Accepted}, returned: want.returned}
}

// A faultEnd is what a call came to.
type faultEnd struct {
	peer  *faultPeer
	ready error    // why there was no fault to meet
	id    string   // of the message
	rows  []string // the IDs of those that were listed
	errs  []error
	took  time.Duration
}

// prepareAll sets up cells. What it returns lets the fault hit all of them at once, where most only wait.
func prepareAll(t *testing.T, cells []faultCell) func() []faultEnd {
	t.Helper()
	calls := make([]func() faultEnd, len(cells))
	for i, cell := range cells {
		calls[i] = cell.prepare(t)
	}
	return func() []faultEnd {
		ends := make([]faultEnd, len(cells))
		var running sync.WaitGroup
		for i, call := range calls {
			if cells[i].alone {
				ends[i] = call()
			} else {
				running.Go(func() { ends[i] = call() })
			}
		}
		running.Wait()
		return ends
	}
}

// judgeAll checks what became of the calls, each in a test of its own.
func judgeAll(t *testing.T, cells []faultCell, ends []faultEnd) {
	t.Helper()
	for i, cell := range cells {
		name := cell.on.String() + ", " + cell.call
		if cell.clears {
			name += ", then it clears"
		}
		t.Run(name, func(t *testing.T) {
			end := ends[i]
			const most = 16 // else it is not the machine
			if cell.waits && !cell.isMet(end) && cell.table.again.Add(1) <= most {
				end = cell.prepare(t)() // it may have been too busy for what has to happen in time
			}
			cell.judge(t, end)
		})
	}
}

// isMet tells whether it looks as if the fault had met what it was meant to meet.
func (f faultCell) isMet(end faultEnd) bool {
	want, arrived := f.want(), len(f.arrived(end))
	if want.returned {
		arrived = min(arrived, want.arrived)
	}
	if end.ready != nil || arrived != want.arrived {
		return false
	}
	if len(end.errs) == 0 {
		return slices.Contains(want.verdict, messaging.Accepted)
	}
	e, ok := errors.AsType[*messaging.Error](end.errs[0])
	return ok && slices.Contains(want.verdict, e.Verdict) && (want.status == e.StatusCode || want.status == anyStatus) && (want.attempts == e.Attempts || want.attempts == 0)
}

// prepare sets up both sides. What it returns makes the call, and is what the fault hits.
func (f faultCell) prepare(t *testing.T) (call func() faultEnd) {
	t.Helper()
	var begun atomic.Bool // the fault lets pass what comes before
	var strikes atomic.Int64
	strikes.Store(math.MaxInt64)
	if f.clears {
		strikes.Store(faultAttempts - 1)
	}
	strike := func() bool { return begun.Load() && strikes.Add(-1) >= 0 }
	p := newFaultPeer(t, f.script(strike))
	patient := newFaultClient(t, p.url(), f.setUp(t, strike)...) // does what comes before
	client := patient
	if f.option != nil {
		var err error
		client, err = patient.With(f.option)
		require.NoError(t, err)
	}
	return func() (end faultEnd) {
		life, cancel := context.WithTimeout(t.Context(), peerLife/2)
		defer cancel()
		var occupant sync.WaitGroup
		defer occupant.Wait()
		defer p.stop()
		end.peer = p
		begin := func() (context.Context, context.CancelFunc) {
			if f.idle != nil {
				end.ready = errors.Join(end.ready, happens(p.noticed))
			}
			begun.Store(true)
			if f.occupied {
				occupant.Go(func() { _, _ = f.message(life, patient, "occupant") })
				end.ready = errors.Join(end.ready, happens(p.struck))
			}
			if f.ctx == nil {
				return context.WithCancel(life)
			}
			return f.ctx(life, p)
		}
		if f.page > 1 {
			ctx := &lateContext{Context: life, done: make(chan struct{})}
			stop, start := context.CancelFunc(func() {}), time.Now()
			end.rows, end.errs = f.list(ctx, client, p, func() {
				var callers context.Context
				callers, stop = begin()
				start = time.Now()
				ctx.endWith(callers)
			})
			end.took = time.Since(start)
			stop()
			return end
		}
		if f.on&reused != 0 {
			_, end.ready = f.message(life, patient, "warm-up")
		}
		ctx, stop := begin()
		defer stop()
		start := time.Now()
		if f.channel == nil {
			end.rows, end.errs = f.list(ctx, client, p, func() {})
		} else {
			var err error
			if end.id, err = f.message(ctx, client, faultReference); err != nil {
				end.errs = []error{err}
			}
		}
		end.took = time.Since(start)
		return end
	}
}

// script is what the peer does.
func (f faultCell) script(strike func() bool) faultScript {
	script := faultScript{
		http2: f.on&overHTTP2 != 0, strikes: strike,
		accept: f.accept, begin: f.begin, early: f.early, react: f.react, idle: f.idle,
	}
	if f.on&reused != 0 || f.page > 1 {
		script.warmUp = 1
	}
	script.parting = f.on&fresh != 0 && f.page > 1
	if f.occupied && script.http2 {
		script.streams = 1
	}
	if !f.tls {
		return script
	}
	proper := &tls.Config{Certificates: []tls.Certificate{f.certificate}}
	if script.http2 {
		proper.NextProtos = []string{"h2"}
	}
	script.tls = proper.Clone()
	if f.handshake != nil {
		script.tls.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if !strike() {
				return nil, nil
			}
			other := proper.Clone()
			f.handshake(other)
			return other, nil
		}
	}
	return script
}

// setUp returns what the caller has set up: an HTTP client of its own only where the library's would not do.
func (f faultCell) setUp(t *testing.T, strike func() bool) []messaging.Option {
	t.Helper()
	options := []messaging.Option{messaging.WithLenientLimits()} // some texts are longer than a platform takes
	http2 := f.on&overHTTP2 != 0
	if !http2 && f.dial == nil && f.proxy == nil && !f.tls && f.transport == nil {
		return options
	}
	tr := &http.Transport{}
	if http2 {
		tr = http2Transport()
	}
	if f.tls {
		tr.TLSClientConfig = &tls.Config{RootCAs: f.authority}
	}
	if f.dial != nil {
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strike() {
				return f.dial(ctx)
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	}
	if f.proxy != nil {
		via, err := url.Parse(f.proxy(t))
		require.NoError(t, err)
		tr.Proxy = func(*http.Request) (*url.URL, error) {
			if strike() {
				return via, nil
			}
			return nil, nil
		}
	}
	if f.transport != nil {
		f.transport(tr)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return append(options, messaging.WithHTTPClient(&http.Client{Transport: tr}))
}

// message sends the message under test, or another that is told by its reference.
func (f faultCell) message(ctx context.Context, client *messaging.Client, reference string) (id string, err error) {
	text := faultText
	if f.text != "" && reference == faultReference {
		text = f.text
	}
	over := f.channel
	if over == nil {
		over = &channels[0]
	}
	return over.send(ctx, client, "+"+faultNumber, text, reference)
}

// list lists what there is, and says when the second page is about to be asked for.
func (f faultCell) list(ctx context.Context, client *messaging.Client, p *faultPeer, turning func()) (rows []string, errs []error) {
	for tx, err := range client.SMS.List(ctx, sms.ListOptions{To: "+" + faultNumber, Extra: url.Values{"text": {faultText}}}) {
		if err != nil {
			errs = append(errs, err)
		} else {
			rows = append(rows, tx.ID)
		}
		if tx.ID == lastOfFirstPage && p.page.CompareAndSwap(0, 1) {
			turning()
		}
		if len(rows)+len(errs) > 2*len(listedIDs) {
			return rows, append(errs, errors.New("it does not end"))
		}
	}
	return rows, errs
}

// happens waits for what must happen, so that a call that would hang fails.
func happens(event <-chan struct{}) error {
	select {
	case <-event:
		return nil
	case <-time.After(peerLife):
		return errors.New("what must happen did not")
	}
}

// A lateContext is a caller's context that ends in the middle of a listing: with another, which is made only then.
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

func (c *lateContext) endWith(other context.Context) {
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

// judge checks what became of the call, and takes it into the table.
func (f faultCell) judge(t *testing.T, end faultEnd) {
	t.Helper()
	require.NoError(t, end.ready, "there was no fault to meet")
	assert.Less(t, end.took, peerLife*3/8, "it ended only because the peer did")
	want := f.want()
	arrived := f.arrived(end)
	f.table.enter(f, len(arrived), end)
	switch {
	case want.returned:
		const most = 9 // for each attempt
		assert.GreaterOrEqual(t, len(arrived), want.arrived, "times that the service had the whole request")
		assert.LessOrEqual(t, len(arrived), faultAttempts*most, "times that the service had the whole request")
	case want.repeated&f.on != 0:
		want.arrived++
		fallthrough
	default:
		assert.Len(t, arrived, want.arrived, "times that the service had the whole request")
	}
	if f.channel == nil {
		f.judgeListing(t, end, want)
	} else {
		f.judgeSend(t, end, want, arrived)
	}
	if f.on&fresh != 0 && f.page < 2 {
		return
	}
	before, _ := end.peer.first(1)
	hit, began := end.peer.first(2)
	switch {
	case f.idle != nil:
		assert.NotEqual(t, before.conn, hit.conn, "the connection that was closed")
	case !began:
		assert.Zero(t, want.arrived)
	case f.on&reused != 0:
		assert.Equal(t, before.conn, hit.conn, "the fault must hit the connection of the first request")
	default:
		assert.NotEqual(t, before.conn, hit.conn, "the fault must hit a fresh connection")
	}
}

// arrived gives the requests that the service had whole, of those that the fault could hit.
func (f faultCell) arrived(end faultEnd) []arrival {
	if f.channel != nil {
		return end.peer.seen(faultReference)
	}
	pages := end.peer.whole(arrival.isListing)
	if f.page == 1 && len(end.rows) > 0 {
		return pages[:len(pages)-1] // the second page
	}
	return pages[min(f.page-1, len(pages)):]
}

func (f faultCell) judgeSend(t *testing.T, end faultEnd, want outcome, arrived []arrival) {
	t.Helper()
	if len(end.errs) > 0 {
		assertOutcome(t, end.errs[0], want)
		if e, ok := errors.AsType[*messaging.Error](end.errs[0]); ok {
			assert.Equal(t, f.channel.operation(), e.Operation)
		}
		return
	}
	assertOutcome(t, nil, want)
	if len(arrived) > 0 {
		assert.Equal(t, fmt.Sprint("m-", arrived[len(arrived)-1].index), end.id, "the answer to this send, not to another")
	}
}

// judgeListing checks that a listing hands out every row once, or that it ends with an error that says all that is known.
func (f faultCell) judgeListing(t *testing.T, end faultEnd, want outcome) {
	t.Helper()
	for i, page := range end.peer.whole(arrival.isListing) {
		if page.query != nil { // HTTP/1
			asked := "1"
			if i > 0 && (f.page > 1 || i >= len(f.arrived(end))) {
				asked = "2"
			}
			assert.Equal(t, asked, page.query.Get("pageNumber"))
			assert.Equal(t, faultText, page.query.Get("text"))
		}
	}
	if slices.Contains(want.verdict, messaging.Accepted) {
		assert.Empty(t, end.errs)
		assert.Equal(t, listedIDs, end.rows)
		return
	}
	if f.page == 1 {
		assert.Empty(t, end.rows)
	} else {
		assert.Equal(t, listedIDs[:slices.Index(listedIDs, lastOfFirstPage)+1], end.rows)
	}
	require.Len(t, end.errs, 1, "one error, and then the end")
	assertReadFailure(t, end.errs[0], want)
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
	assert.Contains(t, want.verdict, e.Verdict)
	assert.True(t, strings.HasPrefix(err.Error(), "messaging: sms.list failed: "), "%v", err)
	assertKnown(t, e, want)
}
