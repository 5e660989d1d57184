package chatapp2

import (
	"encoding/json"
	"time"
)

// validTemplate is a template with these components.
func validTemplate(components ...Component) Template {
	return Template{Name: "order_ready", Language: "en_US", Components: components}
}

func goldenComponents() []golden {
	fills := func(components ...Component) Message { return goldenTo(validTemplate(components...)) }
	return []golden{
		{"component/header", fills(TemplateHeader{TextParam{Text: "17"}})},
		{"component/body_minimal", fills(Body("Ana"))},
		{"component/body_complete", fills(TemplateBody{
			TextParam{Text: "Ana"}, Currency{FallbackValue: "$100.99", Code: "USD", Amount1000: 100990}, DateTime{FallbackValue: "3 October 2026"},
		})},
		{"component/body_named", fills(TemplateBody{Named("first_name", "Ana"), Named("order_2", "17")})},

		{"component/quick_reply_minimal", fills(QuickReplyButton{})},
		{"component/quick_reply_complete", fills(QuickReplyButton{Index: 9, Payload: "stop/17"})},
		{"component/quick_reply_text", fills(QuickReplyButton{Text: "Stop"})},
		{"component/url", fills(URLButton{Index: 1, Suffix: "orders/17?from=chat"})},
		{"component/one_time_password", fills(Body("J$FpnYnP"), URLButton{Suffix: "J$FpnYnP", OneTimeCode: true})},
		{"component/copy_code", fills(CopyCodeButton{Index: 1, Code: "25OFF"})},
		{"component/catalog_minimal", fills(CatalogButton{})},
		{"component/catalog_complete", fills(CatalogButton{Index: 2, ThumbnailProductRetailerID: "sku-17"})},
		{"component/mpm_minimal", fills(ProductsButton{
			ThumbnailProductRetailerID: "sku-17", Sections: []ProductSection{{Products: []ProductItem{{ProductRetailerID: "sku-17"}}}},
		})},
		{"component/mpm_complete", fills(ProductsButton{
			Index: 3, ThumbnailProductRetailerID: "sku-17",
			Sections: []ProductSection{
				{Title: "Tables", Products: []ProductItem{{ProductRetailerID: "sku-17"}, {ProductRetailerID: "sku-18"}}},
				{Title: "Chairs", Products: []ProductItem{{ProductRetailerID: "sku-21"}}},
			},
		})},
		{"component/flow_minimal", fills(FlowButton{})},
		{"component/flow_complete", fills(FlowButton{Index: 4, Token: "booking-17", Data: map[string]any{"places": 4}})},
		{"component/several_buttons", fills(QuickReplyButton{Payload: "yes"}, QuickReplyButton{Index: 1, Payload: "no"}, URLButton{Index: 2, Suffix: "17"})},

		{"component/carousel_minimal", fills(TemplateCards{
			{TemplateHeader{validImage()}}, {TemplateHeader{validImage()}},
		})},
		{"component/carousel_complete", fills(Body("Ana"), TemplateCards{
			{TemplateHeader{validImage()}, Body("A table", "17"), QuickReplyButton{Payload: "table"}, URLButton{Index: 1, Suffix: "table"}},
			{TemplateHeader{validImage()}, Body("A chair", "4"), QuickReplyButton{Payload: "chair"}, URLButton{Index: 1, Suffix: "chair"}},
		})},
		{"component/carousel_products", fills(TemplateCards{
			{TemplateHeader{Product{CatalogID: "8", ProductRetailerID: "sku-17"}}},
			{TemplateHeader{Product{CatalogID: "8", ProductRetailerID: "sku-18"}}},
		})},

		{"component/limited_time_offer", fills(
			TemplateHeader{validImage()}, Body("Ana", "25OFF"),
			LimitedTimeOffer{ExpiresAt: time.Date(2026, time.October, 3, 14, 0, 0, 123_000_000, time.UTC)},
			CopyCodeButton{Code: "25OFF"}, URLButton{Index: 1, Suffix: "offer"},
		)},
		{"component/raw", fills(Body("Ana"), RawComponent{JSON: json.RawMessage(`{"type": "footer", "parameters": [{"type": "text", "text": "17"}]}`)})},
	}
}

func goldenParameters() []golden {
	heads := func(parameter Parameter) Message { return goldenTo(validTemplate(TemplateHeader{parameter})) }
	fills := func(parameters ...Parameter) Message { return goldenTo(validTemplate(TemplateBody(parameters))) }
	link := Media{Link: "https://shop.example.com/head.bin"}
	uploaded := Media{ID: "1013859600285441"}
	return []golden{
		{"parameter/text_positional", fills(TextParam{Text: "Ana"}, TextParam{Text: "17"})},
		{"parameter/text_named", fills(TextParam{Name: "first_name", Text: "Ana"}, Named("order_2", "17"))},
		{"parameter/text_header_positional", heads(TextParam{Text: "17"})},
		{"parameter/text_header_named", heads(Named("order", "17"))},
		{"parameter/currency_positional", fills(Currency{FallbackValue: "$100.99", Code: "USD", Amount1000: 100990})},
		{"parameter/currency_named", fills(Currency{Name: "amount", FallbackValue: "nothing", Code: "PHP"})},
		{"parameter/date_time_minimal", fills(DateTime{FallbackValue: "3 October 2026"})},
		{"parameter/date_time_complete", fills(DateTime{
			Name: "day", FallbackValue: "Saturday", DayOfWeek: 6, Year: 2026, Month: 10, DayOfMonth: 3, Hour: new(15), Minute: new(33), Calendar: "GREGORIAN",
		})},
		{"parameter/date_time_midnight", fills(DateTime{FallbackValue: "midnight", Hour: new(0), Minute: new(0)})},
		{"parameter/image_link", heads(Image{Media: link})},
		{"parameter/image_id", heads(Image{Media: uploaded})},
		{"parameter/video_link", heads(Video{Media: link})},
		{"parameter/video_id", heads(Video{Media: uploaded})},
		{"parameter/document_minimal", heads(Document{Media: link})},
		{"parameter/document_complete", heads(Document{Media: uploaded, FileName: "invoice-17.pdf"})},
		{"parameter/gif_link", heads(GIF{Media: link})},
		{"parameter/gif_id", heads(GIF{Media: uploaded})},
		{"parameter/location", heads(Location{Latitude: 37.44211676562361, Longitude: -122.16155960083124, Name: "The shop", Address: "1 Main Street, Manila"})},
		{"parameter/location_zero", heads(Location{Name: "Null Island", Address: "Gulf of Guinea"})},
		{"parameter/product", heads(Product{CatalogID: "8", ProductRetailerID: "sku-17"})},
		{"parameter/raw", fills(TextParam{Text: "Ana"}, RawParameter{JSON: json.RawMessage(`{"type": "emoji", "emoji": {"name": "tea", "size": 1.50}}`)})},
	}
}
