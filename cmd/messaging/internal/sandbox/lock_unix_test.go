//go:build unix && !aix && !solaris

package sandbox

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeepIsFreeAfterClose although a child has a copy of the lock: each that is being started does, until its program begins.
func TestKeepIsFreeAfterClose(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept")
	box, err := New(Config{Keep: file})
	require.NoError(t, err)
	child, err := syscall.Dup(int(box.Sandbox().journal.lock.Fd()))
	require.NoError(t, err)
	defer func() { _ = syscall.Close(child) }()
	require.NoError(t, box.Close())
	again, err := New(Config{Keep: file})
	require.NoError(t, err)
	require.NoError(t, again.Close())
}
