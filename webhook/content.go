package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Content is what an inbound chat-app message says: Text, Media, Location, Contacts, Reply, Reaction, Order, System or
// Unknown. It is never nil in a message of this package.
//
//	switch c := m.Content.(type) {
//	case webhook.Text:
//		fmt.Println(c.Body)
//	case webhook.Media:
//		fmt.Println(c.Kind, c.URL)
//	default: // nothing is lost: m.Params, m.JSON
//	}
//
// The specification says that there are text and media, and shows no field. Text, media and location are read from
// parameters of their own, under the names of the contract (a default); every kind is read from a Meta-shaped message in
// JSON, whose names are that platform's.
//
// Contents are plain data. Printed with package fmt or logged with log/slog they show their kind and measures.
//
//sumtype:decl
type Content interface {
	content()
	summary() string
}

// Text is a text message.
type Text struct {
	// Body is the text, in valid UTF-8. It may be empty, may be white space alone, and may hold control characters.
	Body string
}

// Media is an image, an audio or a video, a document or a sticker. The medium itself is not in the message: URL or ID say
// where it is. Fetch a URL only with care, since anybody may have written it: bounded in size and time, from hosts that you
// know, without redirects.
type Media struct {
	// Kind is image, audio, video, document or sticker; voice, file or media where a parameter says so. Where no kind came
	// it is the first part of the MIME type, and empty where none came either.
	Kind string
	// URL is where the medium can be fetched.
	URL string
	// ID is the medium's ID at the service.
	ID string
	// MIMEType is its type, such as image/jpeg.
	MIMEType string
	// Caption is the text below it: the caption, else a text that came beside it in a parameter.
	Caption string
	// FileName is the name of a document.
	FileName string
	// SHA256 is its hash, in base64, from JSON alone.
	SHA256 string
	// Voice says that an audio is a voice message, Animated that a sticker moves; from JSON alone.
	Voice    bool
	Animated bool
}

// Location is a place.
type Location struct {
	// Latitude is from -90 to 90 degrees, Longitude from -180 to 180.
	Latitude  float64
	Longitude float64
	// Name, Address and URL tell of a place that has them; from JSON alone.
	Name    string
	Address string
	URL     string
}

// Contacts are address cards that somebody sent, at most 512. More are an Unknown.
type Contacts []Contact

// Contact is one address card. What the card does not hold is empty.
type Contact struct {
	// FormattedName is the whole name, and the five after it its parts. Of phones, mail, web and postal addresses there are
	// at most 64 each; the message's JSON has all.
	FormattedName string
	FirstName     string
	MiddleName    string
	LastName      string
	Prefix        string
	Suffix        string
	Phones        []ContactPhone
	Emails        []ContactEmail
	URLs          []ContactURL
	Addresses     []ContactAddress
	// Company, Department and Title tell where the contact works.
	Company    string
	Department string
	Title      string
	// Birthday is a date, as it came: usually 2006-01-02.
	Birthday string
	// VCard is the card as text, and Origin where it comes from, in answers to a request for contact information.
	VCard  string
	Origin string
}

// ContactPhone is a phone number of a contact.
type ContactPhone struct {
	// Number is the number, and ID that of the platform. Type is free text, such as MOBILE.
	Number string
	ID     string
	Type   string
}

// ContactEmail is a mail address of a contact. Type is free text, such as WORK.
type ContactEmail struct{ Address, Type string }

// ContactURL is a web address of a contact. Type is free text, such as WORK.
type ContactURL struct{ URL, Type string }

// ContactAddress is a postal address of a contact. Type is free text, such as HOME.
type ContactAddress struct{ Street, City, State, ZIP, Country, CountryCode, Type string }

// Reply is an answer to something that was offered: a button, a row of a list, a form.
type Reply struct {
	// Kind says what was answered: "button" (a quick reply of a template), "button_reply", "list_reply", "nfm_reply" (a
	// flow or an address form), "call_permission_reply" or "payment_method".
	Kind string
	// ID is the button's payload, or the ID of the button or row: what the sender of the question chose.
	ID string
	// Title is what stood on it; for a form what is shown in its place.
	Title string
	// Description is the second line of a row.
	Description string
	// Name is that of a form: flow or address_message.
	Name string
	// Response is what was filled in: for a form the JSON text of its answers, for a payment method its JSON object. It is
	// as it came, and may be no valid JSON.
	Response string
	// CallPermission is the answer to a call permission request, zero for other kinds.
	CallPermission CallPermission
}

// CallPermission is the answer to a request for permission to call.
type CallPermission struct {
	// Response is accept or reject, as it came.
	Response string
	// Permanent says that the permission does not expire; else it does at ExpiresAt.
	Permanent bool
	ExpiresAt time.Time
	// Source says who answered: user_action or automatic.
	Source string
}

// Reaction is an emoji on a message.
type Reaction struct {
	// MessageID is the message that the reaction is on.
	MessageID string
	// Emoji is the reaction; empty: it was taken back.
	Emoji string
}

// Order is a shopping cart.
type Order struct {
	// CatalogID is the catalog that the items are in.
	CatalogID string
	// Text is what the sender wrote beside it.
	Text string
	// Items are what is in the cart, at most 1024. An order of more is an Unknown.
	Items []OrderItem
}

// OrderItem is a product in a cart.
type OrderItem struct {
	// ProductID is the seller's own ID of the product.
	ProductID string
	// Quantity is how many; 0 where it is no whole number.
	Quantity int
	// Price is that of one, a decimal string exactly as it came, and Currency its currency, such as USD.
	Price    string
	Currency string
}

// Format prints nothing of the item, in every verb.
func (i OrderItem) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "webhook.OrderItem{...}") }

// LogValue logs what Format prints.
func (i OrderItem) LogValue() slog.Value { return slog.StringValue("webhook.OrderItem{...}") }

// System is a notice of the platform about the sender.
type System struct {
	// Kind is user_changed_number, user_changed_user_id, customer_identity_changed or another, as it came.
	Kind string
	// Body says for people what happened. It may hold a number and a name.
	Body string
	// NewID is the number of the sender from now on, NewUserID and NewParentUserID the user IDs.
	NewID           string
	NewUserID       string
	NewParentUserID string
	// CustomerID is whom the notice is about, where it says so.
	CustomerID string
	// IdentityHash, IdentityAcknowledged and IdentityChangedAt tell of a changed identity.
	IdentityHash         string
	IdentityAcknowledged bool
	IdentityChangedAt    time.Time
}

// Unknown is a message of a kind that this package has no type for, or that lacks what its kind needs. It is delivered like
// any other. Edits and revocations are Unknown too.
type Unknown struct {
	// Kind is the kind of the message, as it came; empty where none came.
	Kind string
	// Raw is the JSON that the message came as, complete; nil where it came in parameters, which are in Params.
	Raw json.RawMessage
}

func (Text) content()     {}
func (Media) content()    {}
func (Location) content() {}
func (Contacts) content() {}
func (Reply) content()    {}
func (Reaction) content() {}
func (Order) content()    {}
func (System) content()   {}
func (Unknown) content()  {}

func (c Text) summary() string { return newSummary("Text").measure("Body", c.Body).String() }

func (c Media) summary() string {
	return newSummary("Media").word("Kind", c.Kind).measure("URL", c.URL).measure("ID", c.ID).measure("MIMEType", c.MIMEType).measure("Caption", c.Caption).
		measure("FileName", c.FileName).measure("SHA256", c.SHA256).flag("Voice", c.Voice).flag("Animated", c.Animated).String()
}

func (c Location) summary() string {
	return newSummary("Location").measure("Name", c.Name).measure("Address", c.Address).measure("URL", c.URL).String()
}

func (c Contacts) summary() string { return fmt.Sprintf("webhook.Contacts{%d}", len(c)) }

func (c Contact) summary() string {
	return newSummary("Contact").measure("FormattedName", c.FormattedName).count("Phones", len(c.Phones)).count("Emails", len(c.Emails)).
		count("URLs", len(c.URLs)).count("Addresses", len(c.Addresses)).String()
}

func (c ContactPhone) summary() string {
	return newSummary("ContactPhone").measure("Number", c.Number).measure("ID", c.ID).measure("Type", c.Type).String()
}

func (c ContactEmail) summary() string {
	return newSummary("ContactEmail").measure("Address", c.Address).measure("Type", c.Type).String()
}

func (c ContactURL) summary() string {
	return newSummary("ContactURL").measure("URL", c.URL).measure("Type", c.Type).String()
}

func (c ContactAddress) summary() string {
	return newSummary("ContactAddress").measure("Street", c.Street).measure("City", c.City).measure("State", c.State).measure("ZIP", c.ZIP).
		measure("Country", c.Country).measure("CountryCode", c.CountryCode).measure("Type", c.Type).String()
}

func (c Reply) summary() string {
	return newSummary("Reply").word("Kind", c.Kind).measure("ID", c.ID).measure("Title", c.Title).measure("Description", c.Description).
		measure("Name", c.Name).measure("Response", c.Response).word("CallPermission", c.CallPermission.Response).String()
}

func (c Reaction) summary() string {
	return newSummary("Reaction").word("MessageID", c.MessageID).measure("Emoji", c.Emoji).String()
}

func (c Order) summary() string {
	return newSummary("Order").word("CatalogID", c.CatalogID).measure("Text", c.Text).count("Items", len(c.Items)).String()
}

func (c System) summary() string {
	return newSummary("System").word("Kind", c.Kind).measure("Body", c.Body).measure("NewID", c.NewID).measure("NewUserID", c.NewUserID).
		measure("NewParentUserID", c.NewParentUserID).measure("CustomerID", c.CustomerID).String()
}

func (c Unknown) summary() string {
	return newSummary("Unknown").word("Kind", c.Kind).bytes("Raw", len(c.Raw)).String()
}

// Format prints how long the text is, in every verb.
func (c Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Text) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints kind and measures, in every verb.
func (c Media) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Media) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb, and not where the place is.
func (c Location) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Location) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints how many there are, in every verb.
func (c Contacts) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Contacts) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb.
func (c Contact) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Contact) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb.
func (c ContactPhone) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c ContactPhone) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb.
func (c ContactEmail) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c ContactEmail) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb.
func (c ContactURL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c ContactURL) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints measures, in every verb.
func (c ContactAddress) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c ContactAddress) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints kind and measures, in every verb.
func (c Reply) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Reply) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints the ID of the message and measures, in every verb.
func (c Reaction) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Reaction) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints the ID of the catalog and measures, in every verb.
func (c Order) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Order) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints kind and measures, in every verb.
func (c System) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c System) LogValue() slog.Value { return slog.StringValue(c.summary()) }

// Format prints the kind and how long Raw is, in every verb.
func (c Unknown) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Unknown) LogValue() slog.Value { return slog.StringValue(c.summary()) }
