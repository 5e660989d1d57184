// Package learn writes an overlay of the contract from the examples of a provider's documentation: a request with known values in it,
// responses, a row of a listing, and callbacks.
//
// A member with a known value has that concept, and everything else in the request is a constant. Comments name what the examples do not show.
// At the end the client and the receiver of the library replay each example with the new contract. An overlay with a wrong result is never
// written.
package learn

import (
	"errors"
	"fmt"

	"github.com/messaging-service/messaging-go/contract"
)

// Result is a learned overlay.
type Result struct {
	Overlay  string   // as JSON
	Warnings []string // of the comments in the overlay, those that a person must not miss
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
	hints{l.examples, l.overlay, l.listing.request.unused}.add()
	return Result{Overlay: l.overlay.text(), Warnings: l.overlay.warnings}, nil
}

// learner takes the steps by which the contract of one provider is learned. Each step writes what it finds into the overlay.
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

// learn takes the steps in their order: later steps need what earlier ones found. The request comes first and alone, because without it every
// other error would mislead.
func (l *learner) learn() error {
	var problems []error
	if l.examples.isListingAlone() {
		l.overlay.Send = sendNames{} // the default
	} else {
		request, err := learnRequest(l.examples.request, l.overlay)
		if err != nil {
			return err
		}
		l.request = request
		problems = append(problems,
			acceptedResponses{l.examples, l.overlay}.learn(), // finds the ID of the message, and other values of the response
			newSendStatus(l.examples, l.overlay).learn(),     // takes none of these for the status
			newRefusals(l.examples, l.overlay).learn(),       // takes neither for a code, and a word of the status for one if there is no code
		)
	}
	problems = append(problems,
		l.listing.learn(),
		l.overlay.Inbound.learn(l.examples.inbound, keysOf(kindInbound)),
		l.learnDelivery(),
	)
	if l.request != nil {
		placeholders{l.examples.request, l.overlay}.learn() // by the names in reports
	}
	l.overlay.removeTaken() // from the paths that any step has learned
	return errors.Join(problems...)
}

// learnDelivery learns the names of a delivery report, and the meaning of its statuses.
func (l *learner) learnDelivery() error {
	if err := l.overlay.Delivery.learn(l.examples.delivery, reportConcepts()); err != nil {
		return err
	}
	for _, example := range l.examples.delivery {
		statuses{l.examples, l.overlay}.learn(example)
	}
	return nil
}

// replay returns a replay of the examples with a contract.
func (l *learner) replay(names contract.Contract) replay {
	return replay{names: names, examples: l.examples, overlay: l.overlay, request: l.request}
}
