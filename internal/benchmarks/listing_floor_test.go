package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// This file lists by hand, with a decoder for the rows of smsRow alone.

// A plainRow is a row as a program would declare it.
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
	// Extra has the members without a field, if the decoder keeps them.
	Extra map[string]json.RawMessage `json:"-"`
}

type plainPage struct {
	HasNext bool       `json:"hasNext"`
	Data    []plainRow `json:"data"`
}

// recentRows has the IDs on this page and on the page before it.
type recentRows struct{ current, last map[string]struct{} }

// repeats reports whether a row was on the page before.
func (r *recentRows) repeats(id string) bool {
	_, onLast := r.last[id]
	r.current[id] = struct{}{}
	return onLast
}

func (r *recentRows) nextPage() {
	before := r.last
	r.last = r.current
	r.current = before
	clear(r.current)
}

// listByHand returns a lister that loops over the pages. With dropsRepeated it drops rows that were on the page before.
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

// decodePage decodes as most programs do: by a decoder over the body, into new rows for each page.
func decodePage(body io.Reader, page *plainPage) error {
	*page = plainPage{}
	return json.NewDecoder(body).Decode(page)
}

// buffered returns a function that reads the body into a buffer from a pool, and lets decode fill the rows of the page before.
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

// decodePageByHand decodes as a code generator would write it. The strings of a row share one copy of the row. It leaves unusual JSON to
// encoding/json.
func decodePageByHand(body []byte, page *plainPage) error {
	s := scanner{doc: unsafe.String(unsafe.SliceData(body), len(body))} // rows keep nothing of it
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
	s.unusual = whole.unusual
	if s.unusual {
		return plainRow{}
	}
	s.at = whole.at
	copied := scanner{doc: strings.Clone(s.doc[start:s.at])}
	var r plainRow
	copied.object(func(name string) { copied.field(name, &r) })
	s.unusual = copied.unusual
	return r
}

// field reads the value of a member of a row.
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
		r.SendStatus = number
		s.unusual = s.unusual || err != nil
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

// time reads a time.
func (s *scanner) time() time.Time {
	at, err := time.Parse(time.RFC3339, s.text())
	s.unusual = s.unusual || err != nil
	return at
}
