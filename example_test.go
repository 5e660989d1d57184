package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
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
	service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the message goes out, and the response is lost

	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"}
	_, err = client.SMS.Send(context.Background(), message)
	fmt.Println(message.ReferenceID, messaging.VerdictOf(err)) // such as for a column of a table
	// Output: order-17 unknown
}

func ExampleError() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRetry(messaging.RetryPolicy{MaxWait: time.Second}))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Hour), 1)

	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	var e *messaging.Error
	if errors.As(err, &e) && errors.Is(err, messaging.ErrRateLimited) {
		fmt.Println(e.Verdict, e.StatusCode, e.Code, e.RetryAfter)
	}
	// Output: refused 429 40002 1h0m0s
}

// What a program can do about each kind of error. The first case that applies decides.
func ExampleError_Is() {
	service, client := connected()
	defer service.Close()
	service.SetBalance("0")

	_, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"})
	switch {
	case err == nil:
		fmt.Println("accepted")
	case messaging.MayHaveBeenSent(err):
		fmt.Println("settle it by its reference ID")
	case errors.Is(err, messaging.ErrInvalid):
		fmt.Println("mend the message")
	case errors.Is(err, messaging.ErrInsufficientBalance):
		fmt.Println("top up the account")
	case errors.Is(err, messaging.ErrUnauthorized):
		fmt.Println("mend the credentials")
	default: // Retryable says whether to try again, and when
		fmt.Println(messaging.Retryable(err))
	}
	// Output: top up the account
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
	// For requests that a person waits for: the same connections and rate limit, shorter timeouts.
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
	// true messaging: MESSAGING_API_SECRET: needs a secret, too, because the default contract has one (auth.keyPair.secret), and MESSAGING_CONTRACT is not set
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

func ExampleWithVariable() {
	names, err := contract.Parse([]byte(`{"sms.send": {"path": "/accounts/{account}/messages"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	token := messaging.WithToken("token")
	client, err := messaging.NewClient("https://api.example.com", token, messaging.WithContract(names))
	fmt.Println(client == nil, err)
	client, err = messaging.NewClient("https://api.example.com", token, messaging.WithContract(names), messaging.WithVariable("account", "AC-42"))
	fmt.Println(client, err)
	// Output:
	// true messaging: WithVariable: required, but absent: paths of the contract have the variable {account}
	// messaging.Client(https://api.example.com) <nil>
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
	sign := func(r *http.Request) error {
		body, err := r.GetBody() // a copy: the body itself goes out untouched
		if err != nil {
			return err
		}
		defer body.Close()
		r.Header.Set("X-Signature", "computed over the body")
		return nil
	}
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

func ExampleWithGuard() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(
		service.URL, messaging.WithToken(service.Token),
		messaging.WithGuard(func(_ context.Context, m messaging.Outgoing) error {
			if m.To == "+639171234599" { // in a program: ask a database
				return messaging.ErrOptedOut
			}
			return nil
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234599", Text: "Half price!"})
	fmt.Println(err)
	fmt.Println(errors.Is(err, messaging.ErrDenied), errors.Is(err, messaging.ErrOptedOut), len(service.Sent()))
	// Output:
	// messaging: sms.send not sent: opted out
	// true true 0
}

func ExampleDeny() {
	service := messagingtest.Start()
	defer service.Close()
	left := 0 // in a program: what the budget of the day leaves
	client, err := messaging.NewClient(
		service.URL, messaging.WithToken(service.Token),
		messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if left == 0 {
				return messaging.Deny(errors.New("the budget of the day is spent"))
			}
			return nil
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Half price!"})
	fmt.Println(err)
	// Output: messaging: sms.send not sent: the budget of the day is spent
}

func ExamplePostpone() {
	service := messagingtest.Start()
	defer service.Close()
	hour := 22 // in a program: time.Now().In(theirs).Hour()
	client, err := messaging.NewClient(
		service.URL, messaging.WithToken(service.Token),
		messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if hour >= 21 || hour < 8 {
				return messaging.Postpone(time.Duration((32-hour)%24) * time.Hour) // until eight
			}
			return nil
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Half price!"})
	fmt.Println(messaging.Retryable(err))
	// Output: 10h0m0s true
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
	service.Inject(messagingtest.FaultStatus(http.StatusBadGateway, 0), 1)
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	// Output: level=WARN msg="messaging: outcome unknown" error.operation=sms.send error.verdict=unknown error.status=502 error.message="messaging: sms.send has an unknown outcome: HTTP 502, code 50000, unavailable, \"bad gateway\", request req-1" error.attempts=1
}

func ExampleSMSService_Send() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{
		From:        "ACME",
		To:          "+639171234567",
		Text:        "Your order 17 is ready",
		CallbackURL: "https://shop.example.com/delivery?status=%s&id=%i", // placeholders go out as they are
		ReferenceID: "order-17",
		Extra:       map[string]any{"campaign": "autumn"}, // a field of your account that this library does not know
	})
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Println(receipt.ID, receipt.ReferenceID, receipt.Cost, receipt.Balance)
	fmt.Println(service.Sent()[0].CallbackURL)
	// Output:
	// msg-1 order-17 0.50 999999.50
	// https://shop.example.com/delivery?status=%s&id=%i
}

// connected starts a test server that has sent three SMS, and returns a client of it.
func connected(options ...messaging.Option) (*messagingtest.Server, *messaging.Client) {
	service := messagingtest.Start()
	for i, text := range []string{"one", "two", "three"} {
		service.Seed(messagingtest.Sent{
			From: "ACME", To: "+639171234567", Text: text, ReferenceID: fmt.Sprintf("order-%d", i+1), DeliveryStatus: "1",
			At: time.Date(2026, time.October, 3, 14, 0, i, 0, time.UTC),
		})
	}
	client, err := messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	if err != nil {
		panic(err)
	}
	return service, client
}

func ExampleSMSService_List() {
	service, client := connected()
	defer service.Close()
	for tx, err := range client.SMS.List(context.Background(), sms.ListOptions{
		CreatedAfter: time.Date(2026, time.October, 3, 0, 0, 0, 0, time.UTC), PageSize: 500, SortBy: sms.ByCreated, Descending: true,
	}) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			fmt.Println(err) // one row that could not be read in full; the listing goes on
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tx.ID, tx.ReferenceID, tx.CreatedAt.Format(time.TimeOnly), tx.Price)
	}
	// Output:
	// msg-3 order-3 14:00:02 0.50
	// msg-2 order-2 14:00:01 0.50
	// msg-1 order-1 14:00:00 0.50
}

func ExampleSMSService_Pages() {
	service, client := connected()
	defer service.Close()
	for page, err := range client.SMS.Pages(context.Background(), sms.ListOptions{PageSize: 2, SortBy: sms.ByCreated}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d of %d messages, on one of %d pages\n", len(page.Transactions), page.Total, page.TotalPages)
	}
	// Output:
	// 2 of 3 messages, on one of 2 pages
	// 1 of 3 messages, on one of 2 pages
}

func ExampleSMSService_Verdict() {
	service, client := connected()
	defer service.Close()
	service.Seed(
		messagingtest.Sent{ReferenceID: "order-4", SendStatus: "rejected"},
		messagingtest.Sent{ReferenceID: "order-5", Row: map[string]json.RawMessage{"dlrStatus": []byte(`["?"]`)}},
	)
	for tx, err := range client.SMS.List(context.Background(), sms.ListOptions{SortBy: sms.ByCreated}) {
		if err != nil && !errors.Is(err, messaging.ErrUnreadableRow) {
			fmt.Println(err)
			return
		}
		switch client.SMS.Verdict(tx) {
		case messaging.Accepted:
			// count its price, and look at tx.Status for its delivery
		case messaging.Refused:
			fmt.Println(tx.ReferenceID, "was refused:", tx.SendStatus)
		case messaging.Unknown, messaging.NotSent:
			fmt.Println(tx.ReferenceID, "says nothing:", tx.ErrorCode, tx.ReadError)
		}
	}
	// Output:
	// order-4 was refused: rejected
	// order-5 says nothing:  messaging: sms.list: row 5 of page 1 (ID msg-5) cannot be read: DeliveryStatus is neither a text nor a number (dlrStatus)
}

func ExampleSMSService_Find() {
	service, client := connected()
	defer service.Close()
	tx, err := client.SMS.Find(context.Background(), "order-2")
	fmt.Println(tx.ID, tx.DeliveryStatus, err)

	_, err = client.SMS.Find(context.Background(), "order-99")
	fmt.Println(errors.Is(err, messaging.ErrNotFound))
	// Output:
	// msg-2 1 <nil>
	// true
}

func ExampleSMSService_SendOnce() {
	service, client := connected(messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Second}))
	defer service.Close()
	service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the message goes out, and the response is lost

	receipt, err := client.SMS.SendOnce(context.Background(), sms.Message{
		From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17",
	})
	fmt.Println(messaging.VerdictOf(err), receipt.ID)
	// Output: accepted msg-4
}

func ExampleSMSService_SendAll() {
	service, client := connected(messaging.WithRateLimit(1000, 100))
	defer service.Close()
	messages := slices.Values([]sms.Message{
		{From: "ACME", To: "+639171234567", Text: "We open at nine", ReferenceID: "nine-1"},
		{From: "ACME", To: "+639181234567", Text: "We open at nine", ReferenceID: "nine-2"},
		{From: "ACME", To: "not a number", Text: "We open at nine", ReferenceID: "nine-3"},
	})
	for out := range client.SMS.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 accepted
	// 2 nine-3 not sent
}

func ExampleChatApp1Service_Send() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready")
	receipt, err := client.ChatApp1.Send(context.Background(), message)
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Println(receipt.ID, receipt.Cost)
	// Output: msg-1 0.50
}

func ExampleChatApp1Service_SendAll() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := slices.Values([]chatapp1.Message{
		chatapp1.New("channel-1", "+639171234567").Text("We open at nine").WithReference("nine-1"),
		chatapp1.New("channel-1", "+639181234567").Image("https://cdn.example.com/nine.png").WithReference("nine-2"),
		chatapp1.New("channel-1", "not a number").Text("We open at nine").WithReference("nine-3"),
	})
	for out := range client.ChatApp1.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 accepted
	// 2 nine-3 not sent
}

func ExampleChatApp2Service_Send() {
	service, client := connected()
	defer service.Close()
	receipt, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body("Ana", "17"),
		}},
		TTL:         time.Hour,
		Fallback:    &sms.Fallback{From: "ACME", Text: "Ana, your order 17 is ready"},
		ReferenceID: "order-17",
	})
	fmt.Println(messaging.VerdictOf(err), receipt.ID)
	// Output: accepted wamid.bXNnLTQ=
}

func ExampleChatApp2Service_SendAll() {
	service, client := connected()
	defer service.Close()
	messages := slices.Values([]chatapp2.Message{
		{To: "+639171234567", Content: chatapp2.Text{Body: "We open at nine"}, ReferenceID: "nine-1"},
		{To: "+639181234567", Content: chatapp2.Text{}, ReferenceID: "nine-2"},
	})
	for out := range client.ChatApp2.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 not sent
}

// Only a reminder that was not sent may be sent again; see Retryable and IsAccountProblem.
func ExampleMayHaveBeenSent() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	faults := []messagingtest.Fault{{}, messagingtest.FaultAcceptThenDrop(), messagingtest.FaultStatus(http.StatusPaymentRequired, 0)}
	for i, fault := range faults {
		service.Inject(fault, 1)
		reminder := sms.Message{From: "ACME", To: "+639171234567", Text: "See you at nine", ReferenceID: fmt.Sprint("reminder-", i)}
		_, err := client.SMS.Send(context.Background(), reminder)
		switch {
		case err == nil:
			fmt.Println(reminder.ReferenceID, "was sent")
		case messaging.MayHaveBeenSent(err):
			fmt.Println(reminder.ReferenceID, "may have been sent")
		default:
			fmt.Println(reminder.ReferenceID, "was not sent")
		}
	}
	// Output:
	// reminder-0 was sent
	// reminder-1 may have been sent
	// reminder-2 was not sent
}

// Send waits for a minute at most. A program that has more time sends again what did not go out.
func ExampleRetryable() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second), 2)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for {
		_, err = client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
		wait, ok := messaging.Retryable(err)
		fmt.Println(messaging.VerdictOf(err), ok, wait)
		if !ok || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	// Output:
	// refused true 1s
	// refused true 1s
	// accepted false 0s
}

// A listing that fails goes on where it ended, after the wait that the service asks for.
func ExampleRetryable_listing() {
	service, client := connected(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	defer service.Close()
	service.Inject(messagingtest.Fault{}, 1)                                                   // the first page is listed
	service.Inject(messagingtest.FaultStatus(http.StatusServiceUnavailable, 2*time.Second), 1) // the second is not

	options := sms.ListOptions{PageSize: 2, SortBy: sms.ByCreated}
	list := func(ctx context.Context) error {
		for page, err := range client.SMS.Pages(ctx, options) {
			if err != nil {
				return err
			}
			for _, tx := range page.Transactions {
				fmt.Println(tx.ID)
			}
			options.After = page.Next // in a program: store it with the rows of the page
		}
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for {
		err := list(ctx)
		wait, ok := messaging.Retryable(err)
		if !ok || ctx.Err() != nil {
			fmt.Println("ended:", err)
			return
		}
		fmt.Println(errors.Is(err, messaging.ErrUnavailable), wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	// Output:
	// msg-1
	// msg-2
	// true 2s
	// msg-3
	// ended: <nil>
}

// A database has the name of the channel next to each message.
func ExampleParseChannel() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, stored := range []string{messaging.ChannelChatApp1.String(), "pager"} {
		channel, err := messaging.ParseChannel(stored)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(channel, "is held back:", client.Breaker(channel).Open)
	}
	// Output:
	// chatapp1 is held back: false
	// messaging: name: not a channel; want sms, chatapp1 or chatapp2
}

// Messages that are refused for a lack of credit are kept until the account is topped up.
func ExampleIsAccountProblem() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Inject(messagingtest.FaultStatus(http.StatusPaymentRequired, 0), 1)

	var kept []sms.Message
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"}
	_, err = client.SMS.Send(context.Background(), message)
	if messaging.IsAccountProblem(err) {
		kept = append(kept, message)
		fmt.Println("kept:", messaging.VerdictOf(err))
	}

	for _, message := range kept { // after the account was topped up
		_, err = client.SMS.Send(context.Background(), message)
		fmt.Println(messaging.VerdictOf(err))
	}
	// Output:
	// kept: refused
	// accepted
}
