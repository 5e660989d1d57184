package inbox_test

import (
	"context"
	"fmt"
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/webhook"
)

func ExampleRead() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, end := exampleEngine(ctx)
	defer end()

	err := inbox.Read(ctx, c, inbox.ReadOptions{Name: "stop-words", Kinds: []inbox.Kind{inbox.SMS}}, func(_ context.Context, e inbox.Event) error {
		if m, ok := e.Message.(webhook.SMSMessage); ok && m.Text == "STOP" {
			fmt.Println("event", e.Sequence, "is a stop:", m.ID) // a real program stores each Sequence once
		}
		cancel() // a real program continues until it is stopped
		return nil
	})
	fmt.Println(err)
	// Output:
	// event 1 is a stop: in-1
	// <nil>
}

// exampleEngine returns an engine with one event. It ignores errors to keep the example short.
func exampleEngine(ctx context.Context) (c *engine.Connection, end func()) {
	directory, _ := os.MkdirTemp("", "inbox")
	s, _ := embedded.Start(directory, 0)
	c, _ = engine.Connect(ctx, engine.Options{URL: s.URL()})
	_ = c.Prepare(ctx, engine.Setup{})
	p, _ := inbox.NewPublisher(ctx, c)
	_ = p.SMS(ctx, webhook.SMSMessage{ID: "in-1", From: "+639171234567", Text: "STOP"})
	return c, func() {
		c.Close()
		s.Close()
		_ = os.RemoveAll(directory)
	}
}
