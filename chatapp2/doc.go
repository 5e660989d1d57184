// Package chatapp2 holds the messages of chat app 2. The field ChatApp2 of a messaging.Client sends them:
//
//	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{
//		To: "+639171234567", Content: chatapp2.Text{Body: "Your order is ready"},
//	})
//
// A message has the structure of the third-party cloud messaging platform that the specification refers to, and the types of this
// package have the platform's own terms. Where the platform wants exactly one of several types, this package has a sealed interface:
// Content, Action, Header, CardAction, Component and Parameter. Set them to values, not to pointers: a pointer compiles, but sending
// rejects it. Decoding makes values only, so a type switch over the value types sees every case.
//
// The fields that the service adds (TTL, Fallback, CallbackURL, ReferenceID) have the names of the contract, and stand beside the
// message or around it as the contract says. See package contract.
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
//	address_message           AddressMessage
//	voice_call                VoiceCall
//	call_permission_request   CallPermissionRequest
//	carousel                  Carousel, of cards with a CTAURL, ReplyButtons or a Product
//	order_details             OrderDetails
//	order_status              OrderStatus
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
//	button, voice_call        VoiceCallButton
//	button, order_details     OrderDetailsButton
//	carousel                  TemplateCards
//	limited_time_offer        LimitedTimeOffer
//	tap_target_configuration  TapTarget
//	order_status              TemplateOrderStatus
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
// Sending checks a message before anything leaves, and names each problem by its path, such as
// Content.Action.Sections[1].Rows[3].Title. The tag "at" of a field says where its value stands in the platform's JSON, and after a
// comma what holds for it, such as required (a field without it is optional, unless its documentation says otherwise), max=20 (at
// most 20 characters, or the number 20) or oneof=a|b. Limits are those documented in 2026; messaging.WithLenientLimits skips them. A raw
// part must be JSON, and not contradict what is known of its type.
//
// # JSON
//
// A Message encodes to and decodes from JSON for storage. It also decodes any body in the platform's shape.
package chatapp2
