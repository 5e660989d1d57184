package learn

import (
	"cmp"
	"slices"
	"strings"
)

// candidate is a member that may be the status of a send.
type candidate struct {
	path     string
	words    []string // in accepted responses
	refusals []string // in refusals whose HTTP status is 2xx

	isKnown       bool // the examples name its word
	hasStatusName bool
	isSentence    bool
	hasLetters    bool
	nearness      int // how many members its path has in common with that of the ID
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

// statusFinder finds the status of an accepted response.
type statusFinder struct {
	examples *Examples
	response lists // the paths of accepted responses that were learned
	codes    codes
}

// find returns the member with the known word, or else a member that differs in refusals with HTTP 2xx, or else the member with the name of a
// status, or of the send status in the row, that is nearest to the ID. It reports whether there is one.
func (f statusFinder) find() (best candidate, isFound bool) {
	example := cmp.Or(withStatus(f.examples.accepted), f.examples.accepted[0])
	isKnown := withStatus(f.examples.accepted) != nil || withStatus(f.examples.refused) != nil
	var candidates []candidate
	for _, member := range leavesOf(example.text) {
		if c, isPossible := f.newCandidate(member, isKnown); isPossible {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 0 {
		return candidate{}, false
	}
	return slices.MaxFunc(candidates, candidate.compare), true
}

// newCandidate returns a member of an accepted response as a candidate, and reports whether it can be the status. Unless its word is known, it
// needs the name of a status, or another word in a refusal.
func (f statusFinder) newCandidate(member leaf, isKnown bool) (c candidate, isPossible bool) {
	isTaken := f.response.has(member.path)
	if member.word == "" || isTaken || !f.hasKnownStatus(member.path) {
		return candidate{}, false
	}
	c = candidate{
		path:          member.path,
		isKnown:       isKnown,
		hasStatusName: statusName.match(member.name) || f.isSendStatusOfRow(member.name),
		isSentence:    strings.Contains(member.word, " "),
		hasLetters:    strings.ContainsFunc(member.word, isLetter),
		nearness:      f.nearnessToID(member.path),
	}
	if !f.readWords(&c) {
		return candidate{}, false
	}
	looksLikeStatus := c.hasStatusName || isInStatus(member) || len(c.refusals) > 0
	return c, isKnown || looksLikeStatus
}

// hasKnownStatus reports whether each response with a known status has it at a path.
func (f statusFinder) hasKnownStatus(path string) bool {
	isOther := func(example *Example) bool {
		known := example.values["status"]
		return known != "" && wordAt(example.text, path) != known
	}
	return !slices.ContainsFunc(f.examples.accepted, isOther) && !slices.ContainsFunc(f.examples.refused, isOther)
}

// isSendStatusOfRow reports whether the row has its known send status under a name. The listing and the response to a send have the same words.
func (f statusFinder) isSendStatusOfRow(name string) bool {
	row := f.examples.row
	if row == nil {
		return false
	}
	found, hasStatus := find(leavesOf(row.text), "sendStatus", row.values["sendStatus"])
	return hasStatus && found.name == name
}

// nearnessToID returns with how many members of the path of an ID another path begins.
func (f statusFinder) nearnessToID(path string) int {
	nearness := 0
	for _, id := range f.response["id"] {
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

// isInStatus reports whether a member is the name within a status: status.name.
func isInStatus(l leaf) bool {
	parent := strings.TrimSuffix(l.path, "."+l.name)
	return strings.EqualFold(parent[strings.LastIndex(parent, ".")+1:], "status") && statusPartName.match(l.name)
}

// readWords reads the words of a candidate in all responses. It reports whether the candidate can be a status: no word both accepts and
// refuses, unless a code tells the responses apart.
func (f statusFinder) readWords(c *candidate) bool {
	for _, example := range f.examples.accepted {
		if word := wordAt(example.text, c.path); word != "" {
			c.words = appendNew(c.words, word)
		}
	}
	for _, example := range f.examples.refused {
		word := wordAt(example.text, c.path)
		if example.status/100 != 2 || word == "" {
			continue
		}
		isAccepted := slices.Contains(c.words, word)
		hasCode := f.codes.has(example)
		switch {
		case isAccepted && !hasCode:
			return false
		case isAccepted: // the code says that it was refused
		case c.isKnown || c.hasStatusName || !hasCode:
			c.refusals = appendNew(c.refusals, word)
		}
	}
	return true
}
