package learn

import (
	"slices"
	"strings"
)

// listingHints adds comments about what the listing may have, and the overlay does not.
type listingHints struct {
	row     *Example // or nil
	overlay *overlay
	unused  []leaf // parameters of the request above the row that were not learned
}

// filterConcepts are all filters of the listing.
func filterConcepts() []string { return append(valueFilters(), "createdAfter", "createdBefore") }

// note names the parameters that keep their defaults, and what the contract does not read.
func (h listingHints) note() {
	unseen := "filters"
	params := h.overlay.List.Params
	if len(params) > 0 {
		unseen = "other filters" + h.unseenFilters()
	}
	if params["sortBy"] == "" || params["order"] == "" {
		unseen += " and order"
	}
	if !h.overlay.List.isPaged() {
		unseen = "paging, " + unseen
	}
	const remedy = `, which keep their defaults: if the service lacks one, name it ""`
	h.overlay.note("not in the examples: the names of "+unseen+remedy+contractPage+"5. The listing", sectionList, "params")
	h.noteUnused()
	if h.row == nil {
		h.overlay.noteAbsent("a row", "the paths of rows and the names of their members"+contractPage+"5. The listing", sectionList, "record")
	}
	h.noteOrder()
}

// unseenFilters returns the filters of the default contract that were not learned, in parentheses, or "".
func (h listingHints) unseenFilters() string {
	isSeen := func(concept string) bool { return h.overlay.List.Params[concept] != "" }
	unseen := slices.DeleteFunc(filterConcepts(), isSeen)
	if len(unseen) == 0 {
		return ""
	}
	return " (" + strings.Join(unseen, ", ") + ")"
}

// noteUnused names the parameters and the members of the listing that the contract does not read, without their values. Those of paging and
// order are among them.
func (h listingHints) noteUnused() {
	var parameters, others, members []string // others are outside the rows of the response
	for _, at := range h.unused {
		parameters = appendName(parameters, at)
	}
	if h.row != nil {
		r := newRows(h.row, h.overlay)
		for _, at := range r.outside() {
			if !h.overlay.List.Page.has(at.path) {
				others = appendName(others, at)
			}
		}
		for _, at := range r.members() {
			if !h.overlay.readsMember(at.path) {
				members = appendName(members, at)
			}
		}
	}
	h.noteNames("the request also has ", parameters, "params")
	h.noteNames("the response also has ", others, "params")
	h.noteNames("the example also has ", members, "record")
}

// appendName appends the path of a value, unless it is a credential's.
func appendName(names []string, at leaf) []string {
	if at.path == "" || credentialName.match(at.name) {
		return names
	}
	return appendNew(names, everyElement(at.path))
}

func (h listingHints) noteNames(where string, names []string, key string) {
	const maxNames = 20
	if len(names) > 0 {
		h.overlay.note(where+strings.Join(names[:min(len(names), maxNames)], ", "), sectionList, key)
	}
}

// noteOrder warns about parameters that order the rows and have no line.
func (h listingHints) noteOrder() {
	var names, lines []string
	if column := h.unusedName(sortName); column != "" {
		names = append(names, column)
		lines = append(lines, "sortBy: and the value of "+column)
	}
	if direction := h.unusedName(orderName); direction != "" {
		names = append(names, direction)
		lines = append(lines, "order: and the value of "+direction)
	}
	if len(names) > 0 {
		h.overlay.warn("not learned: if "+strings.Join(names, " and ")+" order the rows, add to the row the line "+strings.Join(lines, ", and the line "),
			sectionList, "params")
	}
}

// unusedName returns the first parameter with a name that was not learned, or "".
func (h listingHints) unusedName(pattern namePattern) string {
	return pathOf(h.unused, func(at leaf) bool { return pattern.match(at.name) })
}
