package learn

import (
	"slices"
	"strconv"
	"strings"
)

// codes finds codes: of errors in refusals, and of success in accepted responses.
type codes struct {
	examples *Examples
	overlay  *overlay
}

// find returns the code of a refusal: the known one, or else a value with the name of a code. Without a code it returns the zero leaf.
// codePaths are where other refusals have their codes.
func (c codes) find(example *Example, codePaths []string) (leaf, error) {
	leaves := leavesOf(example.text)
	if known := example.values["code"]; known != "" {
		found, err := locate(leaves, "code", known)
		if err != nil {
			return leaf{}, example.errorf("%w", err)
		}
		return found, nil
	}
	if len(leaves) == 1 && leaves[0].path == "" {
		return textCode(leaves[0]), nil
	}
	for _, meetsRule := range c.rules(example, codePaths) {
		isCode := func(candidate leaf) bool { return meetsRule(candidate) && c.canBe(example, candidate) }
		if found, isFound := first(leaves, isCode); isFound {
			return found, nil
		}
	}
	return leaf{}, nil
}

// rules are what tells the code of a refusal that has no line code:, from the surest rule to the weakest. The first value that meets the
// first possible rule is the code.
func (c codes) rules(example *Example, codePaths []string) []func(candidate leaf) bool {
	hasPath := func(candidate leaf) bool { return slices.Contains(codePaths, candidate.path) }
	hasName := func(candidate leaf) bool { return codeName.match(candidate.name) }
	isErrorWord := func(candidate leaf) bool {
		return typeName.match(candidate.name) && errorWord.MatchString(candidate.word)
	}
	if c.statusWord(example) != "" { // the word of the status is the code
		return []func(leaf) bool{hasPath, hasName}
	}
	return []func(leaf) bool{hasPath, hasName, isErrorWord}
}

// textCode takes a short text for its own code. A page has no code.
func textCode(text leaf) leaf {
	const longest = 100
	isPage := strings.HasPrefix(text.word, "<") || strings.Contains(text.word, "\n") || len(text.word) > longest
	if isPage {
		return leaf{}
	}
	return text
}

// canBe reports whether a value can be a code of an error: not the HTTP status, nor what an accepted response has at the place.
func (c codes) canBe(example *Example, candidate leaf) bool {
	switch {
	case candidate.word == "" || candidate.word == strconv.Itoa(example.status):
		return false
	case isBool(candidate.word):
		return false
	case c.overlay.Send.Response.has(candidate.path):
		return false
	}
	isAccepted := func(accepted *Example) bool { return wordAt(accepted.text, candidate.path) == candidate.word }
	return !slices.ContainsFunc(c.examples.accepted, isAccepted)
}

func isBool(word string) bool { return word == "true" || word == "false" }

// has reports whether a code says that an example was refused.
func (c codes) has(example *Example) bool {
	isCode := func(candidate leaf) bool { return codeName.match(candidate.name) && c.canBe(example, candidate) }
	return example.values["code"] != "" || slices.ContainsFunc(leavesOf(example.text), isCode)
}

// mayHave reports whether a value of a refusal could be its code: one word, which an accepted response does not have there.
func (c codes) mayHave(example *Example) bool {
	couldBeCode := func(candidate leaf) bool {
		isWord := !strings.ContainsAny(candidate.word, " \n") && !strings.Contains(candidate.word, "://")
		return candidate.path != "" && isWord && c.canBe(example, candidate)
	}
	return slices.ContainsFunc(leavesOf(example.text), couldBeCode)
}

// ofStatus returns the word of the status as the code of a refusal, or "" if it cannot be one. A word that means success elsewhere cannot.
func (c codes) ofStatus(example *Example) string {
	word := c.statusWord(example)
	isSuccess := hasWord(c.overlay.defaults.Errors.Success, word)
	if isBool(word) || isSuccess {
		return ""
	}
	return word
}

// statusWord returns the status of a refusal whose HTTP status is 2xx, or "".
func (c codes) statusWord(example *Example) string {
	if example.status/100 != 2 {
		return ""
	}
	for _, path := range c.overlay.Send.Response["status"] {
		if word := wordAt(example.text, path); slices.Contains(c.overlay.Send.Refused, word) {
			return word
		}
	}
	return ""
}

// isSuccess reports whether a value of an accepted response is a code of success: it is where refusals have their codes, or has the name
// of such a code.
func (c codes) isSuccess(example *Example, at leaf, codePaths []string) bool {
	if at.path == "" || at.word == "" {
		return false
	}
	if slices.Contains(codePaths, at.path) {
		return true
	}
	isHTTPStatus := at.word == strconv.Itoa(example.status)
	return successName.match(at.name) && !isHTTPStatus && !c.overlay.Send.Response.has(at.path)
}
