package learn

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// valueFilters are the filters of the listing by a value of the row.
func valueFilters() []string { return []string{"reference", "id", "request", "category", "from", "to"} }

// listingRequest learns the request above a row: the path, the method, the paging, the bounds of time and the filters of the listing.
type listingRequest struct {
	example  *Example // of the row
	overlay  *overlay
	unused   []leaf // parameters without a known value
	pageSize int    // how many rows the request asks for, or 0
}

func (r *listingRequest) learn() error {
	if r.example.listing == nil {
		return nil
	}
	r.overlay.List.Path = r.example.listing.path
	parameters := r.learnEncoding()
	r.unused = slices.Clone(parameters)
	if err := r.learnKeys(); err != nil {
		return err
	}
	r.learnPaging(parameters)
	if err := errors.Join(r.learnBound("createdAfter"), r.learnBound("createdBefore")); err != nil {
		return err
	}
	r.learnFilters()
	return nil
}

// learnEncoding learns the method and the encoding of the request, and returns its parameters.
func (r *listingRequest) learnEncoding() []leaf {
	list := &r.overlay.List
	request := r.example.listing
	switch {
	case request.body == "":
		return formLeaves(request.query)
	case isObject(request.body):
		list.Method = http.MethodPost
		list.Encoding = "json"
		return leavesOf(request.body)
	default:
		list.Method = http.MethodPost
		list.Encoding = "form"
		return formLeaves(request.body)
	}
}

// learnPaging learns whether the paging is by offset or begins with page 0, and how many rows the request asks for.
func (r *listingRequest) learnPaging(parameters []leaf) {
	r.learnOffset()
	r.pageSize = r.sizeOf(parameters)
	page := r.example.values["page"]
	if page == "0" {
		r.overlay.List.Paging = &paging{By: "page", First: new(0)}
	}
	r.warnOfOffset(page, cmp.Or(r.pageSize, firstNumber(parameters, isSize)))
}

// learnKeys learns the parameters that have the values of the request keys.
func (r *listingRequest) learnKeys() error {
	for _, concept := range requestKeys() {
		value := r.example.values[concept]
		if value == "" {
			continue
		}
		found, err := locate(r.unused, concept, value)
		if err != nil {
			return r.example.errorf("%w", err)
		}
		r.overlay.List.Params[concept] = found.path
		r.unused = without(r.unused, found.path)
	}
	return nil
}

// learnOffset completes the paging of an offset that has a line, or learns an offset by its name if the request has no page and also has the
// number of rows.
func (r *listingRequest) learnOffset() {
	names := r.overlay.List.Params
	if names["page"] != "" || names["cursor"] != "" {
		return
	}
	offset := cmp.Or(names["offset"], pathOf(r.unused, isOffset))
	size := cmp.Or(names["pageSize"], pathOf(r.unused, isSize))
	isCertain := names["offset"] != "" || size != ""
	if offset == "" || !isCertain {
		return
	}
	names["page"] = ""
	names["offset"] = offset
	if size != "" {
		names["pageSize"] = size
	}
	r.overlay.List.Paging = &paging{By: "offset"}
	r.unused = without(r.unused, offset)
	r.unused = without(r.unused, size)
}

// sizeOf returns the number of rows in the parameter that was learned for it, or 0.
func (r *listingRequest) sizeOf(parameters []leaf) int {
	isPageSize := func(at leaf) bool { return at.path == r.overlay.List.Params["pageSize"] }
	return firstNumber(parameters, isPageSize)
}

// firstNumber returns the number in the first parameter of a kind, or 0.
func firstNumber(parameters []leaf, isKind func(leaf) bool) int {
	found, _ := first(parameters, isKind)
	number, _ := strconv.Atoi(found.word)
	return number
}

// warnOfOffset warns of a page whose number may be an offset: a multiple of the number of rows that the request asks for.
func (r *listingRequest) warnOfOffset(page string, size int) {
	number, _ := strconv.Atoi(page)
	isMultiple := size > 1 && number > 0 && number%size == 0
	if isMultiple {
		const text = "%d is a multiple of the page size %d: if it counts rows, write the line offset: and not page:"
		r.overlay.warn(fmt.Sprintf(text, number, size), sectionList, "params", "page")
	}
}

// learnBound learns the form in which the listing takes a time.
func (r *listingRequest) learnBound(concept string) error {
	text := r.example.values[concept]
	if text == "" {
		return nil
	}
	list := &r.overlay.List
	form := formOf(text)
	switch {
	case form == "":
		return r.example.errorf("%s: a contract cannot write a time like %q, only like %s: remove the line, and write %q: \"\" to sms.list.params",
			concept, text, strings.Join(formsOf(time.Date(2026, 11, 28, 14, 5, 0, 0, time.UTC)), " or "), concept)
	case list.Time != "" && list.Time != form:
		return r.example.errorf("%s: want a time in the form of the other bound, got %q", concept, text)
	}
	list.Time = form
	return nil
}

// learnFilters learns the filters by a value of the row.
func (r *listingRequest) learnFilters() {
	for _, concept := range valueFilters() {
		filter, isShown := find(r.unused, concept, r.example.values[concept])
		if !isShown {
			continue
		}
		r.overlay.List.Params[concept] = filter.path
		r.unused = without(r.unused, filter.path) // two filters cannot share a name
	}
}
