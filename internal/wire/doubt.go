package wire

import "context"

type doubtKey struct{}

// WithDoubt returns a context for one send, whose doubt is set to whether something of the message may have been written, also if
// a function of the user panics. It is for a queue, to which a panic is the failure of one message.
func WithDoubt(ctx context.Context, doubt *bool) context.Context {
	return context.WithValue(ctx, doubtKey{}, doubt)
}

// DoubtOf returns the doubt of WithDoubt, or nil.
func DoubtOf(ctx context.Context) *bool {
	doubt, _ := ctx.Value(doubtKey{}).(*bool)
	return doubt
}
