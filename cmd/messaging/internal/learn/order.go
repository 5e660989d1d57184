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
	sortAt := slices.IndexFunc(l.unusedFilters, func(at leaf) bool { return sortName.match(at.name) })
	orderAt := slices.IndexFunc(l.unusedFilters, func(at leaf) bool { return orderName.match(at.name) })
	var lines, names []string
	for _, found := range []struct {
		at  int
		key string
	}{{sortAt, "sortBy"}, {orderAt, "order"}} {
		if found.at >= 0 {
			path := l.unusedFilters[found.at].path
			names = append(names, path)
			lines = append(lines, found.key+": and the value of "+path)
		}
	}
	if len(lines) > 0 {
		l.warn("not learned: if "+strings.Join(names, " and ")+" order the rows, add to the row the line "+strings.Join(lines, ", and the line "), sectionList, "params")
	}
}
