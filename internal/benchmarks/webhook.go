package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	nameGet         = "net/url by hand, GET"
	nameGetNoStore  = "net/url by hand, GET, with Cache-Control"
	nameEmpty       = "nothing but the response"
	nameOursGet     = "messaging-go, Receiver.SMS"
	nameOursGuarded = "messaging-go, Receiver.SMS with secret and store"
	nameOursChatApp = "messaging-go, Receiver.ChatApp2"

	hookSecret = "QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"
	// hookCalls are as many as it takes that no store has seen one before, when they begin again.
	hookCalls = 1 << 16
)

var errNoEvent = errors.New("the event was not understood")

// understood is what the functions behind the handlers do with an event: they look whether it is one.
func understood(ok bool) error {
	if !ok {
		return errNoEvent
	}
	return nil
}

// handleByHand is the handler that a careful person writes with net/url alone: the measure of everything else.
func handleByHand(handle func(ctx context.Context, from, to, text, at string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if handle(r.Context(), values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp")) != nil {
			w.WriteHeader(http.StatusInternalServerError)
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
			{what: "A webhook in its handler: CPU", contender: nameOursGet, metric: cpuTime, against: nameGet, limit: 1.00},
			{what: "A webhook with secret and store: CPU", contender: nameOursGuarded, metric: cpuTime, against: nameGet, limit: 1.30},
		},
		contenders: []contender{
			{name: nameGet, prepare: handling(func() http.Handler { return handleByHand(takeByHand) })},
			{name: nameEmpty, prepare: handling(func() http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
			})},
			{name: nameGetNoStore, prepare: handling(func() http.Handler {
				inner := handleByHand(takeByHand)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "no-store")
					inner.ServeHTTP(w, r)
				})
			})},
			{name: nameOursGet, prepare: handling(func() http.Handler { return receiver().SMS(take) })},
			{name: nameOursGuarded, prepare: handling(func() http.Handler {
				return receiver(webhook.WithSecret("key", hookSecret), webhook.WithStore(webhook.NewMemoryStore(10_000, time.Hour))).SMS(take)
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
