package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	nameGetGuarded  = "hand-written net/url, with secret and IDs"
	nameOursGuarded = "messaging-go, Receiver.SMS with secret and store"

	hookSecret = "QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"
	// hookCalls is so large that a store has forgotten an event before it comes again.
	hookCalls = 1 << 16
	// storeCapacity is how many events a store remembers.
	storeCapacity = 10_000
)

var errNoEvent = errors.New("the event was not understood")

// requireEvent returns an error unless an event is complete. It is all that is done with an event.
func requireEvent(isComplete bool) error {
	if !isComplete {
		return errNoEvent
	}
	return nil
}

// queries returns hookCalls queries, each with another ID.
var queries = sync.OnceValue(func() []string {
	all := make([]string, hookCalls)
	for i := range all {
		all[i] = "id=" + strconv.Itoa(100_000_000+i) + "&from=639171234567&to=21581" +
			"&message=Hello+there%21+Is+it+still+available%3F&timestamp=1791038663&key=" + hookSecret
	}
	return all
})

// get returns an operation that calls a handler with one query after the other.
func get(h http.Handler) operation {
	all := queries()
	next := 0
	return func(ctx context.Context, n int) error {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/hook", http.NoBody)
		for range n {
			r.URL.RawQuery = all[next%len(all)]
			next++
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				return fmt.Errorf("the handler responded %d", w.Code)
			}
		}
		return nil
	}
}

// repeat returns an operation that calls a handler with the same request again and again.
func repeat(h http.Handler, request *http.Request, body []byte) operation {
	reader := bytes.NewReader(nil)
	return func(ctx context.Context, n int) error {
		r := request.WithContext(ctx)
		for range n {
			reader.Reset(body)
			r.Body = io.NopCloser(reader)
			r.Form = nil
			r.PostForm = nil
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				return fmt.Errorf("the handler responded %d", w.Code)
			}
		}
		return nil
	}
}

// receive compares the cost of a call of a handler.
func receive() comparison {
	floor := func(testing.TB) operation {
		secret := sha256.Sum256([]byte(hookSecret))
		return get(&handlerByHand{secret: &secret, seen: &seenIDs{isDone: map[string]bool{}}, handle: handleByHand})
	}
	w := comparison{contenders: []contender{
		{name: nameGetGuarded, prepare: floor},
		{name: nameOursGuarded, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			r, err := webhook.NewReceiver(
				webhook.WithSecret("key", hookSecret), webhook.WithStore(webhook.NewMemoryStore(storeCapacity, time.Hour)))
			require.NoError(tb, err)
			return get(r.SMS(func(_ context.Context, m webhook.SMSMessage) error { return requireEvent(m.From != "" && m.Text != "") }))
		}},
	}}
	for _, p := range hookPeers() {
		w.contenders = append(w.contenders, contender{name: p.name, prepare: p.prepare(p.handle), floor: p.prepare(p.byHand)})
	}
	return w
}
