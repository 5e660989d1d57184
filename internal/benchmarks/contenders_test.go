package main

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

func TestEveryContenderDoesItsWork(t *testing.T) {
	for benchmark, comparison := range comparisons() {
		for _, c := range comparison.contenders {
			t.Run(benchmark+"/"+c.name, func(t *testing.T) {
				assert.NoError(t, c.prepare(t)(t.Context(), 2))
				if c.floor != nil {
					assert.NoError(t, c.floor(t)(t.Context(), 2))
				}
			})
		}
	}
}

func TestResponseThatIsNotUnderstoodIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.route.response = `{}`
			assert.Error(t, p.inMemory(t)(t.Context(), 1))
		})
	}
	send := call(newClient(t, unreachable, inMemory(acceptedResponse)).SMS.Send)
	assert.ErrorIs(t, send.requireID("another")(t.Context(), 1), errNoID)
	assert.ErrorIs(t, send.pool(2, "another")(t.Context(), 3), errNoID)
}

func TestListingThatIsCutIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range listingPeers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, p.list(t, p.responses()).requireRows(pagesInMemory*rowsPerPage+1)(t.Context(), 1), "rows were listed")
		})
	}
}

func TestEventWithAnotherSignatureIsRefused(t *testing.T) {
	t.Parallel()
	for _, p := range hookPeers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			right := p.sign
			wrong := p
			wrong.sign = func(at, body string) string { return right(at, body+" ") }
			if p.body == "" {
				wrong.sign = func(string, string) string { return "c2lnbmF0dXJl" }
			}
			for _, handle := range []func(*http.Request) error{p.handle, p.byHand} {
				assert.ErrorContains(t, wrong.prepare(handle)(t)(t.Context(), 1), "responded 400")
			}
		})
	}
}

func TestReplayMakesTheSameRequests(t *testing.T) {
	t.Parallel()
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			first := &recorder{next: inMemory(p.route.response)}
			require.NoError(t, p.connect(t, unreachable, first).requireID(p.id)(t.Context(), 1))
			require.Len(t, first.requests, 1)
			again := &recorder{next: inMemory(p.route.response)}
			require.NoError(t, first.replay(t, again, p.newResult)(t.Context(), 1))
			require.Len(t, again.requests, 1)
			want := string(first.requests[0].body)
			got := string(again.requests[0].body)
			if want != got { // encoding/json may order the members in another way
				assert.JSONEq(t, want, got)
				again.requests[0].body = first.requests[0].body
			}
			assert.Equal(t, first.requests, again.requests)
		})
	}
}

// requestOf returns the request of a call, without the name of the client.
func requestOf(t *testing.T, connect func(over http.RoundTripper) call) recordedRequest {
	t.Helper()
	r := &recorder{next: inMemory(acceptedResponse)}
	require.NoError(t, connect(r).requireID(messageID)(t.Context(), 1))
	require.Len(t, r.requests, 1)
	request := r.requests[0]
	request.header.Del("User-Agent")
	return request
}

func TestFloorsSendWhatThisLibrarySends(t *testing.T) {
	t.Parallel()
	ours := requestOf(t, func(over http.RoundTripper) call { return newClient(t, unreachable, over).SMS.Send })
	assert.Equal(t, ours, requestOf(t, func(over http.RoundTripper) call {
		return byHand(&http.Client{Transport: over}, unreachable+smsPath, plainBody)
	}))
	ours = requestOf(t, func(over http.RoundTripper) call { return sendTemplate(newClient(t, unreachable, over)) })
	floor := requestOf(t, func(over http.RoundTripper) call {
		return byHand(&http.Client{Transport: over}, unreachable+chatApp2Path, templateBody)
	})
	assert.JSONEq(t, string(ours.body), string(floor.body))
	assert.Equal(t, ours.header, floor.header)
	assert.Equal(t, ours.url, floor.url)
}

func TestFloorReturnsTheReceiptOfThisLibrary(t *testing.T) {
	t.Parallel()
	over := inMemory(acceptedResponse)
	ours, err := newClient(t, unreachable, over).SMS.Send(t.Context(), orderMessage())
	require.NoError(t, err)
	assert.NotEmpty(t, ours.Raw)
	ours.Raw = nil
	floor, err := byHand(&http.Client{Transport: over}, unreachable+smsPath, plainBody)(t.Context(), orderMessage())
	require.NoError(t, err)
	assert.Equal(t, ours, floor)
}

func TestTemplateByHandIsChecked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*plainTemplateMessage){
		"recipient": func(m *plainTemplateMessage) { m.To = "Ana" },
		"name":      func(m *plainTemplateMessage) { m.Template.Name = "" },
		"language":  func(m *plainTemplateMessage) { m.Template.Language.Code = "" },
		"UTF-8":     func(m *plainTemplateMessage) { m.Template.Components[0].Parameters[0].Text = "\xff" },
		"text":      func(m *plainTemplateMessage) { m.Template.Components[0].Parameters[0].Text = " " },
		"two bodies": func(m *plainTemplateMessage) {
			m.Template.Components = append(m.Template.Components, m.Template.Components...)
		},
		"some names":  func(m *plainTemplateMessage) { m.Template.Components[0].Parameters[0].Name = "first" },
		"no problems": func(*plainTemplateMessage) {},
	} {
		body, err := templateBody(orderMessage())
		require.NoError(t, err)
		m, ok := body.(plainTemplateMessage)
		require.True(t, ok)
		spoil(&m)
		assert.Equal(t, name == "no problems", m.isValid(), name)
	}
	_, err := templateBody(sms.Message{To: "Ana"})
	assert.ErrorIs(t, err, errMessage)
}

// pagesWithRepeatedRow returns two pages. The second repeats a row of the first.
func pagesWithRepeatedRow() *pageSequence {
	pages := smsPages(2, 3)
	return newPageSequence([][]byte{pages[0], []byte(`{"totalRows":6,"totalPages":2,"pageNumber":2,"pageSize":3,"hasNext":false,"data":[` +
		rowsOf(smsRow(), 2, 3) + `]}`)})
}

func TestListingByHandDropsWhatThisLibraryDrops(t *testing.T) {
	t.Parallel()
	assert.NoError(t, listOurs(t, unreachable, pagesWithRepeatedRow(), sms.ListOptions{}).requireRows(5)(t.Context(), 1))
	client := &http.Client{Transport: pagesWithRepeatedRow()}
	assert.NoError(t, listByHand(client, unreachable, buffered(decodePageByHand), true).requireRows(5)(t.Context(), 1))
	assert.NoError(t, listByHand(client, unreachable, decodePage, false).requireRows(6)(t.Context(), 1))
}

func TestKeyByHandCoversTheSender(t *testing.T) {
	t.Parallel()
	event := map[string][]string{"id": {"1"}, "from": {"2"}}
	assert.Regexp(t, `^sms\.[0-9a-f]{32}$`, key(event))
	assert.Equal(t, key(event), key(map[string][]string{"id": {"1"}, "from": {"2"}, "x": {"3"}}))
	assert.NotEqual(t, key(event), key(map[string][]string{"id": {"1"}, "from": {"3"}}))
}

func TestRecorderPassesTheBodyOn(t *testing.T) {
	t.Parallel()
	var body string
	r := &recorder{next: roundTrip(func(r *http.Request) (*http.Response, error) {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(read)
		return inMemory(acceptedResponse).RoundTrip(r.Clone(r.Context()))
	})}
	receipt, err := byHand(&http.Client{Transport: r}, unreachable, plainBody)(t.Context(), orderMessage())
	require.NoError(t, err)
	assert.Equal(t, messageID, receipt.ID)
	assert.JSONEq(t, `{"from":"ACME","to":"+639171234567","text":"Your order 17 is ready","referenceId":"order-17"}`, body)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCalibrateReturnsWhatTakesATurn(t *testing.T) {
	t.Parallel()
	n := calibrate(t, busy(t), 1, 8*time.Millisecond)
	assert.Positive(t, n)
	assert.LessOrEqual(t, n, 80, "more than that cannot be done in the time")
	assert.Equal(t, 100, calibrate(t, busy(t), 100, time.Millisecond))
}

func TestUseCounts(t *testing.T) {
	s := use(t, busy(t), 20)
	assert.Equal(t, 20, s.units)
	assert.GreaterOrEqual(t, s.wall, 2*time.Millisecond)
	assert.Positive(t, s.cpu)
	var kept []*[64]byte
	s = use(t, func(_ context.Context, n int) error {
		for range n {
			kept = append(kept, new([64]byte))
		}
		return nil
	}, 1000)
	assert.NotEmpty(t, kept)
	assert.InDelta(t, 1000, float64(s.allocs), 300)
}

// busy returns an operation that takes 100 µs of wall time and of processor time.
func busy(tb testing.TB) operation {
	tb.Helper()
	return func(_ context.Context, n int) error {
		const least = 100 * time.Microsecond
		for range n {
			for began, used := time.Now(), processorTime(tb); time.Since(began) < least || processorTime(tb)-used < least; {
				runtime.Gosched()
			}
		}
		return nil
	}
}
