package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	nameBreakerOpen = "messaging-go, the circuit breaker open"

	stormCapacity = 50 // messages a second that the service takes
	stormLength   = 12 * time.Second
	stormLatency  = 40 * time.Millisecond // of a response
	stormSenders  = 64
)

// storm is what became of the messages of a SendAll that met a service at its limit.
type storm struct {
	Off                                 bool // without the breaker
	Requests                            int
	Accepted, Refused, Unknown, NotSent int
	Length                              time.Duration
}

// Capacity is how many messages the service takes in that time.
func (s storm) Capacity() int { return int(stormCapacity * s.Length.Seconds()) }

// Rate is how many requests a second there were.
func (s storm) Rate() float64 { return float64(s.Requests) / s.Length.Seconds() }

// atItsLimit takes so many messages in each second, and responds 429 with Retry-After to all beyond.
type atItsLimit struct {
	began time.Time

	mu                      sync.Mutex
	second, taken, requests int
}

// RoundTrip implements http.RoundTripper.
func (l *atItsLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.takes() {
		resp, err := (inMemory{header: http.Header{}, response: "{}"}).RoundTrip(r)
		if err == nil {
			resp.StatusCode, resp.Header = http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}
		}
		return resp, err
	}
	select {
	case <-time.After(stormLatency):
		return responding(smsRoute()).RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (l *atItsLimit) takes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if second := int(time.Since(l.began) / time.Second); second != l.second {
		l.second, l.taken = second, 0
	}
	l.taken++
	return l.taken <= stormCapacity
}

// observeStorm sends to a service at its limit, with the breaker and without.
func observeStorm(ctx context.Context, short bool) (observed, error) {
	length := stormLength
	if short {
		length = time.Second
	}
	var seen observed
	for _, off := range []bool{false, true} {
		s, err := weather(ctx, length, off)
		if err != nil {
			return observed{}, err
		}
		seen.Storms = append(seen.Storms, s)
	}
	return seen, nil
}

func weather(ctx context.Context, length time.Duration, off bool) (storm, error) {
	s := storm{Off: off, Length: length}
	service := &atItsLimit{began: time.Now()}
	client, err := messaging.NewClient(unreachable, messaging.WithToken(token), messaging.WithHTTPClient(&http.Client{Transport: service}),
		messaging.WithBreaker(messaging.BreakerPolicy{Off: off}))
	if err != nil {
		return storm{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	endless := func(yield func(sms.Message) bool) {
		for yield(orderMessage()) {
		}
	}
	for out := range client.SMS.SendAll(ctx, endless, stormSenders) {
		switch messaging.VerdictOf(out.Err) {
		case messaging.Accepted:
			s.Accepted++
		case messaging.Refused:
			s.Refused++
		case messaging.NotSent:
			s.NotSent++
		default:
			s.Unknown++
		}
	}
	s.Requests = service.requests
	return s, nil
}

var errNotHeld = errors.New("the circuit breaker held no message back")

// unavailable responds 503 and asks to wait.
type unavailable struct{}

// RoundTrip implements http.RoundTripper.
func (unavailable) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"30"}}, Body: http.NoBody, Request: r,
	}, r.Body.Close()
}

// breakerOpen is a send that the circuit breaker ends at once, beside one that is sent.
func breakerOpen() work {
	return work{
		name: "breaker-open", floor: nameOurs,
		ratios: []metric{cpuTime}, figures: []figure{cpuMicros, wallMicros, allocsEach, bytesEach},
		targets: []target{{
			what: "A send while the circuit breaker is open: CPU", contender: nameBreakerOpen, metric: cpuTime, against: nameOurs, limit: 1.00,
			why: "the message is encoded before the breaker is asked, and an error says why it was not sent",
		}},
		contenders: []contender{
			{name: nameOurs, prepare: func(context.Context, service) (operation, error) {
				client, err := newClient(unreachable, responding(smsRoute()))
				if err != nil {
					return nil, err
				}
				return sendSMS(client).expecting(messageID), nil
			}},
			{name: nameBreakerOpen, prepare: func(ctx context.Context, _ service) (operation, error) {
				const enough = 100
				client, err := messaging.NewClient(unreachable, messaging.WithToken(token),
					messaging.WithHTTPClient(&http.Client{Transport: unavailable{}}),
					messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1, MinWait: time.Millisecond, MaxWait: time.Millisecond}))
				if err != nil {
					return nil, err
				}
				for range enough {
					_, _ = client.SMS.Send(ctx, orderMessage()) // which opens the breaker
				}
				return func(ctx context.Context, n int) error {
					for range n {
						if _, err := client.SMS.Send(ctx, orderMessage()); !errors.Is(err, messaging.ErrBreakerOpen) {
							return errNotHeld
						}
					}
					return nil
				}, nil
			}},
		},
	}
}
