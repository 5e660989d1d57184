package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestRunEndsAndShowsVerdicts(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, "", 5))
	for _, word := range []string{
		`"Name":"send sms"`, `"Name":"process sms"`, `messaging_verdict="accepted"`, `messaging_verdict="refused"`, `messaging_verdict="not sent"`, `messaging_outcome="handled"`,
	} {
		assert.Contains(t, out.String(), word)
	}
	assert.NotContains(t, out.String(), strings.TrimPrefix(customer, "+"))
}

func TestRunReportsAnAddressThatItCannotServe(t *testing.T) {
	require.Error(t, run(t.Context(), io.Discard, "127.0.0.1:no", 1))
}

// exported returns the names of the metrics and of the labels that a play exports.
func exported(t *testing.T) (metrics, labels map[string]bool) {
	t.Helper()
	telemetry, err := newTelemetry(tracetest.NewNoopExporter())
	require.NoError(t, err)
	play, err := newPlay(messagingtest.NewServer(t), telemetry.observer, "http://127.0.0.1:1") // no hook is served there: requests go to it directly
	require.NoError(t, err)
	play.round(t.Context(), 1)
	for _, fault := range []messagingtest.Fault{messagingtest.FaultStatus(http.StatusServiceUnavailable, 0), messagingtest.FaultDropUnread()} {
		play.service.Inject(fault, 1)
		play.round(t.Context(), 2)
	}
	for _, target := range []string{play.target, play.target + "-wrong"} {
		play.hook.ServeHTTP(discard{http.Header{}}, messagingtest.NewRequest(target, messagingtest.InboundSMS{ID: "in-1", From: customer}))
	}
	families, err := telemetry.registry.Gather()
	require.NoError(t, err)
	metrics, labels = map[string]bool{}, map[string]bool{"le": true}
	for _, family := range families {
		if family.GetType() == dto.MetricType_HISTOGRAM {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				metrics[family.GetName()+suffix] = true
			}
		} else {
			metrics[family.GetName()] = true
		}
		for _, one := range family.GetMetric() {
			for _, label := range one.GetLabel() {
				labels[label.GetName()] = true
			}
		}
	}
	require.NoError(t, telemetry.close())
	return metrics, labels
}

// A discard is a response that is not read.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

var (
	quoted = regexp.MustCompile(`"[^"]*"`)
	name   = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)
)

// Each metric and label that the dashboard names is exported, and each metric is in the dashboard.
func TestDashboardNamesWhatIsExported(t *testing.T) {
	data, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	type panel struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ Expr string }
	}
	var dashboard struct {
		Title, UID    string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct{ Name, Definition string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &dashboard))
	assert.Positive(t, dashboard.SchemaVersion)
	assert.NotEmpty(t, dashboard.UID)

	metrics, labels := exported(t)
	functions := map[string]bool{"histogram_quantile": true, "label_values": true}
	shown := map[string]bool{}
	check := func(expression string) {
		for _, word := range name.FindAllString(quoted.ReplaceAllString(expression, ""), -1) {
			if metrics[word] {
				shown[strings.TrimSuffix(strings.TrimSuffix(word, "_bucket"), "_count")] = true
			}
			assert.True(t, metrics[word] || labels[word] || functions[word], "%s in %s is not exported", word, expression)
		}
		assert.Equal(t, strings.Count(expression, "("), strings.Count(expression, ")"), expression)
		assert.Equal(t, strings.Count(expression, "{"), strings.Count(expression, "}"), expression)
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		assert.False(t, ids[p.ID], "panel %d comes twice", p.ID)
		ids[p.ID] = true
		assert.NotEmpty(t, p.Title)
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		assert.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for _, target := range p.Targets {
			check(target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		check(variable.Definition)
	}
	alerts, err := os.ReadFile("alerts.yaml")
	require.NoError(t, err)
	for line := range strings.Lines(string(alerts)) {
		if _, expression, ok := strings.Cut(line, "expr: "); ok {
			check(strings.TrimSpace(expression))
		}
	}
	for metric := range metrics {
		metric = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(metric, "_bucket"), "_count"), "_sum")
		if metric != "target_info" {
			assert.True(t, shown[metric], "%s is in no panel", metric)
		}
	}
}

// What the documentation of messagingotel says of otelhttp: it exports the query, unless HideQuery keeps it from it.
func TestOtelhttpSeesNoQuery(t *testing.T) {
	for name, hidden := range map[string]bool{"alone": false, "hidden": true} {
		t.Run(name, func(t *testing.T) {
			spans := tracetest.NewInMemoryExporter()
			tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
			traced := func(base http.RoundTripper) http.RoundTripper {
				return otelhttp.NewTransport(base, otelhttp.WithTracerProvider(tracers))
			}
			if hidden {
				traced = messagingotel.HideQuery(traced)
			}
			service := messagingtest.NewServer(t)
			service.Seed(messagingtest.Sent{ID: "m-17", ReferenceID: "order-17"})
			client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithTransport(traced))
			require.NoError(t, err)
			_, err = client.SMS.Find(t.Context(), "order-17")
			require.NoError(t, err)
			require.Len(t, spans.GetSpans(), 1)
			exported, err := json.Marshal(spans.GetSpans()[0].Attributes)
			require.NoError(t, err)
			assert.Contains(t, string(exported), "url.full")
			assert.Equal(t, !hidden, strings.Contains(string(exported), "order-17"))
		})
	}
}
