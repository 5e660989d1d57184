package learn

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// listing learns the listing from the example of a row.
type listing struct {
	example  *Example // or nil
	overlay  *overlay
	request  *listingRequest
	statuses statuses
}

func newListing(examples *Examples, o *overlay) *listing {
	request := &listingRequest{example: examples.row, overlay: o}
	return &listing{example: examples.row, overlay: o, request: request, statuses: statuses{examples: examples, overlay: o}}
}

// learn learns the request, the path of the rows, the names of their members, and the names of the page around them.
func (l *listing) learn() error {
	if l.example == nil {
		return nil
	}
	if err := l.request.learn(); err != nil {
		return err
	}
	l.learnPath()
	if err := l.learnMembers(); err != nil {
		return err
	}
	if l.example.values["status"] != "" {
		l.statuses.learn(l.example)
	}
	l.learnOrder()
	page := newPageMembers(newRows(l.example, l.overlay), l.request)
	return errors.Join(page.learn(), l.learnLayout())
}

// learnPath learns the path of the listing from the line path:, which comes before the request above the row.
func (l *listing) learnPath() {
	list := &l.overlay.List
	if path := l.example.values["path"]; path != "" {
		list.Path = variables(path)
	}
	if list.Path == "" {
		l.overlay.note("the example does not show the path", sectionList, "path")
	}
	l.overlay.notePath(sectionList, list.Path)
}

// learnMembers learns where the rows are, and the paths of the known values within a row.
func (l *listing) learnMembers() error {
	found, err := l.example.locate(leavesOf(l.example.text), rowConcepts())
	if err != nil {
		return err
	}
	items, isList := listOf(found)
	if isList {
		l.overlay.List.Items = []string{items}
	} else {
		l.overlay.note("the example is one row: look up where the list of rows is", sectionList, "items")
	}
	paths := elementPaths(found, isList)
	if status, isKnown := paths["status"]; isKnown {
		delete(paths, "status")
		paths["deliveryStatus"] = status // as the contract calls it
	}
	for concept, path := range paths {
		l.overlay.List.Record[concept] = []string{path}
	}
	return nil
}

// learnLayout learns the layout of the times of a row: the known one, or the only one that reads an unusual time.
func (l *listing) learnLayout() error {
	text := cmp.Or(l.example.values["created"], l.example.values["sent"])
	layout := l.example.values["layout"]
	if layout != "" {
		if _, err := time.Parse(layout, text); err != nil {
			return l.example.errorf("layout: %q does not read the time %q: write how it has 2 January 2006, 15:04:05", layout, text)
		}
		l.overlay.List.Layouts = []string{layout}
		return nil
	}
	if _, isUsual := table.ParseTime(text, nil); isUsual {
		return nil
	}
	layouts := layoutsOf(text)
	if len(layouts) != 1 {
		return l.example.errorf("the time %q has a layout that the default contract does not read: add the line layout: and how it has 2 January 2006, 15:04:05%s",
			text, orList(layouts))
	}
	l.overlay.List.Layouts = layouts
	return nil
}

// rows are the rows in a response of the listing.
type rows struct {
	example *Example
	overlay *overlay
}

func newRows(example *Example, o *overlay) rows { return rows{example: example, overlay: o} }

// members returns the values in the rows, with their paths within the row.
func (r rows) members() []leaf {
	var members []leaf
	for _, at := range leavesOf(r.example.text) {
		if path, isMember := r.cut(at.path); isMember {
			at.path = path
			members = append(members, at)
		}
	}
	return members
}

// outside returns the values around the rows.
func (r rows) outside() []leaf {
	return slices.DeleteFunc(leavesOf(r.example.text), func(at leaf) bool {
		_, isMember := r.cut(at.path)
		return isMember
	})
}

// cut returns a path within its row, and true, or the path of a value outside the rows, and false.
func (r rows) cut(path string) (string, bool) {
	items := r.overlay.List.Items
	if len(items) == 0 {
		return path, true // the example is one row
	}
	list, inRow, isIn := cutList(path)
	if isIn && list == items[0] {
		return inRow, true
	}
	return path, false
}
