package chatapp2

import (
	"fmt"
	"io"
	"log/slog"
)

// What is in a message belongs to its sender and its recipient. So every type prints its name alone, in every verb of package
// fmt, and logs it alone with log/slog.

func hide(f fmt.State, name string) { _, _ = io.WriteString(f, "chatapp2."+name+"{...}") }

func hidden(name string) slog.Value { return slog.StringValue("chatapp2." + name + "{...}") }

// Format prints the name of the type alone, in every verb.
func (LocationRequest) Format(f fmt.State, _ rune) { hide(f, "LocationRequest") }

// LogValue logs what Format prints.
func (LocationRequest) LogValue() slog.Value { return hidden("LocationRequest") }

// Format prints the name of the type alone, in every verb.
func (ContactRequest) Format(f fmt.State, _ rune) { hide(f, "ContactRequest") }

// LogValue logs what Format prints.
func (ContactRequest) LogValue() slog.Value { return hidden("ContactRequest") }

// Format prints the name of the type alone, in every verb.
func (CallPermissionRequest) Format(f fmt.State, _ rune) { hide(f, "CallPermissionRequest") }

// LogValue logs what Format prints.
func (CallPermissionRequest) LogValue() slog.Value { return hidden("CallPermissionRequest") }

// Format prints the name of the type alone, in every verb.
func (CTAURL) Format(f fmt.State, _ rune) { hide(f, "CTAURL") }

// LogValue logs what Format prints.
func (CTAURL) LogValue() slog.Value { return hidden("CTAURL") }

// Format prints the name of the type alone, in every verb.
func (VoiceCall) Format(f fmt.State, _ rune) { hide(f, "VoiceCall") }

// LogValue logs what Format prints.
func (VoiceCall) LogValue() slog.Value { return hidden("VoiceCall") }

// Format prints the name of the type alone, in every verb.
func (AddressMessage) Format(f fmt.State, _ rune) { hide(f, "AddressMessage") }

// LogValue logs what Format prints.
func (AddressMessage) LogValue() slog.Value { return hidden("AddressMessage") }

// Format prints the name of the type alone, in every verb.
func (SavedAddress) Format(f fmt.State, _ rune) { hide(f, "SavedAddress") }

// LogValue logs what Format prints.
func (SavedAddress) LogValue() slog.Value { return hidden("SavedAddress") }

// Format prints the name of the type alone, in every verb.
func (Address) Format(f fmt.State, _ rune) { hide(f, "Address") }

// LogValue logs what Format prints.
func (Address) LogValue() slog.Value { return hidden("Address") }

// Format prints the name of the type alone, in every verb.
func (ReplyButtons) Format(f fmt.State, _ rune) { hide(f, "ReplyButtons") }

// LogValue logs what Format prints.
func (ReplyButtons) LogValue() slog.Value { return hidden("ReplyButtons") }

// Format prints the name of the type alone, in every verb.
func (ReplyButton) Format(f fmt.State, _ rune) { hide(f, "ReplyButton") }

// LogValue logs what Format prints.
func (ReplyButton) LogValue() slog.Value { return hidden("ReplyButton") }

// Format prints the name of the type alone, in every verb.
func (Carousel) Format(f fmt.State, _ rune) { hide(f, "Carousel") }

// LogValue logs what Format prints.
func (Carousel) LogValue() slog.Value { return hidden("Carousel") }

// Format prints the name of the type alone, in every verb.
func (Card) Format(f fmt.State, _ rune) { hide(f, "Card") }

// LogValue logs what Format prints.
func (Card) LogValue() slog.Value { return hidden("Card") }

// Format prints the name of the type alone, in every verb.
func (TemplateHeader) Format(f fmt.State, _ rune) { hide(f, "TemplateHeader") }

// LogValue logs what Format prints.
func (TemplateHeader) LogValue() slog.Value { return hidden("TemplateHeader") }

// Format prints the name of the type alone, in every verb.
func (TemplateBody) Format(f fmt.State, _ rune) { hide(f, "TemplateBody") }

// LogValue logs what Format prints.
func (TemplateBody) LogValue() slog.Value { return hidden("TemplateBody") }

// Format prints the name of the type alone, in every verb.
func (TemplateCards) Format(f fmt.State, _ rune) { hide(f, "TemplateCards") }

// LogValue logs what Format prints.
func (TemplateCards) LogValue() slog.Value { return hidden("TemplateCards") }

// Format prints the name of the type alone, in every verb.
func (TemplateCard) Format(f fmt.State, _ rune) { hide(f, "TemplateCard") }

// LogValue logs what Format prints.
func (TemplateCard) LogValue() slog.Value { return hidden("TemplateCard") }

// Format prints the name of the type alone, in every verb.
func (LimitedTimeOffer) Format(f fmt.State, _ rune) { hide(f, "LimitedTimeOffer") }

// LogValue logs what Format prints.
func (LimitedTimeOffer) LogValue() slog.Value { return hidden("LimitedTimeOffer") }

// Format prints the name of the type alone, in every verb.
func (TapTarget) Format(f fmt.State, _ rune) { hide(f, "TapTarget") }

// LogValue logs what Format prints.
func (TapTarget) LogValue() slog.Value { return hidden("TapTarget") }

// Format prints the name of the type alone, in every verb.
func (TemplateOrderStatus) Format(f fmt.State, _ rune) { hide(f, "TemplateOrderStatus") }

// LogValue logs what Format prints.
func (TemplateOrderStatus) LogValue() slog.Value { return hidden("TemplateOrderStatus") }

// Format prints the name of the type alone, in every verb.
func (RawComponent) Format(f fmt.State, _ rune) { hide(f, "RawComponent") }

// LogValue logs what Format prints.
func (RawComponent) LogValue() slog.Value { return hidden("RawComponent") }

// Format prints the name of the type alone, in every verb.
func (Contacts) Format(f fmt.State, _ rune) { hide(f, "Contacts") }

// LogValue logs what Format prints.
func (Contacts) LogValue() slog.Value { return hidden("Contacts") }

// Format prints the name of the type alone, in every verb.
func (Contact) Format(f fmt.State, _ rune) { hide(f, "Contact") }

// LogValue logs what Format prints.
func (Contact) LogValue() slog.Value { return hidden("Contact") }

// Format prints the name of the type alone, in every verb.
func (ContactName) Format(f fmt.State, _ rune) { hide(f, "ContactName") }

// LogValue logs what Format prints.
func (ContactName) LogValue() slog.Value { return hidden("ContactName") }

// Format prints the name of the type alone, in every verb.
func (ContactAddress) Format(f fmt.State, _ rune) { hide(f, "ContactAddress") }

// LogValue logs what Format prints.
func (ContactAddress) LogValue() slog.Value { return hidden("ContactAddress") }

// Format prints the name of the type alone, in every verb.
func (ContactEmail) Format(f fmt.State, _ rune) { hide(f, "ContactEmail") }

// LogValue logs what Format prints.
func (ContactEmail) LogValue() slog.Value { return hidden("ContactEmail") }

// Format prints the name of the type alone, in every verb.
func (ContactOrg) Format(f fmt.State, _ rune) { hide(f, "ContactOrg") }

// LogValue logs what Format prints.
func (ContactOrg) LogValue() slog.Value { return hidden("ContactOrg") }

// Format prints the name of the type alone, in every verb.
func (ContactPhone) Format(f fmt.State, _ rune) { hide(f, "ContactPhone") }

// LogValue logs what Format prints.
func (ContactPhone) LogValue() slog.Value { return hidden("ContactPhone") }

// Format prints the name of the type alone, in every verb.
func (ContactURL) Format(f fmt.State, _ rune) { hide(f, "ContactURL") }

// LogValue logs what Format prints.
func (ContactURL) LogValue() slog.Value { return hidden("ContactURL") }

// Format prints the name of the type alone, in every verb.
func (Raw) Format(f fmt.State, _ rune) { hide(f, "Raw") }

// LogValue logs what Format prints.
func (Raw) LogValue() slog.Value { return hidden("Raw") }

// Format prints the name of the type alone, in every verb.
func (Flow) Format(f fmt.State, _ rune) { hide(f, "Flow") }

// LogValue logs what Format prints.
func (Flow) LogValue() slog.Value { return hidden("Flow") }

// Format prints the name of the type alone, in every verb.
func (Interactive) Format(f fmt.State, _ rune) { hide(f, "Interactive") }

// LogValue logs what Format prints.
func (Interactive) LogValue() slog.Value { return hidden("Interactive") }

// Format prints the name of the type alone, in every verb.
func (HeaderText) Format(f fmt.State, _ rune) { hide(f, "HeaderText") }

// LogValue logs what Format prints.
func (HeaderText) LogValue() slog.Value { return hidden("HeaderText") }

// Format prints the name of the type alone, in every verb.
func (RawAction) Format(f fmt.State, _ rune) { hide(f, "RawAction") }

// LogValue logs what Format prints.
func (RawAction) LogValue() slog.Value { return hidden("RawAction") }

// Format prints the name of the type alone, in every verb.
func (List) Format(f fmt.State, _ rune) { hide(f, "List") }

// LogValue logs what Format prints.
func (List) LogValue() slog.Value { return hidden("List") }

// Format prints the name of the type alone, in every verb.
func (Section) Format(f fmt.State, _ rune) { hide(f, "Section") }

// LogValue logs what Format prints.
func (Section) LogValue() slog.Value { return hidden("Section") }

// Format prints the name of the type alone, in every verb.
func (Row) Format(f fmt.State, _ rune) { hide(f, "Row") }

// LogValue logs what Format prints.
func (Row) LogValue() slog.Value { return hidden("Row") }

// Format prints the name of the type alone, in every verb.
func (Location) Format(f fmt.State, _ rune) { hide(f, "Location") }

// LogValue logs what Format prints.
func (Location) LogValue() slog.Value { return hidden("Location") }

// Format prints the name of the type alone, in every verb.
func (Media) Format(f fmt.State, _ rune) { hide(f, "Media") }

// LogValue logs what Format prints.
func (Media) LogValue() slog.Value { return hidden("Media") }

// Format prints the name of the type alone, in every verb.
func (Image) Format(f fmt.State, _ rune) { hide(f, "Image") }

// LogValue logs what Format prints.
func (Image) LogValue() slog.Value { return hidden("Image") }

// Format prints the name of the type alone, in every verb.
func (Video) Format(f fmt.State, _ rune) { hide(f, "Video") }

// LogValue logs what Format prints.
func (Video) LogValue() slog.Value { return hidden("Video") }

// Format prints the name of the type alone, in every verb.
func (Audio) Format(f fmt.State, _ rune) { hide(f, "Audio") }

// LogValue logs what Format prints.
func (Audio) LogValue() slog.Value { return hidden("Audio") }

// Format prints the name of the type alone, in every verb.
func (Document) Format(f fmt.State, _ rune) { hide(f, "Document") }

// LogValue logs what Format prints.
func (Document) LogValue() slog.Value { return hidden("Document") }

// Format prints the name of the type alone, in every verb.
func (Sticker) Format(f fmt.State, _ rune) { hide(f, "Sticker") }

// LogValue logs what Format prints.
func (Sticker) LogValue() slog.Value { return hidden("Sticker") }

// Format prints the name of the type alone, in every verb.
func (Marketing) Format(f fmt.State, _ rune) { hide(f, "Marketing") }

// LogValue logs what Format prints.
func (Marketing) LogValue() slog.Value { return hidden("Marketing") }

// Format prints the name of the type alone, in every verb.
func (OrderDetails) Format(f fmt.State, _ rune) { hide(f, "OrderDetails") }

// LogValue logs what Format prints.
func (OrderDetails) LogValue() slog.Value { return hidden("OrderDetails") }

// Format prints the name of the type alone, in every verb.
func (Order) Format(f fmt.State, _ rune) { hide(f, "Order") }

// LogValue logs what Format prints.
func (Order) LogValue() slog.Value { return hidden("Order") }

// Format prints the name of the type alone, in every verb.
func (OrderItem) Format(f fmt.State, _ rune) { hide(f, "OrderItem") }

// LogValue logs what Format prints.
func (OrderItem) LogValue() slog.Value { return hidden("OrderItem") }

// Format prints the name of the type alone, in every verb.
func (OrderAmount) Format(f fmt.State, _ rune) { hide(f, "OrderAmount") }

// LogValue logs what Format prints.
func (OrderAmount) LogValue() slog.Value { return hidden("OrderAmount") }

// Format prints the name of the type alone, in every verb.
func (OrderExpiration) Format(f fmt.State, _ rune) { hide(f, "OrderExpiration") }

// LogValue logs what Format prints.
func (OrderExpiration) LogValue() slog.Value { return hidden("OrderExpiration") }

// Format prints the name of the type alone, in every verb.
func (OrderStatus) Format(f fmt.State, _ rune) { hide(f, "OrderStatus") }

// LogValue logs what Format prints.
func (OrderStatus) LogValue() slog.Value { return hidden("OrderStatus") }

// Format prints the name of the type alone, in every verb.
func (OrderPayment) Format(f fmt.State, _ rune) { hide(f, "OrderPayment") }

// LogValue logs what Format prints.
func (OrderPayment) LogValue() slog.Value { return hidden("OrderPayment") }

// Format prints the name of the type alone, in every verb.
func (TextParam) Format(f fmt.State, _ rune) { hide(f, "TextParam") }

// LogValue logs what Format prints.
func (TextParam) LogValue() slog.Value { return hidden("TextParam") }

// Format prints the name of the type alone, in every verb.
func (Currency) Format(f fmt.State, _ rune) { hide(f, "Currency") }

// LogValue logs what Format prints.
func (Currency) LogValue() slog.Value { return hidden("Currency") }

// Format prints the name of the type alone, in every verb.
func (DateTime) Format(f fmt.State, _ rune) { hide(f, "DateTime") }

// LogValue logs what Format prints.
func (DateTime) LogValue() slog.Value { return hidden("DateTime") }

// Format prints the name of the type alone, in every verb.
func (GIF) Format(f fmt.State, _ rune) { hide(f, "GIF") }

// LogValue logs what Format prints.
func (GIF) LogValue() slog.Value { return hidden("GIF") }

// Format prints the name of the type alone, in every verb.
func (RawParameter) Format(f fmt.State, _ rune) { hide(f, "RawParameter") }

// LogValue logs what Format prints.
func (RawParameter) LogValue() slog.Value { return hidden("RawParameter") }

// Format prints the name of the type alone, in every verb.
func (Pin) Format(f fmt.State, _ rune) { hide(f, "Pin") }

// LogValue logs what Format prints.
func (Pin) LogValue() slog.Value { return hidden("Pin") }

// Format prints the name of the type alone, in every verb.
func (Product) Format(f fmt.State, _ rune) { hide(f, "Product") }

// LogValue logs what Format prints.
func (Product) LogValue() slog.Value { return hidden("Product") }

// Format prints the name of the type alone, in every verb.
func (ProductList) Format(f fmt.State, _ rune) { hide(f, "ProductList") }

// LogValue logs what Format prints.
func (ProductList) LogValue() slog.Value { return hidden("ProductList") }

// Format prints the name of the type alone, in every verb.
func (ProductSection) Format(f fmt.State, _ rune) { hide(f, "ProductSection") }

// LogValue logs what Format prints.
func (ProductSection) LogValue() slog.Value { return hidden("ProductSection") }

// Format prints the name of the type alone, in every verb.
func (ProductItem) Format(f fmt.State, _ rune) { hide(f, "ProductItem") }

// LogValue logs what Format prints.
func (ProductItem) LogValue() slog.Value { return hidden("ProductItem") }

// Format prints the name of the type alone, in every verb.
func (CatalogMessage) Format(f fmt.State, _ rune) { hide(f, "CatalogMessage") }

// LogValue logs what Format prints.
func (CatalogMessage) LogValue() slog.Value { return hidden("CatalogMessage") }

// Format prints the name of the type alone, in every verb.
func (Reaction) Format(f fmt.State, _ rune) { hide(f, "Reaction") }

// LogValue logs what Format prints.
func (Reaction) LogValue() slog.Value { return hidden("Reaction") }

// Format prints the name of the type alone, in every verb.
func (Template) Format(f fmt.State, _ rune) { hide(f, "Template") }

// LogValue logs what Format prints.
func (Template) LogValue() slog.Value { return hidden("Template") }

// Format prints the name of the type alone, in every verb.
func (QuickReplyButton) Format(f fmt.State, _ rune) { hide(f, "QuickReplyButton") }

// LogValue logs what Format prints.
func (QuickReplyButton) LogValue() slog.Value { return hidden("QuickReplyButton") }

// Format prints the name of the type alone, in every verb.
func (URLButton) Format(f fmt.State, _ rune) { hide(f, "URLButton") }

// LogValue logs what Format prints.
func (URLButton) LogValue() slog.Value { return hidden("URLButton") }

// Format prints the name of the type alone, in every verb.
func (CopyCodeButton) Format(f fmt.State, _ rune) { hide(f, "CopyCodeButton") }

// LogValue logs what Format prints.
func (CopyCodeButton) LogValue() slog.Value { return hidden("CopyCodeButton") }

// Format prints the name of the type alone, in every verb.
func (CatalogButton) Format(f fmt.State, _ rune) { hide(f, "CatalogButton") }

// LogValue logs what Format prints.
func (CatalogButton) LogValue() slog.Value { return hidden("CatalogButton") }

// Format prints the name of the type alone, in every verb.
func (ProductsButton) Format(f fmt.State, _ rune) { hide(f, "ProductsButton") }

// LogValue logs what Format prints.
func (ProductsButton) LogValue() slog.Value { return hidden("ProductsButton") }

// Format prints the name of the type alone, in every verb.
func (FlowButton) Format(f fmt.State, _ rune) { hide(f, "FlowButton") }

// LogValue logs what Format prints.
func (FlowButton) LogValue() slog.Value { return hidden("FlowButton") }

// Format prints the name of the type alone, in every verb.
func (VoiceCallButton) Format(f fmt.State, _ rune) { hide(f, "VoiceCallButton") }

// LogValue logs what Format prints.
func (VoiceCallButton) LogValue() slog.Value { return hidden("VoiceCallButton") }

// Format prints the name of the type alone, in every verb.
func (OrderDetailsButton) Format(f fmt.State, _ rune) { hide(f, "OrderDetailsButton") }

// LogValue logs what Format prints.
func (OrderDetailsButton) LogValue() slog.Value { return hidden("OrderDetailsButton") }

// Format prints the name of the type alone, in every verb.
func (Text) Format(f fmt.State, _ rune) { hide(f, "Text") }

// LogValue logs what Format prints.
func (Text) LogValue() slog.Value { return hidden("Text") }
