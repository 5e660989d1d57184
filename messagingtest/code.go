package messagingtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Code returns the one-time code that the message seems to hold, or "": four to eight digits that stand alone, or three and
// three, in its text or, if it has none, in the texts of its body. Names of members, numbers and amounts are no texts. Of
// several codes, it is the one closest to a word such as "code" or "sign in". Without such a word, only a template holds a code.
func (m Sent) Code() string {
	text := m.Text
	if text == "" {
		var body any
		if json.Unmarshal(m.Body, &body) != nil {
			return ""
		}
		known := []string{m.To, m.From, m.ReferenceID, m.CallbackURL, m.FallbackText, m.Template}
		texts := slices.DeleteFunc(textsIn(body, m.Channel != ChannelChatApp2), func(s string) bool { return slices.Contains(known, s) })
		text = strings.Join(texts, "\n")
	}
	pattern := `(?:(?:^|[^\pL\pN])_|^|[^\pL\pN\p{Sc}_.,:/+-])(?:[A-Z]-)?(\d{3}[ -]\d{3}|\d{4,8})(?:[.,!?;:]?(?:\s|$)|[)"'\]*_])`
	codes := regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1)
	words := `(?i)\b(code|otp|pin|passcode|password|verif\pL*|confirm\pL*|sign.?in|log.?in|kode|código)\b`
	word := regexp.MustCompile(words).FindStringIndex(text)
	if len(codes) == 0 || word == nil && m.Kind != "template" {
		return ""
	}
	best := codes[0]
	if word != nil {
		far := func(c []int) int { return max(c[2]-word[1], word[0]-c[3]) }
		best = slices.MinFunc(codes, func(a, b []int) int { return cmp.Compare(far(a), far(b)) })
	}
	return strings.NewReplacer(" ", "", "-", "").Replace(text[best[2]:best[3]])
}

// textsIn returns the texts of a body, sorted by the names of their members. On the third-party platform a text has one of a few
// names. Elsewhere any text may be a parameter of a template, unless its name says that it is an amount.
func textsIn(value any, anyName bool) []string {
	isText := regexp.MustCompile(`^(text|body|caption|title|description)$`)
	isAmount := regexp.MustCompile(`(?i)amount|price|total|sum|cost|balance|currency|quantity`)
	var texts []string
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(v)) {
				walk(member, v[member])
			}
		case []any:
			for _, element := range v {
				walk(name, element)
			}
		case string:
			var inner any
			if json.Unmarshal([]byte(v), &inner) == nil {
				if _, isObject := inner.(map[string]any); isObject { // a form holds parameters as JSON
					walk(name, inner)
					return
				}
			}
			if isText.MatchString(name) || anyName && !isAmount.MatchString(name) {
				texts = append(texts, v)
			}
		}
	}
	walk("", value)
	return texts
}
