package codec

import (
	"cmp"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/internal/table"
)

// scan goes through a whole response, at any depth, and not only to the paths of the contract. It goes by the names of members: those of the
// contract, and those that services commonly use. There are two scans, which differ in what they keep:
//
//   - scanForFailure asks whether anything reports a failure. If so, an ID does not prove that the message was accepted.
//   - scanForIDs also keeps the IDs of messages, for a response without an ID at the paths of the contract (see scan_ids.go).
//
// Each method reads one value, and returns what the value says about the object around it.
type scan struct {
	*responseFormat

	text    string
	scanner jsonscan.Scanner

	keepsIDs bool
	ids      scannedIDs
}

// newScan returns a scan of a document, which is known to be JSON, and which is given as bytes and as text.
func (r *responseFormat) newScan(doc []byte, text string) scan {
	return scan{responseFormat: r, text: text, scanner: jsonscan.Scanner{Doc: doc}}
}

// scanForFailure returns why anything in a response reports a failure, or "". It allocates only for strings with escapes.
func (r *responseFormat) scanForFailure(d *document) string {
	s := r.newScan(d.raw, d.text)
	return s.value(kindMessage, nil).failure
}

// scanForIDs returns the IDs of messages in a response, and whether it has the ID of anything other than a request. The message was sent to a
// number.
func (r *responseFormat) scanForIDs(doc []byte, to string) (ids []namedID, hasAnyID bool) {
	s := r.newScan(doc, string(doc))
	s.keepsIDs = true
	s.ids.to = phone.ASCIIDigits(to)
	found := s.value(kindMessage, nil)
	return s.ids.messages, found.hasAnyID
}

// finding is what a value says about the object around it.
type finding struct {
	failure string // why something in the value reports a failure, or ""
	accepts bool   // a status, a code or a flag reports success

	// Only scanForIDs uses these:
	namesRecipient bool // the value is the number of the message's recipient
	hasAnyID       bool // the value is or holds the ID of anything other than a request
}

// add adds what another value says about the same object. Of several failures the last counts.
func (f *finding) add(other finding) {
	f.failure = cmp.Or(other.failure, f.failure)
	f.accepts = f.accepts || other.accepts
	f.namesRecipient = f.namesRecipient || other.namesRecipient
	f.hasAnyID = f.hasAnyID || other.hasAnyID
}

const (
	memberFails = "the response holds a member that says that something failed, such as an error, a reason or a false success"
	statusFails = "the response holds a status or a code that says that something failed (refused, errors.classes)"
	incomplete  = "the response says that it is incomplete (partial)"
)

// value reads the value at a path by the kind of its name.
func (s *scan) value(kind nameKind, at *scanPath) finding {
	if kind&kindFailure != 0 {
		return s.failureMember()
	}
	switch c := s.scanner.Peek(); c {
	case '{':
		return s.object(kind, at)
	case '[':
		return s.list(kind, at)
	default:
		return s.scalar(kind, at, s.scanner.Scalar(c))
	}
}

// failureMember reads a value that reports a failure unless it is empty. An ID in it belongs to the error.
func (s *scan) failureMember() finding {
	e := s.errorValue()
	found := finding{hasAnyID: e.hasID}
	if e.hasContent {
		found.failure = memberFails
	}
	return found
}

// elementName is the name of each element of a list in a path: the contract reads the first one.
var elementName = []byte("0") //nolint:gochecknoglobals // never written

// list reads the elements of a list. Each has the kind of the list.
func (s *scan) list(kind nameKind, at *scanPath) (found finding) {
	element := scanPath{outer: at, name: elementName, isElement: true, length: at.lengthWith(elementName)}
	for more := s.scanner.Open(']'); more; more = s.scanner.Next(']') {
		found.add(s.value(kind, &element))
	}
	return found
}

// object reads an object. Success within a status is that of the object around it. In any other object, such as a message, success and the
// recipient belong to that object alone.
func (s *scan) object(kind nameKind, at *scanPath) finding {
	isMessage := kind&kindMessage != 0
	isStatus := kind&kindStatus != 0 && !isMessage
	enclosing := len(s.ids.bare)
	var members finding
	for more := s.scanner.Open('}'); more; more = s.scanner.Next('}') {
		members.add(s.member(at, isStatus))
	}
	isThisMessage := isMessage && (members.accepts || members.namesRecipient)
	s.ids.endObject(enclosing, isThisMessage)
	return finding{failure: members.failure, accepts: isStatus && members.accepts, hasAnyID: members.hasAnyID}
}

// member reads a member of the object at a path.
func (s *scan) member(object *scanPath, isInStatus bool) finding {
	name := s.scanner.Name()
	at := scanPath{outer: object, name: name, length: object.lengthWith(name)}
	kind := s.kindOf(name)
	if s.isExempt(&at) {
		kind = 0
	}
	if isInStatus && kind&(kindSentence|kindAnyID|kindRequestID) == 0 {
		kind |= kindStatusPart
	}
	return s.value(kind, &at)
}

// isExempt reports whether the contract reads something other than the common meaning at a path.
func (s *scan) isExempt(at *scanPath) bool {
	if len(s.exempt) == 0 {
		return false
	}
	var buffer [64]byte
	path, isPath := at.appendTo(buffer[:0])
	return isPath && s.exempt[string(path)]
}

// scalar reads a text, a number, true, false or null.
func (s *scan) scalar(kind nameKind, at *scanPath, v value) finding {
	const state = kindSuccess | kindPartial | kindStatus | kindStatusPart | kindCode
	isState := kind&state != 0
	isRelevant := isState || s.keepsIDs
	if v.Kind <= jsonscan.Null || !isRelevant {
		return finding{}
	}
	word := strings.TrimSpace(v.Word(s.text))
	if isState {
		return s.state(kind, word)
	}
	return s.id(kind, at, v, word)
}

// state returns what a status, a code or a flag says.
func (s *scan) state(kind nameKind, word string) finding {
	isFlag := kind&kindSuccess != 0
	switch {
	case isFlag && isFalse(word):
		return finding{failure: memberFails}
	case kind&kindPartial != 0 && isTrue(word):
		return finding{failure: incomplete}
	case table.Match(s.vocabulary.accepted, word, true) >= 0:
		return finding{accepts: true}
	}
	class, isSuccess := s.meaning(word)
	if !isSuccess && s.fails(kind, word, class) {
		return finding{failure: statusFails}
	}
	isSuccessCode := isSuccess && kind&kindCode != 0
	isTrueFlag := isFlag && isTrue(word)
	return finding{accepts: isSuccessCode || isTrueFlag}
}

// fails reports whether a word that neither accepts the message nor is a success code reports a failure. Class is that of the word as an
// error code, or "".
func (s *scan) fails(kind nameKind, word, class string) bool {
	isCode := kind&kindCode != 0
	isStatus := kind&(kindStatus|kindStatusPart) != 0
	switch {
	case !isCode && !isStatus: // a flag
		return false
	case !isStatus && isFalse(word): // no code
		return false
	case isCode && class != "":
		return true
	case isNumber(word): // which may be a state of any kind
		return isFailedHTTPStatus(word)
	default:
		return s.vocabulary.refuses(word) || commonlyRefuses(word)
	}
}
