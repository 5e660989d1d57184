package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A survey reads a whole response, at any depth and wherever the contract looks: what it says by the names that services usually give to
// things, and by those of the contract. The response has been checked. A survey needs no memory unless it looks for IDs.
type survey struct {
	*responses

	text    string
	scanner jsonscan.Scanner
	failure string // why something in the response says failure, or ""

	hasPath bool     // the path is needed
	path    []string // of the value that is being read

	// Of a survey that looks for IDs:
	seeksIDs bool
	to       string // the recipient of the message
	messages []namedID
	hasAnyID bool // there is the ID of anything but a request
}

// namedID is the ID of a message that was found by its name. The path is "" if no contract can name it.
type namedID struct{ path, id string }

// object is what the members of an object say of each other.
type object struct {
	isStatus  bool // its members say what became of something
	isMessage bool // it may be a message
	accepts   bool // a status, a code or a flag in it says success
	isOurs    bool // it has the number of the recipient
	bareIDs   []namedID
}

const (
	memberFails = "the response holds a member that says that something failed, such as an error, a reason or a false success"
	statusFails = "the response holds a status or a code that says that something failed (refused, errors.classes)"
	isPartial   = "the response says that it is incomplete (partial)"
)

// failureIn returns why anything in a response says failure, or "".
func (r *responses) failureIn(doc []byte, text string) string {
	v := survey{responses: r, text: text, scanner: jsonscan.Scanner{Doc: doc}, hasPath: len(r.elsewhere) > 0}
	v.value(ofMessage, &object{})
	return v.failure
}

// idsIn returns the IDs of messages that a response names, and whether it holds the ID of anything but a request.
func (r *responses) idsIn(doc []byte, text, to string) (messages []namedID, hasAnyID bool) {
	v := survey{responses: r, text: text, scanner: jsonscan.Scanner{Doc: doc}, hasPath: true, seeksIDs: true, to: digitsOf(to)}
	v.value(ofMessage, &object{})
	return v.messages, v.hasAnyID
}

// value reads a value. Name is what its name usually stands for, and in the object around it.
func (v *survey) value(name usual, in *object) {
	if name&ofFailure != 0 {
		if v.hasContent() {
			v.failure = memberFails
		}
		return
	}
	switch c := v.scanner.Peek(); c {
	case '{':
		v.members(name, in)
	case '[':
		for more := v.scanner.Open(']'); more; more = v.scanner.Next(']') {
			v.enter("0") // all elements are one place
			v.value(name, in)
			v.leave()
		}
	default:
		v.scalar(name, in, v.scanner.Scalar(c))
	}
}

// members reads the members of an object.
func (v *survey) members(name usual, in *object) {
	o := object{isStatus: name&ofStatus != 0 && name&ofMessage == 0, isMessage: name&ofMessage != 0}
	for more := v.scanner.Open('}'); more; more = v.scanner.Next('}') {
		member := v.scanner.Name()
		meaning := v.usualOf(member)
		if v.hasPath {
			v.enter(placeOf(string(member)))
		}
		if len(v.elsewhere) > 0 && v.elsewhere[strings.Join(v.path, ".")] {
			meaning = 0
		}
		v.value(meaning, &o)
		v.leave()
	}
	if o.isStatus && o.accepts {
		in.accepts = true
	}
	if o.isMessage && (o.accepts || o.isOurs) {
		v.messages = append(v.messages, o.bareIDs...)
	}
}

// scalar reads a text, a number, true, false or null.
func (v *survey) scalar(name usual, in *object, found value) {
	if in.isStatus && name&(ofText|ofMessageID|ofBareID|ofAnyID|ofRequestID) == 0 {
		name |= ofStatus
	}
	const relevant = ofSuccess | ofPart | ofStatus | ofCode
	if found.Kind <= jsonscan.Null || name&relevant == 0 && !v.seeksIDs {
		return
	}
	word := strings.TrimSpace(found.Word(v.text))
	switch {
	case name&ofSuccess != 0 && isFalse(word):
		v.failure = memberFails
	case name&ofPart != 0 && isTrue(word):
		v.failure = isPartial
	case name&(ofStatus|ofCode) != 0 && v.fails(name, word):
		v.failure = statusFails
	case v.seeksIDs && name&relevant != 0:
		_, isSuccess := v.meaning(word)
		isAccepted := table.Match(v.words.accepted, word, true) >= 0
		in.accepts = in.accepts || isAccepted || isSuccess && name&ofCode != 0 || isTrue(word) && name&ofSuccess != 0
	case v.seeksIDs:
		v.id(name, in, found, word)
	}
}

// fails reports whether a status or a code says that something failed. A word that accepts and a code of success do not.
func (v *survey) fails(name usual, word string) bool {
	if table.Match(v.words.accepted, word, true) >= 0 {
		return false
	}
	class, isSuccess := v.meaning(word)
	switch {
	case isSuccess:
		return false
	case name&ofStatus == 0 && isFalse(word): // no code
		return false
	case name&ofCode != 0 && class != "":
		return true
	case isNumber(word): // which may be a state of any kind
		return isHTTPFailure(word)
	default:
		return v.words.refuses(word) || usuallyRefuses(word)
	}
}

// id keeps an ID, and notes the number of the recipient.
func (v *survey) id(name usual, in *object, found value, word string) {
	const shortest = 7 // digits of a number
	digits := digitsOf(word)
	isRecipient := len(digits) >= shortest && digits == v.to
	in.isOurs = in.isOurs || isRecipient
	if name&(ofMessageID|ofBareID|ofAnyID) == 0 || isRecipient || !v.words.isID(found, word) {
		return
	}
	v.hasAnyID = true
	one := namedID{path: strings.Join(v.path, "."), id: word}
	if strings.Contains("."+one.path+".", "..") {
		one.path = ""
	}
	switch {
	case name&ofMessageID != 0:
		v.messages = append(v.messages, one)
	case name&ofBareID != 0:
		in.bareIDs = append(in.bareIDs, one)
	}
}

// hasContent reads the value at the place of an error. It reports whether there is anything in it: null, false, zero, a word of success, a
// list or an object of these, and an object with a code of success, are nothing.
func (v *survey) hasContent() bool {
	has, isAcquitted := false, false
	switch c := v.scanner.Peek(); c {
	case '{':
		for more := v.scanner.Open('}'); more; more = v.scanner.Next('}') {
			name := v.usualOf(v.scanner.Name())
			start := v.scanner.Pos
			hasMore := v.hasContent()
			has = has || hasMore
			isAcquitted = isAcquitted || name&ofCode != 0 && v.isSuccessCode(start)
			v.hasAnyID = v.hasAnyID || hasMore && name&(ofMessageID|ofBareID|ofAnyID) != 0
		}
	case '[':
		for more := v.scanner.Open(']'); more; more = v.scanner.Next(']') {
			hasMore := v.hasContent()
			has = has || hasMore
		}
	default:
		found := v.scanner.Scalar(c)
		return found.Kind > jsonscan.Null && !v.isNothing(strings.TrimSpace(found.Word(v.text)))
	}
	return has && !isAcquitted
}

func (v *survey) isSuccessCode(start int) bool {
	scanner := jsonscan.Scanner{Doc: v.scanner.Doc, Pos: start}
	c := scanner.Peek()
	if c == '{' || c == '[' {
		return false
	}
	_, isSuccess := v.meaning(strings.TrimSpace(scanner.Scalar(c).Word(v.text)))
	return isSuccess
}

// isNothing reports whether the word at the place of an error says that there is none.
func (v *survey) isNothing(word string) bool {
	_, isSuccess := v.meaning(word)
	switch {
	case isSuccess, strings.Trim(word, "0.") == "", strings.EqualFold(word, "false"):
		return true
	case isNumber(word), isTrue(word):
		return false
	default:
		return table.Match(v.words.accepted, word, true) >= 0 || table.IsPlaceholder(word)
	}
}

func (v *survey) enter(name string) {
	if v.hasPath {
		v.path = append(v.path, name)
	}
}

func (v *survey) leave() {
	if v.hasPath {
		v.path = v.path[:len(v.path)-1]
	}
}

// placeOf returns the name of a member in a path, or "" if a path cannot have it.
func placeOf(name string) string {
	if strings.ContainsAny(name, ".*$") || table.IsPosition(name) {
		return ""
	}
	return name
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789+-.") == "" }

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
