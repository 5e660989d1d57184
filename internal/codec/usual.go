package codec

import (
	"bytes"
	"strings"
)

// The names in this file are those that services usually give to things, whatever a contract says of them. They are compared in lower case
// and without separators, so that error_code, errorCode and Error-Code are one name.

// usual is what a name usually stands for: a set of bits.
type usual uint16

const (
	ofFailure   usual = 1 << iota // anything in it says that something failed, such as error, reason and rejected
	ofSuccess                     // false says that something failed, such as success and ok
	ofPart                        // true says that the response is incomplete
	ofStatus                      // a word for what became of something
	ofCode                        // a code of an error or of a success
	ofText                        // a sentence for people
	ofMessage                     // an object or a list of messages
	ofMessageID                   // the ID of a message
	ofBareID                      // an ID of what the object around it is
	ofAnyID                       // an ID of something else
	ofRequestID                   // the ID of a request
)

var usualNames = map[string]usual{ //nolint:gochecknoglobals // never written
	"success": ofSuccess, "issuccess": ofSuccess, "succeeded": ofSuccess, "successful": ofSuccess, "ok": ofSuccess, "isok": ofSuccess,
	"accepted": ofSuccess, "isaccepted": ofSuccess, "partial": ofPart,
	"code": ofCode, "statuscode": ofCode | ofStatus, "resultcode": ofCode | ofStatus, "responsecode": ofCode | ofStatus, "returncode": ofCode,
	"message": ofText | ofMessage, "description": ofText, "detail": ofText, "title": ofText, "text": ofText,
	"data": ofMessage, "result": ofStatus | ofMessage, "results": ofMessage, "response": ofMessage, "responses": ofMessage, "items": ofMessage,
	"payload": ofMessage, "recipients": ofMessage,
	"id": ofBareID, "sid": ofBareID, "uuid": ofBareID,
}

// usualParts are parts of names that have no other meaning, unless the name has one of the exceptions.
var usualParts = []struct { //nolint:gochecknoglobals // never written
	part   string
	except string
	usual  usual
}{
	{"error", "", ofFailure},
	{"fault", "default", ofFailure},
	{"exception", "", ofFailure},
	{"reason", "", ofFailure},
	{"reject", "", ofFailure},
	{"fail", "failover", ofFailure},
	{"invalid", "", ofFailure},
	{"blacklist", "", ofFailure},
	{"status", "statuscallback", ofStatus},
	{"state", "statement", ofStatus},
	{"outcome", "", ofStatus},
	{"sms", "", ofMessage},
	{"message", "", ofMessage},
}

// usualOf returns what a name usually stands for.
func usualOf(name []byte) usual {
	var buffer [48]byte
	folded := foldName(buffer[:0], name)
	if known, ok := usualNames[string(folded)]; ok {
		return known
	}
	meaning := idOf(folded)
	if bytes.HasPrefix(folded, []byte("err")) {
		meaning |= ofFailure
	}
	for i := range usualParts {
		p := &usualParts[i]
		if bytes.Contains(folded, []byte(p.part)) && (p.except == "" || !bytes.Contains(folded, []byte(p.except))) {
			meaning |= p.usual
		}
	}
	return meaning
}

// idOf returns which ID a folded name stands for, or 0 if it is none.
func idOf(folded []byte) usual {
	switch {
	case isMessageID(folded):
		return ofMessageID
	case !bytes.HasSuffix(folded, []byte("id")), bytes.HasSuffix(folded, []byte("valid")), bytes.HasSuffix(folded, []byte("paid")):
		return 0
	}
	for _, part := range []string{"request", "trace", "correlation"} {
		if bytes.Contains(folded, []byte(part)) {
			return ofRequestID
		}
	}
	return ofAnyID
}

// isMessageID reports whether a folded name is that of a message's ID: message, msg, sms or text before or behind id, uuid, sid, token and
// the like, such as messageid, apimessageid, smssid and idmessage. The ID of a request, a batch or an account is none.
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

// foldName appends a name in lower case and without separators. Of a long name it appends the beginning.
func foldName(to, name []byte) []byte {
	for _, c := range name[:min(len(name), cap(to))] {
		switch {
		case 'A' <= c && c <= 'Z':
			to = append(to, c|0x20)
		case c != '_' && c != '-' && c != ' ' && c != '.':
			to = append(to, c)
		}
	}
	return to
}

// refusingParts are parts of the words and codes by which services say that something failed.
var refusingParts = []string{ //nolint:gochecknoglobals // never written
	"fail", "reject", "error", "fault", "exception", "invalid", "denied", "forbid", "undeliv", "expired", "insufficient", "unauthor", "blocked",
	"notallowed", "notfound", "illegal",
}

// usuallyRefuses reports whether a word or a code says that something failed, such as FAILED_CREDIT or InvalidParameter. A sentence may
// say so of something else.
func usuallyRefuses(word string) bool {
	const longest = 48
	if len(word) > longest {
		return false
	}
	var buffer [longest]byte
	folded := foldName(buffer[:0], []byte(word))
	if bytes.HasPrefix(folded, []byte("no")) && !bytes.HasPrefix(folded, []byte("not")) { // such as NO_ERROR
		return false
	}
	for _, part := range refusingParts {
		if bytes.Contains(folded, []byte(part)) {
			return true
		}
	}
	return false
}

// isHTTPFailure reports whether a code is an HTTP status of a failure.
func isHTTPFailure(word string) bool {
	return len(word) == 3 && (word[0] == '4' || word[0] == '5') && '0' <= word[1] && word[1] <= '9' && '0' <= word[2] && word[2] <= '9'
}
