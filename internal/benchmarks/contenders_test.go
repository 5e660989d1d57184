package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustMatch(expression string) *regexp.Regexp { return regexp.MustCompile(expression) }

// A client that does not understand its response is fast, and so each operation looks at what was understood.
func TestEveryContenderDoesItsWork(t *testing.T) {
	at, err := startService(t.Context())
	require.NoError(t, err)
	certificate := filepath.Join(t.TempDir(), "certificate.pem")
	require.NoError(t, os.WriteFile(certificate, at.Certificate, 0o600))
	t.Setenv("SSL_CERT_FILE", certificate)
	for _, w := range contests() {
		for _, c := range w.contenders {
			t.Run(w.name+"/"+c.name, func(t *testing.T) {
				do, err := c.prepare(t.Context(), at)
				require.NoError(t, err)
				assert.NoError(t, do(t.Context(), 2))
			})
		}
	}
}

func TestAnAnswerThatIsNotUnderstoodIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.route.response = `{}`
			for _, c := range p.inMemory() {
				do, err := c.prepare(t.Context(), service{})
				if err == nil {
					err = do(t.Context(), 1)
				}
				assert.Error(t, err)
			}
		})
	}
	for _, c := range (way{memory: true}).calls() {
		send, err := c.make(service{})
		require.NoError(t, err)
		assert.ErrorIs(t, send.expecting("another")(t.Context(), 1), errNoID, c.name)
		assert.ErrorIs(t, send.pool(2, "another")(t.Context(), 3), errNoID, c.name)
		assert.Error(t, send.counted(2, "another")(t.Context(), 3), c.name)
	}
}

func TestAListingThatIsCutIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range listingPeers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			list, err := p.list(p.responses())
			require.NoError(t, err)
			assert.ErrorContains(t, list.expecting(pagesInMemory*rowsPerPage+1)(t.Context(), 1), "rows were listed")
		})
	}
}

func TestAnEventWithAnotherSignatureIsRefused(t *testing.T) {
	t.Parallel()
	for _, p := range hookPeers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			right := p.sign
			p.sign = func(r *http.Request, body []byte) { right(r, append(body, ' ')) }
			if p.name == "twilio-go, GET" || p.name == "twilio-go, POST" {
				p.sign = func(r *http.Request, body []byte) {
					right(r, body)
					r.Header.Set("X-Twilio-Signature", "c2lnbmF0dXJl")
				}
			}
			for _, c := range p.contenders() {
				do, err := c.prepare(t.Context(), service{})
				require.NoError(t, err)
				assert.ErrorContains(t, do(t.Context(), 1), "responded 400", c.name)
			}
		})
	}
}

func TestEveryRouteHasOnePath(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for _, r := range routes() {
		assert.False(t, paths[r.path], r.path)
		paths[r.path] = true
	}
}

func TestNamesAreDistinctAndFloorsExist(t *testing.T) {
	t.Parallel()
	works := map[string]bool{}
	for _, w := range contests() {
		assert.False(t, works[w.name], w.name)
		works[w.name] = true
		names := map[string]bool{}
		for _, c := range w.contenders {
			assert.False(t, names[c.name], c.name)
			names[c.name] = true
		}
		assert.True(t, names[w.floor], w.name)
		for _, c := range w.contenders {
			assert.True(t, c.matched == "" || names[c.matched], c.name)
		}
		for _, target := range w.targets {
			assert.True(t, names[target.contender], target.what)
			assert.True(t, target.against == "" || names[target.against], target.what)
		}
	}
}

func TestReplayMakesTheSameRequests(t *testing.T) {
	t.Parallel()
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			first := &recorder{next: responding(p.route)}
			send, err := p.connect(unreachable, first)
			require.NoError(t, err)
			require.NoError(t, send.expecting(p.id)(t.Context(), 1))
			require.Len(t, first.requests, 1)
			again := &recorder{next: responding(p.route)}
			require.NoError(t, first.replay(again, p.decoded)(t.Context(), 1))
			assert.Equal(t, first.requests, again.requests)
		})
	}
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
		return responding(smsRoute()).RoundTrip(r.Clone(r.Context()))
	})}
	id, err := byHand(&http.Client{Transport: r}, unreachable)(t.Context())
	require.NoError(t, err)
	assert.Equal(t, messageID, id)
	assert.JSONEq(t, `{"from":"ACME","to":"+639171234567","text":"Your order 17 is ready","referenceId":"order-17"}`, body)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAllFloorsAndThisLibrarySendTheSame(t *testing.T) {
	t.Parallel()
	record := func(send func(http.RoundTripper) (call, error)) recorded {
		r := &recorder{next: responding(smsRoute())}
		c, err := send(r)
		require.NoError(t, err)
		require.NoError(t, c.expecting(messageID)(t.Context(), 1))
		require.Len(t, r.requests, 1)
		one := r.requests[0]
		one.header.Del("User-Agent")
		return one
	}
	ours := record(func(over http.RoundTripper) (call, error) {
		client, err := newClient(unreachable, over)
		if err != nil {
			return nil, err
		}
		return sendSMS(client), nil
	})
	assert.Equal(t, ours, record(func(over http.RoundTripper) (call, error) {
		return byHand(&http.Client{Transport: over}, unreachable), nil
	}))
	assert.Equal(t, ours, record(func(over http.RoundTripper) (call, error) {
		tuned, err := newTuned(&http.Client{Transport: over}, unreachable, unmarshalAnswer)
		if err != nil {
			return nil, err
		}
		return tuned.send, nil
	}))
	assert.Equal(t, ours, record(func(over http.RoundTripper) (call, error) {
		client := newRetryable()
		client.HTTPClient = &http.Client{Transport: over}
		return retryable(client, unreachable), nil
	}))
}

func TestKeptRowsAreSeen(t *testing.T) {
	seen, err := observeKeptRows(t.Context(), true)
	require.NoError(t, err)
	assert.EqualValues(t, keptPages, seen.KeptRows)
	for _, name := range []string{nameByHand, nameListDecoder, nameOurs} {
		assert.Contains(t, seen.Kept, name)
	}
}

func TestMillionIsWatchedFromBeforeItBeginsUntilAfterItHasEnded(t *testing.T) {
	seen, err := observeMillion(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, seen.Points, millionSamples+2)
	assert.Zero(t, seen.Points[0].Messages)
	assert.Equal(t, 10_000, seen.Points[millionSamples].Messages)
	for _, p := range seen.Points {
		assert.Positive(t, p.Heap)
	}
	assert.Greater(t, seen.Points[1].Goroutines, seen.Points[0].Goroutines, "workers")
}
