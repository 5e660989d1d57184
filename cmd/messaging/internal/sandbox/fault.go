package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A faultKind is a way in which a request can go wrong, with what a correct client concludes.
type faultKind struct {
	Name, Title, What string
	InLedger          bool
	Verdict           string // of a correct client
	Needs             string // "delay" or "retryAfter": the duration that it takes
	fault             func(time.Duration) messagingtest.Fault
}

// The verdicts, in the words of the client.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictUnknown  = "unknown"
)

// faultKinds returns all faults, in the order of the page.
func faultKinds() []faultKind {
	none := func(f func() messagingtest.Fault) func(time.Duration) messagingtest.Fault {
		return func(time.Duration) messagingtest.Fault { return f() }
	}
	status := func(code int) func(time.Duration) messagingtest.Fault {
		return func(retryAfter time.Duration) messagingtest.Fault { return messagingtest.Status(code, retryAfter) }
	}
	return []faultKind{
		{
			"accept-then-drop", "Accepted, then dropped", "Processes the message, then resets the connection without a response.",
			true, verdictUnknown, "", none(messagingtest.AcceptThenDrop),
		},
		{
			"drop-unread", "Dropped unread", "Resets the connection before the request is read. The client cannot tell it from the fault above.",
			false, verdictUnknown, "", none(messagingtest.DropUnread),
		},
		{
			"slow", "Slow", "Processes the message at once and responds after the delay.",
			true, "accepted, or unknown if the client did not wait", "delay", messagingtest.Slow,
		},
		{
			"rate-limited", "429 with Retry-After", "Refuses to process the request for now. A client retries after the wait.",
			false, verdictRefused, "retryAfter", status(http.StatusTooManyRequests),
		},
		{
			"error-500", "500", "Fails with an internal error, which does not say whether the message went out.",
			false, verdictUnknown, "", status(http.StatusInternalServerError),
		},
		{
			"error-503", "503", "Fails as unavailable, as a proxy does too.",
			false, verdictUnknown, "retryAfter", status(http.StatusServiceUnavailable),
		},
		{
			"truncated", "Truncated response", "Processes the message and cuts the response in its middle.",
			true, verdictUnknown, "", none(messagingtest.TruncatedResponse),
		},
		{
			"not-json", "Not JSON", "Processes the message and responds 200 with a page of HTML, as an intermediary may.",
			true, verdictUnknown, "", none(messagingtest.NotJSON),
		},
	}
}

func faultNamed(name string) (faultKind, bool) {
	kinds := faultKinds()
	i := slices.IndexFunc(kinds, func(k faultKind) bool { return k.Name == name })
	if i < 0 {
		return faultKind{}, false
	}
	return kinds[i], true
}

// faultState is which faults wait, and which strike at random.
type faultState struct {
	Waiting []waitingFault
	Share   float64
	Random  []string // titles
}

type waitingFault struct {
	Title string
	Left  int
	fault messagingtest.Fault
}

const (
	maxFaultRequests = 100_000
	maxFaultDelay    = time.Hour
)

// inject applies a fault to the next n requests, or at random to a share of all requests if n is zero.
func (s *Sandbox) inject(names []string, n int, share float64, delay time.Duration) error {
	if len(names) == 0 {
		return errors.New("fault is missing: name one, such as accept-then-drop")
	}
	if delay < 0 || delay > maxFaultDelay {
		return fmt.Errorf("delay must be from 0 to %v", maxFaultDelay)
	}
	isShare := share > 0 && share <= 1
	if isNext := n >= 1 && n <= maxFaultRequests; isNext == isShare || n < 0 || share < 0 {
		return fmt.Errorf("either n must be from 1 to %d, or share above 0 and up to 1", maxFaultRequests)
	}
	var faults []messagingtest.Fault
	var titles []string
	for _, name := range names {
		kind, ok := faultNamed(name)
		if !ok {
			return fmt.Errorf("there is no fault %q", clip(name, 40))
		}
		faults = append(faults, kind.fault(delay))
		titles = append(titles, kind.Title)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if isShare {
		s.service.InjectRandomly(uint64(time.Now().UnixNano()), share, faults...)
		s.faults.Share, s.faults.Random = share, titles
	} else {
		waiting := 0
		for _, w := range s.faults.Waiting {
			waiting += w.Left
		}
		if waiting+n*len(faults) > maxFaultRequests {
			return fmt.Errorf("more than %d requests would wait for faults: clear them first", maxFaultRequests)
		}
		for i, fault := range faults {
			s.service.Inject(fault, n)
			s.faults.Waiting = append(s.faults.Waiting, waitingFault{titles[i], n, fault})
		}
	}
	s.live.notify(aboutFaults)
	return nil
}

// clearFaults ends all faults.
func (s *Sandbox) clearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.service.ClearFaults()
	s.faults = faultState{}
	s.live.notify(aboutFaults)
}

// struck takes a fault off those that wait. The caller holds mu.
func (s *Sandbox) struck(fault messagingtest.Fault) {
	if len(s.faults.Waiting) == 0 || s.faults.Waiting[0].fault != fault {
		return
	}
	if s.faults.Waiting[0].Left--; s.faults.Waiting[0].Left == 0 {
		s.faults.Waiting = s.faults.Waiting[1:]
	}
	s.live.notify(aboutFaults)
}

// verdictOf returns what a correct client concludes from the outcome of a request to send.
func verdictOf(fault messagingtest.Fault, status int) string {
	for _, kind := range faultKinds() {
		if kind.fault(0) == fault && fault != (messagingtest.Fault{}) && kind.Needs == "" {
			return kind.Verdict
		}
	}
	switch {
	case status == http.StatusOK:
		return verdictAccepted
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return verdictRefused
	default:
		return verdictUnknown
	}
}
