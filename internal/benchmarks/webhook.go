package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	nameGet         = "net/url by hand"
	nameGetGuarded  = "net/url by hand, with secret and IDs"
	nameGetValues   = "net/url by hand, nothing but the values"
	nameEmpty       = "nothing but the response"
	nameOursGet     = "messaging-go, Receiver.SMS"
	nameOursGuarded = "messaging-go, Receiver.SMS with secret and store"
	nameOursChatApp = "messaging-go, Receiver.ChatApp2"

	hookSecret = "QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"
	// hookCalls are as many as it takes that no store has seen one before, when they begin again.
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
	secret *[sha256.Size]byte // the hash, which hides the length too; nil if none is checked
	seen   *seenIDs           // nil if every event is handled
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
	case h.secret != nil && !h.isSecret(values.Get("key")):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	handle := func() error {
		return h.handle(ctx, values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp"))
	}
	if h.seen != nil {
		err = h.seen.once(values.Get("id"), handle)
	} else {
		err = handle()
	}
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

// seenIDs are the last IDs that were handled, and those under way.
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

// valuesByHand does nothing but read the values.
func valuesByHand(handle func(ctx context.Context, from, to, text, at string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil || handle(r.Context(), values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp")) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

func takeByHand(_ context.Context, from, _, text, _ string) error {
	return understood(from != "" && text != "")
}

// queries have an ID of their own each.
func queries() []string {
	all := make([]string, hookCalls)
	for i := range all {
		all[i] = "id=" + strconv.Itoa(100_000_000+i) + "&from=639171234567&to=21581" +
			"&message=Hello+there%21+Is+it+still+available%3F&timestamp=1791038663&key=" + hookSecret
	}
	return all
}

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
	handling := func(newHandler func() http.Handler) func(context.Context, service) (operation, error) {
		return func(context.Context, service) (operation, error) { return get(newHandler()), nil }
	}
	receiver := func(options ...webhook.Option) *webhook.Receiver {
		rcv, err := webhook.NewReceiver(options...)
		if err != nil {
			panic(err) // the options are constants
		}
		return rcv
	}
	take := func(_ context.Context, m webhook.SMSMessage) error { return understood(m.From != "" && m.Text != "") }
	w := work{
		name: "webhook", floor: nameGet,
		ratios: []metric{cpuTime}, figures: []figure{cpuMicros, wallMicros, allocsEach, bytesEach},
		targets: []target{
			{
				what: "A webhook in its handler: CPU", contender: nameOursGet, metric: cpuTime, against: nameGet, limit: 1.15,
				why: "every parameter and the raw query are kept with the event, and names are looked up in a contract",
			},
			{
				what: "A webhook with secret and store: CPU", contender: nameOursGuarded, metric: cpuTime, against: nameGetGuarded, limit: 1.10,
				why: "the key of an event is a hash that covers its sender, where the floor takes the ID alone",
			},
		},
		contenders: []contender{
			{name: nameGet, prepare: handling(func() http.Handler { return &handlerByHand{handle: takeByHand} })},
			{name: nameGetGuarded, prepare: handling(func() http.Handler {
				secret := sha256.Sum256([]byte(hookSecret))
				return &handlerByHand{&secret, &seenIDs{isDone: map[string]bool{}}, takeByHand}
			})},
			{name: nameGetValues, prepare: handling(func() http.Handler { return valuesByHand(takeByHand) })},
			{name: nameEmpty, prepare: handling(func() http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
			})},
			{name: nameOursGet, matched: nameGet, prepare: handling(func() http.Handler { return receiver().SMS(take) })},
			{name: nameOursGuarded, matched: nameGetGuarded, prepare: handling(func() http.Handler {
				return receiver(webhook.WithSecret("key", hookSecret), webhook.WithStore(webhook.NewMemoryStore(storeCapacity, time.Hour))).SMS(take)
			})},
			{name: nameOursChatApp, prepare: handling(func() http.Handler {
				return receiver().ChatApp2(func(_ context.Context, m webhook.ChatMessage) error { return understood(m.From != "") })
			})},
		},
	}
	for _, p := range hookPeers() {
		w.contenders = append(w.contenders, p.contenders()...)
	}
	return w
}
