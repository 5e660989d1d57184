package learn

import (
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// replayRequest sends the message of the request, and compares the request that the contract makes with the example.
func (r replay) replayRequest() error {
	example := r.request.example
	s := &stub{status: http.StatusBadRequest, body: "{}"}
	if _, err := r.send(example, s); s.sent == nil {
		return example.errorf("the contract cannot send the message: %w", err)
	}
	want := r.request.valuesOf(r.request.leaves)
	got := r.request.valuesOf(r.request.leavesSent(s))
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[path], want[path]) {
			return example.errorf("the contract writes %s at %s, but the example has %s",
				document.Encode(got[path]), path, document.Encode(want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			return example.errorf("the contract writes %s, which the example does not have", path)
		}
	}
	return nil
}

// leavesSent returns the values of a request to a stub, which has the encoding of the example.
func (s *sendRequest) leavesSent(to *stub) []leaf {
	switch {
	case s.request.isJSON:
		return leavesOf(to.sentBody)
	case s.request.isForm:
		return formLeaves(to.sentBody)
	}
	return formLeaves(to.sent.URL.RawQuery)
}

// valuesOf returns values by their paths, without credentials and without the values that the overlay leaves out on purpose.
func (s *sendRequest) valuesOf(leaves []leaf) map[string]any {
	pair := s.overlay.Auth.KeyPair
	values := map[string]any{}
	for _, at := range leaves {
		isKey := at.path == pair.Key
		isSecret := pair.Secret != nil && at.path == *pair.Secret
		isIgnored := slices.Contains(s.ignored, at.path)
		if !isKey && !isSecret && !isIgnored {
			values[at.path] = at.value
		}
	}
	return values
}
