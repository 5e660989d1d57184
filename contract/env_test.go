package contract_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestFromEnv(t *testing.T) {
	dir := t.TempDir()
	write := func(name, overlay string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(overlay), 0o600))
		return file
	}
	t.Setenv(contract.EnvFile, "")
	names, err := contract.FromEnv()
	require.NoError(t, err)
	assert.Equal(t, contract.Default(), names)

	t.Setenv(contract.EnvFile, write("good", `{"sms.send": {"fields": {"text": "body"}}}`))
	names, err = contract.FromEnv()
	require.NoError(t, err)
	assert.Equal(t, "body", names.Table().SMSSend.Fields["text"])

	t.Setenv(contract.EnvFile, write("bad", `{"sms.sent": {}}`))
	_, err = contract.FromEnv()
	_, isProblem := err.(interface{ Unwrap() []error })
	assert.True(t, isProblem, "%v", err)

	t.Setenv(contract.EnvFile, filepath.Join(dir, "hunter2"))
	_, err = contract.FromEnv()
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.NotContains(t, err.Error(), "hunter2")
}
