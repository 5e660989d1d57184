package messagingtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func ExampleNewRequest() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("from") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Printf("%s writes %q\n", r.FormValue("from"), r.FormValue("message"))
	}
	for _, m := range []messagingtest.InboundSMS{
		{From: "+639171234567", Text: "100% yes & more"},
		{Text: "from nobody"},
		{From: "639171234567", Extra: url.Values{"message": {""}}}, // there, and empty
	} {
		w := httptest.NewRecorder()
		handler(w, messagingtest.NewRequest("/hooks/sms?key=s3cret", m))
		fmt.Println(w.Code)
	}
	fmt.Println(messagingtest.NewRequest("/hooks/sms?key=s3cret", messagingtest.InboundSMS{From: "+639171234567", Text: "a b"}).RequestURI)
	// Output:
	// +639171234567 writes "100% yes & more"
	// 200
	// 400
	// 639171234567 writes ""
	// 200
	// /hooks/sms?key=s3cret&from=%2B639171234567&message=a+b
}

func ExampleServer_CallWebhook() {
	srv := messagingtest.Start()
	defer srv.Close()

	// A webhook that handles each message once.
	var mu sync.Mutex
	handled := map[string]bool{}
	webhook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if id := r.FormValue("messageId"); !handled[id] {
			handled[id] = true
			fmt.Printf("%s: %q\n", r.FormValue("from"), r.FormValue("message"))
		}
	}))
	defer webhook.Close()

	message := messagingtest.InboundSMS{ID: "m-1", From: "639171234567", To: "21581", Text: "YES", ReceivedAt: time.Now()}
	for _, reply := range srv.CallWebhook(context.Background(), webhook.URL+"/hooks/sms?key=s3cret", message, messagingtest.TwiceAtOnce()) {
		fmt.Println(reply.StatusCode, reply.Err)
	}
	// Output:
	// 639171234567: "YES"
	// 200 <nil>
	// 200 <nil>
}

func ExampleRetryFailures() {
	srv := messagingtest.Start()
	defer srv.Close()

	store := errors.New("the database is not there")
	webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if store != nil {
			store = nil // it is back soon
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Println("handled", r.FormValue("messageId"))
	}))
	defer webhook.Close()

	message := messagingtest.InboundSMS{ID: "m-1", From: "639171234567", Text: "YES"}
	for _, reply := range srv.CallWebhook(context.Background(), webhook.URL, message, messagingtest.RetryFailures(3)) {
		fmt.Printf("%d %d %q\n", reply.Attempt, reply.StatusCode, reply.Header.Get("Retry-After"))
	}
	// Output:
	// handled m-1
	// 1 503 "2"
	// 2 200 ""
}

func ExampleServer_ReportDelivery() {
	srv := messagingtest.Start()
	defer srv.Close()
	webhook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.FormValue("referenceId"), "to", r.FormValue("to"), "is", r.FormValue("status"))
	}))
	defer webhook.Close()

	// As a client sends it.
	srv.Seed(messagingtest.Sent{
		ID: "m-1", From: "ACME", To: "+639171234567", Text: "See you at 9", ReferenceID: "visit-9",
		CallbackURL: webhook.URL + "/hooks/dlr?key=s3cret&status=%s&id=%i&referenceId=%r&to=%t",
	})
	for _, m := range srv.Sent() {
		for _, status := range []string{"sent", "delivered"} {
			for _, reply := range srv.ReportDelivery(context.Background(), m.ID, status) {
				fmt.Println(reply.StatusCode, reply.Err)
			}
		}
	}
	// Output:
	// visit-9 to +639171234567 is sent
	// 200 <nil>
	// visit-9 to +639171234567 is delivered
	// 200 <nil>
}

func ExampleInboundSamples() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("from") == "" && r.FormValue("payload") == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	refused := 0
	for name, m := range messagingtest.InboundSamples() {
		w := httptest.NewRecorder()
		m.Channel = "chatapp2"
		handler(w, messagingtest.NewRequest("/hooks/two", m))
		if w.Code != http.StatusOK {
			fmt.Println("refused:", name, m.Kind)
			refused++
		}
	}
	fmt.Println(refused, "refused")
	// Output: 0 refused
}
