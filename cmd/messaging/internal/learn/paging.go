package learn

import (
	"errors"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// requestKeys are the lines of a row with values in the request above it. They are no values of the row.
func requestKeys() []string { return []string{"page", "pageSize", "createdAfter", "createdBefore"} }

// learnPaging learns the parameters of the listing that have the values of the request keys, and returns the other parameters.
func (l *learner) learnPaging(example *Example, parameters []leaf) ([]leaf, error) {
	list := &l.overlay.List
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
	return parameters, errors.Join(l.learnBound(example, "createdAfter"), l.learnBound(example, "createdBefore"))
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
		return example.errorf("%s: a contract cannot write a time like %q: remove the line", concept, text)
	case list.Time != "" && list.Time != form:
		return example.errorf("%s: want a time in the form of the other bound, got %q", concept, text)
	}
	list.Time = form
	return nil
}

// formOf returns the form in which a contract writes a time, or "".
func formOf(text string) string {
	at, _ := table.ParseTime(text, nil)
	for _, form := range []string{"rfc3339ms", "rfc3339", "datetime", "date", "unix", "unixms", "rfc1123", "rfc2822"} {
		if table.FormatTime(at, form, time.UTC) == text {
			return form
		}
	}
	return ""
}

// learnNext learns where a response has its next page, by the value of the line next.
func (l *learner) learnNext(example *Example) error {
	value := example.values["next"]
	if value == "" {
		return nil
	}
	var outside []leaf
	for _, at := range leavesOf(example.text) {
		if _, isMember := l.cutRow(at.path); !isMember {
			outside = append(outside, at)
		}
	}
	found, err := locate(outside, "next", value)
	if err != nil {
		return example.errorf("%w", err)
	}
	l.overlay.List.Page = words{"next": {found.path}}
	return nil
}
