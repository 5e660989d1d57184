package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRowReadsWholeNumbers(t *testing.T) {
	t.Parallel()
	var r currentRow
	for word, want := range map[string]int{"3": 3, "3.0": 3, "2147483647": 1<<31 - 1, "": 0} {
		var got int
		assert.Empty(t, r.setField("", &got, word))
		assert.Equal(t, want, got)
	}
	for _, word := range []string{"-1", "1.5", "9223372036854775808", "1e19", "-1e19", "NaN", "Inf"} {
		got := 1
		assert.Equal(t, "is in no known form", r.setField("", &got, word), word)
		assert.Equal(t, 1, got, "not touched")
	}
}
