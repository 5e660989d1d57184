package transport

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSlotIsGivenBackWhileAMessageWaits(t *testing.T) {
	slots := NewSlots(t.Context(), 1)
	first := slots.Take()
	require.NotNil(t, first)
	require.Nil(t, slots.Take())
	first.park()
	first.park()
	<-slots.Freed()
	second := slots.Take()
	require.NotNil(t, second)
	assert.Nil(t, slots.Take())
	second.Done()
	require.NoError(t, first.resume(t.Context()))
	assert.Nil(t, slots.Take())
	first.Done()
	assert.NotNil(t, slots.Take())
	assert.EqualValues(t, 1, slots.pending.Load())
}

func TestMessageWhoseWaitIsOverComesBeforeNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := NewSlots(t.Context(), 1)
		first := slots.Take()
		first.park()
		second := slots.Take()
		var back sync.WaitGroup
		back.Go(func() { assert.NoError(t, first.resume(t.Context())) })
		synctest.Wait()
		second.Done()
		assert.Nil(t, slots.Take())
		back.Wait()
		first.Done()
		assert.NotNil(t, slots.Take())
	})
}

// No more than 4,096 messages are taken beyond the slots. None of those that wait keeps a slot from one whose wait is over.
func TestMessagesThatWaitHoldNoSlots(t *testing.T) {
	slots := NewSlots(t.Context(), 2)
	var all []*Slot
	for slot := slots.Take(); slot != nil; slot = slots.Take() {
		slot.park()
		all = append(all, slot)
	}
	assert.Len(t, all, MaxWaiting+2, "no further ahead")
	for _, slot := range all { // one after the other, though both slots are of messages that wait
		require.NoError(t, slot.resume(t.Context()))
		assert.Nil(t, slots.Take())
		slot.park()
	}
	assert.Zero(t, slots.places.taken.Load())
	for _, slot := range all {
		slot.Done()
	}
	assert.Zero(t, slots.pending.Load())
	assert.NotNil(t, slots.Take())
}

func TestMessageStopsWaitingForASlotWithItsContext(t *testing.T) {
	slots := NewSlots(t.Context(), 1)
	first := slots.Take()
	first.park()
	second := slots.Take()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, first.resume(ctx), context.Canceled)
	first.Done()
	second.Done()
	assert.Zero(t, slots.pending.Load())
	assert.Zero(t, slots.places.taken.Load())
	assert.Empty(t, slots.places.line)
}
