package learn

import (
	"regexp"
	"slices"
	"strings"
)

// statusName matches members that hold the status of a message.
var statusName = regexp.MustCompile(`(?i)status|state$|^dlr|^result$|success|^accepted$|^valid$|^stat$`)

// learnStatus finds the status of an accepted response: the member with the known word, or else a member that differs in refusals with HTTP
// 2xx, or else the member with the name of a status that is nearest to the ID.
func (l *learner) learnStatus() {
	if l.overlay.get(sectionSend, "response", "status") != nil {
		return // a text
	}
	best := candidate{}
	for _, c := range l.statusCandidates() {
		if best.path == "" || c.weight > best.weight {
			best = c
		}
	}
	if best.path == "" {
		return
	}
	l.overlay.set([]string{best.path}, sectionSend, "response", "status")
	for _, word := range best.words {
		l.acceptWord(word)
	}
	for _, word := range best.refusals {
		l.refuseWord(word)
	}
	l.overlay.note("the examples show "+strings.Join(best.words, ", ")+": look up the other words of "+best.path, sectionSend, "accepted")
}

// candidate is a member that may be the status of a send.
type candidate struct {
	path     string
	words    []string // in accepted responses
	refusals []string // in refused ones with a status of success
	weight   int
}

// statusCandidates returns the members of the first accepted response that may be its status.
func (l *learner) statusCandidates() []candidate {
	var found []candidate
	known := l.examples.accepted[0].values["status"]
	for _, first := range leavesOf(l.examples.accepted[0].text) {
		c := candidate{path: first.path}
		isKnown := known != "" && first.word == known && speaksOf(first.name, "status")
		switch {
		case known != "" && !isKnown:
			continue
		case first.word == "" || l.isResponseValue(first.path):
			continue
		case !l.readWords(&c):
			continue
		case !isKnown && len(c.refusals) == 0 && !statusName.MatchString(first.name) && !isInStatus(first):
			continue
		}
		c.weight = l.weigh(c, first)
		found = append(found, c)
	}
	return found
}

var partOfStatus = regexp.MustCompile(`(?i)name|code|group`)

// isInStatus reports whether a member is the name within a status: status.name.
func isInStatus(l leaf) bool {
	parent := strings.TrimSuffix(l.path, "."+l.name)
	return strings.EqualFold(parent[strings.LastIndex(parent, ".")+1:], "status") && partOfStatus.MatchString(l.name)
}

// isResponseValue reports whether a path of the response holds another concept.
func (l *learner) isResponseValue(path string) bool {
	for concept := range l.overlay.object(sectionSend, "response") {
		if slices.Contains(l.overlay.list(sectionSend, "response", concept), path) {
			return true
		}
	}
	return false
}

// readWords reads the words of a candidate, and reports whether it can be a status: the same word neither accepts nor refuses.
func (l *learner) readWords(c *candidate) bool {
	for _, example := range l.examples.accepted {
		if word := wordAt(example.text, c.path); word != "" && !slices.Contains(c.words, word) {
			c.words = append(c.words, word)
		}
	}
	for _, example := range l.examples.refused {
		word := wordAt(example.text, c.path)
		if example.status/100 != 2 || word == "" {
			continue
		}
		hasCode := l.hasCode(example)
		if slices.Contains(c.words, word) {
			return hasCode
		}
		if hasCode && !statusName.MatchString(c.path[strings.LastIndex(c.path, ".")+1:]) {
			continue // the code says it
		}
		if !slices.Contains(c.refusals, word) {
			c.refusals = append(c.refusals, word)
		}
	}
	return true
}

// hasCode reports whether a code says that an example was refused.
func (l *learner) hasCode(example *Example) bool {
	isCode := func(candidate leaf) bool {
		return codeName.MatchString(candidate.name) && l.canBeCode(example, candidate)
	}
	return example.values["code"] != "" || slices.ContainsFunc(leavesOf(example.text), isCode)
}

// weigh returns how likely a candidate is the status. The weights only order the rules: a different word in refusals decides, then the
// name of the member, and between members with such names the kind of the word and the nearness to the ID.
func (l *learner) weigh(c candidate, first leaf) int {
	const (
		refusal    = 100 // each word that only refusals have
		statusLike = 20  // the member has the name of a status
		sentence   = -10 // the word is a sentence for people
		letters    = 3   // the word is a name, and not a number
	)
	weight := refusal * len(c.refusals)
	if statusName.MatchString(first.name) {
		weight += statusLike
	}
	if strings.Contains(first.word, " ") {
		weight += sentence
	}
	if strings.ContainsFunc(first.word, isLetter) {
		weight += letters
	}
	for _, id := range l.overlay.list(sectionSend, "response", "id") {
		weight += common(first.path, id)
	}
	return weight
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// common returns how many members two paths begin with in common.
func common(a, b string) int {
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
