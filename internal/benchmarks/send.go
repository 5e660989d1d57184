package main

import (
	"context"
	"net/http"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Names of contenders, as the tables have them.
const (
	nameByHand       = "net/http by hand"
	nameTuned        = "net/http tuned"
	nameTunedDecoder = "net/http tuned, decoder by hand"
	nameShort        = "net/http by hand, without Accept and User-Agent"
	nameTimeout      = "net/http by hand, a timeout for each call"
	nameTrace        = "net/http by hand, httptrace"
	nameRetryable    = "go-retryablehttp"
	nameOurs         = "messaging-go"
	nameChatApp1     = "messaging-go, chat app 1"
	nameChatApp2     = "messaging-go, chat app 2"
	nameTemplate     = "messaging-go, chat app 2, a template"
	nameNewTransport = "a copy of net/http's default transport"
)

const acceptedResponse = `{"status":"ok","data":{"id":"` + messageID + `","requestId":"r-77","messageParts":"1","unitCost":"0.50",` +
	`"transactionCost":"0.50","remaining":"199.50","operatorCode":"OP_1"}}`

func smsRoute() route      { return route{path: sendPath, response: acceptedResponse} }
func chatApp1Route() route { return route{path: "/chatapp1/send", response: acceptedResponse} }
func chatApp2Route() route { return route{path: "/chatapp2/send", response: acceptedResponse} }

// newClient makes a client of this library as a user does who sets nothing but a token. In memory it gets a transport.
func newClient(base string, transport http.RoundTripper) (*messaging.Client, error) {
	options := []messaging.Option{messaging.WithToken(token)}
	if transport != nil {
		options = append(options, messaging.WithHTTPClient(&http.Client{Transport: transport}))
	}
	return messaging.NewClient(base, options...)
}

func orderMessage() sms.Message {
	return sms.Message{From: sender, To: recipient, Text: text, ReferenceID: reference}
}

func sendSMS(client *messaging.Client) call {
	return func(ctx context.Context) (string, error) {
		receipt, err := client.SMS.Send(ctx, orderMessage())
		return receipt.ID, err
	}
}

func sendChatApp1(client *messaging.Client) call {
	return func(ctx context.Context) (string, error) {
		receipt, err := client.ChatApp1.Send(ctx, chatapp1.New("channel-1", recipient).Text(text).WithReference(reference))
		return receipt.ID, err
	}
}

func sendChatApp2(client *messaging.Client) call {
	return func(ctx context.Context) (string, error) {
		m := chatapp2.Message{To: recipient, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
		receipt, err := client.ChatApp2.Send(ctx, m)
		return receipt.ID, err
	}
}

func sendTemplate(client *messaging.Client) call {
	return func(ctx context.Context) (string, error) {
		m := chatapp2.Message{To: recipient, ReferenceID: reference, Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "17")},
		}}
		receipt, err := client.ChatApp2.Send(ctx, m)
		return receipt.ID, err
	}
}

// unreachable is the base URL of a service in memory.
const unreachable = "https://service.invalid"

// way says how the contenders of a work reach the service: in memory or over loopback.
type way struct{ memory bool }

// base is the URL of the service.
func (w way) base(at service) string {
	if w.memory {
		return unreachable
	}
	return at.Plain
}

// transport is nil over loopback: a client then has its own.
func (w way) transport(r route) http.RoundTripper {
	if w.memory {
		return responding(r)
	}
	return nil
}

// client is that of a person who writes by hand, and knows that two idle connections to a host are few.
func (w way) client() *http.Client {
	if w.memory {
		return &http.Client{Transport: responding(smsRoute())}
	}
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: idleConnections}}
}

// calls are the floors and this library, by what makes the call of each.
func (w way) calls() []namedCall {
	ours := func(r route, send func(*messaging.Client) call) func(service) (call, error) {
		return func(at service) (call, error) {
			client, err := newClient(w.base(at), w.transport(r))
			if err != nil {
				return nil, err
			}
			return send(client), nil
		}
	}
	hand := func(wrap func(call) call) func(service) (call, error) {
		return func(at service) (call, error) { return wrap(byHand(w.client(), w.base(at))), nil }
	}
	tuned := func(decode func([]byte, *plainResponse) error) func(service) (call, error) {
		return func(at service) (call, error) {
			t, err := newTuned(w.client(), w.base(at), decode)
			if err != nil {
				return nil, err
			}
			return t.send, nil
		}
	}
	return []namedCall{
		{nameByHand, hand(func(c call) call { return c })},
		{nameShort, func(at service) (call, error) { return byHandWith(w.client(), w.base(at), shortHeader), nil }},
		{nameTimeout, hand(withTimeout)},
		{nameTrace, hand(withTrace)},
		{nameRetryable, func(at service) (call, error) {
			client := newRetryable()
			if w.memory {
				client.HTTPClient = w.client()
			}
			return retryable(client, w.base(at)), nil
		}},
		{nameTuned, tuned(unmarshalAnswer)},
		{nameTunedDecoder, tuned(decodeAnswerByHand)},
		{nameOurs, ours(smsRoute(), sendSMS)},
		{nameChatApp1, ours(chatApp1Route(), sendChatApp1)},
		{nameChatApp2, ours(chatApp2Route(), sendChatApp2)},
		{nameTemplate, ours(chatApp2Route(), sendTemplate)},
	}
}

type namedCall struct {
	name string
	make func(at service) (call, error)
}

func (c namedCall) contender() contender {
	return contender{name: c.name, prepare: func(_ context.Context, at service) (operation, error) {
		send, err := c.make(at)
		if err != nil {
			return nil, err
		}
		return send.expecting(messageID), nil
	}}
}

func sendInMemory() work {
	w := work{
		name: "send-memory", floor: nameByHand,
		ratios: []metric{cpuTime}, figures: []figure{cpuMicros, wallMicros, allocsEach, bytesEach},
		targets: []target{
			{
				what: "One send in memory: CPU", contender: nameOurs, metric: cpuTime, against: nameByHand, limit: 0.80,
				why: "each attempt has a timeout, hooks that watch what is written, and a header of its own, which the floor does without",
			},
			{
				what: "One send in memory: allocations", contender: nameOurs, metric: allocs, limit: 30,
				why: "a timeout takes four, the hooks three, and a request with a header of its own four",
			},
			{
				what: "A template over chat app 2 in memory: CPU", contender: nameTemplate, metric: cpuTime, against: nameByHand, limit: 1.35,
				why: "the floor is an SMS of four fields; a template is checked and written by the tags of its types, by reflection",
			},
		},
	}
	for _, c := range (way{memory: true}).calls() {
		w.contenders = append(w.contenders, c.contender())
	}
	for _, p := range peers() {
		w.contenders = append(w.contenders, p.inMemory()...)
	}
	return w
}

func sendOverLoopback() work {
	w := work{
		name: "send-loopback", floor: nameByHand,
		ratios: []metric{wall, cpuTime}, figures: []figure{wallMicros, cpuMicros, allocsEach, bytesEach},
		targets: []target{
			{
				what: "One send over loopback: time", contender: nameOurs, metric: wall, against: nameByHand, limit: 1.00,
				why: "nearly all of it is net/http's transport and the system; the hooks and the timeout are what this library adds to them",
			},
			{
				what: "One send over loopback: CPU", contender: nameOurs, metric: cpuTime, against: nameByHand, limit: 1.00,
				why: "the hooks run on the goroutines of net/http's transport, and each attempt sets a timer and stops it",
			},
		},
	}
	for _, c := range (way{}).calls() {
		w.contenders = append(w.contenders, c.contender())
	}
	for _, p := range peers() {
		w.contenders = append(w.contenders, p.overLoopback())
	}
	return w
}

// firstSend is a client that is made, sends once and is thrown away.
func firstSend() work {
	once := func(send func(at service, client *http.Client) (call, error)) func(context.Context, service) (operation, error) {
		return func(_ context.Context, at service) (operation, error) {
			return call(func(ctx context.Context) (string, error) {
				transport := &http.Transport{MaxIdleConnsPerHost: idleConnections}
				defer transport.CloseIdleConnections()
				c, err := send(at, &http.Client{Transport: transport})
				if err != nil {
					return "", err
				}
				return c(ctx)
			}).expecting(messageID), nil
		}
	}
	return work{
		name: "send-first", floor: nameByHand,
		ratios: []metric{wall, cpuTime}, figures: []figure{wallMicros, cpuMicros, allocsEach, bytesEach},
		targets: []target{{
			what: "A new client with its first send over loopback: CPU", contender: nameOurs, metric: cpuTime, against: nameByHand, limit: 1.30,
			why: "what the contract says of an operation is compiled when a client first uses it; clients made by With share that",
		}},
		contenders: []contender{
			{name: nameByHand, prepare: once(func(at service, client *http.Client) (call, error) {
				return byHand(client, at.Plain), nil
			})},
			{name: nameOurs, prepare: once(func(at service, client *http.Client) (call, error) {
				ours, err := messaging.NewClient(at.Plain, messaging.WithToken(token), messaging.WithHTTPClient(client))
				if err != nil {
					return nil, err
				}
				return sendSMS(ours), nil
			})},
		},
	}
}

// newClients makes clients, which send nothing.
func newClients() work {
	each := func(construct func() error) func(context.Context, service) (operation, error) {
		return func(context.Context, service) (operation, error) {
			return func(_ context.Context, n int) error {
				for range n {
					if err := construct(); err != nil {
						return err
					}
				}
				return nil
			}, nil
		}
	}
	return work{
		name: "client-new", floor: nameNewTransport,
		figures: []figure{cpuMicros, allocsEach, bytesEach},
		contenders: []contender{
			{name: nameNewTransport, prepare: each(func() error {
				_ = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http documents it
				return nil
			})},
			{name: "messaging-go, NewClient", prepare: each(func() error {
				_, err := messaging.NewClient(unreachable, messaging.WithToken(token))
				return err
			})},
			{name: "messaging-go, Client.With", prepare: func(_ context.Context, _ service) (operation, error) {
				client, err := messaging.NewClient(unreachable, messaging.WithToken(token))
				if err != nil {
					return nil, err
				}
				return func(_ context.Context, n int) error {
					for range n {
						if _, err := client.With(messaging.WithTimeout(time.Second)); err != nil {
							return err
						}
					}
					return nil
				}, nil
			}},
		},
	}
}
