package learn

import (
	"cmp"
	"strings"
)

// learnCursor learns paging by cursor, unless the request has a page or an offset. A contract needs both the parameter with the cursor of a page
// and the member of a response with the cursor of the next page: without the member, a listing would end after its first page.
//
// What no line names is guessed by its name, and a comment says so. If the guess of a parameter is wrong, a listing ends with an error, because a
// service that ignores the parameter repeats its first page.
func (p *pageMembers) learnCursor() error {
	params := p.rows.overlay.List.Params
	if params["page"] != "" || params["offset"] != "" {
		return nil
	}
	parameter := cmp.Or(params["cursor"], pathOf(p.request.unused, isCursor))
	member := p.nextCursor(parameter)
	switch {
	case parameter != "" && member.path != "":
		p.setCursor(parameter, member)
	case parameter != "":
		return p.explainParameterAlone(parameter)
	case member.path != "":
		p.guessParameter(member)
	}
	return nil
}

// nextCursor returns the member of the line next, or else the member with the name of the cursor of a next page. Without such a member it returns
// the zero leaf. If the request has no parameter with a cursor, the line next may mean the number of a page, so that the name decides there, too.
//
// If the request has such a parameter, a member that has only the name must have a value, too: with a null the example shows no next page, and the
// cursor may be in another member.
func (p *pageMembers) nextCursor(parameter string) leaf {
	isNext := func(at leaf) bool {
		showsCursor := at.word != "" || parameter == ""
		return isNextCursor(at) && showsCursor
	}
	if named := p.names["next"]; len(named) > 0 {
		isNext = func(at leaf) bool {
			isByCursor := parameter != "" || isNextCursor(at)
			return at.path == named[0] && isByCursor
		}
	}
	member, _ := first(p.outside, isNext)
	return member
}

// setCursor writes paging by cursor into the overlay, with a comment unless lines name both the parameter and the member.
func (p *pageMembers) setCursor(parameter string, member leaf) {
	o := p.rows.overlay
	o.List.Paging = &paging{By: "cursor"}
	o.List.Params["page"] = ""
	o.List.Params["cursor"] = parameter
	p.names["next"] = []string{member.path}
	p.request.unused = without(p.request.unused, parameter)
	values := p.rows.example.values
	if values["cursor"] == "" || values["next"] == "" {
		o.warn("guessed by their names: "+parameter+" has the cursor of a page, and "+member.path+" in the response that of the next page: look them up",
			sectionList, "paging")
	}
}

// guessParameter sets paging by cursor with a parameter whose name follows from that of the member, because the examples do not show the parameter.
// A member without a value shows no cursor: the service may have no value there on any page, and a listing would end after its first page.
func (p *pageMembers) guessParameter(member leaf) {
	parameter := parameterOf(member.name)
	hasCursor := member.word != ""
	if hasCursor && parameter != "" {
		p.setCursor(parameter, member)
		p.rows.overlay.warn("no request in the examples has the parameter "+parameter, sectionList, "paging")
		return
	}
	p.rows.overlay.warn("not learned: if "+member.path+" is the cursor of the next page, put the curl command of a later page above the row, "+
		"and add the lines cursor: and next: with the values in them", sectionList, "paging")
}

// parameterOf returns the parameter that usually takes the cursor in a member: cursor for next_cursor, and pageToken for nextPageToken. It returns ""
// for other names, and for nextToken, because a parameter token is usually a credential.
func parameterOf(member string) string {
	const prefix = "next"
	isNext := len(member) > len(prefix) && strings.EqualFold(member[:len(prefix)], prefix)
	if !isNext {
		return ""
	}
	parameter := strings.TrimLeft(member[len(prefix):], "_-")
	if isLower(member[0]) && parameter != "" { // nextCursor, and not NextCursor
		parameter = strings.ToLower(parameter[:1]) + parameter[1:]
	}
	if strings.EqualFold(parameter, "token") {
		return ""
	}
	return parameter
}

// explainParameterAlone returns an error if a line names a cursor in the request, but no member has the cursor of the next page. Without the line it
// adds a comment.
func (p *pageMembers) explainParameterAlone(parameter string) error {
	const remedy = "add the line next: and the cursor of the next page in the response; if its last row has it, write the paging by hand" +
		contractPage + "5. The listing"
	example := p.rows.example
	if example.values["cursor"] != "" {
		return example.errorf("cursor: no member of the response is known to be the cursor of the next page: " + remedy)
	}
	p.rows.overlay.warn("not learned: if "+parameter+" is the cursor of a page, add the line cursor: and its value, and "+remedy, sectionList, "paging")
	return nil
}
