package webhook

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
)

// read appends the events of a request. What could be read is returned beside an error for the rest.
//
// A request is read in stages, which CONTRIBUTING.md lists. Each makes a value, which the next one takes, and none changes an earlier
// one.
func (c *callback) read(r *http.Request, events []event) (all []event, problem error) {
	if err := c.checkPath(r); err != nil {
		return nil, err
	}
	claimed, err := c.receive(r)
	if err != nil {
		return nil, err
	}
	a, err := c.checkOrigin(r, &claimed)
	switch {
	case err != nil:
		return nil, err
	case isPrefetch(r.Header):
		return nil, c.name.refuse(ErrProbe)
	case a.count > c.maxParams:
		return nil, c.name.refuse(ErrTooManyParams)
	case a.problem != nil:
		return nil, a.problem
	}
	list, outer, err := c.split(&a)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return c.readEvent(&a, events)
	}
	for i := range list {
		one, err := c.element(&outer, &list[i])
		if err == nil {
			one = c.withoutCopies(&one)
			events, err = c.readEvent(&one, events)
		}
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, c.name.refuse(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// readEvent appends the events of what arrived: one, unless it is an envelope of the platform.
func (c *callback) readEvent(a *arrival, events []event) ([]event, error) {
	found := c.find(a)
	f := c.understand(a, &found)
	switch {
	case c.isChat():
		return f.appendChat(events)
	case c.name == CallbackDelivery:
		return f.appendReports(events)
	default:
		return f.appendSMS(events)
	}
}

func only[E any](events []event) (found []E) {
	for _, e := range events {
		if one, ok := any(e).(*E); ok {
			found = append(found, *one)
		}
	}
	return found
}

// isPrefetch reports whether a browser or a link preview fetches ahead of its user, who may never ask for the page.
func isPrefetch(h http.Header) bool {
	for _, name := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, purpose := range h[name] {
			purpose = strings.ToLower(purpose)
			if strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") || strings.Contains(purpose, "preview") {
				return true
			}
		}
	}
	return false
}
