package learn

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// read returns the examples of a file in testdata.
func read(t *testing.T, name string) *Examples {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	examples, err := Parse(string(text))
	require.NoError(t, err)
	return examples
}

// TestLearn compares what is learned of the documentation of ten services with golden files.
func TestLearn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			got, err := Learn(read(t, filepath.Base(file)))
			require.NoError(t, err)
			golden := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got+"\n"), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got+"\n")
		})
	}
}
