package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDeliveryOptions(t *testing.T) {
	t.Parallel()
	fields := DeliveryOptions{TTL: time.Minute, Fallback: &Fallback{From: " "}, CallbackURL: "no URL", ReferenceID: "order-17"}.Fields()
	byConcept := map[string]Field{}
	for _, f := range fields {
		byConcept[f.Concept] = f
	}
	assert.Equal(t, time.Minute, byConcept["ttl"].Value)
	assert.NotEmpty(t, byConcept["fallbackFrom"].Reason, "blank")
	assert.True(t, byConcept["fallbackText"].Required, "a fallback has a text")
	assert.NotEmpty(t, byConcept["callback"].Reason)
	assert.Equal(t, "order-17", byConcept["reference"].Text)

	for _, f := range (DeliveryOptions{}).Fields() {
		assert.False(t, f.Required, f.Concept)
		assert.Empty(t, f.Text, f.Concept)
	}
}
