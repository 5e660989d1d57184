package messagingriver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Where the system refuses the clock, uptime still advances: otherwise no claim would ever be too old.
func TestUptimeAdvancesWithoutTheClock(t *testing.T) {
	t.Parallel()
	const unknownClock = 1000
	before := uptimeBy(unknownClock)
	time.Sleep(10 * time.Millisecond)
	assert.GreaterOrEqual(t, uptimeBy(unknownClock)-before, 10*time.Millisecond)
}
