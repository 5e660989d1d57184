package sms

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// ListOptions selects the transactions to list and their order. The zero value lists all, in the service's own order and page
// size; the specification does not say whether the service allows that.
//
// An option for which the contract has no parameter fails with a *messaging.ValidationError.
type ListOptions struct {
	// CreatedAfter and CreatedBefore bound Transaction.CreatedAt. A row at CreatedAfter is listed and a row at CreatedBefore is not, so
	// that consecutive ranges do not overlap. The zero time means no bound. If both are set, CreatedBefore must be later.
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
	// After continues a listing after a page: it is the Next of that Page. It is "" for a listing from the beginning. The section sms.list of the
	// contract, and all other options but Page, must be the same as in that listing. If they are not, the listing fails with a
	// *messaging.ValidationError that names them, before its first request. A position of an earlier version is checked for its PageSize alone.
	// One in 256 other values of To is not noticed, because the position must not tell a phone number.
	After string `url:"-"`
	// Page is the page to begin with, as the service counts; 0 is the first. It requires a contract that pages by number, and excludes
	// After.
	Page int `url:"-"`
	// PageSize is the number of rows on a page; 0 is the service's own size. Large pages are much faster.
	PageSize int `url:"pageSize,omitempty"`
	// SortBy is the column to sort by: ByCreated or another constant, a key of sms.list.sorts in the contract such as "operator", or any
	// other text, which is sent as it is. Descending reverses the order. An order is sent with SortBy or Descending, and not without either. If the
	// contract has no parameter for it (sms.list.params.order), Descending is invalid, and SortBy alone leaves the order to the service.
	SortBy     string `url:"sortBy,omitempty"`
	Descending bool   `url:"-"`
	// Extra holds parameters that this library does not know, by their wire names. A name that the contract uses is rejected.
	Extra url.Values `url:"-"`
}

// Columns for ListOptions.SortBy. The service decides which columns it can sort by. The contract has more (sms.list.sorts).
const (
	ByCreated        = "created"
	BySent           = "sent"
	ByPrice          = "price"
	ByDeliveryStatus = "deliveryStatus"
)

// Transaction is one SMS in the service's list. A field that its row does not have is empty or zero. If the row names a field in a way that the
// contract does not know, the field is empty or zero too: its value is in Extra, and the command "messaging check" reports it. The method Verdict
// of messaging.SMSService says whether the message was accepted, and Status says what became of it.
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
	// Price is a decimal string, with the digits that the service sent, except that the scale of the contract is applied. A currency in the same
	// text is in Currency. Add prices as *big.Rat of package math/big, which is exact:
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
	// Status is the meaning of DeliveryStatus, by the contract's words for delivery reports (webhook.delivery.statuses). It is
	// contract.StatusUnknown if the row has no delivery status, or one that the contract does not know.
	Status contract.Status
	// Operator and Country are the recipient's.
	Operator string `concept:"operator"`
	Country  string `concept:"country"`
	// Description explains the status.
	Description string `concept:"description"`
	// ErrorCode is the code or the text of an error in the row. It is empty if a delivery status shows that the service took the message. A
	// code at a place of the contract (errors.code) counts if the contract has a class for it, or if it is within an object that reports an
	// error. An error under a usual name, such as errorCode or errors, always counts. It does not say whether the message was sent. Extra has the
	// same member.
	ErrorCode string
	// ReadError is the error of a row that could not be read in full, and nil for all others. It names a field that could not be
	// read and matches messaging.ErrUnreadableRow. A value that could not be read is in Extra.
	ReadError error
	// Extra holds, as JSON, the members of the row and of its objects that fill no field above: the contract does not name them or prefers
	// another name, or they cannot be read. It is nil if there are none.
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
	// Omitted is the number of rows in the response that are not in Transactions because the options, or the contract (sms.list.only), do not ask
	// for them. There may be some at the bounds of time, because Pages asks for a little more; see CreatedAfter of ListOptions.
	Omitted int
	// Total and TotalPages are the number of rows and pages of the whole listing, with omitted rows.
	Total      int
	TotalPages int
	// Next is the position after this page, for ListOptions.After. It is "" after the last page, even if the listing then ends with an error. It
	// can be stored as text. It holds the service's page number, offset or cursor, and the ID of the last row, so that rows that move to the next
	// page in the meantime are not listed twice. A cursor may repeat values of the query. Next also holds a short hash of each option, so that it is
	// refused with other options.
	Next string
}
