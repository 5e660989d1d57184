package messaging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// clerk is a service whose sends and lookups end as its scripts say. The last word of a script repeats. It records when each
// request came.
//
//	sends:   accepted lost refused unsent duplicate
//	lookups: listed nothing other stranger broken missing hanging cached cached-listed claimed failed
type clerk struct {
	sends, lookups       string
	sendTime, lookupTime time.Duration
	afterLookup          func(n int)
	listedTo             string // the number of a listed row

	mu           sync.Mutex
	start        time.Time
	sent, looked int
	events       []string // "send@0s", "look@2s"
	references   []string
}

// word returns the n-th word of a script, from 0.
func word(script string, n int) string {
	words := strings.Fields(script)
	return words[min(n, len(words)-1)]
}

func (c *clerk) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return c.lookup(r)
	}
	return c.send(r)
}

func (c *clerk) record(event, reference string, count *int) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = *count
	*count++
	c.events = append(c.events, fmt.Sprintf("%s@%v", event, time.Since(c.start)))
	c.references = append(c.references, reference)
	return n
}

func (c *clerk) send(r *http.Request) (*http.Response, error) {
	raw, _ := io.ReadAll(r.Body)
	_, reference, _ := strings.Cut(string(raw), `"referenceId":"`)
	reference, _, _ = strings.Cut(reference, `"`)
	n := c.record("send", reference, &c.sent)
	switch w := word(c.sends, n); w {
	case "accepted", "lost":
		if err := wait(r.Context(), c.sendTime); err != nil {
			return nil, err
		}
		if w == "lost" {
			return nil, fmt.Errorf("send %d: no response", n+1)
		}
		return respond(r, http.StatusOK, fmt.Sprintf(`{"id":"sent-%d"}`, n+1)), nil
	case "refused":
		return respond(r, http.StatusBadRequest, `{"code":"E-1"}`), nil
	case "unsent":
		return nil, &net.OpError{Op: "dial", Err: errors.New("no route")}
	case "duplicate":
		return respond(r, http.StatusConflict, `{"code":"200206"}`), nil
	default:
		panic(w)
	}
}

func (c *clerk) lookup(r *http.Request) (*http.Response, error) {
	reference := r.URL.Query().Get("filter[referenceId]")
	n := c.record("look", reference, &c.looked)
	if c.afterLookup != nil {
		defer c.afterLookup(n + 1)
	}
	if err := wait(r.Context(), c.lookupTime); err != nil {
		return nil, err
	}
	rows := func(row string, headers ...string) (*http.Response, error) {
		return respond(r, http.StatusOK, `{"hasNext":false,"data":[`+row+`]}`, headers...), nil
	}
	listed := fmt.Sprintf(`{"id":"listed-1","requestId":"q-1","referenceId":%q,"to":%q,"messageParts":2,"price":"0.50","operator":"OP_1","text":"Hi"}`, reference, c.listedTo)
	switch w := word(c.lookups, n); w {
	case "listed":
		return rows(listed)
	case "cached-listed":
		return rows(listed, "Age", "7")
	case "nothing":
		return rows("")
	case "cached":
		return rows("", "Age", "3")
	case "claimed":
		return respond(r, http.StatusOK, `{"data":[],"totalRows":1}`), nil
	case "failed":
		return respond(r, http.StatusOK, `{"data":[],"error":"database timeout"}`), nil
	case "stranger":
		return rows(fmt.Sprintf(`{"id":"other-1","referenceId":%q,"to":"+639180000000"}`, reference))
	case "other":
		return rows(`{"id":"other-1","referenceId":"another"}`)
	case "broken":
		return respond(r, http.StatusBadRequest, `{}`), nil
	case "missing":
		return respond(r, http.StatusNotFound, `{}`), nil
	case "hanging":
		<-r.Context().Done()
		return nil, r.Context().Err()
	default:
		panic(w)
	}
}

func newClerk(sends, lookups string) *clerk {
	return &clerk{sends: sends, lookups: lookups, start: time.Now()}
}

func (c *clerk) client(t *testing.T, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(baseURL, append([]messaging.Option{
		messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: c}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithTimeout(time.Hour),
	}, options...)...)
	require.NoError(t, err)
	return client
}

func (c *clerk) history() string { return strings.Join(c.events, " ") }

func settling(window, interval time.Duration) messaging.Option {
	return messaging.WithSettle(messaging.SettlePolicy{Window: window, Interval: interval})
}

func TestSendOnce(t *testing.T) {
	t.Parallel()
	const (
		window = "look@0s look@2s look@4s look@6s"
		first  = "sent-1"
		found  = "listed-1"
	)
	for name, tt := range map[string]struct {
		sends, lookups string
		events         string
		id             string // of the receipt; "" is an error
	}{
		"accepted":                        {"accepted", "nothing", "send@0s", first},
		"refused":                         {"refused", "nothing", "send@0s", ""},
		"a duplicate":                     {"duplicate", "listed", "send@0s look@0s", found},
		"not sent":                        {"unsent", "nothing", "send@0s", ""},
		"listed at once":                  {"lost", "listed", "send@0s look@0s", found},
		"listed in a cache":               {"lost", "cached-listed", "send@0s look@0s", found},
		"listed late":                     {"lost", "nothing nothing listed", "send@0s look@0s look@2s look@4s", found},
		"listed at the end of the window": {"lost", "nothing nothing nothing listed", "send@0s " + window, found},
		"listed after failures":           {"lost", "broken nothing broken listed", "send@0s " + window, found},
		"never listed":                    {"lost", "nothing", "send@0s " + window, ""},
		"lookups fail":                    {"lost", "broken", "send@0s " + window, ""},
		"the last lookup fails":           {"lost", "nothing nothing nothing broken", "send@0s " + window, ""},
		"lookups from a cache":            {"lost", "cached", "send@0s " + window, ""},
		"the last lookup from a cache":    {"lost", "nothing nothing nothing cached", "send@0s " + window, ""},
		"early lookups from a cache":      {"lost", "cached cached cached nothing", "send@0s " + window, ""},
		"the last lookup claims a row":    {"lost", "nothing nothing nothing claimed", "send@0s " + window, ""},
		"the last lookup is a failure":    {"lost", "nothing nothing nothing failed", "send@0s " + window, ""},
		"the filter is ignored":           {"lost", "other", "send@0s look@0s", ""},
		"the filter is ignored later":     {"lost", "nothing broken other listed", "send@0s look@0s look@2s look@4s", ""},
		"a row of another number":         {"lost", "nothing stranger listed", "send@0s look@0s look@2s look@4s", found},
		"only a row of another number":    {"lost", "stranger", "send@0s " + window, ""},
		"the path of lookups is missing":  {"lost", "missing", "send@0s " + window, ""},
		"lookups hang":                    {"lost", "hanging", "send@0s look@0s", ""},
		"the last lookup hangs":           {"lost", "nothing nothing nothing hanging", "send@0s " + window, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newClerk(tt.sends, tt.lookups)
				receipt, err := c.client(t, settling(6*time.Second, 2*time.Second)).SMS.SendOnce(t.Context(), one)
				assert.Equal(t, tt.events, c.history())
				for _, reference := range c.references {
					assert.Equal(t, one.ReferenceID, reference)
				}
				if tt.id == "" {
					require.Error(t, err)
					e, _ := errors.AsType[*messaging.Error](err)
					assert.Equal(t, 1, e.Attempts, "the error is that of the first send")
					assert.Equal(t, strings.HasPrefix(tt.sends, "lost"), errors.Is(err, messaging.ErrOutcomeUnknown))
					assert.Equal(t, messaging.Receipt{}, receipt)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tt.id, receipt.ID)
				assert.Equal(t, one.ReferenceID, receipt.ReferenceID)
			})
		})
	}
}

func TestSendOnceReceiptOfARow(t *testing.T) {
	t.Parallel()
	c := newClerk("lost", "listed")
	receipt, err := c.client(t).SMS.SendOnce(t.Context(), one)
	require.NoError(t, err)
	assert.Equal(t, messaging.Receipt{
		ID: "listed-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, Cost: "0.50", Operator: "OP_1", Attempts: 1,
	}, receipt)
}

func TestSendOnceUsesOneReferenceID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := one
		m.ReferenceID = ""
		c := newClerk("lost", "nothing")
		_, err := c.client(t, settling(6*time.Second, 2*time.Second)).SMS.SendOnce(t.Context(), m)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
		assert.Len(t, c.references, 5)
		assert.Len(t, c.references[0], 26)
		for _, reference := range c.references {
			assert.Equal(t, c.references[0], reference)
		}
	})
}

func TestSendOnceEndsTheWindowWithALookup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		window, interval time.Duration
		events           string
	}{
		{5 * time.Second, 2 * time.Second, "send@0s look@0s look@2s look@4s look@5s"},
		{time.Second, time.Minute, "send@0s look@0s look@1s"},
		{time.Second, time.Second, "send@0s look@0s look@1s"},
		{time.Nanosecond, time.Second, "send@0s look@0s look@1ns"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost", "nothing")
			_, err := c.client(t, settling(tt.window, tt.interval)).SMS.SendOnce(t.Context(), one)
			require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
			assert.Equal(t, tt.events, c.history())
		})
	}
}

// SendOnce says what the lookups found: nothing, or that nothing is known.
func TestSendOnceSaysWhetherItIsListed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lookups   string
		slow      time.Duration
		events    string
		took      time.Duration
		notListed bool
	}{
		{"nothing", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, true},
		{"broken broken broken nothing", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, true},
		{"nothing", 4 * time.Second, "send@0s look@0s look@6s", 10 * time.Second, true},
		{"nothing", 2500 * time.Millisecond, "send@0s look@0s look@4.5s look@7s", 9500 * time.Millisecond, true},
		{"nothing", 5500 * time.Millisecond, "send@0s look@0s look@6s", 11 * time.Second, false},
		{"hanging", 0, "send@0s look@0s", 11 * time.Second, false},
		{"nothing nothing nothing broken", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
		{"nothing nothing nothing cached", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
		{"nothing nothing nothing claimed", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
		{"nothing nothing nothing failed", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
		{"missing", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
		{"other", 0, "send@0s look@0s", 0, false},
		{"stranger", 0, "send@0s look@0s look@2s look@4s look@6s", 6 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost", tt.lookups)
			c.lookupTime = tt.slow
			client := c.client(t, settling(6*time.Second, 2*time.Second))
			_, err := client.SMS.SendOnce(t.Context(), one)
			assert.Equal(t, tt.events, c.history())
			assert.Equal(t, tt.took, time.Since(c.start))
			require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
			assert.Equal(t, tt.notListed, errors.Is(err, messaging.ErrNotListed), "%s: %v", tt.lookups, err)
			require.NotErrorIs(t, err, messaging.ErrNotFound)
			for out := range client.SMS.SendAll(t.Context(), slices.Values([]sms.Message{one}), 1) {
				assert.Equal(t, err.Error(), out.Err.Error())
				assert.Equal(t, tt.notListed, errors.Is(out.Err, messaging.ErrNotListed), tt.lookups)
			}
		})
	}
}

// A response with an Age above 0 came from a cache. Nothing else about caches and clocks decides anything.
func TestLookupIsNotListedOnlyWithoutAge(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		header, value string
		notListed     bool
	}{
		{"X-Other", "1", true},
		{"Age", "0", true},
		{"Age", "soon", true},
		{"Age", "1", false},
		{"Age", "300", false},
		{"Age", "2147483648", false},
		{"X-Cache", "HIT", true},
		{"Date", now.Add(-time.Hour).UTC().Format(http.TimeFormat), true},
		{"Date", now.Add(time.Hour).UTC().Format(http.TimeFormat), true},
	} {
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusOK, `{"data":[]}`, tt.header, tt.value), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), settling(time.Nanosecond, time.Nanosecond))
		require.NoError(t, err)
		_, err = client.SMS.Settle(t.Context(), one, time.Now())
		assert.Equal(t, tt.notListed, errors.Is(err, messaging.ErrNotListed), "%s: %s", tt.header, tt.value)
		_, err = client.SMS.Find(t.Context(), one.ReferenceID)
		assert.Equal(t, tt.notListed, errors.Is(err, messaging.ErrNotListed), "%s: %s", tt.header, tt.value)
	}
}

// Only a whole, undisturbed listing says that a message is not listed.
func TestFindIsNotListedOnlyInAWholeListing(t *testing.T) {
	t.Parallel()
	for listing, whole := range map[string]bool{
		`{"data":[]}`: true,
		`{"status":"success","success":true,"errors":[],"partial":false,"totalRows":0,"pageNumber":1,"data":[]}`: true,
		`{"data":[],"pageNumber":0,"totalPages":1}`:                                                              true,
		`{"data":[],"links":[{"url":null,"label":"1","active":true}],"totalRows":0}`:                             true,
		`{"data":[],"meta":{"filters":[{"field":"referenceId"}]}}`:                                               true,
		`{"data":[{"id":"m-1","referenceId":"r-1"}],"data":[]}`:                                                  false,
		`{"data":[],"data":[{"id":"m-1","referenceId":"r-1"}]}`:                                                  false,
		`{"data":[],"totalRows":3,"totalRows":0}`:                                                                false,
		`{"data":[],"errors":[{"title":"shard 3 timed out"}]}`:                                                   false,
		`{"data":[],"success":false}`:                                                                            false,
		`{"data":[],"partial":true}`:                                                                             false,
		`{"data":[],"fault":"timeout"}`:                                                                          false,
		`{"data":[],"status":"error"}`:                                                                           false,
		`{"data":[],"pageNumber":3,"totalPages":3}`:                                                              false,
		`{"data":[],"totalPages":3}`:                                                                             false,
		`{"data":[],"status":"OK","totalRows":"0","totalPages":0}`:                                               true,
		`{"data":[],"status":200,"totalRows":null}`:                                                              true,
		`{"data":[],"status":null,"totalRows":""}`:                                                               true,
		`{"data":[],"status":"fail"}`:                                                                            false,
		`{"data":[],"status":"partial"}`:                                                                         false,
		`{"data":[],"status":{"state":"partial"}}`:                                                               false,
		`{"data":[],"totalRows":"many"}`:                                                                         false,
		`{"data":[],"totalRows":true}`:                                                                           false,
		`{"data":[],"totalRows":-1}`:                                                                             false,
		`{"data":[],"totalRows":{"value":1}}`:                                                                    false,
		`{"data":[],"totalPages":"many"}`:                                                                        false,
		`{"data":[],"totalRows":"1"}`:                                                                            false,
		`{"data":[],"hasNext":true}`:                                                                             false,
		`{"data":[],"totalRows":0,"hasNext":true}`:                                                               false,
	} {
		service := roundTripper(func(r *http.Request) (*http.Response, error) { return respond(r, http.StatusOK, listing), nil })
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), settling(time.Nanosecond, time.Nanosecond))
		require.NoError(t, err)
		_, err = client.SMS.Settle(t.Context(), one, time.Now())
		assert.Equal(t, whole, errors.Is(err, messaging.ErrNotListed), "%s: %v", listing, err)
		_, err = client.SMS.Find(t.Context(), one.ReferenceID)
		assert.Equal(t, whole, errors.Is(err, messaging.ErrNotListed), "%s: %v", listing, err)
	}
}

// Countries insert digits into the numbers of mobile phones, and services leave them out; other numbers that end alike are of others.
func TestSettleComparesNumbersOfCountries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sent, listed string
		same         bool
	}{
		{"+639171234567", "+15551234567", false},
		{"+639171234567", "+6391234567", false},
		{"+639171234567", "+631234567", false},
		{"+639171234567", "+639181234567", false},
		{"+639171234567", "171234567", true},
		{"+639171234567", "181234567", false},
		{"+639171234567", "01234567", true},
		{"+639171234567", "0639171234567", true},
		{"+15551234567", "5551234567", true},
		{"+15551234567", "4441234567", false},
		{"09171234567", "+639171234567", true},
		{"+390612345678", "0612345678", true},
		{"+5215512345678", "+525512345678", true},
		{"+525512345678", "005215512345678", true},
		{"+5491123456789", "541123456789", true},
		{"+541123456789", "+5491123456789", true},
		{"+5511987654321", "+551187654321", true},
		{"+442079460000", "+44 (0)20 7946 0000", true},
		{"+5215512345678", "+545512345678", false},
		{"12345", "12345", true},
		{"12345", "+6312345", true},
		{"12345", "12346", false},
		{"12345", "345", false},
		{"+639171234567", "63917***4567", false},
		{"+639171234567", "63917xxxxx67", false},
	} {
		c := newClerk("accepted", "listed")
		c.listedTo = tt.listed
		_, err := c.client(t, settling(time.Nanosecond, time.Nanosecond)).SMS.Settle(t.Context(), sms.Message{From: "A", To: tt.sent, Text: "x", ReferenceID: "r"}, c.start)
		assert.Equal(t, tt.same, err == nil, "%s listed as %s: %v", tt.sent, tt.listed, err)
	}
}

func TestSendOnceComparesNumbers(t *testing.T) {
	t.Parallel()
	for listed, same := range map[string]bool{
		"+639171234567": true, "639171234567": true, "00639171234567": true, "09171234567": true, "9171234567": true,
		"+63 (917) 123-4567": true, "": true, " ": true, "1234567": true,
		"+639171234568": false, "+639170234567": false, "639171234567 0": false, "4568": false,
		"4567": false, "***4567": false, "234567": false, "ACME": false, "unknown": false, "639181234567,639171234567": false,
	} {
		c := newClerk("lost", "listed")
		c.listedTo = listed
		_, err := c.client(t, settling(time.Nanosecond, time.Nanosecond)).SMS.SendOnce(t.Context(), sms.Message{From: "A", To: "+639171234567", Text: "x", ReferenceID: "r"})
		assert.Equal(t, same, err == nil, listed)
	}
}

func TestSendOnceUnderAnEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newClerk("accepted", "listed")
	_, err := c.client(t).SMS.SendOnce(ctx, one)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	assert.Empty(t, c.events)
}

func TestSendAllSettlesWithWithSettleOnly(t *testing.T) {
	t.Parallel()
	for _, settles := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newClerk("lost", "nothing listed")
			var options []messaging.Option
			if settles {
				options = append(options, settling(6*time.Second, 2*time.Second))
			}
			unnamed := one
			unnamed.ReferenceID = ""
			messages := func(yield func(sms.Message) bool) { _ = yield(unnamed) && yield(one) }
			outcomes := map[int]messaging.Outcome[sms.Message]{}
			for out := range c.client(t, options...).SMS.SendAll(t.Context(), messages, 1) {
				outcomes[out.Index] = out
			}
			require.Len(t, outcomes, 2)
			assert.Equal(t, one, outcomes[1].Message)
			if !settles {
				assert.Equal(t, "send@0s send@0s", c.history())
				assert.Equal(t, unnamed, outcomes[0].Message)
				require.ErrorIs(t, outcomes[0].Err, messaging.ErrOutcomeUnknown)
				require.ErrorIs(t, outcomes[1].Err, messaging.ErrOutcomeUnknown)
				return
			}
			assert.Equal(t, "send@0s look@0s look@2s send@2s look@2s", c.history())
			assert.Len(t, outcomes[0].Message.ReferenceID, 26)
			for _, out := range outcomes {
				require.NoError(t, out.Err)
				assert.Equal(t, "listed-1", out.Receipt.ID)
				assert.Equal(t, out.Message.ReferenceID, out.Receipt.ReferenceID)
			}
			assert.Equal(t, outcomes[0].Message.ReferenceID, c.references[0])
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lookups string
		ago     time.Duration // since when the message may have been sent
		events  string
		is      []error // besides ErrOutcomeUnknown; nil is a receipt
		text    string
	}{
		"listed":                {"listed", 0, "look@0s", nil, ""},
		"listed in a cache":     {"cached-listed", time.Hour, "look@0s", nil, ""},
		"listed later":          {"nothing broken listed", 0, "look@0s look@2s look@4s", nil, ""},
		"not listed":            {"nothing", 0, "look@0s look@2s look@4s look@6s", []error{messaging.ErrNotListed}, "no message with this reference ID is listed"},
		"not listed, later":     {"nothing", 5 * time.Second, "look@0s look@1s", []error{messaging.ErrNotListed}, "no message"},
		"not listed, long past": {"nothing", time.Hour, "look@0s", []error{messaging.ErrNotListed}, "no message"},
		"sent in the future":    {"nothing", -24 * time.Hour, "look@0s look@2s look@4s look@6s", []error{messaging.ErrNotListed}, "no message"},
		"filter ignored":        {"other", 0, "look@0s", []error{messaging.ErrFilterIgnored}, "it does not filter as the contract says"},
		"another number":        {"stranger", 0, "look@0s look@2s look@4s look@6s", []error{}, "the listed message has another number"},
		"from a cache":          {"cached", time.Hour, "look@0s", []error{}, "in a response from a cache (Age)"},
		"lookup fails":          {"broken", time.Hour, "look@0s", []error{messaging.ErrInvalid}, "HTTP 400, the lookup failed"},
		"no such path":          {"missing", time.Hour, "look@0s", []error{messaging.ErrNotFound}, "HTTP 404, GET /api/sms"},
		"rows claimed":          {"claimed", time.Hour, "look@0s", []error{}, "says that there are rows, and lists none"},
		"lookup hangs":          {"hanging", time.Hour, "look@0s", []error{context.DeadlineExceeded}, "the lookup failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newClerk("accepted", tt.lookups)
				receipt, err := c.client(t, settling(6*time.Second, 2*time.Second)).SMS.Settle(t.Context(), one, c.start.Add(-tt.ago))
				assert.Equal(t, tt.events, c.history(), "it only looks")
				if tt.is == nil {
					require.NoError(t, err)
					assert.Equal(t, messaging.Receipt{
						ID: "listed-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, Cost: "0.50", Operator: "OP_1",
					}, receipt)
					return
				}
				require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
				require.ErrorContains(t, err, "messaging: Settle: sms.send has an unknown outcome: ")
				require.ErrorContains(t, err, tt.text)
				for _, target := range []error{messaging.ErrNotListed, messaging.ErrFilterIgnored, messaging.ErrInvalid, context.DeadlineExceeded} {
					assert.Equal(t, slices.Contains(tt.is, target), errors.Is(err, target), "%v", target)
				}
				e, _ := errors.AsType[*messaging.Error](err)
				assert.Equal(t, one.ReferenceID, e.ReferenceID)
				assert.Equal(t, messaging.Receipt{}, receipt)
			})
		})
	}
}

// A row is presence only if it is of the message's recipient and not itself refused.
func TestSettleJudgesTheRow(t *testing.T) {
	t.Parallel()
	const known = `"id":"l-1","referenceId":"r-1"`
	for name, tt := range map[string]struct {
		rows    string
		verdict messaging.Verdict
		code    string
	}{
		"no recipient":                     {`{` + known + `}`, messaging.Accepted, ""},
		"a recipient that is null":         {`{` + known + `,"to":null}`, messaging.Accepted, ""},
		"a recipient that is an object":    {`{` + known + `,"to":{"msisdn":"+639171234567"}}`, messaging.Unknown, ""},
		"a recipient that is a list":       {`{` + known + `,"to":["+639171234567"]}`, messaging.Unknown, ""},
		"a recipient, and another problem": {`{` + known + `,"categoryId":[],"to":["+639171234567"]}`, messaging.Unknown, ""},
		"another problem":                  {`{` + known + `,"to":"+639171234567","messageParts":"x"}`, messaging.Accepted, ""},
		"a send that failed":               {`{` + known + `,"sendStatus":"FAILED"}`, messaging.Refused, "FAILED"},
		"a send that was rejected":         {`{` + known + `,"sendStatus":"rejected","dlrStatus":"pending"}`, messaging.Refused, "rejected"},
		"a word that refuses":              {`{` + known + `,"sendStatus":"NO_CREDIT"}`, messaging.Refused, "NO_CREDIT"},
		"a word that refuses, and failed":  {`{` + known + `,"sendStatus":"NO_CREDIT","dlrStatus":"failed"}`, messaging.Refused, "NO_CREDIT"},
		"a word that refuses, yet sent":    {`{` + known + `,"sendStatus":"NO_CREDIT","dlrStatus":"sent"}`, messaging.Accepted, ""},
		"a send that expired":              {`{` + known + `,"sendStatus":"expired"}`, messaging.Accepted, ""},
		"a delivery that failed":           {`{` + known + `,"dlrStatus":"failed"}`, messaging.Accepted, ""},
		"a send that failed in delivery":   {`{` + known + `,"sendStatus":"failed","dlrStatus":"failed"}`, messaging.Accepted, ""},
		"a send that was sent":             {`{` + known + `,"sendStatus":"sent","dlrStatus":"rejected"}`, messaging.Accepted, ""},
		"a recipient that comes twice":     {`{` + known + `,"to":"+639171234567","to":"+639171234567"}`, messaging.Unknown, ""},
		"an ID that comes twice":           {`{"id":"l-0",` + known + `}`, messaging.Unknown, ""},
		"a number that refuses a send":     {`{` + known + `,"sendStatus":1}`, messaging.Accepted, ""},
		"an unknown word":                  {`{` + known + `,"sendStatus":"7"}`, messaging.Accepted, ""},
		"a refused row of another number":  {`{` + known + `,"sendStatus":"failed","to":"+639180000000"}`, messaging.Unknown, ""},
		"two, of which one was accepted":   {`{` + known + `,"sendStatus":"failed"},{"id":"l-2","referenceId":"r-1"}`, messaging.Accepted, ""},
		"two, both refused":                {`{` + known + `,"sendStatus":"failed"},{"id":"l-2","referenceId":"r-1","sendStatus":"failed"}`, messaging.Refused, "failed"},
		"two, one of another number":       {`{` + known + `,"to":"+639180000000"},{"id":"l-2","referenceId":"r-1"}`, messaging.Accepted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet {
					return respond(r, http.StatusOK, `{"data":[`+tt.rows+`]}`), nil
				}
				sent++
				return nil, errors.New("no response")
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
				settling(time.Nanosecond, time.Nanosecond), overlay(t, `{"sms.send":{"refused":["NO_CREDIT","1"]}}`))
			require.NoError(t, err)
			for kind, settle := range map[string]func() (messaging.Receipt, error){
				"Settle":   func() (messaging.Receipt, error) { return client.SMS.Settle(t.Context(), one, time.Now()) },
				"SendOnce": func() (messaging.Receipt, error) { return client.SMS.SendOnce(t.Context(), one) },
			} {
				receipt, err := settle()
				assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%s: %v", kind, err)
				if tt.verdict == messaging.Accepted {
					assert.NotEmpty(t, receipt.ID, kind)
					continue
				}
				e, ok := errors.AsType[*messaging.Error](err)
				require.True(t, ok)
				assert.Equal(t, "sms.send", e.Operation, kind)
				assert.Equal(t, tt.code, e.Code, kind)
				assert.Equal(t, one.ReferenceID, e.ReferenceID, kind)
			}
			assert.Equal(t, 1, sent, "nothing is sent again")
		})
	}
}

// A service may list a request that it throttled, and the next attempt later: what is listed as refused need not be the attempt without a response.
func TestSendOnceIsRefusedOnceForEachAttempt(t *testing.T) {
	t.Parallel()
	const row = `{"id":"l-1","referenceId":"r-1","sendStatus":"failed"}`
	const other = `{"id":"l-2","referenceId":"r-1","sendStatus":"failed"}`
	for rows, verdict := range map[string]messaging.Verdict{
		row:               messaging.Unknown,
		row + "," + row:   messaging.Unknown, // one message, listed by part
		row + "," + other: messaging.Refused,
	} {
		sent := 0
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return respond(r, http.StatusOK, `{"data":[`+rows+`]}`), nil
			}
			sent++
			if sent == 1 {
				return respond(r, http.StatusTooManyRequests, ""), nil
			}
			return nil, errors.New("no response")
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), settling(time.Nanosecond, time.Nanosecond),
			messaging.WithRetry(messaging.RetryPolicy{MinWait: time.Millisecond}))
		require.NoError(t, err)
		_, err = client.SMS.SendOnce(t.Context(), one)
		assert.Equal(t, verdict, messaging.VerdictOf(err), "%v", err)
		assert.Equal(t, 2, sent)
	}
}

// The row of a throttled request may be listed before that of the request without a response.
func TestSendOnceLooksOnAfterARowThatProvesNothing(t *testing.T) {
	t.Parallel()
	const refused = `{"id":"l-1","referenceId":"r-1","sendStatus":"failed"}`
	for _, first := range []string{refused, `{"referenceId":"r-1"}`, `{"id":"l-1","referenceId":"r-1","errorCode":"77"}`} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			var lost time.Time
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				switch {
				case r.Method == http.MethodGet && time.Since(lost) < 3*time.Second:
					return respond(r, http.StatusOK, `{"data":[`+first+`]}`), nil
				case r.Method == http.MethodGet:
					return respond(r, http.StatusOK, `{"data":[`+first+`,{"id":"l-2","referenceId":"r-1"}]}`), nil
				}
				sent++
				if sent == 1 {
					return respond(r, http.StatusTooManyRequests, ""), nil
				}
				lost = time.Now()
				return nil, errors.New("no response")
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option())
			require.NoError(t, err)
			receipt, err := client.SMS.SendOnce(t.Context(), one)
			require.NoError(t, err)
			assert.Equal(t, "l-2", receipt.ID)
			assert.Equal(t, 4*time.Second, time.Since(lost))
		})
	}
}

// Settle sends nothing.
func TestSettleOfARefusedMessageHasNoAttempts(t *testing.T) {
	t.Parallel()
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusOK, `{"data":[{"id":"l-1","referenceId":"r-1","sendStatus":"failed"}]}`), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option())
	require.NoError(t, err)
	_, err = client.SMS.Settle(t.Context(), one, time.Now())
	e, ok := errors.AsType[*messaging.Error](err)
	require.True(t, ok)
	assert.Equal(t, messaging.Refused, e.Verdict)
	assert.Zero(t, e.Attempts)
}

func TestFindReportsSeveralRows(t *testing.T) {
	t.Parallel()
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusOK, `{"data":[{"id":"m-1","referenceId":"r-1"},{"id":"m-2","referenceId":"r-1"},{"id":"m-3","referenceId":"r-2"}]}`), nil
	})
	var log bytes.Buffer
	steps := &stepRecorder{}
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), messaging.WithObserver(steps),
		messaging.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	tx, err := client.SMS.Find(t.Context(), "r-1")
	require.NoError(t, err)
	assert.Equal(t, "m-1", tx.ID)
	assert.Contains(t, log.String(), `level=WARN msg="messaging: several messages have one reference ID" rows=2 reference_id=r-1`)
	assert.Equal(t, 2, steps.rows)

	log.Reset()
	_, err = client.SMS.Find(t.Context(), "r-2")
	require.NoError(t, err)
	assert.Empty(t, log.String())
	assert.Equal(t, 1, steps.rows)
}

// The error of Settle says why the first row that proves nothing does not.
func TestSettleSaysWhyARowProvesNothing(t *testing.T) {
	t.Parallel()
	const refused = `{"id":"l-0","referenceId":"r-1","sendStatus":"failed"}`
	for name, tt := range map[string]struct{ contract, rows, want string }{
		"another number":        {`{}`, `{"id":"l-1","referenceId":"r-1","to":"+639180000000"}`, "has another number"},
		"refused, other number": {`{}`, `{"id":"l-1","referenceId":"r-1","to":"+639180000000","sendStatus":"failed"}`, "has another number"},
		"an unreadable number":  {`{}`, `{"id":"l-1","referenceId":"r-1","to":["+639180000000"]}`, "cannot be read: To is neither a text nor a number (to)"},
		"no ID":                 {`{}`, `{"referenceId":"r-1"}`, "cannot be read: ID is missing"},
		"a service without IDs": {`{"sms.list":{"record":{"id":[]}}}`, `{"referenceId":"r-1"}`, "has no ID"},
		"an error":              {`{}`, `{"id":"l-1","referenceId":"r-1","errorCode":"77"}`, "has an error (ErrorCode)"},
		"after one refused":     {`{}`, refused + `,{"id":"l-1","referenceId":"r-1","errorCode":"77"}`, "has an error (ErrorCode)"},
		"the first of two":      {`{}`, `{"referenceId":"r-1"},{"id":"l-1","referenceId":"r-1","errorCode":"77"}`, "cannot be read: ID is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				return respond(r, http.StatusOK, `{"data":[`+tt.rows+`]}`), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
				settling(time.Nanosecond, time.Nanosecond), overlay(t, tt.contract))
			require.NoError(t, err)
			_, err = client.SMS.Settle(t.Context(), one, time.Now())
			require.EqualError(t, err, "messaging: Settle: sms.send has an unknown outcome: the listed message "+tt.want)
		})
	}
}

// stepRecorder keeps the rows of the last lookup.
type stepRecorder struct{ rows int }

func (s *stepRecorder) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

func (s *stepRecorder) EndStep(_ context.Context, step messaging.Step, result messaging.StepResult) {
	if step.Kind == messaging.StepLookup {
		s.rows = result.Rows
	}
}

// Services list numbers with and without country code.
func TestSettleComparesNumbers(t *testing.T) {
	t.Parallel()
	for listed, same := range map[string]bool{
		"": true, "639171234567": true, "+63 917 123-4567": true, "09171234567": true, "9171234567": true, "639171234568": false,
	} {
		c := newClerk("accepted", "listed")
		c.listedTo = listed
		_, err := c.client(t, settling(time.Nanosecond, time.Nanosecond)).SMS.Settle(t.Context(), one, c.start)
		assert.Equal(t, same, err == nil, listed)
	}
}

// A row settles only if what decides is readable, and nothing in it says that the message failed.
func TestSettleReadsWhatDecides(t *testing.T) {
	t.Parallel()
	for row, settles := range map[string]bool{
		`"transactionId":"m-1"`:                                        true,
		`"transactionId":"m-1","sendStatus":null,"dlrStatus":""`:       true,
		`"transactionId":"m-1","sendStatus":{"code":17}`:               false,
		`"transactionId":"m-1","dlrStatus":["failed"]`:                 false,
		`"transactionId":"failed"`:                                     false,
		`"transactionId":"Delivered"`:                                  false,
		`"transactionId":"queued"`:                                     false,
		`"transactionId":"` + strings.Repeat("m", 257) + `"`:           false,
		`"transactionId":"m\u0007"`:                                    false,
		`"transactionId":"m-1","error":{"text":"no route"}`:            false,
		`"transactionId":"m-1","error":null,"code":"0"`:                true,
		`"transactionId":"m-1","error":"no route"`:                     false,
		`"transactionId":"m-1","code":"200101"`:                        false,
		`"transactionId":"m-1","code":"E-17"`:                          true,
		`"transactionId":"m-1","dlrStatus":"queued","code":200101`:     false,
		`"transactionId":"m-1","dlrStatus":"delivered","code":200101`:  true,
		`"transactionId":"m-1","dlrStatus":"delivered","error":"late"`: true,
	} {
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusOK, `{"hasNext":false,"data":[{"referenceId":"r-1","to":"639171234567",`+row+`}]}`), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), settling(time.Nanosecond, time.Nanosecond))
		require.NoError(t, err)
		_, err = client.SMS.Settle(t.Context(), one, time.Now())
		assert.Equal(t, settles, err == nil, "%s: %v", row, err)
		for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
			assert.Equal(t, err, tx.ReadError)
			assert.Equal(t, settles, client.SMS.Verdict(tx) == messaging.Accepted, row)
		}
		assert.True(t, err == nil || errors.Is(err, messaging.ErrOutcomeUnknown) && !errors.Is(err, messaging.ErrNotListed), row)
	}
}

// The default name of an optional field gives way to a user's own, except where the library needs the field.
func TestSendOnceNeedsTheNameOfTheReference(t *testing.T) {
	t.Parallel()
	m := one
	m.ReferenceID, m.Extra = "", map[string]any{"referenceId": "own"}
	c := newClerk("accepted", "listed")
	client := c.client(t, settling(time.Second, time.Second))
	_, err := client.SMS.SendOnce(t.Context(), m)
	v, ok := errors.AsType[*messaging.ValidationError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, `Extra["referenceId"]`, v.Field)
	for out := range client.SMS.SendAll(t.Context(), slices.Values([]sms.Message{m}), 1) {
		assert.Equal(t, err.Error(), out.Err.Error())
	}
	assert.Empty(t, c.events)
	_, err = client.SMS.Send(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, []string{"own"}, c.references)
}

// A constant with the default name of the reference takes its place. Nothing can be settled then.
func TestConstantInPlaceOfTheReference(t *testing.T) {
	t.Parallel()
	constant := overlay(t, `{"sms.send":{"constants":{"referenceId":"own"}}}`)
	_, err := messaging.NewClient(baseURL, messaging.WithToken("t"), constant, settling(time.Second, time.Second))
	require.ErrorContains(t, err, "WithSettle: needs a reference ID, and the contract has none")

	c := newClerk("accepted", "listed")
	client := c.client(t, constant)
	m := one
	m.ReferenceID = "order-17"
	_, err = client.SMS.Send(t.Context(), m)
	require.ErrorContains(t, err, `ReferenceID: must be absent: the contract uses its default name, "referenceId", for something else`)
	assert.Empty(t, c.references)
	m.ReferenceID = ""
	_, err = client.SMS.Send(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, []string{"own"}, c.references)
}

func TestSettleEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c := newClerk("accepted", "nothing")
		_, err := c.client(t, settling(6*time.Second, 2*time.Second)).SMS.Settle(ctx, one, c.start)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, messaging.ErrNotListed)
		assert.Equal(t, "look@0s look@2s", c.history())
		assert.Equal(t, 3*time.Second, time.Since(c.start))
	})
}

func TestSettleRejectsWhatItCannotLookUp(t *testing.T) {
	t.Parallel()
	c := newClerk("accepted", "listed")
	_, err := c.client(t).SMS.Settle(noContext, sms.Message{}, time.Time{})
	require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.EqualError(t, err, "messaging: Settle: sms.send has an unknown outcome: it cannot be looked up: "+
		"ReferenceID: required, but absent; To: required, but absent; since: required, but the zero time; ctx: required, but nil")

	_, err = c.client(t, overlay(t, `{"sms.list":{"params":{"reference":""}}}`)).SMS.Settle(t.Context(), one, c.start)
	require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.ErrorContains(t, err, "it cannot be looked up: ReferenceID: ")
	assert.Empty(t, c.history())
}
