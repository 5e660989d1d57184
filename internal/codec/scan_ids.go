package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/phone"
)

// scannedIDs are the IDs that a scan finds by their names.
type scannedIDs struct {
	to     string    // the digits of the message's recipient
	found  []namedID // of messages
	hasAny bool      // there is an ID of anything other than a request
}

// namedID is the ID of a message that was found by its name. The path is "" if no contract can have it.
type namedID struct{ path, id string }

// scanForIDs returns the IDs of messages in a response, and whether it has the ID of anything other than a request.
func (r *responses) scanForIDs(doc []byte, to string) (ids []namedID, hasAnyID bool) {
	s := scan{
		responses: r, text: string(doc), scanner: jsonscan.Scanner{Doc: doc},
		tracksPath: true, ids: &scannedIDs{to: phone.ASCIIDigits(to)},
	}
	s.value(kindMessage, &object{})
	return s.ids.found, s.ids.hasAny
}

// collect notes what a word that reports no failure says about the object around it: that it reports success, or which ID it has.
func (s *scan) collect(kind nameKind, parent *object, v value, word string) {
	if reportsState(kind) {
		parent.accepts = parent.accepts || s.accepts(kind, word)
		return
	}
	s.id(kind, parent, v, word)
}

// id keeps an ID, or notes that it is the number of the recipient.
func (s *scan) id(kind nameKind, parent *object, v value, word string) {
	const minDigits = 7 // of a number
	digits := phone.ASCIIDigits(word)
	isRecipient := len(digits) >= minDigits && digits == s.ids.to
	parent.namesRecipient = parent.namesRecipient || isRecipient
	if kind&kindAnyID == 0 || isRecipient || !s.vocabulary.isID(v, word) {
		return
	}
	s.ids.hasAny = true
	found := namedID{path: strings.Join(s.path, "."), id: word}
	if strings.Contains("."+found.path+".", "..") { // a name that no path can have
		found.path = ""
	}
	switch {
	case kind&kindMessageID != 0:
		s.ids.found = append(s.ids.found, found)
	case kind&kindBareID != 0:
		parent.bareIDs = append(parent.bareIDs, found)
	}
}
