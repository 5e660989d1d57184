package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/messaging-service/messaging-go/sms"
)

const (
	listPath    = "/api/sms"
	rowsPerPage = 1000
	// pagesInMemory are as many as it takes that the first and the last are not what decides.
	pagesInMemory = 5
	// slowPages is the length of the listing of the slow server, and slowRows the number of rows on each of its pages: few, so that
	// waiting for them takes longer than reading them.
	slowPages, slowRows = 50, 100

	nameListByHand = "hand-written net/http, with a decoder for this row"
	nameListPlain  = "hand-written net/http, with json.Decoder"
	nameList       = "messaging-go, List"
)

// body returns what a service writes, without white space: the response to a send, a row of a listing or an event.
func body(file string) string {
	var compact bytes.Buffer
	text, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		panic(err)
	}
	return compact.String()
}

// smsRow is a row as this service may write it: quoted numbers, and a member that no contract knows.
func smsRow() string { return body("row/sms.json") }

// smsPages is a listing.
func smsPages(pages, rows int) [][]byte {
	all := make([][]byte, pages)
	for p := range all {
		all[p] = fmt.Appendf(nil, `{"totalRows":%d,"totalPages":%d,"pageNumber":%d,"pageSize":%d,"hasNext":%t,"data":[%s]}`,
			pages*rows, pages, p+1, rows, p+1 < pages, rowsOf(smsRow(), p*rows, rows))
	}
	return all
}

// rowsOf returns the rows of a page, from the given one on, each with its number in place of 654321.
func rowsOf(row string, from, rows int) string {
	all := make([]string, rows)
	for i := range all {
		all[i] = strings.ReplaceAll(row, "654321", strconv.Itoa(100_000+from+i))
	}
	return strings.Join(all, ",")
}

// response is a page with its header, apart from the content type.
type response struct {
	header http.Header
	body   []byte
}

// inTurn responds to each request with the next page, and begins again after the last. It is for one
// goroutine at a time.
type inTurn struct {
	responses []response
	next      int
}

func pagesInTurn(pages [][]byte) *inTurn {
	t := &inTurn{}
	for _, page := range pages {
		t.responses = append(t.responses, response{http.Header{"Content-Type": {jsonType}}, page})
	}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	page := t.responses[t.next]
	t.next = (t.next + 1) % len(t.responses)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: page.header,
		Body: io.NopCloser(bytes.NewReader(page.body)), ContentLength: int64(len(page.body)), Request: r,
	}, nil
}

// lister lists everything and returns the number of rows that hold an ID.
type lister func(ctx context.Context) (rows int, err error)

func (l lister) expecting(rows int) operation {
	return func(ctx context.Context, n int) error {
		for range n {
			got, err := l(ctx)
			if err != nil {
				return err
			}
			if got != rows {
				return fmt.Errorf("%d rows were listed, of %d", got, rows)
			}
		}
		return nil
	}
}

type plainRow struct {
	ID             string    `json:"id"`
	RequestID      string    `json:"requestId"`
	ReferenceID    string    `json:"referenceId"`
	From           string    `json:"from"`
	To             string    `json:"to"`
	Text           string    `json:"text"`
	Parts          string    `json:"messageParts"`
	Price          string    `json:"price"`
	CreatedAt      time.Time `json:"dateCreated"`
	SentAt         time.Time `json:"dateSent"`
	SendStatus     int       `json:"sendStatus"`
	DeliveryStatus string    `json:"dlrStatus"`
	Operator       string    `json:"operator"`
	Country        string    `json:"country"`
	// Extra holds the members that no field takes, if the decoder keeps them.
	Extra map[string]json.RawMessage `json:"-"`
}

type plainPage struct {
	HasNext bool       `json:"hasNext"`
	Data    []plainRow `json:"data"`
}

// recentRows are the IDs on this page and on the one before it.
type recentRows struct{ current, last map[string]struct{} }

// repeats reports whether a row was on the page before.
func (r *recentRows) repeats(id string) bool {
	_, onLast := r.last[id]
	r.current[id] = struct{}{}
	return onLast
}

func (r *recentRows) nextPage() {
	r.current, r.last = r.last, r.current
	clear(r.current)
}

// listByHand loops over the pages and counts the rows, or those that were not on the page before.
func listByHand(client *http.Client, base string, decode func(io.Reader, *plainPage) error, dropsRepeated bool) lister {
	return func(ctx context.Context) (int, error) {
		rows := 0
		seen := recentRows{map[string]struct{}{}, map[string]struct{}{}}
		var page plainPage
		for number := 1; ; number++ {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+listPath+"?pageSize=1000&pageNumber="+strconv.Itoa(number), http.NoBody)
			if err != nil {
				return 0, err
			}
			req.Header.Set("Authorization", bearer)
			resp, err := client.Do(req)
			if err != nil {
				return 0, err
			}
			if err := readPage(resp, decode, &page); err != nil {
				return 0, err
			}
			for i := range page.Data {
				if id := page.Data[i].ID; id != "" && (!dropsRepeated || !seen.repeats(id)) {
					rows++
				}
			}
			if !page.HasNext {
				return rows, nil
			}
			seen.nextPage()
		}
	}
}

func readPage(resp *http.Response, decode func(io.Reader, *plainPage) error, page *plainPage) error {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	if err := decode(resp.Body, page); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, resp.Body)
	return err
}

// decodePage is the way of most: a decoder over the body, and new rows for each page.
func decodePage(body io.Reader, page *plainPage) error {
	*page = plainPage{}
	return json.NewDecoder(body).Decode(page)
}

// buffered reads the body into a buffer that is used again, and lets decode fill rows that are used again.
func buffered(decode func([]byte, *plainPage) error) func(io.Reader, *plainPage) error {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return func(body io.Reader, page *plainPage) error {
		buffer, _ := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buffer)
		buffer.Reset()
		if _, err := buffer.ReadFrom(body); err != nil {
			return err
		}
		clear(page.Data)
		*page = plainPage{Data: page.Data[:0]}
		return decode(buffer.Bytes(), page)
	}
}

// decodePageByHand is what a code generator could have written for the type. The strings of a row share one copy of the row.
func decodePageByHand(body []byte, page *plainPage) error {
	s := scanner{doc: unsafe.String(unsafe.SliceData(body), len(body))} // of which nothing is kept
	s.object(func(name string) {
		switch name {
		case "hasNext":
			page.HasNext = s.word() == "true"
		case "data":
			s.array(func() { page.Data = append(page.Data, s.row()) })
		default:
			s.skip()
		}
	})
	if s.unusual {
		*page = plainPage{}
		return json.Unmarshal(body, page)
	}
	return nil
}

// row reads one row from a copy of it.
func (s *scanner) row() plainRow {
	s.next()
	start := s.at
	whole := *s
	whole.skip()
	if s.unusual = whole.unusual; s.unusual {
		return plainRow{}
	}
	s.at = whole.at
	copied := scanner{doc: strings.Clone(s.doc[start:s.at])}
	var r plainRow
	copied.object(func(name string) { copied.field(name, &r) })
	s.unusual = copied.unusual
	return r
}

func (s *scanner) field(name string, r *plainRow) {
	switch name {
	case "id":
		r.ID = s.text()
	case "requestId":
		r.RequestID = s.text()
	case "referenceId":
		r.ReferenceID = s.text()
	case "from":
		r.From = s.text()
	case "to":
		r.To = s.text()
	case "text":
		r.Text = s.text()
	case "messageParts":
		r.Parts = s.text()
	case "price":
		r.Price = s.text()
	case "dateCreated":
		r.CreatedAt = s.time()
	case "dateSent":
		r.SentAt = s.time()
	case "sendStatus":
		number, err := strconv.Atoi(s.word())
		r.SendStatus, s.unusual = number, s.unusual || err != nil
	case "dlrStatus":
		r.DeliveryStatus = s.text()
	case "operator":
		r.Operator = s.text()
	case "country":
		r.Country = s.text()
	default:
		s.next()
		start := s.at
		s.skip()
		if r.Extra == nil {
			r.Extra = map[string]json.RawMessage{}
		}
		r.Extra[name] = json.RawMessage(s.doc[start:s.at])
	}
}

func (s *scanner) time() time.Time {
	at, err := time.Parse(time.RFC3339, s.text())
	s.unusual = s.unusual || err != nil
	return at
}

// listOurs lists with this library.
func listOurs(tb testing.TB, base string, transport http.RoundTripper, options sms.ListOptions) lister {
	tb.Helper()
	client := newClient(tb, base, transport)
	return func(ctx context.Context) (int, error) {
		rows := 0
		for tx, err := range client.SMS.List(ctx, options) {
			if err != nil {
				return 0, err
			}
			if tx.ID != "" {
				rows++
			}
		}
		return rows, nil
	}
}

// listRows is the cost of one row.
func listRows() work {
	const all = pagesInMemory * rowsPerPage
	pages := func() *inTurn { return pagesInTurn(smsPages(pagesInMemory, rowsPerPage)) }
	floor := func(testing.TB) operation {
		return listByHand(&http.Client{Transport: pages()}, unreachable, buffered(decodePageByHand), true).expecting(all)
	}
	w := work{units: all, contenders: []way{
		{name: nameListByHand, prepare: floor},
		{name: nameListPlain, floor: floor, prepare: func(testing.TB) operation {
			return listByHand(&http.Client{Transport: pages()}, unreachable, decodePage, false).expecting(all)
		}},
		{name: nameList, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return listOurs(tb, unreachable, pages(), sms.ListOptions{PageSize: rowsPerPage}).expecting(all)
		}},
	}}
	for _, p := range listingPeers() {
		w.contenders = append(w.contenders, way{name: p.name, prepare: p.inMemory, floor: p.byHand})
	}
	return w
}

// listPages is the time of a listing from the slow server.
func listPages() work {
	floor := func(testing.TB) operation {
		return listByHand(pooled(), served().Slow, buffered(decodePageByHand), true).expecting(slowPages * slowRows)
	}
	return work{contenders: []way{
		{name: nameListByHand, prepare: floor},
		{name: nameList, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return listOurs(tb, served().Slow, nil, sms.ListOptions{PageSize: slowRows}).expecting(slowPages * slowRows)
		}},
	}}
}
