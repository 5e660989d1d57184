package chatapp2

import "encoding/json"

func goldenContents() []golden {
	link := Media{Link: "https://shop.example.com/orders/17.bin"}
	uploaded := Media{ID: "1013859600285441"}
	return []golden{
		{"content/text_minimal", goldenTo(Text{Body: "Your order is ready"})},
		{"content/text_complete", goldenTo(Text{Body: "See https://shop.example.com/orders/17", PreviewURL: true})},

		{"content/image_minimal", goldenTo(Image{Media: link})},
		{"content/image_complete", goldenTo(Image{Media: Media{Link: link.Link}, Caption: "Your table"})},
		{"content/video_minimal", goldenTo(Video{Media: link})},
		{"content/video_complete", goldenTo(Video{Media: uploaded, Caption: "How to put it together"})},
		{"content/audio_minimal", goldenTo(Audio{Media: link})},
		{"content/audio_complete", goldenTo(Audio{Media: uploaded, Voice: true})},
		{"content/document_minimal", goldenTo(Document{Media: link})},
		{"content/document_complete", goldenTo(Document{Media: uploaded, Caption: "Your invoice", FileName: "invoice-17.pdf"})},
		{"content/sticker_link", goldenTo(Sticker{Media: link})},
		{"content/sticker_id", goldenTo(Sticker{Media: uploaded})},

		{"content/location_minimal", goldenTo(Location{Latitude: 14.5995, Longitude: 120.9842})},
		{"content/location_complete", goldenTo(Location{
			Latitude: -33.8567844, Longitude: -151.213108, Name: "The shop", Address: "1 Main Street, Manila",
		})},
		{"content/location_zero", goldenTo(Location{})},

		{"content/contacts_minimal", goldenTo(Contacts{{Name: ContactName{FormattedName: "Ana Cruz", FirstName: "Ana"}}})},
		{"content/contacts_complete", goldenTo(goldenContactsComplete())},

		{"content/reaction_complete", goldenTo(Reaction{MessageID: "wamid.HBgLM", Emoji: "👍"})},
		{"content/reaction_removed", goldenTo(Reaction{MessageID: "wamid.HBgLM"})},

		{"content/interactive_minimal", goldenTo(Interactive{Body: "Where are you?", Action: LocationRequest{}})},
		{"content/interactive_complete", goldenTo(Interactive{
			Header: HeaderText{Text: "Order 17"}, Body: "Shall we deliver today?", Footer: "The shop",
			Action: ReplyButtons{{ID: "yes", Title: "Yes"}, {ID: "no", Title: "No"}},
		})},

		{"content/template_minimal", goldenTo(Template{Name: "hello_world", Language: "en_US"})},
		{"content/template_complete", goldenTo(Template{
			Name: "order_ready_2", Language: "fil", Policy: "deterministic",
			Components: []Component{TemplateHeader{TextParam{Text: "17"}}, Body("Ana", "42"), QuickReplyButton{Index: 1, Payload: "stop"}},
		})},

		{"content/raw", goldenTo(Raw{Type: "poll", JSON: json.RawMessage(`{"question": "Tea?", "options": ["yes", "no"], "limit": 1.50}`)})},
	}
}

func goldenContactsComplete() Contacts {
	return Contacts{
		{
			Name: ContactName{
				FormattedName: "Dr Ana Maria Cruz Jr", FirstName: "Ana", LastName: "Cruz", MiddleName: "Maria", Suffix: "Jr", Prefix: "Dr",
			},
			Addresses: []ContactAddress{
				{Street: "1 Main Street", City: "Manila", State: "NCR", Zip: "1000", Country: "Philippines", CountryCode: "ph", Type: "HOME"},
				{City: "Cebu", Type: "Office"},
			},
			Birthday: "2012-02-29",
			Emails:   []ContactEmail{{Email: "ana@example.com", Type: "WORK"}, {Email: "cruz@example.com"}},
			Org:      ContactOrg{Company: "The shop", Department: "Sales", Title: "Manager"},
			Phones: []ContactPhone{
				{Phone: "+63 917 123 4567", Type: "HOME", ID: "639171234567"}, {Phone: "(02) 8123 4567", Type: "Desk"},
			},
			URLs: []ContactURL{{URL: "https://shop.example.com", Type: "WORK"}},
		},
		{Name: ContactName{FormattedName: "The shop", Prefix: "The"}},
	}
}
