package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	// hookCalls is so large that every store has forgotten a call when it comes again.
	hookCalls = 1 << 16
	// storeCapacity is how many events are remembered.
	storeCapacity = 10_000
)

var errNoEvent = errors.New("the event was not understood")

// understood is what the functions behind the handlers do with an event: they look whether it is one.
func understood(ok bool) error {
	if !ok {
		return errNoEvent
	}
	return nil
}

// handlerByHand is the handler that a careful person writes with net/url alone: the measure of everything else. No cache keeps its
// response, and what handles an event has 30 seconds, also if the caller hangs up.
type handlerByHand struct {
	secret *[sha256.Size]byte // the hash, which hides the length too
	seen   *seenIDs
	handle func(ctx context.Context, from, to, text, at string) error
}

// ServeHTTP implements http.Handler.
func (h *handlerByHand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	values, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case !h.isSecret(values.Get("key")):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	err = h.seen.once(key(values), func() error {
		return h.handle(ctx, values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp"))
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (h *handlerByHand) isSecret(value string) bool {
	hash := sha256.Sum256([]byte(value))
	return subtle.ConstantTimeCompare(hash[:], h.secret[:]) == 1
}

// key identifies an event: it is a hash, so it covers the sender, and nothing in it is a number or a text.
func key(values url.Values) string {
	b := make([]byte, 0, 512)
	for _, name := range [...]string{"id", "reference", "from", "to", "message", "operator", "keyword", "timestamp"} {
		value := values.Get(name)
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(b, value...)
	}
	sum := sha256.Sum256(b)
	return "sms." + hex.EncodeToString(sum[:16])
}

// seenIDs are the keys of the last events that were handled, and of those under way.
type seenIDs struct {
	mu      sync.Mutex
	isDone  map[string]bool
	handled []string // the oldest first
}

var errUnderWay = errors.New("another call handles the event")

func (s *seenIDs) once(id string, handle func() error) error {
	s.mu.Lock()
	isDone, isKnown := s.isDone[id]
	if !isKnown {
		s.isDone[id] = false
	}
	s.mu.Unlock()
	switch {
	case isDone:
		return nil
	case isKnown:
		return errUnderWay
	}
	err := handle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.isDone, id)
		return err
	}
	s.isDone[id] = true
	if s.handled = append(s.handled, id); len(s.handled) > storeCapacity {
		delete(s.isDone, s.handled[0])
		s.handled = s.handled[1:]
	}
	return nil
}

func takeByHand(_ context.Context, from, _, text, _ string) error {
	return understood(from != "" && text != "")
}

// queries returns queries that have an ID of their own each.
var queries = sync.OnceValue(func() []string {
	all := make([]string, hookCalls)
	for i := range all {
		all[i] = "id=" + strconv.Itoa(100_000_000+i) + "&from=639171234567&to=21581" +
			"&message=Hello+there%21+Is+it+still+available%3F&timestamp=1791038663&key=" + hookSecret
	}
	return all
})

// get calls a handler with one query after the other.
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

// repeat calls a handler with the same request over and over.
func repeat(h http.Handler, signed *http.Request, body []byte) operation {
	reader := bytes.NewReader(nil)
	return func(ctx context.Context, n int) error {
		r := signed.WithContext(ctx)
		for range n {
			reader.Reset(body)
			r.Body = io.NopCloser(reader)
			r.Form, r.PostForm = nil, nil
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				return fmt.Errorf("the handler responded %d", w.Code)
			}
		}
		return nil
	}
}

func receive() work {
	handling := func(newHandler func() http.Handler) preparation {
		return func(testing.TB) operation { return get(newHandler()) }
	}
	guarded := handling(func() http.Handler {
		secret := sha256.Sum256([]byte(hookSecret))
		return &handlerByHand{&secret, &seenIDs{isDone: map[string]bool{}}, takeByHand}
	})
	w := work{contenders: []way{
		{name: nameGetGuarded, prepare: guarded},
		{name: nameOursGuarded, floor: guarded, prepare: func(tb testing.TB) operation {
			tb.Helper()
			r, err := webhook.NewReceiver(
				webhook.WithSecret("key", hookSecret), webhook.WithStore(webhook.NewMemoryStore(storeCapacity, time.Hour)))
			require.NoError(tb, err)
			return get(r.SMS(func(_ context.Context, m webhook.SMSMessage) error { return understood(m.From != "" && m.Text != "") }))
		}},
	}}
	for _, p := range hookPeers() {
		w.contenders = append(w.contenders, way{name: p.name, prepare: p.handled(p.handle), floor: p.handled(p.byHand)})
	}
	return w
}
