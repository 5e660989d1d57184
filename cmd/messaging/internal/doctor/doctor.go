// Package doctor shows what of a contract a real account agrees with. It asks the service through the public client, keeps the responses,
// and reads them in a way of its own, so that it also sees what the contract does not name.
//
// For each concept it prints what the contract reads, the shape of what is there, and one of three words. Proven is only what a value of
// this run shows. Plausible is what a value has the shape for, with all members that have it. Everything else is absent. The doctor
// chooses nothing: only what is proven gets into the overlay, and candidates stand beside it as comments. It prints no credential, number,
// text or other value.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// doctor is one examination.
type doctor struct {
	client   *messaging.Client
	overlay  overlay                // the user's
	table    *table.Table           // of the contract, as messages were sent by it
	newest   atomic.Pointer[answer] // the response to the newest request
	report   report
	timeout  time.Duration
	say      func(what string)            // about what is going on
	items    string                       // the path of the rows
	hasItems bool                         // it is known
	first    document.Node                // the first page
	rows     []document.Node              // of the newest sweep
	failures []document.Node              // the responses that refuse something
	sent     []*message                   // that were not refused
	refused  bool                         // nothing was taken
	sends    bool                         // proven
	proofs   map[string]map[string]string // paths, by part and concept
	lines    [][]line                     // for the overlay: those of one finding go in together, or not at all
}

// examine looks at the account, and with --send at what comes back of messages.
func (d *doctor) examine(ctx context.Context, s *settings) {
	isReached := d.examineListing(ctx)
	if s.send && isReached { // an account may send, although it does not list
		d.sendAll(ctx, s.from, s.to, s.wait)
	}
	if d.first.Exists() {
		d.look(ctx)
	}
	if s.send && isReached {
		d.proveSent()
		d.examineSends()
	}
	if d.first.Exists() {
		d.examineItems()
		d.examineMembers(partRecord, d.rows, d.table.SMSList.Record, "")
		if d.items != "" {
			d.examineMembers(partPage, []document.Node{d.first}, d.table.SMSList.Page, d.items)
		}
		d.examinePaging(ctx)
		d.examineFilters(ctx)
	}
	if len(d.failures) > 0 {
		e := d.table.Errors
		d.examineMembers(partErrors, d.failures, map[string][]string{"code": e.Code, "message": e.Message, "request": e.Request}, "")
	}
	if ctx.Err() != nil {
		d.report.note(partService, "interrupted: what was not looked at by then is not here")
	}
}

// examineListing asks for the first page. It asks without any parameter first: a service may refuse those that it does not know. It reports
// whether the service was reached and took the credentials.
func (d *doctor) examineListing(ctx context.Context) bool {
	l := d.ask(ctx, nil)
	if l.isRefusal() {
		l = d.fetch(ctx, sms.ListOptions{PageSize: sweepSize})
	}
	request := d.table.SMSList.Method + " " + d.table.SMSList.Path
	f := finding{"listing", request, fmt.Sprint("HTTP ", l.status), plausible, "the response is JSON"}
	if !l.isOK {
		f.word, f.why = absent, l.describe()+"; see MESSAGING_BASE_URL, the credentials and sms.list.path"
	}
	if d.report.add(partService, f); !l.isOK {
		return l.status > 0 && !errors.Is(l.err, messaging.ErrUnauthorized) && !errors.Is(l.err, messaging.ErrForbidden)
	}
	// The rows are where the contract reads them, or else the only list of objects. One with another in its only element may be no listing.
	reads, found := d.table.SMSList.Items, listsIn(l.doc, "")
	if len(found) == 1 {
		reads = slices.Concat(reads, found)
	}
	d.first = l.doc
	isRows := func(path string) bool {
		isInner := func(other string) bool { return strings.HasPrefix(other, join(path, "0")+".") }
		return slices.Contains(found, path) && (len(l.doc.At(path).List()) != 1 || !slices.ContainsFunc(found, isInner))
	}
	if i := slices.IndexFunc(reads, isRows); i >= 0 {
		d.setItems(reads[i])
	}
	return true
}

// setItems goes on with the rows at a path of the first page.
func (d *doctor) setItems(path string) {
	d.items, d.hasItems = path, true
	d.rows, _ = rowsAt(d.first, path)
	if client, err := d.with(line{partList + " items", []string{path}}); err == nil && !slices.Contains(d.table.SMSList.Items, path) {
		d.client = client
	}
}

// with returns a client whose contract has lines more.
func (d *doctor) with(lines ...line) (*messaging.Client, error) {
	_, names, err := d.overlay.with(lines...)
	if err != nil {
		return nil, err
	}
	return d.client.With(messaging.WithContract(names))
}

// examineItems says where the rows are.
func (d *doctor) examineItems() {
	found, reads := listsIn(d.first, ""), d.table.SMSList.Items
	if d.hasItems {
		found = []string{d.items}
	}
	why := cmp.Or(strings.Join(found, ", "), "there is no list of objects")
	f := finding{"items", fmt.Sprintf("%q", reads), fmt.Sprintf("%d rows", len(d.rows)), absent, why}
	isRead := d.hasItems && slices.Contains(reads, d.items)
	if len(d.own()) > 0 {
		if f.word = proven; !isRead {
			d.prove(found, partList+" items")
		}
	} else if len(found) > 0 {
		if f.word = plausible; !isRead {
			d.suggest(found, partList+" items")
		}
	}
	if d.report.add(partList, f); len(d.rows) == 0 {
		d.report.note(partList, "no row was read, so nothing shows what rows look like; use --send, or an account that has sent")
	}
}

// examineMembers adds a finding for each concept of a part that reads, and then the members that no concept reads.
func (d *doctor) examineMembers(part string, docs []document.Node, section map[string][]string, skip string) {
	columns, proofs := columnsOf(docs, skip), d.proofs[part]
	proved := slices.Collect(maps.Values(proofs))
	free := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return slices.Contains(proved, c.path) })
	isTaken := map[string]bool{} // by the concept that the contract reads there
	for concept, paths := range section {
		at, _ := find(docs, paths)
		isTaken[at] = isTaken[at] || slices.Contains(fitting(concept, free), at)
	}
	for _, concept := range slices.Sorted(maps.Keys(section)) {
		at, values := find(docs, section[concept])
		f := finding{concept, strings.Join(section[concept], ", "), shapes(values), absent, ""}
		fit := fitting(concept, free)
		switch proof := proofs[concept]; {
		case proof != "":
			_, there := find(docs, []string{proof})
			if f.word, f.why = proven, proof+": "+shapes(there); proof != at {
				d.proveMember(part, section, concept, proof)
			}
		case len(fit) > 0:
			f.word, f.why = plausible, strings.Join(fit, ", ")
			open := slices.DeleteFunc(fit, func(path string) bool { return isTaken[path] && path != at })
			if len(open) > 1 || len(open) == 1 && open[0] != at {
				d.suggest(open, part+" "+concept)
			}
		}
		d.report.add(part, f)
	}
	read := slices.Concat(append(slices.Collect(maps.Values(section)), proved)...)
	for _, c := range columns {
		if !slices.Contains(read, c.path) {
			d.report.note(part, "no concept reads %s: %s", c.path, shapes(c.values))
		}
	}
}

// fitting returns the members whose values all look like those of a concept.
func fitting(concept string, columns []column) (fit []string) {
	for _, c := range columns {
		if fits(concept, c) {
			fit = append(fit, c.path)
		}
	}
	return fit
}
