package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promServer is the program that TestPrometheusShowsEverything asks; .ci/dashboards sets it.
var promServer = flag.String("prometheus", "", "the path of a Prometheus, which then scrapes this program for a while")

// durations are the times after which rules fire, which no test can wait for.
var durations = regexp.MustCompile(`(?m)^ *for: .*\n|> 900|> 270|\[5m:`)

// TestPrometheusShowsEverything: each query of the dashboards returns data and each alert fires, while the program plays. Without a
// Prometheus it looks at what it would ask for.
func TestPrometheusShowsEverything(t *testing.T) {
	queries := map[string]string{} // by their expressions
	for _, file := range []string{"dashboard.json", "outbox-dashboard.json"} {
		for title, expression := range panels(t, file) {
			queries[file+": "+title] = strings.NewReplacer("$__rate_interval", "20s", "$channel", ".*", " or vector(0)", "").Replace(expression)
		}
	}
	folder := t.TempDir()
	for _, file := range []string{"alerts.yaml", "outbox-alerts.yml"} {
		rules, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
			queries[file+": "+alert[1]] = fmt.Sprintf(`max_over_time(ALERTS{alertname=%q, alertstate="firing"}[5m])`, alert[1])
		}
		rules = durations.ReplaceAllFunc(rules, func(found []byte) []byte {
			switch found[0] {
			case '>':
				return []byte("> 1")
			case '[':
				return []byte("[20s:")
			default:
				return nil
			}
		})
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), rules, 0o600))
	}
	require.Greater(t, len(queries), 25)
	if *promServer == "" {
		return
	}

	ctx, stop := context.WithCancel(t.Context())
	program, server := freeAddress(t), freeAddress(t)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, io.Discard, program, 0) }()
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yaml, outbox-alerts.yml]
scrape_configs: [{job_name: play, static_configs: [{targets: [%q]}]}]
`, program)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o600))
	command := exec.CommandContext(context.WithoutCancel(ctx), *promServer, "--config.file="+filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+server, "--log.level=error")
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	defer func() {
		assert.NoError(t, command.Process.Signal(os.Interrupt))
		assert.NoError(t, command.Wait())
	}()

	const unseen = "outbox-alerts.yml: MessagingOutboxUnseen" // fires when the program has ended
	gone := map[string]string{unseen: queries[unseen]}
	delete(queries, unseen)
	waitForData(t, server, queries)
	stop()
	require.NoError(t, <-ended)
	waitForData(t, server, gone)
}

// panels returns the queries of a dashboard by their titles.
func panels(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &dashboard))
	queries := map[string]string{}
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			queries[fmt.Sprint(panel.Title, " ", i)] = target.Expr
		}
	}
	return queries
}

// waitForData asks until every query has returned a number.
func waitForData(t *testing.T, server string, queries map[string]string) {
	t.Helper()
	left := maps.Clone(queries)
	for began := time.Now(); len(left) > 0; time.Sleep(500 * time.Millisecond) {
		maps.DeleteFunc(left, func(_, query string) bool { return hasData(t, server, query) })
		if time.Since(began) > 2*time.Minute {
			require.Empty(t, slices.Sorted(maps.Keys(left)), "without data")
		}
	}
	t.Logf("%d queries returned data", len(queries))
}

func hasData(t *testing.T, server, query string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server+"/api/v1/query?query="+url.QueryEscape(query), http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // it has not started yet
	}
	defer response.Body.Close()
	var found struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		return false
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&found))
	require.Empty(t, found.Error, query)
	for _, one := range found.Data.Result {
		if one.Value[1] != "NaN" {
			return true
		}
	}
	return false
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
