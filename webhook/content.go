package webhook

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Content is what an inbound chat-app message says: Text, Media, Location, Contacts, Reply, Reaction, Product, Order, System,
// Edit, Revoke, RequestWelcome or Unknown. In a message of this package it is never nil and never a pointer.
//
// Text, Media and Location are read from parameters or from JSON in the shape of the platform, the others only from JSON. The tags "at"
// name the members of that JSON, the tags "json" the members in storage.
//
//sumtype:decl
type Content interface{ content() }

// Text is a text message.
type Text struct {
	// Body is the text in valid UTF-8. Like SMSMessage.Text it may be empty, may be white space, and may hold control characters.
	Body string `json:"body,omitzero"`
}

// MediaKind is the kind of a medium.
type MediaKind string

// The kinds of media. A callback may name others, such as "voice" or "file".
const (
	MediaImage    MediaKind = "image"
	MediaAudio    MediaKind = "audio"
	MediaVideo    MediaKind = "video"
	MediaDocument MediaKind = "document"
	MediaSticker  MediaKind = "sticker"
)

// Media is an image, an audio, a video, a document or a sticker. URL or ID says where the medium is. The URL may come from
// anyone: fetch it only with a bound on size and time, from hosts that you know, and without redirects.
type Media struct {
	// Kind is the kind, in lower case. Without one it comes from the MIME type; it is empty without either.
	Kind MediaKind `json:"kind,omitzero"`
	// URL is where the medium can be fetched, and ID its ID at the service.
	URL string `json:"url,omitzero" at:"url|link"`
	ID  string `json:"id,omitzero" at:"id"`
	// MIMEType is its type, such as image/jpeg.
	MIMEType string `json:"mimeType,omitzero" at:"mime_type"`
	// Caption is the caption, or a text that came with the medium.
	Caption  string `json:"caption,omitzero" at:"caption"`
	FileName string `json:"fileName,omitzero" at:"filename"`
	// SHA256 is the hash of the medium in base64. Voice marks a voice message, Animated a sticker that moves. All three
	// come only from JSON.
	SHA256   string `json:"sha256,omitzero" at:"sha256"`
	Voice    bool   `json:"voice,omitzero" at:"voice"`
	Animated bool   `json:"animated,omitzero" at:"animated"`
}

// Location is a place.
type Location struct {
	// Latitude is between -90 and 90 degrees, Longitude between -180 and 180.
	Latitude  float64 `json:"latitude,omitzero"`
	Longitude float64 `json:"longitude,omitzero"`
	// Name, Address and URL describe the place. They come only from JSON.
	Name    string `json:"name,omitzero" at:"name"`
	Address string `json:"address,omitzero" at:"address"`
	URL     string `json:"url,omitzero" at:"url"`
}

// Contacts are address cards, at most 512. A message with more is an Unknown.
type Contacts []Contact

// Contact is one address card.
type Contact struct {
	FormattedName string `json:"formattedName,omitzero" at:"name.formatted_name"`
	FirstName     string `json:"firstName,omitzero" at:"name.first_name"`
	MiddleName    string `json:"middleName,omitzero" at:"name.middle_name"`
	LastName      string `json:"lastName,omitzero" at:"name.last_name"`
	Prefix        string `json:"prefix,omitzero" at:"name.prefix"`
	Suffix        string `json:"suffix,omitzero" at:"name.suffix"`
	// Each of the four lists holds at most 64; the JSON of the message has all.
	Phones     []ContactPhone   `json:"phones,omitzero" at:"phones"`
	Emails     []ContactEmail   `json:"emails,omitzero" at:"emails"`
	URLs       []ContactURL     `json:"urls,omitzero" at:"urls"`
	Addresses  []ContactAddress `json:"addresses,omitzero" at:"addresses"`
	Company    string           `json:"company,omitzero" at:"org.company"`
	Department string           `json:"department,omitzero" at:"org.department"`
	Title      string           `json:"title,omitzero" at:"org.title"`
	// Birthday is a date as it arrived, usually 2006-01-02.
	Birthday string `json:"birthday,omitzero" at:"birthday"`
	// VCard is the card as text, and Origin where it comes from, in replies to a request for contact information.
	VCard  string `json:"vcard,omitzero" at:"vcard"`
	Origin string `json:"origin,omitzero" at:"origin"`
}

// ContactPhone is a phone number of a contact. ID is that of the platform. Type is free text, such as MOBILE.
type ContactPhone struct {
	Number string `json:"number,omitzero" at:"phone"`
	ID     string `json:"id,omitzero" at:"wa_id"`
	Type   string `json:"type,omitzero" at:"type"`
}

// ContactEmail is an email address of a contact. Type is free text, such as WORK.
type ContactEmail struct {
	Address string `json:"address,omitzero" at:"email"`
	Type    string `json:"type,omitzero" at:"type"`
}

// ContactURL is a web address of a contact. Type is free text, such as WORK.
type ContactURL struct {
	URL  string `json:"url,omitzero" at:"url"`
	Type string `json:"type,omitzero" at:"type"`
}

// ContactAddress is a postal address of a contact. Type is free text, such as HOME.
type ContactAddress struct {
	Street      string `json:"street,omitzero" at:"street"`
	City        string `json:"city,omitzero" at:"city"`
	State       string `json:"state,omitzero" at:"state"`
	ZIP         string `json:"zip,omitzero" at:"zip"`
	Country     string `json:"country,omitzero" at:"country"`
	CountryCode string `json:"countryCode,omitzero" at:"country_code"`
	Type        string `json:"type,omitzero" at:"type"`
}

// ReplyKind says what a Reply replies to.
type ReplyKind string

// The kinds of replies.
const (
	ReplyTemplateButton ReplyKind = "button"                // a quick-reply button of a template
	ReplyButton         ReplyKind = "button_reply"          // a button of an interactive message
	ReplyList           ReplyKind = "list_reply"            // a row of a list
	ReplyForm           ReplyKind = "nfm_reply"             // a flow or an address form
	ReplyCallPermission ReplyKind = "call_permission_reply" // a request for permission to call
	ReplyPaymentMethod  ReplyKind = "payment_method"        // a choice of payment method
)

// Reply is a reply to something that was offered: a button, a row of a list, a form.
type Reply struct {
	Kind ReplyKind `json:"kind,omitzero"`
	// ID is the payload of the button, or the ID of the button or row.
	ID string `json:"id,omitzero"`
	// Title is the label of the button or row; for a form, the text that is shown in its place.
	Title string `json:"title,omitzero"`
	// Description is the second line of a row.
	Description string `json:"description,omitzero"`
	// Name is the name of a form: flow or address_message.
	Name string `json:"name,omitzero"`
	// Response is what the person filled in: for a form the JSON text of the answers, for a payment method its JSON object. It is
	// kept as it arrived and may be invalid JSON.
	Response string `json:"response,omitzero"`
	// CallPermission is zero for other kinds.
	CallPermission CallPermission `json:"callPermission,omitzero"`
}

// CallPermission is the reply to a request for permission to call.
type CallPermission struct {
	// Response is accept or reject, as it arrived.
	Response string `json:"response,omitzero" at:"response"`
	// Permanent reports whether the permission has no end. Otherwise it ends at ExpiresAt.
	Permanent bool      `json:"permanent,omitzero" at:"is_permanent"`
	ExpiresAt time.Time `json:"expiresAt,omitzero" at:"expiration_timestamp"`
	// Source is who replied: user_action or automatic.
	Source string `json:"source,omitzero" at:"response_source"`
}

// Reaction is an emoji on a message.
type Reaction struct {
	MessageID string `json:"messageID,omitzero"`
	// Emoji is empty if the reaction was taken back.
	Emoji string `json:"emoji,omitzero"`
}

// Product is a product of a catalog that the sender shared. A text that asks about one has it in its [Context].
type Product struct {
	CatalogID string `json:"catalogID,omitzero" at:"catalog_id"`
	// ProductID is the seller's own ID of the product.
	ProductID string `json:"productID,omitzero" at:"product_retailer_id"`
}

// Order is a shopping cart.
type Order struct {
	CatalogID string `json:"catalogID,omitzero" at:"catalog_id"`
	// Text is what the sender wrote with the order.
	Text string `json:"text,omitzero"`
	// Items are the products, at most 1024. An order with more is an Unknown.
	Items []OrderItem `json:"items,omitzero"`
}

// OrderItem is a product in a cart.
type OrderItem struct {
	// ProductID is the seller's own ID of the product.
	ProductID string `json:"productID,omitzero" at:"product_retailer_id"`
	// Quantity is 0 if it is not a whole number.
	Quantity int `json:"quantity,omitzero" at:"quantity"`
	// Price is the price of one, a decimal number exactly as it arrived, and Currency its currency, such as USD.
	Price    string `json:"price,omitzero" at:"item_price"`
	Currency string `json:"currency,omitzero" at:"currency"`
}

// SystemKind is the kind of a System notice.
type SystemKind string

// The kinds of notices.
const (
	SystemNumberChanged   SystemKind = "user_changed_number"
	SystemUserIDChanged   SystemKind = "user_changed_user_id"
	SystemIdentityChanged SystemKind = "customer_identity_changed"
)

// System is a notice of the platform about the sender. It is never read from a text parameter, where a person could have typed
// it.
type System struct {
	Kind SystemKind `json:"kind,omitzero" at:"system.type"`
	// Body is the notice in words. It may hold a number and a name.
	Body string `json:"body,omitzero" at:"system.body"`
	// NewID is the new number of the sender, NewUserID and NewParentUserID the new user IDs.
	NewID           string `json:"newID,omitzero" at:"system.wa_id|system.new_wa_id"`
	NewUserID       string `json:"newUserID,omitzero" at:"system.user_id"`
	NewParentUserID string `json:"newParentUserID,omitzero" at:"system.parent_user_id"`
	// PreviousUserID is the user ID before the change.
	PreviousUserID string `json:"previousUserID,omitzero" at:"system.previous_user_id"`
	// CustomerID is the customer that the notice is about, if it names one.
	CustomerID string `json:"customerID,omitzero" at:"system.customer"`
	// IdentityHash and IdentityAcknowledged describe a changed identity, and IdentityChangedAt is when it changed.
	IdentityHash         string `json:"identityHash,omitzero" at:"system.identity.hash|identity.hash"`
	IdentityAcknowledged bool   `json:"identityAcknowledged,omitzero" at:"system.identity.acknowledged|identity.acknowledged"`

	IdentityChangedAt time.Time `json:"identityChangedAt,omitzero" at:"system.identity.created_timestamp|identity.created_timestamp"`
}

// Edit replaces the content of an earlier message of the sender.
type Edit struct {
	// MessageID is the message that was edited.
	MessageID string `json:"messageID,omitzero"`
	// Content is what it says now. In a message of this package it is never nil, an Edit or a System.
	Content Content `json:"-"`
}

// Revoke takes back an earlier message of the sender.
type Revoke struct {
	// MessageID is the message that was deleted.
	MessageID string `json:"messageID,omitzero"`
}

// RequestWelcome says that a person has opened a chat for the first time, and has written nothing yet.
type RequestWelcome struct{}

// Unknown is a message of a kind for which this package has no type, or a message that lacks what its kind needs.
type Unknown struct {
	// Kind is the kind as it arrived. It may be empty.
	Kind string `json:"kind,omitzero"`
	// Raw is the complete message, if it is JSON. A message in parameters is in Params.
	Raw json.RawMessage `json:"-"`
}

func (Text) content()     {}
func (Media) content()    {}
func (Location) content() {}
func (Contacts) content() {}
func (Reply) content()    {}
func (Reaction) content() {}
func (Product) content()  {}
func (Order) content()    {}
func (System) content()   {}
func (Edit) content()     {}
func (Revoke) content()   {}
func (Unknown) content()  {}

func (RequestWelcome) content() {}

// readContent makes the content of a message from its parameters and its JSON. Either may be absent.
func (f *fields) readContent(e *envelope, one item) Content {
	rawKind := strings.TrimSpace(cmp.Or(f.value(conceptKind), one.kind))
	kind := foldKind(rawKind)
	isAlone := e.shape != shapeEnvelope
	if kind == "" && isAlone {
		kind = f.kindOfParams(e)
	}
	member := one.members.get(kind)
	var content Content
	switch {
	case kind == "text":
		content = f.textContent(e, member)
	case isMedia(kind):
		content = f.mediaContent(MediaKind(kind), e, member)
	case kind == mediaWithoutKind:
		content = f.mediaContent("", e, member)
	case kind == "location":
		content = f.locationContent(member)
	case kind == "system" && e.isDistrusted: // a person must not be able to announce a new number
	case kind == "edit":
		content = f.editContent(objectOf(member))
	default:
		content = one.platformContent(kind)
	}
	if content == nil {
		return Unknown{Kind: rawKind, Raw: one.raw}
	}
	return content
}

// foldKind returns a kind as this package compares it: in lower case, and without white space around it.
func foldKind(kind string) string { return strings.ToLower(strings.TrimSpace(kind)) }

func isMedia(kind string) bool {
	return slices.Contains([]string{"image", "audio", "video", "document", "sticker", "voice", "file", "media"}, kind)
}

// mediaWithoutKind is the kind of a medium that has neither a kind nor a MIME type. No kind that arrives is equal to it, since white space
// around those is removed.
const mediaWithoutKind = " media"

// kindOfParams returns the kind of a message that does not name it, by its parameters.
func (f *fields) kindOfParams(e *envelope) string {
	_, isText := f.text(e)
	switch {
	case f.value(conceptMediaURL) != "" || f.value(conceptMediaID) != "":
		kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(f.value(conceptMIMEType))), "/")
		switch kind {
		case "":
			return mediaWithoutKind
		case "image", "audio", "video":
			return kind
		default:
			return "document"
		}
	case f.value(conceptLatitude) != "" && f.value(conceptLongitude) != "":
		return "location"
	case isText || e.raw == nil && f.value(conceptJSON) == "":
		return "text"
	default:
		return "" // JSON of an unknown shape, or that cannot be read
	}
}

func (f *fields) textContent(e *envelope, member json.RawMessage) Content {
	text, hasText := f.text(e)
	body, hasBody := objectOf(member).text("body")
	switch {
	case hasText && !isBlank(text):
		return Text{Body: text}
	case hasBody:
		return Text{Body: body}
	case hasText, e.raw == nil:
		return Text{Body: text}
	default:
		return nil
	}
}

func (f *fields) mediaContent(kind MediaKind, e *envelope, member json.RawMessage) Content {
	m := fill[Media](member)
	m.Kind = kind
	m.URL = cmp.Or(f.value(conceptMediaURL), m.URL)
	m.ID = cmp.Or(f.value(conceptMediaID), m.ID)
	m.MIMEType = cmp.Or(f.value(conceptMIMEType), m.MIMEType)
	m.FileName = cmp.Or(f.value(conceptFileName), m.FileName)
	hasPlace := m.URL != "" || m.ID != ""
	isInParams := e.raw == nil
	if !hasPlace && !isInParams && !isObject(member) {
		return nil
	}
	text, _ := f.text(e)
	if isBlank(text) {
		text = cmp.Or(m.Caption, text)
	}
	m.Caption = cmp.Or(f.value(conceptCaption), text)
	return m
}

func (f *fields) locationContent(member json.RawMessage) Content {
	o := objectOf(member)
	degrees := func(c concept, name string, limit float64) (n float64, isValid bool) {
		text := cmp.Or(f.value(c), o.word(name))
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		return n, err == nil && math.Abs(n) <= limit // false for NaN
	}
	latitude, hasLatitude := degrees(conceptLatitude, "latitude", 90)
	longitude, hasLongitude := degrees(conceptLongitude, "longitude", 180)
	if !hasLatitude || !hasLongitude {
		return nil
	}
	location := fill[Location](member)
	location.Latitude = latitude
	location.Longitude = longitude
	return location
}

// editContent returns an edit, or nil if it lacks the message or its new content. Only people edit messages, so the new content is never a notice of
// the platform.
func (f *fields) editContent(member object) Content {
	id := member.word("original_message_id")
	raw := member.get("message")
	message := newItem(objectOf(raw), raw)
	if id == "" || message.members == nil || foldKind(message.kind) == "edit" {
		return nil
	}
	edited := &envelope{raw: raw, shape: message.shape(), isDistrusted: true}
	content := (&fields{callback: f.callback}).readContent(edited, message)
	return Edit{MessageID: id, Content: content}
}

// platformContent returns the content of a kind that comes only as JSON. It returns nil for other kinds, and for a message that lacks what its
// kind needs.
func (i item) platformContent(kind string) Content {
	member := i.members.object(kind)
	switch kind {
	case "contacts":
		if cards := fillList[Contact](i.members.list(kind, maxContacts), maxContacts); cards != nil {
			return Contacts(cards)
		}
	case "button":
		if member != nil {
			return Reply{Kind: ReplyTemplateButton, ID: member.word("payload"), Title: member.word("text")}
		}
	case "interactive":
		return interactiveContent(member)
	case "reaction":
		if id := member.word("message_id"); id != "" {
			return Reaction{MessageID: id, Emoji: member.word("emoji")}
		}
	case "revoke":
		if id := member.word("original_message_id"); id != "" {
			return Revoke{MessageID: id}
		}
	case "request_welcome":
		return RequestWelcome{}
	case "product":
		if p := fill[Product](i.members.get(kind)); p.ProductID != "" {
			return p
		}
	case "order":
		return i.orderContent()
	case "system":
		if member != nil {
			return fill[System](i.raw)
		}
	}
	return nil
}

// interactiveContent returns a reply to an interactive message, or nil for a kind of reply that this package does not know.
func interactiveContent(member object) Content {
	kind := member.word("type")
	inner := member.object(kind)
	if inner == nil {
		return nil
	}
	reply := Reply{Kind: ReplyKind(kind)}
	switch reply.Kind {
	case ReplyButton, ReplyList:
		reply.ID = inner.word("id")
		reply.Title = inner.word("title")
		reply.Description = inner.word("description")
	case ReplyForm:
		reply.Name = inner.word("name")
		reply.Title = inner.word("body")
		reply.Response = inner.word("response_json")
	case ReplyCallPermission:
		reply.CallPermission = fill[CallPermission](member.get(kind))
	case ReplyPaymentMethod:
		reply.Response = string(member.get(kind))
	default:
		return nil
	}
	return reply
}

// orderContent returns a cart, or nil if it has no items or too many.
func (i item) orderContent() Content {
	member := i.members.object("order")
	order := fill[Order](i.members.get("order"))
	order.Text, _ = member.text("text")
	order.Items = fillList[OrderItem](member.list("product_items", maxItems), maxItems)
	if order.Items == nil {
		return nil
	}
	return order
}
