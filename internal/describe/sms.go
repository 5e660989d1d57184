// Package describe turns messages and listings, as a user writes them, into the data that package codec encodes: their fields by concept, and
// their problems. It is apart from the packages of the messages so that the public packages export nothing that only the client needs.
package describe

import (
	"github.com/google/go-querystring/query"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// SMS describes an SMS.
func SMS(m sms.Message) wire.Call {
	return wire.Call{
		Fields: []wire.Field{
			{Concept: "from", Name: "From", Text: m.From, Required: true, Reason: wire.CheckSender(m.From)},
			{Concept: "to", Name: "To", Text: m.To, Required: true, Reason: wire.CheckRecipient(m.To)},
			{Concept: "text", Name: "Text", Text: m.Text, Required: true},
			{Concept: "callback", Name: "CallbackURL", Text: m.CallbackURL, Reason: wire.CheckCallbackURL(m.CallbackURL)},
			{Concept: "reference", Name: "ReferenceID", Text: m.ReferenceID},
		},
		Extra:       m.Extra,
		ExtraField:  "Extra",
		ReferenceID: m.ReferenceID,
		Marketing:   m.Marketing,
	}
}

// SMSList describes the first page of a listing.
func SMSList(o sms.ListOptions) wire.Query {
	params, _ := query.Values(o) // texts and a number can always be written
	switch {
	case o.Descending:
		params.Set("order", "descending")
	case o.SortBy != "":
		params.Set("order", "ascending")
	}
	q := wire.Query{
		CreatedAfter:  o.CreatedAfter,
		CreatedBefore: o.CreatedBefore,
		Params:        params,
		Extra:         o.Extra,
		Problems:      checkSMSList(o),
	}
	if o.Page > 0 {
		q.At = wire.Position{Set: true, Number: o.Page}
	}
	return q
}

func checkSMSList(o sms.ListOptions) wire.Checks {
	var c wire.Checks
	c.Add("CreatedAfter", wire.CheckTime(o.CreatedAfter))
	c.Add("CreatedBefore", wire.CheckTime(o.CreatedBefore))
	if o.After != "" && o.Page > 0 {
		c.Add("Page", "must be 0 with After")
	}
	c.Add("Page", wire.CheckRange(o.Page, 1, 0))
	c.Add("PageSize", wire.CheckRange(o.PageSize, 1, 0))
	hasBounds := !o.CreatedAfter.IsZero() && !o.CreatedBefore.IsZero()
	if hasBounds && !o.CreatedAfter.Before(o.CreatedBefore) {
		c.Add("CreatedBefore", "must be later than CreatedAfter")
	}
	return c
}
