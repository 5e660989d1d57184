package chatapp2

import (
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// OrderStatus informs the recipient about the progress of an order that OrderDetails began. The Interactive takes any header.
type OrderStatus struct {
	// ReferenceID is the one of the OrderDetails. Required.
	ReferenceID string
	// Status is how far the order is. Required.
	Status OrderState
	// Description is at most 120 characters. Optional.
	Description string
	// Payment is how far the payment is. Optional.
	Payment OrderPayment
}

// OrderState says how far an order is.
type OrderState string

// The states of an order.
const (
	OrderPending          OrderState = "pending"
	OrderProcessing       OrderState = "processing"
	OrderPartiallyShipped OrderState = "partially-shipped" // the platform also writes "partially_shipped"
	OrderShipped          OrderState = "shipped"
	OrderCompleted        OrderState = "completed"
	OrderCanceled         OrderState = "canceled"
)

// OrderPayment says how far a payment is.
type OrderPayment struct {
	// Status is the platform's word, such as "captured". Any is accepted.
	Status string
	// At is when the payment reached it, to the second.
	At time.Time
}

// orderPaymentJSON is an OrderPayment in the platform's shape.
type orderPaymentJSON struct {
	Status    string `json:"status,omitzero"`
	Timestamp int64  `json:"timestamp,omitzero"`
}

// MarshalJSON encodes the payment in the platform's shape.
func (p OrderPayment) MarshalJSON() ([]byte, error) {
	return wire.Encode(orderPaymentJSON{p.Status, unixSeconds(p.At)})
}

func (p *OrderPayment) read(value any) fit {
	b, f := readAs[orderPaymentJSON](value)
	*p = OrderPayment{b.Status, fromUnix(b.Timestamp)}
	return f
}

// orderStatusJSON is an OrderStatus in the platform's shape.
type orderStatusJSON struct {
	ReferenceID string         `json:"reference_id,omitzero"`
	Order       orderStateJSON `json:"order,omitzero"`
	Payment     OrderPayment   `json:"payment,omitzero"`
}

type orderStateJSON struct {
	Status      OrderState `json:"status,omitzero"`
	Description string     `json:"description,omitzero"`
}

func (b orderStatusJSON) typed() OrderStatus {
	return OrderStatus{b.ReferenceID, b.Order.Status, b.Order.Description, b.Payment}
}

func (OrderStatus) actionType() string { return actionOrderStatus }

func (o OrderStatus) json() orderStatusJSON {
	return orderStatusJSON{o.ReferenceID, orderStateJSON{o.Status, o.Description}, o.Payment}
}

func (o OrderStatus) action() any { return named[orderStatusJSON]{nameOrderStatus, o.json()} }

func (OrderStatus) needs() needs { return needs{} }

func (o OrderStatus) check(c *checks, path string) {
	checkOrderReference(c, path+".ReferenceID", o.ReferenceID)
	c.required(path+".Status", string(o.Status), 0)
	oneOf(
		c, path+".Status", o.Status,
		OrderPending, OrderProcessing, OrderPartiallyShipped, "partially_shipped", OrderShipped, OrderCompleted, OrderCanceled,
	)
	c.length(path+".Description", o.Description, 120)
}

func checkOrderReference(c *checks, path, reference string) {
	c.required(path, reference, 60)
	c.alphabet(path, reference, "letters, digits, underscores, dots and hyphens", func(r rune) bool {
		return isAlphanumeric(r) || r == '_' || r == '.' || r == '-'
	})
}
