// Package chatapp2 holds the messages of chat app 2. The field ChatApp2 of a messaging.Client sends them:
//
//	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{
//		To: "+639171234567", Content: chatapp2.Text{Body: "Your order is ready"},
//	})
//
// Unless the recipient has written within 24 hours, only a Template can be sent.
//
// A message has the structure of the third-party cloud messaging platform that the specification refers to. The types of this package
// are named after the platform's own terms. Where the platform wants exactly one of several types, this package has a sealed interface:
// Content, Action, Header, CardAction, Component and Parameter. Set them to values, not to pointers: a pointer compiles, but sending
// rejects it. Decoding makes values only, so a type switch over the value types sees every case.
//
// The platform has more types than this package. Raw, RawAction, RawComponent and RawParameter send those as JSON, such as orders, payments
// and address forms. See the example of RawAction.
//
// The contract names the fields that the service adds (TTL, Fallback, CallbackURL, ReferenceID), and says where they are in the request.
// See package contract.
//
// # Content, by the type of the message
//
//	text         Text
//	image        Image
//	video        Video
//	audio        Audio
//	document     Document
//	sticker      Sticker
//	location     Location
//	contacts     Contacts
//	reaction     Reaction
//	interactive  Interactive, with one of the actions below
//	template     Template, with any of the components below
//	other        Raw
//
// # Action, by the type of an Interactive
//
//	button                    ReplyButtons
//	list                      List
//	cta_url                   CTAURL
//	flow                      Flow
//	product                   Product
//	product_list              ProductList
//	catalog_message           CatalogMessage
//	location_request_message  LocationRequest
//	carousel                  Carousel, of cards with a CTAURL, ReplyButtons or a Product
//	request_contact_info      ContactRequest
//	other                     RawAction
//
// # Component, by the type in a Template
//
//	header                    TemplateHeader
//	body                      TemplateBody, or Body("Ana", "42") for texts in order
//	button, quick_reply       QuickReplyButton
//	button, url               URLButton, also for one-time passwords
//	button, copy_code         CopyCodeButton
//	button, catalog           CatalogButton
//	button, mpm               ProductsButton
//	button, flow              FlowButton
//	carousel                  TemplateCards
//	limited_time_offer        LimitedTimeOffer
//	other                     RawComponent
//
// # Parameter, by its type
//
//	text                    TextParam, or Named("first_name", "Ana")
//	currency, date_time     Currency, DateTime
//	image, video, document  Image, Video, Document
//	gif, location, product  GIF, Location, Product
//	other                   RawParameter
//
// # Validation
//
// Sending checks a message before anything is sent, and names each problem by its path, such as
// Content.Action.Sections[1].Rows[3].Title. The tag "at" of a field gives the path of its value in the platform's JSON and, after commas,
// its rules:
//
//	required        a text that is not white space only, or a value of the interface
//	present         a time that is not zero
//	notblank        if there is a text, not white space only
//	max=20          at most 20 characters
//	oneof=a|b       one of these words
//	name            lower-case letters, digits and underscores
//	alnum           letters and digits
//	trimmed         no white space around the text
//	unique          no other element of the list has the same text in this field
//	url             an http or https URL
//	currency, date  an ISO 4217 code, and YYYY-MM-DD
//	index           0 to 9
//	degrees=90      -90 to 90
//	object          a value that encodes as a JSON object that is not empty
//
// A field without the rule required is optional, unless its documentation says otherwise. The limits are those that the platform documented in
// 2026; messaging.WithLenientLimits skips them. Raw JSON must be valid, and must not contradict what is known of its type.
//
// # JSON
//
// A Message encodes to JSON for storage, and decodes from it. It also decodes any body in the platform's format.
package chatapp2
