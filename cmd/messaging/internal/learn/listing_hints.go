package learn

import (
	"slices"
	"strings"
)

// noteUnused names the parameters and the members of the listing that the contract does not read, without their values. Those of paging and
// order are among them.
func (l *learner) noteUnused() {
	var parameters, others, members []string // others are those of the response outside its rows
	for _, at := range l.unusedFilters {
		parameters = appendName(parameters, at, at.path)
	}
	if l.examples.row != nil {
		for _, at := range leavesOf(l.examples.row.text) {
			path, isMember := l.cutRow(at.path)
			switch {
			case l.overlay.List.Page.has(at.path):
			case !isMember:
				others = appendName(others, at, path)
			case !l.isRead(path):
				members = appendName(members, at, path)
			}
		}
	}
	l.noteNames("the request also has ", parameters, "params")
	l.noteNames("the response also has ", others, "params")
	l.noteNames("the example also has ", members, "record")
}

// appendName appends the name of a value, unless it is a credential's.
func appendName(names []string, at leaf, path string) []string {
	if path == "" || credentialName.match(at.name) {
		return names
	}
	return appendNew(names, everyElement(path))
}

func (l *learner) noteNames(where string, names []string, key string) {
	const maxNames = 20
	if len(names) > 0 {
		l.overlay.note(where+strings.Join(names[:min(len(names), maxNames)], ", "), sectionList, key)
	}
}

// cutRow returns a path within its row, and true, or the path of a value outside the rows, and false.
func (l *learner) cutRow(path string) (string, bool) {
	items := l.overlay.List.Items
	if len(items) == 0 {
		return path, true // the example is one row
	}
	list, inRow, isIn := cutList(path)
	if isIn && list == items[0] {
		return inRow, true
	}
	return path, false
}

// isRead reports whether the contract reads a member of a row.
func (l *learner) isRead(path string) bool {
	if l.overlay.List.Record.has(path) {
		return true
	}
	for concept, paths := range l.defaults.SMSList.Record {
		_, isReplaced := l.overlay.List.Record[concept]
		if !isReplaced && slices.Contains(paths, path) {
			return true
		}
	}
	return false
}
