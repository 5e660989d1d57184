package messagingtest

import (
	"slices"
	"time"
)

// Names of the parameters of callbacks, the first of each list of the default contract. The specification shows none of
// them.
const (
	nameID        = "id"
	nameFrom      = "from"
	nameTo        = "to"
	nameText      = "message"
	nameTime      = "timestamp"
	nameReference = "referenceId"
	nameOperator  = "operator"
	nameKeyword   = "keyword"

	nameName      = "name"
	nameKind      = "type"
	nameMediaURL  = "mediaUrl"
	nameMediaID   = "mediaId"
	nameMIMEType  = "mimeType"
	nameCaption   = "caption"
	nameFileName  = "fileName"
	nameLatitude  = "latitude"
	nameLongitude = "longitude"
	nameJSON      = "payload"
)

// InboundSMS is an SMS that somebody sent to an access code or a virtual number of the customer's. It is plain data and a
// [Callback]; the zero value of a field is absent, and nothing is checked: a message without a sender can be sent, to see
// it refused.
type InboundSMS struct {
	// ID is the service's name for the message, sent as id. A correct receiver that remembers what it has handled handles
	// an ID once.
	ID string
	// From is the number that sent it, as from; To the access code or virtual number that it was sent to, as to.
	From, To string
	// Text is its text, as message: any bytes, for senders are met whose texts are not UTF-8.
	Text string
	// ReferenceID is a reference ID, as referenceId.
	ReferenceID string
	// Operator is the operator of the sender, as operator.
	Operator string
	// Keyword is the word that the service recognized in the text, as keyword.
	Keyword string
	// ReceivedAt is when the service received it, as timestamp: in UTC, by RFC 3339 with as many digits as the fraction
	// has, up to nanoseconds. Of the forms that the contract reads this is the stand-in's choice.
	ReceivedAt time.Time
	// Extra are parameters that no field is for, sent last.
	Extra []Param
}

func (m InboundSMS) calls() []call { return []call{{m, m.params()}} }

func (m InboundSMS) params() parameters {
	var p parameters
	p.add(nameID, m.ID)
	p.add(nameFrom, m.From)
	p.add(nameTo, m.To)
	p.add(nameText, m.Text)
	p.addTime(nameTime, m.ReceivedAt)
	p.add(nameReference, m.ReferenceID)
	p.add(nameOperator, m.Operator)
	p.add(nameKeyword, m.Keyword)
	return slices.Concat(p, m.Extra)
}

// InboundChatApp is a message that somebody sent to the customer by one of the chat apps. The default contract has the same
// parameters for both, so that which of them it comes by is decided by the webhook that it is sent to. By the specification
// chat app 1 brings text and media, and chat app 2 more kinds, audio among them.
//
// It is plain data and a [Callback]; the zero value of a field is absent, and nothing is checked. [InboundSamples] has one of
// each kind that is known.
type InboundChatApp struct {
	// ID is the service's name for the message, sent as id. A correct receiver that remembers what it has handled handles
	// an ID once.
	ID string
	// From is the number of the sender, as from; To the number or channel that it was sent to, as to.
	From, To string
	// Name is what the sender calls himself, as name.
	Name string
	// ReferenceID is a reference ID, as referenceId.
	ReferenceID string
	// Kind is what the message is: text, image, location and so on, as type. A correct receiver delivers a kind that it
	// does not know.
	Kind string
	// Text is the text, as message: any bytes. A correct receiver reads JSON in it only where no Kind came, and only if it
	// is a message, because a person may type JSON.
	Text string
	// MediaURL is where the medium can be fetched, as mediaUrl; MediaID its ID at the service, as mediaId. The stand-in
	// serves no media.
	MediaURL, MediaID string
	// MIMEType is the type of the medium, as mimeType; Caption the text below it, as caption; FileName the name of a
	// document, as fileName.
	MIMEType, Caption, FileName string
	// Latitude and Longitude are a place in decimal degrees, such as "14.5995", as latitude and longitude. They are text
	// because zero is a place too, and because a sender may write something else.
	Latitude, Longitude string
	// ReceivedAt is when the service received it, as timestamp, in the form of [InboundSMS].
	ReceivedAt time.Time
	// JSON is the message as an object in the shape of the third-party platform, or its whole envelope, as payload. Where
	// another field says something else, a correct receiver believes the field.
	JSON string
	// Extra are parameters that no field is for, sent last.
	Extra []Param
}

func (m InboundChatApp) calls() []call { return []call{{m, m.params()}} }

func (m InboundChatApp) params() parameters {
	var p parameters
	p.add(nameID, m.ID)
	p.add(nameFrom, m.From)
	p.add(nameTo, m.To)
	p.add(nameName, m.Name)
	p.add(nameKind, m.Kind)
	p.add(nameText, m.Text)
	p.add(nameMediaURL, m.MediaURL)
	p.add(nameMediaID, m.MediaID)
	p.add(nameMIMEType, m.MIMEType)
	p.add(nameCaption, m.Caption)
	p.add(nameFileName, m.FileName)
	p.add(nameLatitude, m.Latitude)
	p.add(nameLongitude, m.Longitude)
	p.addTime(nameTime, m.ReceivedAt)
	p.add(nameReference, m.ReferenceID)
	p.add(nameJSON, m.JSON)
	return slices.Concat(p, m.Extra)
}
