package learn

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// message returns the message of the request, with the values of an example.
func (r replay) message(example *Example) sms.Message {
	value := func(concept string) string {
		if r.overlay.Send.Fields[concept] == "" {
			return ""
		}
		return cmp.Or(example.values[concept], r.request.example.values[concept])
	}
	return sms.Message{
		From: cmp.Or(value("from"), "ACME"), To: value("to"), Text: value("text"),
		CallbackURL: value("callback"), ReferenceID: value("reference"),
	}
}

// send sends the message of an example to a stub.
func (r replay) send(example *Example, s *stub) (messaging.Receipt, error) {
	client, err := s.client(r.names)
	if err != nil {
		return messaging.Receipt{}, err
	}
	m := r.message(example)
	if table.Of(r.names).SMSSend.Fields["from"] == "" {
		m.From = ""
	}
	return client.SMS.Send(context.Background(), m)
}

// replayRequest compares the request that the contract makes with the example.
func (r replay) replayRequest() error {
	example := r.request.example
	s := &stub{status: http.StatusBadRequest, body: "{}"}
	if _, err := r.send(example, s); s.sent == nil {
		return example.errorf("the contract cannot send the message: %w", err)
	}
	want := r.request.valuesOf(r.request.leaves)
	got := r.request.valuesOf(s.leaves(r.request.request))
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

// leaves returns the values of the sent request, which has the encoding of another one.
func (s *stub) leaves(like *request) []leaf {
	switch {
	case like.isJSON:
		return leavesOf(s.got)
	case like.isForm:
		return formLeaves(s.got)
	}
	return formLeaves(s.sent.URL.RawQuery)
}

// valuesOf returns values by their paths, without credentials and without the values that the overlay leaves out on purpose.
func (s *sendRequest) valuesOf(leaves []leaf) map[string]any {
	pair := s.overlay.Auth.KeyPair
	values := map[string]any{}
	for _, at := range leaves {
		isCredential := at.path == pair.Key || pair.Secret != nil && at.path == *pair.Secret
		if !isCredential && !slices.Contains(s.ignored, at.path) {
			values[at.path] = at.value
		}
	}
	return values
}

func (r replay) replayAccepted(example *Example) error {
	receipt, err := r.send(example, &stub{status: example.status, body: example.text})
	if err != nil {
		hint := ""
		if example.values["to"] == "" && namesRecipient(example.text) {
			hint = "; if the example is about another message, add the line to: and the number in it"
		}
		return example.errorf("the result is %s and not accepted: %w%s", messaging.VerdictOf(err), err, hint)
	}
	id := example.values["id"]
	isRead := len(table.Of(r.names).SMSSend.Response["id"]) > 0
	if id != "" && isRead && receipt.ID != id {
		return example.errorf("got the ID %q, want %q", receipt.ID, id)
	}
	return nil
}

// namesRecipient reports whether a response has a number under the name of a recipient.
func namesRecipient(response string) bool {
	isRecipient := func(l leaf) bool {
		return isNameOf("to", l.name) && isNumber.MatchString(strings.TrimPrefix(l.word, "+"))
	}
	return slices.ContainsFunc(leavesOf(response), isRecipient)
}

func (r replay) replayRefused(example *Example) error {
	_, err := r.send(example, &stub{status: example.status, body: example.text})
	if verdict := messaging.VerdictOf(err); verdict != messaging.Refused {
		if err == nil {
			return example.errorf("the result is accepted and not refused: no member that the contract reads reports a failure")
		}
		const advice = "remove the example if it proves no refusal, and write its code to errors by hand"
		return example.errorf("the result is %s and not refused; %s: %w", verdict, advice, err)
	}
	id := example.values["request"]
	if refusal, ok := errors.AsType[*messaging.Error](err); ok && id != "" && refusal.RequestID != id {
		return example.errorf("got the request ID %q, want %q", refusal.RequestID, id)
	}
	class := example.values["class"]
	if errors.Is(err, sentinels()[class]) {
		return nil
	}
	for _, other := range slices.Sorted(maps.Keys(sentinels())) {
		if errors.Is(err, sentinels()[other]) {
			return example.errorf("refused as %s and not as %s: nothing in the response distinguishes it from %s; "+
				"if it has a code, add the line code: and its value", other, class, other)
		}
	}
	r.overlay.note("a refusal of the class "+class+" has no code of its own", sectionErrors, "code")
	return nil
}
