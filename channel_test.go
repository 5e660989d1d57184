package messaging_test

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// samples makes a text message of each type that a service sends. A new service needs a line here, and is then part of every
// test that ranges over channels.
var samples = map[reflect.Type]func(to, text, reference string) any{
	reflect.TypeFor[sms.Message](): func(to, text, reference string) any {
		return sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}
	},
	reflect.TypeFor[chatapp1.Message](): func(to, text, reference string) any {
		return chatapp1.New("channel-1", to).Text(text).WithReference(reference)
	},
	reflect.TypeFor[chatapp2.Message](): func(to, text, reference string) any {
		return chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
	},
}

// A channel is a service of a Client, for what must hold for all of them.
type channel struct {
	name    string // its folder at the service
	field   int    // of the Client
	message reflect.Type
}

// channels are the services that a Client has.
var channels = func() (all []channel) {
	for field := range reflect.TypeFor[messaging.Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		send, ok := field.Type.MethodByName("Send")
		if !ok {
			panic("a service that cannot send: " + field.Name)
		}
		c := channel{strings.ToLower(field.Name), field.Index[0], send.Type.In(2)}
		if samples[c.message] == nil {
			panic("a service without a sample message: " + field.Name)
		}
		all = append(all, c)
	}
	return all
}()

// chatApps are the channels that no listing exists for.
var chatApps = channels[1:]

// sent is an Outcome of any channel.
type sent struct {
	index         int
	reference, id string
	err           error
}

// operation is the contract's name for sending.
func (c channel) operation() string { return c.name + ".send" }

func (c channel) service(client *messaging.Client) reflect.Value {
	return reflect.ValueOf(client).Elem().Field(c.field)
}

func (c channel) send(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error) {
	results := c.service(client).MethodByName("Send").Call([]reflect.Value{contextValue(ctx), reflect.ValueOf(samples[c.message](to, text, reference))})
	err, _ = reflect.TypeAssert[error](results[1])
	return results[0].Interface().(messaging.Receipt).ID, err
}

func (c channel) sendAll(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
	method := c.service(client).MethodByName("SendAll")
	messages := reflect.Zero(method.Type().In(1))
	if references != nil {
		messages = reflect.MakeFunc(method.Type().In(1), func(args []reflect.Value) []reflect.Value {
			for reference := range references {
				if !args[0].Call([]reflect.Value{reflect.ValueOf(samples[c.message](chatNumber, "x", reference))})[0].Bool() {
					break
				}
			}
			return nil
		})
	}
	outcomes := method.Call([]reflect.Value{contextValue(ctx), messages, reflect.ValueOf(concurrency)})[0]
	return func(yield func(sent) bool) {
		for out := range outcomes.Seq() {
			err, _ := reflect.TypeAssert[error](out.FieldByName("Err"))
			if !yield(sent{
				int(out.FieldByName("Index").Int()), out.FieldByName("Message").FieldByName("ReferenceID").String(),
				out.FieldByName("Receipt").FieldByName("ID").String(), err,
			}) {
				return
			}
		}
	}
}

func contextValue(ctx context.Context) reflect.Value {
	if ctx == nil {
		return reflect.Zero(reflect.TypeFor[context.Context]())
	}
	return reflect.ValueOf(ctx)
}

// each makes another sequence of one; of nil, nil.
func each[A, B any](all iter.Seq[A], do func(A) B) iter.Seq[B] {
	if all == nil {
		return nil
	}
	return func(yield func(B) bool) {
		for one := range all {
			if !yield(do(one)) {
				return
			}
		}
	}
}

func TestEveryServiceHasAChannel(t *testing.T) {
	t.Parallel()
	require.Len(t, channels, len(samples))
	for i, c := range channels {
		assert.Equal(t, c.name, messaging.Channel(i+1).String(), "WithAuth cannot give it credentials of its own")
	}
	assert.Contains(t, messaging.Channel(len(channels)+1).String(), "channel ", "a channel without a service")
}
