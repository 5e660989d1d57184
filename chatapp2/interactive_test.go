package chatapp2

import (
	"encoding/json"
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
			DisplayText: "Pay", URL: "https://shop.example.com/pay/17?of=100%25",
		}))},

		{"action/location_request", does(LocationRequest{})},
		{"action/contact_request", does(ContactRequest{})},

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
