package messagingriver

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWarningsLeaveOutLowerLevels(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(warnings{slog.NewTextHandler(&log, nil)}).With("a", 1).WithGroup("g")
	logger.Info("not written")
	logger.Warn("written", "b", 2)
	assert.NotContains(t, log.String(), "not written")
	assert.Contains(t, log.String(), "msg=written a=1 g.b=2")
}
