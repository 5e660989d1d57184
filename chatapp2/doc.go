// Package chatapp2 sends over chat app 2. Its Service is the field ChatApp2 of a messaging.Client:
//
//	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{
//		To: "+639171234567", Content: chatapp2.Text{Body: "Your order is ready"},
//	})
//
// A message has the structure of the third-party cloud messaging platform, which the specification names and whose types are here
// under the platform's own terms. Exactly one of each set is chosen, and the compiler sees to it: Content, Action, Header, Component
// and Parameter are sealed.
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
//	pin          Pin, to a group
//	interactive  Interactive, with one of the actions below
//	template     Template, with any of the components below
//	other        Raw
//
// # Action, by the type of an Interactive
//
//	button                    ReplyButtons
//	list                      List, of Section and Row
//	cta_url                   CTAURL
//	flow                      Flow
//	product                   Product
//	product_list              ProductList, of ProductSection
//	catalog_message           CatalogMessage
//	location_request_message  LocationRequest
//	address_message           AddressMessage
//	voice_call                VoiceCall
//	call_permission_request   CallPermissionRequest
//	carousel                  Carousel, of Card with a CTAURL, ReplyButtons or a Product
//	order_details             OrderDetails
//	order_status              OrderStatus
//	request_contact_info      ContactRequest
//	other                     RawAction
//
// Above its body an Interactive can have a Header: HeaderText, Image, Video or Document.
//
// # Component, by the type in a Template
//
//	header                    TemplateHeader, with a Parameter
//	body                      TemplateBody, or Body("Ana", "42") for texts in order
//	button, quick_reply       QuickReplyButton
//	button, url               URLButton, also for one-time passwords
//	button, copy_code         CopyCodeButton
//	button, catalog           CatalogButton
//	button, mpm               ProductsButton
//	button, flow              FlowButton
//	button, voice_call        VoiceCallButton
//	button, order_details     OrderDetailsButton
//	carousel                  TemplateCards, of TemplateCard
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
//	payload, coupon_code,   fields of the buttons that take them
//	action, ttl_minutes
//	other                   RawParameter
//
// # Checks
//
// Send checks a message before anything leaves, and names everything that is wrong by its path, such as
// Content.Action.Sections[1].Rows[3].Title. What a message cannot be without is always refused. What passes a limit that the
// platform documents (a length, a count, a range, a set of words) is refused too, unless the client was made with
// messaging.WithLenientLimits, since limits move. The platform's limits are those of its documentation as of 2026.
//
// # JSON
//
// A Message encodes as its body under the default contract, and decodes from any body in the platform's shape: typed wherever a
// type holds all of it, raw in the narrowest place where none does. Types are written in lower case, and what stays raw keeps its
// meaning, not its bytes.
//
// The service lists no chat-app messages. Where a send ends with an unknown outcome, it stays unknown; see Service.Send.
package chatapp2
