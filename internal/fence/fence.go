// Package fence gives a queue the last word before the request of a message is written, after the message has got its credentials, its place
// and its turn. It is for the outbox, which then records that the request begins. Its API must not change, because an outbox of another version may
// call it.
package fence

import "context"

type key struct{}

// With returns a context under which check is called directly before each request of a send. If it returns an error, nothing is written, and
// the send ends with the verdict NotSent and that error. check is called in the goroutine of the send, with the context of the send. Under a
// nil check nothing is called.
func With(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, key{}, check)
}

// Check calls the function that With put into ctx, if there is one.
func Check(ctx context.Context) error {
	if check, ok := ctx.Value(key{}).(func(context.Context) error); ok && check != nil {
		return check(ctx)
	}
	return nil
}
