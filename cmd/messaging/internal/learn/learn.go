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
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// learner learns the contract of one provider.
type learner struct {
	examples *Examples
	overlay  overlay
	defaults *table.Table
	request  *request
	leaves   []leaf   // of the request
	ignored  []string // paths of the request that the overlay leaves out on purpose
	warnings []string // comments that are printed too

	unusedFilters []leaf // parameters of the listing that are no filter with a known value
	pageSize      int    // how many rows the request of the listing asks for, or 0
}

// Result is a learned overlay.
type Result struct {
	Overlay  string   // as JSON
	Warnings []string // of the comments in the overlay, those that a person must not miss
}

func newLearner(examples *Examples) *learner {
	return &learner{examples: examples, overlay: newOverlay(), defaults: table.Of(contract.Default())}
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
	if err := l.replay(names); err != nil {
		return Result{}, err
	}
	l.noteUnknown()
	l.noteZones()
	return Result{Overlay: l.overlay.text(), Warnings: l.warnings}, nil
}

// learn takes the steps in their order: later steps need what earlier ones found. The request comes first and alone, because without it every
// other error would mislead.
func (l *learner) learn() error {
	var problems []error
	if l.examples.isListingAlone() {
		l.overlay.Send = sendNames{} // the default
	} else {
		if err := l.learnRequest(); err != nil {
			return err
		}
		problems = append(problems,
			l.learnAccepted(), // finds the ID of the message, and other values of the response
			l.learnStatus(),   // takes none of these for the status
			l.learnRefused(),  // takes neither for a code, and a word of the status for one if there is no code
		)
	}
	problems = append(problems, l.learnRow(), l.learnInbound(), l.learnDelivery())
	l.learnPlaceholders() // by the names in reports
	l.removeTaken()       // from the paths that any step has learned
	return errors.Join(problems...)
}

// noteUnknown adds comments about what the examples do not show. Of a listing alone, it leaves out the other sections.
func (l *learner) noteUnknown() {
	l.noteListing()
	l.noteOrder()
	l.noteSendStatus()
	l.noteRefusedWords()
	l.noteMoney()
	l.noteMessages()
	if !l.examples.isListingAlone() {
		l.noteOtherSections()
	}
}

// contractPage begins a reference to a section of the page about contracts.
const contractPage = "; see docs/contract.md, "

func (l *learner) noteListing() {
	unseen := "filters"
	if len(l.overlay.List.Params) > 0 {
		unseen = "other filters" + l.unseenFilters()
	}
	if l.overlay.List.Params["sortBy"] == "" || l.overlay.List.Params["order"] == "" {
		unseen += " and order"
	}
	if l.overlay.List.Params["page"] == "" && l.overlay.List.Params["offset"] == "" {
		unseen = "paging, " + unseen
	}
	const remedy = `, which keep their defaults: if the service lacks one, name it ""`
	l.overlay.note("not in the examples: the names of "+unseen+remedy+contractPage+"5. The listing", sectionList, "params")
	l.noteUnused()
	if l.examples.row == nil {
		l.noteAbsent("a row", "the paths of rows and the names of their members"+contractPage+"5. The listing", sectionList, "record")
	}
}

// unseenFilters returns the filters of the default contract that were not learned, in parentheses, or "".
func (l *learner) unseenFilters() string {
	var unseen []string
	for _, concept := range filterConcepts() {
		if l.overlay.List.Params[concept] == "" {
			unseen = append(unseen, concept)
		}
	}
	if len(unseen) == 0 {
		return ""
	}
	return " (" + strings.Join(unseen, ", ") + ")"
}

// noteAbsent adds a comment about a kind of examples that is absent, and prints the consequence, which the user may not expect.
func (l *learner) noteAbsent(example, missing, section, key string) {
	l.overlay.note("not in the examples: "+missing, section, key)
	l.warnings = append(l.warnings, section+": no example of "+example+": every name is a default")
}

func (l *learner) noteOtherSections() {
	if len(l.examples.inbound) == 0 {
		l.noteAbsent("an inbound message", "an inbound message"+contractPage+"6. Callbacks", sectionInbound, "params")
	}
	if len(l.examples.delivery) == 0 {
		l.noteAbsent("a delivery report", "a delivery report"+contractPage+"6. Callbacks", sectionDelivery, "params")
	}
	if len(l.examples.refused) == 0 {
		l.noteAbsent("a refusal", "a refusal"+contractPage+"4. Errors", sectionErrors, "classes")
	}
	if l.overlay.Auth.KeyPair.In == "body" && l.overlay.List.Method == "" {
		l.overlay.note("a listing by GET has no body: look up where its credentials go", sectionAuth, "keyPair", "in")
	}
	if len(l.overlay.Send.Constants) > 0 {
		l.overlay.note("every message is sent with these: remove those that only the example has", sectionSend, "constants")
	}
	l.notePlaceholders()
}

// removeTaken removes learned paths from the default paths of other concepts, because two concepts cannot share a path.
func (l *learner) removeTaken() {
	l.overlay.Send.Response.removeTaken(l.defaults.SMSSend.Response)
	l.overlay.List.Record.removeTaken(l.defaults.SMSList.Record)
	l.overlay.Inbound.Params.removeTaken(l.defaults.WebhookSMS.Params)
	l.overlay.Delivery.Params.removeTaken(l.defaults.WebhookDelivery.Params)
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
		"optedOut":            messaging.ErrOptedOut,
		"unreachable":         messaging.ErrUnreachable,
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
