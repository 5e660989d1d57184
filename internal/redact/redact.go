// Package redact decides which words of the service may appear in the text of an error: those that hold nothing of the
// message but what every diagnosis says, no credential, and no digits that may be a phone number. When in doubt it masks.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Secrets is what must not appear: what a message says, and the credentials of its request.
type Secrets struct {
	texts       []string
	credentials []string // folded
}

// AddText adds a text of the message.
func (s *Secrets) AddText(text string) { s.texts = append(s.texts, text) }

// AddValue adds the strings in a value that encoding/json encodes, other than those under the key "type".
func (s *Secrets) AddValue(value any) {
	raw, _ := json.Marshal(value)
	var decoded any
	_ = json.Unmarshal(raw, &decoded) // what has no JSON is not sent
	s.addDecoded(decoded)
}

func (s *Secrets) addDecoded(value any) {
	switch v := value.(type) {
	case string:
		s.AddText(v)
	case []any:
		for _, element := range v {
			s.addDecoded(element)
		}
	case map[string]any:
		for key, element := range v {
			if key != "type" {
				s.addDecoded(element)
			}
		}
	}
}

// AddCredential adds a credential, as it is and in base64.
func (s *Secrets) AddCredential(credential string) {
	encoded := base64.RawStdEncoding.EncodeToString([]byte(credential))
	s.credentials = append(s.credentials, fold(credential), fold(encoded))
}

// AddRequest adds what may be a credential in a request: the values of its headers and of its query.
func (s *Secrets) AddRequest(r *http.Request) {
	for name, values := range r.Header {
		if slices.Contains([]string{"Accept", "Cache-Control", "Content-Type", "User-Agent"}, name) {
			continue
		}
		for _, value := range values {
			if _, credential, ok := strings.Cut(value, " "); ok {
				value = credential // without the scheme
			}
			s.AddCredential(value)
		}
	}
	if user, password, ok := r.BasicAuth(); ok {
		s.AddCredential(user)
		s.AddCredential(password)
	}
	for _, values := range r.URL.Query() {
		for _, value := range values {
			s.AddCredential(value)
		}
	}
}

// IsWord is [table.IsWord].
func IsWord(s string) bool { return table.IsWord(s) }

// InWord reports whether a code or an ID holds a secret.
func (s *Secrets) InWord(code string) bool {
	return IsWord(code) && slices.ContainsFunc(s.read(code).words, func(w word) bool { return w.isMasked })
}

// diagnoses are what services say of a message that they did not take. Such a word is shown although the message has it too, and so is its
// plural.
var diagnoses = strings.Fields( //nolint:gochecknoglobals // never written
	`account address allowed approved balance blocked callback character code content country credit currency
	denied duplicate empty encoding error exceeded expired failed field format found funds insufficient invalid language length limit
	maximum message minimum missing mobile network number operator parameter password permission phone recipient registered rejected
	request required sender service supported template text token type unauthorized unavailable unknown value wrong`,
)

var (
	// addresses are URLs, those of mailboxes, and lists of parameters.
	addresses = regexp.MustCompile(`\S+(://|[@=&])\S+`)
	// masks are several of one token, which would show where its separators are.
	masks = regexp.MustCompile(`\*{3}([^\s\pL\pN]*\*{3})+`)
)

// Mask returns the beginning of a sentence with *** in place of each word that holds, or may hold, a secret: a part of a credential, a
// word of the message that is no diagnosis, digits of the message, digits that may be a phone number, an address. It is "" if no word is
// left.
func (s *Secrets) Mask(sentence string) string {
	const longest = 200
	if len(sentence) > longest { // without a part of a word, which would hide what it is
		sentence = sentence[:max(0, strings.LastIndexFunc(sentence[:longest], unicode.IsSpace))] + " ..."
	}
	sentence = addresses.ReplaceAllLiteralString(sentence, "***")
	t := s.read(sentence)
	for _, digits := range runsOfDigits(t.folded) {
		if s.hides(digits) {
			t.mask(digits, true)
		}
	}
	var shown strings.Builder
	end, isLeft := 0, false
	for _, w := range t.words {
		shown.WriteString(sentence[end:w.start])
		if end = w.end; w.isMasked {
			shown.WriteString("***")
		} else {
			shown.WriteString(sentence[w.start:w.end])
			isLeft = true
		}
	}
	if !isLeft {
		return ""
	}
	return strings.TrimSpace(masks.ReplaceAllLiteralString(shown.String()+sentence[end:], "***"))
}

// hides reports whether digits may be a phone number, or are of the message. Where digits are not ASCII, four may be anything.
func (s *Secrets) hides(digits string) bool {
	const short, phoneNumber = 4, 7
	isOwn := func(text string) bool {
		return slices.ContainsFunc(runsOfDigits(fold(text)), func(own string) bool {
			return len(own) >= short && (strings.Contains(own, digits) || strings.Contains(digits, own))
		})
	}
	count := utf8.RuneCountInString(digits)
	return count >= phoneNumber || count >= short && (count < len(digits) || slices.ContainsFunc(s.texts, isOwn))
}

// word is a sequence of letters and digits, and where it stands: in the text, and in the text without case and separators.
type word struct {
	start, end, from, to  int
	isDiagnosis, isMasked bool
}

type words struct {
	folded string
	words  []word
}

// read masks the words of a text that hold a credential or six characters of one, a number of the message without its prefix, or a word
// of the message, apart from short ones. Neither case nor separators count.
func (s *Secrets) read(text string) words {
	const part, subscriber, shortNumber, shortWord = 6, 7, 5, 4
	var t words
	end := 0
	for _, written := range strings.FieldsFunc(text, isSeparator) {
		start, from, lower := end+strings.Index(text[end:], written), len(t.folded), strings.ToLower(written)
		end = start + len(written)
		t.folded += lower
		t.words = append(t.words, word{start: start, end: end, from: from, to: len(t.folded), isDiagnosis: isDiagnosis(lower)})
	}
	for _, c := range s.credentials {
		for i := 0; len(c) >= shortWord && i <= max(0, len(c)-part); i++ {
			t.mask(c[i:min(i+part, len(c))], true)
		}
	}
	for _, own := range s.texts {
		for _, lower := range wordsOf(own) {
			if utf8.RuneCountInString(lower) >= shortWord && !isDiagnosis(lower) {
				t.mask(lower, false)
			}
		}
		if n := Digits(own); len(n) >= shortNumber {
			t.mask(n[max(0, len(n)-subscriber):], true)
		}
	}
	return t
}

// mask masks the words in which something stands, or begins and ends, and also those of diagnoses if all is true.
func (t *words) mask(what string, all bool) {
	for at := strings.Index(t.folded, what); at >= 0; {
		for i := range t.words {
			w := &t.words[i]
			w.isMasked = w.isMasked || w.from < at+len(what) && at < w.to && (all || !w.isDiagnosis)
		}
		next := strings.Index(t.folded[at+1:], what)
		if next < 0 {
			return
		}
		at += 1 + next
	}
}

func isDiagnosis(lower string) bool {
	return slices.Contains(diagnoses, lower) || slices.Contains(diagnoses, strings.TrimSuffix(lower, "s"))
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func wordsOf(text string) []string { return strings.FieldsFunc(strings.ToLower(text), isSeparator) }

func fold(text string) string { return strings.Join(wordsOf(text), "") }

func runsOfDigits(folded string) []string {
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsDigit(r) })
}

// Digits returns the ASCII digits of a number.
func Digits(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }), "")
}
