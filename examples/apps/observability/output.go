package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// finish exports the last spans, and prints what was sent by verdict and what was received by outcome.
func finish(t *telemetry, out io.Writer) error {
	counters := countersOf(t.metrics())
	if err := t.close(); err != nil {
		return err
	}
	_, err := io.WriteString(out, counters) // the exporter of spans writes no more
	return err
}

// countersOf returns the lines of the counters of messages and events.
func countersOf(metrics http.Handler) string {
	w := httptest.NewRecorder()
	metrics.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", http.NoBody))
	var counters strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		name, _, _ := strings.Cut(line, "{")
		if name == "messaging_client_sent_messages_total" || name == "messaging_process_duration_seconds_count" {
			counters.WriteString(line)
		}
	}
	return counters.String()
}
