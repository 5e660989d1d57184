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
// messaging.ErrNotListed, and ErrNotFound with it; the message may still be listed later. An HTTP 404 matches ErrNotFound alone
// and says nothing of any message. Where rows came and all of them are other messages', the service has not applied the
// filter, nothing is known, and the error matches messaging.ErrFilterIgnored.
func (s *Service) Find(ctx context.Context, referenceID string) (Transaction, error) {
	if referenceID == "" {
		return Transaction{}, s.doer.Refuse(wire.SMSList, []wire.Problem{{Field: "referenceID", Reason: "required, but empty"}})
	}
	others := false
	var unread error
	for page, err := range s.pages(ctx, ListOptions{ReferenceID: referenceID}) {
		if err != nil {
			return Transaction{}, err
		}
		for i := range page.Records {
			if page.Records[i].ReferenceID == referenceID {
				return Transaction(page.Records[i]), nil // also where another of its fields could not be read
			}
		}
		others = others || len(page.Records) > len(page.Unread)
		for _, row := range page.Unread {
			unread = s.unread(page, row)
		}
	}
	switch {
	case others:
		return Transaction{}, s.doer.Fail(wire.SMSList, "the service listed other messages than the one that was asked for: it does not filter as the contract says (sms.list.params.reference, sms.list.record.reference)", wire.ErrFilterIgnored)
	case unread != nil:
		return Transaction{}, unread
	default:
		return Transaction{}, s.doer.Fail(wire.SMSList, "no message with this reference ID is listed", wire.ErrNotListed)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
