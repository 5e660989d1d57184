package doctor

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

var update = flag.Bool("update", false, "write the golden files")

// TestReport compares all that one run prints with a golden file.
func TestReport(t *testing.T) {
	f := newFake()
	f.changeRows(func(row object, _ fakeMessage) { row["condition"] = "SENT" })
	f.filters["filter[to]"] = func(fakeMessage, string) bool { return true }
	_, out, _ := newRig(t, f.serve(t), "secret-token-1").sends()
	out = regexp.MustCompile(`listed within [0-9.ms]+,`).ReplaceAllString(out, "listed within 0s,")
	golden := filepath.Join("testdata", "report.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), out)
}

// analyse does with a body what the doctor does with the first page, and returns what it prints.
func analyse(t *testing.T, body []byte) (string, overlay) {
	t.Helper()
	d := &doctor{table: contract.Default().Table(), overlay: overlay{}, first: document.Parse(body)}
	rows := []document.Node{d.first}
	if found := listsIn(d.first, ""); len(found) > 0 {
		d.items, d.hasItems = found[0], true
		rows, _ = rowsAt(d.first, found[0])
	}
	d.rows = rows
	d.examineItems()
	d.examineMembers(partRecord, d.rows, d.table.SMSList.Record, "")
	d.examineMembers(partPage, []document.Node{d.first}, d.table.SMSList.Page, d.items)
	adopted := d.adopted()
	var b strings.Builder
	require.NoError(t, d.report.write(&b))
	return b.String(), adopted
}

// hostile returns bodies that cost a careless reader much.
func hostile() map[string]string {
	members := strings.Builder{}
	for i := range 100_000 {
		fmt.Fprintf(&members, `"member%c%d": %d,`, 'a'+i%26, i%9999, i)
	}
	row := `{"id": "a", "id": "b", "id": {"id": 1}, "to": "639171230045", "created": "2026-10-03", "recipient": "639171230045"}`
	return map[string]string{
		"deep":           strings.Repeat(`{"a":[`, 200_000),
		"deep and whole": strings.Repeat(`{"a":[`, 4_000) + strings.Repeat(`]}`, 4_000),
		"many members":   `{"data": [{` + members.String() + `"z": 1}]}`,
		"many rows":      `{"data": [` + strings.Repeat(row+",", 20_000) + row + `]}`,
		"many lists":     `{"x": [` + strings.Repeat(`{"data": [{}]},`, 20_000) + `{}]}`,
		"long name":      `[{"` + strings.Repeat("deliverystatus", 50_000) + `": 1}]`,
		"long value":     `[{"created_at": "` + strings.Repeat("2", 1_000_000) + `"}]`,
		"long number":    `[{"price_amount": 1` + strings.Repeat("0", 1_000_000) + `}]`,
	}
}

func TestHostileBodiesAreBounded(t *testing.T) {
	for name, body := range hostile() {
		began := time.Now()
		out, _ := analyse(t, []byte(body))
		assert.Less(t, time.Since(began), time.Minute, name)
		assert.Less(t, len(out), 1<<18, name)
	}
}

func FuzzAnalysis(f *testing.F) {
	for _, body := range hostile() {
		f.Add([]byte(body[:min(len(body), 300)]))
	}
	f.Add([]byte(`{"data": [{"msgId": "a", "recipient": "+639171230045", "body": "quick brown", "created_on": "23/10/2026 10:00", "network": "X"}]}`))
	f.Add([]byte(`[{"639171230045": {"to": 639171230045}}, null, [], {"": 1, ".": 2}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, found := analyse(t, body)
		_, err := contract.Parse([]byte(found.text()))
		require.NoError(t, err)
		require.NotContains(t, out+found.text(), "639171230045")
	})
}

func TestShapeShowsNoValue(t *testing.T) {
	for value, want := range map[string]string{
		`"639171230045"`:             "digits(12)",
		`"+639171230045"`:            "+digits(12)",
		`639171230045`:               "number digits(12)",
		`0.45`:                       "number decimal(4)",
		`"PHP 0.45"`:                 "text(8)",
		`"2026-10-03T14:44:23Z"`:     "time 0000-00-00T00:00:00Z",
		`"Sat, 03 Oct 2026 14:44Z"`:  "text(23)",
		`"3 Oct 2026 14:44:23 GMT"`:  "time 0 aaa 0000 00:00:00 aaT",
		`"23/10/2026 of Jane Doe"`:   "time 00/00/0000 aa aaaa aaa",
		`"23/10/2026"`:               "time 00/00/0000",
		`"https://x.example/?t=abc"`: "url(24)",
		`true`:                       "true or false",
		`"hello you"`:                "text(9)",
		`"order-17"`:                 "word(8)",
	} {
		assert.Equal(t, want, shape(document.Parse([]byte(value))), value)
	}
}
