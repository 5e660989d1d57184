package learn

import (
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// pageMembers learns the members of a page around its rows: the next page, the flag that says whether one follows, and the number of all rows.
type pageMembers struct {
	rows    rows
	outside []leaf // the values around the rows
	request *listingRequest
	names   lists
}

func newPageMembers(r rows, request *listingRequest) *pageMembers {
	return &pageMembers{rows: r, outside: r.outside(), request: request, names: lists{}}
}

// learn learns the next page by the value of the line next or as a cursor, and the flag and the total by their names.
func (p *pageMembers) learn() error {
	if err := p.learnNext(); err != nil {
		return err
	}
	if err := p.learnCursor(); err != nil {
		return err
	}
	p.learnFlag()
	p.learnTotal()
	if len(p.names) > 0 {
		p.rows.overlay.List.Page = p.names
	}
	return nil
}

// learnNext learns the next page by the value of the line next.
func (p *pageMembers) learnNext() error {
	example := p.rows.example
	value := example.values["next"]
	if value == "" {
		return nil
	}
	found, err := locate(p.outside, "next", value)
	if err != nil {
		return example.errorf("%w", err)
	}
	p.names.add("next", found.path)
	return nil
}

// learnFlag learns the flag that says whether a page follows, if the request is known to ask for one page of several.
func (p *pageMembers) learnFlag() {
	flag, hasFlag := first(p.outside, isMoreFlag)
	if hasFlag && p.rows.overlay.List.isPaged() {
		p.names.add("hasNext", flag.path)
	}
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
		pageSize := p.request.pageSize // 0 if the request asks for no number of rows
		return pageSize > 0 && n > pageSize
	}
	items := p.rows.overlay.List.Items
	if len(items) != 1 {
		return false
	}
	inPage := document.Parse([]byte(p.rows.example.text)).At(items[0]).List()
	return n > len(inPage)
}
