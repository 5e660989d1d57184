package chatapp2

import (
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// OrderStatus informs the recipient about the progress of an order that OrderDetails began. The Interactive takes any header.
type OrderStatus struct {
	// ReferenceID is the one of the OrderDetails. Required.
	ReferenceID string `rule:"required,max=60,reference"`
	// Status is how far the order is. Required.
	Status OrderState `rule:"required,oneof=pending|processing|partially-shipped|partially_shipped|shipped|completed|canceled"`
	// Description is at most 120 characters. Optional.
	Description string `rule:"max=120"`
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

func (o OrderStatus) shape() any {
	return orderStatusJSON{o.ReferenceID, orderStateJSON{o.Status, o.Description}, o.Payment}
}

// MarshalJSON encodes the status in the platform's shape.
func (o OrderStatus) MarshalJSON() ([]byte, error) { return wire.Encode(o.shape()) }

func (o *OrderStatus) read(value any) fit {
	b, f := readAs[orderStatusJSON](value)
	*o = OrderStatus{b.ReferenceID, b.Order.Status, b.Order.Description, b.Payment}
	return f
}
