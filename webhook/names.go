package webhook

import (
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// concept is what a parameter may stand for.
type concept uint8

const (
	ofNothing concept = iota
	ofID
	ofFrom
	ofTo
	ofText
	ofTime
	ofReference
	ofOperator
	ofKeyword
	ofName
	ofKind
	ofMediaURL
	ofMediaID
	ofMIMEType
	ofCaption
	ofFileName
	ofLatitude
	ofLongitude
	ofStatus
	ofJSON      // a message as JSON, in a parameter of its own
	ofTypedJSON // a message as JSON, in a parameter that may as well be the text
	concepts
)

// place says where in the contract a name stands: from the right 8 bits with the concept, 24 with how far down in its list,
// 24 with 1 + its place in the list of those that may hold JSON (0: it is in none), one that is set where the name stands
// for other concepts too, and one where the name is not plain. It is one word because each parameter needs it.
type place uint64

// longestList bounds how many names of a list are looked for.
const longestList = 1<<24 - 1

func at(c concept, rank uint32) place { return place(c) | place(rank)<<8 }

func (p place) orJSON(rank uint32) place { return p | place(rank+1)<<32 }

const (
	alsoOther place = 1 << 56
	oddName   place = 1 << 57 // the name itself would be escaped in a query, so what looks like it there is another
)

func (p place) concept() concept { return concept(p & 0xff) }

func (p place) rank() uint32 { return uint32(p >> 8 & longestList) }

// json is 1 + the place in the list of those that may hold JSON, or 0.
func (p place) json() uint32 { return uint32(p >> 32 & longestList) }

// names gives the place of a name.
type names struct {
	find  func(name string) place
	other map[string][]place // of a name that stands for several concepts: all places but the first
}

// wire is a contract as the parsers need it.
type wire struct {
	sms, chatApp1, chatApp2, delivery names
	zones                             zones
	statuses                          func(word string) Status
	placeholders                      func(concept) string
	callback                          *contract.WebhookDelivery // for DeliveryURL; nil in the default
}

// zones are where the times of each kind of callback are that name no zone.
type zones struct{ sms, chatApp1, chatApp2, delivery *time.Location }

// defaultWire is the default contract, as code: a parser that is called without options has no place to keep a table that
// it has read. A test holds both equal.
func defaultWire() wire {
	return wire{
		sms: names{find: smsNames}, chatApp1: names{find: chatAppNames}, chatApp2: names{find: chatAppNames}, delivery: names{find: deliveryNames},
		zones:    zones{time.UTC, time.UTC, time.UTC, time.UTC},
		statuses: defaultStatus, placeholders: defaultPlaceholder,
	}
}

// compile makes a wire of a contract that was validated.
func compile(c contract.Contract) wire {
	sms, one, two, delivery := c.WebhookSMS.Params, c.WebhookChatApp1, c.WebhookChatApp2, c.WebhookDelivery.Params
	chatApp := func(p contract.WebhookChatAppParams) names {
		return compileNames(map[concept][]string{
			ofID: p.ID, ofFrom: p.From, ofTo: p.To, ofText: p.Text, ofTime: p.Time, ofReference: p.Reference, ofName: p.Name, ofKind: p.Kind,
			ofMediaURL: p.MediaURL, ofMediaID: p.MediaID, ofMIMEType: p.MIMEType, ofCaption: p.Caption, ofFileName: p.FileName,
			ofLatitude: p.Latitude, ofLongitude: p.Longitude,
		}, p.JSON)
	}
	zone := func(name string) *time.Location {
		location, err := time.LoadLocation(name)
		if err != nil {
			return time.UTC // a contract that was validated has no such zone
		}
		return location
	}
	return wire{
		sms: compileNames(map[concept][]string{
			ofID: sms.ID, ofFrom: sms.From, ofTo: sms.To, ofText: sms.Text, ofTime: sms.Time, ofReference: sms.Reference, ofOperator: sms.Operator,
			ofKeyword: sms.Keyword,
		}, nil),
		chatApp1: chatApp(one.Params), chatApp2: chatApp(two.Params),
		delivery: compileNames(map[concept][]string{
			ofID: delivery.ID, ofReference: delivery.Reference, ofStatus: delivery.Status, ofTime: delivery.Time, ofKind: delivery.Kind,
			ofFrom: delivery.From, ofTo: delivery.To,
		}, nil),
		zones:    zones{zone(c.WebhookSMS.Zone), zone(one.Zone), zone(two.Zone), zone(c.WebhookDelivery.Zone)},
		statuses: compileStatuses(c.WebhookDelivery.Statuses), placeholders: compilePlaceholders(c.WebhookDelivery.Placeholders),
		callback: new(c.Clone().WebhookDelivery),
	}
}

func compileNames(lists map[concept][]string, json []string) names {
	table, other := map[string]place{}, map[string][]place{}
	for c := range concepts { // in order, so that a table is always the same
		var rank uint32
		for _, name := range lists[c][:min(len(lists[c]), longestList)] {
			switch have := table[name]; {
			case have.concept() == ofNothing:
				table[name] = at(c, rank)
			case have.concept() != c: // else it is twice in one list, and the first counts
				table[name] = have | alsoOther
				other[name] = append(other[name], at(c, rank))
			}
			rank++
		}
	}
	var rank uint32
	for _, name := range json[:min(len(json), longestList-1)] {
		if have := table[name]; have.json() == 0 {
			table[name] = have.orJSON(rank)
		}
		rank++
	}
	for name := range table {
		if !isPlain(name) {
			table[name] |= oddName
		}
	}
	return names{find: func(name string) place { return table[name] }, other: other}
}

// all gives every place of a name that stands for something.
func (n names) all(name string) []place {
	found := n.find(name)
	if found.concept() == ofNothing {
		return nil
	}
	return append([]place{found}, n.other[name]...)
}

// rankOf tells how far down in the list of a concept a name stands; false where it stands for something else.
func (n names) rankOf(name string, c concept) (uint32, bool) {
	for _, p := range n.all(name) {
		if p.concept() == c {
			return p.rank(), true
		}
	}
	return 0, false
}

// smsNames are the names of an inbound SMS in the default contract.
func smsNames(name string) place {
	switch name {
	case "id":
		return at(ofID, 0)
	case "messageId":
		return at(ofID, 1)
	case "message_id":
		return at(ofID, 2)
	case "msgId":
		return at(ofID, 3)
	case "transactionId":
		return at(ofID, 4)
	case "from":
		return at(ofFrom, 0)
	case "msisdn":
		return at(ofFrom, 1)
	case "sender":
		return at(ofFrom, 2)
	case "mobile":
		return at(ofFrom, 3)
	case "number":
		return at(ofFrom, 4)
	case "originator":
		return at(ofFrom, 5)
	case "to":
		return at(ofTo, 0)
	case "recipient":
		return at(ofTo, 1)
	case "accessCode":
		return at(ofTo, 2)
	case "vrn":
		return at(ofTo, 3)
	case "shortcode":
		return at(ofTo, 4)
	case "destination":
		return at(ofTo, 5)
	case "message":
		return at(ofText, 0)
	case "text":
		return at(ofText, 1)
	case "msg":
		return at(ofText, 2)
	case "body":
		return at(ofText, 3)
	case "content":
		return at(ofText, 4)
	case "timestamp":
		return at(ofTime, 0)
	case "time":
		return at(ofTime, 1)
	case "date":
		return at(ofTime, 2)
	case "receivedAt":
		return at(ofTime, 3)
	case "message-timestamp":
		return at(ofTime, 4)
	case "referenceId":
		return at(ofReference, 0)
	case "reference_id":
		return at(ofReference, 1)
	case "operator":
		return at(ofOperator, 0)
	case "telco":
		return at(ofOperator, 1)
	case "network":
		return at(ofOperator, 2)
	case "keyword":
		return at(ofKeyword, 0)
	default:
		return 0
	}
}

// chatAppNames are the names of an inbound message of either chat app in the default contract.
func chatAppNames(name string) place {
	switch name {
	case "from_user_id":
		return at(ofFrom, 6)
	case "message":
		return at(ofText, 0).orJSON(1)
	case "name":
		return at(ofName, 0)
	case "profileName":
		return at(ofName, 1)
	case "type":
		return at(ofKind, 0)
	case "kind":
		return at(ofKind, 1)
	case "mediaUrl":
		return at(ofMediaURL, 0)
	case "media_url":
		return at(ofMediaURL, 1)
	case "media":
		return at(ofMediaURL, 2)
	case "url":
		return at(ofMediaURL, 3)
	case "mediaId":
		return at(ofMediaID, 0)
	case "media_id":
		return at(ofMediaID, 1)
	case "mimeType":
		return at(ofMIMEType, 0)
	case "mime_type":
		return at(ofMIMEType, 1)
	case "caption":
		return at(ofCaption, 0)
	case "fileName":
		return at(ofFileName, 0)
	case "file_name":
		return at(ofFileName, 1)
	case "filename":
		return at(ofFileName, 2)
	case "latitude":
		return at(ofLatitude, 0)
	case "longitude":
		return at(ofLongitude, 0)
	case "payload":
		return at(ofNothing, 0).orJSON(0)
	default: // the rest is as of an SMS, but for what only an SMS has
		if p := smsNames(name); p.concept() != ofOperator && p.concept() != ofKeyword {
			return p
		}
		return 0
	}
}

// deliveryNames are the names of a delivery report in the default contract.
func deliveryNames(name string) place {
	switch name {
	case "id":
		return at(ofID, 0)
	case "transactionId":
		return at(ofID, 1)
	case "messageId":
		return at(ofID, 2)
	case "_id":
		return at(ofID, 3)
	case "_transactionId":
		return at(ofID, 4)
	case "_messageId":
		return at(ofID, 5)
	case "from":
		return at(ofFrom, 0)
	case "_from":
		return at(ofFrom, 1)
	case "to":
		return at(ofTo, 0)
	case "_to":
		return at(ofTo, 1)
	case "timestamp":
		return at(ofTime, 0)
	case "date":
		return at(ofTime, 1)
	case "_timestamp":
		return at(ofTime, 2)
	case "_date":
		return at(ofTime, 3)
	case "referenceId":
		return at(ofReference, 0)
	case "reference_id":
		return at(ofReference, 1)
	case "_referenceId":
		return at(ofReference, 2)
	case "_reference_id":
		return at(ofReference, 3)
	case "transactionType":
		return at(ofKind, 0)
	case "_transactionType":
		return at(ofKind, 1)
	case "status":
		return at(ofStatus, 0)
	case "dlrStatus":
		return at(ofStatus, 1)
	case "dlr_status":
		return at(ofStatus, 2)
	case "_status":
		return at(ofStatus, 3)
	case "_dlrStatus":
		return at(ofStatus, 4)
	case "_dlr_status":
		return at(ofStatus, 5)
	default:
		return 0
	}
}
