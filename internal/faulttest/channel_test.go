package faulttest_test

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// A channel is a service of the client that sends. Every test here that sends does so over each of them.
type channel struct {
	name    string // as in its operation, "sms.send"
	listed  bool   // the service lists its messages, so that an unknown outcome can be settled
	send    func(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error)
	sendAll func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent]
}

// A sent is an Outcome of any channel.
type sent struct {
	index         int
	reference, id string
	err           error
}

// operation returns the name of the operation that sends.
func (c channel) operation() string { return c.name + ".send" }

// channels needs an entry for every service of Client that sends: TestChannelsAreComplete.
var channels = []channel{
	newChannel(
		"sms",
		func(client *messaging.Client) sender[sms.Message] { return client.SMS },
		func(to, text, reference string) sms.Message {
			return sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}
		},
		func(m sms.Message) string { return m.ReferenceID },
	).withListing(),
	newChannel(
		"chatapp1",
		func(client *messaging.Client) sender[chatapp1.Message] { return client.ChatApp1 },
		func(to, text, reference string) chatapp1.Message {
			return chatapp1.New("channel-1", to).Text(text).WithReference(reference)
		},
		func(m chatapp1.Message) string { return m.ReferenceID },
	),
	newChannel(
		"chatapp2",
		func(client *messaging.Client) sender[chatapp2.Message] { return client.ChatApp2 },
		func(to, text, reference string) chatapp2.Message {
			return chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
		},
		func(m chatapp2.Message) string { return m.ReferenceID },
	),
}

// A sender is a service for messages of type M.
type sender[M any] interface {
	Send(ctx context.Context, m M) (messaging.Receipt, error)
	SendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[messaging.Outcome[M]]
}

func newChannel[M any](
	name string, of func(*messaging.Client) sender[M], message func(to, text, reference string) M, reference func(M) string,
) channel {
	return channel{
		name: name,
		send: func(ctx context.Context, client *messaging.Client, to, text, reference string) (string, error) {
			receipt, err := of(client).Send(ctx, message(to, text, reference))
			return receipt.ID, err
		},
		sendAll: func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
			messages := each(references, func(reference string) M { return message("+"+testNumber, "x", reference) })
			return each(of(client).SendAll(ctx, messages, concurrency), func(o messaging.Outcome[M]) sent {
				return sent{o.Index, reference(o.Message), o.Receipt.ID, o.Err}
			})
		},
	}
}

func (c channel) withListing() channel {
	c.listed = true
	return c
}

// servicesOf returns the services of a client by the names of their fields.
func servicesOf(client *messaging.Client) map[string]reflect.Value {
	services := map[string]reflect.Value{}
	v := reflect.ValueOf(client).Elem()
	for i := range v.NumField() {
		if field := v.Type().Field(i); field.IsExported() {
			services[field.Name] = v.Field(i)
		}
	}
	return services
}

func TestChannelsAreComplete(t *testing.T) {
	t.Parallel()
	var names, want []string
	for _, c := range channels {
		names = append(names, c.name)
	}
	for name, service := range servicesOf(newClient(t, baseURL)) {
		if service.MethodByName("Send").IsValid() {
			want = append(want, strings.ToLower(name))
		}
	}
	assert.ElementsMatch(t, want, names, "every service that sends needs an entry in channels")
}

// each returns a sequence with do applied to each element.
func each[A, B any](all iter.Seq[A], do func(A) B) iter.Seq[B] {
	return func(yield func(B) bool) {
		for one := range all {
			if !yield(do(one)) {
				return
			}
		}
	}
}
