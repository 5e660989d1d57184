package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// internal/benchmarks compares a handler with one that is written by hand.

var sink string

const benchSecret = "QZ5JEWNTJ4W5SXPJSAXLQJ6YPM"

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

// discard is a ResponseWriter that drops what it gets. Like the one of a server it has a header.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

func BenchmarkHandler(b *testing.B) {
	queries := benchQueries(1 << 16)
	for name, h := range map[string]http.Handler{
		"no option":        hooks().SMS(take),
		"secret and store": hooks(webhook.WithSecret("key", benchSecret), webhook.WithStore(webhook.NewMemoryStore(10_000, time.Hour))).SMS(take),
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/hook", http.NoBody)
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.URL.RawQuery = queries[i%len(queries)]
				h.ServeHTTP(w, r)
			}
		})
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
