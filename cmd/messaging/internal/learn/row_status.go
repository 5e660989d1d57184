package learn

import (
	"slices"
	"strings"
)

// rowStatusHints warns about the send status of rows: a row whose word the contract does not read or does not know counts as accepted, even if
// the service refused its message.
type rowStatusHints struct {
	members []leaf // of the rows
	overlay *overlay
}

// note warns if a row may have a send status that the contract does not read, or has one whose words it does not know.
func (h rowStatusHints) note() {
	if paths := h.overlay.List.Record["sendStatus"]; len(paths) > 0 {
		h.noteWords(paths[0])
		return
	}
	member, isFound := first(h.members, h.mayBeSendStatus)
	if !isFound {
		return
	}
	h.overlay.warn("not learned: if "+member.path+" says that the service refused a message, and not that its delivery failed, "+
		"add the line sendStatus: and its value to the row, or write "+contractLine("sendStatus", member.path)+
		": without it a refused message counts as accepted", sectionList, "record")
}

// mayBeSendStatus reports whether a member without a line may say whether the service took the message: it has the name of the status in the
// response to a send, or a word of that status. A member with the status of delivery may look the same. If the default contract reads it as that,
// only a word that refuses a send, and that no delivery has, shows the contrary.
func (h rowStatusHints) mayBeSendStatus(member leaf) bool {
	isWord := strings.ContainsFunc(member.word, isLetter)
	if !isWord || h.overlay.List.Record.has(member.path) || isInError(member.path) {
		return false
	}
	accepted, refused := h.overlay.sendWords()
	isAccepted := hasWord(accepted, member.word)
	isRefused := hasWord(refused, member.word)
	isDelivery := slices.Contains(h.overlay.defaults.SMSList.Record["deliveryStatus"], member.path)
	isOfDelivery := usualMeaning(member.word) != ""
	switch {
	case h.overlay.readsMember(member.path):
		return isDelivery && isRefused && !isOfDelivery
	case isAccepted || isRefused:
		return true
	}
	return statusName.match(member.name) || h.isStatusOfSend(member.path)
}

// isStatusOfSend reports whether a path in a row ends like that of the status in the response to a send, or the other way round.
func (h rowStatusHints) isStatusOfSend(inRow string) bool {
	isSamePlace := func(path string) bool {
		return strings.HasSuffix("."+path, "."+inRow) || strings.HasSuffix("."+inRow, "."+path)
	}
	return slices.ContainsFunc(h.overlay.Send.Response["status"], isSamePlace)
}

// noteWords warns about words of the send status at a path that the contract does not know.
func (h rowStatusHints) noteWords(path string) {
	var unknown []string
	hasNumber := false
	for _, member := range h.members {
		switch {
		case member.path != path || member.word == "":
		case !strings.ContainsFunc(member.word, isLetter):
			hasNumber = true
		case !h.knows(member.word):
			unknown = appendNew(unknown, member.word)
		}
	}
	if hasNumber {
		h.overlay.warn("a number in "+path+" says nothing: a row with one counts as accepted, even if the service refused its message",
			sectionList, "record")
	}
	if len(unknown) == 0 {
		return
	}
	h.overlay.warn("a row with the send status "+strings.Join(unknown, " or ")+
		" counts as accepted: if a word means that the service refused the message, add it here, and otherwise to accepted", sectionSend, "refused")
}

// knows reports whether the contract knows what a word means as the send status of a row.
func (h rowStatusHints) knows(word string) bool {
	accepted, refused := h.overlay.sendWords()
	isOfSend := hasWord(accepted, word) || hasWord(refused, word)
	isOfFailure := hasWord(h.overlay.statusWords("failed"), word) || hasWord(h.overlay.statusWords("rejected"), word)
	return isOfSend || isOfFailure
}
