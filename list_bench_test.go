package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// listing is two pages of 1,000 rows each, as a service might write them: a second name for the ID, quoted numbers, a
// member that the contract does not know.
func listing() [2][]byte {
	var pages [2][]byte
	for p := range pages {
		var b strings.Builder
		fmt.Fprintf(&b, `{"status":true,"totalRows":2000,"totalPages":2,"pageNumber":%d,"pageSize":1000,"hasNext":%v,"data":[`, p+1, p == 0)
		for i := range 1000 {
			if i > 0 {
				b.WriteByte(',')
			}
			n := p*1000 + i
			fmt.Fprintf(&b, `{"id":"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0%04d","requestId":"req-%d","referenceId":"order-%d","from":"ACME","to":"+63917%07d","text":"Your order %d is ready, please come by","messageParts":"1","price":"0.50","dateCreated":"2026-10-03T14:44:23.186Z","dateSent":"2026-10-03T14:44:24.002Z","sendStatus":1,"dlrStatus":"1","operator":"OP_1","country":"PHL","description":"delivered","userdata1":"u-%d"}`, n, n, n, n, n, n)
		}
		b.WriteString(`]}`)
		pages[p] = []byte(b.String())
	}
	return pages
}

// pagesInMemory is a listing without a network.
type pagesInMemory struct{ pages [2][]byte }

func (p pagesInMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	page := p.pages[0]
	if strings.Contains(r.URL.RawQuery, "pageNumber=2") {
		page = p.pages[1]
	}
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(page)), ContentLength: int64(len(page)), Request: r,
	}, nil
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
	Description    string    `json:"description"`
}

// BenchmarkList compares a listing of 2,000 rows with a loop by hand over json.Decoder. Compare within one run:
//
//	go test -run '^$' -bench List -benchmem -count 10 .
func BenchmarkList(b *testing.B) {
	transport := pagesInMemory{listing()}
	httpClient := &http.Client{Transport: transport}
	client, err := messaging.NewClient(baseURL, messaging.WithToken("token"), messaging.WithHTTPClient(httpClient))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("by-hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rows := 0
			for page := 1; page <= 2; page++ {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, fmt.Sprintf("%s/api/sms?pageNumber=%d", baseURL, page), http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer token")
				resp, err := httpClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				var page struct {
					HasNext bool       `json:"hasNext"`
					Data    []plainRow `json:"data"`
				}
				if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
				for i := range page.Data {
					if page.Data[i].ID != "" {
						rows++
					}
				}
			}
			if rows != 2000 {
				b.Fatal(rows)
			}
		}
	})
	b.Run("messaging", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rows := 0
			for tx, err := range client.SMS.List(b.Context(), sms.ListOptions{}) {
				if err != nil {
					b.Fatal(err)
				}
				if tx.ID != "" && len(tx.Extra) == 1 {
					rows++
				}
			}
			if rows != 2000 {
				b.Fatal(rows)
			}
		}
	})
}
