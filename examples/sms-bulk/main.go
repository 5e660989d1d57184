// Command sms-bulk sends one text to many numbers, read from standard input, one per line.
//
//	sms-bulk -text "We open at nine" < numbers.txt
//
// It prints a line to standard output for each message that was not accepted, and progress and a summary by verdict to
// standard error. The exit status is 0 if every message was accepted, 1 if one was not, and 2 if nothing could be sent. An
// interrupt stops it at the next line of input; every message taken until then is accounted for.
//
// The reference ID of a message is the -campaign name and its line number. An unknown outcome is looked up by it, and the
// message is not sent again. The command keeps no record between runs: a second run sends to everyone again.
//
// It reads MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv). Without them it sends a thousand messages
// to a test server that loses some responses.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

type campaign struct {
	name, from, text string
	concurrency      int
}

func main() {
	var c campaign
	flag.StringVar(&c.name, "campaign", time.Now().UTC().Format("20060102T150405"), "prefix of every reference ID; use each name once")
	flag.StringVar(&c.from, "from", "ACME", "the sender ID")
	flag.StringVar(&c.text, "text", "We open at nine", "the text")
	flag.IntVar(&c.concurrency, "concurrency", 32, "how many messages to send at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, c)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, c campaign) int {
	client, numbers, end, err := connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sms-bulk:", err)
		return 2
	}
	defer end()
	counts := map[messaging.Verdict]int{}
	total, begun := 0, time.Now()
	lines := bufio.NewScanner(numbers)
	each, lineEnd := 10_000, "\n"
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		each, lineEnd = 100, "\r" // on a terminal, one line that renews itself
	}
	for out := range client.SMS.SendAll(ctx, c.messages(lines), c.concurrency) {
		verdict := messaging.VerdictOf(out.Err)
		counts[verdict]++
		total++
		if out.Err != nil {
			fmt.Printf("line %d: %v: %v\n", out.Index+1, verdict, out.Err)
		}
		if total%each == 0 {
			fmt.Fprintf(os.Stderr, "%d messages, %.0f a second %s", total, float64(total)/time.Since(begun).Seconds(), lineEnd)
		}
	}
	fmt.Fprintf(os.Stderr, "%d messages: %d accepted, %d refused, %d not sent, %d unknown\n", total, counts[messaging.Accepted], counts[messaging.Refused],
		counts[messaging.NotSent], counts[messaging.Unknown])
	switch err := errors.Join(lines.Err(), ctx.Err()); {
	case err != nil:
		fmt.Fprintln(os.Stderr, "sms-bulk: stopped early:", err)
		return 1
	case counts[messaging.Accepted] < total:
		return 1
	default:
		return 0
	}
}

// messages yields a message for each line, as they are needed.
func (c campaign) messages(lines *bufio.Scanner) iter.Seq[sms.Message] {
	return func(yield func(sms.Message) bool) {
		for n := 1; lines.Scan(); n++ {
			m := sms.Message{From: c.from, To: strings.TrimSpace(lines.Text()), Text: c.text, ReferenceID: fmt.Sprintf("%s-%d", c.name, n)}
			if !yield(m) {
				return
			}
		}
	}
}

// connect returns a client for the service of the environment and standard input, or a test server and made-up numbers.
func connect() (client *messaging.Client, numbers io.Reader, end func(), err error) {
	settle := messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Second})
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		client, err = messaging.NewClientFromEnv(settle)
		return client, os.Stdin, func() {}, err
	}
	fmt.Fprintln(os.Stderr, "No MESSAGING_BASE_URL: sending a thousand messages to a test server that loses three responses.")
	service := messagingtest.Start()
	service.Inject(messagingtest.Status(429, -1), 20)
	service.Inject(messagingtest.AcceptThenDrop(), 3)
	var made strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&made, "+63917%07d\n", i)
	}
	client, err = messaging.NewClient(service.URL, messaging.WithToken(service.Token), settle)
	return client, strings.NewReader(made.String()), service.Close, err
}
