package messagingriver

import (
	"sync/atomic"
	"time"
)

// haltLength is longer than River takes to learn of a pause: without notifications, it asks for pauses every 2 seconds. If a connection of
// PostgreSQL breaks and a notification is lost, River asks a minute later. Until then the next mark that PostgreSQL refuses begins another halt.
const haltLength = 3 * time.Second

// halt keeps this process from beginning requests on a paused channel until River has learned of the pause. River hands out messages until then.
type halt struct {
	endsAt atomic.Int64 // as uptime
}

func (h *halt) begin() { h.endsAt.Store(int64(uptime() + haltLength)) }

func (h *halt) end() { h.endsAt.Store(0) }

func (h *halt) isOn() bool { return int64(uptime()) < h.endsAt.Load() }
