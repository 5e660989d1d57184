package sandbox

import (
	"cmp"
	_ "embed" // for the faults
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A FaultKind is a way in which a request can go wrong, with what a correct client concludes. Its name is the same on the page, in
// the API, in traffic and on the terminal.
type FaultKind struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Go       string `json:"go"` // the function of package messagingtest
	InLedger bool   `json:"inLedger"`
	Verdict  string `json:"verdict"`         // of a correct client
	Needs    string `json:"needs,omitempty"` // what it takes: "delay" or "retryAfter", a duration, or "status"
}

// The verdicts, in the words of the client.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictUnknown  = "unknown"
)

// faultOverload is what a request beyond a capacity meets.
const faultOverload = "status-429"

//go:embed faults.json
var faultsText []byte

// faultKinds returns all faults, in the order of the page.
func faultKinds() (kinds []FaultKind) {
	_ = json.Unmarshal(faultsText, &kinds) // a part of the program
	return kinds
}

// fault returns what the service does by a rule.
func (f *faultRule) fault(name string) messagingtest.Fault {
	return map[string]messagingtest.Fault{
		"accept-then-drop":   messagingtest.AcceptThenDrop(),
		"drop-unread":        messagingtest.DropUnread(),
		"slow":               messagingtest.Slow(f.delay),
		faultOverload:        messagingtest.Status(http.StatusTooManyRequests, f.delay),
		"status-500":         messagingtest.Status(http.StatusInternalServerError, f.delay),
		"status-503":         messagingtest.Status(http.StatusServiceUnavailable, f.delay),
		"status-after":       messagingtest.StatusAfter(cmp.Or(f.Status, http.StatusInternalServerError), ""),
		"page":               messagingtest.Page(cmp.Or(f.Status, http.StatusBadGateway)),
		"silence":            messagingtest.Silence(),
		"truncated-response": messagingtest.TruncatedResponse(),
		"not-json":           messagingtest.NotJSON(),
		"another-response":   messagingtest.AnotherResponse(),
		"process-twice":      messagingtest.ProcessTwice(),
	}[name]
}

func faultNamed(name string) (kind FaultKind, ok bool) {
	for _, kind := range faultKinds() {
		if kind.Name == name {
			return kind, true
		}
	}
	return kind, false
}

// A faultRule says which requests meet a fault: the next ones, a share, all of some time, or those beyond a capacity; and of
// those, the ones in its scope.
type faultRule struct {
	ID       int      `json:"id"`
	Faults   []string `json:"faults"`          // of several, one at random
	Left     int      `json:"n,omitempty"`     // of the next requests
	Share    float64  `json:"share,omitempty"` // of all requests
	Duration string   `json:"duration,omitempty"`
	Capacity int      `json:"capacity,omitempty"` // requests in a second that pass
	Delay    string   `json:"delay,omitempty"`
	Status   int      `json:"status,omitempty"` // of status-after and page

	To        string                `json:"to,omitempty"`
	Channel   messagingtest.Channel `json:"channel,omitempty"`
	Operation string                `json:"operation,omitempty"`

	delay  time.Duration
	until  time.Time // zero: it lasts
	second time.Time // that used counts
	used   int
}

// faultRules are the rules in force, in the order in which they were made.
type faultRules struct {
	rules  []*faultRule
	serial int
}

const (
	maxFaultRequests = 100_000
	maxFaultRules    = 100
	maxFaults        = 20 // of one rule
	maxFaultDelay    = time.Hour
	maxFaultDuration = 24 * time.Hour
	maxCapacity      = 100_000
	maxStatus        = 599
)

// check returns what is wrong with a rule, and fills in what follows from it.
func (f *faultRule) check(now time.Time) error {
	if len(f.Faults) == 0 && f.Capacity > 0 {
		f.Faults = []string{faultOverload}
	}
	takesStatus := false
	for _, name := range f.Faults {
		kind, ok := faultNamed(name)
		if !ok {
			return fmt.Errorf("there is no fault %q: GET faults lists them", clip(name, 40))
		}
		takesStatus = takesStatus || kind.Needs == "status"
	}
	var err, wrong error
	f.delay, err = parseDuration("delay", f.Delay, maxFaultDelay)
	lasts, lastsErr := parseDuration("duration", f.Duration, maxFaultDuration)
	if err = cmp.Or(err, lastsErr); err != nil {
		return err
	}
	for _, rule := range []struct {
		isBroken bool
		says     string
	}{
		{len(f.Faults) == 0, "fault is missing: name one, such as accept-then-drop"},
		{len(f.Faults) > maxFaults, "faults must be at most " + itoa(maxFaults)},
		{f.Left < 0 || f.Left > maxFaultRequests, "n must be from 1 to " + itoa(maxFaultRequests)},
		{f.Share < 0 || f.Share > 1, "share must be above 0 and up to 1"},
		{f.Capacity < 0 || f.Capacity > maxCapacity, "capacity must be from 1 to " + itoa(maxCapacity) + " requests in a second"},
		{f.Left == 0 && f.Share == 0 && f.Capacity == 0 && lasts == 0, "n, share, duration or capacity is missing: how many requests meet the fault"},
		{f.Left > 0 && (f.Share > 0 || f.Capacity > 0 || lasts > 0), "n stands alone"},
		{f.Share > 0 && f.Capacity > 0, "share and capacity exclude each other"},
		{f.Status != 0 && (f.Status < http.StatusInternalServerError || f.Status > maxStatus), "status must be from 500 to " + itoa(maxStatus)},
		{f.Status != 0 && !takesStatus, "status is for status-after and page"},
		{f.Channel != "" && channelName(f.Channel) == "", errChannel.Error()},
		{f.Operation != "" && !slices.Contains(operationNames(), f.Operation), "operation must be one of " + strings.Join(operationNames(), ", ")},
		{len(f.To) > maxName, "to is too long for a recipient"},
	} {
		if rule.isBroken && wrong == nil {
			wrong = errors.New(rule.says)
		}
	}
	if lasts > 0 {
		f.until = now.Add(lasts)
	}
	return wrong
}

// Scope says in words which requests a rule is about, or "".
func (f faultRule) Scope() string {
	return joinFilled(f.To, channelName(f.Channel), f.Operation)
}

// Names returns the faults in words.
func (f faultRule) Names() string { return strings.Join(f.Faults, " or ") }

// Amount says in words how many requests meet the fault.
func (f faultRule) Amount() string {
	left := ""
	if !f.until.IsZero() {
		left = "for " + short(max(time.Second, time.Until(f.until)))
	}
	switch {
	case f.Left > 0:
		return itoa(f.Left) + " ×"
	case f.Share > 0:
		return joinFilled(fmt.Sprintf("%.0f %%", f.Share*100), left)
	case f.Capacity > 0:
		return joinFilled("beyond "+itoa(f.Capacity)+" a second", left)
	}
	return left
}

// covers reports whether a request is in the scope of a rule.
func (f *faultRule) covers(operation, to string) bool {
	channel, _, _ := strings.Cut(operation, ".")
	return (f.Channel == "" || string(f.Channel) == channel) && (f.Operation == "" || f.Operation == operation) &&
		(f.To == "" || peerKey(f.To) == peerKey(to))
}

// strikes reports whether a request in the scope meets the fault, and counts it.
func (f *faultRule) strikes(now time.Time) bool {
	switch {
	case f.Left > 0:
		f.Left--
		return true
	case f.Share > 0:
		return rand.Float64() < f.Share //nolint:gosec // what is drawn is no secret
	case f.Capacity > 0:
		if now.Sub(f.second) >= time.Second {
			f.second, f.used = now, 0
		}
		f.used++
		return f.used > f.Capacity
	}
	return true
}

// expire removes the rules that are over.
func (f *faultRules) expire(now time.Time) {
	f.rules = slices.DeleteFunc(f.rules, func(r *faultRule) bool {
		isUsedUp := r.Left == 0 && r.Share == 0 && r.Capacity == 0 && r.until.IsZero()
		return isUsedUp || !r.until.IsZero() && !now.Before(r.until)
	})
}

// choose returns the fault of a request. Rules for the next requests come before the others.
func (f *faultRules) choose(operation, to string, now time.Time) (FaultKind, *faultRule, bool) {
	f.expire(now)
	for _, isNext := range []bool{true, false} {
		for _, r := range f.rules {
			if isNext == (r.Left > 0) && r.covers(operation, to) && r.strikes(now) {
				kind, _ := faultNamed(r.Faults[rand.IntN(len(r.Faults))]) //nolint:gosec // what is drawn is no secret
				f.expire(now)
				return kind, r, true
			}
		}
	}
	return FaultKind{}, nil, false
}

// faultFor returns the fault that a request meets, and notes it.
func (s *Sandbox) faultFor(x *Exchange) messagingtest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, rule, strikes := s.faults.choose(x.Operation, x.To, time.Now())
	if !strikes {
		return messagingtest.Fault{}
	}
	if x.Fault = kind.Name; kind.Needs != "delay" { // then it depends on the response that comes
		x.Verdict = kind.Verdict
	}
	s.live.notify("")
	return rule.fault(kind.Name)
}

// inject makes a rule.
func (s *Sandbox) inject(f faultRule) error {
	if err := f.check(time.Now()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.expire(time.Now())
	if len(s.faults.rules) >= maxFaultRules {
		return fmt.Errorf("%d faults are in force: clear them first", maxFaultRules)
	}
	s.faults.serial++
	f.ID = s.faults.serial
	s.faults.rules = append(s.faults.rules, &f)
	s.live.notify("")
	return nil
}

// clearFaults ends one rule, or all if the ID is zero, and reports whether there was one.
func (s *Sandbox) clearFaults(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.faults.rules)
	s.faults.rules = slices.DeleteFunc(s.faults.rules, func(r *faultRule) bool { return id == 0 || r.ID == id })
	s.live.notify("")
	return id == 0 || len(s.faults.rules) < before
}

// verdictOf returns what a correct client concludes from the status of a response to a request to send.
func verdictOf(status int) string {
	switch {
	case status == http.StatusOK:
		return verdictAccepted
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return verdictRefused
	default:
		return verdictUnknown
	}
}
