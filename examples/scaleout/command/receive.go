package command

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
	"github.com/messaging-service/messaging-go/webhook"
)

// envSecret is the variable with the secret that the service sends to receivers.
const envSecret = "WEBHOOK_SECRET"

func receive(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	address := flags.String("address", "127.0.0.1:8080", "address to listen on. The service must send $"+envSecret+" in the parameter "+inbox.SecretParameter)
	monitor := registerMonitor(flags)
	return func(ctx context.Context, _ []string) error {
		secret := os.Getenv(envSecret)
		if secret == "" {
			return UsageError(envSecret + " is empty: anyone could send events")
		}
		return s.onEngine(ctx, func(c *engine.Connection) error {
			set := metrics.New()
			end, err := serveMonitor(ctx, *monitor, c, set)
			if err != nil {
				return err
			}
			defer end()
			listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
			if err != nil {
				return err
			}
			fmt.Printf("receiving at http://%s%s, %s, %s and %s\n", listener.Addr(), inbox.SMSPath, inbox.ChatApp1Path, inbox.ChatApp2Path, inbox.DeliveryPath)
			return inbox.Serve(ctx, listener, c, inbox.Config{Secret: secret, Options: []webhook.Option{webhook.WithObserver(eventObserver{set})}})
		})
	}
}

func events(flags *flag.FlagSet) RunFunc {
	s := new(Settings).Register(flags)
	name := flags.String("name", "campaign-events", "name of the reader; each name gets every event once and continues where it stopped")
	parked := flags.Bool("parked", false, "print the events that the reader has given up on, and take them off the list")
	return func(ctx context.Context, _ []string) error {
		show := func(_ context.Context, e inbox.Event) error {
			fmt.Printf("%d\t%s\t%s\n", e.Sequence, e.Kind, e.Key)
			return nil
		}
		return s.onEngine(ctx, func(c *engine.Connection) error {
			if *parked {
				left, err := inbox.ReadParked(ctx, c, *name, show)
				fmt.Printf("%d cannot be read\n", left)
				return err
			}
			return inbox.Read(ctx, c, inbox.ReadOptions{Name: *name}, show)
		})
	}
}

// eventObserver counts the events at a receiver.
type eventObserver struct{ set *metrics.Set }

// StartEvent implements [webhook.Observer].
func (eventObserver) StartEvent(ctx context.Context, _ webhook.Event) context.Context { return ctx }

// EndEvent implements [webhook.Observer].
func (o eventObserver) EndEvent(_ context.Context, _ webhook.Event, result webhook.EventResult) {
	o.set.Count("scaleout_events_total", "callback", string(result.Kind), "outcome", string(result.Outcome))
}
