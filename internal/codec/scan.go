package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// scan reads a whole response at any depth, and not only where the contract looks. It goes by the names of the contract, and by names that
// services commonly use. The response is known to be JSON. A scan that neither tracks paths nor looks for IDs does not allocate.
type scan struct {
	*responses

	text    string
	scanner jsonscan.Scanner
	failure string      // why something in the response reports a failure, or ""
	ids     *scannedIDs // nil in a scan for failures alone

	tracksPath bool
	path       []string // of the current value
}

// object collects facts about the members of one JSON object.
type object struct {
	isStatus  bool // its members give the state of something
	isMessage bool // it may be a message

	// These are found by a scan for IDs alone:
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

// value reads a value by the kind of its name. Parent is the object around it.
func (s *scan) value(kind nameKind, parent *object) {
	if kind&kindFailure != 0 {
		s.failureMember()
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

// failureMember reads a value that reports a failure unless it is empty. An ID in it belongs to the error.
func (s *scan) failureMember() {
	e := s.readError()
	if e.hasContent {
		s.failure = memberFails
	}
	if e.hasID && s.ids != nil {
		s.ids.hasAny = true
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
	isThisMessage := o.isMessage && (o.accepts || o.namesRecipient)
	if isThisMessage && s.ids != nil {
		s.ids.found = append(s.ids.found, o.bareIDs...)
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
	isRelevant := reportsState(kind) || s.ids != nil
	if v.Kind <= jsonscan.Null || !isRelevant {
		return
	}
	word := strings.TrimSpace(v.Word(s.text))
	if failure := s.failureOf(kind, word); failure != "" {
		s.failure = failure
		return
	}
	if s.ids != nil {
		s.collect(kind, parent, v, word)
	}
}

// reportsState reports whether a value of a kind may report success or failure.
func reportsState(kind nameKind) bool { return kind&(kindSuccess|kindPartial|kindStatus|kindCode) != 0 }

// failureOf returns why a word reports a failure, or "".
func (s *scan) failureOf(kind nameKind, word string) string {
	switch {
	case kind&kindSuccess != 0 && isFalse(word):
		return memberFails
	case kind&kindPartial != 0 && isTrue(word):
		return isPartial
	case kind&(kindStatus|kindCode) != 0 && s.fails(kind, word):
		return statusFails
	default:
		return ""
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
