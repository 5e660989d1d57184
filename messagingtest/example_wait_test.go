package messagingtest_test

import (
	"context"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A test of a login waits for the message, and types the code that it holds.
func ExampleServer_WaitFor() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	go func() { // the program under test
		_, _ = client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "482913 is your ACME code"})
	}()
	sent, err := srv.WaitFor(ctx, "639171234567")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sent.From, sent.Code())
	// Output: ACME 482913
}

// A message that waits for its recipient is delivered when the test says so.
func ExampleServer_SetMessageDelivery() {
	srv := messagingtest.Start()
	defer srv.Close()
	srv.Seed(messagingtest.Sent{ID: "msg-1", To: "+639171234567", Text: "Hi"})
	fmt.Println(srv.SetMessageDelivery("msg-1", messagingtest.DeliveryUnreachable()), srv.Sent()[0].Status)
	fmt.Println(srv.SetMessageDelivery("msg-1", messagingtest.DeliveryRead()), srv.Sent()[0].Status)
	// Output:
	// true queued
	// true read
}

// A delivery that fails late is still under way before.
func ExampleDelivery_After() {
	srv := messagingtest.Start()
	defer srv.Close()
	srv.Seed(messagingtest.Sent{ID: "msg-1", To: "+639171234567", Text: "Hi"})
	srv.SetMessageDelivery("msg-1", messagingtest.DeliveryFailed().After(10*time.Minute))
	fmt.Println(srv.Sent()[0].Status)
	srv.Advance(10 * time.Minute)
	fmt.Println(srv.Sent()[0].Status)
	// Output:
	// sent
	// failed
}

// A program that adds messages on demand shows its user what is wrong with them.
func ExampleServer_TrySeed() {
	srv := messagingtest.Start()
	defer srv.Close()
	entered, err := srv.TrySeed(messagingtest.Sent{ID: "msg-1", To: "+639171234567"})
	fmt.Println(len(entered), err)
	_, err = srv.TrySeed(messagingtest.Sent{ID: "msg-1"})
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// messagingtest: message 0: the ID "msg-1" is taken
}
