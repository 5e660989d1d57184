// Command sms-send sends one SMS. It reads the number from the first line of its input and the text from the rest, so that
// neither shows in the list of processes or in the history of the shell:
//
//	sms-send order-17 <message.txt
//
// The argument is the reference ID. Use a new one for each message: it is how the command finds out what became of a
// message whose response was lost, and how you find the message later.
//
// MESSAGING_BASE_URL and MESSAGING_TOKEN (or MESSAGING_API_KEY and MESSAGING_API_SECRET) name the service and the account. Without
// arguments the command sends a message to a test server that loses the response.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	connect, input, reference := testServer, io.Reader(strings.NewReader("+639171234567\nYour order 17 is ready\n")), "order-17"
	switch len(os.Args) {
	case 1:
	case 2:
		connect, input, reference = messaging.NewClientFromEnv, os.Stdin, os.Args[1]
	default:
		fmt.Fprintln(os.Stderr, "usage: sms-send REFERENCE-ID <MESSAGE, with the number in the first line and the text below")
		os.Exit(2)
	}
	client, err := connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	message, err := read(input)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the message cannot be read:", err)
		os.Exit(2)
	}
	message.From, message.ReferenceID = "ACME", reference

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	receipt, err := client.SMS.SendOnce(ctx, message)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("accepted as", receipt.ID)
}

// testServer returns a client of a test server that takes the first message, and loses the response: SendOnce looks it up.
func testServer(options ...messaging.Option) (*messaging.Client, error) {
	service := messagingtest.Start()
	service.Inject(messagingtest.AcceptThenDrop(), 1)
	fmt.Println("No arguments: sending to a test server at", service.URL, "that loses the response.")
	return messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
}

// read reads a message: the number in the first line, the text in the rest.
func read(r io.Reader) (sms.Message, error) {
	const most = 64 << 10 // far more than an SMS can hold
	input, err := io.ReadAll(io.LimitReader(r, most))
	number, text, _ := strings.Cut(string(input), "\n")
	return sms.Message{To: strings.TrimSpace(number), Text: strings.TrimSuffix(text, "\n")}, err
}
