package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/internal/table"
)

// scan reads a whole response at any depth, and not only where the contract looks. It goes by the names of the contract, and by names that
// services commonly use. The response is known to be JSON. A scan for failures alone does not allocate.
type scan struct {
	*responses

	text    string
	scanner jsonscan.Scanner
	failure string // why something in the response reports a failure, or ""

	tracksPath bool
	path       []string // of the current value

	// These are for a scan that looks for IDs:
	seeksIDs bool
	to       string    // the digits of the message's recipient
	ids      []namedID // of messages
	hasAnyID bool      // there is an ID of anything other than a request
}

// namedID is the ID of a message that was found by its name. The path is "" if no contract can have it.
type namedID struct{ path, id string }

// object collects facts about the members of one JSON object.
type object struct {
	isStatus       bool // its members give the state of something
	isMessage      bool // it may be a message
	accepts        bool // a status, a code or a flag in it reports success
	namesRecipient bool // it has the number of the message's recipient
	bareIDs        []namedID
}

const (
	memberFails = "the response holds a member that says that something failed, such as an error, a reason or a false success"
	statusFails = "the response holds a status or a code that says that something failed (refused, errors.classes)"
	isPartial   = "the response says that it is incomplete (partial)"
)

// scanForFailure returns why anything in a response reports a failure, or "".
func (r *responses) scanForFailure(d *document) string {
	s := scan{responses: r, text: d.text, scanner: jsonscan.Scanner{Doc: d.raw}, tracksPath: len(r.claimed) > 0}
	s.value(kindMessage, &object{})
	return s.failure
}

// scanForIDs returns the IDs of messages in a response, and whether it has the ID of anything other than a request.
func (r *responses) scanForIDs(doc []byte, to string) (ids []namedID, hasAnyID bool) {
	s := scan{
		responses: r, text: string(doc), scanner: jsonscan.Scanner{Doc: doc},
		tracksPath: true, seeksIDs: true, to: phone.ASCIIDigits(to),
	}
	s.value(kindMessage, &object{})
	return s.ids, s.hasAnyID
}

// value reads a value by the kind of its name. Parent is the object around it.
func (s *scan) value(kind nameKind, parent *object) {
	if kind&kindFailure != 0 {
		e := s.readError()
		if e.hasContent {
			s.failure = memberFails
		}
		s.hasAnyID = s.hasAnyID || e.hasID
		return
	}
	switch c := s.scanner.Peek(); c {
	case '{':
		s.members(kind, parent)
	case '[':
		for more := s.scanner.Open(']'); more; more = s.scanner.Next(']') {
			s.enter("0") // all elements have one path
			s.value(kind, parent)
			s.leave()
		}
	default:
		s.scalar(kind, parent, s.scanner.Scalar(c))
	}
}

// members reads the members of an object.
func (s *scan) members(kind nameKind, parent *object) {
	isMessage := kind&kindMessage != 0
	o := object{isStatus: kind&kindStatus != 0 && !isMessage, isMessage: isMessage}
	for more := s.scanner.Open('}'); more; more = s.scanner.Next('}') {
		name := s.scanner.Name()
		memberKind := s.kindOf(name)
		if s.tracksPath {
			s.enter(pathElement(string(name)))
		}
		if s.isClaimed() {
			memberKind = 0
		}
		s.value(memberKind, &o)
		s.leave()
	}
	if o.isStatus && o.accepts {
		parent.accepts = true
	}
	if o.isMessage && (o.accepts || o.namesRecipient) {
		s.ids = append(s.ids, o.bareIDs...)
	}
}

// isClaimed reports whether the contract reads something other than the common meaning at the current path.
func (s *scan) isClaimed() bool {
	return len(s.claimed) > 0 && s.claimed[strings.Join(s.path, ".")]
}

// scalar reads a text, a number, true, false or null.
func (s *scan) scalar(kind nameKind, parent *object, v value) {
	if parent.isStatus && kind&(kindSentence|kindAnyID|kindRequestID) == 0 {
		kind |= kindStatus
	}
	reportsState := kind&(kindSuccess|kindPartial|kindStatus|kindCode) != 0
	if v.Kind <= jsonscan.Null || !reportsState && !s.seeksIDs {
		return
	}
	word := strings.TrimSpace(v.Word(s.text))
	switch {
	case kind&kindSuccess != 0 && isFalse(word):
		s.failure = memberFails
	case kind&kindPartial != 0 && isTrue(word):
		s.failure = isPartial
	case kind&(kindStatus|kindCode) != 0 && s.fails(kind, word):
		s.failure = statusFails
	case s.seeksIDs && reportsState:
		parent.accepts = parent.accepts || s.accepts(kind, word)
	case s.seeksIDs:
		s.id(kind, parent, v, word)
	}
}

// fails reports whether a status or a code reports a failure. A word that accepts the message and a success code do not.
func (s *scan) fails(kind nameKind, word string) bool {
	if table.Match(s.vocabulary.accepted, word, true) >= 0 {
		return false
	}
	class, isSuccess := s.meaning(word)
	isStatus := kind&kindStatus != 0
	switch {
	case isSuccess:
		return false
	case !isStatus && isFalse(word): // no code
		return false
	case kind&kindCode != 0 && class != "":
		return true
	case isNumber(word): // which may be a state of any kind
		return isFailedHTTPStatus(word)
	default:
		return s.vocabulary.refuses(word) || commonlyRefuses(word)
	}
}

// accepts reports whether a status, a code or a flag reports success.
func (s *scan) accepts(kind nameKind, word string) bool {
	if table.Match(s.vocabulary.accepted, word, true) >= 0 {
		return true
	}
	_, isSuccess := s.meaning(word)
	isSuccessCode := isSuccess && kind&kindCode != 0
	isFlag := isTrue(word) && kind&kindSuccess != 0
	return isSuccessCode || isFlag
}

// id keeps an ID, or notes that it is the number of the recipient.
func (s *scan) id(kind nameKind, parent *object, v value, word string) {
	const minDigits = 7 // of a number
	digits := phone.ASCIIDigits(word)
	isRecipient := len(digits) >= minDigits && digits == s.to
	parent.namesRecipient = parent.namesRecipient || isRecipient
	if kind&kindAnyID == 0 || isRecipient || !s.vocabulary.isID(v, word) {
		return
	}
	s.hasAnyID = true
	found := namedID{path: strings.Join(s.path, "."), id: word}
	if strings.Contains("."+found.path+".", "..") { // a name that no path can have
		found.path = ""
	}
	switch {
	case kind&kindMessageID != 0:
		s.ids = append(s.ids, found)
	case kind&kindBareID != 0:
		parent.bareIDs = append(parent.bareIDs, found)
	}
}

// errorContent is what the value at the place of an error holds.
type errorContent struct {
	hasContent bool // it reports an error
	hasID      bool
}

// readError reads the value at the place of an error. Null, false, zero, a success word, and lists or objects of only these report no
// error. Neither does an object with a success code.
func (s *scan) readError() (e errorContent) {
	hasSuccessCode := false
	switch c := s.scanner.Peek(); c {
	case '{':
		for more := s.scanner.Open('}'); more; more = s.scanner.Next('}') {
			kind := s.kindOf(s.scanner.Name())
			isSuccessCode := kind&kindCode != 0 && s.isSuccessCodeNext()
			member := s.readError()
			isID := member.hasContent && kind&kindAnyID != 0
			hasSuccessCode = hasSuccessCode || isSuccessCode
			e.hasContent = e.hasContent || member.hasContent
			e.hasID = e.hasID || member.hasID || isID
		}
	case '[':
		for more := s.scanner.Open(']'); more; more = s.scanner.Next(']') {
			element := s.readError()
			e.hasContent = e.hasContent || element.hasContent
			e.hasID = e.hasID || element.hasID
		}
	default:
		v := s.scanner.Scalar(c)
		e.hasContent = v.Kind > jsonscan.Null && !s.saysNoError(strings.TrimSpace(v.Word(s.text)))
	}
	e.hasContent = e.hasContent && !hasSuccessCode
	return e
}

// holdsError reports whether the value at the place of an error reports one.
func (r *responses) holdsError(d *document, slot int) bool {
	v := d.values[slot]
	if !d.has(slot) {
		return false
	}
	if v.IsScalar() {
		return !r.saysNoError(strings.TrimSpace(d.word(slot)))
	}
	text := d.text[v.Start:v.End]
	s := scan{responses: r, text: text, scanner: jsonscan.Scanner{Doc: []byte(text)}}
	return s.readError().hasContent
}

// isSuccessCodeNext reports whether the next value is a success code. It does not read the value.
func (s *scan) isSuccessCodeNext() bool {
	ahead := jsonscan.Scanner{Doc: s.scanner.Doc, Pos: s.scanner.Pos}
	c := ahead.Peek()
	if c == '{' || c == '[' {
		return false
	}
	_, isSuccess := s.meaning(strings.TrimSpace(ahead.Scalar(c).Word(s.text)))
	return isSuccess
}

// saysNoError reports whether the word at the place of an error says that there is no error.
func (r *responses) saysNoError(word string) bool {
	_, isSuccess := r.meaning(word)
	switch {
	case isSuccess, strings.Trim(word, "0.") == "", strings.EqualFold(word, "false"):
		return true
	case isNumber(word), isTrue(word), commonlyRefuses(word), strings.EqualFold(word, "unknown"):
		return false
	default:
		return table.Match(r.vocabulary.accepted, word, true) >= 0 || table.IsPlaceholder(word)
	}
}

func (s *scan) enter(name string) {
	if s.tracksPath {
		s.path = append(s.path, name)
	}
}

func (s *scan) leave() {
	if s.tracksPath {
		s.path = s.path[:len(s.path)-1]
	}
}

// pathElement returns the name of a member in a path, or "" if a path cannot have it.
func pathElement(name string) string {
	if strings.ContainsAny(name, ".*$") || table.IsPosition(name) {
		return ""
	}
	return name
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789+-.") == "" }
