package learn

import (
	"errors"
	"fmt"

	"github.com/messaging-service/messaging-go/contract"
)

// Result is a learned overlay.
type Result struct {
	Overlay  string   // as JSON
	Warnings []string // the comments in the overlay that a person must not miss
}

// Learn returns the overlay of some examples. It joins an error for each example that cannot be understood, or whose result with the
// overlay is wrong.
func Learn(examples *Examples) (Result, error) {
	l := newLearner(examples)
	if err := l.learn(); err != nil {
		return Result{}, err
	}
	names, err := l.overlay.contract()
	if err != nil {
		return Result{}, fmt.Errorf("a contract cannot express the examples: %w", err)
	}
	if err := l.replay(names).all(); err != nil {
		return Result{}, err
	}
	l.hints().add()
	return Result{Overlay: l.overlay.text(), Warnings: l.overlay.warnings}, nil
}

// learner learns the contract of one provider. Each step writes what it finds into the overlay.
type learner struct {
	examples *Examples
	overlay  *overlay
	request  *sendRequest // nil before its step, and of a listing alone
	listing  *listing
}

func newLearner(examples *Examples) *learner {
	o := newOverlay()
	return &learner{examples: examples, overlay: o, listing: newListing(examples, o)}
}

// learn takes the steps in their order, because later steps need what earlier ones found. If the request cannot be learned, it is the only
// error, because any other would mislead.
func (l *learner) learn() error {
	if err := l.learnSend(); err != nil {
		return err
	}
	err := errors.Join(
		l.learnResponses(),
		l.listing.learn(),
		l.overlay.Inbound.learn(l.examples.inbound, keysOf(kindInbound)),
		l.learnDelivery(),
	)
	l.learnPlaceholders()
	l.overlay.overrideTaken()
	return err
}

// learnSend learns the request of a send. Of a listing alone, the send keeps its defaults.
func (l *learner) learnSend() error {
	if l.examples.isListingAlone() {
		l.overlay.Send = sendNames{}
		return nil
	}
	request, err := learnRequest(l.examples.request, l.overlay)
	l.request = request
	return err
}

// learnResponses learns the responses to a send: first the ID and other values, then the status, which is at another place, and then the codes,
// which are neither, unless the word of the status is the code.
func (l *learner) learnResponses() error {
	if l.request == nil {
		return nil
	}
	return errors.Join(
		acceptedResponses{examples: l.examples, overlay: l.overlay}.learn(),
		newSendStatus(l.examples, l.overlay).learn(),
		newRefusals(l.examples, l.overlay).learn(),
	)
}

// learnDelivery learns the names of a delivery report, and the meaning of its statuses.
func (l *learner) learnDelivery() error {
	if err := l.overlay.Delivery.learn(l.examples.delivery, reportConcepts()); err != nil {
		return err
	}
	for _, example := range l.examples.delivery {
		statuses{examples: l.examples, overlay: l.overlay}.learn(example)
	}
	return nil
}

// learnPlaceholders learns the placeholders in the callback URL of the request, by the names in delivery reports.
func (l *learner) learnPlaceholders() {
	if l.request != nil {
		newPlaceholders(l.examples.request, l.overlay).learn()
	}
}

// replay returns a replay of the examples with a contract.
func (l *learner) replay(names contract.Contract) replay {
	return replay{names: names, examples: l.examples, overlay: l.overlay, request: l.request}
}

// hints returns the comments about what the examples do not show.
func (l *learner) hints() hints {
	return hints{examples: l.examples, overlay: l.overlay, unused: l.listing.request.unused}
}
