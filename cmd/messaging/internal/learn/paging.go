package learn

import (
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

// learnPaging learns the parameters of the listing that have the values of the request keys, and returns the other parameters.
func (l *learner) learnPaging(example *Example, parameters []leaf) ([]leaf, error) {
	list := &l.overlay.List
	all := slices.Clone(parameters)
	for _, concept := range requestKeys() {
		value := example.values[concept]
		if value == "" {
			continue
		}
		found, err := locate(parameters, concept, value)
		if err != nil {
			return nil, example.errorf("%w", err)
		}
		list.Params[concept] = found.path
		isFound := func(other leaf) bool { return other.path == found.path }
		parameters = slices.DeleteFunc(parameters, isFound)
	}
	if example.values["page"] == "0" {
		list.Paging = &paging{By: "page", First: new(0)}
	}
	if list.Params["page"] == "" {
		parameters = l.learnOffset(parameters)
	}
	isPageSize := func(at leaf) bool { return at.path == list.Params["pageSize"] }
	if i := slices.IndexFunc(all, isPageSize); i >= 0 {
		l.pageSize, _ = strconv.Atoi(all[i].word)
	}
	l.warnOfOffset(example.values["page"], all)
	return parameters, errors.Join(l.learnBound(example, "createdAfter"), l.learnBound(example, "createdBefore"))
}

// warnOfOffset warns of a page whose number may be an offset: a multiple of the number of rows that the request asks for.
func (l *learner) warnOfOffset(page string, parameters []leaf) {
	size := l.pageSize
	if size == 0 {
		size = sizeByName(parameters)
	}
	number, _ := strconv.Atoi(page)
	isMultiple := size > 1 && number > 0 && number%size == 0
	if isMultiple {
		const text = "%d is a multiple of the page size %d: if it counts rows, write the line offset: and not page:"
		l.warn(fmt.Sprintf(text, number, size), sectionList, "params", "page")
	}
}

// sizeByName returns the number of rows of the first parameter whose name means one, or 0.
func sizeByName(parameters []leaf) int {
	i := slices.IndexFunc(parameters, isSize)
	if i < 0 {
		return 0
	}
	size, _ := strconv.Atoi(parameters[i].word)
	return size
}

// learnOffset completes the paging of an offset that has a line, or learns an offset by its name if the request also has the number of rows. It
// returns the other parameters.
func (l *learner) learnOffset(parameters []leaf) []leaf {
	list := &l.overlay.List
	size := slices.IndexFunc(parameters, isSize)
	hasSize := size >= 0 || list.Params["pageSize"] != ""
	if list.Params["offset"] == "" {
		offset := slices.IndexFunc(parameters, isOffset)
		if offset < 0 || !hasSize {
			return parameters
		}
		list.Params["offset"] = parameters[offset].path
	}
	if list.Params["pageSize"] == "" && hasSize {
		list.Params["pageSize"] = parameters[size].path
	}
	list.Params["page"] = ""
	list.Paging = &paging{By: "offset"}
	isLearned := func(other leaf) bool {
		return other.path == list.Params["offset"] || other.path == list.Params["pageSize"]
	}
	return slices.DeleteFunc(parameters, isLearned)
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
