package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// arrives makes the request that the service would, and prints the answer of the handler.
func arrives(h http.Handler, target string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, http.NoBody))
	fmt.Println(w.Code)
}

func ExampleSMS() {
	handler := webhook.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println(m.From, m.To, m.Text, m.ReceivedAt.Format(time.DateTime))
		return nil // the message is ours now; an error would have the service call again
	}, webhook.WithSecret("key", "a secret that nobody guesses"))

	arrives(handler, "/hooks/sms?key=a+secret+that+nobody+guesses&id=1&from=%2B639171234567&to=21581&message=Hello&timestamp=1791038663")
	arrives(handler, "/hooks/sms?key=guess&id=2&from=%2B639171234567&to=21581&message=Hello")
	// Output:
	// +639171234567 21581 Hello 2026-10-03 14:44:23
	// 200
	// 403
}

func ExampleChatApp1() {
	handler := webhook.ChatApp1(func(_ context.Context, m webhook.ChatApp1Message) error {
		switch c := m.Content.(type) {
		case webhook.Text:
			fmt.Println(m.Name, "writes:", c.Body)
		case webhook.Media:
			fmt.Println(m.Name, "sends", c.Kind, "at", c.URL)
		case webhook.Location, webhook.Contacts, webhook.Reply, webhook.Reaction, webhook.Order, webhook.System, webhook.Unknown:
			fmt.Printf("%s sends %T\n", m.Name, c)
		}
		return nil
	})

	arrives(handler, "/hooks/one?from=639171234567&name=Ana&type=text&message=Hello")
	arrives(handler, "/hooks/one?from=639171234567&name=Ana&type=image&mediaUrl=https%3A%2F%2Fexample.com%2Fa.png")
	arrives(handler, "/hooks/one?from=639171234567&name=Ana&type=hologram")
	// Output:
	// Ana writes: Hello
	// 200
	// Ana sends image at https://example.com/a.png
	// 200
	// Ana sends webhook.Unknown
	// 200
}

func ExampleChatApp2() {
	handler := webhook.ChatApp2(func(_ context.Context, m webhook.ChatApp2Message) error {
		if reply, ok := m.Content.(webhook.Reply); ok {
			fmt.Println(m.From, "chose", reply.ID, "in answer to", m.Context.ID)
		}
		return nil
	})

	message := `{"from":"639171234567","id":"m-2","type":"interactive","context":{"id":"m-1"},
		"interactive":{"type":"button_reply","button_reply":{"id":"yes","title":"Yes, please"}}}`
	arrives(handler, "/hooks/two?payload="+url.QueryEscape(message))
	// Output:
	// 639171234567 chose yes in answer to m-1
	// 200
}

func ExampleDelivery() {
	handler := webhook.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println(d.ReferenceID, d.Status, d.RawStatus)
		return nil
	})

	arrives(handler, "/hooks/dlr?status=DELIVRD&id=m-1&referenceId=order-17")
	arrives(handler, "/hooks/dlr?status=777&id=m-1&referenceId=order-17") // nobody knows what it means
	// Output:
	// order-17 delivered DELIVRD
	// 200
	// order-17 unknown 777
	// 200
}

func ExampleParseSMS() {
	http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := webhook.ParseSMS(r, webhook.WithSecret("key", "s3cret-s3cret-s3cret"))
		if refusal, ok := errors.AsType[*webhook.RejectError](err); ok {
			w.WriteHeader(refusal.Status)
			return
		}
		fmt.Println(m.Text)
	}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/?key=s3cret-s3cret-s3cret&from=639171234567&message=100%", http.NoBody))
	// Output:
	// 100%
}

func ExampleParseChatApp1() {
	m, err := webhook.ParseChatApp1(httptest.NewRequest(http.MethodGet, "/?from=639171234567&latitude=14.5&longitude=121", http.NoBody))
	if err != nil {
		fmt.Println(err)
		return
	}
	if where, ok := m.Content.(webhook.Location); ok {
		fmt.Println(where.Latitude, where.Longitude)
	}
	// Output:
	// 14.5 121
}

func ExampleParseChatApp2() {
	_, err := webhook.ParseChatApp2(httptest.NewRequest(http.MethodGet, "/?type=text&message=Hello", http.NoBody))
	fmt.Println(err, errors.Is(err, webhook.ErrNoSender))
	// Output:
	// webhook: chatapp2: no sender true
}

func ExampleParseDelivery() {
	d, err := webhook.ParseDelivery(httptest.NewRequest(http.MethodGet, "/?_status=read&_id=m-1", http.NoBody))
	fmt.Println(d.ID, d.Status, err)
	// Output:
	// m-1 read <nil>
}

// The callback URL goes into sms.Message.CallbackURL, or that of a chat app, as it is.
func ExampleDeliveryURL() {
	callback, err := webhook.DeliveryURL("https://shop.example.com/hooks/dlr", webhook.WithSecret("key", "s3cret/s3cret"))
	fmt.Println(callback, err)
	// Output:
	// https://shop.example.com/hooks/dlr?key=s3cret%2Fs3cret&status=%s&id=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t <nil>
}

// The handlers go into any http.ServeMux. Both secrets of a rotation hold until the service calls with the new one.
func Example_serveMux() {
	store := webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour))
	secret := webhook.WithPathSecret("key", "the-new-one", "the-old-one")

	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", webhook.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println("message", m.ID)
		return nil
	}, store, secret))
	mux.Handle("/hooks/{key}/dlr", webhook.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println("report", d.ID, d.Status)
		return nil
	}, store, secret))

	arrives(mux, "/hooks/the-new-one/sms?id=1&from=639171234567&message=Hello")
	arrives(mux, "/hooks/the-old-one/sms?id=1&from=639171234567&message=Hello") // the service calls again
	arrives(mux, "/hooks/the-old-one/dlr?id=1&status=1")
	arrives(mux, "/hooks/somebody-else/sms?id=2&from=639171234567&message=Hello")
	// Output:
	// message 1
	// 200
	// 200
	// report 1 delivered
	// 200
	// 404
}

// A store over a table that several processes share has a claim in one statement: insert the key with the end of its lease,
// or take it over where the lease is over. This one has a map in place of the table.
type tableStore struct {
	mu   sync.Mutex
	rows map[string]row
}

type row struct {
	done  bool
	until time.Time
}

func (s *tableStore) Claim(_ context.Context, key string) (webhook.ClaimState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch have, ok := s.rows[key]; {
	case ok && have.done:
		return webhook.Done, nil
	case ok && time.Now().Before(have.until):
		return webhook.InProgress, nil
	}
	s.rows[key] = row{until: time.Now().Add(5 * time.Minute)} // longer than a handler takes
	return webhook.Claimed, nil
}

func (s *tableStore) Complete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[key] = row{done: true} // a job deletes rows that are some weeks old
	return nil
}

func (s *tableStore) Release(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.rows[key].done {
		delete(s.rows, key)
	}
	return nil
}

func ExampleStore() {
	handler := webhook.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println("handling", m.ID)
		return nil
	}, webhook.WithStore(&tableStore{rows: map[string]row{}}))

	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	// Output:
	// handling 1
	// 200
	// 200
}

func ExampleNewMemoryStore() {
	store := webhook.NewMemoryStore(100_000, 24*time.Hour)
	for range 2 {
		state, err := store.Claim(context.Background(), "a key")
		fmt.Println(state, err)
	}
	// Output:
	// claimed <nil>
	// in progress <nil>
}

// An account whose callbacks have other names.
func ExampleWithContract() {
	wire, err := contract.Parse([]byte(`{"webhook.sms": {"params": {"from": ["absender"], "text": ["inhalt"]}, "zone": "Europe/Berlin"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := webhook.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println(m.From, m.Text, m.ReceivedAt)
		return nil
	}, webhook.WithContract(wire))

	arrives(handler, "/hooks/sms?absender=4915112345678&inhalt=Hallo&date=2026-07-03+14:44")
	// Output:
	// 4915112345678 Hallo 2026-07-03 14:44:00 +0200 CEST
	// 200
}

// An access log that shows where a callback went and nothing of what it brought.
func ExampleScrubURL() {
	handler := webhook.SMS(func(context.Context, webhook.SMSMessage) error { return nil })
	logged := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, webhook.ScrubURL(r.URL))
		handler.ServeHTTP(w, r)
	})
	arrives(logged, "/hooks/sms?id=1&from=639171234567&message=Hello")
	// Output:
	// GET /hooks/sms?[36B]
	// 200
}
