package chatapp2

import "time"

// OrderStatus informs the recipient about the progress of an order. ReferenceID is the one of its OrderDetails. The Interactive takes
// any header.
type OrderStatus struct {
	ReferenceID string       `at:"reference_id" rule:"required,max=60,reference"`
	Status      OrderState   `at:"order.status" rule:"required,orderstate"`
	Description string       `at:"order.description" rule:"max=120"`
	Payment     OrderPayment `at:"payment"`
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

	orderStates = "pending|processing|partially-shipped|partially_shipped|shipped|completed|canceled"
)

// OrderPayment is the progress of a payment, and the time it was reached, to the second. Status is any word of the platform's,
// such as "captured".
type OrderPayment struct {
	Status string    `at:"status"`
	At     time.Time `at:"timestamp"`
}
