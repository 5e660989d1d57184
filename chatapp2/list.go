package chatapp2

import "fmt"

// List is a button that opens a list, from which the recipient chooses one row. The Interactive takes a HeaderText or no header,
// and its body may have 4096 characters.
type List struct {
	// Button is the label of the button.
	Button string `json:"button,omitzero" rule:"required,max=20"`
	// Sections is 1 to 10 sections, with at most 10 rows in total.
	Sections []Section `json:"sections,omitzero"`
}

// Section is a part of a List. Its title is required if there is more than one section, and it has 1 to 10 rows.
type Section struct {
	Title string `json:"title,omitzero" rule:"max=24"`
	Rows  []Row  `json:"rows,omitzero"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the reply. It is unique in its section.
	ID          string `json:"id,omitzero" rule:"required,max=200"`
	Title       string `json:"title,omitzero" rule:"required,max=24"`
	Description string `json:"description,omitzero" rule:"max=72"`
}

func (l List) check(c *checks, path string) {
	path += ".Sections"
	c.count(path, "sections", len(l.Sections), 1, 10)
	total := 0
	for i, section := range l.Sections {
		checkSectionTitle(c, at(path, i), section.Title, len(l.Sections))
		if len(section.Rows) == 0 {
			c.Found(at(path, i)+".Rows", "want 1 to 10 rows, got none")
		}
		unique(c, at(path, i)+".Rows", ".ID", section.Rows, func(row Row) string { return row.ID })
		total += len(section.Rows)
	}
	if total > 10 {
		c.Limit(path, fmt.Sprintf("want at most 10 rows in all sections together, got %d", total))
	}
}

// checkSectionTitle checks that a section has a title, if it is not the only one.
func checkSectionTitle(c *checks, path, title string, sections int) {
	if sections > 1 {
		c.required(path+".Title", title)
	}
}
