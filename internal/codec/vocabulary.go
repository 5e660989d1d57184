package codec

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// vocabulary holds the words of a contract by which a service accepts and refuses messages.
type vocabulary struct {
	accepted, refused []string
	undelivered       []string // the words of the delivery statuses failed, expired and rejected
	states            []string // words that are no IDs, in lower case
	codes             []string // error codes, which are no IDs, as they are written: e30b may be an ID where E3* is a code
}

func compileVocabulary(t *table.Table, accepted, refused []string) *vocabulary {
	v := &vocabulary{accepted: accepted, refused: refused}
	states := slices.Clone(refused)
	// A prefix that accepts is not a state: if the ID itself is what accepts, as by https://*, the prefix is how IDs begin.
	for _, word := range accepted {
		if !strings.HasSuffix(word, "*") {
			states = append(states, word)
		}
	}
	for status, words := range t.WebhookDelivery.Statuses {
		words = withLetters(words)
		if contract.Status(status).Failed() {
			v.undelivered = append(v.undelivered, words...)
		}
		states = append(states, words...)
	}
	for _, word := range states {
		if word != "*" { // the prefix of every word
			v.states = append(v.states, strings.ToLower(word))
		}
	}
	for _, codes := range t.Errors.Classes {
		v.codes = append(v.codes, withLetters(codes)...)
	}
	return v
}

// withLetters returns the words that have a letter. A number may be a state of any kind.
func withLetters(words []string) (all []string) {
	for _, word := range words {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			all = append(all, word)
		}
	}
	return all
}

// refuses reports whether a word says that a message was not taken, or not delivered.
func (v *vocabulary) refuses(word string) bool {
	accepted := max(table.Match(v.accepted, word, true), 0)
	refused := max(table.Match(v.refused, word, true), table.Match(v.undelivered, word, true))
	isFalse := accepted == 0 && strings.EqualFold(word, "false")
	return refused > accepted || isFalse
}

// isID reports whether a value can be the ID of a message. A state or an error code cannot, even if a response has it in the place of an ID.
func (v *vocabulary) isID(found value, word string) bool {
	word = strings.TrimSpace(word)
	isText := found.IsScalar() && found.Kind != jsonscan.Boolean
	switch {
	case !isText, !isPrintable(word):
		return false
	case table.IsCode(word): // most IDs
	case table.IsPlaceholder(word), strings.ContainsFunc(word, unicode.IsSpace):
		return false
	}
	return !v.isState(word)
}

// isState reports whether a word is that of a state, in any case, or an error code.
func (v *vocabulary) isState(word string) bool {
	return table.Match(v.states, strings.ToLower(word), false) >= 0 || table.Match(v.codes, word, false) >= 0
}

// isPrintable reports whether a text can be an ID: valid UTF-8, at most 256 characters, and no control characters.
func isPrintable(word string) bool {
	const longest = 256
	n := 0
	for _, r := range word {
		n++
		if n > longest || unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// The words from here on are common among services, and belong to no contract.

func isTrue(word string) bool { return isOneOf(word, "true", "1", "yes") }

func isFalse(word string) bool { return isOneOf(word, "false", "0", "no") }

func isOneOf(word string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(word)))
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789+-.") == "" }

// isFailedHTTPStatus reports whether a code is an HTTP status of a failure.
func isFailedHTTPStatus(word string) bool {
	const digits = "0123456789"
	if len(word) != 3 || strings.Trim(word, digits) != "" {
		return false
	}
	return word[0] == '4' || word[0] == '5'
}

// isHTTPStatus reports whether a code is only an HTTP status, such as 403, "403 Forbidden" or "Forbidden", which a proxy may write.
func isHTTPStatus(text string) bool {
	texts := []string{"forbidden", "not found", "method not allowed", "gone"}
	if slices.Contains(texts, strings.ToLower(text)) {
		return true
	}
	number, _, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	return err == nil && status >= 100 && status < 600
}

// refusingParts are parts of the words and codes by which services report a failure.
var refusingParts = []string{ //nolint:gochecknoglobals // never written
	"fail", "reject", "error", "fault", "exception", "invalid", "denied", "forbid", "undeliv", "expired", "insufficient", "unauthor", "blocked",
	"notallowed", "notfound", "illegal",
}

// commonlyRefuses reports whether a word or a code reports a failure, such as FAILED_CREDIT or InvalidParameter. A sentence does not count:
// it may speak of something else.
func commonlyRefuses(word string) bool {
	const longest = 48
	if len(word) > longest {
		return false
	}
	var buffer [longest]byte
	folded := foldName(buffer[:0], []byte(word), longest)
	isNegated := bytes.HasPrefix(folded, []byte("no")) && !bytes.HasPrefix(folded, []byte("not")) // such as NO_ERROR
	if isNegated {
		return false
	}
	for _, part := range refusingParts {
		if bytes.Contains(folded, []byte(part)) {
			return true
		}
	}
	return false
}
