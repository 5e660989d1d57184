package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkMessage returns an error if an answer names a message that does not exist or has another recipient, or taps something that
// the message does not offer. It completes a tap with the label and payload of the offer.
func (st *sandboxState) checkMessage(a *Answer) error {
	if a.Message == "" {
		return nil
	}
	e := st.book.byID[a.Message]
	switch {
	case e == nil:
		return &httpError{status: errNoSuchMessage.status, text: "message: no message has the ID " + clip(a.Message, maxName)}
	case e.Channel != a.Channel:
		return errors.New("message: it was sent by " + e.Channel)
	case e.recipientKey != recipientKeyOf(a.From):
		return errors.New("from: the message was sent to " + clip(e.Recipient, maxName))
	case !a.kind().isTap:
		return nil
	case e.Sent == nil:
		return errors.New("message: it is an answer, and offers nothing to tap")
	}
	return a.tap(bubbleOf(*e.Sent, st.table).offers())
}

// tap completes a tap with the offer that it chooses, or returns an error that lists the offers.
func (a *Answer) tap(offers []*Answer) error {
	i := slices.IndexFunc(offers, a.chooses)
	if i < 0 {
		return a.noSuchOffer(offers)
	}
	a.Payload = offers[i].Payload
	a.Text = offers[i].Text
	a.Description = offers[i].Description
	return nil
}

// chooses reports whether a tap chooses an offer, by its payload, its label, or both.
func (a *Answer) chooses(offer *Answer) bool {
	isPayload := a.Payload == "" || offer.Payload == a.Payload
	isText := a.Text == "" || a.Kind == AnswerForm || offer.Text == a.Text
	return offer.Kind == a.Kind && isPayload && isText
}

// noSuchOffer returns the error of a tap that chooses none of the offers.
func (a *Answer) noSuchOffer(offers []*Answer) error {
	if len(offers) == 0 {
		return errors.New("message: it offers nothing to tap, neither a button nor a row")
	}
	const maxListed = 20
	var listed []string
	for _, offer := range offers[:min(len(offers), maxListed)] {
		listed = append(listed, fmt.Sprintf("%s with payload %q and text %q", offer.Kind, clip(offer.Payload, maxName), clip(offer.Text, previewText)))
	}
	remedy := ""
	isOfKind := func(offer *Answer) bool { return offer.Kind == a.Kind }
	if !slices.ContainsFunc(offers, isOfKind) {
		remedy = fmt.Sprintf("; use kind %s", offers[0].Kind)
	}
	return fmt.Errorf("the message has no such %s; it has %s%s", a.Kind, strings.Join(listed, ", "), remedy)
}
