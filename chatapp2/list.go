package chatapp2

import (
	"fmt"
	"strings"
)

// List is a button that opens a list, from which the recipient chooses one row. The Interactive takes a HeaderText or no header,
// and its body may have 4096 characters.
type List struct {
	// Button is the label of the button.
	Button string `at:"button,required,max=20"`
	// Sections is 1 to 10 sections, with at most 10 rows in total.
	Sections []Section `at:"sections"`
}

// Section is a part of a List. Its title is required if there is more than one section, and it has 1 to 10 rows.
type Section struct {
	Title string `at:"title,max=24"`
	Rows  []Row  `at:"rows"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the reply. It is unique in its section.
	ID          string `at:"id,required,max=200,unique"`
	Title       string `at:"title,required,max=24"`
	Description string `at:"description,max=72"`
}

func (l List) check(c *checks) {
	checkSections(c, "Sections", "Rows", 10, l.Sections, func(s Section) (string, int) { return s.Title, len(s.Rows) })
}

func checkSections[S any](c *checks, name, field string, most int, sections []S, contents func(S) (title string, elements int)) {
	c.Count(name, "sections", len(sections), 1, 10)
	total := 0
	for i, section := range sections {
		title, elements := contents(section)
		if len(sections) > 1 {
			c.Required(fmt.Sprintf("%s[%d].Title", name, i), title)
		}
		if elements == 0 {
			c.Found(fmt.Sprintf("%s[%d].%s", name, i, field), "required, but empty")
		}
		total += elements
	}
	if total > most {
		c.Limit(name, fmt.Sprintf("want at most %d %s in all sections together, got %d", most, strings.ToLower(field), total))
	}
}
