package conversations

import (
	"fmt"
	"strconv"
	"strings"
)

// arguments are the values of a statement by the names that it has for them, such as @sender.
type arguments map[string]any

// column holds texts that a statement has as rows, after VALUES. The texts of a []string are a list, in the parentheses of IN.
type column []string

// bind replaces the names in a statement by placeholders, such as $3, and returns the values in their order. It panics if a name has no value.
func bind(statement string, values arguments) (bound string, args []any) {
	text, rest, hasName := strings.Cut(statement, "@")
	parts := []string{text}
	placeholders := map[string]string{}
	for hasName {
		name := nameAtStart(rest)
		if _, isBound := placeholders[name]; !isBound {
			value, hasValue := values[name]
			if !hasValue {
				panic("conversations: a statement has no value for @" + name)
			}
			placeholders[name], args = appendValue(args, value)
		}
		text, rest, hasName = strings.Cut(rest[len(name):], "@")
		parts = append(parts, placeholders[name], text)
	}
	return strings.Join(parts, ""), args
}

// nameAtStart returns the letters at the start of a text.
func nameAtStart(text string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return text[:len(text)-len(strings.TrimLeft(text, letters))]
}

// appendValue appends a value to the arguments, or each of its texts, and returns its placeholders.
func appendValue(args []any, value any) (placeholders string, longer []any) {
	var texts []string
	format := "%s"
	switch value := value.(type) {
	case []string:
		texts = value
	case column:
		texts = value
		format = "(CAST(%s AS TEXT))"
	default:
		args = append(args, value)
		return placeholder(len(args)), args
	}
	var all []string
	for _, text := range texts {
		args = append(args, text)
		all = append(all, fmt.Sprintf(format, placeholder(len(args))))
	}
	return strings.Join(all, ", "), args
}

// placeholder returns the placeholder of an argument, which is counted from 1.
func placeholder(number int) string { return "$" + strconv.Itoa(number) }
