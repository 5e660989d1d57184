package chatapp2

import (
	"encoding/json"
	"time"
)

// validInteractive is an interactive message with what every action takes.
func validInteractive(action Action) Interactive {
	return Interactive{Body: "Please choose", Action: action}
}

// withHeader is the same with a header.
func validWithHeader(header Header, action Action) Interactive {
	i := validInteractive(action)
	i.Header = header
	return i
}

func validButtons() ReplyButtons { return ReplyButtons{{ID: "yes", Title: "Yes"}} }

func validImage() Image { return Image{Media: Media{Link: "https://shop.example.com/a.png"}} }

func goldenHeaders() []golden {
	link := Media{Link: "https://shop.example.com/head.bin"}
	uploaded := Media{ID: "1013859600285441"}
	with := func(header Header) Message { return goldenTo(validWithHeader(header, validButtons())) }
	return []golden{
		{"header/text_minimal", with(HeaderText{Text: "Order 17"})},
		{"header/text_complete", with(HeaderText{Text: "Order 17", SubText: "of 3 October"})},
		{"header/image_link", with(Image{Media: link})},
		{"header/image_id", with(Image{Media: uploaded})},
		{"header/video_link", with(Video{Media: link})},
		{"header/video_id", with(Video{Media: uploaded})},
		{"header/document_minimal", with(Document{Media: link})},
		{"header/document_complete", with(Document{Media: uploaded, FileName: "invoice-17.pdf"})},
	}
}

func goldenActions() []golden {
	does := func(action Action) Message { return goldenTo(validInteractive(action)) }
	return []golden{
		{"action/reply_buttons_minimal", does(validButtons())},
		{"action/reply_buttons_complete", does(ReplyButtons{{ID: "yes", Title: "Yes"}, {ID: "no", Title: "No"}, {ID: "17/later", Title: "Later"}})},

		{"action/list_minimal", does(List{Button: "Times", Sections: []Section{{Rows: []Row{{ID: "9", Title: "At nine"}}}}})},
		{"action/list_complete", goldenTo(Interactive{
			Header: HeaderText{Text: "Delivery"}, Body: "When shall we come?", Footer: "All times are local",
			Action: List{Button: "Times", Sections: []Section{
				{Title: "Today", Rows: []Row{{ID: "d1-9", Title: "At nine", Description: "Before noon"}, {ID: "d1-15", Title: "At three"}}},
				{Title: "Tomorrow", Rows: []Row{{ID: "d2-9", Title: "At nine"}}},
			}},
		})},

		{"action/cta_url_minimal", does(CTAURL{DisplayText: "Track", URL: "https://shop.example.com/17"})},
		{"action/cta_url_complete", goldenTo(validWithHeader(validImage(), CTAURL{
			DisplayText: "Pay", URL: "https://shop.example.com/pay/17?of=100%25", PaymentLinkPreview: true,
		}))},

		{"action/location_request", does(LocationRequest{})},
		{"action/contact_request", does(ContactRequest{})},
		{"action/call_permission_request", does(CallPermissionRequest{})},
		{"action/call_permission_request_minimal", goldenTo(Interactive{Action: CallPermissionRequest{}})},

		{"action/flow_minimal", does(Flow{ID: "1413", CTA: "Book"})},
		{"action/flow_name", does(Flow{Name: "booking", CTA: "Book"})},
		{"action/flow_complete", does(Flow{
			Version: "3", ID: "1413", CTA: "Book", Mode: "draft", Token: "booking-17", Action: "data_exchange", Screen: "DATES",
			Data: map[string]any{"first": "2026-10-03", "places": 4},
		})},
		{"action/flow_screen", does(Flow{ID: "1413", CTA: "Book", Mode: "published", Action: "navigate", Screen: "DATES"})},
		{"action/flow_data_as_text", does(Flow{ID: "1413", CTA: "Book", Screen: "DATES", Data: `{"places": 4}`})},

		{"action/product_minimal", goldenTo(Interactive{Action: Product{CatalogID: "8", ProductRetailerID: "sku-17"}})},
		{"action/product_complete", goldenTo(Interactive{Body: "Back in stock", Footer: "The shop", Action: Product{CatalogID: "8", ProductRetailerID: "sku-17"}})},
		{"action/product_list_minimal", goldenTo(validWithHeader(HeaderText{Text: "Tables"}, ProductList{
			CatalogID: "8", Sections: []ProductSection{{Products: []ProductItem{{ProductRetailerID: "sku-17"}}}},
		}))},
		{"action/product_list_complete", goldenTo(Interactive{
			Header: HeaderText{Text: "Furniture"}, Body: "What others bought", Footer: "The shop",
			Action: ProductList{CatalogID: "8", Sections: []ProductSection{
				{Title: "Tables", Products: []ProductItem{{ProductRetailerID: "sku-17"}, {ProductRetailerID: "sku-18"}}},
				{Title: "Chairs", Products: []ProductItem{{ProductRetailerID: "sku-21"}}},
			}},
		})},
		{"action/catalog_message_complete", does(CatalogMessage{ThumbnailProductRetailerID: "sku-17"})},

		{"action/address_message_minimal", does(AddressMessage{Country: "IN"})},
		{"action/address_message_complete", does(goldenAddressMessage())},

		{"action/voice_call_complete", does(VoiceCall{DisplayText: "Call us", TTL: 90 * time.Minute, Payload: "order-17"})},

		{"action/order_details_minimal", does(validOrder())},
		{"action/order_details_complete", goldenTo(validWithHeader(validImage(), goldenOrderComplete()))},
		{"action/order_status_minimal", does(OrderStatus{ReferenceID: "order-17", Status: "shipped"})},
		{"action/order_status_complete", does(OrderStatus{
			ReferenceID: "order-17", Status: "partially-shipped", Description: "The chairs follow",
			Payment: OrderPayment{Status: "captured", At: time.Unix(1790000000, 0).UTC()},
		})},

		{"action/carousel_minimal", does(Carousel{Cards: []Card{
			{Header: validImage(), Action: CTAURL{DisplayText: "See", URL: "https://shop.example.com/1"}},
			{Header: validImage(), Action: CTAURL{DisplayText: "See", URL: "https://shop.example.com/2"}},
		}})},

		{"action/raw_minimal", does(RawAction{Type: "poll", JSON: json.RawMessage(`{"name": "poll"}`)})},
		{"action/raw_complete", goldenTo(Interactive{
			Header: HeaderText{Text: "Tea"}, Body: "Tea?", Footer: "One answer",
			Action: RawAction{Type: "poll", JSON: json.RawMessage(`{"name": "poll", "parameters": {"options": ["yes", "no"], "limit": 1.50}}`)},
		})},
	}
}

func goldenAddressMessage() AddressMessage {
	return AddressMessage{
		Country: "IN",
		Values: Address{
			Name: "Asha", PhoneNumber: "+911234567890", PINCode: "400063", HouseNumber: "12", FloorNumber: "8", TowerNumber: "2",
			BuildingName: "Hill View", Address: "Wing A", LandmarkArea: "Near the park", City: "Mumbai", State: "Maharashtra",
		},
		ValidationErrors: map[string]string{"in_pin_code": "We do not deliver there"},
		SavedAddresses:   []SavedAddress{{ID: "home", Value: Address{City: "Pune", PINCode: "411001"}}, {ID: "work", Value: Address{City: "Mumbai"}}},
	}
}

// validOrder has what an order cannot be without.
func validOrder() OrderDetails {
	return OrderDetails{
		ReferenceID: "order-17", Type: "physical-goods", Currency: "INR", Total: OrderAmount{Value: 15050, Offset: 100},
		Order: Order{
			Status:   "pending",
			Items:    []OrderItem{{Name: "Table", Amount: OrderAmount{Value: 15050, Offset: 100}, Quantity: 1}},
			Subtotal: OrderAmount{Value: 15050, Offset: 100}, Tax: OrderAmount{Value: 0, Offset: 100},
		},
	}
}

func goldenOrderComplete() OrderDetails {
	return OrderDetails{
		ReferenceID: "Order_17.b-2", Type: PhysicalGoods, PaymentType: "upi", PaymentConfiguration: "shop-upi",
		PaymentSettings: json.RawMessage(`[{"type": "payment_gateway", "payment_gateway": {"type": "razorpay"}}]`),
		Currency:        "INR", Total: OrderAmount{Value: 1100, Offset: 100},
		ShippingInfo: ShippingInfo{Country: "IN", Addresses: []Address{goldenAddressMessage().Values}},
		Beneficiaries: []Beneficiary{{
			Name: "Asha", AddressLine1: "12 Hill View", AddressLine2: "Wing A", City: "Mumbai", State: "Maharashtra", Country: "India", PostalCode: "400063",
		}},
		Order: Order{
			Status: OrderPending, Type: OrderQuickPay, CatalogID: "8",
			Items: []OrderItem{
				{
					RetailerID: "sku-17", Name: "Bread", Amount: OrderAmount{Value: 1500, Offset: 100},
					SaleAmount: OrderAmount{Value: 1000, Offset: 100}, Quantity: 1,
					Image: ItemImage{Link: "https://shop.example.com/bread.png"}, CountryOfOrigin: "India", ImporterName: "The shop",
					ImporterAddress: ImporterAddress{
						AddressLine1: "One BKC", AddressLine2: "Bandra", City: "Mumbai", ZoneCode: "MH", PostalCode: "400051", CountryCode: "IN",
					},
				},
				{RetailerID: "sku-18", Name: "Bag", Amount: OrderAmount{Value: 0, Offset: 100}, Quantity: 2},
			},
			Subtotal:   OrderAmount{Value: 1000, Offset: 100},
			Tax:        OrderAmount{Value: 100, Offset: 100, Description: "GST"},
			Shipping:   OrderAmount{Value: 100, Offset: 100, Description: "By bicycle"},
			Discount:   OrderAmount{Value: 100, Offset: 100, Description: "First order", DiscountProgramName: "Welcome"},
			Expiration: OrderExpiration{At: time.Unix(1790000000, 0).UTC(), Description: "Until we close"},
		},
	}
}

func goldenCards() []golden {
	shows := func(cards ...Card) Message { return goldenTo(validInteractive(Carousel{Cards: cards})) }
	link := func(n string) CTAURL { return CTAURL{DisplayText: "See", URL: "https://shop.example.com/" + n} }
	video := Video{Media: Media{ID: "1013859600285441"}}
	return []golden{
		{"card/cta_url_minimal", shows(Card{Header: video, Action: link("1")}, Card{Header: video, Action: link("2")})},
		{"card/cta_url_complete", shows(
			Card{Header: validImage(), Body: "A table\nof oak", Action: link("1")},
			Card{Header: validImage(), Body: "A chair", Action: link("2")},
			Card{Header: validImage(), Body: "A lamp", Action: link("3")},
		)},
		{"card/reply_buttons_minimal", shows(
			Card{Header: validImage(), Action: ReplyButtons{{ID: "1", Title: "Take it"}}},
			Card{Header: validImage(), Action: ReplyButtons{{ID: "2", Title: "Take it"}}},
		)},
		{"card/reply_buttons_complete", shows(
			Card{Header: video, Body: "A table", Action: ReplyButtons{{ID: "1", Title: "Take it"}, {ID: "1-not", Title: "Leave it"}}},
			Card{Header: video, Body: "A chair", Action: ReplyButtons{{ID: "2", Title: "Take it"}, {ID: "2-not", Title: "Leave it"}}},
		)},
		{"card/product", shows(
			Card{Action: Product{CatalogID: "8", ProductRetailerID: "sku-17"}}, Card{Action: Product{CatalogID: "8", ProductRetailerID: "sku-18"}},
		)},
	}
}
