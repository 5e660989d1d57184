package fence_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/fence"
)

func TestCheckWithoutAFenceLetsPass(t *testing.T) {
	require.NoError(t, fence.Check(t.Context()))
}

func TestCheckAsksTheFence(t *testing.T) {
	type key struct{}
	failed := errors.New("not yours")
	asked := 0
	ctx := fence.With(t.Context(), func(ctx context.Context) error {
		asked++
		assert.Equal(t, "send", ctx.Value(key{}), "it has the context of the send")
		if asked > 1 {
			return failed
		}
		return nil
	})
	ctx, cancel := context.WithCancel(context.WithValue(ctx, key{}, "send"))
	defer cancel()
	assert.Zero(t, asked, "With asks nothing")
	require.NoError(t, fence.Check(ctx))
	assert.Equal(t, failed, fence.Check(ctx))
}

func TestInnerFenceTakesThePlaceOfTheOuter(t *testing.T) {
	outer := fence.With(t.Context(), func(context.Context) error { return errors.New("outer") })
	inner := errors.New("inner")
	assert.Equal(t, inner, fence.Check(fence.With(outer, func(context.Context) error { return inner })))
	assert.NoError(t, fence.Check(fence.With(outer, nil)))
}
