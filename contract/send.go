package contract

import (
	"maps"
	"reflect"
	"slices"
)

// Send is what the three sends have in common. It is embedded in each of them, so its fields are read and set directly:
// c.SMSSend.Path. All three are POST requests.
type Send struct {
	// Path is the path of the operation, from the base URL on. The specification gives it.
	Path string `json:"path"`
	// Encoding is how the request is written, a default.
	Encoding Encoding `json:"encoding"`
	// Constants go with every request, by name. A value is anything that JSON can hold but null; where Encoding is not
	// [EncodingJSON], keep to strings, numbers and booleans. A number from an overlay is a json.Number, exactly as written.
	Constants map[string]any `json:"constants"`
	// With holds what goes with a request only when one of its fields is sent: the first key is a field's key in the table
	// (callback), the second the name to send. An overlay replaces the entry of a field whole: {"callback": {}} drops it.
	// Values are as in Constants.
	With map[string]map[string]any `json:"with"`
	// Answer says where the facts of an answer stand.
	Answer Answer `json:"answer"`
	// Accepted lists the words that Answer.Status holds when the message was accepted, a default. Another word under a 2xx
	// leaves the outcome unknown.
	Accepted []string `json:"accepted"`
}

// Answer says where the facts of an answer to a send stand. Each is a list of paths (see the package comment): the first
// that is present and not null wins, and an empty list means that the answer does not hold the fact. All are defaults.
type Answer struct {
	// ID is the message ID, by which the client knows that a send was accepted.
	ID []string `json:"id"`
	// Request is the ID of the request.
	Request []string `json:"request"`
	// Reference is the sender's own reference ID, echoed.
	Reference []string `json:"reference"`
	// Parts is the number of parts that the message was cut into.
	Parts []string `json:"parts"`
	// UnitCost is the price of one part.
	UnitCost []string `json:"unitCost"`
	// Cost is the price of the message.
	Cost []string `json:"cost"`
	// Balance is what remains on the account.
	Balance []string `json:"balance"`
	// Operator is the code of the recipient's operator.
	Operator []string `json:"operator"`
	// Status is the word that is looked up in Send.Accepted.
	Status []string `json:"status"`
}

// SMSSend is the operation that sends an SMS.
type SMSSend struct {
	Send
	// Fields names the fields of the request.
	Fields SMSSendFields `json:"fields"`
}

// SMSSendFields names the fields of an SMS. Empty: the service has no such field, and using it is an error. The
// specification gives the concepts; the names are defaults.
type SMSSendFields struct {
	// From is the sender ID.
	From string `json:"from"`
	// To is the recipient.
	To string `json:"to"`
	// Text is the text of the message.
	Text string `json:"text"`
	// Callback is the URL to which delivery is reported.
	Callback string `json:"callback"`
	// Reference is the sender's own reference ID.
	Reference string `json:"reference"`
}

// ChatApp1Send is the operation that sends a message over chat app 1.
type ChatApp1Send struct {
	Send
	// Fields names the fields of the request.
	Fields ChatApp1SendFields `json:"fields"`
	// TTL is the unit of the message lifetime, a default.
	TTL TTLUnit `json:"ttl"`
}

// ChatApp1SendFields names the fields of a chat-app-1 message. Empty: the service has no such field, and using it is an
// error. The specification gives the concepts and, of the names, ttl alone; the others are defaults.
type ChatApp1SendFields struct {
	// Channel is the channel ID.
	Channel string `json:"channel"`
	// To is the recipient.
	To string `json:"to"`
	// Text is the text of a text message, and of a call-to-action button.
	Text string `json:"text"`
	// Image is the URL of an image.
	Image string `json:"image"`
	// Video is the URL of a video.
	Video string `json:"video"`
	// Thumbnail is the URL of a video's thumbnail.
	Thumbnail string `json:"thumbnail"`
	// Duration is the length of a video, in whole seconds.
	Duration string `json:"duration"`
	// Size is the size of a video's file, in bytes.
	Size string `json:"size"`
	// Caption is the label of a call-to-action button.
	Caption string `json:"caption"`
	// URL is where a call-to-action button leads.
	URL string `json:"url"`
	// Template is the ID of a transactional template.
	Template string `json:"template"`
	// Params holds the values of a template's parameters by name.
	Params string `json:"params"`
	// Language is the language of a template.
	Language string `json:"language"`
	// TTL is the message lifetime, in the unit of ChatApp1Send.TTL. The specification gives the name.
	TTL string `json:"ttl"`
	// FallbackFrom is the sender ID of the SMS that goes out when the recipient is not reached.
	FallbackFrom string `json:"fallbackFrom"`
	// FallbackText is the text of that SMS.
	FallbackText string `json:"fallbackText"`
	// Callback is the URL to which delivery is reported.
	Callback string `json:"callback"`
	// Reference is the sender's own reference ID.
	Reference string `json:"reference"`
}

// ChatApp2Send is the operation that sends a message over chat app 2. The message is Meta-shaped and has no names here:
// Fields holds only what the service adds to it.
type ChatApp2Send struct {
	Send
	// Wrap is the name under which the whole Meta-shaped message goes, with what a caller adds to it; empty, the default: its
	// keys stand at the top level, with Fields beside them. None of those may then bear the name of the other, and a message
	// in which one does is refused.
	Wrap string `json:"wrap"`
	// Fields names the fields beside the message.
	Fields ChatApp2SendFields `json:"fields"`
	// TTL is the unit of the message lifetime, a default.
	TTL TTLUnit `json:"ttl"`
}

// ChatApp2SendFields names the fields beside a chat-app-2 message. Empty: the service has no such field, and using it is an
// error. All names are defaults, ttl by analogy with chat app 1.
type ChatApp2SendFields struct {
	// TTL is the message lifetime, in the unit of ChatApp2Send.TTL.
	TTL string `json:"ttl"`
	// FallbackFrom is the sender ID of the SMS that goes out when the recipient is not reached.
	FallbackFrom string `json:"fallbackFrom"`
	// FallbackText is the text of that SMS.
	FallbackText string `json:"fallbackText"`
	// Callback is the URL to which delivery is reported.
	Callback string `json:"callback"`
	// Reference is the sender's own reference ID.
	Reference string `json:"reference"`
}

// Encoding is how the parameters of a send are written. The zero value is not an encoding and is refused.
type Encoding string

// The encodings of a send.
const (
	// EncodingJSON writes a JSON object as the body; dots in names nest.
	EncodingJSON Encoding = "json"
	// EncodingForm writes a form as the body (application/x-www-form-urlencoded); dots are part of a name, and an object or
	// list, such as the parameters of a template or a wrapped message, goes as its JSON.
	EncodingForm Encoding = "form"
	// EncodingQuery writes the parameters into the query of the POST, as EncodingForm does into the body.
	EncodingQuery Encoding = "query"
)

func (Encoding) known() []string {
	return []string{string(EncodingForm), string(EncodingJSON), string(EncodingQuery)}
}

// TTLUnit is the unit of a message lifetime, which is sent as a whole number. The zero value is not a unit and is refused.
type TTLUnit string

// The units of a message lifetime.
const (
	TTLMilliseconds TTLUnit = "ms"
	TTLSeconds      TTLUnit = "s"
	TTLMinutes      TTLUnit = "m"
)

func (TTLUnit) known() []string {
	return []string{string(TTLMinutes), string(TTLMilliseconds), string(TTLSeconds)}
}

func (s Send) validate(found *problems, operation string, pair KeyPair, fields any, wrap string) {
	found.addFault(operation+".path", pathFault(s.Path))

	taken := newNames(s.Encoding == EncodingJSON)
	pair.claimNames(taken, s.Encoding == EncodingQuery)
	checkNames(found, operation+".fields", fields, taken)
	if wrap != "" {
		found.addFault(operation+".wrap", taken.claim(operation+".wrap", wrap))
	}
	checkConstants(found, operation+".constants", s.Constants, taken)
	concepts := fieldsOf(reflect.ValueOf(fields))
	for _, concept := range slices.Sorted(maps.Keys(s.With)) {
		path := join(operation+".with", concept)
		if _, ok := concepts[concept]; !ok {
			found.add(path, unknownKey(concepts))
		}
		checkConstants(found, path, s.With[concept], taken)
	}

	checkPaths(found, operation+".answer", s.Answer)
	checkList(found, operation+".accepted", s.Accepted)
}
