package messaging

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestOperationsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	var sections map[string]struct{ Path string }
	require.NoError(t, json.Unmarshal(raw, &sections))
	var docs strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			docs.Write(source)
		}
	}
	found := 0
	for _, op := range operations(contract.Default().Table()) {
		found++
		section, ok := sections[op.name]
		require.True(t, ok, "%s is no section of the contract", op.name)
		assert.True(t, strings.HasPrefix(op.name, op.channel.String()+"."), op.name)
		assert.NotEqual(t, op.send == nil, op.list == nil, "%s sends or reads", op.name)
		method := "POST "
		if op.list != nil {
			method = "GET "
		}
		assert.Contains(t, docs.String(), "("+method+section.Path+")", "no method says that it is %s", op.name)
	}
	for _, section := range sections {
		if section.Path != "" {
			found--
		}
	}
	assert.Zero(t, found, "an operation of the contract is not in the table")
}
