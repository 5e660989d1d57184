package chatapp2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OrderDetails asks the recipient to review and pay an order, in Brazil, India and Singapore. The Interactive takes an Image or
// no header. It is also the content of an OrderDetailsButton of a template.
//
// ReferenceID is the sender's own name for the order. PaymentType says how it is paid, such as "br" or "upi", and PaymentConfiguration
// names a configuration on the platform. In India, ShippingInfo offers addresses to ship to, and Beneficiaries receive physical goods;
// they are not shown.
type OrderDetails struct {
	ReferenceID          string    `at:"reference_id,required,max=60,reference"`
	Type                 GoodsType `at:"type,required,oneof=digital-goods|physical-goods"`
	PaymentType          string    `at:"payment_type"`
	PaymentConfiguration string    `at:"payment_configuration"`
	// PaymentSettings is a JSON array whose shape differs by country.
	PaymentSettings json.RawMessage `at:"payment_settings"`
	Currency        string          `at:"currency,required,currency"`
	// Total is Subtotal, Tax and Shipping of the order, less its Discount.
	Total         OrderAmount   `at:"total_amount,present"`
	ShippingInfo  ShippingInfo  `at:"shipping_info"`
	Beneficiaries []Beneficiary `at:"beneficiaries"`
	Order         Order         `at:"order"`
}

// GoodsType is the kind of goods in an order.
type GoodsType string

// The kinds of goods.
const (
	DigitalGoods  GoodsType = "digital-goods"
	PhysicalGoods GoodsType = "physical-goods"
)

// Order is the order of OrderDetails. Status is OrderPending. Items has at least one item, at most 10 if one has an image, and Subtotal is
// their sum. Tax is required and
// may have the value zero; Shipping and Discount are optional. The order cannot be paid after its Expiration.
type Order struct {
	Status     OrderState      `at:"status,required,oneof=pending"`
	Type       OrderType       `at:"type,oneof=quick_pay"`
	CatalogID  string          `at:"catalog_id"`
	Items      []OrderItem     `at:"items"`
	Subtotal   OrderAmount     `at:"subtotal,present"`
	Tax        OrderAmount     `at:"tax,present"`
	Shipping   OrderAmount     `at:"shipping"`
	Discount   OrderAmount     `at:"discount"`
	Expiration OrderExpiration `at:"expiration"`
}

// OrderType says how an order is shown.
type OrderType string

// OrderQuickPay shows only the button to pay, not the one to review the order.
const OrderQuickPay OrderType = "quick_pay"

// OrderItem is an item of an Order. RetailerID is the sender's own ID of the item. Amount, and the reduced SaleAmount, are the
// price of one. Quantity is at least 1. The origin and the importer describe an item that is in no catalog, in India.
type OrderItem struct {
	RetailerID      string          `at:"retailer_id"`
	Name            string          `at:"name,required,max=60"`
	Image           ItemImage       `at:"image"`
	Amount          OrderAmount     `at:"amount,present"`
	SaleAmount      OrderAmount     `at:"sale_amount"`
	Quantity        int64           `at:"quantity"`
	CountryOfOrigin string          `at:"country_of_origin"`
	ImporterName    string          `at:"importer_name"`
	ImporterAddress ImporterAddress `at:"importer_address"`
}

// ItemImage is the image of an OrderItem: an http or https URL.
type ItemImage struct {
	Link string `at:"link,url"`
}

// ImporterAddress is the address of an importer.
type ImporterAddress struct {
	AddressLine1 string `at:"address_line1"`
	AddressLine2 string `at:"address_line2"`
	City         string `at:"city"`
	ZoneCode     string `at:"zone_code"`
	PostalCode   string `at:"postal_code"`
	CountryCode  string `at:"country_code"`
}

// ShippingInfo holds addresses that the recipient can choose from. Country is "IN".
type ShippingInfo struct {
	Country   string    `at:"country"`
	Addresses []Address `at:"addresses"`
}

// Beneficiary is who receives physical goods.
type Beneficiary struct {
	Name         string `at:"name,max=200"`
	AddressLine1 string `at:"address_line1,max=100"`
	AddressLine2 string `at:"address_line2,max=100"`
	City         string `at:"city"`
	State        string `at:"state"`
	Country      string `at:"country"`
	PostalCode   string `at:"postal_code"`
}

// OrderAmount is an amount of money: Value divided by Offset, in the currency of the order. 12.34 is a Value of 1234 with an
// Offset of 100. Offset is a power of ten: 100 for BRL and INR. The description says what tax, shipping or a discount is for.
// The zero OrderAmount is absent.
type OrderAmount struct {
	Value               int64  `at:"value!"`
	Offset              int64  `at:"offset"`
	Description         string `at:"description,max=60"`
	DiscountProgramName string `at:"discount_program_name,max=60"`
}

// OrderExpiration says until when an Order can be paid, to the second. The description is shown.
type OrderExpiration struct {
	At          time.Time `at:"timestamp,text"`
	Description string    `at:"description,max=120"`
}

func (o OrderDetails) check(c *checks) {
	if o.PaymentSettings != nil {
		settings, ok := c.JSON("PaymentSettings", o.PaymentSettings)
		if _, isList := settings.([]any); ok && !isList {
			c.Found("PaymentSettings", "want a JSON array")
		}
	}
	o.Total.checkOffset(c, "Total", o.Currency)
	o.Order.Subtotal.checkOffset(c, "Order.Subtotal", o.Currency)
	o.Order.Tax.checkOffset(c, "Order.Tax", o.Currency)
	o.Order.Shipping.checkOffset(c, "Order.Shipping", o.Currency)
	o.Order.Discount.checkOffset(c, "Order.Discount", o.Currency)
	items := o.Order.Items
	if len(items) == 0 {
		c.Found("Order.Items", "want at least one item, got none")
	}
	if len(items) > 10 && slices.ContainsFunc(items, func(item OrderItem) bool { return item.Image != (ItemImage{}) }) {
		c.Limit("Order.Items", fmt.Sprintf("want at most 10 items if one has an image, got %d", len(items)))
	}
	for i, item := range items {
		own := fmt.Sprintf("Order.Items[%d]", i)
		item.Amount.checkOffset(c, own+".Amount", o.Currency)
		item.SaleAmount.checkOffset(c, own+".SaleAmount", o.Currency)
		if item.Quantity < 1 {
			c.Found(own+".Quantity", "want 1 or more")
		}
	}
	if sum, ok := o.Order.sum(o.Total.Offset); ok && o.Total.Value >= 0 && o.Total.Value != sum {
		c.Limit("Total", "want the sum of Subtotal, Tax and Shipping, less Discount")
	}
}

func (a OrderAmount) check(c *checks) {
	if a.Value < 0 {
		c.Found("Value", "must not be negative")
	}
	if a.Offset < 1 && a != (OrderAmount{}) {
		c.Found("Offset", "want a power of ten, such as 100")
	}
}

func (a OrderAmount) checkOffset(c *checks, name, currency string) {
	switch {
	case a.Offset < 1:
	case (currency == "BRL" || currency == "INR") && a.Offset != 100:
		c.Limit(name+".Offset", "want 100 for "+currency)
	case strings.TrimRight(strconv.FormatInt(a.Offset, 10), "0") != "1":
		c.Limit(name+".Offset", "want a power of ten, such as 100")
	}
}

// sum returns what the order costs. It is not ok if an amount is not as it must be, or has another offset.
func (o Order) sum(offset int64) (sum int64, ok bool) {
	ok = o.Subtotal.Offset == offset && o.Tax.Offset == offset && offset > 0
	for _, amount := range []OrderAmount{o.Subtotal, o.Tax, o.Shipping, o.Discount} {
		ok = ok && amount.Value >= 0 && (amount.Offset == offset || amount == OrderAmount{})
	}
	return o.Subtotal.Value + o.Tax.Value + o.Shipping.Value - o.Discount.Value, ok
}

func (s OrderStatus) check(c *checks) { c.Field("Status", string(s.Status), orderStates) }

func (e OrderExpiration) check(c *checks) {
	if e != (OrderExpiration{}) && e.At.Unix() <= 0 {
		c.Found("At", "required, but absent or before 1970")
	}
}

// OrderStatus informs the recipient about the progress of an order. ReferenceID is the one of its OrderDetails. The Interactive takes
// any header.
type OrderStatus struct {
	ReferenceID string       `at:"reference_id,required,max=60,reference"`
	Status      OrderState   `at:"order.status,required"`
	Description string       `at:"order.description,max=120"`
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

	orderStates = "oneof=pending|processing|partially-shipped|partially_shipped|shipped|completed|canceled"
)

// OrderPayment is the progress of a payment, and the time it was reached, to the second. Status is any word of the platform's,
// such as "captured".
type OrderPayment struct {
	Status string    `at:"status"`
	At     time.Time `at:"timestamp"`
}
