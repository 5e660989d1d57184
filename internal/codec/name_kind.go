package codec

import (
	"bytes"
	"strings"
)

// The names in this file are common among services, and belong to no contract. They are compared in lower case and without separators:
// error_code, errorCode and Error-Code are one name.

// nameKind is the set of things that a name commonly means.
type nameKind uint16

const (
	kindFailure    nameKind = 1 << iota // a value that reports a failure unless it is empty, such as error, reason and rejected
	kindSuccess                         // a flag: false reports a failure
	kindPartial                         // a flag: true says that the response is incomplete
	kindStatus                          // a word for the state of something
	kindCode                            // a code of an error or of a success
	kindSentence                        // a sentence for people
	kindMessage                         // an object or a list of messages
	kindMessageID                       // the ID of a message
	kindBareID                          // the ID of the object around it
	kindOtherID                         // the ID of something else
	kindRequestID                       // the ID of a request
	kindStatusPart                      // not by its name: a member of a status, in which a word is a status

	kindAnyID = kindMessageID | kindBareID | kindOtherID
)

// commonNames are whole names. They come before commonParts.
var commonNames = map[string]nameKind{ //nolint:gochecknoglobals // never written
	"success":    kindSuccess, // "success": false
	"issuccess":  kindSuccess, // "isSuccess": "false"
	"succeeded":  kindSuccess, // "succeeded": false
	"successful": kindSuccess, // "successful": 0
	"ok":         kindSuccess, // "ok": false
	"isok":       kindSuccess, // "isOk": false
	"accepted":   kindSuccess, // "accepted": "no"
	"isaccepted": kindSuccess, // "isAccepted": false
	"partial":    kindPartial, // "partial": true

	"code":         kindCode,              // "code": "E102"
	"returncode":   kindCode,              // "returnCode": 0
	"statuscode":   kindCode | kindStatus, // "statusCode": 101, "statusCode": "DELIVERED"
	"resultcode":   kindCode | kindStatus, // "result_code": "INVALID_SENDER"
	"responsecode": kindCode | kindStatus, // "responseCode": "FAILED"

	"message":     kindSentence | kindMessage, // "message": "Sent", "message": {"id": "m-1"}
	"description": kindSentence,               // "description": "No credit"
	"detail":      kindSentence,               // "detail": "No credit"
	"title":       kindSentence,               // "title": "Bad request"
	"text":        kindSentence,               // "text": "Your code is 123"

	"data":       kindMessage,              // "data": {"id": "m-1"}
	"result":     kindStatus | kindMessage, // "result": "ok", "result": {"id": "m-1"}
	"results":    kindMessage,              // "results": [{"id": "m-1"}]
	"response":   kindMessage,              // "response": {"id": "m-1"}
	"responses":  kindMessage,              // "responses": [{"id": "m-1"}]
	"items":      kindMessage,              // "items": [{"id": "m-1"}]
	"payload":    kindMessage,              // "payload": {"id": "m-1"}
	"recipients": kindMessage,              // "recipients": [{"id": "m-1"}]

	"id":   kindBareID, // "message": {"id": "m-1"}, "campaign": {"id": 7}
	"sid":  kindBareID, // "sid": "SM1f0c"
	"uuid": kindBareID, // "uuid": "0b5f…"
}

// commonParts are parts of names that always mean the same, unless the name has the exception.
var commonParts = []struct { //nolint:gochecknoglobals // never written
	part   string
	except string
	kind   nameKind
}{
	{"error", "", kindFailure},               // "errorText": "No credit"
	{"fault", "default", kindFailure},        // "faultString": "No credit", but not "defaultSender"
	{"exception", "", kindFailure},           // "exceptionType": "Auth"
	{"reason", "", kindFailure},              // "failureReason": "No credit"
	{"reject", "", kindFailure},              // "rejectedRecipients": ["+639171234567"]
	{"fail", "failover", kindFailure},        // "failedCount": 1, but not "failoverURL"
	{"invalid", "", kindFailure},             // "invalidNumbers": ["12"]
	{"blacklist", "", kindFailure},           // "blacklisted": true
	{"status", "statuscallback", kindStatus}, // "messageStatus": "queued", but not "statusCallback"
	{"state", "statement", kindStatus},       // "deliveryState": "queued", but not "statement"
	{"outcome", "", kindStatus},              // "outcome": "queued"
	{"sms", "", kindMessage},                 // "smsList": [{"id": "m-1"}]
	{"message", "", kindMessage},             // "sentMessages": [{"id": "m-1"}]
}

// kindOf returns what a name commonly means.
func kindOf(name []byte) nameKind {
	var buffer [48]byte
	folded := foldName(buffer[:0], name, len(buffer))
	if kind, ok := commonNames[string(folded)]; ok {
		return kind
	}
	kind := idKind(folded)
	if bytes.HasPrefix(folded, []byte("err")) { // errCode, errors
		kind |= kindFailure
	}
	for i := range commonParts {
		p := &commonParts[i]
		isException := p.except != "" && bytes.Contains(folded, []byte(p.except))
		if bytes.Contains(folded, []byte(p.part)) && !isException {
			kind |= p.kind
		}
	}
	return kind
}

// idKind returns the kind of an ID by its folded name, or 0 if the name is not that of an ID.
func idKind(folded []byte) nameKind {
	hasSuffix := func(suffix string) bool { return bytes.HasSuffix(folded, []byte(suffix)) }
	switch {
	case isMessageID(folded):
		return kindMessageID
	case !hasSuffix("id"), hasSuffix("valid"), hasSuffix("paid"):
		return 0
	}
	for _, part := range []string{"request", "trace", "correlation"} {
		if bytes.Contains(folded, []byte(part)) {
			return kindRequestID
		}
	}
	return kindOtherID
}

// isMessageID reports whether a folded name is that of a message ID: message, msg, sms or text before or after id, uuid, sid, token and
// the like, such as messageid, apimessageid, smssid and idmessage. IDs of requests, batches and accounts do not count.
func isMessageID(folded []byte) bool {
	name := strings.TrimPrefix(string(folded), "api")
	if rest, ok := strings.CutPrefix(name, "id"); ok {
		return rest == "message" || rest == "msg" || rest == "sms"
	}
	rest := name
	for _, part := range []string{"sms", "text", "messages", "message", "msg"} {
		rest = strings.TrimPrefix(rest, part)
	}
	switch rest {
	case "id", "uuid", "sid", "uid", "guid", "token":
		return rest != name
	}
	return false
}

// foldName appends the first most bytes of a name, in lower case and without separators.
func foldName(to, name []byte, most int) []byte {
	for _, c := range name[:min(len(name), most)] {
		switch {
		case 'A' <= c && c <= 'Z':
			to = append(to, c|0x20)
		case c != '_' && c != '-' && c != ' ' && c != '.':
			to = append(to, c)
		}
	}
	return to
}
