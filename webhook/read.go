package webhook

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// read returns the events of a request. What could be read is returned along with an error for the rest. The buffer is an empty slice for
// the events, so that the handler of one event allocates no list.
//
// A request is read once, in steps: checkPath checks the path, receive checks the query and reads the bytes, verify and verifyBody check the other
// proofs, classify parses the body, readJSON finds the events of a JSON body, readForm and readObject set fields, resolve decides between them,
// and appendEvents makes events.
func (c *callback) read(r *http.Request, buffer []event) ([]event, error) {
	if err := c.checkPath(r); err != nil {
		return nil, err
	}
	req, err := c.receive(r)
	if err != nil {
		return nil, err
	}
	if err := c.verify(r, &req); err != nil {
		return nil, err
	}
	c.classify(&req)
	if err := c.verifyBody(&req); err != nil {
		return nil, err
	}
	if isPrefetch(r.Header) {
		return nil, c.refuse(ErrPrefetch)
	}
	if req.isBodyAlone {
		return c.readBodyAlone(&req, buffer)
	}
	return c.readData(req.query, &req, buffer)
}

// readBodyAlone returns the events of a body that a verifier accepted. A signature of the body does not cover the query, so anyone who has
// seen a signed request can send it again with another query: no event is read from it. If it may hold one that the body does not, the
// request is refused, so that no event is lost in silence.
func (c *callback) readBodyAlone(req *request, buffer []event) ([]event, error) {
	events, err := c.readData("", req, buffer)
	isEmpty := len(events) == 0 && holdsNoEvent(err)
	if isEmpty && c.mayHoldEvent(req.query) {
		return events, c.refuse(errQueryNotRead).withCause(err)
	}
	return events, err
}

// holdsNoEvent reports whether an error, or nil, is that of a body that was read and holds no event for the callback.
func holdsNoEvent(err error) bool {
	isReason := func(reason error) bool { return errors.Is(err, reason) }
	return err == nil || slices.ContainsFunc([]error{ErrNoSender, ErrNoMessage, ErrUnhandled}, isReason)
}

// mayHoldEvent reports whether a query has a parameter that the callback reads.
func (c *callback) mayHoldEvent(query string) bool {
	f := fields{callback: c}
	f.readForm(query)
	return slices.ContainsFunc(f.params, func(p Param) bool { return c.reads(p.Name) })
}

// readData returns the events of a query and a body.
func (c *callback) readData(query string, req *request, buffer []event) ([]event, error) {
	f := fields{callback: c}
	f.readForm(query)
	f.query = c.withoutSecretParams(query)
	switch {
	case f.count > c.receiver.maxParams:
		return nil, c.refuse(ErrTooLong)
	case req.fault != nil:
		return nil, req.fault
	case req.json != nil:
		return f.readJSON(req, buffer)
	default:
		f.readForm(req.form)
		return f.appendEvents(buffer)
	}
}

// appendEvents appends the events of the fields: one, unless they hold an envelope of the platform.
func (f *fields) appendEvents(events []event) ([]event, error) {
	if f.count > f.callback.receiver.maxParams {
		return events, f.callback.refuse(ErrTooLong)
	}
	d := f.resolve()
	before := len(events)
	var err error
	switch {
	case f.callback.isChat():
		events, err = f.appendChat(&d, events)
	case f.callback.name == CallbackDelivery:
		events, err = f.appendReports(&d, events)
	default:
		events, err = f.appendSMS(&d, events)
	}
	if len(events) > maxEvents { // one change can hold many preferences
		return nil, f.callback.refuse(ErrTooLarge)
	}
	isAlone := len(events)-before <= 1 && d.envelope.malformed == 0
	if !isAlone {
		f.condense(&d.envelope)
	}
	return events, err
}

// condense replaces the JSON of an envelope by its hash in the parameters that the events of the envelope share. Otherwise each event would be
// stored with the numbers and texts of all. The hash keeps duplicate keys different where the JSON differs.
func (f *fields) condense(e *envelope) {
	for i := range f.params {
		p := &f.params[i]
		isInBody := e.origin == originBody && i >= f.outer
		holdsPart := isInBody && isEnvelopeMember(p)
		holdsAll := len(e.raw) > 0 && strings.Contains(p.Value, string(e.raw)) // perhaps among other members
		if holdsPart || holdsAll {
			p.Value = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(p.Value)))
		}
	}
}

// isEnvelopeMember reports whether a member of a JSON object, or a value at a path in it, holds events of an envelope, or the people who sent them.
func isEnvelopeMember(p *Param) bool {
	names := []string{"entry", "value", "messages", "statuses", "contacts"}
	first, _, _ := strings.Cut(p.Name, ".")
	isNested := strings.IndexAny(p.Value, "{[") == 0
	return isNested && slices.Contains(names, first)
}

// parse is like read, for callers without a handler: they get messages and statuses, so any other change of the platform is an error.
func (c *callback) parse(r *http.Request) ([]event, error) {
	events, err := c.read(r, nil)
	if err != nil {
		return events, err
	}
	for _, e := range events {
		switch e := e.(type) {
		case *Other:
			return events, c.name.refuseChange(e.Field)
		case *Preference:
			return events, c.name.refuseChange(preferencesMember)
		}
	}
	return events, nil
}

// ofType returns the events of one type.
func ofType[E any](events []event) (list []E) {
	for _, e := range events {
		if typed, ok := any(e).(*E); ok {
			list = append(list, *typed)
		}
	}
	return list
}
