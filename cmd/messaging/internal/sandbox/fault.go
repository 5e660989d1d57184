package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

const (
	maxFaultRequests = 100_000
	maxFaultRules    = 100
	maxFaultDelay    = time.Hour
	maxFaultDuration = 24 * time.Hour
	minStatus        = 200
	maxStatus        = 599
)

// A faultRule says which requests meet a fault: the next ones, a share of them, or all for some time. compile validates it.
type faultRule struct {
	ID       int     `json:"id"`
	Fault    string  `json:"fault"`
	Skip     int     `json:"skip,omitempty"`  // requests that pass first
	Left     int     `json:"n,omitempty"`     // of the next requests
	Share    float64 `json:"share,omitempty"` // of all requests
	Duration string  `json:"duration,omitempty"`

	// The parameters of some faults.
	Delay      string `json:"delay,omitempty"`
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	Code       string `json:"code,omitempty"`

	To        string `json:"to,omitempty"`
	Operation string `json:"operation,omitempty"`

	// These follow from the fields above.
	kind       FaultKind
	delay      time.Duration
	retryAfter time.Duration
	duration   time.Duration
	until      time.Time // when the duration ends; zero without a duration, and before the requests of Skip have passed
}

// compile validates a rule and sets the fields that follow from others.
func (f *faultRule) compile(now time.Time) error {
	if err := f.findKind(); err != nil {
		return err
	}
	if err := f.parseDurations(); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	f.Status = cmp.Or(f.Status, f.kind.DefaultStatus)
	if f.Skip == 0 {
		f.begin(now)
	}
	return nil
}

// findKind sets the kind by the name of the fault.
func (f *faultRule) findKind() error {
	if f.Fault == "" {
		return errors.New("fault is missing: name one, such as accept-then-drop")
	}
	kinds := faultKinds()
	i := slices.IndexFunc(kinds, func(kind FaultKind) bool { return kind.Name == f.Fault })
	if i < 0 {
		return fmt.Errorf("there is no fault %q: it must be one of %s", clip(f.Fault, 40), strings.Join(faultNames(), ", "))
	}
	f.kind = kinds[i]
	return nil
}

// parseDurations sets the durations from their texts.
func (f *faultRule) parseDurations() error {
	var err error
	f.delay, err = parseDuration("delay", f.Delay, maxFaultDelay)
	if err != nil {
		return err
	}
	f.duration, err = parseDuration("duration", f.Duration, maxFaultDuration)
	if err != nil {
		return err
	}
	f.retryAfter, err = parseDuration("retryAfter", f.RetryAfter, maxFaultDelay)
	return err
}

// check returns the first thing that is wrong with a rule.
func (f *faultRule) check() error {
	checks := []func() error{f.checkOwnParameters, f.checkStatus, f.checkCode, f.checkAmount, f.checkScope, f.checkDelay}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkOwnParameters rejects the parameters of other faults.
func (f *faultRule) checkOwnParameters() error {
	isSet := map[string]bool{
		"delay":      f.Delay != "",
		"status":     f.Status != 0,
		"retryAfter": f.RetryAfter != "",
		"code":       f.Code != "",
	}
	for _, name := range slices.Sorted(maps.Keys(isSet)) {
		if isSet[name] && !f.has(name) {
			return fmt.Errorf("%s is not for %s", name, f.Fault)
		}
	}
	return nil
}

// has reports whether the fault has a parameter.
func (f *faultRule) has(parameter string) bool { return slices.Contains(f.kind.Parameters, parameter) }

// checkStatus validates the status, unless it is absent.
func (f *faultRule) checkStatus() error {
	if f.Status != 0 && (f.Status < f.kind.MinStatus || f.Status > maxStatus) {
		return fmt.Errorf("status must be from %d to %d", f.kind.MinStatus, maxStatus)
	}
	return nil
}

// checkCode validates the error code.
func (f *faultRule) checkCode() error {
	switch {
	case f.has("code") && f.Code == "":
		return errors.New("code is missing: give an error code, such as 131026")
	case len(f.Code) > maxName:
		return errors.New("code is too long for an error code")
	}
	return nil
}

// checkDelay rejects a fault that waits without a delay.
func (f *faultRule) checkDelay() error {
	if f.has("delay") && f.delay == 0 {
		return fmt.Errorf("delay is missing: %s waits for it, such as 2s", f.Fault)
	}
	return nil
}

// checkAmount validates how many requests meet the fault.
func (f *faultRule) checkAmount() error {
	switch {
	case f.Skip < 0 || f.Skip > maxFaultRequests:
		return fmt.Errorf("skip must be from 0 to %d", maxFaultRequests)
	case f.Left < 0 || f.Left > maxFaultRequests:
		return fmt.Errorf("n must be from 1 to %d", maxFaultRequests)
	case f.Share < 0 || f.Share > 1:
		return errors.New("share must be above 0 and up to 1")
	case f.Left > 0 && (f.Share > 0 || f.duration > 0):
		return errors.New("n cannot be combined with share or duration")
	case f.Left == 0 && f.Share == 0 && f.duration == 0:
		return errors.New("give n, share or duration, to say how many requests meet the fault")
	}
	return nil
}

// checkScope validates which requests the rule is limited to.
func (f *faultRule) checkScope() error {
	if f.Operation != "" && !slices.Contains(operationNames(), f.Operation) {
		return errors.New("operation must be one of " + strings.Join(operationNames(), ", "))
	}
	if len(f.To) > maxName {
		return errors.New("to is too long for a recipient")
	}
	return nil
}

// fault returns the fault for the service, or the zero fault if the rule has no kind.
func (f *faultRule) fault() messagingtest.Fault {
	if f.kind.make == nil {
		return messagingtest.Fault{}
	}
	return f.kind.make(f)
}

// Scope describes which requests the rule is limited to, or is empty.
func (f faultRule) Scope() string { return joinFilled(f.To, f.Operation) }

// Label is the name of the fault with its parameters.
func (f faultRule) Label() string {
	words := []string{f.Fault}
	if f.Status > 0 {
		words = append(words, itoa(f.Status))
	}
	for _, parameter := range []string{f.Code, f.Delay, f.RetryAfter} {
		if parameter != "" {
			words = append(words, parameter)
		}
	}
	return strings.Join(words, " ")
}

// Amount describes how many requests meet the fault, such as "after 2 · 1 ×" or "25 % · for 30s".
func (f faultRule) Amount() string {
	var parts []string
	if f.Skip > 0 {
		parts = append(parts, "after "+itoa(f.Skip))
	}
	if f.Left > 0 {
		parts = append(parts, itoa(f.Left)+" ×")
	}
	if f.Share > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", f.Share*100))
	}
	if f.duration > 0 {
		parts = append(parts, "for "+short(f.timeLeft()))
	}
	return joinFilled(parts...)
}

// timeLeft returns the rest of the duration, at least a second, or all of it if it has not begun.
func (f faultRule) timeLeft() time.Duration {
	if f.until.IsZero() {
		return f.duration
	}
	return max(time.Second, time.Until(f.until))
}
