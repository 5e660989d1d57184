package messagingtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The parts of codePattern, which matches a number that is neither a part of a longer number or word nor an amount.
const (
	// beforeCode is the start of the text, a character such as a space, or an underscore that makes text italic, as in _4821_. A letter
	// and a hyphen may follow, as in G-482913.
	beforeCode = `(?:(?:^|[^\pL\pN])_|^|[^\pL\pN\p{Sc}_.,:/+-])(?:[A-Z]-)?`
	// codeDigits is three and three digits, as in 482-913, or four to eight.
	codeDigits = `(\d{3}[ -]\d{3}|\d{4,8})`
	// afterCode is white space or the end of the text, perhaps after a punctuation mark, as in "is 4821.", or the end of what
	// encloses the number, as in (4821) and *482913*.
	afterCode = `(?:[.,!?;:]?(?:\s|$)|[)"'\]*_])`
)

var (
	codePattern = regexp.MustCompile(beforeCode + codeDigits + afterCode)
	codeWord    = regexp.MustCompile(`(?i)\b(code|otp|pin|passcode|password|verif\pL*|confirm\pL*|sign.?in|log.?in|kode|código)\b`)

	textMember   = regexp.MustCompile(`^(text|body|caption|title|description)$`)
	amountMember = regexp.MustCompile(`(?i)amount|price|total|sum|cost|balance|currency|quantity`)
)

// Code returns the one-time code that the message seems to hold, or "": a number of four to eight digits, or of three and three,
// in its text or in others that its body has, such as a header or parameters. Of several such numbers, it is the one closest to a word such as
// "code" or "sign in". A message without such a word has no code, unless it is a template.
func (m Sent) Code() string {
	text := m.searchText()
	numbers := codePattern.FindAllStringSubmatchIndex(text, -1)
	word := codeWord.FindStringIndex(text)
	if len(numbers) == 0 || word == nil && m.Kind != "template" {
		return ""
	}
	best := numbers[0]
	if word != nil {
		best = slices.MinFunc(numbers, func(a, b []int) int { return cmp.Compare(distance(a, word), distance(b, word)) })
	}
	return strings.NewReplacer(" ", "", "-", "").Replace(text[best[2]:best[3]])
}

// distance returns the number of bytes between a match of codePattern and a word.
func distance(number, word []int) int { return max(number[2]-word[1], word[0]-number[3]) }

// searchText returns the text of a message or, if it may have others too, the texts of its body without addresses and references.
func (m Sent) searchText() string {
	hasOthers := m.Channel == channelChatApp2 && m.Kind != "text" && len(m.Body) > 0
	if m.Text != "" && !hasOthers {
		return m.Text
	}
	var body any
	if json.Unmarshal(m.Body, &body) != nil {
		return ""
	}
	known := []string{m.To, m.From, m.ReferenceID, m.CallbackURL, m.FallbackText, m.Template}
	isContent := isPlatformText
	if m.Channel != channelChatApp2 {
		isContent = isParameter
	}
	texts := textsIn("", body, isContent)
	texts = slices.DeleteFunc(texts, func(s string) bool { return slices.Contains(known, s) })
	return strings.Join(texts, "\n")
}

// isPlatformText reports whether a member of the third-party platform is a text that the recipient sees.
func isPlatformText(name string) bool { return textMember.MatchString(name) }

// isParameter reports whether a member may be a parameter of a template that is not an amount.
func isParameter(name string) bool { return isPlatformText(name) || !amountMember.MatchString(name) }

// textsIn returns the texts of a value whose member names are content, sorted by the names.
func textsIn(name string, value any, isContent func(name string) bool) []string {
	var texts []string
	switch v := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, textsIn(member, v[member], isContent)...)
		}
	case []any:
		for _, element := range v {
			texts = append(texts, textsIn(name, element, isContent)...)
		}
	case string:
		var inner map[string]any
		if json.Unmarshal([]byte(v), &inner) == nil && inner != nil { // a form holds an object as text
			return textsIn(name, inner, isContent)
		}
		if isContent(name) {
			texts = append(texts, v)
		}
	}
	return texts
}
