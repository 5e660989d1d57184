package contract

import "strings"

// WebhookSMS describes the callback that brings an inbound SMS. The specification gives the method, GET; the names are
// defaults.
type WebhookSMS struct {
	// Params names the parameters of the callback.
	Params WebhookSMSParams `json:"params"`
	// Zone is the time zone, by its name in the tz database, of times that name none themselves. Empty means UTC.
	Zone string `json:"zone"`
}

// WebhookSMSParams names the parameters of an inbound SMS. Each is a list: the first that is present and not blank wins, and
// an empty list means that the callback does not carry the fact. All are defaults.
type WebhookSMSParams struct {
	// ID is the message ID.
	ID []string `json:"id"`
	// From is the number that sent the message.
	From []string `json:"from"`
	// To is the access code or virtual number that received it.
	To []string `json:"to"`
	// Text is the text of the message.
	Text []string `json:"text"`
	// Time is when the message was received.
	Time []string `json:"time"`
	// Reference is a reference ID.
	Reference []string `json:"reference"`
	// Operator is the sender's operator.
	Operator []string `json:"operator"`
	// Keyword is the keyword that the service recognized.
	Keyword []string `json:"keyword"`
}

// WebhookChatApp describes the callback that brings an inbound chat-app message; both chat apps have one of this shape. The
// specification gives the method, GET; the names are defaults.
type WebhookChatApp struct {
	// Params names the parameters of the callback.
	Params WebhookChatAppParams `json:"params"`
	// Zone is the time zone, by its name in the tz database, of times that name none themselves. Empty means UTC.
	Zone string `json:"zone"`
}

// WebhookChatAppParams names the parameters of an inbound chat-app message. Each is a list: the first that is present and
// not blank wins, and an empty list means that the callback does not carry the fact. All are defaults.
type WebhookChatAppParams struct {
	// ID is the message ID.
	ID []string `json:"id"`
	// From is the number or user that sent the message.
	From []string `json:"from"`
	// To is the channel that received it.
	To []string `json:"to"`
	// Text is the text of a text message.
	Text []string `json:"text"`
	// Time is when the message was received.
	Time []string `json:"time"`
	// Reference is a reference ID.
	Reference []string `json:"reference"`
	// Name is the sender's name, as the sender gave it.
	Name []string `json:"name"`
	// Kind is the kind of the message: text, image, audio, ...
	Kind []string `json:"kind"`
	// MediaURL is where a medium can be fetched.
	MediaURL []string `json:"mediaURL"`
	// MediaID is the ID of a medium.
	MediaID []string `json:"mediaID"`
	// MIMEType is the type of a medium.
	MIMEType []string `json:"mimeType"`
	// Caption is the text below a medium.
	Caption []string `json:"caption"`
	// FileName is the name of a document.
	FileName []string `json:"fileName"`
	// Latitude is the latitude of a location, in degrees.
	Latitude []string `json:"latitude"`
	// Longitude is the longitude of a location, in degrees.
	Longitude []string `json:"longitude"`
	// JSON lists the parameters that may hold the message as a Meta-shaped JSON object. What the other parameters say wins
	// over it. A parameter may stand here and under Text: it is then read as JSON only where no Kind came, since a person
	// may type JSON.
	JSON []string `json:"json"`
}

// WebhookDelivery describes the callback that reports a delivery, and the callback URL that asks for the report. The
// specification says that a send can name a callback, and gives the method of callbacks, GET; the rest is a default.
type WebhookDelivery struct {
	// Params names the parameters of the callback.
	Params WebhookDeliveryParams `json:"params"`
	// Statuses says what the values of Params.Status mean.
	Statuses Statuses `json:"statuses"`
	// Placeholders are what the callback URL holds in place of the values.
	Placeholders Placeholders `json:"placeholders"`
	// Zone is the time zone, by its name in the tz database, of times that name none themselves. Empty means UTC.
	Zone string `json:"zone"`
}

// WebhookDeliveryParams names the parameters of a delivery report. Each is a list: the first that is present and not blank
// wins, and an empty list means that the report does not carry the fact. All are defaults.
type WebhookDeliveryParams struct {
	// ID is the message ID, as the answer to the send gave it.
	ID []string `json:"id"`
	// Reference is the sender's own reference ID.
	Reference []string `json:"reference"`
	// Status is the status, a word or number of Statuses.
	Status []string `json:"status"`
	// Time is when the status was reached.
	Time []string `json:"time"`
	// Kind is the type of the transaction.
	Kind []string `json:"kind"`
	// From is the sender ID of the message.
	From []string `json:"from"`
	// To is its recipient.
	To []string `json:"to"`
}

// Statuses says which values of a delivery report mean what: words in any case, or integers. The same value cannot stand
// under two statuses, and what stands under none is unknown. All are defaults: of the integers only 1 is in them, since no
// other was ever met with one meaning.
type Statuses struct {
	// Delivered: the message reached the recipient's device.
	Delivered []string `json:"delivered"`
	// Read: the recipient saw it.
	Read []string `json:"read"`
	// Queued: it waits in the service.
	Queued []string `json:"queued"`
	// Sent: it left for the network.
	Sent []string `json:"sent"`
	// Failed: it could not be delivered.
	Failed []string `json:"failed"`
	// Expired: its lifetime ended first.
	Expired []string `json:"expired"`
	// Rejected: it was refused on the way.
	Rejected []string `json:"rejected"`
}

// Placeholders are what the service replaces in a callback URL: each goes under the first name of its list in
// WebhookDeliveryParams. Empty: the service has no such placeholder. All are defaults.
type Placeholders struct {
	// Status stands for the status.
	Status string `json:"status"`
	// ID stands for the message ID.
	ID string `json:"id"`
	// Reference stands for the reference ID.
	Reference string `json:"reference"`
	// Time stands for when the status was reached.
	Time string `json:"time"`
	// Kind stands for the type of the transaction.
	Kind string `json:"kind"`
	// From stands for the sender ID.
	From string `json:"from"`
	// To stands for the recipient.
	To string `json:"to"`
}

func (w WebhookDelivery) validate(found *problems) {
	checkLists(found, "webhook.delivery.params", w.Params)
	checkLists(found, "webhook.delivery.statuses", w.Statuses)
	checkOnlyOnce(found, "webhook.delivery.statuses", w.Statuses, strings.ToLower)
	for key, placeholder := range fields[string](w.Placeholders) {
		if placeholder != "" {
			found.addFault(join("webhook.delivery.placeholders", key), nameFault(placeholder, false))
		}
	}
	checkZone(found, "webhook.delivery.zone", w.Zone)
}
