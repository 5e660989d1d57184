package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// demo serves the bot to a test server until three people have their answers.
func demo(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	return runDemo(ctx, service)
}

func runDemo(ctx context.Context, service *messagingtest.Server) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	in, err := demoSettings(":memory:", "http://"+listener.Addr().String(), service)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	b, err := start(ctx, in)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer b.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	end := make(chan error, 1)
	go func() { end <- b.serve(ctx, listener) }()
	playing, cancel := context.WithTimeout(ctx, time.Minute) // serve may have failed
	defer cancel()
	err = play(playing, service, in.url)
	if ctx.Err() != nil { // SIGTERM
		err = nil
	}
	stop()
	return errors.Join(err, <-end)
}

const demoSecret = "secret-of-a-demo"

func demoSettings(database, url string, service *messagingtest.Server) (settings, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	newReceiver := func(options ...webhook.Option) (*webhook.Receiver, error) {
		return webhook.NewReceiver(append(options, webhook.WithSecret("key", demoSecret))...)
	}
	return settings{database: database, url: url, sender: "+639001234567", channelID: "channel-1", client: client, newReceiver: newReceiver}, err
}

// play has a person on each channel ask for the order.
func play(ctx context.Context, service *messagingtest.Server, base string) error {
	const key = "?key=" + demoSecret
	const first, second, third = "639171234567", "639181234567", "639191234567"
	hello := messagingtest.InboundChatApp{Channel: "chatapp2", ID: "in-1", From: first, To: "sender-1", Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, hello, messagingtest.TwiceAtOnce())
	menu, err := service.WaitFor(ctx, first)
	if err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, menu.Tap("Order"), messagingtest.TwiceAtOnce())
	if err = printReply(ctx, service, first); err != nil {
		return err
	}

	hello = messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: second, To: "channel-1", Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, hello, messagingtest.TwiceAtOnce())
	if menu, err = service.WaitFor(ctx, second); err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, menu.Reply("order"), messagingtest.TwiceAtOnce())
	if err = printReply(ctx, service, second); err != nil {
		return err
	}

	text := messagingtest.InboundSMS{ID: "in-1", From: third, To: "639001234567", Text: "order"}
	service.CallWebhook(ctx, base+"/hooks/sms"+key, text, messagingtest.TwiceAtOnce())
	return printReply(ctx, service, third)
}

// printReply prints the next message to a person.
func printReply(ctx context.Context, service *messagingtest.Server, person string) error {
	reply, err := service.WaitFor(ctx, person)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", reply.Channel, reply.Text)
	return nil
}
