package sms

import (
	"context"
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Find looks a message up by its reference ID, over all pages of the answer, and returns the first that the service lists.
//
// A row counts only if its reference ID is the one that was asked for. Where no row came, the error matches
// messaging.ErrNotFound; the message may still be listed later. Where rows came and all of them are other messages', the
// service has not applied the filter, nothing is known, and the error does not match ErrNotFound.
func (s *Service) Find(ctx context.Context, referenceID string) (Transaction, error) {
	if referenceID == "" {
		return Transaction{}, s.doer.Refuse(wire.SMSList, []wire.Problem{{Field: "referenceID", Reason: "required, but empty"}})
	}
	others := false
	for tx, err := range s.List(ctx, ListOptions{ReferenceID: referenceID}) {
		if err != nil {
			return Transaction{}, err
		}
		if tx.ReferenceID == referenceID {
			return tx, nil
		}
		others = true
	}
	if others {
		return Transaction{}, s.doer.Fail(wire.SMSList, "the service listed other messages than the one that was asked for: it does not filter as the contract says (sms.list.params.reference, sms.list.record.reference)", wire.ErrFilterIgnored)
	}
	return Transaction{}, s.doer.Fail(wire.SMSList, "no message with this reference ID is listed", wire.ErrNotFound)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
