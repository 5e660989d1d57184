package check

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// maxBody is how many bytes of a response are read. A longer one is cut, and so not JSON.
const maxBody = 16 << 20

// recorder keeps the responses to one call.
type recorder struct {
	mu        sync.Mutex
	responses []response
}

type response struct {
	status int
	body   document.Node // nothing if it is not JSON
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.responses = nil
}

func (r *recorder) add(one response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.responses = append(r.responses, one)
}

func (r *recorder) all() []response {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.responses
}

// wrap returns a transport that keeps the responses.
func (c *checker) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r, err := base.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		c.recorder.add(response{r.StatusCode, document.Parse(body)})
		r.Body = io.NopCloser(bytes.NewReader(body))
		return r, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// call makes a call within the timeout. If it takes longer than a second, the progress says what it is.
func (c *checker) call(ctx context.Context, what string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	timer := time.AfterFunc(time.Second, func() { c.say(what + " ...") })
	defer timer.Stop()
	c.recorder.reset()
	return f(ctx)
}

// page is what came back of a request for rows.
type page struct {
	err    error
	isPage bool            // the last response has a list where the contract reads the rows
	rows   []document.Node // all that came, also those that the client leaves out
}

// page asks for one page of rows by the contract.
func (c *checker) page(ctx context.Context, options sms.ListOptions) page {
	return c.pages(ctx, options, 1)
}

// pages asks for rows by the contract, for at most so many pages.
func (c *checker) pages(ctx context.Context, options sms.ListOptions, most int) page {
	var p page
	p.err = c.call(ctx, "asking for the listing", func(ctx context.Context) error {
		n := 0
		for _, err := range c.client.SMS.Pages(ctx, options) {
			n++
			if err != nil || n == most {
				return err
			}
		}
		return nil
	})
	for _, r := range c.recorder.all() {
		rows, ok := c.rowsOf(r.body)
		p.isPage = ok && r.status/100 == 2
		p.rows = append(p.rows, rows...)
	}
	p.rows = distinct(p.rows)
	return p
}

// rowsOf returns the rows of a response, and reports whether it has a list where the contract reads them.
func (c *checker) rowsOf(body document.Node) (rows []document.Node, ok bool) {
	for _, path := range c.table.SMSList.Items {
		if list := body.At(path); list.IsList() {
			return list.List(), true
		}
	}
	return nil, false
}

// distinct returns each row once: pages move while they are read.
func distinct(rows []document.Node) []document.Node {
	var each []document.Node
	seen := map[string]bool{}
	for _, row := range rows {
		text := document.Encode(row.Value)
		if !seen[text] {
			seen[text] = true
			each = append(each, row)
		}
	}
	return each
}
