package chatapp2

import "fmt"

// List is a button that opens a list, from which the recipient chooses one row. The Interactive takes a HeaderText or no header,
// and its body may have 4096 characters.
type List struct {
	// Button is the label of the button, at most 20 characters. Required.
	Button string `json:"button,omitzero"`
	// Sections is 1 to 10 sections, with at most 10 rows in total.
	Sections []Section `json:"sections,omitzero"`
}

// Section is a part of a List.
type Section struct {
	// Title is at most 24 characters. Required if there is more than one section.
	Title string `json:"title,omitzero"`
	// Rows is 1 to 10 rows.
	Rows []Row `json:"rows,omitzero"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the reply, at most 200 characters. Required and unique in its section.
	ID string `json:"id,omitzero"`
	// Title is at most 24 characters. Required.
	Title string `json:"title,omitzero"`
	// Description is at most 72 characters. Optional.
	Description string `json:"description,omitzero"`
}

func (List) actionType() string { return actionList }

func (l List) action() any { return l }

func (List) needs() needs { return needs{header: headerText, longBody: true} }

func (l List) check(c *checks, path string) {
	c.required(path+".Button", l.Button, 20)
	path += ".Sections"
	c.count(path, "sections", len(l.Sections), 1, 10)
	total := 0
	for i, section := range l.Sections {
		own := at(path, i)
		checkSectionTitle(c, own+".Title", section.Title, len(l.Sections))
		own += ".Rows"
		if len(section.Rows) == 0 {
			c.Found(own, "want 1 to 10 rows, got none")
		}
		for j, row := range section.Rows {
			c.required(at(own, j)+".ID", row.ID, 200)
			c.required(at(own, j)+".Title", row.Title, 24)
			c.length(at(own, j)+".Description", row.Description, 72)
		}
		unique(c, own, ".ID", section.Rows, func(row Row) string { return row.ID })
		total += len(section.Rows)
	}
	if total > 10 {
		c.Limit(path, fmt.Sprintf("want at most 10 rows in all sections together, got %d", total))
	}
}

// checkSectionTitle checks the title of one of so many sections.
func checkSectionTitle(c *checks, path, title string, sections int) {
	if sections > 1 {
		c.required(path, title, 24)
	} else {
		c.length(path, title, 24)
	}
}
