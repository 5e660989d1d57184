package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// The names of contenders in the tables.
const (
	nameByHand         = "hand-written net/http"
	nameTemplateByHand = "hand-written net/http, a template"
	nameRetryable      = "go-retryablehttp"
	nameOurs           = "messaging-go"
	nameTemplate       = "messaging-go, a template of chat app 2"
)

const (
	smsPath      = "/sms/send"
	chatApp2Path = "/chatapp2/send"

	token       = "token"
	bearer      = "Bearer " + token
	jsonType    = "application/json"
	recipient   = "+639171234567"
	text        = "Your order 17 is ready"
	timeout     = 30 * time.Second // of a request, as this library's
	maxResponse = 1 << 20          // bytes of a response that are read

	messageID = "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"

	acceptedResponse = `{"status":"ok","data":{"id":"` + messageID + `","requestId":"r-77","messageParts":"1","unitCost":"0.50",` +
		`"transactionCost":"0.50","remaining":"199.50","operatorCode":"OP_1"}}`
)

var (
	errNoID    = errors.New("the response was read without its ID")
	errMessage = errors.New("the message cannot be sent")
	errNotSent = errors.New("nothing was written; the message can be sent again")
)

// A call sends a message. A peer sends a message of its own instead.
type call func(ctx context.Context, m sms.Message) (messaging.Receipt, error)

func orderMessage() sms.Message {
	return sms.Message{From: "ACME", To: recipient, Text: text, ReferenceID: "order-17"}
}

// requireID returns an operation of calls, one after the other, each of which must return the ID.
func (c call) requireID(id string) operation {
	return func(ctx context.Context, n int) error {
		for range n {
			receipt, err := c(ctx, orderMessage())
			if err != nil {
				return err
			}
			if receipt.ID != id {
				return errNoID
			}
		}
		return nil
	}
}

// newClient returns a client of this library that has nothing but a token, and in memory a transport.
func newClient(tb testing.TB, base string, transport http.RoundTripper) *messaging.Client {
	tb.Helper()
	options := []messaging.Option{messaging.WithToken(token)}
	if transport != nil {
		options = append(options, messaging.WithHTTPClient(&http.Client{Transport: transport}))
	}
	client, err := messaging.NewClient(base, options...)
	require.NoError(tb, err)
	return client
}

// sendTemplate returns a call that sends a template of chat app 2.
func sendTemplate(client *messaging.Client) call {
	return func(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
		return client.ChatApp2.Send(ctx, chatapp2.Message{To: m.To, ReferenceID: m.ReferenceID, Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "17")},
		}})
	}
}

// retryable returns a call over go-retryablehttp.
func retryable(client *retryablehttp.Client, url string) call {
	client.Logger = nil
	return func(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
		payload, err := json.Marshal(plainSMS{m.From, m.To, m.Text, m.ReferenceID})
		if err != nil {
			return messaging.Receipt{}, err
		}
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, payload)
		if err != nil {
			return messaging.Receipt{}, err
		}
		setHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil {
			return messaging.Receipt{}, err
		}
		return readReceipt(m, resp)
	}
}

// sendInMemory compares the cost of a send without a network.
func sendInMemory() comparison {
	over := inMemory(acceptedResponse)
	prepareByHand := func(path string, body func(sms.Message) (any, error)) preparation {
		return func(testing.TB) operation {
			return byHand(&http.Client{Transport: over}, unreachable+path, body).requireID(messageID)
		}
	}
	floor := prepareByHand(smsPath, plainBody)
	templateFloor := prepareByHand(chatApp2Path, templateBody)
	w := comparison{contenders: []contender{
		{name: nameByHand, prepare: floor},
		{name: nameTemplateByHand, prepare: templateFloor},
		{name: nameOurs, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return call(newClient(tb, unreachable, over).SMS.Send).requireID(messageID)
		}},
		{name: nameTemplate, floor: templateFloor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return sendTemplate(newClient(tb, unreachable, over)).requireID(messageID)
		}},
		{name: nameRetryable, floor: floor, prepare: func(testing.TB) operation {
			client := retryablehttp.NewClient()
			client.HTTPClient = &http.Client{Transport: over}
			return retryable(client, unreachable+smsPath).requireID(messageID)
		}},
	}}
	for _, p := range peers() {
		w.contenders = append(w.contenders, contender{name: p.name, prepare: p.inMemory, floor: p.byHand})
	}
	return w
}

// pooled returns an http.Client over a transport like net/http's default, which keeps many idle connections to a host instead of two. It
// speaks HTTP/1.1.
func pooled() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.MaxIdleConns = 256
	transport.MaxIdleConnsPerHost = 256
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	return &http.Client{Transport: transport}
}

// sendOverLoopback compares the time of a send over a connection.
func sendOverLoopback() comparison {
	floor := func(testing.TB) operation {
		return byHand(pooled(), server().Plain+smsPath, plainBody).requireID(messageID)
	}
	w := comparison{contenders: []contender{
		{name: nameByHand, prepare: floor},
		{name: nameOurs, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return call(newClient(tb, server().Plain, nil).SMS.Send).requireID(messageID)
		}},
		{name: nameRetryable, floor: floor, prepare: func(testing.TB) operation {
			return retryable(retryablehttp.NewClient(), server().Plain+smsPath).requireID(messageID)
		}},
	}}
	for _, p := range peers() {
		w.contenders = append(w.contenders, contender{name: p.name, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return p.connect(tb, server().Plain, nil).requireID(p.id)
		}})
	}
	return w
}
