package learn

import (
	"errors"
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/contract"
)

// replay replays every example with a contract, and joins an error for each wrong result.
func (l *learner) replay(names contract.Contract) error {
	var problems []error
	if l.examples.request != nil {
		problems = append(problems, l.replayRequest(names))
	}
	for _, example := range l.examples.accepted {
		problems = append(problems, l.replayAccepted(names, example))
	}
	for _, example := range l.examples.refused {
		problems = append(problems, l.replayRefused(names, example))
	}
	if l.examples.row != nil {
		problems = append(problems, l.replayRow(names, l.examples.row))
	}
	for _, example := range l.examples.inbound {
		problems = append(problems, l.replayInbound(names, example))
	}
	for _, example := range l.examples.delivery {
		problems = append(problems, l.replayDelivery(names, example))
	}
	if l.overlay.Delivery.Placeholders != nil {
		problems = append(problems, l.replayPlaceholders(names))
	}
	return errors.Join(problems...)
}

// isSame reports whether a row or a report with this ID and this reference is the one in the example. The reference decides only if the example
// names no ID.
func (e *Example) isSame(id, reference string) bool {
	if known := e.values["id"]; known != "" {
		return id == known
	}
	return reference == e.values["reference"]
}

// compare returns an error for each value of an example that was read wrongly.
func compare(example *Example, read map[string]string) []error {
	var problems []error
	for _, concept := range slices.Sorted(maps.Keys(read)) {
		got := read[concept]
		want := example.values[concept]
		if want != "" && !matches(got, want) && !matches(want, got) {
			problems = append(problems, example.errorf("%s: got %q, want %q", concept, got, want))
		}
	}
	return problems
}
