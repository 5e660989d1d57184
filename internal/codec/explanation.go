package codec

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// sentences are common names of a sentence for people, the best first.
var sentences = []string{ //nolint:gochecknoglobals // never written
	"message", "errormessage", "error", "detail", "details", "description", "errordescription", "title", "errmsg", "msg", "errortext", "text", "reason",
}

// explanation is the code and the sentence of a failure, found by common names.
type explanation struct {
	code, message string
	rank          int // of the message in sentences
}

// Explanation returns the code and the sentence of a failure in a response, found by common names at most three objects deep. They are "" if the
// response has none.
func Explanation(body []byte) (code, message string) {
	doc := WithoutMark(body)
	if jsonscan.Check(doc) != nil {
		return "", ""
	}
	e := explanation{rank: len(sentences)}
	e.read(&jsonscan.Scanner{Doc: doc}, string(doc), "", 0)
	return e.code, e.message
}

// read reads a value. name is its name, and depth the number of objects around it.
func (e *explanation) read(scanner *jsonscan.Scanner, text, name string, depth int) {
	const deepest = 3
	switch c := scanner.Peek(); {
	case c == '{' && depth < deepest:
		for more := scanner.Open('}'); more; more = scanner.Next('}') {
			var buffer [48]byte
			member := string(foldName(buffer[:0], scanner.Name(), len(buffer)))
			e.read(scanner, text, member, depth+1)
		}
	case c == '[':
		for more := scanner.Open(']'); more; more = scanner.Next(']') {
			e.read(scanner, text, name, depth)
		}
	case c == '{':
		scanner.Skip()
	default:
		e.take(name, scanner.Scalar(c), text)
	}
}

// take keeps a scalar if it is a code, or a better sentence than the one so far.
func (e *explanation) take(name string, found value, text string) {
	word := strings.TrimSpace(found.Word(text))
	if found.Kind == jsonscan.Boolean || table.IsPlaceholder(word) {
		return
	}
	isCode := name == "code" || strings.HasPrefix(name, "err") && strings.HasSuffix(name, "code")
	if isCode && e.code == "" && !isFailedHTTPStatus(word) {
		e.code = word
	}
	rank := slices.Index(sentences, name)
	if rank >= 0 && rank < e.rank && found.Kind != jsonscan.Number {
		e.message = word
		e.rank = rank
	}
}
