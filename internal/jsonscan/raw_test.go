package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// Raw finds the end of what is well formed, and no end of what is cut.
func TestRaw(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`[]`, `{}`, `[[],{"a":[1]}]`, `["]"]`, `["\"]"]`, `["\\"]`, `["\\\"]","["]`, `{"a":"}","b":{"c":"{"}}`, `[ "é" , 1 ]`,
	} {
		s := jsonscan.Scanner{Doc: []byte(value + " ,")}
		v := s.Raw()
		require.NoError(t, s.Err(), value)
		assert.Equal(t, value, string(s.Doc[v.Start:v.End]), value)
		assert.Equal(t, v.End, s.Pos, value)
		assert.Equal(t, value[0] == '[', v.Kind == jsonscan.List, value)
		for end := 1; end < len(value); end++ {
			s := jsonscan.Scanner{Doc: []byte(value[:end])}
			s.Raw()
			require.ErrorIs(t, s.Err(), jsonscan.ErrCut, value[:end])
		}
	}
	deep := jsonscan.Scanner{Doc: []byte(strings.Repeat("[", jsonscan.MaxDepth+1) + strings.Repeat("]", jsonscan.MaxDepth+1))}
	deep.Raw()
	require.ErrorIs(t, deep.Err(), jsonscan.ErrDepth)
	deep = jsonscan.Scanner{Doc: []byte(strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth))}
	deep.Raw()
	require.NoError(t, deep.Err())
}
