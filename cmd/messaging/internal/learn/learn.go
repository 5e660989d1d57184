// Package learn writes an overlay of the contract from the examples of a provider's documentation: a request with known values in it,
// responses, a row of a listing, and callbacks.
//
// A member with a known value has that concept, and everything else in the request is a constant. Comments name what the examples do not show.
// At the end the client and the receiver of the library replay each example with the new contract. An overlay with a wrong result is never
// written.
package learn

import (
	"errors"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The sections of an overlay that are learned.
const (
	sectionAuth     = "auth"
	sectionHeaders  = "headers"
	sectionErrors   = "errors"
	sectionSend     = "sms.send"
	sectionList     = "sms.list"
	sectionInbound  = "webhook.sms"
	sectionDelivery = "webhook.delivery"
)

// learner learns the contract of one provider.
type learner struct {
	examples *Examples
	overlay  overlay
	defaults *table.Table
	request  *request
	leaves   []leaf   // of the request
	ignored  []string // paths of the request that the overlay leaves out on purpose
}

// Learn returns the overlay of some examples as JSON. It joins an error for each example that cannot be understood, or whose result with the
// overlay is wrong.
func Learn(examples *Examples) (string, error) {
	l := &learner{examples: examples, overlay: overlay{}, defaults: table.Of(contract.Default())}
	if err := l.learn(); err != nil {
		return "", err
	}
	names, err := l.overlay.parse()
	if err != nil {
		return "", errorf("a contract cannot express the examples: %w", err)
	}
	if err := l.replay(names); err != nil {
		return "", err
	}
	l.noteUnknown()
	return l.overlay.text(), nil
}

func (l *learner) learn() error {
	if err := l.learnRequest(); err != nil {
		return err
	}
	problems := []error{l.learnAccepted()}
	l.learnStatus()
	problems = append(problems, l.learnRefused(), l.learnRow(), l.learnInbound(), l.learnDelivery())
	l.removeTaken()
	return errors.Join(problems...)
}

// removeTaken removes learned paths from the default paths of other concepts, because two concepts cannot share a path.
func (l *learner) removeTaken() {
	l.removeTakenIn(sectionSend, "response", l.defaults.SMSSend.Response)
	l.removeTakenIn(sectionList, "record", l.defaults.SMSList.Record)
	l.removeTakenIn(sectionInbound, "params", l.defaults.WebhookSMS.Params)
	l.removeTakenIn(sectionDelivery, "params", l.defaults.WebhookDelivery.Params)
}

// removeTakenIn removes the learned paths in one object of a section from the default paths of the other concepts in it.
func (l *learner) removeTakenIn(section, object string, defaults map[string][]string) {
	learned := l.overlay.object(section, object)
	taken := map[string]bool{}
	for concept := range learned {
		for _, path := range l.overlay.list(section, object, concept) {
			taken[path] = true
		}
	}
	isTaken := func(path string) bool { return taken[path] }
	for concept, paths := range defaults {
		if learned[concept] != nil || !slices.ContainsFunc(paths, isTaken) {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(paths), isTaken)
		l.overlay.set(append([]string{}, left...), section, object, concept)
	}
}

// sentinels are the errors of the classes of a refusal.
func sentinels() map[string]error {
	return map[string]error{
		"unauthorized":        messaging.ErrUnauthorized,
		"forbidden":           messaging.ErrForbidden,
		"rateLimited":         messaging.ErrRateLimited,
		"insufficientBalance": messaging.ErrInsufficientBalance,
		"duplicate":           messaging.ErrDuplicate,
		"windowClosed":        messaging.ErrWindowClosed,
		"notFound":            messaging.ErrNotFound,
		"unavailable":         messaging.ErrUnavailable,
		"invalid":             messaging.ErrInvalid,
	}
}

// meanings are the possible meanings of a status.
func meanings() []string {
	return []string{"delivered", "read", "queued", "sent", "failed", "expired", "rejected"}
}

// usualMeaning returns the meaning of a status in the default contract, or "".
func usualMeaning(word string) string {
	statuses := table.Of(contract.Default()).WebhookDelivery.Statuses
	for _, meaning := range meanings() {
		if table.Match(statuses[meaning], word, true) >= 0 {
			return meaning
		}
	}
	return ""
}
