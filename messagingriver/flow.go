package messagingriver

import (
	"sync"
	"time"
)

// flow counts the messages of a channel that were claimed and have not begun, and those that began in the last second. It has a
// worker claim no more than can begin soon, so that an urgent message has few others before it, and a kill costs few.
type flow struct {
	mu    sync.Mutex
	held  int
	begun [8]int // in each eighth of the last second
	last  int    // the eighth that was counted last
}

// room returns how many messages may be claimed: a quarter of those that began in the last second, but one at least, without
// those that have not begun.
func (f *flow) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn()
	sum := 0
	for _, n := range f.begun {
		sum += n
	}
	return max(1, sum/4) - f.held
}

// turn forgets what is older than a second.
func (f *flow) turn() {
	now := int(uptime() / (time.Second / 8))
	for i := max(f.last+1, now-7); i <= now; i++ {
		f.begun[i%8] = 0
	}
	f.last = max(f.last, now)
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
	f.turn()
	f.held--
	f.begun[f.last%8]++
}
