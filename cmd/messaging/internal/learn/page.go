package learn

import (
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// pageMembers learns the members of a page around its rows: the next page, the flag that says whether one follows, and the number of all rows.
type pageMembers struct {
	rows     rows
	outside  []leaf
	pageSize int // how many rows the request asks for, or 0
	names    words
}

func newPageMembers(r rows, pageSize int) *pageMembers {
	return &pageMembers{rows: r, outside: r.outside(), pageSize: pageSize, names: words{}}
}

// learn learns the next page by the value of the line next, and the flag and the total by their names.
func (p *pageMembers) learn() error {
	example := p.rows.example
	list := &p.rows.overlay.List
	if value := example.values["next"]; value != "" {
		found, err := locate(p.outside, "next", value)
		if err != nil {
			return example.errorf("%w", err)
		}
		p.names.add("next", found.path)
	}
	isPaged := list.Params["page"] != "" || list.Params["offset"] != ""
	if flag, hasFlag := first(p.outside, isMoreFlag); isPaged && hasFlag {
		p.names.add("hasNext", flag.path)
	}
	p.learnTotal()
	if len(p.names) > 0 {
		list.Page = p.names
	}
	return nil
}

// isMoreFlag reports whether a member is a flag that says whether a page follows.
func isMoreFlag(at leaf) bool {
	_, isBoolean := at.value.(bool)
	return isBoolean && moreName.match(at.name)
}

// learnTotal learns the number of all rows by its name. A number that may count the rows of a page would end a listing early: only a comment
// names it.
func (p *pageMembers) learnTotal() {
	var unsure []string
	for _, at := range p.outside {
		n, err := strconv.Atoi(at.word)
		if err != nil || p.names.has(at.path) {
			continue
		}
		isDefault := slices.Contains(p.rows.overlay.defaults.SMSList.Page["total"], at.path)
		isTotal := totalName.match(at.name)
		switch {
		case isDefault:
			return
		case isTotal && p.isMoreThanPage(n):
			p.names.add("total", at.path)
			return
		case isTotal || countName.match(at.name):
			unsure = append(unsure, at.path)
		}
	}
	for _, path := range unsure {
		p.rows.overlay.warn("not learned: if "+path+" counts the rows of all pages, write "+contractLine("total", path), sectionList, "page")
	}
}

// isMoreThanPage reports whether a number is more than a page can hold. The example may leave out rows, so that the size of a page is in its
// request alone. If the response says otherwise whether a page follows, no total ends the listing, and the rows of the example are enough.
func (p *pageMembers) isMoreThanPage(n int) bool {
	saysWhatFollows := len(p.names["hasNext"]) > 0 || len(p.names["next"]) > 0
	if !saysWhatFollows {
		return p.pageSize > 0 && n > p.pageSize
	}
	items := p.rows.overlay.List.Items
	if len(items) != 1 {
		return false
	}
	inPage := document.Parse([]byte(p.rows.example.text)).At(items[0]).List()
	return n > len(inPage)
}
