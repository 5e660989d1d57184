package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// smsRow returns a row as this service may write it, with quoted numbers and a member that the contract does not name.
func smsRow() string { return body("row/sms.json") }

// smsPages returns the pages of a listing.
func smsPages(pages, rows int) [][]byte {
	all := make([][]byte, pages)
	for p := range all {
		all[p] = fmt.Appendf(nil, `{"totalRows":%d,"totalPages":%d,"pageNumber":%d,"pageSize":%d,"hasNext":%t,"data":[%s]}`,
			pages*rows, pages, p+1, rows, p+1 < pages, rowsOf(smsRow(), p*rows, rows))
	}
	return all
}

// rowsOf returns rows with consecutive numbers. The number of a row replaces 654321.
func rowsOf(row string, from, rows int) string {
	all := make([]string, rows)
	for i := range all {
		all[i] = strings.ReplaceAll(row, "654321", strconv.Itoa(100_000+from+i))
	}
	return strings.Join(all, ",")
}

// A response is a page with its header.
type response struct {
	header http.Header
	body   []byte
}

// A pageSequence responds to each request with the next page, and after the last page with the first. It serves one goroutine.
type pageSequence struct {
	responses []response
	next      int
}

func newPageSequence(pages [][]byte) *pageSequence {
	sequence := &pageSequence{}
	for _, page := range pages {
		sequence.responses = append(sequence.responses, response{http.Header{"Content-Type": {jsonType}}, page})
	}
	return sequence
}

// RoundTrip implements http.RoundTripper.
func (s *pageSequence) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	page := s.responses[s.next]
	s.next = (s.next + 1) % len(s.responses)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: page.header,
		Body: io.NopCloser(bytes.NewReader(page.body)), ContentLength: int64(len(page.body)), Request: r,
	}, nil
}
