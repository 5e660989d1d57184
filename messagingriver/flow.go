package messagingriver

import (
	"math"
	"sync"
	"time"
)

// flow counts the messages of a channel that were claimed and have not begun, and those that began in about the last second. It has
// a worker claim no more than can begin soon, so that an urgent message has few others before it, and a kill costs few.
type flow struct {
	mu    sync.Mutex
	held  int
	begun float64       // each counts less as time goes by
	at    time.Duration // when begun was right, as uptime
}

// room returns how many messages may be claimed: a quarter of those that began in the last second, but one at least, without
// those that have not begun.
func (f *flow) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(0)
	return max(1, int(f.begun/4)) - f.held
}

// count adds messages that have begun.
func (f *flow) count(n float64) {
	now := uptime()
	f.begun, f.at = n+f.begun*math.Exp(-(now-f.at).Seconds()), now
}

// hold counts messages that were claimed. Each calls begins or ends once.
func (f *flow) hold(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held += n
}

func (f *flow) begins() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
	f.count(1)
}
