package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// Each benchmark of a handler has a baseline written by hand. Compare them within one run, by the medians of several:
//
//	go test -run '^$' -bench . -benchmem -count 10 ./webhook
//
// BenchmarkRatio does that by itself, taking turns, and reports the ratios.

var sink string

const benchSecret = "QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"

// byHand is the handler that a careful person writes with net/url alone: the measure of everything else.
func byHand(handle func(ctx context.Context, from, to, text, at string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if handle(r.Context(), values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp")) != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

func takeByHand(_ context.Context, _, _, text, _ string) error {
	sink = text
	return nil
}

func take(_ context.Context, m webhook.SMSMessage) error {
	sink = m.Text
	return nil
}

// benchQueries are calls with an ID of their own each.
func benchQueries(n int) []string {
	queries := make([]string, n)
	for i := range queries {
		queries[i] = "id=" + strconv.Itoa(100_000_000+i) + "&from=639171234567&to=21581&message=Hello+there%21+Is+it+still+available%3F&timestamp=1791038663&key=" + benchSecret
	}
	return queries
}

type contender struct {
	name    string
	handler http.Handler
}

func contenders() []contender {
	return []contender{
		{"by hand", byHand(takeByHand)},
		{"no option", hooks().SMS(take)},
		{"secret and store", hooks(webhook.WithSecret("key", benchSecret), webhook.WithStore(webhook.NewMemoryStore(10_000, time.Hour))).SMS(take)},
	}
}

// discard is a ResponseWriter that drops what it gets. Like the one of a server it has a header.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

func BenchmarkHandler(b *testing.B) {
	queries := benchQueries(1 << 16)
	for _, c := range contenders() {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/hook", http.NoBody)
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.URL.RawQuery = queries[i%len(queries)]
				c.handler.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkRatio lets the handlers take turns, so that other load on the machine affects all of them, and reports the
// medians in relation to the one by hand.
func BenchmarkRatio(b *testing.B) {
	queries := benchQueries(1 << 16)
	all := contenders()
	took := make([][]float64, len(all))
	r := httptest.NewRequest(http.MethodGet, "/hook", http.NoBody)
	for turn := 0; b.Loop(); turn++ {
		for i, c := range all {
			const calls = 4000
			began := time.Now()
			for j := range calls {
				r.URL.RawQuery = queries[(turn*calls+j)%len(queries)]
				c.handler.ServeHTTP(httptest.NewRecorder(), r) // as internal/benchmarks does
			}
			took[i] = append(took[i], float64(time.Since(began))/calls)
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	median := func(i int) float64 { return took[i][len(took[i])/2] }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), "ns/by-hand")
	for i, c := range all[1:] {
		b.ReportMetric(median(i+1)/median(0), strings.ReplaceAll(c.name, " ", "-")+"/by-hand")
	}
}

func BenchmarkParse(b *testing.B) {
	for name, query := range map[string]string{
		"typical": benchQueries(1)[0],
		"emoji":   "from=639171234567&message=" + strings.Repeat("%F0%9F%98%80", 40),
		"60 KiB":  "from=639171234567&message=" + strings.Repeat("%F0%9F%98%80", 5000),
		"image":   "from=639171234567&type=image&mediaUrl=https%3A%2F%2Fexample.com%2Fa.png&mimeType=image/png&caption=Look",
	} {
		r, rcv := get(query), hooks()
		b.Run(name+", by hand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				values, err := url.ParseQuery(r.URL.RawQuery)
				if err != nil {
					b.Fatal(err)
				}
				sink = values.Get("message")
			}
		})
		b.Run(name+", SMS", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := rcv.ParseSMS(r)
				if err != nil {
					b.Fatal(err)
				}
				sink = m.Text
			}
		})
		b.Run(name+", chat app", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				messages, _, err := rcv.ParseChatApp2(r)
				if err != nil {
					b.Fatal(err)
				}
				sink = messages[0].From
			}
		})
	}
}

func BenchmarkMemoryStore(b *testing.B) {
	keys := benchQueries(1 << 16)
	store := webhook.NewMemoryStore(10_000, time.Hour)
	handle := func(context.Context) error { return nil }
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := store.Once(b.Context(), keys[i%len(keys)], handle); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConnections has 64 clients call a real server.
func BenchmarkConnections(b *testing.B) {
	const connections = 64
	queries := benchQueries(1 << 16)
	for _, c := range contenders() {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			client := server.Client()
			client.Transport.(*http.Transport).MaxIdleConnsPerHost = connections
			var next atomic.Int64
			b.SetParallelism((connections + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					answer, err := client.Get(server.URL + "/hook?" + queries[next.Add(1)%int64(len(queries))])
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode != http.StatusOK {
						b.Error(answer.Status)
					}
				}
			})
		})
	}
}
