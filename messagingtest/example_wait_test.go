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
