package learn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// learnStatus finds the status of an accepted response: the member with the known word, or else a member that differs in refusals with HTTP
// 2xx, or else the member with the name of a status, or of the send status in the row, that is nearest to the ID.
func (l *learner) learnStatus() error {
	if err := l.checkRefusedStatuses(); err != nil {
		return err
	}
	if l.overlay.Send.Response["status"] != nil { // a text
		return l.refuseTexts()
	}
	candidates := l.statusCandidates()
	if len(candidates) == 0 {
		return l.explainNoStatus()
	}
	best := candidates[0]
	for _, c := range candidates[1:] {
		if c.compare(best) > 0 {
			best = c
		}
	}
	l.overlay.Send.Response["status"] = []string{best.path}
	for _, word := range best.words {
		l.acceptWord(word)
	}
	for _, word := range best.refusals {
		l.refuseWord(word)
	}
	l.refuseWords(best.path)
	l.overlay.note("the examples show "+strings.Join(best.words, ", ")+": look up the other words of "+best.path, sectionSend, "accepted")
	return nil
}

// checkRefusedStatuses returns an error for a refusal without the status that it names.
func (l *learner) checkRefusedStatuses() error {
	for _, example := range l.examples.refused {
		status := example.values["status"]
		if status == "" {
			continue
		}
		if _, err := locate(leavesOf(example.text), "status", status); err != nil {
			return example.errorf("%w", err)
		}
	}
	return nil
}

// refuseTexts learns the texts that refusals name as their status. The status of a service that accepts by a text is the whole text.
func (l *learner) refuseTexts() error {
	for _, example := range l.examples.refused {
		status := example.values["status"]
		if status == "" {
			continue
		}
		if wordAt(example.text, "") != status {
			return example.errorf("the status %q is a member here, but an accepted response is a text", status)
		}
		l.refuseWord(status)
	}
	return nil
}

// refuseWords learns the words that refusals have at the path of the status. The HTTP status of a refusal may be enough for the response, but a
// row of the listing has only the word.
func (l *learner) refuseWords(path string) {
	for _, example := range l.examples.refused {
		word := wordAt(example.text, path)
		isNamed := example.values["status"] != ""
		if isNamed || l.meansRefused(word, example) {
			l.refuseWord(word)
		}
	}
}

// meansRefused reports whether the word of the status in a refusal with HTTP 4xx says that the message was refused. The HTTP status, another
// number and a word that accepts messages do not. For a refusal with HTTP 2xx, see readWords.
func (l *learner) meansRefused(word string, example *Example) bool {
	isClientError := example.status/100 == 4
	isWord := strings.ContainsFunc(word, isLetter)
	accepted, _ := l.sendWords()
	isAccepted := table.Match(accepted, word, true) >= 0
	return isClientError && isWord && !isAccepted
}

// noteRefusedWords adds a comment if the refusals in the examples have no word of the status. It is printed if rows have a send status.
func (l *learner) noteRefusedWords() {
	paths := l.overlay.Send.Response["status"]
	isLearned := l.overlay.Send.Refused != nil
	if len(paths) == 0 || len(l.examples.refused) == 0 || isLearned {
		return
	}
	path := paths[0]
	hasWord := func(example *Example) bool { return strings.ContainsFunc(wordAt(example.text, path), isLetter) }
	isText := path == ""
	if isText || !slices.ContainsFunc(l.examples.accepted, hasWord) {
		return
	}
	note := l.overlay.note
	if len(l.overlay.List.Record["sendStatus"]) > 0 {
		note = l.warn
	}
	note("no refusal in the examples has a word at "+path+": look up which words there mean refused; without them a refused row of the listing "+
		"counts as accepted", sectionSend, "refused")
}

// withStatus returns the first example with a known status, or nil.
func withStatus(examples []*Example) *Example {
	for _, example := range examples {
		if example.values["status"] != "" {
			return example
		}
	}
	return nil
}

// explainNoStatus returns an error if the examples name a status, and nil otherwise.
func (l *learner) explainNoStatus() error {
	example := cmp.Or(withStatus(l.examples.accepted), withStatus(l.examples.refused))
	if example == nil {
		return nil
	}
	found, err := locate(leavesOf(example.text), "status", example.values["status"])
	if err != nil {
		return example.errorf("%w", err)
	}
	reason := "it is the value of another line, another accepted response has another value there, or a refusal has the same one"
	if example.kind == kindRefused {
		reason = "an accepted response has the same value there or none, or it is the value of another line"
	}
	return example.errorf("the status %q, at %s, is not that of the response: %s", found.word, found.path, reason)
}

// candidate is a member that may be the status of a send.
type candidate struct {
	path     string
	words    []string // in accepted responses
	refusals []string // in refused ones with a status of success

	isKnown       bool // the examples name its word
	hasStatusName bool
	isSentence    bool
	hasLetters    bool
	nearness      int // how many members its path has in common with that of the ID
}

// statusCandidates returns the members of an accepted response that may be its status. If the examples name a status, these are the members
// with its word.
func (l *learner) statusCandidates() []candidate {
	example := cmp.Or(withStatus(l.examples.accepted), l.examples.accepted[0])
	isKnown := withStatus(l.examples.accepted) != nil || withStatus(l.examples.refused) != nil
	var found []candidate
	for _, member := range leavesOf(example.text) {
		if c, isPossible := l.newCandidate(member, isKnown); isPossible {
			found = append(found, c)
		}
	}
	return found
}

// newCandidate returns a member of an accepted response as a candidate, and reports whether it can be the status. Unless its word is known, it
// needs the name of a status, or another word in a refusal.
func (l *learner) newCandidate(member leaf, isKnown bool) (c candidate, isPossible bool) {
	isTaken := l.overlay.Send.Response.has(member.path)
	if member.word == "" || isTaken || !l.hasKnownStatus(member.path) {
		return candidate{}, false
	}
	c = candidate{
		path:          member.path,
		isKnown:       isKnown,
		hasStatusName: statusName.match(member.name) || l.isSendStatusOfRow(member.name),
		isSentence:    strings.Contains(member.word, " "),
		hasLetters:    strings.ContainsFunc(member.word, isLetter),
		nearness:      l.nearnessToID(member.path),
	}
	if !l.readWords(&c) {
		return candidate{}, false
	}
	looksLikeStatus := c.hasStatusName || isInStatus(member) || len(c.refusals) > 0
	return c, isKnown || looksLikeStatus
}

// isSendStatusOfRow reports whether the row has its known send status under a name. The listing and the response to a send have the same words.
func (l *learner) isSendStatusOfRow(name string) bool {
	row := l.examples.row
	if row == nil {
		return false
	}
	found, err := locate(leavesOf(row.text), "sendStatus", row.values["sendStatus"])
	return err == nil && found.name == name
}

// hasKnownStatus reports whether each response with a known status has it at a path.
func (l *learner) hasKnownStatus(path string) bool {
	isOther := func(example *Example) bool {
		known := example.values["status"]
		return known != "" && wordAt(example.text, path) != known
	}
	return !slices.ContainsFunc(l.examples.accepted, isOther) && !slices.ContainsFunc(l.examples.refused, isOther)
}

// isInStatus reports whether a member is the name within a status: status.name.
func isInStatus(l leaf) bool {
	parent := strings.TrimSuffix(l.path, "."+l.name)
	return strings.EqualFold(parent[strings.LastIndex(parent, ".")+1:], "status") && statusPartName.match(l.name)
}

// readWords reads the words of a candidate in all responses. It reports whether the candidate can be a status: no word both accepts and
// refuses, unless a code tells the responses apart.
func (l *learner) readWords(c *candidate) bool {
	for _, example := range l.examples.accepted {
		if word := wordAt(example.text, c.path); word != "" {
			c.words = appendNew(c.words, word)
		}
	}
	for _, example := range l.examples.refused {
		word := wordAt(example.text, c.path)
		if example.status/100 != 2 || word == "" {
			continue
		}
		hasCode := l.hasCode(example)
		switch {
		case slices.Contains(c.words, word) && !hasCode:
			return false
		case slices.Contains(c.words, word): // the code says that it was refused
		case c.isKnown || c.hasStatusName || !hasCode:
			c.refusals = appendNew(c.refusals, word)
		}
	}
	return true
}

// hasCode reports whether a code says that an example was refused.
func (l *learner) hasCode(example *Example) bool {
	isCode := func(candidate leaf) bool {
		return codeName.match(candidate.name) && l.canBeCode(example, candidate)
	}
	return example.values["code"] != "" || slices.ContainsFunc(leavesOf(example.text), isCode)
}

// compare returns a positive number if c is more likely the status than other. Each rule decides only if those before it do not.
func (c candidate) compare(other candidate) int {
	return cmp.Or(
		len(c.refusals)-len(other.refusals), // words that only refusals have
		compareBool(c.hasStatusName, other.hasStatusName),
		compareBool(!c.isSentence, !other.isSentence), // a status is a word, and a sentence explains it
		compareBool(c.hasLetters, other.hasLetters),   // a name is more likely than a number
		c.nearness-other.nearness,
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func (l *learner) nearnessToID(path string) int {
	nearness := 0
	for _, id := range l.overlay.Send.Response["id"] {
		nearness = max(nearness, countSharedMembers(path, id))
	}
	return nearness
}

// countSharedMembers returns with how many equal members two paths begin.
func countSharedMembers(a, b string) int {
	x := strings.Split(a, ".")
	y := strings.Split(b, ".")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// wordAt returns the word at a path of a body, or "".
func wordAt(body, path string) string {
	for _, l := range leavesOf(body) {
		if l.path == path {
			return l.word
		}
	}
	return ""
}
