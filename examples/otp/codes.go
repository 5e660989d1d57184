package main

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// code is a one-time code. It goes out in one message over chat app 2 and in at most one SMS.
type code struct {
	challenge string // ID that the page must know to try the code
	request   string // ID that the page made up for its request, or ""
	to        string
	digits    string
	expires   time.Time
	tries     int
	chat      *message
	sms       *message // nil until the SMS begins
	isUnsent  bool     // it provably did not go out in either message
}

// message is a message with a code.
type message struct {
	reference string         // ID that the service and its delivery reports know
	id        string         // the service's ID, or "": a delivery report may have it in place of the reference
	status    webhook.Status // StatusUnknown until the send, a lookup or a delivery report says more
	isMissing bool           // the service did not list it after an unknown outcome
}

func newMessage() *message { return &message{reference: "code-" + rand.Text()} }

func (sent *code) messages() []*message {
	if sent.sms == nil {
		return []*message{sent.chat}
	}
	return []*message{sent.chat, sent.sms}
}

// last returns the last message.
func (sent *code) last() *message {
	if sent.sms == nil {
		return sent.chat
	}
	return sent.sms
}

// statusNotListed is the status, for the page, of a message that the service did not list: it probably did not go out. A delivery report may still come.
const statusNotListed webhook.Status = "not listed"

// shownStatus returns the status for the page.
func (m *message) shownStatus() webhook.Status {
	if m.status == webhook.StatusUnknown && m.isMissing {
		return statusNotListed
	}
	return m.status
}

// setStatus sets the status, unless there is a later one: the result of a send and delivery reports come in any order.
func (m *message) setStatus(status webhook.Status) {
	if status.Supersedes(m.status) {
		m.status = status
	}
}

// isOf reports whether a delivery report is about the message. It may have only one of the two IDs.
func (m *message) isOf(report webhook.DeliveryReport) bool {
	isSameID := report.ID != "" && report.ID == m.id
	return isSameID || report.ReferenceID == m.reference
}

// codes are the codes of the last five minutes. examples/apps/otp keeps them in a database.
type codes struct {
	now func() time.Time // tests set it

	mu          sync.Mutex
	byChallenge map[string]*code
}

func newCodes() *codes { return &codes{now: time.Now, byChallenge: map[string]*code{}} }

var (
	errWrong   = errors.New("the code is wrong")
	errInvalid = errors.New("the code is no longer valid; ask for another one")
	errTooMany = errors.New("too many codes; try again in five minutes")
)

// add adds a code for a number, unless there is a code of the same request that may have gone out: then it returns that one. If the number has had
// too many codes or attempts, add returns errTooMany. It forgets expired codes.
func (c *codes) add(to, request string) (added code, isNew bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetExpired()
	attempts := 0
	sentCodes := 0 // attempts that may have gone out
	for _, sent := range c.byChallenge {
		if sent.to != to {
			continue
		}
		attempts++
		if sent.isUnsent {
			continue
		}
		if request != "" && sent.request == request {
			return *sent, false, nil
		}
		sentCodes++ // even if a report says that it failed: the report may be wrong, and the code costs
	}
	if sentCodes >= maxCodes || attempts >= maxAttempts {
		return code{}, false, errTooMany
	}
	added = c.newCode(to, request)
	stored := added
	c.byChallenge[added.challenge] = &stored
	return added, true, nil
}

// forgetExpired deletes the codes that have expired.
func (c *codes) forgetExpired() {
	for challenge, sent := range c.byChallenge {
		if !c.now().Before(sent.expires) {
			delete(c.byChallenge, challenge)
		}
	}
}

// newCode returns a code with six random digits.
func (c *codes) newCode(to, request string) code {
	digits, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	return code{
		challenge: rand.Text(), request: request, to: to, digits: fmt.Sprintf("%06d", digits),
		expires: c.now().Add(validFor), chat: newMessage(),
	}
}

// use returns the number to which the code of a challenge was sent, if the digits match it. The code is then used up.
func (c *codes) use(challenge, digits string) (number string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || !c.isValid(sent) {
		return "", errInvalid
	}
	sent.tries++
	if subtle.ConstantTimeCompare([]byte(sent.digits), []byte(digits)) == 0 {
		return "", errWrong
	}
	sent.tries = maxTries
	return sent.to, nil
}

// isValid reports whether a code may be tried.
func (c *codes) isValid(sent *code) bool {
	return sent.tries < maxTries && c.now().Before(sent.expires)
}

// isPending reports whether the code of a challenge may be on its way to a number. An SMS that is not listed is not: the person would wait in vain.
func (c *codes) isPending(challenge, to string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || sent.to != to {
		return false
	}
	return c.isValid(sent) && sent.last().shownStatus() == webhook.StatusUnknown
}

// status returns the status of the last message with the code of a challenge for the page, or errInvalid if the code is no longer valid.
func (c *codes) status(challenge string) (webhook.Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || !c.isValid(sent) {
		return webhook.StatusUnknown, errInvalid
	}
	return sent.last().shownStatus(), nil
}

// beginSMS begins the SMS with the code of a challenge. isFirst is false if it has begun before, or if the code is not valid or was given up.
func (c *codes) beginSMS(challenge string) (begun code, isFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || !c.isValid(sent) || sent.isUnsent {
		return code{}, false
	}
	if sent.sms != nil {
		return code{}, false
	}
	sent.sms = newMessage() // a code never loses it, so there is one SMS
	return *sent, true
}

// setUnsent notes that a code provably did not go out over any channel. No SMS goes out for it from now on.
func (c *codes) setUnsent(challenge string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.byChallenge[challenge]; isKnown {
		sent.isUnsent = true
	}
}

// setSent notes that the service took a message, and its ID of the message.
func (c *codes) setSent(reference, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, isKnown := c.find(reference); isKnown {
		found.id = id
		found.setStatus(webhook.StatusSent)
	}
}

// setFailed notes that a message did not go out.
func (c *codes) setFailed(reference string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, isKnown := c.find(reference); isKnown {
		found.setStatus(webhook.StatusFailed)
	}
}

// setMissing notes that the service did not list a message. Its status stays unknown, because a delivery report may still come.
func (c *codes) setMissing(reference string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, isKnown := c.find(reference); isKnown {
		found.isMissing = true
	}
}

// statusOf returns the status of a message.
func (c *codes) statusOf(reference string) webhook.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, isKnown := c.find(reference); isKnown {
		return found.status
	}
	return webhook.StatusUnknown
}

// find finds a message by its reference ID.
func (c *codes) find(reference string) (found *message, isKnown bool) {
	for _, sent := range c.byChallenge {
		for _, m := range sent.messages() {
			if m.reference == reference {
				return m, true
			}
		}
	}
	return nil, false
}

// report notes what a delivery report says of a message. If a chat message failed, it returns the challenge of its code. A report without a
// reference ID may come before setSent: then report returns webhook.ErrRetryLater.
func (c *codes) report(report webhook.DeliveryReport) (failed string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sent := range c.byChallenge {
		for _, m := range sent.messages() {
			if !m.isOf(report) {
				continue
			}
			m.setStatus(report.Status)
			isFailed := report.Status.Failed() && m.status.Failed() // a failure that comes after a delivery is not a failure
			if m == sent.chat && isFailed {
				failed = sent.challenge
			}
			return failed, nil
		}
	}
	if report.ReferenceID == "" && c.lacksID() {
		return "", webhook.RetryLater(callTimeout)
	}
	return "", nil // of a code that was forgotten
}

// lacksID reports whether the service's ID of a message is still to come.
func (c *codes) lacksID() bool {
	for _, sent := range c.byChallenge {
		for _, m := range sent.messages() {
			if c.isValid(sent) && m.id == "" && m.status == webhook.StatusUnknown {
				return true
			}
		}
	}
	return false
}
