package chatapp2

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// OrderDetails asks the recipient to review and pay an order, in Brazil, India and Singapore. The Interactive takes an Image or
// no header. It is also what an OrderDetailsButton of a template holds.
type OrderDetails struct {
	// ReferenceID is the sender's own name for the order, at most 60 letters, digits, underscores, dots and hyphens. Required.
	ReferenceID string `json:"reference_id,omitzero"`
	// Type is "digital-goods" or "physical-goods". Required.
	Type string `json:"type,omitzero"`
	// PaymentType is how it is paid, such as "br" or "upi", by the country.
	PaymentType string `json:"payment_type,omitzero"`
	// PaymentConfiguration names a configuration of the account on the platform.
	PaymentConfiguration string `json:"payment_configuration,omitzero"`
	// PaymentSettings is a JSON array whose shape differs by country. Optional.
	PaymentSettings json.RawMessage `json:"payment_settings,omitzero"`
	// Currency is an ISO 4217 code, such as "INR". Required.
	Currency string `json:"currency,omitzero"`
	// Total is what is to be paid. Required.
	Total *OrderAmount `json:"total_amount,omitzero"`
	// Order is what is bought. Required.
	Order Order `json:"order,omitzero"`
}

// Order is what OrderDetails is about.
type Order struct {
	// Status is "pending". Required.
	Status string `json:"status,omitzero"`
	// Items is at least one item.
	Items []OrderItem `json:"items,omitzero"`
	// Subtotal is the sum of the items. Required.
	Subtotal *OrderAmount `json:"subtotal,omitzero"`
	// Tax is required, and may be zero.
	Tax *OrderAmount `json:"tax,omitzero"`
	// Shipping and Discount are optional.
	Shipping *OrderAmount `json:"shipping,omitzero"`
	Discount *OrderAmount `json:"discount,omitzero"`
	// Expiration is until when the order can be paid. Optional.
	Expiration *OrderExpiration `json:"expiration,omitzero"`
}

// OrderItem is an item of an Order.
type OrderItem struct {
	// RetailerID is the item's ID with the sender.
	RetailerID string `json:"retailer_id,omitzero"`
	// Name is shown. Required.
	Name string `json:"name,omitzero"`
	// Amount is the price of one. Required.
	Amount *OrderAmount `json:"amount,omitzero"`
	// SaleAmount is the reduced price of one. Optional.
	SaleAmount *OrderAmount `json:"sale_amount,omitzero"`
	// Quantity is how many, 1 or more. Required.
	Quantity int64 `json:"quantity,omitzero"`
}

// OrderAmount is an amount of money: Value divided by Offset, in the currency of the order. 12.34 is 1234 by 100.
type OrderAmount struct {
	// Value is a whole number, which may be zero.
	Value int64
	// Offset is a power of ten, such as 100. Required.
	Offset int64
	// Description says what the amount is for, where it is tax, shipping or a discount. Optional.
	Description string
	// DiscountProgramName names the programme of a discount. Optional.
	DiscountProgramName string

	noValue bool // a body that was read lacked it
}

// OrderExpiration is until when an Order can be paid.
type OrderExpiration struct {
	// Timestamp is in seconds since 1970, UTC. Required.
	Timestamp int64 `json:"timestamp,omitzero,string"`
	// Description is shown. Optional.
	Description string `json:"description,omitzero"`
}

// OrderStatus tells the recipient how an order goes on that OrderDetails began. The Interactive takes any header.
type OrderStatus struct {
	// ReferenceID is that of the OrderDetails. Required.
	ReferenceID string
	// Status is one of "pending", "processing", "partially-shipped", "shipped", "completed" and "canceled". Required.
	Status string
	// Description is at most 120 characters. Optional.
	Description string
	// Payment is how the payment stands. Optional.
	Payment *OrderPayment
}

// OrderPayment is how a payment stands.
type OrderPayment struct {
	// Status is the platform's word; none is refused.
	Status string `json:"status,omitzero"`
	// Timestamp is in seconds since 1970, UTC.
	Timestamp int64 `json:"timestamp,omitzero"`
}

type amountBody struct {
	Value               *int64 `json:"value,omitzero"`
	Offset              int64  `json:"offset,omitzero"`
	Description         string `json:"description,omitzero"`
	DiscountProgramName string `json:"discount_program_name,omitzero"`
}

// MarshalJSON encodes the amount in the platform's shape.
func (a OrderAmount) MarshalJSON() ([]byte, error) {
	b := amountBody{Offset: a.Offset, Description: a.Description, DiscountProgramName: a.DiscountProgramName}
	if !a.noValue {
		b.Value = &a.Value
	}
	return wire.Encode(b)
}

// fillFrom is called by fill.
func (a *OrderAmount) fillFrom(value any) bool {
	var b amountBody
	if !fill(value, &b) {
		return false
	}
	*a = OrderAmount{Offset: b.Offset, Description: b.Description, DiscountProgramName: b.DiscountProgramName, noValue: b.Value == nil}
	if b.Value != nil {
		a.Value = *b.Value
	}
	return true
}

type orderStatusBody struct {
	ReferenceID string         `json:"reference_id,omitzero"`
	Order       orderStateBody `json:"order,omitzero"`
	Payment     *OrderPayment  `json:"payment,omitzero"`
}

type orderStateBody struct {
	Status      string `json:"status,omitzero"`
	Description string `json:"description,omitzero"`
}

func (OrderDetails) interactive() (string, needs) {
	return actionOrderDetails, needs{header: headerImage}
}

func (o OrderDetails) action() any { return namedAction{Name: "review_and_pay", Parameters: o} }

func (o OrderDetails) check(c *checks, path string) {
	checkOrderReference(c, path+".ReferenceID", o.ReferenceID)
	c.required(path+".Type", o.Type, 0)
	c.oneOf(path+".Type", o.Type, "digital-goods", "physical-goods")
	c.text(path+".PaymentType", o.PaymentType, 0)
	c.text(path+".PaymentConfiguration", o.PaymentConfiguration, 0)
	if settings := bytes.TrimSpace(o.PaymentSettings); o.PaymentSettings != nil && len(settings) > 0 && settings[0] != '[' {
		c.found(path+".PaymentSettings", "want a JSON array")
	} else if o.PaymentSettings != nil {
		checkRaw(c, path+".PaymentSettings", o.PaymentSettings)
	}
	c.required(path+".Currency", o.Currency, 0)
	checkCurrency(c, path+".Currency", o.Currency)
	o.Total.check(c, path+".Total", true)
	order := path + ".Order"
	c.required(order+".Status", o.Order.Status, 0)
	c.oneOf(order+".Status", o.Order.Status, "pending")
	if len(o.Order.Items) == 0 {
		c.found(order+".Items", "want at least one item, got none")
	}
	for i, item := range o.Order.Items {
		own := at(order+".Items", i)
		c.text(own+".RetailerID", item.RetailerID, 0)
		c.required(own+".Name", item.Name, 0)
		item.Amount.check(c, own+".Amount", true)
		item.SaleAmount.check(c, own+".SaleAmount", false)
		if item.Quantity < 1 {
			c.found(own+".Quantity", "want 1 or more")
		}
	}
	o.Order.Subtotal.check(c, order+".Subtotal", true)
	o.Order.Tax.check(c, order+".Tax", true)
	o.Order.Shipping.check(c, order+".Shipping", false)
	o.Order.Discount.check(c, order+".Discount", false)
	if e := o.Order.Expiration; e != nil {
		if e.Timestamp <= 0 {
			c.found(order+".Expiration.Timestamp", "required, but absent; want seconds since 1970")
		}
		c.text(order+".Expiration.Description", e.Description, 0)
	}
}

func (a *OrderAmount) check(c *checks, path string, required bool) {
	switch {
	case a == nil && required:
		c.found(path, "required, but nil")
		return
	case a == nil:
		return
	case a.noValue:
		c.found(path+".Value", "required, but absent")
	case a.Value < 0:
		c.found(path+".Value", "must not be negative")
	}
	switch {
	case a.Offset < 1:
		c.found(path+".Offset", "want a power of ten, such as 100")
	case strings.Trim(strconv.FormatInt(a.Offset, 10)[1:], "0") != "" || strconv.FormatInt(a.Offset, 10)[0] != '1':
		c.limit(path+".Offset", "want a power of ten, such as 100")
	}
	c.text(path+".Description", a.Description, 0)
	c.text(path+".DiscountProgramName", a.DiscountProgramName, 0)
}

func (OrderStatus) interactive() (string, needs) { return actionOrderStatus, needs{} }

func (o OrderStatus) body() orderStatusBody {
	return orderStatusBody{o.ReferenceID, orderStateBody{o.Status, o.Description}, o.Payment}
}

func (o OrderStatus) action() any { return namedAction{Name: "review_order", Parameters: o.body()} }

func readOrderStatus(m *members) OrderStatus {
	var b orderStatusBody
	m.is("name", "review_order")
	m.into("parameters", &b)
	return OrderStatus{b.ReferenceID, b.Order.Status, b.Order.Description, b.Payment}
}

func (o OrderStatus) check(c *checks, path string) {
	checkOrderReference(c, path+".ReferenceID", o.ReferenceID)
	checkOrderState(c, path, o.Status, o.Description)
	if o.Payment != nil {
		c.text(path+".Payment.Status", o.Payment.Status, 0)
	}
}

func checkOrderState(c *checks, path, status, description string) {
	c.required(path+".Status", status, 0)
	c.oneOf(path+".Status", status, "pending", "processing", "partially-shipped", "shipped", "completed", "canceled")
	c.text(path+".Description", description, 120)
}

func checkOrderReference(c *checks, path, reference string) {
	c.required(path, reference, 60)
	if !isAlphanumeric(strings.NewReplacer("_", "0", ".", "0", "-", "0").Replace(reference)) && reference != "" {
		c.limit(path, "want letters, digits, underscores, dots and hyphens alone")
	}
}

// checkCurrency checks a currency that is there.
func checkCurrency(c *checks, path, code string) {
	if code != "" && (len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		c.limit(path, "want an ISO 4217 code of three capital letters")
	}
}
