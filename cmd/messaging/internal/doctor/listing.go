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
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// someRows is how many rows are asked for where it does not matter.
const someRows = 50

// rowContainers are words of objects within a row that say nothing of what is in them.
const rowContainers = "part parts"

// see keeps the numbers and texts of rows, so that nothing shows or records them.
func (d *doctor) see(rows []document.Node) {
	for _, concept := range []string{"from", "to", "text"} {
		for _, path := range d.table.SMSList.Record[concept] {
			_, values := find(rows, []string{path})
			for _, v := range values {
				d.sensitive[v.Text()] = true
			}
		}
	}
}

// examineListing looks at the address and the first page. It reports whether there is a listing to go on with. It asks without any
// parameter first: a service may refuse those that it does not know.
func (d *doctor) examineListing(ctx context.Context) bool {
	d.section = "address"
	l := d.ask(ctx, "asking for the listing", nil)
	if l.isRefusal() {
		d.hint(l.x)
		if with := d.fetch(ctx, "asking for the listing, with a page size", sms.ListOptions{PageSize: someRows}); with.isPage() {
			l = with
		}
	}
	if !d.address(l) {
		return false
	}
	d.section = "listing"
	if l.isRefusal() {
		d.refused("first page", "refused: "+describe(l.err), l.call)
		return false
	}
	if l.wrong != nil || l.x.status >= http.StatusMultipleChoices {
		return false
	}
	if failed, ok := errors.AsType[*messaging.Error](l.err); ok && failed.Code != "" {
		d.refused("first page", describe(l.err), l.call)
		return false
	}
	isList := l.rows != nil && (len(l.rows) == 0 || l.rows[0].Object() != nil)
	if isList {
		d.add("rows", OK, fmt.Sprintf("%d rows at %s", len(l.rows), place(l.path)))
	} else {
		path, ok := rowsIn(l.doc, d.table.SMSList.Record, rowContainers)
		if !ok {
			d.add("rows", Unknown, "no list at any path of sms.list.items, and none in the response that is surely the one")
			return false
		}
		d.propose("rows", fmt.Sprintf("%d rows at %s", len(l.doc.At(path).List()), place(path)), []any{path}, "sms.list", "items")
		l.rows = nil
		if d.findRows(&l); l.rows == nil {
			return false
		}
	}
	d.rows, d.first = l.rows, l
	d.examineStrictness(ctx)
	return true
}

func place(path string) string {
	if path == "" {
		return "the top of the response"
	}
	return path
}

// errorPaths returns the paths of a failure, by concepts that say of what.
func (d *doctor) errorPaths() map[string][]string {
	e := d.table.Errors
	return map[string][]string{"errors.code": e.Code, "errors.message": e.Message, "errors.request": e.Request}
}

// refused adds a check for a call that the service refuses, and looks at what the response says of it.
func (d *doctor) refused(name, detail string, c call) {
	d.add(name, Unknown, detail)
	d.examineFailure(c)
}

func (d *doctor) examineFailure(c call) {
	if c.doc.Object() == nil {
		return
	}
	before := d.section
	d.section = "errors"
	d.examine(examination{
		docs: []document.Node{c.doc}, section: d.errorPaths(), containers: "error fault detail problem", byProof: []string{"errors.request"},
	})
	d.section = before
}

// address says whether the service was reached, and takes the credentials.
func (d *doctor) address(l lookup) bool {
	switch {
	case l.x == nil:
		d.add("request", Unknown, "cannot be made: "+describe(l.err))
		return false
	case l.x.status == 0 && errors.Is(l.err, context.DeadlineExceeded):
		d.add("reached", Unknown, fmt.Sprintf("no response within %v (--timeout): %s", d.timeout, describe(l.err)))
		return false
	case l.x.status == 0:
		d.add("reached", Unknown, "no response: "+describe(l.err))
		return false
	}
	status, request := l.x.status, l.x.method+" "+d.table.SMSList.Path
	d.add("reached", OK, fmt.Sprintf("HTTP %d for %s", status, request))
	if l.x.tls != nil {
		until := l.x.tls.PeerCertificates[0].NotAfter.Format(time.DateOnly)
		d.add("tls", OK, tls.VersionName(l.x.tls.Version)+", certificate valid until "+until)
	} else {
		d.add("tls", Note, "none: credentials, numbers and texts travel in the clear")
	}
	switch {
	case errors.Is(l.err, context.DeadlineExceeded):
		d.add("response", Unknown, fmt.Sprintf("begins, but does not end within %v (--timeout)", d.timeout))
	case status == http.StatusUnauthorized || status == http.StatusForbidden || errors.Is(l.err, messaging.ErrUnauthorized):
		d.refused("credentials", "refused: "+describe(l.err), l.call)
	case l.wrong != nil:
		d.add("response", Unknown, fmt.Sprintf("HTTP %d, but %v: is this the address of the API, and is sms.list.path right?", status, l.wrong))
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		d.refused("path", "nothing at "+request+": the base URL or sms.list.path is wrong; "+describe(l.err), l.call)
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status/100 == 3:
		d.refused("response", describe(l.err), l.call)
	default:
		d.add("credentials", OK, "accepted")
		return true
	}
	return false
}

// takesCredentials reports whether the service responded, and not with a refusal of the credentials.
func (d *doctor) takesCredentials() bool {
	return !slices.ContainsFunc(d.report.Checks, func(c Check) bool {
		return c.Result == Unknown && (c.Name == "request" || c.Name == "reached" || c.Name == "credentials")
	})
}

// examineTimes looks at how rows write the times of a concept.
func (d *doctor) examineTimes(concept string) {
	const tolerance = 10 * time.Minute
	list := d.table.SMSList
	_, values := find(d.rows, list.Record[concept])
	at, unread := d.times(d.rows, concept)
	switch {
	case len(values) == 0:
	case len(unread) > 0:
		detail := fmt.Sprintf("%d values cannot be read as times: %s", len(unread), shapes(unread, true))
		switch fit := layoutsOf(unread); len(fit) {
		case 0:
			d.add(concept, Differs, detail+"; sms.list.layouts takes a layout of package time")
		case 1:
			d.propose(concept, detail, append(slices.Clone(list.Layouts), fit[0]), "sms.list", "layouts")
		default:
			d.add(concept, Differs, detail+"; sms.list.layouts could be one of "+strings.Join(fit, ", "))
		}
	case concept == "created" && time.Until(slices.MaxFunc(at, time.Time.Compare)) > tolerance:
		ahead := time.Until(slices.MaxFunc(at, time.Time.Compare)).Round(time.Minute)
		d.add(concept, Differs, fmt.Sprintf("the newest is %v in the future, read in the zone %q: set sms.list.zone", ahead, list.Zone))
	case strings.Contains(shapes(values, true), "without an offset"):
		d.add(concept, Note, fmt.Sprintf("%s: read in the zone %q (sms.list.zone); --send compares it with the clock", shapes(values, true), list.Zone))
	default:
		d.add(concept, OK, shapes(values, true))
	}
}

// readTime returns a value as a time by the contract.
func (d *doctor) readTime(v document.Node) (time.Time, bool) {
	zone, _ := time.LoadLocation(d.table.SMSList.Zone) // of a valid contract
	at, ok := table.ParseTime(v.Text(), zone, d.table.SMSList.Layouts...)
	return at, ok && !v.IsBool()
}

// times returns the times of rows, and the values that cannot be read.
func (d *doctor) times(rows []document.Node, concept string) (at []time.Time, unread []document.Node) {
	_, values := find(rows, d.table.SMSList.Record[concept])
	for _, v := range values {
		if t, ok := d.readTime(v); ok {
			at = append(at, t)
		} else {
			unread = append(unread, v)
		}
	}
	return at, unread
}
