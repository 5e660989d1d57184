package contract_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

func TestFromEnv(t *testing.T) {
	dir := t.TempDir()
	write := func(name, overlay string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(overlay), 0o600))
		return file
	}
	t.Setenv(table.EnvFile, "")
	names, err := contract.FromEnv()
	require.NoError(t, err)
	assert.Equal(t, contract.Default(), names)

	t.Setenv(table.EnvFile, write("good", `{"sms.send": {"fields": {"text": "body"}}}`))
	names, err = contract.FromEnv()
	require.NoError(t, err)
	assert.Equal(t, "body", table.Of(names).SMSSend.Fields["text"])

	t.Setenv(table.EnvFile, write("bad", `{"sms.sent": {}}`))
	_, err = contract.FromEnv()
	_, isProblem := err.(interface{ Unwrap() []error })
	assert.True(t, isProblem, "%v", err)

	t.Setenv(table.EnvFile, filepath.Join(dir, "hunter2"))
	_, err = contract.FromEnv()
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.NotContains(t, err.Error(), "hunter2")
}
