package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShellWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"order-17": "order-17", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		assert.Equal(t, want, ShellWord(text))
	}
}
