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

// demo serves the bot to a test server until two people have their answers.
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
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, in) }()
	playing, cancel := context.WithTimeout(ctx, time.Minute) // serve may have failed
	defer cancel()
	err = play(playing, service, in.url)
	if ctx.Err() != nil { // SIGTERM
		err = nil
	}
	stop()
	return errors.Join(err, <-served)
}

const demoSecret = "secret-of-a-demo"

func demoSettings(database, url string, service *messagingtest.Server) (settings, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	newReceiver := func(options ...webhook.Option) (*webhook.Receiver, error) {
		return webhook.NewReceiver(append(options, webhook.WithSecret("key", demoSecret))...)
	}
	return settings{database: database, url: url, channelID: "channel-1", client: client, newReceiver: newReceiver}, err
}

// play has a person on each chat app ask for the order.
func play(ctx context.Context, service *messagingtest.Server, base string) error {
	const key = "?key=" + demoSecret
	const first, second = "639171234567", "639181234567"
	hello := messagingtest.InboundChatApp{Channel: "chatapp2", ID: "in-1", From: first, To: "sender-1", Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, hello, messagingtest.TwiceAtOnce())
	menu, err := service.WaitFor(ctx, first)
	if err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, menu.Tap("Order"), messagingtest.TwiceAtOnce())
	status, err := service.WaitFor(ctx, first)
	if err != nil {
		return err
	}
	fmt.Println(menu.Channel, menu.Kind, "then:", status.Text)

	hello = messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: second, To: "channel-1", Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, hello, messagingtest.TwiceAtOnce())
	if menu, err = service.WaitFor(ctx, second); err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, menu.Reply("order"), messagingtest.TwiceAtOnce())
	if status, err = service.WaitFor(ctx, second); err != nil {
		return err
	}
	fmt.Println(menu.Channel, menu.Kind, "then:", status.Text)
	return nil
}
