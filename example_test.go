package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func Example() {
	service := messagingtest.Start() // in a program: the address of the service
	defer service.Close()

	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{
		From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17",
	})
	fmt.Println(messaging.VerdictOf(err), receipt.ID, receipt.Parts, receipt.Cost)
	// Output: accepted msg-1 1 0.50
}

func ExampleVerdictOf() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.AcceptThenDrop(), 1) // the message goes out, and the answer is lost

	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"})
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		fmt.Println("done")
	case messaging.Refused, messaging.NotSent:
		fmt.Println("it has not gone out")
	case messaging.Unknown:
		var e *messaging.Error
		errors.As(err, &e)
		fmt.Printf("it may have gone out: ask about %s before sending it again\n", e.ReferenceID)
	}
	// Output: it may have gone out: ask about order-17 before sending it again
}

func ExampleError() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRetry(messaging.RetryPolicy{MaxWait: time.Second}))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.Status(http.StatusTooManyRequests, time.Hour), 1)

	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	var e *messaging.Error
	if errors.As(err, &e) && errors.Is(err, messaging.ErrRateLimited) {
		fmt.Println(e.Verdict, e.StatusCode, e.Code, e.RetryAfter)
	}
	// Output: refused 429 40002 1h0m0s
}

func ExampleValidationError() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SMS.Send(context.Background(), sms.Message{To: "0917 123 4567", Text: "Hi"})
	if v, ok := errors.AsType[*messaging.ValidationError](err); ok {
		for _, problem := range v.Problems {
			fmt.Println(problem.Field+":", problem.Reason)
		}
	}
	// Output:
	// From: required, but absent
	// To: want 5 to 15 digits with an optional leading +, got white space
}

func ExampleClient_With() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"), messaging.WithRateLimit(50, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	// For requests that a person waits for: the same connections and the same rate limit, less patience.
	quick, err := client.With(messaging.WithTimeout(2*time.Second), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2}))
	fmt.Println(quick, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleNewClientFromEnv() {
	_ = os.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
	_ = os.Setenv("MESSAGING_API_KEY", "key")
	client, err := messaging.NewClientFromEnv()
	fmt.Println(client == nil, err)

	_ = os.Setenv("MESSAGING_API_SECRET", "secret")
	client, err = messaging.NewClientFromEnv()
	fmt.Println(client, err)
	for _, name := range []string{"MESSAGING_BASE_URL", "MESSAGING_API_KEY", "MESSAGING_API_SECRET"} {
		_ = os.Unsetenv(name)
	}
	// Output:
	// true messaging: MESSAGING_API_SECRET: required beside MESSAGING_API_KEY
	// messaging.Client(https://api.example.com) <nil>
}

func ExampleWithContract() {
	names, err := contract.Parse([]byte(`{
		"auth":     {"token": {"scheme": "Token"}},
		"sms.send": {"fields": {"from": "sender.id", "text": "message"}, "constants": {"app": "billing"}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"), messaging.WithContract(names))
	fmt.Println(client, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithTokenSource() {
	service := messagingtest.Start()
	defer service.Close()
	source := func(context.Context) (messaging.Token, error) {
		fmt.Println("a token is fetched") // from the service that issues them
		return messaging.Token{Value: service.Token, Expiry: time.Now().Add(time.Hour)}, nil
	}
	client, err := messaging.NewClient(service.URL, messaging.WithTokenSource(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
		fmt.Println(messaging.VerdictOf(err))
	}
	// Output:
	// a token is fetched
	// accepted
	// accepted
}

func ExampleWithAuth() {
	sign := messaging.AuthFunc(func(r *http.Request) error {
		body, err := r.GetBody() // a copy: the body itself goes out untouched
		if err != nil {
			return err
		}
		defer body.Close()
		r.Header.Set("X-Signature", "computed over the body")
		return nil
	})
	client, err := messaging.NewClient("https://api.example.com",
		messaging.WithToken("token"),                        // for SMS and chat app 1
		messaging.WithAuth(sign, messaging.ChannelChatApp2)) // for chat app 2
	fmt.Println(client, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithHTTPClient() {
	transport := http.DefaultTransport.(*http.Transport).Clone() // with HTTP/2, where the service speaks it
	transport.MaxIdleConnsPerHost = 64
	transport.IdleConnTimeout = 4 * time.Second
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"),
		messaging.WithHTTPClient(&http.Client{Transport: transport}))
	fmt.Println(client, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithRetry() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: 100 * time.Millisecond, MaxWait: 5 * time.Second}))
	fmt.Println(client, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithRateLimit() {
	// 50 requests a second on average, 10 at once; every goroutine that uses the client shares it.
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"), messaging.WithRateLimit(50, 10))
	fmt.Println(client, err)
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithSettle() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"),
		messaging.WithSettle(messaging.SettlePolicy{Window: time.Minute, Interval: 5 * time.Second}))
	fmt.Println(client, err) // SMS.SendOnce and SMS.SendAll now look unknown outcomes up
	// Output: messaging.Client(https://api.example.com) <nil>
}

func ExampleWithLogger() {
	service := messagingtest.Start()
	defer service.Close()
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // so that this example has the same output each time
		}
		return a
	}})
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithLogger(slog.New(handler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.Status(http.StatusBadGateway, 0), 1)
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	// Output: level=WARN msg="messaging: outcome unknown" error.operation=sms.send error.verdict=unknown error.status=502 error.error="messaging: sms.send has an unknown outcome: HTTP 502, code 50000, unavailable, \"bad gateway\", request req-1" error.attempts=1
}
