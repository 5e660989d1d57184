// Command quickstart sends an SMS, shows the four verdicts of a send, settles a lost response, and lists what was sent.
//
// Without an environment it starts a test server and needs no account. With MESSAGING_BASE_URL and credentials (see
// messaging.NewClientFromEnv) it sends one message through that service, to the number in MESSAGING_TO and to no other.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run := testServer
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		run = realService
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1) //nolint:gocritic // nothing that cancel would release outlives the process
	}
}

// realService sends one message.
func realService(ctx context.Context) error {
	client, err := messaging.NewClientFromEnv()
	if err != nil {
		return err
	}
	to := os.Getenv("MESSAGING_TO")
	if to == "" {
		return errors.New("MESSAGING_TO is required: the number to send to")
	}
	from := os.Getenv("MESSAGING_FROM")
	if from == "" {
		from = "ACME"
	}
	receipt, err := client.SMS.Send(ctx, sms.Message{From: from, To: to, Text: "Hello from messaging-go", ReferenceID: reference()})
	show(receipt, err)
	return err
}

// testServer shows each verdict.
func testServer(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	fmt.Println("No MESSAGING_BASE_URL: using a test server at", service.URL)

	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	message := func(reference string) sms.Message {
		return sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: reference}
	}

	fmt.Println("\n1. The service accepts the message.")
	show(client.SMS.Send(ctx, message("order-17")))

	fmt.Println("\n2. The service refuses it.")
	service.Inject(messagingtest.Status(403, 0), 1)
	show(client.SMS.Send(ctx, message("order-18")))

	fmt.Println("\n3. The service cannot be reached. After a few attempts nothing was sent.")
	nobody := messagingtest.Start()
	nobody.Close()
	unreachable, err := messaging.NewClient(nobody.URL, messaging.WithToken(nobody.Token),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: 50 * time.Millisecond}))
	if err != nil {
		return err
	}
	show(unreachable.SMS.Send(ctx, message("order-19")))

	fmt.Println("\n4. The service accepts the message, and the response is lost. Sending again could send it twice.")
	service.Inject(messagingtest.AcceptThenDrop(), 1)
	show(client.SMS.Send(ctx, message("order-20")))

	fmt.Println("\nAn invalid message is never sent:")
	show(client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+63 917 123-4567, +63 918 123-4567"}))

	fmt.Println("\nThe same with SendOnce: it looks the message up by its reference ID instead of sending it again.")
	careful, err := client.With(messaging.WithSettle(messaging.SettlePolicy{Window: 2 * time.Second, Interval: 100 * time.Millisecond}))
	if err != nil {
		return err
	}
	service.Inject(messagingtest.AcceptThenDrop(), 1)
	show(careful.SMS.SendOnce(ctx, message("order-21")))

	fmt.Println("\nThe service lists the first message, the fourth, and the settled one.")
	for tx, err := range client.SMS.List(ctx, sms.ListOptions{PageSize: 100, SortBy: "dateCreated"}) {
		if err != nil {
			return err
		}
		fmt.Printf("   %s  %s  %d part, %s\n", tx.ID, tx.ReferenceID, tx.Parts, tx.Price)
	}
	return nil
}

// show prints what a program would do for each verdict.
func show(receipt messaging.Receipt, err error) {
	if errors.Is(err, messaging.ErrInvalid) && messaging.VerdictOf(err) == messaging.NotSent {
		fmt.Printf("   %v: %v\n   -> correct the message\n", messaging.NotSent, err)
		return
	}
	switch verdict := messaging.VerdictOf(err); verdict {
	case messaging.Accepted:
		fmt.Printf("   %v: message %s, %d part, cost %s\n", verdict, receipt.ID, receipt.Parts, receipt.Cost)
	case messaging.Refused:
		fmt.Printf("   %v: %v\n   -> correct the message or the account, then send again\n", verdict, err)
	case messaging.NotSent:
		fmt.Printf("   %v: %v\n   -> safe to send again\n", verdict, err)
	case messaging.Unknown:
		fmt.Printf("   %v: %v\n   -> do not send again; settle it by its reference ID\n", verdict, err)
	}
}

func reference() string { return "quickstart-" + time.Now().UTC().Format("20060102T150405.000") }
