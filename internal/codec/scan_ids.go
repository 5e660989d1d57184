package codec

import "github.com/messaging-service/messaging-go/internal/phone"

// scannedIDs are the IDs that a scan finds by their names.
type scannedIDs struct {
	to       string    // the digits of the message's recipient
	messages []namedID // the IDs of messages
	// bare are the IDs under a bare name, such as id, in the objects that are being read, from the outermost object to the innermost one. The
	// end of an object shows whether it is the message.
	bare []namedID
}

// namedID is the ID of a message that was found by its name. The path is "" if no contract can have it.
type namedID struct{ path, id string }

// id returns what a word that reports no state says, and keeps it if it is an ID.
func (s *scan) id(kind nameKind, at *scanPath, v value, word string) finding {
	if s.ids.isRecipient(word) {
		return finding{namesRecipient: true}
	}
	if kind&kindAnyID == 0 || !s.vocabulary.isID(v, word) {
		return finding{}
	}
	path, _ := at.appendTo(nil)
	s.ids.add(kind, namedID{path: string(path), id: word})
	return finding{hasAnyID: true}
}

// isRecipient reports whether a word is the number of the message's recipient.
func (ids *scannedIDs) isRecipient(word string) bool {
	const minDigits = 7 // of a number
	digits := phone.ASCIIDigits(word)
	return len(digits) >= minDigits && digits == ids.to
}

// add keeps the ID of a message, or an ID that may be. IDs of anything else are not kept.
func (ids *scannedIDs) add(kind nameKind, found namedID) {
	switch {
	case kind&kindMessageID != 0:
		ids.messages = append(ids.messages, found)
	case kind&kindBareID != 0:
		ids.bare = append(ids.bare, found)
	}
}

// endObject ends the innermost object. Its bare IDs come after those of the enclosing objects: they are IDs of the message if the object is
// the message, and otherwise dropped.
func (ids *scannedIDs) endObject(enclosing int, isThisMessage bool) {
	if isThisMessage {
		ids.messages = append(ids.messages, ids.bare[enclosing:]...)
	}
	ids.bare = ids.bare[:enclosing]
}
