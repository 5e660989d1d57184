package learn

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// noteSendStatus warns if a row may have a send status that the contract does not read, or one whose words it does not know: such a row counts
// as accepted, even if the service refused its message.
func (l *learner) noteSendStatus() {
	if l.examples.row == nil {
		return
	}
	members := l.rowMembers()
	if paths := l.overlay.List.Record["sendStatus"]; len(paths) > 0 {
		l.noteSendWords(members, paths[0])
		return
	}
	i := slices.IndexFunc(members, l.mayBeSendStatus)
	if i < 0 {
		return
	}
	path := members[i].path
	l.warn("not learned: if "+path+" says that the service refused a message, and not that its delivery failed, add the line sendStatus: and its value to the row, or write "+
		contractLine("sendStatus", path)+": without it a refused message counts as accepted", sectionList, "record")
}

// rowMembers returns the values in the rows of the example, with their paths within the row.
func (l *learner) rowMembers() []leaf {
	var members []leaf
	for _, at := range leavesOf(l.examples.row.text) {
		if path, isMember := l.cutRow(at.path); isMember {
			at.path = path
			members = append(members, at)
		}
	}
	return members
}

// mayBeSendStatus reports whether a member without a line may say whether the service took the message: it has the name of the status in the
// response to a send, or a word of that status. A member with the status of delivery may look the same. If the default contract reads it as that,
// only a word that refuses a send, and that no delivery has, shows the contrary.
func (l *learner) mayBeSendStatus(member leaf) bool {
	isWord := strings.ContainsFunc(member.word, isLetter)
	if !isWord || l.overlay.List.Record.has(member.path) || isInError(member.path) {
		return false
	}
	accepted, refused := l.sendWords()
	isAccepted := table.Match(accepted, member.word, true) >= 0
	isRefused := table.Match(refused, member.word, true) >= 0
	isDelivery := slices.Contains(l.defaults.SMSList.Record["deliveryStatus"], member.path)
	isOfDelivery := usualMeaning(member.word) != ""
	switch {
	case l.isRead(member.path):
		return isDelivery && isRefused && !isOfDelivery
	case isAccepted || isRefused:
		return true
	}
	return statusName.match(member.name) || l.isStatusOfSend(member.path)
}

// isStatusOfSend reports whether a path in a row ends like that of the status in the response to a send, or the other way round.
func (l *learner) isStatusOfSend(inRow string) bool {
	isSamePlace := func(path string) bool {
		return strings.HasSuffix("."+path, "."+inRow) || strings.HasSuffix("."+inRow, "."+path)
	}
	return slices.ContainsFunc(l.overlay.Send.Response["status"], isSamePlace)
}

// sendWords returns the words of the status of a send.
func (l *learner) sendWords() (accepted, refused []string) {
	accepted = l.defaults.SMSSend.Accepted
	if l.overlay.Send.Accepted != nil {
		accepted = l.overlay.Send.Accepted
	}
	refused = l.defaults.SMSSend.Refused
	if l.overlay.Send.Refused != nil {
		refused = l.overlay.Send.Refused
	}
	return accepted, refused
}

// noteSendWords warns about words of the send status of a row that the contract does not know.
func (l *learner) noteSendWords(members []leaf, path string) {
	var unknown []string
	hasNumber := false
	for _, member := range members {
		switch {
		case member.path != path || member.word == "":
		case !strings.ContainsFunc(member.word, isLetter):
			hasNumber = true
		case !l.isSendWord(member.word):
			unknown = appendNew(unknown, member.word)
		}
	}
	if hasNumber {
		l.warn("a number in "+path+" says nothing: a row with one counts as accepted, even if the service refused its message", sectionList, "record")
	}
	if len(unknown) == 0 {
		return
	}
	l.warn("a row with the send status "+strings.Join(unknown, " or ")+
		" counts as accepted: if a word means that the service refused the message, add it here, and otherwise to accepted", sectionSend, "refused")
}

// isSendWord reports whether the contract knows what a word means as the send status of a row.
func (l *learner) isSendWord(word string) bool {
	accepted, refused := l.sendWords()
	isIn := func(words []string) bool { return table.Match(words, word, true) >= 0 }
	isOfSend := isIn(accepted) || isIn(refused)
	isOfFailure := isIn(l.wordsOf("failed")) || isIn(l.wordsOf("rejected"))
	return isOfSend || isOfFailure
}
