package learn

import (
	"maps"
	"slices"
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

// learnOrder learns which column the line sortBy names, and the words for both directions from the line order.
func (l *listing) learnOrder() {
	if column := l.example.values["sortBy"]; column != "" {
		l.learnColumn(column)
	}
	word := l.example.values["order"]
	if word == "" {
		return
	}
	for _, words := range orderWords() {
		if slices.Contains(slices.Collect(maps.Values(words)), word) {
			l.overlay.List.Orders = words
			return
		}
	}
	l.overlay.warn(`not learned: write the words for both directions, such as {"ascending": "asc", "descending": "desc"}`, sectionList, "orders")
}

// learnColumn learns the column that has the name of a member of the row.
func (l *listing) learnColumn(column string) {
	for _, concept := range slices.Sorted(maps.Keys(l.overlay.defaults.SMSList.Sorts)) {
		if slices.Contains(l.overlay.rowPaths(concept), column) {
			l.overlay.List.Sorts = map[string]string{concept: column}
			l.overlay.note("the example shows one column: look up the others", sectionList, "sorts")
			return
		}
	}
	l.overlay.warn(`not learned: if the column `+column+` is the time at which the service took a message, write {"created": "`+column+`"}`,
		sectionList, "sorts")
}
