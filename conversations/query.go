package conversations

import (
	"strconv"
	"strings"
)

// A query collects the arguments of one statement.
type query struct {
	args []any
}

// add adds an argument, and returns its placeholder, such as "$3".
func (q *query) add(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// addAll adds an argument for each value, and returns their placeholders.
func (q *query) addAll(values []string) []string {
	var placeholders []string
	for _, value := range values {
		placeholders = append(placeholders, q.add(value))
	}
	return placeholders
}

// in returns the end of a condition that a column has one of the values of placeholders.
func in(placeholders []string) string { return " IN (" + strings.Join(placeholders, ", ") + ")" }

// union returns a query whose rows have one of some placeholders as name.
func union(placeholders []string) string {
	const begin = "SELECT CAST("
	const end = " AS TEXT) AS name"
	return begin + strings.Join(placeholders, end+" UNION "+begin) + end
}
