package chatapp2

import (
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// OrderStatus informs the recipient about the progress of an order. ReferenceID is the one of its OrderDetails. The Interactive takes
// any header.
type OrderStatus struct {
	ReferenceID string     `rule:"required,max=60,reference"`
	Status      OrderState `rule:"required,oneof=pending|processing|partially-shipped|partially_shipped|shipped|completed|canceled"`
	Description string     `rule:"max=120"`
	Payment     OrderPayment
}

// OrderState is the progress of an order.
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

// OrderPayment is the progress of a payment, and the time it was reached, to the second. Status is any word of the platform's,
// such as "captured".
type OrderPayment struct {
	Status string
	At     time.Time
}

// orderPaymentJSON is an OrderPayment in the platform's shape.
type orderPaymentJSON struct {
	Status    string `json:"status,omitzero"`
	Timestamp int64  `json:"timestamp,omitzero"`
}

// MarshalJSON encodes the payment in the platform's shape.
func (p OrderPayment) MarshalJSON() ([]byte, error) {
	return wire.Encode(orderPaymentJSON{p.Status, unix(p.At, time.Time.Unix)})
}

func (p *OrderPayment) read(value any) fit {
	b, f := readAs[orderPaymentJSON](value)
	*p = OrderPayment{b.Status, fromUnix(b.Timestamp, fromSeconds)}
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

func (o *OrderStatus) read(value any) fit {
	b, f := readAs[orderStatusJSON](value)
	*o = OrderStatus{b.ReferenceID, b.Order.Status, b.Order.Description, b.Payment}
	return f
}
