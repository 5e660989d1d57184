package doctor

import (
	"bytes"
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

// call is a call of the client, and the response to its last request.
type call struct {
	err   error
	x     *exchange // nil if there was no request
	doc   document.Node
	wrong error // why there is no document
}

// call makes a call within the timeout, and says on the progress what it is if it takes longer than a second.
func (d *doctor) call(ctx context.Context, operation, what string, f func(ctx context.Context) error) (c call) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, operationKey{}, operation), d.timeout)
	defer cancel()
	timer := time.AfterFunc(time.Second, func() { d.say("%s ...", what) })
	defer timer.Stop()
	c.err = f(ctx)
	c.x = d.recorder.take()
	if c.wrong = errors.New("there is no response"); c.x != nil && c.x.status != 0 {
		c.doc, c.wrong = parse(c.x.body.Bytes())
	}
	return c
}

// parse parses a body, which may be hostile.
func parse(body []byte) (document.Node, error) {
	doc := document.Parse(body)
	switch body = bytes.TrimSpace(body); {
	case len(body) == 0:
		return doc, errors.New("the body is empty")
	case body[0] == '<':
		return doc, errors.New("the body is HTML, not JSON")
	case !doc.Exists() && string(body) != "null":
		return doc, errors.New("the body is not JSON")
	}
	return doc, nil
}

// lookup is one page of the listing.
type lookup struct {
	call

	page sms.Page
	path string          // of the rows
	rows []document.Node // nil if there is no list at the paths of the contract
}

// fetch requests one page.
func (d *doctor) fetch(ctx context.Context, what string, options sms.ListOptions) (l lookup) {
	if d.table.SMSList.Params["pageSize"] == "" {
		options.PageSize = 0
	}
	l.call = d.call(ctx, "sms.list", what, func(ctx context.Context) (err error) {
		for l.page, err = range d.client.SMS.Pages(ctx, options) {
			break
		}
		if errors.Is(err, messaging.ErrRow) {
			return nil // seen in the columns
		}
		return err
	})
	for _, path := range d.table.SMSList.Items {
		if n := l.doc.At(path); n.IsList() {
			l.path, l.rows = path, n.List()
			break
		}
	}
	d.see(l.rows)
	return l
}

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

// examineListing looks at the address and the first page. It reports whether there is a listing to go on with.
func (d *doctor) examineListing(ctx context.Context) bool {
	d.section = "address"
	l := d.fetch(ctx, "asking for the listing", sms.ListOptions{PageSize: someRows})
	if !d.address(l) {
		return false
	}
	d.section = "listing"
	if l.x.status == http.StatusBadRequest || l.x.status == http.StatusUnprocessableEntity {
		refused := l
		if l = d.fetch(ctx, "asking for the listing, without a page size", sms.ListOptions{}); l.err != nil {
			d.refused("first page", "refused: "+describe(refused.err), refused.call)
			return false
		}
		d.propose("page size", "a request with "+d.table.SMSList.Params["pageSize"]+" is refused, one without is not: look up what it is called",
			"", "sms.list", "params", "pageSize")
	}
	if l.wrong != nil || l.x.status >= http.StatusMultipleChoices {
		return false
	}
	if failed, ok := errors.AsType[*messaging.Error](l.err); ok && failed.Code != "" {
		d.refused("first page", describe(l.err), l.call)
		return false
	}
	if l.rows != nil {
		d.add("rows", OK, fmt.Sprintf("%d rows at %s", len(l.rows), place(l.path)))
	} else {
		path, ok := rowsIn(l.doc, d.table.SMSList.Record, rowContainers)
		if !ok {
			d.add("rows", Unknown, "no list at any path of sms.list.items, and none in the response that is surely the one")
			return false
		}
		d.propose("rows", fmt.Sprintf("%d rows at %s", len(l.doc.At(path).List()), place(path)), []any{path}, "sms.list", "items")
		if l = d.fetch(ctx, "asking for the listing, with its rows", sms.ListOptions{PageSize: someRows}); l.rows == nil {
			return false
		}
	}
	if l.err != nil {
		d.add("first page", Differs, describe(l.err))
	}
	d.examineRows(l)
	return true
}

func place(path string) string {
	if path == "" {
		return "the top of the response"
	}
	return path
}

// examineRows looks at the rows of a page, and at what the page says about the listing.
func (d *doctor) examineRows(l lookup) {
	d.section = "listing"
	if d.rows = l.rows; len(l.rows) == 0 {
		return
	}
	d.examine(examination{
		docs: l.rows, section: d.table.SMSList.Record, place: []string{"sms.list", "record"}, containers: rowContainers,
		essential: []string{"id", "reference", "created", "deliveryStatus", "to"},
	})
	d.see(l.rows)
	if l.path != "" { // there is something beside the rows
		d.section = "page"
		page, _ := d.table.SMSList.CursorInLastRow()
		d.examine(examination{
			docs: []document.Node{l.doc}, section: page, place: []string{"sms.list", "page"}, skip: l.path,
			containers: "page paging pagination link", elsewhere: d.errorPaths(),
		})
	}
	d.section = "times"
	d.examineTimes("created")
	d.examineTimes("sent")
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
	d.examine(examination{docs: []document.Node{c.doc}, section: d.errorPaths(), containers: "error fault detail problem"})
	d.section = before
}

// address says whether the service was reached, and takes the credentials.
func (d *doctor) address(l lookup) bool {
	switch {
	case l.x == nil:
		d.add("request", Unknown, "cannot be made: "+describe(l.err))
		return false
	case l.x.status == 0 && errors.Is(l.err, context.DeadlineExceeded):
		d.add("reached", Unknown, fmt.Sprintf("no response within %v (-timeout): %s", d.timeout, describe(l.err)))
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
		d.add("response", Unknown, fmt.Sprintf("begins, but does not end within %v (-timeout)", d.timeout))
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
		d.add(concept, Note, fmt.Sprintf("%s: read in the zone %q (sms.list.zone); -send compares it with the clock", shapes(values, true), list.Zone))
	default:
		d.add(concept, OK, shapes(values, true))
	}
}

// times returns the times of rows, and the values that cannot be read.
func (d *doctor) times(rows []document.Node, concept string) (at []time.Time, unread []document.Node) {
	list := d.table.SMSList
	zone, _ := time.LoadLocation(list.Zone) // of a valid contract
	_, values := find(rows, list.Record[concept])
	for _, v := range values {
		if t, ok := table.ParseTime(v.Text(), zone, list.Layouts...); ok && !v.IsBool() {
			at = append(at, t)
		} else {
			unread = append(unread, v)
		}
	}
	return at, unread
}
