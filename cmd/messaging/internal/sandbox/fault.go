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
	"strconv"
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
func (f *faultRule) fault() messagingtest.Fault {
	return map[string]messagingtest.Fault{
		"accept-then-drop":   messagingtest.FaultAcceptThenDrop(),
		"drop-unread":        messagingtest.FaultDropUnread(),
		"slow":               messagingtest.FaultSlow(f.delay),
		faultOverload:        messagingtest.FaultStatus(http.StatusTooManyRequests, f.delay),
		"status-500":         messagingtest.FaultStatus(http.StatusInternalServerError, f.delay),
		"status-503":         messagingtest.FaultStatus(http.StatusServiceUnavailable, f.delay),
		"status-after":       messagingtest.FaultStatusAfter(cmp.Or(f.Status, http.StatusInternalServerError), ""),
		"page":               messagingtest.FaultPage(cmp.Or(f.Status, http.StatusBadGateway)),
		"truncated-response": messagingtest.FaultTruncated(),
		"not-json":           messagingtest.FaultNotJSON(),
	}[f.Fault]
}

// A faultRule says which requests meet a fault: the next ones, a share, all of some time, or those beyond a capacity; and of
// those, the ones in its scope.
type faultRule struct {
	ID       int     `json:"id"`
	Fault    string  `json:"fault"`
	Left     int     `json:"n,omitempty"`     // of the next requests
	Share    float64 `json:"share,omitempty"` // of all requests
	Duration string  `json:"duration,omitempty"`
	Capacity int     `json:"capacity,omitempty"` // requests in a second that pass
	Delay    string  `json:"delay,omitempty"`
	Status   int     `json:"status,omitempty"` // of status-after and page

	To        string `json:"to,omitempty"`
	Operation string `json:"operation,omitempty"`

	kind   FaultKind
	delay  time.Duration
	until  time.Time // zero: it lasts
	second time.Time // that used counts
	used   int
}

// faultRules are the rules in force, in the order in which they were made.
type faultRules struct {
	rules  []faultRule
	serial int
}

const (
	maxFaultRequests = 100_000
	maxFaultRules    = 100
	maxFaultDelay    = time.Hour
	maxFaultDuration = 24 * time.Hour
	maxCapacity      = 100_000
	maxStatus        = 599
)

// check returns what is wrong with a rule, and fills in what follows from it.
func (f *faultRule) check(now time.Time) error {
	if f.Fault == "" && f.Capacity > 0 {
		f.Fault = faultOverload
	}
	for _, kind := range faultKinds() {
		if kind.Name == f.Fault {
			f.kind = kind
		}
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
		{f.Fault == "", "fault is missing: name one, such as accept-then-drop"},
		{f.kind.Name == "", "there is no fault " + strconv.Quote(clip(f.Fault, 40)) + ": GET faults lists them"},
		{f.Left < 0 || f.Left > maxFaultRequests, "n must be from 1 to " + itoa(maxFaultRequests)},
		{f.Share < 0 || f.Share > 1, "share must be above 0 and up to 1"},
		{f.Capacity < 0 || f.Capacity > maxCapacity, "capacity must be from 1 to " + itoa(maxCapacity) + " requests in a second"},
		{f.Left == 0 && f.Share == 0 && f.Capacity == 0 && lasts == 0, "n, share, duration or capacity is missing: how many requests meet the fault"},
		{f.Left > 0 && (f.Share > 0 || f.Capacity > 0 || lasts > 0), "n stands alone"},
		{f.Share > 0 && f.Capacity > 0, "share and capacity exclude each other"},
		{f.Status != 0 && (f.Status < http.StatusInternalServerError || f.Status > maxStatus), "status must be from 500 to " + itoa(maxStatus)},
		{f.Status != 0 && f.kind.Needs != "status", "status is for status-after and page"},
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
	return joinFilled(f.To, f.Operation)
}

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
	return (f.Operation == "" || f.Operation == operation) && (f.To == "" || peerKey(f.To) == peerKey(to))
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

// inForce removes the rules that are over, and returns the others.
func (f *faultRules) inForce(now time.Time) []faultRule {
	f.rules = slices.DeleteFunc(f.rules, func(r faultRule) bool {
		isUsedUp := r.Left == 0 && r.Share == 0 && r.Capacity == 0 && r.until.IsZero()
		return isUsedUp || !r.until.IsZero() && !now.Before(r.until)
	})
	return f.rules
}

// choose returns the rule that a request meets, or one without a fault. Rules for the next requests come before the others.
func (f *faultRules) choose(operation, to string, now time.Time) faultRule {
	for _, isNext := range []bool{true, false} {
		for i := range f.inForce(now) {
			if r := &f.rules[i]; isNext == (r.Left > 0) && r.covers(operation, to) && r.strikes(now) {
				return *r
			}
		}
	}
	return faultRule{}
}

// faultFor returns the fault that a request meets, and notes it.
func (s *Sandbox) faultFor(x *Exchange) messagingtest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := s.faults.choose(x.Operation, x.To, time.Now())
	x.Fault = rule.Fault
	if rule.kind.Needs != "delay" { // then it depends on the response that comes
		x.Verdict = rule.kind.Verdict
	}
	if rule.Fault != "" {
		s.live.notify("")
	}
	return rule.fault()
}

func (s *Sandbox) getFaults(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{"faults": faultKinds(), "rules": append([]faultRule{}, s.faults.inForce(time.Now())...)}, nil
}

// postFaults makes a rule.
func (s *Sandbox) postFaults(r *request, rule faultRule) (any, error) {
	s.mu.Lock()
	isFull := len(s.faults.inForce(time.Now())) >= maxFaultRules
	err := rule.check(time.Now())
	if err == nil && !isFull {
		s.faults.serial++
		rule.ID = s.faults.serial
		s.faults.rules = append(s.faults.rules, rule)
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case isFull:
		return nil, fmt.Errorf("%d faults are in force: clear them first", maxFaultRules)
	}
	s.live.notify("")
	return s.getFaults(r)
}

// deleteFaults ends one rule, or all.
func (s *Sandbox) deleteFaults(r *request) (any, error) {
	id := r.PathValue("id")
	s.mu.Lock()
	before := len(s.faults.rules)
	s.faults.rules = slices.DeleteFunc(s.faults.rules, func(r faultRule) bool { return id == "" || itoa(r.ID) == id })
	isGone := len(s.faults.rules) < before
	s.mu.Unlock()
	if id != "" && !isGone {
		return nil, errNoSuchFault
	}
	s.live.notify("")
	return s.getFaults(r)
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
