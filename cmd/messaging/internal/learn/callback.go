package learn

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// learnRow learns where the rows of the listing are, and the names of their members.
func (l *learner) learnRow() error {
	example := l.examples.row
	if example == nil {
		return nil
	}
	if err := l.learnListing(example); err != nil {
		return err
	}
	l.learnListPath(example)
	if err := l.learnMembers(example); err != nil {
		return err
	}
	if example.values["status"] != "" {
		l.learnMeaning(example)
	}
	l.learnOrder(example)
	return errors.Join(l.learnNext(example), l.learnLayout(example))
}

// learnListPath learns the path of the listing from the line path:, which comes before the request above the row.
func (l *learner) learnListPath(example *Example) {
	list := &l.overlay.List
	if path := example.values["path"]; path != "" {
		list.Path = variables(path)
	}
	if list.Path == "" {
		l.overlay.note("the example does not show the path", sectionList, "path")
	}
	l.notePath(sectionList, list.Path)
}

// learnMembers learns where the rows are, and the paths of the known values within a row.
func (l *learner) learnMembers(example *Example) error {
	found, err := example.locate(leavesOf(example.text), rowConcepts())
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

// elementPaths returns the paths of values by concept: those within an element if the values are in a list.
func elementPaths(found map[string]leaf, isList bool) map[string]string {
	paths := map[string]string{}
	for concept, at := range found {
		paths[concept] = at.path
		if isList {
			_, paths[concept], _ = cutList(at.path)
		}
	}
	return paths
}

// valueFilters are the filters of the listing by a value of the row.
func valueFilters() []string { return []string{"reference", "id", "request", "category", "from", "to"} }

// filterConcepts are all filters of the listing.
func filterConcepts() []string { return append(valueFilters(), "createdAfter", "createdBefore") }

// learnListing learns the path, the method and the filters of the listing from the request above a row. A filter has a value of the row.
func (l *learner) learnListing(example *Example) error {
	r := example.listing
	if r == nil {
		return nil
	}
	list := &l.overlay.List
	list.Path = r.path
	filters := formLeaves(r.query)
	if r.body != "" {
		list.Method = http.MethodPost
		if isObject(r.body) {
			list.Encoding = "json"
			filters = leavesOf(r.body)
		} else {
			list.Encoding = "form"
			filters = formLeaves(r.body)
		}
	}
	filters, size, err := l.learnPaging(example, filters)
	if err != nil {
		return err
	}
	l.pageSize = size
	for _, concept := range valueFilters() {
		filter, err := locate(filters, concept, example.values[concept])
		if err != nil {
			continue // the request does not show this filter
		}
		list.Params[concept] = filter.path
		filters = without(filters, filter.path) // two filters cannot share a name
	}
	l.unusedFilters = filters
	return nil
}

// locate finds the known values of an example in it, by concept.
func (e *Example) locate(leaves []leaf, concepts []string) (map[string]leaf, error) {
	found := map[string]leaf{}
	for _, concept := range concepts {
		if e.values[concept] == "" {
			continue
		}
		at, err := locate(leaves, concept, e.values[concept])
		if err != nil {
			return nil, e.errorf("%w", err)
		}
		found[concept] = at
	}
	return found, nil
}

// listOf returns the list that all of some values are in, each in its own element or in the same one.
func listOf(found map[string]leaf) (list string, ok bool) {
	isFirst := true
	for _, at := range found {
		before, inElement, isIn := cutList(at.path)
		if !isIn || inElement == "" || !isFirst && before != list {
			return "", false
		}
		list = before
		isFirst = false
	}
	return list, !isFirst
}

// learnMeaning adds a status to the words of the default contract, and removes it from other meanings. If the service has numbers, it also
// removes the numbers of the default contract, which are a guess.
func (l *learner) learnMeaning(example *Example) {
	word := example.values["status"]
	meaning := example.values["means"]
	if table.Match(l.wordsOf(meaning), word, true) >= 0 {
		return
	}
	for _, other := range meanings() {
		isWrong := func(known string) bool {
			isGuess := isNumeric(word) && isNumeric(known) && !l.isLearned(known)
			return isGuess || strings.EqualFold(known, word)
		}
		kept := slices.DeleteFunc(slices.Clone(l.wordsOf(other)), isWrong)
		if other == meaning {
			kept = append(kept, word)
		}
		if !slices.Equal(kept, l.wordsOf(other)) {
			l.overlay.Delivery.Statuses[other] = kept
		}
	}
	l.overlay.note("the examples show few words: look up the others", sectionDelivery, "statuses")
}

func isNumeric(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// wordsOf returns the words for a meaning so far.
func (l *learner) wordsOf(meaning string) []string {
	if words, isLearned := l.overlay.Delivery.Statuses[meaning]; isLearned {
		return words
	}
	return l.defaults.WebhookDelivery.Statuses[meaning]
}

// isLearned reports whether an example has a status.
func (l *learner) isLearned(word string) bool {
	hasStatus := func(example *Example) bool { return example.values["status"] == word }
	return slices.ContainsFunc(l.examples.delivery, hasStatus) || l.examples.row != nil && hasStatus(l.examples.row)
}

// callback is an example of a callback.
type callback struct {
	isPOST bool // false for a form alone, which may be the query of a GET
	isJSON bool
	text   string // the JSON, or the query
	leaves []leaf
}

// callbackURL is the URL of a callback by GET, with its query.
var callbackURL = regexp.MustCompile(`^(?:[A-Za-z]+://|/)[^\s?]*\?(\S+)$`)

// callbackBody returns the body or the query of a callback: JSON, a form, the URL of a GET, or an HTTP request.
func callbackBody(text string) (body string, isPOST bool) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if requestLine.MatchString(text) {
		r := parseHTTP(text)
		return cmp.Or(r.body, r.query), r.method == http.MethodPost
	}
	if found := callbackURL.FindStringSubmatch(text); found != nil {
		return found[1], false
	}
	return text, false
}

// parseCallback reads a callback.
func parseCallback(text string) (*callback, error) {
	text, isPOST := callbackBody(text)
	c := &callback{text: text, isJSON: isObject(text) || isList(text)}
	c.isPOST = isPOST || c.isJSON
	switch {
	case c.isJSON:
		c.leaves = leavesOf(text)
	case strings.HasPrefix(text, "<") || !strings.Contains(text, "="):
		return nil, errors.New("want JSON, a form, or a URL with parameters")
	default:
		c.text = strings.ReplaceAll(text, "\n", "")
		c.leaves = formLeaves(c.text)
	}
	return c, nil
}

// learnInbound learns the names of an inbound message.
func (l *learner) learnInbound() error {
	return learnCallbacks(&l.overlay.Inbound, l.examples.inbound, keysOf(kindInbound))
}

// learnDelivery learns the names of a delivery report, and the meaning of its statuses.
func (l *learner) learnDelivery() error {
	if err := learnCallbacks(&l.overlay.Delivery.callbackNames, l.examples.delivery, reportConcepts()); err != nil {
		return err
	}
	for _, example := range l.examples.delivery {
		l.learnMeaning(example)
	}
	return nil
}

// learnCallbacks finds the known values of callbacks in them.
func learnCallbacks(names *callbackNames, examples []*Example, concepts []string) error {
	for i, example := range examples {
		c, err := example.parseCallback()
		if err != nil {
			return err
		}
		found, err := example.locate(c.leaves, concepts)
		if err != nil {
			return err
		}
		names.setEncoding(c)
		events, isList := c.eventsOf(found)
		isFirst := i == 0
		if err := names.setEvents(example, events, isFirst); err != nil {
			return err
		}
		names.addParams(found, isList)
	}
	return nil
}

// parseCallback reads the callback of an example.
func (e *Example) parseCallback() (*callback, error) {
	body, _ := callbackBody(e.text)
	if err := e.checkJSON("the callback", body); err != nil {
		return nil, err
	}
	c, err := parseCallback(e.text)
	if err != nil {
		return nil, e.errorf("%w", err)
	}
	return c, nil
}

// eventsOf returns the list in which a callback has its values. A form has none: its names only look like paths.
func (c *callback) eventsOf(found map[string]leaf) (list string, isList bool) {
	if !c.isJSON {
		return "", false
	}
	return listOf(found)
}

// setEncoding sets the encoding by what a callback shows: a form alone may be the query of a GET.
func (names *callbackNames) setEncoding(c *callback) {
	switch {
	case c.isJSON:
		names.Encoding = "json"
	case c.isPOST:
		names.Encoding = "form"
	}
}

// setEvents sets the path of the list of events, which all examples have at the same place. It is "" for a callback without one, or one that is
// the list.
func (names *callbackNames) setEvents(example *Example, path string, isFirst bool) error {
	if path == "" {
		return nil
	}
	if !isFirst && !slices.Equal(names.Events, []string{path}) {
		return example.errorf("the events are at %q here, and elsewhere in the examples before", path)
	}
	names.Events = []string{path}
	return nil
}

// addParams adds the names of the values that were found, in the callback or in an element of its list.
func (names *callbackNames) addParams(found map[string]leaf, isList bool) {
	for concept, name := range elementPaths(found, isList) {
		names.Params.add(concept, name)
	}
}
