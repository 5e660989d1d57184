package chatapp2

import (
	"fmt"
	"strings"
)

// List is a button that opens a list, one row of which the recipient chooses to answer. The Interactive takes a HeaderText or no
// header, and its body has room for 4096 characters.
type List struct {
	// Button is the label of the button, at most 20 characters. Required.
	Button string `json:"button,omitzero"`
	// Sections is 1 to 10 sections, with at most 10 rows in all of them together.
	Sections []Section `json:"sections,omitzero"`
}

// Section is a part of a List.
type Section struct {
	// Title is at most 24 characters. Required where there is more than one section.
	Title string `json:"title,omitzero"`
	// Rows is 1 to 10 rows.
	Rows []Row `json:"rows,omitzero"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the answer, at most 200 characters. Required, and different on each row of the list.
	ID string `json:"id,omitzero"`
	// Title is at most 24 characters. Required.
	Title string `json:"title,omitzero"`
	// Description is at most 72 characters. Optional.
	Description string `json:"description,omitzero"`
}

func (List) interactive() (string, needs) {
	return actionList, needs{header: headerText, longBody: true}
}

func (l List) action() any { return l }

func (l List) check(c *checks, path string) {
	c.required(path+".Button", l.Button, 20)
	sections := path + ".Sections"
	c.count(sections, "sections", len(l.Sections), 1, 10)
	var rows []Row
	var paths []string
	for i, section := range l.Sections {
		own := at(sections, i)
		checkSectionTitle(c, own+".Title", section.Title, len(l.Sections))
		if len(section.Rows) == 0 {
			c.found(own+".Rows", "want 1 to 10 rows, got none")
		}
		for j, row := range section.Rows {
			one := at(own+".Rows", j)
			rows, paths = append(rows, row), append(paths, one)
			c.required(one+".ID", row.ID, 200)
			c.required(one+".Title", row.Title, 24)
			c.text(one+".Description", row.Description, 72)
		}
	}
	if len(rows) > 10 {
		c.limit(sections, fmt.Sprintf("want at most 10 rows in all sections together, got %d", len(rows)))
	}
	unique(c, rows, func(one Row) string { return one.ID }, func(i int) string { return paths[i] + ".ID" })
}

// checkSectionTitle checks the title of one of so many sections.
func checkSectionTitle(c *checks, path, title string, sections int) {
	if sections > 1 {
		c.required(path, title, 24)
	} else {
		c.text(path, title, 24)
	}
}

// checkTrimmed refuses white space around an ID.
func checkTrimmed(c *checks, path, id string) {
	if strings.TrimSpace(id) != id {
		c.limit(path, "must not have white space around it")
	}
}
