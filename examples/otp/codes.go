package main

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// code is a one-time code.
type code struct {
	challenge string // ID that the page must know to try the code
	request   string // ID that the page made up for its request
	to        string
	digits    string
	expires   time.Time
	tries     int
	reference string         // ID of the last message with the code, for the service and its delivery reports
	status    webhook.Status // of that message; StatusUnknown until the send or a delivery report says more
}

// statusNotSent is the status of a code that provably went out over neither channel.
const statusNotSent webhook.Status = "not sent"

func newReference() string { return "code-" + rand.Text() }

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
	maps.DeleteFunc(c.byChallenge, func(_ string, sent *code) bool { return c.isExpired(sent) })
	attempts := 0
	sentCodes := 0 // attempts that may have gone out
	for _, sent := range c.byChallenge {
		if sent.to != to {
			continue
		}
		attempts++
		if sent.status == statusNotSent {
			continue
		}
		if sent.request == request {
			return *sent, false, nil
		}
		sentCodes++ // even if a report says that it failed: the report may be wrong, and the code costs
	}
	if sentCodes >= maxCodes || attempts >= maxAttempts {
		return code{}, false, errTooMany
	}
	digits, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	stored := &code{
		challenge: rand.Text(),
		request:   request,
		to:        to,
		digits:    fmt.Sprintf("%06d", digits),
		expires:   c.now().Add(validFor),
		reference: newReference(),
	}
	c.byChallenge[stored.challenge] = stored
	return *stored, true, nil
}

func (c *codes) isExpired(sent *code) bool { return !c.now().Before(sent.expires) }

// find returns the code of a challenge, or errInvalid if it may not be tried.
func (c *codes) find(challenge string) (*code, error) {
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || c.isExpired(sent) || sent.tries >= maxTries {
		return nil, errInvalid
	}
	return sent, nil
}

// use returns the number to which the code of a challenge was sent, if the digits match it. The code is then used up.
func (c *codes) use(challenge, digits string) (number string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, err := c.find(challenge)
	if err != nil {
		return "", err
	}
	sent.tries++
	if subtle.ConstantTimeCompare([]byte(sent.digits), []byte(digits)) == 0 {
		return "", errWrong
	}
	sent.tries = maxTries
	return sent.to, nil
}

// status returns the status of the code of a challenge, or errInvalid if it is no longer valid.
func (c *codes) status(challenge string) (webhook.Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, err := c.find(challenge)
	if err != nil {
		return webhook.StatusUnknown, err
	}
	return sent.status, nil
}

// beginSMS returns the reference ID for the SMS with the code of a challenge. From now on, reports on its chat message, which did not go out, do
// not count.
func (c *codes) beginSMS(challenge string) (reference string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reference = newReference()
	if sent, isKnown := c.byChallenge[challenge]; isKnown {
		sent.reference = reference
		sent.status = webhook.StatusUnknown
	}
	return reference
}

// advance sets the status of the code in a message, unless it has a later one: the result of a send and delivery reports come in any order.
func (c *codes) advance(reference string, status webhook.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sent := range c.byChallenge {
		if sent.reference != reference {
			continue
		}
		if sent.status == webhook.StatusUnknown || status.Supersedes(sent.status) {
			sent.status = status
		}
	}
}
