package codec

import (
	"bytes"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// The names in this file are common among services, and belong to no contract. They are compared in lower case and without separators:
// error_code, errorCode and Error-Code are one name.

// nameKind is the set of things that a name commonly means.
type nameKind uint16

const (
	kindFailure    nameKind = 1 << iota // a value that reports a failure unless it is empty, such as error, reason and rejected
	kindSuccess                         // false reports a failure, such as success and ok
	kindPartial                         // true says that the response is incomplete
	kindStatus                          // a word for the state of something
	kindCode                            // a code of an error or of a success
	kindSentence                        // a sentence for people
	kindMessage                         // an object or a list of messages
	kindMessageID                       // the ID of a message
	kindBareID                          // an ID of the object around it
	kindOtherID                         // an ID of something else
	kindRequestID                       // the ID of a request
	kindStatusPart                      // not by its name: a member of a status, in which a word is a status

	kindAnyID = kindMessageID | kindBareID | kindOtherID
)

var commonNames = map[string]nameKind{ //nolint:gochecknoglobals // never written
	"success": kindSuccess, "issuccess": kindSuccess, "succeeded": kindSuccess, "successful": kindSuccess, "ok": kindSuccess, "isok": kindSuccess,
	"accepted": kindSuccess, "isaccepted": kindSuccess, "partial": kindPartial,
	"code": kindCode, "returncode": kindCode,
	"statuscode": kindCode | kindStatus, "resultcode": kindCode | kindStatus, "responsecode": kindCode | kindStatus,
	"message": kindSentence | kindMessage, "description": kindSentence, "detail": kindSentence, "title": kindSentence, "text": kindSentence,
	"data": kindMessage, "result": kindStatus | kindMessage, "results": kindMessage, "response": kindMessage, "responses": kindMessage,
	"items": kindMessage, "payload": kindMessage, "recipients": kindMessage,
	"id": kindBareID, "sid": kindBareID, "uuid": kindBareID,
}

// commonParts are parts of names that always mean the same, unless the name has one of the exceptions.
var commonParts = []struct { //nolint:gochecknoglobals // never written
	part   string
	except string
	kind   nameKind
}{
	{"error", "", kindFailure},
	{"fault", "default", kindFailure},
	{"exception", "", kindFailure},
	{"reason", "", kindFailure},
	{"reject", "", kindFailure},
	{"fail", "failover", kindFailure},
	{"invalid", "", kindFailure},
	{"blacklist", "", kindFailure},
	{"status", "statuscallback", kindStatus},
	{"state", "statement", kindStatus},
	{"outcome", "", kindStatus},
	{"sms", "", kindMessage},
	{"message", "", kindMessage},
}

// kindOf returns what a name commonly means.
func kindOf(name []byte) nameKind {
	var buffer [48]byte
	folded := foldName(buffer[:0], name, len(buffer))
	if kind, ok := commonNames[string(folded)]; ok {
		return kind
	}
	kind := idKind(folded)
	if bytes.HasPrefix(folded, []byte("err")) {
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

// refusingParts are parts of the words and codes by which services report a failure.
var refusingParts = []string{ //nolint:gochecknoglobals // never written
	"fail", "reject", "error", "fault", "exception", "invalid", "denied", "forbid", "undeliv", "expired", "insufficient", "unauthor", "blocked",
	"notallowed", "notfound", "illegal",
}

// commonlyRefuses reports whether a word or a code reports a failure, such as FAILED_CREDIT or InvalidParameter. A sentence does not count:
// it may speak of something else.
func commonlyRefuses(word string) bool {
	const longest = 48
	if len(word) > longest {
		return false
	}
	var buffer [longest]byte
	folded := foldName(buffer[:0], []byte(word), longest)
	isNegated := bytes.HasPrefix(folded, []byte("no")) && !bytes.HasPrefix(folded, []byte("not")) // such as NO_ERROR
	if isNegated {
		return false
	}
	for _, part := range refusingParts {
		if bytes.Contains(folded, []byte(part)) {
			return true
		}
	}
	return false
}

// isFailedHTTPStatus reports whether a code is an HTTP status of a failure.
func isFailedHTTPStatus(word string) bool {
	const digits = "0123456789"
	if len(word) != 3 || strings.Trim(word, digits) != "" {
		return false
	}
	return word[0] == '4' || word[0] == '5'
}

// kindsOfNames returns the kinds of the names in the paths of a contract. The last name of the path
// of an error code or a status also has that kind.
func kindsOfNames(lists map[string][]string, errors *table.Errors) map[string]nameKind {
	kinds := map[string]nameKind{}
	add := func(paths []string, last nameKind) {
		for _, path := range paths {
			for name := range strings.SplitSeq(path, ".") {
				kinds[name] |= kindOf([]byte(name))
			}
			kinds[lastName(path)] |= last
		}
	}
	for concept, paths := range lists {
		if concept == "status" {
			add(paths, kindStatus)
		} else {
			add(paths, 0)
		}
	}
	add(errors.Code, kindCode)
	add(errors.Message, 0)
	add(errors.Request, 0)
	return kinds
}

// claimedPaths returns the paths, and the paths on the way to them, at which the contract reads something other than the common meaning of
// their names, such as an operator at data.status. They say nothing about a failure.
func claimedPaths(lists map[string][]string) map[string]bool {
	claimed := map[string]bool{}
	for concept, list := range lists {
		if concept == "status" {
			continue
		}
		for _, path := range list {
			for rest := path; rest != ""; rest = parentOf(rest) {
				if isClaimed(rest, rest == path) {
					claimed[rest] = true
				}
			}
		}
	}
	return claimed
}

// isClaimed reports whether the last name of a path commonly says something about a failure. An object of messages on the way to the end
// of a path, such as result, does not: it is not read as a status.
func isClaimed(path string, isEnd bool) bool {
	kind := kindOf([]byte(lastName(path)))
	if !isEnd && kind&kindMessage != 0 {
		return false
	}
	return kind&(kindFailure|kindSuccess|kindPartial|kindStatus|kindCode) != 0
}

// kindOf returns what a name means in the contract or, if the contract does not have it, what it commonly means.
func (r *responses) kindOf(name []byte) nameKind {
	if kind, ok := r.nameKinds[string(name)]; ok {
		return kind
	}
	return kindOf(name)
}

// lastName returns the last name of a path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// parentOf returns the path of the object or the list that holds a path. It is "" for the document.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// pathsAround returns the paths of the objects and lists around a path, from the innermost one on, without the document.
func pathsAround(path string) (all []string) {
	for path = parentOf(path); path != ""; path = parentOf(path) {
		all = append(all, path)
	}
	return all
}
