package learn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// TestLearnTotal: a total is learned if it is more than the rows of a page. Otherwise it may count those, and the overlay and the terminal have
// the line to write.
func TestLearnTotal(t *testing.T) {
	t.Parallel()
	const request = "=== row\nid: h-1\n\ncurl 'https://api.example.com/v3/messages?start=0&count=100'\n"
	for page, tt := range map[string]struct {
		want any
		hint string
	}{
		`"total": 250`:              {want: []any{"meta.total"}},
		`"total_count": "101"`:      {want: []any{"meta.total_count"}},
		`"total": 100`:              {hint: `not learned: if meta.total counts the rows of all pages`},
		`"total": 2, "more": true`:  {want: []any{"meta.total"}},
		`"total": 1, "more": true`:  {hint: `not learned: if meta.total counts the rows of all pages`},
		`"total": 1`:                {hint: `not learned: if meta.total counts the rows of all pages, write "total": ["meta.total"]`},
		`"count": 250`:              {hint: `not learned: if meta.count counts the rows of all pages, write "total": ["meta.count"]`},
		`"matches": 250`:            {hint: `not learned: if meta.matches counts the rows of all pages, write "total": ["meta.matches"]`},
		`"totalPages": 250`:         {},
		`"total": "many"`:           {},
		`"count": 1, "total": 120`:  {want: []any{"meta.total"}},
		`"total": 120, "tail": "x"`: {want: []any{"meta.total"}},
	} {
		text := request + `{"rows": [{"messageId": "h-1"}], "meta": {` + page + `}}`
		got, err := learnObject(t, text)
		require.NoError(t, err)
		assert.Equal(t, tt.want, at(got, "sms.list", "page", "total"), page)
		note, _ := at(got, "sms.list", "page//").(string)
		assert.Equal(t, tt.hint == "", note == "", "%s: %s", page, note)
		assert.Contains(t, note, tt.hint)
		if tt.hint != "" {
			status, _, progress := run(t, text, false)
			assert.Equal(t, cli.ExitOK, status)
			assert.Contains(t, progress, "sms.list.page: "+note+"\n")
		}
	}
	got, err := learnObject(t, "=== row\nid: h-1\n\n"+`{"rows": [{"messageId": "h-1"}], "meta": {"total": 250}}`)
	require.NoError(t, err)
	assert.Nil(t, at(got, "sms.list", "page", "total"), "without a request, the size of a page is unknown")
	got, err = learnObject(t, request+`{"rows": [{"messageId": "h-1"}], "totalRows": 250}`)
	require.NoError(t, err)
	assert.Nil(t, at(got, "sms.list", "page"), "the default reads it")
}

// TestLearnNotesPrices: the overlay and the terminal have the line to write for a price that no line names, and for a smaller unit.
func TestLearnNotesPrices(t *testing.T) {
	t.Parallel()
	const scale = ` is a whole number: write "scale": -2 if it is in hundredths, -3 in thousandths, -6 in millionths`
	for member, tt := range map[string]struct{ lines, record, scale string }{
		`"fee": 12000`:                      {lines: "price: 12000\n", scale: "not learned: fee" + scale},
		`"price": 12000`:                    {scale: "not learned: price" + scale},
		`"price": "0.0120"`:                 {},
		`"price": 0`:                        {},
		`"fee": "0.0120"`:                   {lines: "price: 0.0120\n"},
		`"cost": {"micros": 12000}`:         {record: `not learned: if cost.micros is the price, write "price": ["cost.micros"]`, scale: "not learned: cost.micros" + scale},
		`"cost": {"each": "0.0120"}`:        {},
		`"price": "1.5", "unit": "EUR"`:     {record: `not learned: if unit is the currency, write "currency": ["unit"]`},
		`"price": "1.5", "currency": "EUR"`: {},
		`"unit_price": "0.0120"`:            {record: `not learned: if unit_price is the price, write "price": ["unit_price"]`},
	} {
		text := "=== row\nid: h-1\n" + tt.lines + "\n" + `{"rows": [{"messageId": "h-1", "parts": 2, ` + member + `}]}`
		got, err := learnObject(t, text)
		require.NoError(t, err)
		record, _ := at(got, "sms.list", "record//").(string)
		assert.Equal(t, tt.record != "", strings.Contains(record, "not learned"), record)
		assert.Contains(t, record, tt.record)
		note, _ := at(got, "sms.list", "scale//").(string)
		assert.Equal(t, tt.scale, note)
		assert.Nil(t, at(got, "sms.list", "scale"), "only a person knows it")
		status, _, progress := run(t, text, false)
		assert.Equal(t, cli.ExitOK, status)
		assert.Contains(t, progress, tt.record)
		assert.Contains(t, progress, tt.scale)
	}
	got, err := learnObject(t, requestText+"=== accepted\nid: h-1\n\n"+`{"messageId": "h-1", "state": "queued", "charge": {"total_cost": 12000}}`)
	require.NoError(t, err)
	assert.Contains(t, at(got, "sms.send", "response//"), `write "cost": ["charge.total_cost"]`)
	assert.Equal(t, "not learned: charge.total_cost"+scale, at(got, "sms.send", "scale//"))
}

// TestLearnSaysHowToWriteAValue: an amount or a time that a line has in another form is in the example nevertheless.
func TestLearnSaysHowToWriteAValue(t *testing.T) {
	t.Parallel()
	const row = `{"rows": [{"messageId": "h-1", "parts": 1, "mills": 35, "at": "2026-11-28 14:05:11"}]}`
	for line, want := range map[string]string{
		"price: 0.035":                  `the value of price, "0.035": write it as the example does, such as 35; scale in the contract does the rest`,
		"price: 0.35":                   `the value of price, "0.35": write it as the example does, such as 35; scale in the contract does the rest`,
		"price: 0.36":                   `the value of price, "0.36": write it as the example does; scale in the contract does the rest`,
		"created: 2026-11-28T06:05:11Z": `the value of created, "2026-11-28T06:05:11Z": write it as the example does, such as 2026-11-28 14:05:11; zone in the contract does the rest`,
		"sent: 2026-11-28 14:05:12":     `the value of sent, "2026-11-28 14:05:12": write it as the example does; zone in the contract does the rest`,
	} {
		_, err := learnObject(t, "=== row\nid: h-1\n"+line+"\n\n"+row)
		require.Error(t, err)
		assert.True(t, strings.HasSuffix(err.Error(), want), "%v", err)
	}
	_, err := learnObject(t, "=== row\nid: h-1\nfrom: ACME\n\n"+row)
	require.Error(t, err)
	assert.True(t, strings.HasSuffix(err.Error(), `nothing in the example has the value of from, "ACME"`), "%v", err)
}

// TestLearnPrintsWhatKeepsItsDefaults: without an example of a row, the whole listing keeps the default names, which a user may not expect.
func TestLearnPrintsWhatKeepsItsDefaults(t *testing.T) {
	t.Parallel()
	const refused = "=== refused\nhttp: 400\nclass: invalid\n\n{\"code\": \"E1\"}\n"
	const row = "=== row\nid: h-1\n\n{\"rows\": [{\"messageId\": \"h-1\"}]}\n"
	const inbound = "=== inbound\nfrom: 639171234567\n\nsender=639171234567&body=Hi\n"
	const delivery = "=== delivery\nid: h-1\nstatus: DELIVRD\n\nmid=h-1&s=DELIVRD\n"
	const all = requestText + acceptedText + refused + row + inbound + delivery
	for example, want := range map[string]string{
		row:      "sms.list: no example of a row: every name is a default\n",
		inbound:  "webhook.sms: no example of an inbound message: every name is a default\n",
		delivery: "webhook.delivery: no example of a delivery report: every name is a default\n",
		refused:  "errors: no example of a refusal: every name is a default\n",
	} {
		status, _, progress := run(t, strings.Replace(all, example, "", 1), false)
		assert.Equal(t, cli.ExitOK, status, progress)
		assert.Contains(t, progress, want)
		assert.Equal(t, 1, strings.Count(progress, "no example of"), progress)
	}
	_, _, progress := run(t, all, false)
	assert.NotContains(t, progress, "no example of")
	_, _, progress = run(t, row, false)
	assert.NotContains(t, progress, "no example of", "a row alone says that the rest has the default names")
}

// TestLearnNotesMessages: a refusal whose text is at no path of the contract gets the line to write.
func TestLearnNotesMessages(t *testing.T) {
	t.Parallel()
	const line = `not learned: if fault.why says why, write "message": ["fault.why"]`
	refusal := func(body string) string { return "=== refused\nhttp: 400\nclass: invalid\n\n" + body + "\n" }
	for body, want := range map[string]any{
		`{"fault": {"code": "E1", "why": "Unknown sender"}}`:             line,
		`{"fault": {"code": "E1", "text": "Unknown sender"}}`:            nil,
		`{"error": {"code": "E1", "message": "Unknown sender"}}`:         nil,
		`{"fault": {"code": "E1", "why": "nothing"}}`:                    nil,
		`{"fault": {"code": "E1", "why": "A B"}, "message": "Bad word"}`: nil,
	} {
		got, err := learnObject(t, requestText+acceptedText+refusal(body))
		require.NoError(t, err)
		assert.Equal(t, want, at(got, "errors", "message//"), body)
	}
	got, err := learnObject(t, requestText+acceptedText+refusal(`{"code": "E1", "message": "Unknown sender"}`)+
		strings.Replace(refusal(`{"code": "E2", "text": "No funds left"}`), "invalid", "insufficientBalance", 1))
	require.NoError(t, err)
	assert.Equal(t, []any{"message", "text"}, at(got, "errors", "message"), "a learned list replaces the default one")
}

// Comments and warnings show names of the examples, which must not move the cursor of a terminal.
func TestNotesHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	var n notes
	n.note("the example also has \u009b2J", sectionList, "record")
	n.warn("not learned: \x1b[2J\u202e", sectionErrors, "message")
	assert.Equal(t, `the example also has \u009b2J`, n.all[0].text)
	assert.Equal(t, `not learned: \x1b[2J\u202e`, n.all[1].text)
	assert.Equal(t, []string{sectionErrors + `.message: not learned: \x1b[2J\u202e`}, n.warnings)
}
