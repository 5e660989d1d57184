package learn

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// replayAccepted sends the message of the request, and compares the receipt with the response of the example.
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

// replayRefused sends the message of the request, and compares the error with the response of the example.
func (r replay) replayRefused(example *Example) error {
	_, err := r.send(example, &stub{status: example.status, body: example.text})
	verdict := messaging.VerdictOf(err)
	switch {
	case err == nil:
		return example.errorf("the result is accepted and not refused: no member that the contract reads reports a failure")
	case verdict != messaging.Refused:
		const advice = "remove the example if it proves no refusal, and write its code to errors by hand"
		return example.errorf("the result is %s and not refused; %s: %w", verdict, advice, err)
	}
	id := example.values["request"]
	if refusal, ok := errors.AsType[*messaging.Error](err); ok && id != "" && refusal.RequestID != id {
		return example.errorf("got the request ID %q, want %q", refusal.RequestID, id)
	}
	return r.checkClass(example, err)
}

// checkClass returns an error if a refusal is of another class than its example. A refusal of no class gets a comment.
func (r replay) checkClass(example *Example, refusal error) error {
	class := example.values["class"]
	if errors.Is(refusal, sentinels()[class]) {
		return nil
	}
	if other := classOf(refusal); other != "" {
		return example.errorf("refused as %s and not as %s: nothing in the response distinguishes it from %s; "+
			"if it has a code, add the line code: and its value", other, class, other)
	}
	r.overlay.note("a refusal of the class "+class+" has no code of its own", sectionErrors, "code")
	return nil
}

// classOf returns the class of a refusal, or "". Of several classes it returns the first by name.
func classOf(refusal error) string {
	classes := sentinels()
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if errors.Is(refusal, classes[class]) {
			return class
		}
	}
	return ""
}

// send sends the message of an example to a stub.
func (r replay) send(example *Example, s *stub) (messaging.Receipt, error) {
	client, err := s.client(r.names)
	if err != nil {
		return messaging.Receipt{}, err
	}
	return client.SMS.Send(context.Background(), r.message(example))
}

// message returns the message of the request, or of an example that has other values. Fields that the service lacks are empty.
func (r replay) message(example *Example) sms.Message {
	value := func(concept string) string {
		if r.overlay.Send.Fields[concept] == "" {
			return ""
		}
		return cmp.Or(example.values[concept], r.request.example.values[concept])
	}
	return sms.Message{
		From:        value("from"),
		To:          value("to"),
		Text:        value("text"),
		CallbackURL: value("callback"),
		ReferenceID: value("reference"),
	}
}
