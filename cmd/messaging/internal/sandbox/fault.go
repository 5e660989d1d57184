package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A faultRule says which requests meet a fault: the next ones, a share of them, or all for some time.
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

	kind              FaultKind
	delay, retryAfter time.Duration
	duration          time.Duration
	until             time.Time // zero without a duration, and before the requests of Skip have passed
}

// parseFault parses the flag --fault: a name, then parameters such as status=429, separated by commas.
func parseFault(text string) (faultRule, error) {
	name, rest, _ := strings.Cut(text, ",")
	fields := map[string]any{"fault": name}
	for field := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' }) {
		parameter, text, _ := strings.Cut(field, "=")
		if fields[parameter] != nil {
			return faultRule{}, fmt.Errorf("%s is set twice", parameter)
		}
		value, err := faultValue(parameter, text)
		if err != nil {
			return faultRule{}, err
		}
		fields[parameter] = value
	}
	var rule faultRule
	encoded, err := json.Marshal(fields)
	if err != nil {
		return rule, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rule); err != nil {
		return rule, explainJSON(err)
	}
	return rule, rule.compile(time.Now())
}

// faultValue returns the value of a parameter of the flag as the API takes it.
func faultValue(parameter, text string) (any, error) {
	switch parameter {
	case "skip", "n", "status":
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be a whole number, not %q", parameter, clip(text, 40))
		}
		return number, nil
	case "share":
		share, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(share) || math.IsInf(share, 0) {
			return nil, fmt.Errorf("share must be a number from 0 to 1, not %q", clip(text, 40))
		}
		return share, nil
	default:
		return text, nil
	}
}

// fault returns the fault for the service, or the zero fault if the rule has no kind.
func (f *faultRule) fault() messagingtest.Fault {
	if f.kind.make == nil {
		return messagingtest.Fault{}
	}
	return f.kind.make(f)
}

// faultRules are the rules in force, in the order in which they were made.
type faultRules struct {
	rules  []faultRule
	lastID int
}

const (
	maxFaultRequests = 100_000
	maxFaultRules    = 100
	maxFaultDelay    = time.Hour
	maxFaultDuration = 24 * time.Hour
	minStatus        = 200
	maxStatus        = 599
)

// compile validates a rule and sets the fields that follow from it.
func (f *faultRule) compile(now time.Time) error {
	if err := f.parseDurations(); err != nil {
		return err
	}
	if err := f.findKind(); err != nil {
		return err
	}
	err := cmp.Or(f.checkParameters(), f.checkStatus(), f.checkCode(), f.checkAmount(), f.checkScope(), f.checkDelay()) // the first error
	if err != nil {
		return err
	}
	f.Status = cmp.Or(f.Status, f.kind.DefaultStatus)
	if f.Skip == 0 {
		f.begin(now)
	}
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

// begin starts the duration, if the rule has one.
func (f *faultRule) begin(now time.Time) {
	if f.duration > 0 {
		f.until = now.Add(f.duration)
	}
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

// checkParameters rejects the parameters of other faults.
func (f *faultRule) checkParameters() error {
	isSet := f.parameters()
	for _, name := range slices.Sorted(maps.Keys(isSet)) {
		if isSet[name] && !slices.Contains(f.kind.Parameters, name) {
			return fmt.Errorf("%s is not for %s", name, f.Fault)
		}
	}
	return nil
}

// parameters reports for each parameter whether the rule sets it.
func (f *faultRule) parameters() map[string]bool {
	return map[string]bool{
		"delay":      f.Delay != "",
		"status":     f.Status != 0,
		"retryAfter": f.RetryAfter != "",
		"code":       f.Code != "",
	}
}

// checkStatus validates the status, unless it is absent.
func (f *faultRule) checkStatus() error {
	if f.Status != 0 && (f.Status < minStatus || f.Status > maxStatus) {
		return fmt.Errorf("status must be from %d to %d", minStatus, maxStatus)
	}
	return nil
}

// checkCode validates the error code.
func (f *faultRule) checkCode() error {
	switch {
	case f.Fault == "code" && f.Code == "":
		return errors.New("code is missing: give an error code, such as 131026")
	case len(f.Code) > maxName:
		return errors.New("code is too long for an error code")
	}
	return nil
}

// checkAmount validates how many requests meet the fault.
func (f *faultRule) checkAmount() error {
	switch {
	case f.Skip < 0 || f.Skip > maxFaultRequests:
		return fmt.Errorf("skip must be from 1 to %d", maxFaultRequests)
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

// checkDelay rejects a fault that waits without a delay.
func (f *faultRule) checkDelay() error {
	if f.delay == 0 && slices.Contains(f.kind.Parameters, "delay") {
		return fmt.Errorf("delay is missing: %s waits for it, such as 2s", f.Fault)
	}
	return nil
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

// Amount describes how many requests meet the fault.
func (f faultRule) Amount() string {
	var passing, share, timeLeft string
	if f.Skip > 0 {
		passing = "after " + itoa(f.Skip)
	}
	if f.Left > 0 {
		return joinFilled(passing, itoa(f.Left)+" ×")
	}
	if f.Share > 0 {
		share = fmt.Sprintf("%.0f %%", f.Share*100)
	}
	switch {
	case !f.until.IsZero():
		timeLeft = "for " + short(max(time.Second, time.Until(f.until)))
	case f.duration > 0:
		timeLeft = "for " + short(f.duration)
	}
	return joinFilled(passing, share, timeLeft)
}

// matches reports whether a request is in the scope of a rule.
func (f *faultRule) matches(operation, to string) bool {
	isOperation := f.Operation == "" || f.Operation == operation
	return isOperation && (f.To == "" || recipientKeyOf(f.To) == recipientKeyOf(to))
}

// take reports whether a request in the scope meets the fault. It counts the request.
func (f *faultRule) take(now time.Time) bool {
	switch {
	case f.Skip > 0:
		f.Skip--
		if f.Skip == 0 {
			f.begin(now)
		}
		return false
	case f.Left > 0:
		f.Left--
		return true
	case f.Share > 0:
		return rand.Float64() < f.Share //nolint:gosec // not for cryptography
	}
	return true
}

// isOver reports whether no request can meet the fault any more.
func (f *faultRule) isOver(now time.Time) bool {
	switch {
	case !f.until.IsZero():
		return !now.Before(f.until)
	case f.duration > 0:
		return false // it has not begun
	}
	return f.Left == 0 && f.Share == 0
}

// active removes the rules that are over, and returns the others.
func (f *faultRules) active(now time.Time) []faultRule {
	f.rules = slices.DeleteFunc(f.rules, func(r faultRule) bool { return r.isOver(now) })
	return f.rules
}

// choose returns the rule for a request, or a rule without a fault. Rules for the next requests come first.
func (f *faultRules) choose(operation, to string, now time.Time) faultRule {
	f.active(now)
	isNext := func(rule *faultRule) bool { return rule.Left > 0 && rule.matches(operation, to) }
	isLasting := func(rule *faultRule) bool { return rule.Left <= 0 && rule.matches(operation, to) }
	if rule := f.take(isNext, now); rule != nil {
		return *rule
	}
	if rule := f.take(isLasting, now); rule != nil {
		return *rule
	}
	return faultRule{}
}

// take returns the first candidate that the request meets, or nil.
func (f *faultRules) take(isCandidate func(*faultRule) bool, now time.Time) *faultRule {
	for i := range f.rules {
		rule := &f.rules[i]
		if isCandidate(rule) && rule.take(now) {
			return rule
		}
	}
	return nil
}

// faultFor returns the fault that a request meets, and records it.
func (s *Sandbox) faultFor(x *Exchange) messagingtest.Fault {
	st := s.lock()
	defer st.unlock()
	rule := st.faults.choose(x.Operation, x.To, time.Now())
	x.Fault = rule.Fault
	x.isUnprocessed = rule.Fault != "" && !rule.kind.InLedger
	x.Verdict = rule.verdict()
	if rule.Fault != "" {
		s.live.notify("")
	}
	return rule.fault()
}

func (s *Sandbox) getFaults(*request) (any, error) {
	st := s.lock()
	defer st.unlock()
	return map[string]any{"faults": faultKinds(), "rules": append([]faultRule{}, st.faults.active(time.Now())...)}, nil
}

// postFaults adds a rule and returns it.
func (s *Sandbox) postFaults(_ *request, rule faultRule) (any, error) {
	if err := rule.compile(time.Now()); err != nil {
		return nil, err
	}
	if err := s.addFault(&rule); err != nil {
		return nil, err
	}
	s.live.notify("")
	return rule, nil
}

// addFault adds a rule and sets its ID.
func (s *Sandbox) addFault(rule *faultRule) error {
	st := s.lock()
	defer st.unlock()
	if len(st.faults.active(time.Now())) >= maxFaultRules {
		return fmt.Errorf("%d faults are in force: clear them first", maxFaultRules)
	}
	st.faults.add(rule)
	return nil
}

// add adds a rule and sets its ID.
func (f *faultRules) add(rule *faultRule) {
	f.lastID++
	rule.ID = f.lastID
	f.rules = append(f.rules, *rule)
}

// deleteFaults removes one rule, or all.
func (s *Sandbox) deleteFaults(r *request) (any, error) {
	id := r.PathValue("id")
	st := s.lock()
	before := len(st.faults.rules)
	st.faults.rules = slices.DeleteFunc(st.faults.rules, func(r faultRule) bool { return id == "" || itoa(r.ID) == id })
	isKnown := len(st.faults.rules) < before
	st.unlock()
	if id != "" && !isKnown {
		return nil, errNoSuchFault
	}
	s.live.notify("")
	return s.getFaults(r)
}

// verdict returns the verdict of a correct client for a send with the fault, or "" if the response decides.
func (f *faultRule) verdict() string {
	switch {
	case f.kind.Verdict == verdictRefused || f.kind.Verdict == verdictUnknown:
		return f.kind.Verdict
	case f.Fault == "page":
		return verdictOfPage(f.Status)
	case f.Status != 0:
		return verdictOfError(f.Status)
	default:
		return ""
	}
}

// verdictOfPage returns the verdict for a page with an HTTP status: it refuses only if a server sends the status before it processes a request.
func verdictOfPage(status int) string {
	beforeProcessing := []int{
		http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusRequestHeaderFieldsTooLarge,
	}
	if slices.Contains(beforeProcessing, status) {
		return verdictRefused
	}
	return verdictUnknown
}

// verdictOfError returns the verdict for an error of the service with an HTTP status. With a success, the code in the body refuses; a response
// without a body, or with a part of one, says nothing.
func verdictOfError(status int) string {
	hasBody := status != http.StatusNoContent && status != http.StatusPartialContent
	if status/100 == 2 && hasBody {
		return verdictRefused
	}
	return verdictOf(status)
}

// verdictOf returns the verdict of a correct client for the status of a response to a send.
func verdictOf(status int) string {
	const lastRefusal = 498 // 499 is from a proxy whose client went away
	switch {
	case status == http.StatusOK:
		return verdictAccepted
	case status >= 400 && status <= lastRefusal && status != http.StatusRequestTimeout:
		return verdictRefused
	default:
		return verdictUnknown
	}
}
