package sandbox

import (
	"encoding/json"
	"strings"
)

// maskMembers masks the values of secret members in JSON, which may be cut off, or a part of another text.
func maskMembers(text string) string {
	var result strings.Builder
	for {
		begin, end := secretValue(text)
		if end == 0 {
			result.WriteString(text)
			return result.String()
		}
		result.WriteString(text[:begin])
		result.WriteString(`"` + masked + `"`)
		text = text[end:]
	}
}

// secretValue returns where the first value of a secret member begins and ends, or zeros. Whatever is between a quote and the next one may be a
// name, so that a stray quote in front hides none.
func secretValue(text string) (begin, end int) {
	_, rest, _ := strings.Cut(text, `"`)
	for {
		name, after, isQuoted := strings.Cut(rest, `"`)
		if !isQuoted {
			return 0, 0
		}
		value := memberValue(after)
		length := 0
		if isSecretName(name) || isSecretName(unescape(name)) {
			length = valueLength(value)
		}
		if length > 0 {
			begin = len(text) - len(value)
			return begin, begin + length
		}
		rest = after
	}
}

// jsonSpace has the characters between the parts of a member.
const jsonSpace = " \t\n\f\r"

// memberValue returns the text from the value on, if a colon and a value follow a name.
func memberValue(afterName string) string {
	value, isMember := strings.CutPrefix(strings.TrimLeft(afterName, jsonSpace), ":")
	if !isMember {
		return ""
	}
	return strings.TrimLeft(value, jsonSpace)
}

// unescape returns a name without the escapes of JSON.
func unescape(name string) string {
	unescaped := name
	if strings.Contains(name, `\`) && json.Unmarshal([]byte(`"`+name+`"`), &unescaped) != nil {
		return name
	}
	return unescaped
}

// valueLength returns the length of the value at the beginning of a text. A string, an object or a list that is cut off, or no JSON, is the rest
// of the text.
func valueLength(text string) int {
	if text == "" {
		return 0
	}
	if strings.ContainsRune(`"{[`, rune(text[0])) {
		var value json.RawMessage
		decoder := json.NewDecoder(strings.NewReader(text))
		if decoder.Decode(&value) != nil {
			return len(text)
		}
		return int(decoder.InputOffset())
	}
	if end := strings.IndexAny(text, jsonSpace+",}]"); end >= 0 {
		return end
	}
	return len(text)
}
