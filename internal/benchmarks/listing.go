package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	listPath    = "/api/sms"
	rowsPerPage = 1000
	// pagesInMemory are as many as it takes that the first and the last are not what decides.
	pagesInMemory = 5

	nameListTuned   = "net/http tuned, json.Unmarshal"
	nameListDecoder = "net/http tuned, decoder by hand"
	nameLoopByHand  = "net/http by hand, page after page"
)

// smsRow is a row as this service may write it: quoted numbers, and a member that no contract knows.
func smsRow(n int) string {
	return fmt.Sprintf(`{"id":"0f6c2f7e-9b1d-4d0a-8a35-f4b0%08d","requestId":"r-%06d","referenceId":"o-%06d","from":"ACME",`+
		`"to":"+639%09d","text":"Order %06d is ready","messageParts":"1","price":"0.50","dateCreated":"2026-10-03T14:44:23.186Z",`+
		`"dateSent":"2026-10-03T14:44:24.002Z","sendStatus":1,"dlrStatus":"1","operator":"OP_1","country":"PHL","ext":"%d"}`, n, n, n, n, n, n%10)
}

// smsPages is a listing.
func smsPages(pages, rows int) [][]byte {
	all := make([][]byte, pages)
	for p := range all {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"totalRows":%d,"totalPages":%d,"pageNumber":%d,"pageSize":%d,"hasNext":%t,"data":[`,
			pages*rows, pages, p+1, rows, p+1 < pages)
		for i := range rows {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(smsRow(p*rows + i))
		}
		b.WriteString(`]}`)
		all[p] = b.Bytes()
	}
	return all
}

// response is a page with what its header says beside the content type.
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
}

type plainPage struct {
	HasNext bool       `json:"hasNext"`
	Data    []plainRow `json:"data"`
}

// listByHand loops over the pages and shows each row that has come. The page is the one to decode into: decode may use its
// rows again, or not.
func listByHand(client *http.Client, base string, decode func(io.Reader, *plainPage) error, row func(*plainRow)) lister {
	return func(ctx context.Context) (int, error) {
		rows := 0
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
				if page.Data[i].ID != "" {
					rows++
				}
				if row != nil {
					row(&page.Data[i])
				}
			}
			if !page.HasNext {
				return rows, nil
			}
		}
	}
}

func readPage(resp *http.Response, decode func(io.Reader, *plainPage) error, page *plainPage) error {
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
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

func unmarshalPage(body []byte, page *plainPage) error { return json.Unmarshal(body, page) }

// decodePageByHand reads what a code generator could have written for the type. The strings of a row share one copy of
// the row.
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
		s.skip()
	}
}

func (s *scanner) time() time.Time {
	at, err := time.Parse(time.RFC3339, s.text())
	s.unusual = s.unusual || err != nil
	return at
}

// listOurs lists with this library.
func listOurs(client *messaging.Client, options sms.ListOptions) lister {
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
	hand := func(decode func(io.Reader, *plainPage) error) func(context.Context, service) (operation, error) {
		return func(context.Context, service) (operation, error) {
			client := &http.Client{Transport: pagesInTurn(smsPages(pagesInMemory, rowsPerPage))}
			return listByHand(client, unreachable, decode, nil).expecting(pagesInMemory * rowsPerPage), nil
		}
	}
	w := work{
		name: "list-rows", units: pagesInMemory * rowsPerPage, floor: nameByHand,
		ratios: []metric{cpuTime}, figures: []figure{cpuNanos, allocsPerRow, bytesEach},
		targets: []target{{
			what: "A listing in memory: CPU per row", contender: nameOurs, metric: cpuTime, against: nameByHand, limit: 0.30,
			why: "members are found by a contract, what no contract knows is kept in Extra, and no row is yielded twice",
		}},
		contenders: []contender{
			{name: nameByHand, prepare: hand(decodePage)},
			{name: nameListTuned, prepare: hand(buffered(unmarshalPage))},
			{name: nameListDecoder, prepare: hand(buffered(decodePageByHand))},
			{name: nameOurs, prepare: func(context.Context, service) (operation, error) {
				client, err := newClient(unreachable, pagesInTurn(smsPages(pagesInMemory, rowsPerPage)))
				if err != nil {
					return nil, err
				}
				return listOurs(client, sms.ListOptions{PageSize: rowsPerPage}).expecting(pagesInMemory * rowsPerPage), nil
			}},
		},
	}
	for _, p := range listingPeers() {
		w.contenders = append(w.contenders, p.contenders()...)
	}
	return w
}
