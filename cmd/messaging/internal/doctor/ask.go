package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// maxBody is how many bytes of a response are read. A longer one is cut, and so not JSON.
const maxBody = 16 << 20

// wrap returns a transport that keeps the newest response.
func (d *doctor) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		d.newest.Store(&answer{})
		r, err := base.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		d.newest.Store(&answer{status: r.StatusCode, doc: document.Parse(body)})
		r.Body = io.NopCloser(bytes.NewReader(body))
		return r, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is what became of a call of the client.
type answer struct {
	err    error
	status int           // of the response to its last request, 0 if there was none
	doc    document.Node // the response, if it is JSON
	isOK   bool          // it is, with a status of success and no code of an error
	isPage bool          // it is a page of the listing, with rows or none
	rows   []document.Node
	next   string // the place of the page after this, for the client
}

// call makes a call within the timeout. It says on the progress what it is if it takes longer than a second.
func (d *doctor) call(ctx context.Context, what string, f func(ctx context.Context) error) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	timer := time.AfterFunc(time.Second, func() { d.say(what + " ...") })
	defer timer.Stop()
	d.newest.Store(&answer{})
	err := f(ctx)
	a = *d.newest.Load()
	a.err = err
	failed, ok := errors.AsType[*messaging.Error](a.err)
	a.isOK = a.status/100 == 2 && a.doc.Exists() && (!ok || failed.Code == "")
	if a.status/100 == 4 && a.doc.Object() != nil {
		d.failures = append(d.failures, a.doc)
	}
	return a
}

// isRefusal reports whether the service refused a request, and perhaps for the names in it.
func (a *answer) isRefusal() bool {
	others := []error{
		messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrRateLimited, messaging.ErrInsufficientBalance,
		messaging.ErrUnavailable, messaging.ErrDuplicate, messaging.ErrNotFound,
	}
	isIt := func(class error) bool { return errors.Is(a.err, class) }
	return (a.status/100 == 4 || messaging.VerdictOf(a.err) == messaging.Refused) && !slices.ContainsFunc(others, isIt)
}

// values are what an error of the library may repeat of a response.
var values = regexp.MustCompile(`[,:] (code|request) \S+|[,:] "(\\.|[^"\\])*"`)

// describe says what is wrong with an answer, without a value of the response.
func (a *answer) describe() string {
	text, isOwn := strings.CutPrefix(fmt.Sprint(a.err), "messaging: ")
	switch {
	case a.err == nil:
		return "there is no list where the rows are"
	case !isOwn:
		return "the call failed"
	}
	return values.ReplaceAllString(strings.ReplaceAll(text, "\n", "; "), "")
}

// page asks for one page through a client.
func (d *doctor) page(ctx context.Context, client *messaging.Client, options sms.ListOptions) (p answer) {
	next := ""
	p = d.call(ctx, "asking for the listing", func(ctx context.Context) error {
		for page, err := range client.SMS.Pages(ctx, options) {
			if next = page.Next; !errors.Is(err, messaging.ErrRow) { // of a row that cannot be read the shape shows why
				return err
			}
			break
		}
		return nil
	})
	if p.next = next; p.isOK && d.hasItems {
		p.rows, p.isPage = rowsAt(p.doc, d.items)
	}
	return p
}

// fetch asks for one page by the contract.
func (d *doctor) fetch(ctx context.Context, options sms.ListOptions) answer {
	if d.table.SMSList.Params["pageSize"] == "" {
		options.PageSize = 0
	}
	return d.page(ctx, d.client, options)
}

// ask asks for one page with no parameter of the contract, only with those that are given.
func (d *doctor) ask(ctx context.Context, params url.Values) answer {
	lines := []line{{partList + " paging", map[string]any{"by": "none", "whole": true}}, {partPage + " next", []string{}}}
	for concept := range d.table.SMSList.Params {
		lines = append(lines, line{partParams + " " + concept, ""})
	}
	client, err := d.with(lines...)
	if err != nil {
		return answer{err: err} // never: a contract may do without parameters
	}
	return d.page(ctx, client, sms.ListOptions{Extra: params})
}

// sweep returns the rows of the listing, as far as ten pages go: those that the contract asks for, or else the first page. For a message
// that is not among them it tries the contract's filter by reference.
func (d *doctor) sweep(ctx context.Context) (rows []document.Node) {
	options := sms.ListOptions{PageSize: sweepSize}
	for range 10 {
		p := d.fetch(ctx, options)
		rows = append(rows, p.rows...)
		if options.After = p.next; p.err != nil || p.next == "" {
			break
		}
	}
	if len(rows) == 0 {
		p := d.ask(ctx, nil)
		if rows = p.rows; p.isOK && !d.hasItems {
			rows = d.settleItems(p.doc)
		}
	}
	for _, m := range d.sent {
		if m.values["reference"] != "" && d.table.SMSList.Params["reference"] != "" && !slices.ContainsFunc(rows, m.isIn) {
			found := d.fetch(ctx, sms.ListOptions{ReferenceID: m.values["reference"]}).rows
			rows = append(rows, slices.DeleteFunc(found, func(row document.Node) bool { return !m.isIn(row) })...)
		}
	}
	return distinct(rows)
}

// distinct returns each of some rows once: pages move while they are read.
func distinct(rows []document.Node) (each []document.Node) {
	seen := map[string]bool{}
	for _, row := range rows {
		if text := document.Encode(row.Value); !seen[text] {
			seen[text], each = true, append(each, row)
		}
	}
	return each
}

// settleItems finds the rows of a page where it is not known which list they are: the only one in which each message has a row of its own.
func (d *doctor) settleItems(doc document.Node) []document.Node {
	var fit []string
	for _, path := range listsIn(doc, "") {
		rows, _ := rowsAt(doc, path)
		in, times := map[int]bool{}, 0
		for _, m := range d.sent {
			for i, row := range rows {
				if m.isIn(row) {
					in[i], times = true, times+1
				}
			}
		}
		if len(in) == enough && times == enough {
			fit = append(fit, path)
		}
	}
	if d.first = doc; len(fit) != 1 {
		return nil
	}
	d.setItems(fit[0])
	return d.rows
}

// examinePaging asks for two rows at a time, and looks at what three pages bring.
func (d *doctor) examinePaging(ctx context.Context) {
	const size, pages = 2, 3
	list := d.table.SMSList
	sized := finding{"pageSize", list.Params["pageSize"], "", plausible, "not tried: too few rows"}
	paged := finding{list.Paging.By, list.Params[list.Paging.By], "", plausible, "not tried: too few rows"}
	var rows []document.Node
	options := sms.ListOptions{PageSize: size}
	for n := 1; n <= pages && len(d.rows) > size; n++ {
		p := d.fetch(ctx, options)
		before := len(rows)
		rows = distinct(append(rows, p.rows...))
		paged.why = fmt.Sprintf("pages that have other rows: %d", n)
		if n == 1 {
			sized.why = fmt.Sprintf("%d rows were asked for, and %d came", size, len(p.rows))
		}
		switch {
		case !p.isPage || p.err != nil:
			paged.word, paged.why = absent, fmt.Sprintf("page %d: %s", n, p.describe())
		case len(p.rows) > 0 && len(rows) == before:
			paged.word, paged.why = absent, fmt.Sprintf("page %d has only rows of the pages before it", n)
		case p.next == "" && len(rows) < len(d.rows):
			paged.word, paged.why = absent, fmt.Sprintf("the response says that page %d is the last, and there are more rows", n)
		}
		if options.After = p.next; paged.word == absent || p.next == "" {
			break
		}
	}
	d.report.add(partParams, paged)
	d.report.add(partParams, sized)
}
