package doctor

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// analyse does with a body what the doctor does with the first page.
func analyse(body []byte) *doctor {
	d := &doctor{
		table: contract.Default().Table(), overlay: overlay{}, report: &Report{}, recorder: &recorder{}, base: &url.URL{}, sensitive: map[string]bool{}, section: "listing",
	}
	doc, err := parse(body)
	if err != nil {
		return d
	}
	path, _ := rowsIn(doc, d.table.SMSList.Record, rowContainers)
	rows := []document.Node{doc}
	if n := doc.At(path); n.IsList() {
		rows = n.List()
	}
	d.rows = rows
	d.examine(examination{docs: rows, section: d.table.SMSList.Record, place: []string{"sms.list", "record"}, containers: rowContainers, rejects: d.rejectsRecord})
	d.examineTimes("created")
	d.examineTimes("sent")
	return d
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
		"duplicates":     `{"data": 1, "data": [` + row + `], "data": [` + row + `]}`,
		"long name":      `[{"` + strings.Repeat("deliverystatus", 50_000) + `": 1}]`,
		"long value":     `[{"created_at": "` + strings.Repeat("2", 1_000_000) + `"}]`,
		"long number":    `[{"price_amount": 1` + strings.Repeat("0", 1_000_000) + `}]`,
	}
}

func TestHostileBodiesAreBounded(t *testing.T) {
	t.Parallel()
	for name, body := range hostile() {
		began := time.Now()
		d := analyse([]byte(body))
		assert.Less(t, time.Since(began), time.Minute, name)
		assert.Less(t, len(d.report.Checks), maxColumns+100, name)
	}
}

func FuzzAnalysis(f *testing.F) {
	for _, body := range hostile() {
		f.Add([]byte(body[:min(len(body), 300)]))
	}
	f.Add([]byte(`{"data": [{"msgId": "a", "recipient": "+639171230045", "body": "quick brown", "created_on": "23/10/2026 10:00", "network": "X"}]}`))
	f.Add([]byte(`[{"639171230045": {"to": 639171230045}}, null, [], {"": 1, ".": 2}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := analyse(body)
		_, err := contract.Parse([]byte(document.Encode(d.overlay)))
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, d.report.writeText(&b, "The overlay"))
		require.NotContains(t, b.String(), "639171230045")
		s := d.newScrambler()
		require.NotContains(t, string(s.body(body, "application/json").JSON), "639171230045")
	})
}
