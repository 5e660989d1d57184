package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
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

// receiver returns a receiver with options that make sense. It needs no proof of origin, as no program should do it.
func receiver(options ...webhook.Option) *webhook.Receiver {
	rcv, err := webhook.NewReceiver(append([]webhook.Option{webhook.WithoutProof()}, options...)...)
	if err != nil {
		log.Fatal(err)
	}
	return rcv
}

func ExampleReceiver_SMS() {
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "QZ5JEWNTJ4W5SXPJ"))
	if err != nil {
		log.Fatal(err)
	}
	handler := hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println(m.From, m.To, m.Text, m.ReceivedAt.Format(time.DateTime))
		return nil // the message is safe; an error would have the service call again
	})

	arrives(handler, "/hooks/sms?key=QZ5JEWNTJ4W5SXPJ&id=1&from=%2B639171234567&to=21581&message=Hello&timestamp=1791038663")
	arrives(handler, "/hooks/sms?key=guess&id=2&from=%2B639171234567&to=21581&message=Hello")
	// Output:
	// +639171234567 21581 Hello 2026-10-03 14:44:23
	// 200
	// 403
}

func ExampleReceiver_ChatApp1() {
	handler := receiver().ChatApp1(func(_ context.Context, m webhook.ChatMessage) error {
		switch c := m.Content.(type) {
		case webhook.Text:
			fmt.Println(m.Name, "writes:", c.Body)
		case webhook.Media:
			fmt.Println(m.Name, "sends", c.Kind, "at", c.URL)
		case webhook.Location, webhook.Contacts, webhook.Reply, webhook.Reaction, webhook.Product, webhook.Order, webhook.System,
			webhook.Edit, webhook.Revoke, webhook.RequestWelcome, webhook.Unknown:
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

func ExampleReceiver_ChatApp2() {
	handler := receiver().ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		if reply, ok := m.Content.(webhook.Reply); ok {
			fmt.Println(m.From, "chose", reply.ID, "in reply to", m.Context.ID)
		}
		return nil
	})

	message := `{"from":"639171234567","id":"m-2","type":"interactive","context":{"id":"m-1"},
		"interactive":{"type":"button_reply","button_reply":{"id":"yes","title":"Yes, please"}}}`
	arrives(handler, "/hooks/two?payload="+url.QueryEscape(message))
	// Output:
	// 639171234567 chose yes in reply to m-1
	// 200
}

func ExampleReceiver_Delivery() {
	handler := receiver().Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println(d.ReferenceID, d.Status, d.RawStatus)
		return nil
	})

	arrives(handler, "/hooks/dlr?status=DELIVRD&id=m-1&referenceId=order-17")
	arrives(handler, "/hooks/dlr?status=777&id=m-1&referenceId=order-17") // the contract does not know 777
	// Output:
	// order-17 delivered DELIVRD
	// 200
	// order-17 unknown 777
	// 200
}

// A handler of your own can parse a request and answer it.
func ExampleReceiver_ParseSMS() {
	hooks := receiver(webhook.WithSecret("key", "s3cret-s3cret-s3cret"))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := hooks.ParseSMS(r)
		if rejected, ok := errors.AsType[*webhook.RejectError](err); ok {
			w.WriteHeader(rejected.Status)
			return
		}
		fmt.Println(m.Text)
	})
	arrives(handler, "/?key=s3cret-s3cret-s3cret&from=639171234567&message=100%")
	// Output:
	// 100%
	// 200
}

func ExampleReceiver_ParseChatApp1() {
	messages, _, err := receiver().ParseChatApp1(httptest.NewRequest(http.MethodGet, "/?from=639171234567&latitude=14.5&longitude=121", http.NoBody))
	if err != nil {
		log.Fatal(err)
	}
	if where, ok := messages[0].Content.(webhook.Location); ok {
		fmt.Println(where.Latitude, where.Longitude)
	}
	// Output:
	// 14.5 121
}

func ExampleReceiver_ParseChatApp2() {
	_, _, err := receiver().ParseChatApp2(httptest.NewRequest(http.MethodGet, "/?type=text&message=Hello", http.NoBody))
	fmt.Println(err, errors.Is(err, webhook.ErrNoSender))
	// Output:
	// webhook: chatapp2: no sender true
}

func ExampleReceiver_ParseDelivery() {
	reports, err := receiver().ParseDelivery(httptest.NewRequest(http.MethodGet, "/?_status=read&_id=m-1", http.NoBody))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reports[0].ID, reports[0].Status)
	// Output:
	// m-1 read
}

// Reports arrive out of order. The program keeps the newest state of each message, and why it failed.
func ExampleDeliveryReport() {
	states := map[string]webhook.Status{}
	handler := receiver().Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		if !d.Status.Supersedes(states[d.ReferenceID]) {
			return nil
		}
		states[d.ReferenceID] = d.Status
		fmt.Println(strings.TrimSpace(strings.Join([]string{d.ReferenceID, d.Status.String(), d.ErrorCode, d.ErrorText, d.Cost, d.Currency}, " ")))
		return nil
	})

	arrives(handler, "/hooks/dlr?referenceId=order-17&status=delivered&cost=0.0072&currency=EUR")
	arrives(handler, "/hooks/dlr?referenceId=order-17&status=sent")
	arrives(handler, "/hooks/dlr?referenceId=order-18&status=failed&errorCode=E17&errorMessage=Absent+subscriber")
	// Output:
	// order-17 delivered   0.0072 EUR
	// 200
	// 200
	// order-18 failed E17 Absent subscriber
	// 200
}

// The callback URL goes into sms.Message.CallbackURL, or that of a chat app, as it is.
func ExampleReceiver_DeliveryURL() {
	callback, err := receiver(webhook.WithSecret("key", "s3cret/s3cret/s3cret")).DeliveryURL("https://shop.example.com/hooks/dlr")
	fmt.Println(callback, err)
	// Output:
	// https://shop.example.com/hooks/dlr?key=s3cret%2Fs3cret%2Fs3cret&status=%s&messageId=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t <nil>
}

// The platform of chat app 2 signs the bodies that it posts. Other methods are refused, because the signature does not cover a query.
func ExampleWithVerifier() {
	appSecret := []byte("5d41402abc4b2a76b9719d911017c592")
	verify := func(r *http.Request) error {
		if r.Method != http.MethodPost {
			return errors.New("not a POST")
		}
		signature, err := hex.DecodeString(strings.TrimPrefix(r.Header.Get("X-Hub-Signature-256"), "sha256="))
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, appSecret)
		if _, err := io.Copy(mac, r.Body); err != nil {
			return err
		}
		if !hmac.Equal(signature, mac.Sum(nil)) { // in constant time
			return errors.New("wrong signature")
		}
		return nil
	}
	hooks, err := webhook.NewReceiver(webhook.WithPOST(), webhook.WithVerifier(verify))
	if err != nil {
		log.Fatal(err)
	}
	handler := hooks.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		fmt.Println("message", m.ID)
		return nil
	})

	const signature = "sha256=754fbefb8fdb5506a675b29c26946ff814b858bd4aff869c1864f96e8368c9d4"
	for _, body := range []string{`{"from":"639171234567","id":"m-1","type":"text"}`, `{"from":"639180000000","id":"m-2","type":"text"}`} {
		r := httptest.NewRequest(http.MethodPost, "/hooks/two", strings.NewReader(body))
		r.Header.Set("X-Hub-Signature-256", signature)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	arrives(handler, "/hooks/two?from=639180000000&message=STOP")
	// Output:
	// message m-1
	// 200
	// 403
	// 403
}

// The platform sends messages and delivery statuses to one URL.
func ExampleWithStatuses() {
	handler := receiver(webhook.WithPOST(), webhook.WithStatuses(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println("report", d.ID, d.Status)
		return nil
	})).ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		fmt.Println("message", m.ID)
		return nil
	})

	body := `{"object":"whatsapp_business_account","entry":[{"changes":[
		{"value":{"messages":[{"from":"639171234567","id":"m-2","type":"text","text":{"body":"Thanks"}}]}},
		{"value":{"statuses":[{"id":"m-1","status":"read","recipient_id":"639171234567","timestamp":"1791038663"}]}}]}]}`
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hooks/two", strings.NewReader(body)))
	fmt.Println(w.Code)
	// Output:
	// message m-2
	// report m-1 read
	// 200
}

// The handlers go into any http.ServeMux. Both secrets of a rotation hold until the service calls with the new one.
func Example_serveMux() {
	hooks, err := webhook.NewReceiver(
		webhook.WithPathSecret("key", "the-new-one-of-16", "the-old-one-of-16"),
		webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)),
	)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println("message", m.ID)
		return nil
	}))
	mux.Handle("/hooks/{key}/dlr", hooks.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println("report", d.ID, d.Status)
		return nil
	}))

	// http.ServeMux redirects a path that is not clean, and the body of a redirect repeats the query.
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})

	arrives(handler, "/hooks/the-new-one-of-16/sms?id=1&from=639171234567&message=Hello")
	arrives(handler, "/hooks/the-old-one-of-16/sms?id=1&from=639171234567&message=Hello") // the service calls again
	arrives(handler, "/hooks/the-old-one-of-16/dlr?id=1&status=1")
	arrives(handler, "/hooks/somebody-else/sms?id=2&from=639171234567&message=Hello")
	arrives(handler, "/hooks//the-new-one-of-16/sms?id=3&from=639171234567&message=Hello")
	// Output:
	// message 1
	// 200
	// 200
	// report 1 delivered
	// 200
	// 404
	// 404
}

// A store over a table that several processes share. This one has a map in place of the table; claim is one statement:
// insert the key with the end of its lease, or take the row over if its lease has ended.
type tableStore struct {
	mu   sync.Mutex
	rows map[string]row
}

type row struct {
	handled bool
	lease   time.Time
}

func (s *tableStore) Once(ctx context.Context, key string, handle func(context.Context) error) error {
	handled, claimed := s.claim(key)
	switch {
	case handled:
		return nil
	case !claimed:
		return webhook.ErrInProgress
	}
	err := handle(ctx)
	s.mu.Lock() // a database needs a context here that outlives ctx, see context.WithoutCancel
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.rows[key] = row{handled: true} // a job deletes rows that are some weeks old
	case !s.rows[key].handled:
		delete(s.rows, key)
	}
	return err
}

func (s *tableStore) claim(key string) (handled, claimed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.rows[key]
	if have.handled || time.Now().Before(have.lease) {
		return have.handled, false
	}
	s.rows[key] = row{lease: time.Now().Add(5 * time.Minute)} // longer than a handler may take
	return false, true
}

func ExampleStore() {
	handler := receiver(webhook.WithStore(&tableStore{rows: map[string]row{}})).SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println("handling", m.ID)
		return nil
	})

	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	// Output:
	// handling 1
	// 200
	// 200
}

func ExampleMemoryStore_Once() {
	store := webhook.NewMemoryStore(100_000, 24*time.Hour)
	for range 2 {
		err := store.Once(context.Background(), "a key", func(context.Context) error {
			fmt.Println("handled")
			return nil
		})
		fmt.Println(err)
	}
	// Output:
	// handled
	// <nil>
	// <nil>
}

// An account whose callbacks have other names.
func ExampleWithContract() {
	names, err := contract.Parse([]byte(`{"webhook.sms": {"params": {"from": ["absender"], "text": ["inhalt"]}, "zone": "Europe/Berlin"}}`))
	if err != nil {
		log.Fatal(err)
	}
	handler := receiver(webhook.WithContract(names)).SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println(m.From, m.Text, m.ReceivedAt)
		return nil
	})

	arrives(handler, "/hooks/sms?absender=4915112345678&inhalt=Hallo&date=2026-07-03+14:44")
	// Output:
	// 4915112345678 Hallo 2026-07-03 14:44:00 +0200 CEST
	// 200
}

// An access log that shows where a callback went, and nothing of what it brought.

// An account that sends several messages in one call. Each is handled by itself.
func ExampleReceiver_ParseSMSMessages() {
	names, err := contract.Parse([]byte(`{"webhook.sms": {"events": ["results"], "params": {"id": ["messageId"], "from": ["from"], "text": ["content.body"]}}}`))
	if err != nil {
		log.Fatal(err)
	}
	body := `{"messageCount": 2, "results": [
		{"messageId": "m-1", "from": "639171234567", "content": {"body": "Hello"}},
		{"messageId": "m-2", "from": "639177654321", "content": {"body": "Stop"}}]}`
	messages, err := receiver(webhook.WithContract(names), webhook.WithPOST()).
		ParseSMSMessages(httptest.NewRequest(http.MethodPost, "/hooks/sms", strings.NewReader(body)))
	for _, m := range messages { // what could be read, even if there is an error
		fmt.Println(m.ID, m.From, m.Text)
	}
	fmt.Println(err)
	// Output:
	// m-1 639171234567 Hello
	// m-2 639177654321 Stop
	// <nil>
}

// An event goes into a database or a queue as JSON, and comes back as it was.
func ExampleChatMessage_MarshalJSON() {
	handler := receiver().ChatApp1(func(_ context.Context, m webhook.ChatMessage) error {
		m.Params = nil // in this example, to print less
		m.RawQuery = ""
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		fmt.Println(string(data))

		var stored webhook.ChatMessage
		if err := json.Unmarshal(data, &stored); err != nil {
			return err
		}
		fmt.Println(reflect.DeepEqual(m, stored))
		return nil
	})

	arrives(handler, "/hooks/one?id=m-1&from=639171234567&type=image&mediaUrl=https%3A%2F%2Fexample.com%2Fa.png")
	// Output:
	// {"callback":"chatapp1","id":"m-1","from":"639171234567","content":{"media":{"kind":"image","url":"https://example.com/a.png"}}}
	// true
	// 200
}

// A function that cannot take an event now asks the service to call again.
func ExampleRetryLater() {
	errDatabaseDown := errors.New("the database is down")
	handler := receiver().SMS(func(context.Context, webhook.SMSMessage) error {
		return fmt.Errorf("%w: %w", errDatabaseDown, webhook.RetryLater(30*time.Second))
	})

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hooks/sms?id=1&from=639171234567&message=Hello", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("Retry-After"))
	// Output:
	// 503 30
}

// A hook counts events by callback and outcome, as a metrics library would.
func ExampleWithHook() {
	var mu sync.Mutex
	counts := map[string]int{}
	hook := webhook.Hook{End: func(_ context.Context, result webhook.Result) {
		mu.Lock()
		defer mu.Unlock()
		counts[fmt.Sprintf("%s %s %s", result.Kind, result.Disposition, result.Reason())]++
	}}
	handler := receiver(webhook.WithHook(hook), webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))).
		SMS(func(context.Context, webhook.SMSMessage) error { return nil })

	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	arrives(handler, "/hooks/sms?id=1&from=639171234567&message=Hello")
	arrives(handler, "/hooks/sms?message=Hello")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Println(name, counts[name])
	}
	// Output:
	// 200
	// 200
	// 400
	// sms duplicate  1
	// sms handled  1
	// sms refused no sender 1
}

func ExampleLogHook() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "time" || a.Key == "duration" { // in this example, to print the same each time
			return slog.Attr{}
		}
		return a
	}}))
	handler := receiver(webhook.WithHook(webhook.LogHook(logger))).SMS(func(context.Context, webhook.SMSMessage) error { return nil })

	arrives(handler, "/hooks/sms?id=m-1&from=639171234567&message=Hello")
	// Output:
	// level=INFO msg=webhook callback=sms id=m-1 outcome=handled
	// 200
}

// Messages of the field standby were answered by another app. They are worth a look, and no reply.
func ExampleWithOther() {
	handler := receiver(webhook.WithPOST(), webhook.WithOther(func(_ context.Context, other webhook.Other) error {
		fmt.Println(other.Field, string(other.JSON))
		return nil
	})).ChatApp2(func(context.Context, webhook.ChatMessage) error { return nil })

	body := `{"object":"whatsapp_business_account","entry":[{"id":"102","changes":[{"field":"account_update","value":{"event":"VERIFIED_ACCOUNT"}}]}]}`
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hooks/two", strings.NewReader(body)))
	fmt.Println(w.Code)
	// Output:
	// account_update {"event":"VERIFIED_ACCOUNT"}
	// 200
}

// Do not send marketing messages to a person who stopped them.
func ExampleWithPreferences() {
	handler := receiver(webhook.WithPOST(), webhook.WithPreferences(func(_ context.Context, p webhook.Preference) error {
		fmt.Println(p.From, p.UserID, p.Category, "stopped:", p.Stopped)
		return nil // the choice is safe in a database
	})).ChatApp2(func(context.Context, webhook.ChatMessage) error { return nil })

	body := `{"object":"whatsapp_business_account","entry":[{"id":"102","changes":[{"field":"user_preferences","value":{
		"contacts":[{"wa_id":"639171234567","user_id":"PH.1"}],
		"user_preferences":[{"wa_id":"639171234567","category":"marketing_messages","value":"stop","timestamp":1791038663}]}}]}]}`
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hooks/two", strings.NewReader(body)))
	fmt.Println(w.Code)
	// Output:
	// 639171234567 PH.1 marketing_messages stopped: true
	// 200
}

// The contract and the secret come from the environment, as for messaging.NewClientFromEnv.
func ExampleNewReceiverFromEnv() {
	if err := os.Setenv("MESSAGING_WEBHOOK_SECRET", "key=QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"); err != nil { // done where the program is started
		log.Fatal(err)
	}

	hooks, err := webhook.NewReceiverFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	handler := hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		fmt.Println(m.Text)
		return nil
	})
	arrives(handler, "/hooks/sms?key=QZ5JEWNTJ4W5SXPJSAXLQJ6YPM&from=639171234567&message=Hello")
	// Output:
	// Hello
	// 200
}
