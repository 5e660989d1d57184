package sms

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"time"

	"github.com/google/go-querystring/query"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// ListOptions selects the transactions to list and their order. The zero value lists all, in the service's own order and page
// size; the specification does not say whether the service allows that.
//
// An option for which the contract has no parameter fails with a *messaging.ValidationError.
type ListOptions struct {
	// CreatedAfter and CreatedBefore bound Transaction.CreatedAt: at or after the one, and before the other, so that a day is
	// listed from its midnight to the next, and each row belongs to one day. The zero time is no bound. If both are set,
	// CreatedBefore must be later.
	//
	// Services differ in whether a bound itself is included. The library therefore asks for a little more, up to a day if the
	// contract has dates without a time of day, and drops the rows beyond the bounds. A row without a CreatedAt is kept.
	CreatedAfter  time.Time `url:"-"`
	CreatedBefore time.Time `url:"-"`
	// ID, ReferenceID, RequestID and CategoryID select exact matches.
	ID          string `url:"id,omitempty"`
	ReferenceID string `url:"reference,omitempty"`
	RequestID   string `url:"request,omitempty"`
	CategoryID  string `url:"category,omitempty"`
	// From and To select by sender and recipient.
	From string `url:"from,omitempty"`
	To   string `url:"to,omitempty"`
	// Status selects by status, in the service's words. The default contract has no parameter for it.
	Status string `url:"status,omitempty"`
	// After continues a listing after a page: it is the Next of that Page. All other options must be those of the listing that
	// is continued; only PageSize is checked.
	After string `url:"-"`
	// Page is the page to begin with, as the service counts; 0 is the first. Only for a contract that pages by number, and not
	// together with After.
	Page int `url:"-"`
	// PageSize is the number of rows on a page; 0 is the service's own size. Large pages are much faster.
	PageSize int `url:"pageSize,omitempty"`
	// SortBy is the column to sort by: ByCreated or another of these constants, of which the contract knows the column
	// (sms.list.sorts), or any other text, which is sent as it is. Descending reverses the order.
	SortBy     string `url:"sortBy,omitempty"`
	Descending bool   `url:"-"` // it is the order of SortBy
	// Extra holds parameters that this library does not know, by their wire names. A name that the contract uses is rejected.
	Extra url.Values `url:"-"`
}

// The columns of a listing, for ListOptions.SortBy. Which of them a service can sort by is up to the service.
const (
	ByID             = "id"
	ByRequestID      = "request"
	ByReferenceID    = "reference"
	ByCategoryID     = "category"
	ByFrom           = "from"
	ByTo             = "to"
	ByParts          = "parts"
	ByPrice          = "price"
	ByCreated        = "created"
	BySent           = "sent"
	BySendStatus     = "sendStatus"
	ByDeliveryStatus = "deliveryStatus"
	ByOperator       = "operator"
	ByCountry        = "country"
)

// Query describes the first page of a listing for package messaging, which requests it. It is not meant for other callers.
func (o ListOptions) Query() wire.Query {
	params, _ := query.Values(o) // texts and a number can always be written
	switch {
	case o.Descending:
		params.Set("order", "descending")
	case o.SortBy != "":
		params.Set("order", "ascending")
	}
	q := wire.Query{CreatedAfter: o.CreatedAfter, CreatedBefore: o.CreatedBefore, Params: params, Extra: o.Extra, Problems: o.problems()}
	if o.Page > 0 {
		q.At = wire.Position{Set: true, Number: o.Page}
	}
	return q
}

func (o ListOptions) problems() []wire.Problem {
	var c wire.Checks
	c.Found("CreatedAfter", wire.CheckTime(o.CreatedAfter))
	c.Found("CreatedBefore", wire.CheckTime(o.CreatedBefore))
	if o.After != "" && o.Page > 0 {
		c.Found("Page", "must be 0 beside After")
	}
	c.Found("Page", wire.CheckRange(o.Page, 1, 0))
	c.Found("PageSize", wire.CheckRange(o.PageSize, 1, 0))
	if !o.CreatedAfter.IsZero() && !o.CreatedBefore.IsZero() && !o.CreatedAfter.Before(o.CreatedBefore) {
		c.Found("CreatedBefore", "must be later than CreatedAfter")
	}
	return c
}

// Transaction is one SMS as the service lists it. A field that a row does not have is empty or zero.
type Transaction struct {
	// ID is the service's ID of the message.
	ID string `concept:"id"`
	// RequestID is the service's ID of the request that sent it.
	RequestID string `concept:"request"`
	// ReferenceID is the sender's own name for it.
	ReferenceID string `concept:"reference"`
	// CategoryID is the service's category.
	CategoryID string `concept:"category"`
	// From and To are sender and recipient.
	From string `concept:"from"`
	To   string `concept:"to"`
	// Text is the text that was sent.
	Text string `concept:"text"`
	// Parts is the number of SMS that the text was split into.
	Parts int `concept:"parts"`
	// Price is a decimal string, exactly as the service sent it, apart from the scale of the contract. It adds up
	// exactly as a *big.Rat of package math/big:
	//
	//	if price, ok := new(big.Rat).SetString(tx.Price); ok {
	//		total.Add(total, price)
	//	}
	Price string `concept:"price"`
	// Currency is the currency of the price, in the service's words, such as "EUR".
	Currency string `concept:"currency"`
	// CreatedAt is when the service took the message, SentAt when it went out.
	CreatedAt time.Time `concept:"created"`
	SentAt    time.Time `concept:"sent"`
	// SendStatus and DeliveryStatus are the service's words or numbers, as text.
	SendStatus     string `concept:"sendStatus"`
	DeliveryStatus string `concept:"deliveryStatus"`
	// Status is the meaning of DeliveryStatus, by the contract's words for delivery reports (webhook.delivery.statuses).
	Status Status
	// Operator and Country are the recipient's.
	Operator string `concept:"operator"`
	Country  string `concept:"country"`
	// Description explains the status.
	Description string `concept:"description"`
	// Extra holds, as JSON, the members of the row, and of objects in it, that fill no other field, because the contract does not name
	// them or prefers another name, or because they cannot be read. It is nil if there are none.
	Extra map[string]json.RawMessage
}

// LogValue logs the IDs, the statuses and the times. It leaves out sender, recipient, text, description and Extra.
func (t Transaction) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("id", t.ID),
		slog.String("request_id", t.RequestID),
		slog.String("reference_id", t.ReferenceID),
		slog.Time("created_at", t.CreatedAt),
		slog.String("send_status", t.SendStatus),
		slog.String("delivery_status", t.DeliveryStatus),
		slog.String("status", t.Status.String()),
	)
}

// Page is one page of a listing. A number that the response does not have is 0.
type Page struct {
	// Transactions are the rows of this page that were not on the page before it, and that List would yield.
	Transactions []Transaction
	// Total and TotalPages are the number of rows and pages of the whole listing.
	Total      int
	TotalPages int
	// Next is where the page after this one begins, for ListOptions.After, or "" after the last page. It is text that can be stored: the
	// service's own page number, offset or cursor, and the ID of the last row, so that rows which move to the next page meanwhile do
	// not come twice. A cursor may hold what the query holds.
	Next string
}
