package learn

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// The methods of this file read and change the new contract: what the overlay has, and otherwise the defaults.

// overrideTaken overrides default paths that contain a path learned for another concept, because two concepts cannot share a path.
func (o *overlay) overrideTaken() {
	o.Send.Response.overrideTaken(o.defaults.SMSSend.Response)
	o.List.Record.overrideTaken(o.defaults.SMSList.Record)
	o.Inbound.Params.overrideTaken(o.defaults.WebhookSMS.Params)
	o.Delivery.Params.overrideTaken(o.defaults.WebhookDelivery.Params)
}

// rowPaths returns the paths of a concept in a row.
func (o *overlay) rowPaths(concept string) []string {
	return o.List.Record.orDefault(concept, o.defaults.SMSList.Record)
}

// readsMember reports whether the contract reads a member of a row.
func (o *overlay) readsMember(path string) bool {
	for concept := range o.defaults.SMSList.Record {
		if slices.Contains(o.rowPaths(concept), path) {
			return true
		}
	}
	return o.List.Record.has(path)
}

// statusWords returns the words of delivery for a meaning.
func (o *overlay) statusWords(meaning string) []string {
	return o.Delivery.Statuses.orDefault(meaning, o.defaults.WebhookDelivery.Statuses)
}

// sendWords returns the words of the status of a send.
func (o *overlay) sendWords() (accepted, refused []string) {
	accepted = o.defaults.SMSSend.Accepted
	if o.Send.Accepted != nil {
		accepted = o.Send.Accepted
	}
	refused = o.defaults.SMSSend.Refused
	if o.Send.Refused != nil {
		refused = o.Send.Refused
	}
	return accepted, refused
}

// acceptWord adds a word that means accepted to the words of the default contract.
func (o *overlay) acceptWord(word string) {
	send := &o.Send
	if send.Accepted == nil {
		send.Accepted = slices.Clone(o.defaults.SMSSend.Accepted)
	}
	if !hasWord(send.Accepted, word) {
		send.Accepted = append(send.Accepted, word)
	}
}

// refuseWord adds a word that means refused, and removes it from the words that mean accepted.
func (o *overlay) refuseWord(word string) {
	send := &o.Send
	send.Refused = appendNew(send.Refused, word)
	isWord := func(other string) bool { return strings.EqualFold(other, word) }
	send.Accepted = slices.DeleteFunc(send.Accepted, isWord)
}

// contract returns the contract of the overlay.
func (o *overlay) contract() (contract.Contract, error) {
	return contract.Parse([]byte(document.Encode(o)))
}

// forReading returns a contract that reads one page with credentials in headers, because the examples do not show the request of a page.
func (o overlay) forReading(names contract.Contract) contract.Contract {
	o.List.Paging = &paging{By: "none", Whole: true}
	if o.Auth.KeyPair.In == "body" {
		o.Auth.KeyPair = keyPair{In: "header", Key: "X-Key", Secret: new("X-Secret")}
	}
	if alone, err := o.contract(); err == nil {
		return alone
	}
	return names
}
