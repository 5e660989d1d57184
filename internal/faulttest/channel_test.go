package faulttest_test

import (
	"context"
	"iter"
	"reflect"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/channeltest"
)

// A channel is a service of the client that sends, for what must hold for all of them.
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

// channels are those of channeltest, whose messages go to one number.
var channels = func() (all []channel) {
	for _, c := range channeltest.Channels() {
		all = append(all, channel{
			c.Name, c.Listed, c.Send,
			func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
				messages := each(references, func(reference string) channeltest.Draft {
					return channeltest.Draft{To: "+" + testNumber, Text: "x", Reference: reference}
				})
				return each(c.SendAll(ctx, client, messages, concurrency), func(o channeltest.Result) sent {
					return sent{o.Index, o.Reference, o.ID, o.Err}
				})
			},
		})
	}
	return all
}()

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

// each returns a sequence with do applied to each element, or nil for nil.
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
