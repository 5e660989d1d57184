package learn

import (
	"maps"
	"slices"
	"strings"
)

// orderWords are the usual words for both directions of an order.
func orderWords() []map[string]string {
	return []map[string]string{
		{"ascending": "asc", "descending": "desc"},
		{"ascending": "ASC", "descending": "DESC"},
		{"ascending": "ascending", "descending": "descending"},
		{"ascending": "ASCENDING", "descending": "DESCENDING"},
	}
}

// learnOrder learns which column the value of the line sortBy is, and the words for both directions from that of the line order.
func (l *learner) learnOrder(example *Example) {
	if column := example.values["sortBy"]; column != "" {
		l.learnColumn(column)
	}
	word := example.values["order"]
	if word == "" {
		return
	}
	for _, words := range orderWords() {
		if slices.Contains(slices.Collect(maps.Values(words)), word) {
			l.overlay.List.Orders = words
			return
		}
	}
	l.warn(`not learned: write the words for both directions, such as {"ascending": "asc", "descending": "desc"}`, sectionList, "orders")
}

// learnColumn learns the column that has the name of a member of the row.
func (l *learner) learnColumn(column string) {
	for _, concept := range slices.Sorted(maps.Keys(l.defaults.SMSList.Sorts)) {
		paths, isLearned := l.overlay.List.Record[concept]
		if !isLearned {
			paths = l.defaults.SMSList.Record[concept]
		}
		if slices.Contains(paths, column) {
			l.overlay.List.Sorts = map[string]string{concept: column}
			l.overlay.note("the example shows one column: look up the others", sectionList, "sorts")
			return
		}
	}
	l.warn(`not learned: if the column `+column+` is the time at which the service took a message, write {"created": "`+column+`"}`, sectionList, "sorts")
}

// noteOrder warns about parameters that order the rows and have no line.
func (l *learner) noteOrder() {
	var names, lines []string
	if column := l.unusedFilter(sortName); column != "" {
		names = append(names, column)
		lines = append(lines, "sortBy: and the value of "+column)
	}
	if direction := l.unusedFilter(orderName); direction != "" {
		names = append(names, direction)
		lines = append(lines, "order: and the value of "+direction)
	}
	if len(names) > 0 {
		l.warn("not learned: if "+strings.Join(names, " and ")+" order the rows, add to the row the line "+strings.Join(lines, ", and the line "), sectionList, "params")
	}
}

// unusedFilter returns the first parameter of the listing with a name that was not learned, or "".
func (l *learner) unusedFilter(pattern namePattern) string {
	return pathOf(l.unusedFilters, func(at leaf) bool { return pattern.match(at.name) })
}
