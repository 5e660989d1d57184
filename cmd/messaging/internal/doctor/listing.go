package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// someRows is how many rows are asked for where it does not matter.
const someRows = 50

// rowContainers are words of objects within a row that say nothing of what is in them.
const rowContainers = "part parts"

// lookup is one page of the listing.
type lookup struct {
	page  sms.Page
	err   error
	x     *exchange // nil if there was no request
	doc   *node     // nil if the body is no JSON, for the reason in wrong
	wrong error
	path  string  // of the rows
	rows  []*node // nil if there is no list at the paths of the contract
}

// fetch requests one page.
func (d *doctor) fetch(ctx context.Context, what string, options sms.ListOptions) (l lookup) {
	if d.table.SMSList.Params["pageSize"] == "" {
		options.PageSize = 0
	}
	d.step(ctx, what, func(ctx context.Context) {
		n := d.recorder.count()
		for l.page, l.err = range d.client.SMS.Pages(ctx, options) {
			break
		}
		l.x = d.recorder.last(n)
	})
	if errors.Is(l.err, messaging.ErrRow) {
		l.err = nil // seen in the columns
	}
	if l.x == nil || l.x.status == 0 {
		return l
	}
	if l.doc, l.wrong = parse(l.x.body.Bytes()); l.doc == nil {
		return l
	}
	for _, path := range d.table.SMSList.Items {
		if n := l.doc.at(path); n != nil && n.kind == list {
			l.path, l.rows = path, append([]*node{}, n.elements...)
			break
		}
	}
	for _, row := range l.rows {
		d.see(row, d.table.SMSList.Record)
	}
	return l
}

// examineListing looks at the address and the first page. It reports whether there is a listing to go on with.
func (d *doctor) examineListing(ctx context.Context) bool {
	d.section = "address"
	l := d.fetch(ctx, "asking for the listing", sms.ListOptions{PageSize: someRows})
	if !d.address(l) {
		return false
	}
	d.section = "listing"
	if l.x.status == http.StatusBadRequest || l.x.status == http.StatusUnprocessableEntity {
		l = d.withoutSize(ctx, l)
	}
	if l.doc == nil || l.x.status >= http.StatusMultipleChoices {
		return false
	}
	if failed, ok := errors.AsType[*messaging.Error](l.err); ok && failed.Code != "" {
		d.add("first page", Unknown, describe(l.err))
		d.failure(l)
		return false
	}
	if l.rows == nil {
		if l = d.findRows(ctx, l); l.rows == nil {
			return false
		}
	} else {
		d.add("rows", OK, fmt.Sprintf("%d rows at %s", len(l.rows), place(l.path)))
	}
	if l.err != nil {
		d.add("first page", Differs, describe(l.err))
	}
	d.examineRows(l)
	return true
}

// examineRows looks at the rows of a page.
func (d *doctor) examineRows(l lookup) {
	d.section = "listing"
	d.rows = l.rows
	if len(l.rows) == 0 {
		return
	}
	d.examine(examination{
		docs: l.rows, section: d.table.SMSList.Record, where: []string{"sms.list", "record"}, containers: rowContainers,
		times: []string{"created", "sent"}, essential: []string{"id", "reference", "created", "deliveryStatus", "to"},
	})
	for _, row := range l.rows {
		d.see(row, d.table.SMSList.Record)
	}
	d.examinePage(l)
	d.section = "times"
	d.times()
}

// examinePage looks at what a page says about the listing.
func (d *doctor) examinePage(l lookup) {
	if l.path == "" {
		return // there is nothing beside the rows
	}
	d.section = "page"
	page, _ := d.table.SMSList.CursorInLastRow()
	d.examine(examination{
		docs: []*node{l.doc}, section: page, where: []string{"sms.list", "page"}, skip: l.path, containers: "page paging pagination link",
		claimed: []map[string][]string{d.errorPaths()},
	})
}

// withoutSize requests the first page without a size, after one with it was refused.
func (d *doctor) withoutSize(ctx context.Context, refused lookup) lookup {
	l := d.fetch(ctx, "asking for the listing, without a page size", sms.ListOptions{})
	if l.err == nil {
		d.add("page size", Differs, "a request with "+d.table.SMSList.Params["pageSize"]+" is refused, one without is not: look up what it is called",
			line{"sms.list", []string{"params", "pageSize"}, ""})
		return l
	}
	d.add("first page", Unknown, "refused: "+describe(refused.err))
	d.failure(refused)
	return refused
}

func (d *doctor) errorPaths() map[string][]string {
	e := d.table.Errors
	return map[string][]string{"code": e.Code, "message": e.Message, "request": e.Request}
}

func place(path string) string {
	if path == "" {
		return "the top of the response"
	}
	return path
}

// address says whether the service was reached, and takes the credentials.
func (d *doctor) address(l lookup) bool {
	if l.x == nil {
		d.add("request", Unknown, "cannot be made: "+describe(l.err))
		return false
	}
	if l.x.status == 0 {
		d.add("reached", Unknown, d.unreached(l.err))
		return false
	}
	d.add("reached", OK, fmt.Sprintf("HTTP %d for %s %s", l.x.status, l.x.method, d.table.SMSList.Path))
	if l.x.tls != nil {
		d.add("tls", OK, fmt.Sprintf("%s, certificate valid until %s", tls.VersionName(l.x.tls.Version), l.x.tls.PeerCertificates[0].NotAfter.Format(time.DateOnly)))
	} else {
		d.add("tls", Note, "none: credentials, numbers and texts travel in the clear")
	}
	if errors.Is(l.err, context.DeadlineExceeded) {
		d.add("response", Unknown, fmt.Sprintf("begins, but does not end within %v (-timeout)", d.timeout))
		return false
	}
	status := l.x.status
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || errors.Is(l.err, messaging.ErrUnauthorized):
		d.add("credentials", Unknown, "refused: "+describe(l.err))
		d.failure(l)
		return false
	case l.wrong != nil:
		d.add("response", Unknown, fmt.Sprintf("HTTP %d, but %v: is this the address of the API, and is sms.list.path right?", status, l.wrong))
		return false
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		d.add("path", Unknown, fmt.Sprintf("nothing at %s %s: the base URL or sms.list.path is wrong; %s", l.x.method, d.table.SMSList.Path, describe(l.err)))
		d.failure(l)
		return false
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status/100 == 3:
		d.add("response", Unknown, describe(l.err))
		d.failure(l)
		return false
	}
	d.add("credentials", OK, "accepted")
	return true
}

// takesCredentials reports whether the service responded, and not with a refusal of the credentials.
func (d *doctor) takesCredentials() bool {
	return !slices.ContainsFunc(d.report.Checks, func(c Check) bool {
		return c.Result == Unknown && (c.Name == "request" || c.Name == "reached" || c.Name == "credentials")
	})
}

// unreached says why there was no response.
func (d *doctor) unreached(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no response within %v (-timeout): %s", d.timeout, describe(err))
	}
	return "no response: " + describe(err)
}

// failure looks at a response that says why it refuses.
func (d *doctor) failure(l lookup) {
	if l.x == nil || l.doc == nil || l.doc.kind != object {
		return
	}
	before := d.section
	d.section = "errors"
	d.examine(examination{
		docs: []*node{l.doc}, section: d.errorPaths(), where: []string{"errors"}, containers: "error fault detail problem", prefix: "errors.",
	})
	d.section = before
}

// findRows looks for the rows where the contract does not.
func (d *doctor) findRows(ctx context.Context, l lookup) lookup {
	path, ok := rowsIn(l.doc, d.table.SMSList.Record, rowContainers)
	if !ok {
		d.add("rows", Unknown, "no list at any path of sms.list.items, and none in the response that is surely the one")
		return l
	}
	d.add("rows", Differs, fmt.Sprintf("%d rows at %s", len(l.doc.at(path).elements), place(path)),
		line{"sms.list", []string{"items"}, []any{path}})
	return d.fetch(ctx, "asking for the listing, with its rows", sms.ListOptions{PageSize: someRows})
}

// valuesOf returns the values of a concept in rows, of which some may not have one.
func (d *doctor) valuesOf(rows []*node, concept string) []*node {
	values := make([]*node, len(rows))
	for _, path := range d.table.SMSList.Record[concept] {
		for i, row := range rows {
			if n := row.at(path); values[i] == nil && n.isFilled() && n.isScalar() {
				values[i] = n
			}
		}
	}
	return values
}

func filled(values []*node) []*node {
	return slices.DeleteFunc(slices.Clone(values), func(n *node) bool { return n == nil })
}

// times looks at how rows write times.
func (d *doctor) times() {
	for _, concept := range []string{"created", "sent"} {
		values := filled(d.valuesOf(d.rows, concept))
		if len(values) == 0 {
			continue
		}
		at, unread := d.parseTimes(values)
		if len(unread) > 0 {
			d.layouts(concept, unread)
			continue
		}
		newest := slices.MaxFunc(at, time.Time.Compare)
		const tolerance = 10 * time.Minute
		zone := d.table.SMSList.Zone
		switch {
		case time.Until(newest) > tolerance && concept == "created":
			d.add(concept, Differs, fmt.Sprintf("the newest is %v in the future, read in the zone %q: set sms.list.zone", time.Until(newest).Round(time.Minute), zone))
		case slices.ContainsFunc(values, func(n *node) bool { return strings.Contains(shape(n, true), "without an offset") }):
			d.add(concept, Note, shapes(values, true)+fmt.Sprintf(": read in the zone %q (sms.list.zone); -send compares it with the clock", zone))
		default:
			d.add(concept, OK, shapes(values, true))
		}
	}
}

func (d *doctor) parseTimes(values []*node) (at []time.Time, unread []*node) {
	zone := zoneOf(d.table.SMSList.Zone)
	for _, v := range values {
		t, ok := table.ParseTime(v.text, zone, d.table.SMSList.Layouts...)
		if !ok || v.kind == boolean {
			unread = append(unread, v)
			continue
		}
		at = append(at, t)
	}
	return at, unread
}

func (d *doctor) layouts(concept string, unread []*node) {
	fit := layoutsOf(unread)
	detail := fmt.Sprintf("%d values cannot be read as times: %s", len(unread), shapes(unread, true))
	switch len(fit) {
	case 0:
		d.add(concept, Differs, detail+"; sms.list.layouts takes a layout of package time")
	case 1:
		all := []any{}
		for _, layout := range d.table.SMSList.Layouts {
			all = append(all, layout)
		}
		d.add(concept, Differs, detail, line{"sms.list", []string{"layouts"}, append(all, fit[0])})
	default:
		d.add(concept, Differs, detail+"; sms.list.layouts could be one of "+strings.Join(fit, ", "))
	}
}
