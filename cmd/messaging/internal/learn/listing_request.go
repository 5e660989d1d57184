package learn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// requestKeys are the lines of a row with values in the request above it. They are no values of the row.
func requestKeys() []string {
	return []string{"page", "offset", "pageSize", "createdAfter", "createdBefore", "sortBy", "order"}
}

// learnPaging learns the paging of the listing and the bounds of time in its request. It returns the parameters that are neither, and how many
// rows the request asks for, or 0.
func (l *learner) learnPaging(example *Example, parameters []leaf) (others []leaf, size int, err error) {
	others, err = l.learnRequestKeys(example, parameters)
	if err != nil {
		return nil, 0, err
	}
	others = l.learnOffset(others)
	size = l.sizeOf(parameters)
	page := example.values["page"]
	if page == "0" {
		l.overlay.List.Paging = &paging{By: "page", First: new(0)}
	}
	l.warnOfOffset(page, cmp.Or(size, sizeByName(parameters)))
	return others, size, errors.Join(l.learnBound(example, "createdAfter"), l.learnBound(example, "createdBefore"))
}

// learnRequestKeys learns the parameters that have the values of the request keys, and returns the other parameters.
func (l *learner) learnRequestKeys(example *Example, parameters []leaf) ([]leaf, error) {
	others := slices.Clone(parameters)
	for _, concept := range requestKeys() {
		value := example.values[concept]
		if value == "" {
			continue
		}
		found, err := locate(others, concept, value)
		if err != nil {
			return nil, example.errorf("%w", err)
		}
		l.overlay.List.Params[concept] = found.path
		others = without(others, found.path)
	}
	return others, nil
}

// without removes the parameter at a path.
func without(parameters []leaf, path string) []leaf {
	return slices.DeleteFunc(parameters, func(at leaf) bool { return at.path == path })
}

// learnOffset completes the paging of an offset that has a line, or learns an offset by its name if the request has no page and also has the
// number of rows. It returns the other parameters.
func (l *learner) learnOffset(parameters []leaf) []leaf {
	names := l.overlay.List.Params
	if names["page"] != "" {
		return parameters
	}
	offset := cmp.Or(names["offset"], pathOf(parameters, isOffset))
	size := cmp.Or(names["pageSize"], pathOf(parameters, isSize))
	isCertain := names["offset"] != "" || size != ""
	if offset == "" || !isCertain {
		return parameters
	}
	names["page"] = ""
	names["offset"] = offset
	if size != "" {
		names["pageSize"] = size
	}
	l.overlay.List.Paging = &paging{By: "offset"}
	return without(without(parameters, offset), size)
}

// pathOf returns the path of the first parameter of a kind, or "".
func pathOf(parameters []leaf, isKind func(leaf) bool) string {
	found, _ := first(parameters, isKind)
	return found.path
}

// sizeOf returns the number of rows in the parameter that was learned for it, or 0.
func (l *learner) sizeOf(parameters []leaf) int {
	isPageSize := func(at leaf) bool { return at.path == l.overlay.List.Params["pageSize"] }
	return firstNumber(parameters, isPageSize)
}

// sizeByName returns the number of rows in the first parameter whose name means one, or 0.
func sizeByName(parameters []leaf) int { return firstNumber(parameters, isSize) }

// firstNumber returns the number in the first parameter of a kind, or 0.
func firstNumber(parameters []leaf, isKind func(leaf) bool) int {
	found, _ := first(parameters, isKind)
	number, _ := strconv.Atoi(found.word)
	return number
}

// warnOfOffset warns of a page whose number may be an offset: a multiple of the number of rows that the request asks for.
func (l *learner) warnOfOffset(page string, size int) {
	number, _ := strconv.Atoi(page)
	isMultiple := size > 1 && number > 0 && number%size == 0
	if isMultiple {
		const text = "%d is a multiple of the page size %d: if it counts rows, write the line offset: and not page:"
		l.warn(fmt.Sprintf(text, number, size), sectionList, "params", "page")
	}
}

// learnBound learns the form in which the listing takes a time.
func (l *learner) learnBound(example *Example, concept string) error {
	text := example.values[concept]
	if text == "" {
		return nil
	}
	list := &l.overlay.List
	form := formOf(text)
	switch {
	case form == "":
		return example.errorf("%s: a contract cannot write a time like %q, only like %s: remove the line, and write %q: \"\" to sms.list.params",
			concept, text, strings.Join(formsOf(time.Date(2026, 11, 28, 14, 5, 0, 0, time.UTC)), " or "), concept)
	case list.Time != "" && list.Time != form:
		return example.errorf("%s: want a time in the form of the other bound, got %q", concept, text)
	}
	list.Time = form
	return nil
}

// timeForms are the forms in which a contract writes a time.
func timeForms() []string {
	return []string{"rfc3339ms", "rfc3339", "datetime", "date", "unix", "unixms", "rfc1123", "rfc2822"}
}

// formOf returns the form in which a contract writes a time, or "".
func formOf(text string) string {
	at, _ := table.ParseTime(text, nil)
	for _, form := range timeForms() {
		if table.FormatTime(at, form, time.UTC) == text {
			return form
		}
	}
	return ""
}

// formsOf returns a time in each form.
func formsOf(at time.Time) []string {
	var texts []string
	for _, form := range timeForms() {
		texts = append(texts, table.FormatTime(at, form, time.UTC))
	}
	return texts
}

// learnNext learns where a response has its next page, by the value of the line next, and by its name the flag that says whether one follows.
// See learnTotal for the total.
func (l *learner) learnNext(example *Example) error {
	var outside []leaf
	for _, at := range leavesOf(example.text) {
		if _, isMember := l.cutRow(at.path); !isMember {
			outside = append(outside, at)
		}
	}
	names := words{}
	if value := example.values["next"]; value != "" {
		found, err := locate(outside, "next", value)
		if err != nil {
			return example.errorf("%w", err)
		}
		names.add("next", found.path)
	}
	isPaged := l.overlay.List.Params["page"] != "" || l.overlay.List.Params["offset"] != ""
	flag := slices.IndexFunc(outside, isMoreFlag)
	if isPaged && flag >= 0 {
		names.add("hasNext", outside[flag].path)
	}
	l.learnTotal(outside, names)
	if len(names) > 0 {
		l.overlay.List.Page = names
	}
	return nil
}

// isMoreFlag reports whether a member is a flag that says whether a page follows.
func isMoreFlag(at leaf) bool {
	_, isBoolean := at.value.(bool)
	return isBoolean && moreName.match(at.name)
}
