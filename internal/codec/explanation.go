package codec

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// sentenceNames are common names of a sentence that explains a failure, the best first.
var sentenceNames = []string{ //nolint:gochecknoglobals // never written
	"message", "errormessage", "error", "detail", "details", "description", "errordescription", "title", "errmsg", "msg", "errortext", "text", "reason",
}

// Explanation returns the code and the sentence with which a response explains a failure, such as E102 and No credit in
// {"error": {"code": "E102", "message": "No credit"}}. It goes by common names, not by the contract, and looks at most three objects deep. A
// result is "" if the response has none.
func Explanation(body []byte) (code, message string) {
	doc := WithoutMark(body)
	if jsonscan.Check(doc) != nil {
		return "", ""
	}
	s := explanationScan{scanner: jsonscan.Scanner{Doc: doc}, text: string(doc), rank: len(sentenceNames)}
	s.value("", 0)
	return s.code, s.message
}

// explanationScan walks over a response and keeps its explanation.
type explanationScan struct {
	scanner jsonscan.Scanner
	text    string // the document

	code    string // the first one
	message string // the one with the best name so far
	rank    int    // of that name in sentenceNames
}

// value reads the value of a member. The depth is the number of objects around it.
func (s *explanationScan) value(name string, depth int) {
	const deepest = 3
	switch c := s.scanner.Peek(); {
	case c == '{' && depth < deepest:
		for more := s.scanner.Open('}'); more; more = s.scanner.Next('}') {
			var buffer [48]byte
			member := string(foldName(buffer[:0], s.scanner.Name(), len(buffer)))
			s.value(member, depth+1)
		}
	case c == '[':
		for more := s.scanner.Open(']'); more; more = s.scanner.Next(']') {
			s.value(name, depth)
		}
	case c == '{':
		s.scanner.Skip()
	default:
		s.scalar(name, s.scanner.Scalar(c))
	}
}

// scalar keeps a scalar if it is the first code, or a sentence with a better name than the one so far.
func (s *explanationScan) scalar(name string, v value) {
	word := strings.TrimSpace(v.Word(s.text))
	if v.Kind == jsonscan.Boolean || table.IsPlaceholder(word) {
		return
	}
	isCode := name == "code" || strings.HasPrefix(name, "err") && strings.HasSuffix(name, "code")
	if isCode && s.code == "" && !isFailedHTTPStatus(word) {
		s.code = word
	}
	rank := slices.Index(sentenceNames, name)
	isBetter := rank >= 0 && rank < s.rank
	if isBetter && v.Kind != jsonscan.Number {
		s.message = word
		s.rank = rank
	}
}
