package learn

import (
	"errors"
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/contract"
)

// replay replays the examples with the new contract.
type replay struct {
	names    contract.Contract
	examples *Examples
	overlay  *overlay
	request  *sendRequest // or nil, if there is no example of one
}

// all replays every example, and joins an error for each wrong result.
func (r replay) all() error {
	var problems []error
	if r.request != nil {
		problems = append(problems, r.replayRequest())
	}
	for _, example := range r.examples.accepted {
		problems = append(problems, r.replayAccepted(example))
	}
	for _, example := range r.examples.refused {
		problems = append(problems, r.replayRefused(example))
	}
	if r.examples.row != nil {
		problems = append(problems, r.replayRow(r.examples.row))
	}
	for _, example := range r.examples.inbound {
		problems = append(problems, r.replayInbound(example))
	}
	for _, example := range r.examples.delivery {
		problems = append(problems, r.replayDelivery(example))
	}
	if r.overlay.Delivery.Placeholders != nil {
		problems = append(problems, newPlaceholders(r.examples.request, r.overlay).replay(r.names))
	}
	return errors.Join(problems...)
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
