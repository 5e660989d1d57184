package codec_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// differs reads a page with encoding/json and returns where the page that was read differs. It ignores times and numbers that no
// rule of the contract decides.
func differs(t *table.Table, body []byte, page codec.Page) string {
	op := &t.SMSList
	list, ok := referenceList(op.Items, body)
	if !ok {
		return "the reference finds no list"
	}
	if len(list) != len(page.Transactions) {
		return fmt.Sprintf("%d rows, the reference has %d", len(page.Transactions), len(list))
	}
	zone, err := time.LoadLocation(op.Zone)
	if err != nil {
		return err.Error()
	}
	_, wanted := op.CursorInLastRow()
	wanted = slices.AppendSeq(slices.Concat(append(slices.Collect(maps.Values(op.Record)), wanted)...), maps.Keys(op.Only))
	unreadable := map[int]codec.UnreadableError{}
	for i, row := range page.Unreadable {
		if i > 0 && row.Index <= page.Unreadable[i-1].Index || row.Index < 0 || row.Index >= len(list) {
			return fmt.Sprintf("unread rows are not in order: %v", page.Unreadable)
		}
		unreadable[row.Index] = row
	}
	for i, raw := range list {
		row, isUnreadable := unreadable[i]
		repeats := raw[0] == '{' && comesTwice(raw, wanted)
		if repeats && (!isUnreadable || !row.IsDoubtful()) || !repeats && strings.HasSuffix(row.Reason, " twice") {
			return fmt.Sprintf("row %d, %s: unreadable is %+v, a member comes twice: %t", i, raw, row, repeats)
		}
		if repeats {
			continue // which of the two counts: TestRowFirstMemberWins
		}
		want := referenceRow(t, raw, zone)
		if problem := want.differs(page.Transactions[i], row.Reason); problem != "" {
			return fmt.Sprintf("row %d, %s: %s", i, raw, problem)
		}
	}
	return ""
}

// referenceList returns the rows at the first path with a list.
func referenceList(items []string, body []byte) ([]json.RawMessage, bool) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	for _, path := range items {
		raw, ok := json.RawMessage(body), true
		if path != "" {
			raw, ok = member(body, path)
		}
		var list []json.RawMessage
		if ok && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
			return list, true
		}
	}
	return nil, false
}

// member returns what stands at a path.
func member(raw json.RawMessage, path string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		var ok bool
		switch raw[0] {
		case '{':
			if json.Unmarshal(raw, &object) != nil {
				return nil, false
			}
			raw, ok = object[name]
		case '[':
			i, err := strconv.Atoi(name)
			if json.Unmarshal(raw, &list) != nil || err != nil || strconv.Itoa(i) != name || i < 0 || i >= len(list) {
				return nil, false
			}
			raw, ok = list[i], true
		}
		if !ok {
			return nil, false
		}
	}
	return raw, true
}

// word returns a scalar as text, and false for null, objects and lists.
func word(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '{', '[', 'n':
		return "", false
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	default:
		return string(raw), true
	}
}

// row is what the reference reads of one.
type row struct {
	object  bool
	words   map[string]string // by the Go field, as are the next three
	numbers map[string]int
	flags   map[string]bool
	times   map[string]instant
	broken  []string // the Go fields that cannot be read
	money   string   // the currency that stands with the price
	open    bool     // whether what can be read is no matter of the contract
	extra   map[string]json.RawMessage
}

// namesMessage reports whether a text can be the ID of a message: one that can be written and stored anywhere, and that says neither
// that there is no ID nor what became of the message.
func namesMessage(t *table.Table, text string) bool {
	text = strings.TrimSpace(text)
	isForeign := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError }
	if table.IsPlaceholder(text) || utf8.RuneCountInString(text) > 256 || strings.ContainsFunc(text, isForeign) {
		return false
	}
	withLetters := func(lists map[string][]string) []string {
		hasNone := func(word string) bool { return !strings.ContainsFunc(word, unicode.IsLetter) }
		return slices.DeleteFunc(slices.Concat(slices.Collect(maps.Values(lists))...), hasNone)
	}
	codes := withLetters(t.Errors.Classes)
	if table.Match(codes, text, false) >= 0 || table.Match(codes, strings.ToLower(text), false) >= 0 {
		return false
	}
	words := withLetters(t.WebhookDelivery.Statuses)
	for _, word := range t.SMSSend.Accepted {
		if !strings.HasSuffix(word, "*") { // an ID may begin as such words do
			words = append(words, word)
		}
	}
	return table.Match(slices.Concat(words, t.SMSSend.Refused), text, true) < 0
}

// recordFields holds the Go fields of a record by concept.
var recordFields = func() map[string]string {
	fields := map[string]string{}
	for field := range transaction.Fields() {
		if concept := field.Tag.Get("concept"); concept != "" {
			fields[concept] = field.Name
		}
	}
	return fields
}()

var transaction = reflect.TypeFor[sms.Transaction]()

// zeroOf returns the zero value of a Go field of a record.
func zeroOf(field string) any {
	f, _ := transaction.FieldByName(field)
	return reflect.Zero(f.Type).Interface()
}

func referenceRow(t *table.Table, raw json.RawMessage, zone *time.Location) row {
	record := t.SMSList.Record
	r := row{
		words: map[string]string{}, numbers: map[string]int{}, flags: map[string]bool{}, times: map[string]instant{},
		extra: map[string]json.RawMessage{},
	}
	if raw[0] != '{' {
		return r
	}
	r.object = true
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return r
	}
	maps.Copy(r.extra, members)
	second := map[string]bool{} // names that hold a word which another place has already given
	for concept, paths := range record {
		field, served, odd := recordFields[concept], false, false
		for _, path := range paths {
			at, ok := member(raw, path)
			if !ok {
				continue
			}
			text, scalar := word(at)
			_, isFlag := zeroOf(field).(bool)
			if !isFlag && (at[0] == 't' || at[0] == 'f') || concept == "id" && !namesMessage(t, text) {
				scalar = false
			}
			if !scalar && at[0] != 'n' {
				odd = true
			}
			switch {
			case !scalar:
			case served:
				second[path] = true
			default:
				served = true
				before := len(r.broken)
				r.set(field, text, zone)
				second[path] = len(r.broken) > before // what cannot be read is kept as it came
			}
			if scalar && !second[path] || at[0] == 'n' {
				delete(r.extra, path)
			}
		}
		if !served && (odd || concept == "id" && len(paths) > 0) {
			r.broken = append(r.broken, field)
		}
	}
	for _, paths := range record {
		for _, path := range paths {
			name, _, nested := strings.Cut(path, ".")
			raw, ok := members[name]
			holdsMore := nested && ok && (raw[0] == '{' || raw[0] == '[')
			if ok && (holdsMore || second[path]) {
				r.extra[name] = raw
			}
		}
	}
	r.words["Currency"] = cmp.Or(r.words["Currency"], r.money)
	return r
}

func (r *row) set(field, text string, zone *time.Location) {
	switch zeroOf(field).(type) {
	case int, time.Duration:
		text = strings.TrimSpace(text)
		if text == "" {
			return
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 0 {
			r.numbers[field] = n
			return
		}
		f, err := strconv.ParseFloat(text, 64)
		r.open = r.open || err == nil && (f < -1<<53 || f > 1<<53) || strings.ContainsAny(text, "xXpP_")
		if err != nil || f < 0 || f != float64(int64(f)) {
			r.broken = append(r.broken, field)
			return
		}
		r.numbers[field] = int(f)
	case bool:
		flag, err := strconv.ParseBool(strings.ToLower(text))
		if r.flags[field] = flag; err != nil {
			r.broken = append(r.broken, field)
		}
	case time.Time:
		at := referenceTime(text, zone)
		r.times[field] = at
		if at.unread {
			r.broken = append(r.broken, field)
		}
		r.open = r.open || at.open
	default:
		switch field {
		case "ID":
			text = strings.TrimSpace(text)
		case "From", "To":
			text = table.Number(text)
		case "Price":
			var ok bool
			if text, r.money, ok = referenceAmount(text); !ok {
				r.broken = append(r.broken, field)
				return
			}
		}
		r.words[field] = text
	}
}

// An amount has one sign at most, before or behind a currency that stands in front, and one currency at most: three letters, or a symbol
// among three letters at most.
var (
	amountForm   = regexp.MustCompile(`^([+-]?)([^-+.0-9]*)([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?([^.0-9]*)$`)
	currencyForm = regexp.MustCompile(`^([A-Za-z]{3}|[A-Za-z]*\p{Sc}[A-Za-z]*)?$`)
)

// referenceAmount reads an amount under a contract that changes neither scale nor sign: the number as it is written, and its currency.
func referenceAmount(text string) (number, currency string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", "", true
	}
	m := amountForm.FindStringSubmatch(text)
	if m == nil || m[1] != "" && m[3] != "" || len(m[4]) > 64 {
		return "", "", false
	}
	if m[5] != "" {
		if exponent, err := strconv.Atoi(m[5][1:]); err != nil || exponent < -64 || exponent > 64 {
			return "", "", false
		}
	}
	before, behind := strings.TrimSpace(m[2]), strings.TrimSpace(m[6])
	currency = before + behind
	if before != "" && behind != "" || !currencyForm.MatchString(currency) || utf8.RuneCountInString(currency) > 4 {
		return "", "", false
	}
	return m[1] + m[3] + m[4] + m[5], currency, true
}

// differs returns where a record is not what the reference reads. The reason is why the row is unreadable, or "".
func (r *row) differs(got sms.Transaction, reason string) string {
	if !r.object {
		if reason == "" || !assert.ObjectsAreEqual(got, sms.Transaction{}) {
			return fmt.Sprintf("no object, got %+v, reason %q", got, reason)
		}
		return ""
	}
	v := reflect.ValueOf(got)
	for _, field := range recordFields {
		switch value := v.FieldByName(field).Interface().(type) {
		case string:
			if value != r.words[field] {
				return fmt.Sprintf("%s is %q, want %q", field, value, r.words[field])
			}
		case int:
			if !r.open && value != r.numbers[field] {
				return fmt.Sprintf("%s is %d, want %d", field, value, r.numbers[field])
			}
		case time.Duration:
			if !r.open && value/time.Second != time.Duration(r.numbers[field]) {
				return fmt.Sprintf("%s is %s, want %d seconds", field, value, r.numbers[field])
			}
		case bool:
			if value != r.flags[field] {
				return fmt.Sprintf("%s is %t, want %t", field, value, r.flags[field])
			}
		case time.Time:
			if want := r.times[field]; !want.open && !want.is(value) {
				return fmt.Sprintf("%s is %s, want %s", field, value, want.at)
			}
		}
	}
	if !r.open && (reason != "") != (len(r.broken) > 0) {
		return fmt.Sprintf("reason %q, want one for %q", reason, r.broken)
	}
	if r.open {
		return "" // and so is whether it stands in Extra
	}
	for name := range got.Extra {
		if _, ok := r.extra[name]; !ok {
			return fmt.Sprintf("Extra is %q, want %q", got.Extra, r.extra)
		}
	}
	for name, want := range r.extra {
		if bytes.HasPrefix(want, []byte("{")) && got.Extra[name] == nil || bytes.HasPrefix(got.Extra[name], []byte("{")) {
			continue // without what filled a field: TestRowExtraDoesNotRepeatFields
		}
		if raw, ok := got.Extra[name]; !ok || !bytes.Equal(raw, want) {
			return fmt.Sprintf("Extra[%q] is %q, want %q", name, raw, want)
		}
	}
	return ""
}

// readRows reads rows that stand in a page of the default shape.
func readRows(t testing.TB, overlay string, rows ...string) codec.Page {
	t.Helper()
	page, failure, err := compileList(t, overlay, false).Decode([]byte(`{"data":[`+strings.Join(rows, ",")+`]}`), wire.Position{}, 0, nil)
	require.NoError(t, err)
	require.Zero(t, failure)
	require.Len(t, page.Transactions, len(rows))
	return page
}

// readRow reads a row, in which an ID may be missing, and objects may stand in the place of texts.
func readRow(t testing.TB, overlay, row string) sms.Transaction {
	t.Helper()
	page := readRows(t, overlay, row)
	for _, u := range page.Unreadable {
		require.NotEqual(t, "is in no known form", u.Reason, row)
	}
	return page.Transactions[0]
}

type sample struct {
	json string
	want any
}

// sampleOf returns, for a concept, a value in JSON and what is read from it.
func sampleOf(concept string) sample {
	usual := map[reflect.Type]sample{
		reflect.TypeFor[string]():        {`"x <y>"`, "x <y>"},
		reflect.TypeFor[int]():           {`"3"`, 3},
		reflect.TypeFor[bool]():          {`true`, true},
		reflect.TypeFor[time.Duration](): {`90`, 90 * time.Second},
		reflect.TypeFor[time.Time]():     {`1790000000`, time.Unix(1790000000, 0).UTC()},
	}
	return cmp.Or(samples[concept], usual[reflect.TypeOf(zeroOf(recordFields[concept]))])
}

var samples = map[string]sample{
	"id": {`"t-1"`, "t-1"}, "request": {`"r-1"`, "r-1"}, "reference": {`"order-17"`, "order-17"}, "category": {`5`, "5"}, "from": {`"ACME"`, "ACME"}, "to": {`639171234567`, "639171234567"},
	"text": {`"a\n\u00e9 😀"`, "a\né 😀"}, "price": {`0.50`, "0.50"}, "currency": {`"EUR"`, "EUR"}, "created": {`"2026-10-03T14:44:23.186Z"`, time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC)},
	"sendStatus": {`1`, "1"}, "deliveryStatus": {`"DELIVRD"`, "DELIVRD"}, "operator": {`"OP"`, "OP"}, "description": {`7`, "7"},
}

func TestRowEveryConcept(t *testing.T) {
	names := map[string]map[string]string{"default": {}, "renamed": {}, "nested": {}, "in a list": {}}
	for concept, paths := range parse(t, "").SMSList.Record {
		require.Contains(t, recordFields, concept)
		names["default"][concept] = paths[0]
		names["renamed"][concept] = "x " + concept
		names["nested"][concept] = "row.of." + concept + ".value"
		names["in a list"][concept] = "row." + strconv.Itoa(len(names["in a list"])) + ".1"
	}
	for name, paths := range names {
		record := map[string][]string{}
		for concept, path := range paths {
			record[concept] = []string{"missing." + concept, "mis.sing." + concept, path}
		}
		overlay, err := json.Marshal(map[string]any{"sms.list": map[string]any{"record": record}})
		require.NoError(t, err)
		for concept, path := range paths {
			t.Run(name+" "+concept, func(t *testing.T) {
				raw := sampleOf(concept).json
				parts := strings.Split(path, ".")
				for _, part := range slices.Backward(parts) {
					if i, err := strconv.Atoi(part); err == nil {
						raw = "[" + strings.Repeat("0,", i) + raw + "]"
					} else {
						raw = fmt.Sprintf("{%q:%s}", part, raw)
					}
				}
				want := sms.Transaction{}
				if len(parts) > 1 && strings.HasPrefix(raw, `{`+strconv.Quote(parts[0])+`:[`) { // a list stays whole
					whole, _ := member(json.RawMessage(raw), parts[0])
					want.Extra = map[string]json.RawMessage{parts[0]: whole}
				}
				reflect.ValueOf(&want).Elem().FieldByName(recordFields[concept]).Set(reflect.ValueOf(sampleOf(concept).want))
				if concept == "deliveryStatus" {
					want.Status = contract.StatusDelivered
				}
				got := readRow(t, string(overlay), raw)
				if at, ok := reflect.TypeAssert[*time.Time](reflect.ValueOf(&got).Elem().FieldByName(recordFields[concept]).Addr()); ok {
					*at = at.UTC()
				}
				assert.Equal(t, want, got, raw)
			})
		}
	}
}

func TestRowComplete(t *testing.T) {
	got := readRow(t, "", completeRow)
	assert.Equal(t, sms.Transaction{
		ID: "t-1", RequestID: "r-1", ReferenceID: "order-17", CategoryID: "c-1", From: "ACME", To: "639171234567", Text: "Hi", Parts: 1, Price: "0.50",
		CreatedAt: time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC), SentAt: time.Date(2026, 10, 3, 14, 44, 24, 0, time.UTC),
		SendStatus: "1", DeliveryStatus: "1", Status: contract.StatusDelivered, Operator: "OP", Country: "PHL", Description: "sent",
	}, got)
	assert.Nil(t, got.Extra)
}

func TestRowNumbers(t *testing.T) {
	for raw, want := range map[string]sms.Transaction{
		`{"price":0.50}`:                        {Price: "0.50"},
		`{"price":"0.50"}`:                      {Price: "0.50"},
		`{"price":12345678901234567890}`:        {Price: "12345678901234567890"},
		`{"price":-1.50E+2}`:                    {Price: "-1.50E+2"},
		`{"price":" 1,50 €"}`:                   {Extra: map[string]json.RawMessage{"price": json.RawMessage(`" 1,50 €"`)}},
		`{"price":"free"}`:                      {Extra: map[string]json.RawMessage{"price": json.RawMessage(`"free"`)}},
		`{"price":"KES 0.8000"}`:                {Price: "0.8000", Currency: "KES"},
		`{"price":"0.05 USD","currency":"EUR"}`: {Price: "0.05", Currency: "EUR"},
		`{"currency":"EUR","price":"$5"}`:       {Price: "5", Currency: "EUR"},
		`{"currency":"","price":"$5"}`:          {Price: "5", Currency: "$"},
		`{"currency":null,"price":"$5"}`:        {Price: "5", Currency: "$"},
		`{"from":"tel:2929","to":"tel:+639171234567;ext=1","text":"tel:1"}`: {From: "2929", To: "+639171234567", Text: "tel:1"},
		`{"messageParts":2}`:             {Parts: 2},
		`{"messageParts":"2"}`:           {Parts: 2},
		`{"messageParts":" 2\n"}`:        {Parts: 2},
		`{"messageParts":2.0}`:           {Parts: 2},
		`{"messageParts":"\u0032"}`:      {Parts: 2},
		`{"messageParts":""}`:            {},
		`{"messageParts":"  "}`:          {},
		`{"sendStatus":1,"dlrStatus":0}`: {SendStatus: "1", DeliveryStatus: "0"},
		`{"sendStatus":"1"}`:             {SendStatus: "1"},
		`{"sendStatus":"Sent "}`:         {SendStatus: "Sent "},
		`{"id":17}`:                      {ID: "17"},
		`{"id":" t-1\n"}`:                {ID: "t-1"},
		`{"to":6.39e11}`:                 {To: "6.39e11"},
	} {
		assert.Equal(t, want, readRow(t, "", raw), raw)
	}
}

func TestRowNullIsZero(t *testing.T) {
	var all []string
	for _, paths := range parse(t, "").SMSList.Record {
		for _, path := range paths {
			if !strings.Contains(path, ".") {
				all = append(all, fmt.Sprintf("%q:null", path))
			}
		}
	}
	assert.Zero(t, readRow(t, "", "{"+strings.Join(all, ",")+"}"))
	assert.Zero(t, readRow(t, "", "{}"))
	assert.Equal(t, sms.Transaction{Extra: map[string]json.RawMessage{"unknown": json.RawMessage("null")}}, readRow(t, "", `{"unknown":null}`), "nobody knows what it means")
}

func TestRowFirstPathWins(t *testing.T) {
	extra := func(name, raw string) map[string]json.RawMessage {
		return map[string]json.RawMessage{name: json.RawMessage(raw)}
	}
	nested := `{"sms.list": {"record": {"id": ["ids.main", "id"], "operator": ["operator", "operator.name"]}}}`
	for _, tt := range []struct {
		overlay, row string
		want         sms.Transaction
	}{
		{"", `{"transactionId":"a","id":"b"}`, sms.Transaction{ID: "a", Extra: extra("id", `"b"`)}},
		{"", `{"id":"b","transactionId":"a"}`, sms.Transaction{ID: "a", Extra: extra("id", `"b"`)}},
		{"", `{"id":"\u0062\n","transactionId":"a"}`, sms.Transaction{ID: "a", Extra: extra("id", `"\u0062\n"`)}},
		{"", `{"id":1.50,"transactionId":"a"}`, sms.Transaction{ID: "a", Extra: extra("id", `1.50`)}},
		{"", `{"id":true,"transactionId":"a"}`, sms.Transaction{ID: "a", Extra: extra("id", `true`)}},
		{"", `{"id":"","transactionId":"a"}`, sms.Transaction{ID: "a", Extra: extra("id", `""`)}},
		{"", `{"id":null,"transactionId":"a"}`, sms.Transaction{ID: "a"}},
		{"", `{"id":"b","transactionId":null}`, sms.Transaction{ID: "b"}},
		{"", `{"id":"b","transactionId":{"x":1}}`, sms.Transaction{ID: "b", Extra: extra("transactionId", `{"x":1}`)}},
		{nested, `{"ids":{"main":"a"},"id":"b"}`, sms.Transaction{ID: "a", Extra: extra("id", `"b"`)}},
		{nested, `{"ids":{"main":null},"id":"b"}`, sms.Transaction{ID: "b"}},
		{nested, `{"operator":{ "name" : "OP" }}`, sms.Transaction{Operator: "OP"}},
	} {
		assert.Equal(t, tt.want, readRow(t, tt.overlay, tt.row), tt.row)
	}
}

func TestRowText(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "",
		`"Größe · мир · 你好 · مرحبا · 😀👩‍👩‍👧"`: "Größe · мир · 你好 · مرحبا · 😀👩‍👩‍👧",
		`"\"\\\/\b\f\n\r\t"`:               "\"\\/\b\f\n\r\t",
		`"\u00e9\u4f60\ud83d\ude00\u0000"`: "é你😀\x00",
		`"\ud83d lone"`:                    "\ufffd lone",
		"\"\xff\xc0\xaf\"":                 "\ufffd\ufffd\ufffd",
		`"eight by eight by eight"`:        "eight by eight by eight",
		`"12345678"`:                       "12345678",
		`"1234567\n"`:                      "1234567\n",
		`"12345678\u0039"`:                 "123456789",
		"\"1234567\u007f\u0080\u2028\"":    "1234567\u007f\u0080\u2028",
		`" spaces around "`:                " spaces around ",
	} {
		got := readRow(t, "", `{"text":`+raw+`,"description":`+raw+`,"id":"a"}`)
		assert.Equal(t, sms.Transaction{ID: "a", Text: want, Description: want}, got, raw)
	}
}

func TestRowTextOfEveryLength(t *testing.T) {
	l := compileList(t, "", false)
	for length := range 40 {
		for _, special := range []string{"", `\n`, "é", `\"`, "😀", `\u00e9`} {
			for at := range length + 1 {
				raw := strings.Repeat("a", at) + special + strings.Repeat("b", length-at)
				var want string
				require.NoError(t, json.Unmarshal([]byte(`"`+raw+`"`), &want))
				page, _, err := l.Decode([]byte(`{"data":[{"text":"`+raw+`","x":"`+raw+`"}]}`), wire.Position{}, 0, nil)
				require.NoError(t, err)
				require.Equal(t, want, page.Transactions[0].Text)
				require.Equal(t, `"`+raw+`"`, string(page.Transactions[0].Extra["x"]))
			}
		}
	}
}

func TestRowRefusesControlCharacters(t *testing.T) {
	l := compileList(t, "", false)
	for length := range 20 {
		for at := range length + 1 {
			for _, c := range []string{"\x00", "\n", "\x1f"} {
				text := strings.Repeat("a", at) + c + strings.Repeat("b", length-at)
				for _, name := range []string{"text", "x"} {
					_, _, err := l.Decode([]byte(`{"data":[{"`+name+`":"`+text+`"}]}`), wire.Position{}, 0, nil)
					require.Error(t, err, "%q", text)
				}
			}
		}
	}
}

func TestRowExtraKeepsBytes(t *testing.T) {
	for name, raw := range map[string]string{
		"figure": `1.50E+2`, "large": `12345678901234567890123`, "minus": `-0.0`, "words": `"\u00e9\/ é\ud83d"`, "object": `{ "b" : 1.0,"a":[1 , 2 ],"b":2 }`, "list": "[ ]",
		"nested": `[[{"transactionId":"x"}],null]`, "true": `true`, "null": `null`, "Text": `"names have a case"`, "text ": `1`, "": `"no name"`, "a.b": `2`, "空 ": `3`,
	} {
		quoted, err := json.Marshal(name)
		require.NoError(t, err)
		for _, around := range []string{`{"id":"a",%s:%s}`, "{ %s \n:\t %s , \"id\":\"a\"}", `{"text":"","id":"a",%s : %s }`} {
			got := readRow(t, "", fmt.Sprintf(around, quoted, raw))
			assert.Equal(t, sms.Transaction{ID: "a", Extra: map[string]json.RawMessage{name: json.RawMessage(raw)}}, got)
		}
	}
	got := readRow(t, "", `{"\u0075ser\n":1,"\u0069d":"a","u\ud83d":2}`)
	assert.Equal(t, sms.Transaction{ID: "a", Extra: map[string]json.RawMessage{"user\n": json.RawMessage("1"), "u\ufffd": json.RawMessage("2")}}, got, "names are unescaped")
}

func TestRowBlankGivesWay(t *testing.T) {
	t.Parallel()
	got := readRow(t, "", `{"id":"a","dlrStatus":"","status":"delivered"}`)
	assert.Equal(t, sms.Transaction{ID: "a", DeliveryStatus: "delivered", Status: contract.StatusDelivered}, got)
	for concept := range recordFields {
		if concept == "id" {
			continue // see TestRowWithoutIDIsUnreadable
		}
		overlay := fmt.Sprintf(`{"sms.list": {"record": {%q: ["first", "second"]}}}`, concept)
		want := readRow(t, overlay, `{"id":"a","second":"20261003"}`)
		for _, blank := range []string{`""`, `" \t"`, `"\u00a0"`, `null`} {
			got := readRow(t, overlay, `{"id":"a","first":`+blank+`,"second":"20261003"}`)
			assert.Equal(t, want, got, "%s %s", concept, blank)
		}
		page := readRows(t, overlay, `{"id":"a","first":{},"second":" "}`)
		require.Len(t, page.Unreadable, 1, "a blank hides no unreadable value of %s", concept)
		assert.Equal(t, sms.Transaction{ID: "a"}, readRow(t, overlay, `{"id":"a","first":""}`), concept)
	}
	got = readRow(t, "", `{"id":"a","price":"KES 0.80","currency":" "}`)
	assert.Equal(t, "KES", got.Currency, "a blank currency does not hide that of the price")
}

func TestRowErrorTextWithEscapes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"no crédit left"`, `"no cr\u00e9dit left"`} {
		got := readRow(t, "", `{"id":"a","error":`+text+`}`)
		assert.Equal(t, "no crédit left", got.ErrorCode, text)
	}
}

func TestRowUnreadableDoesNotGiveWay(t *testing.T) {
	t.Parallel()
	for _, concept := range []string{"created", "sent", "price", "parts"} {
		overlay := fmt.Sprintf(`{"sms.list": {"record": {%q: ["first", "second"]}}}`, concept)
		page := readRows(t, overlay, `{"id":"a","first":"n/a","second":"20261003"}`)
		require.Len(t, page.Unreadable, 1, concept)
		assert.Equal(t, recordFields[concept], page.Unreadable[0].Field)
		assert.JSONEq(t, `"n/a"`, string(page.Transactions[0].Extra["first"]), concept)
	}
}

func TestRowObjectIsUnreadable(t *testing.T) {
	t.Parallel()
	for concept, paths := range parse(t, "").SMSList.Record {
		for _, raw := range []string{`{"a":1}`, `{}`, `[]`, `[ "x" ]`} {
			row, reason := fmt.Sprintf(`{%q: %s ,"id":"a"}`, paths[0], raw), "is neither a text nor a number"
			want := sms.Transaction{ID: "a", Extra: map[string]json.RawMessage{paths[0]: json.RawMessage(raw)}}
			if concept == "id" {
				row, reason, want.ID = fmt.Sprintf(`{%q: %s }`, paths[0], raw), "is not an ID", ""
			}
			page := readRows(t, "", row)
			assert.Equal(t, want, page.Transactions[0], concept)
			problem := codec.UnreadableError{Place: &codec.Place{Field: recordFields[concept], Path: paths[0]}, Reason: reason, ReferenceUnread: concept == "reference"}
			assert.Equal(t, []codec.UnreadableError{problem}, page.Unreadable, row)
		}
	}
}

// An error code counts only as it is written, as in a response: an ID that differs in case is an ID.
func TestRowIDThatResemblesACode(t *testing.T) {
	t.Parallel()
	const codes = `{"errors": {"classes": {"insufficientBalance": ["P-220"], "unauthorized": ["E3*"]}}}`
	for _, id := range []string{"p-220", "P-2201", "e3b0c442", "e3"} {
		page := readRows(t, codes, `{"id":"`+id+`"}`)
		assert.Empty(t, page.Unreadable, id)
		assert.Equal(t, id, page.Transactions[0].ID)
	}
	for _, id := range []string{"P-220", "E301"} {
		assert.NotEmpty(t, readRows(t, codes, `{"id":"`+id+`"}`).Unreadable, id)
	}
}

func TestRowWithoutIDIsUnreadable(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		`""`, `" "`, `"None"`, `"null"`, `"undefined"`, `"N/A"`, `"-"`, `0`, `"0"`, `"%i"`, `false`, `{}`,
		"\"a\xff1\"", `"a\u00001"`, `"two words"`, `"` + strings.Repeat("a1", 129) + `"`,
	} {
		page := readRows(t, "", `{"text":"t","id":`+id+`}`)
		assert.Equal(t, []codec.UnreadableError{{Index: 0, Place: &codec.Place{Field: "ID", Path: "id"}, Reason: "is not an ID"}}, page.Unreadable, id)
		assert.Equal(t, sms.Transaction{Text: "t", Extra: map[string]json.RawMessage{"id": json.RawMessage(id)}}, page.Transactions[0])
	}
	for _, row := range []string{`{}`, `{"text":"t"}`, `{"id":null}`, `{"dateCreated":"soon"}`} {
		assert.Equal(t, []codec.UnreadableError{{Index: 0, Place: &codec.Place{Field: "ID"}, Reason: "is missing"}}, readRows(t, "", row).Unreadable, row)
		assert.NotContains(t, fmt.Sprint(readRows(t, `{"sms.list": {"record": {"id": []}}}`, row).Unreadable), "id", "the contract says that rows have none")
	}
	for _, id := range []string{`"Accepted"`, `" undelivered"`, `"E301"`} {
		page := readRows(t, `{"errors": {"classes": {"unauthorized": ["E3*"]}}}`, `{"text":"t","id":`+id+`}`)
		const reason = "is not an ID, but a status or an error code of the contract"
		assert.Equal(t, []codec.UnreadableError{{Index: 0, Place: &codec.Place{Field: "ID", Path: "id"}, Reason: reason}}, page.Unreadable, id)
		assert.Equal(t, sms.Transaction{Text: "t", Extra: map[string]json.RawMessage{"id": json.RawMessage(id)}}, page.Transactions[0])
	}
	page := readRows(t, "", `{"transactionId":"none","id":"a"}`)
	assert.Empty(t, page.Unreadable)
	assert.Equal(t, sms.Transaction{ID: "a", Extra: map[string]json.RawMessage{"transactionId": json.RawMessage(`"none"`)}}, page.Transactions[0])
}

func TestRowExtraKeepsObjectKnownInPart(t *testing.T) {
	overlay := `{"sms.list": {"record": {"operator": ["network.name"], "country": ["network.place.country"], "from": ["parties.0"]}}}`
	got := readRow(t, overlay, `{"network":{ "name":"OP","mcc":515, "place":{"country":"PHL","city":"x"}},"parties":["ACME", "b"],"operator":"other"}`)
	assert.Equal(t, sms.Transaction{Operator: "OP", Country: "PHL", From: "ACME", Extra: map[string]json.RawMessage{
		"network": json.RawMessage(`{"mcc":515,"place":{"city":"x"}}`), "parties": json.RawMessage(`["ACME", "b"]`), "operator": json.RawMessage(`"other"`),
	}}, got)
	for _, other := range []string{`"a word"`, `7`, `[]`, `{}`, `null`} {
		got = readRow(t, overlay, `{"network":`+other+`}`)
		assert.Equal(t, sms.Transaction{Extra: map[string]json.RawMessage{"network": json.RawMessage(other)}}, got)
	}
}

func TestRowFirstMemberWins(t *testing.T) {
	for _, tt := range []struct{ row, same string }{
		{`{"text":"x","text":"y","text":"z"}`, `{"text":"x"}`},
		{`{"text":"x","t\u0065xt":"z"}`, `{"text":"x"}`},
		{`{"text":"x","text":null}`, `{"text":"x"}`},
		{`{"text":null,"text":"z"}`, `{}`},
		{`{"text":{"a":1},"text":"z"}`, `{"text":{"a":1}}`},
		{`{"text":"x","text":{"a":1}}`, `{"text":"x"}`},
		{`{"text":null,"text":{"a":1}}`, `{}`},
		{`{"messageParts":2,"messageParts":"many"}`, `{"messageParts":2}`},
		{`{"transactionId":null,"id":"b","transactionId":"x"}`, `{"id":"b"}`},
		{`{"transactionId":"a","id":null,"id":"b"}`, `{"transactionId":"a"}`},
		{`{"status":"x","status":"y"}`, `{"status":"x"}`}, // the contract also reads status.name
		{`{"price":"0.50","price":{"value":1}}`, `{"price":"0.50"}`},
	} {
		assert.Equal(t, readRow(t, "", tt.same), readRow(t, "", tt.row), tt.row)
	}
	nested := `{"sms.list": {"record": {"operator": ["network.name"]}}}`
	assert.Equal(t, "x", readRow(t, nested, `{"network":{"name":"x"},"network":{"name":"y"}}`).Operator)
	assert.Equal(t, "x", readRow(t, nested, `{"network":{"name":"x"},"network":null}`).Operator)
	assert.Empty(t, readRow(t, nested, `{"network":null,"network":{"name":"x"}}`).Operator)
}

func TestRowsDiffer(t *testing.T) {
	rows := []string{
		completeRow, `{}`, `{"x":1,"y":2,"z":3}`, completeRow, `{"z":1,"text":"t","x":2,"id":"b","y":3}`, `{"text":"only"}`,
		`{"id":"c","text":null}`, `null`, `{"text":{"a":1},"id":"d"}`, `{"\u0069d":"e","te\u0078t":"t"}`, `{"id":"f","text":"t"}`, `{"te":1,"texts":2,"id":"g"}`, completeRow,
	}
	for range 3 {
		page := readRows(t, "", rows...)
		for i, row := range rows {
			if row == "null" {
				assert.Zero(t, page.Transactions[i])
				continue
			}
			assert.Equal(t, readRow(t, "", row), page.Transactions[i], "alone and in company: %s", row)
		}
		slices.Reverse(rows)
	}
}

func TestRowUnreadable(t *testing.T) {
	t.Parallel()
	const unknown, noObject = "is in no known form", "is not an object"
	page := readRows(t, "", `{"id":"a"}`, `7`, `{"text":"before","dateCreated":"soon","id":"c"}`, `{"id":"d","messageParts":"many","price":1}`, `{"id":"e","dateSent":true}`, `{"id":"f"}`,
		`{"messageParts":1.5,"dateCreated":"soon","dateSent":0,"id":"g"}`, `"row"`, `[]`, `null`, `{"id":"k","dateCreated":"soon","price":{}}`, `{"id":"l","dateCreated":{},"messageParts":"many"}`, `{"id":"m","text":true,"dateSent":"0000-00-00 00:00:00"}`, `{"id":"n","messageParts":-3}`)
	assert.Equal(t, []codec.UnreadableError{
		{Index: 1, Place: &codec.Place{}, Reason: noObject},
		{Index: 2, Place: &codec.Place{Field: "CreatedAt", Path: "dateCreated"}, Reason: unknown},
		{Index: 3, Place: &codec.Place{Field: "Parts", Path: "messageParts"}, Reason: unknown},
		{Index: 4, Place: &codec.Place{Field: "SentAt", Path: "dateSent"}, Reason: "is neither a text nor a number"},
		{Index: 6, Place: &codec.Place{Field: "Parts", Path: "messageParts"}, Reason: unknown},
		{Index: 7, Place: &codec.Place{}, Reason: noObject},
		{Index: 8, Place: &codec.Place{}, Reason: noObject},
		{Index: 9, Place: &codec.Place{}, Reason: noObject},
		{Index: 10, Place: &codec.Place{Field: "Price", Path: "price"}, Reason: "is neither a text nor a number"},
		{Index: 11, Place: &codec.Place{Field: "Parts", Path: "messageParts"}, Reason: unknown},
		{Index: 12, Place: &codec.Place{Field: "Text", Path: "text"}, Reason: "is neither a text nor a number"},
		{Index: 13, Place: &codec.Place{Field: "Parts", Path: "messageParts"}, Reason: unknown},
	}, page.Unreadable, "each once, in order")
	records := page.Transactions
	assert.Equal(t, "a", records[0].ID)
	assert.Zero(t, records[1])
	assert.Equal(t, "before", records[2].Text)
	assert.Equal(t, "c", records[2].ID)
	assert.Zero(t, records[2].CreatedAt)
	assert.Equal(t, "1", records[3].Price)
	assert.Zero(t, records[3].Parts)
	assert.Zero(t, records[4].SentAt)
	assert.Equal(t, "f", records[5].ID)
	assert.Zero(t, records[6].SentAt)
	for _, i := range []int{7, 8, 9} {
		assert.Zero(t, records[i])
	}
}

func TestRowPartsUnreadable(t *testing.T) {
	for _, raw := range []string{`"x"`, `1.5`, `"1.5"`, `99999999999999999999`, `1e400`, `-1e30`, `true`, `"1 2"`, `"NaN"`, `"Inf"`, `"0x"`, `"-"`} {
		page := readRows(t, "", `{"id":"a","messageParts":`+raw+`,"text":"t"}`)
		require.Len(t, page.Unreadable, 1, raw)
		assert.Equal(t, "a", page.Transactions[0].ID)
		assert.Equal(t, "t", page.Transactions[0].Text)
		assert.Zero(t, page.Transactions[0].Parts, raw)
	}
}

func TestListDecodeDoesNotKeepBody(t *testing.T) {
	for _, overlay := range []string{byCursor, `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "record": {"operator": ["network.name"], "id": ["ids.main"]}}}`} {
		l := compileList(t, overlay, false)
		for _, next := range []string{`"m4rk"`, `"?after=m4rk"`, `"/api/sms?after=m4\u0072k"`, `17`} {
			body := []byte(`{"nextPage":` + next + `,"pageNumber":"1","data":[` + completeRow + `,{"ids":{"main":"a"},"network":{"name":"OP"},"text":"\u00e9","uñ":1,"\u0078":"x"},7,{"messageParts":"x","sent":1}]}`)
			want, _, err := l.Decode(bytes.Clone(body), wire.Position{}, 0, nil)
			require.NoError(t, err)
			got, _, err := l.Decode(body, wire.Position{}, 0, nil)
			require.NoError(t, err)
			clear(body)
			assert.Equal(t, want, got, "the bytes were written over")
		}
	}
	l := compileList(t, "", false)
	for _, text := range []string{`{"code":"c0de","message":"t3xt","requestId":"r-1"}`, `{"requestId":"r-1"}`} {
		body := []byte(text)
		want, failure, _ := l.Decode(bytes.Clone(body), wire.Position{}, 0, nil)
		require.Zero(t, want)
		_, got, _ := l.Decode(body, wire.Position{}, 0, nil)
		clear(body)
		assert.Equal(t, failure, got)
	}
}

func TestRowDoesNotKeepPageAlive(t *testing.T) {
	const junk = 32 << 20
	l := compileList(t, "", false)
	inUse := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, around := range map[string][2]string{
		"beside the rows": {`{"junk":"`, `","data":[{"id":"kept","text":"kept","x":{"y":1}}]}`},
		"another row":     {`{"data":[{"text":"`, `"},{"id":"kept","text":"kept","x":{"y":1}}]}`},
	} {
		before := inUse()
		record := func() sms.Transaction {
			body := slices.Concat([]byte(around[0]), bytes.Repeat([]byte("a"), junk), []byte(around[1]))
			page, _, err := l.Decode(body, wire.Position{}, 0, nil)
			require.NoError(t, err)
			return page.Transactions[len(page.Transactions)-1]
		}()
		after := inUse()
		assert.Less(t, after, before+junk/4, name)
		assert.Equal(t, sms.Transaction{ID: "kept", Text: "kept", Extra: map[string]json.RawMessage{"x": json.RawMessage(`{"y":1}`)}}, record)
	}
}

func TestRowExtraIsNotShared(t *testing.T) {
	page := readRows(t, `{"sms.list": {"record": {"operator": ["network.name"]}}}`, `{"a":1,"b":"two","c":[3],"id":"x","transactionId":"y","network":{"name":"OP"},"text":{}}`, `{"a":4,"b":5}`)
	want := []map[string]json.RawMessage{
		{"a": json.RawMessage(`1`), "b": json.RawMessage(`"two"`), "c": json.RawMessage(`[3]`), "id": json.RawMessage(`"x"`), "text": json.RawMessage(`{}`)},
		{"a": json.RawMessage(`4`), "b": json.RawMessage(`5`)},
	}
	for i, record := range page.Transactions {
		require.Equal(t, want[i], record.Extra)
		for _, raw := range record.Extra {
			_ = append(raw, "overwritten"...)
		}
	}
	for i, record := range page.Transactions {
		assert.Equal(t, want[i], record.Extra)
		record.Extra["b"][0] = '!'
		record.Extra["a"][0] = '!'
	}
	assert.Equal(t, `[3]`, string(page.Transactions[0].Extra["c"]))
	assert.Equal(t, "OP", page.Transactions[0].Operator, "a word does not lie in Extra")
}

func TestListDecodeReusesRecords(t *testing.T) {
	l := compileList(t, "", false)
	body := func(rows ...string) []byte { return []byte(`{"data":[` + strings.Join(rows, ",") + `]}`) }
	full, _, err := l.Decode(body(completeRow, `{"id":"b","x":1}`, completeRow, `7`), wire.Position{}, 0, nil)
	require.NoError(t, err)
	kept := full.Transactions[1]
	for _, rows := range [][]string{{`{}`, `7`, `{"id":"c"}`}, {}, {`{"id":"c"}`, `{"y":2}`, `{}`, `{}`, `{}`, `{"id":"h"}`}} {
		want, _, err := l.Decode(body(rows...), wire.Position{}, 0, nil)
		require.NoError(t, err)
		got, _, err := l.Decode(body(rows...), wire.Position{}, 0, full.Transactions)
		require.NoError(t, err)
		assert.Equal(t, want.Unreadable, got.Unreadable)
		require.Len(t, got.Transactions, len(want.Transactions))
		for i := range want.Transactions {
			assert.Equal(t, want.Transactions[i], got.Transactions[i])
		}
	}
	assert.Equal(t, sms.Transaction{ID: "b", Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}}, kept, "what was taken out of the page before")

	reused, _, err := l.Decode(body(`{"id":"d"}`, `{"id":"e"}`), wire.Position{}, 0, make([]sms.Transaction, 3, 8))
	require.NoError(t, err)
	require.Len(t, reused.Transactions, 2)
	assert.Equal(t, "d", reused.Transactions[0].ID)
}

func TestListDecodeLargePage(t *testing.T) {
	const count = 10_000
	for name, rowOf := range map[string]func(i int) string{
		"rows alike":      func(i int) string { return strings.Replace(completeRow, "t-1", "t-"+strconv.Itoa(i), 1) },
		"the first empty": func(i int) string { return fmt.Sprintf(`{"id":"t-%d","text":%q}`, i, strings.Repeat("x", min(i, 100))) },
		"the first large": func(i int) string { return fmt.Sprintf(`{"id":"t-%d","x":%q}`, i, strings.Repeat("x", 5000/(i+1))) },
		"the first none":  func(i int) string { return map[bool]string{true: "0", false: fmt.Sprintf(`{"id":"t-%d"}`, i)}[i == 0] },
	} {
		t.Run(name, func(t *testing.T) {
			rows := make([]string, count)
			for i := range rows {
				rows[i] = rowOf(i)
			}
			page := readRows(t, "", rows...)
			for i, record := range page.Transactions {
				if i > 0 {
					require.Equal(t, "t-"+strconv.Itoa(i), record.ID)
				}
			}
		})
	}
	page := readRows(t, "", slices.Repeat([]string{"0"}, count)...)
	assert.Len(t, page.Unreadable, count)
	assert.Equal(t, count-1, page.Unreadable[count-1].Index)
}

func TestRowLargeMember(t *testing.T) {
	plain := strings.Repeat("junk ", 1<<20/5)
	escaped := strings.Repeat(`\u00e9`, 1<<20/6)
	numbers := "[" + strings.Repeat("-1.5e3 , ", 1<<20/9) + "{}]"
	for _, raw := range []string{`"` + plain + `"`, `"` + escaped + `"`, numbers, strings.Repeat("9", 1<<20)} {
		got := readRow(t, "", `{"id":"a","x":`+raw+`,"text":"t"}`)
		assert.Equal(t, "a", got.ID)
		assert.Equal(t, "t", got.Text)
		same(t, raw, string(got.Extra["x"]))
	}
	same(t, plain, readRow(t, "", `{"text":"`+plain+`"}`).Text)
	same(t, strings.Repeat("é", 1<<20/6), readRow(t, "", `{"text":"`+escaped+`"}`).Text)
}

// same compares what is too large to be printed.
func same(t *testing.T, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("got %d bytes, %.40q..., want %d, %.40q...", len(got), got, len(want), want)
	}
}

func TestRowManyMembers(t *testing.T) {
	const count = 1000
	var members, again []string
	for i := range count {
		members = append(members, fmt.Sprintf(`"x%d":%d`, i, i))
		again = append(again, fmt.Sprintf(`"x%d":-%d`, i, i+1))
	}
	row := `{` + strings.Join(members, ",") + `,"id":"a",` + strings.Join(again, ",") + `}`
	page := readRows(t, "", row, `{"id":"b"}`, row)
	for _, i := range []int{0, 2} {
		got := page.Transactions[i]
		assert.Equal(t, "a", got.ID)
		require.Len(t, got.Extra, count)
		for j := range count {
			require.Equal(t, fmt.Sprintf("-%d", j+1), string(got.Extra["x"+strconv.Itoa(j)]), "the last counts")
		}
	}
	assert.Equal(t, sms.Transaction{ID: "b"}, page.Transactions[1])
}

func TestListDecodeManyPaths(t *testing.T) {
	var paths []string
	for i := range 200 {
		paths = append(paths, strconv.Quote("a"+strconv.Itoa(i)+".n"))
	}
	list := "[" + strings.Join(paths, ",") + "]"
	l := compileList(t, `{"sms.list": {"page": {"total": `+list+`}, "record": {"id": `+list+`}}}`, false)
	page, _, err := l.Decode([]byte(`{"a199":{"n":7},"data":[{"a150":{"n":"x"},"a3":{"n":"y"}}]}`), wire.Position{}, 0, nil)
	require.NoError(t, err)
	assert.Equal(t, 7, page.Total)
	assert.Equal(t, "y", page.Transactions[0].ID)
}

// The shapes that FuzzListDecode reads pages in.
var shapes = []string{
	`{}`,
	`{"sms.list": {"items": ["result.rows", "rows.0", "data", ""], "zone": "Asia/Manila", "record": {"id": ["ids.main", "id"], "operator": ["op", "op.name"], "text": ["text", "body.0.text"], "created": ["t"], "sent": ["t2", "body.1"]}}}`,
	byOffset,
	byCursor,
	`{"sms.list": {"paging": {"by": "none", "whole": true}, "items": [""]}}`,
	byLastRow,
}

// FuzzListDecode checks pages against encoding/json: the same documents are accepted, and the same rows are found.
func FuzzListDecode(f *testing.F) {
	for _, tt := range pages {
		for shape := range shapes {
			f.Add([]byte(tt.body), uint8(shape))
		}
	}
	for i, seed := range []string{
		`{"result":{"rows":[{"ids":{"main":1,"x":2},"id":"b","op":{"name":"OP"},"body":[{"text":"t"},"20060102150405"]}]}}`,
		`{"rows":[[{"op":"OP","t":1790000000,"t2":"2026-01-02 03:04"},{"ids":7}]],"data":[{"id":"x"}]}`,
		`[{"id":"a","id":null,"x":1,"x":2,"messageParts":1e2},{"messageParts":"9223372036854775807"}]`,
		`{"data":[{"id":"a"}],"code":{"x":1},"error":{"code":"0"},"nextPage":"?a=%zz"}`,
		"{\"data\":[{\"\\u0069d\":\"\xff\",\"\xff\":1,\"\\ufffd\":2}]}", `40001`, `{"data":[{"id":"a",1}]}`, `{"data":[{"id" "a"}]}`, `{"data":[{"id":"a\x"}]}`,
		`{"data":[{"dateCreated":"NaN"},{"dateCreated":"1e99"},{"dateCreated":"-1.5e12"}]}`,
		`[{"price":"A","from":"tel:1;ext=2"},{"price":"-US$ 1.5e2","currency":"","to":" TEL:7 "},{"price":"5 KES","currency":"EUR"},{"price":"-KES -5"}]`,
	} {
		f.Add([]byte(seed), uint8(i))
	}
	lists, tables := make([]*codec.List, len(shapes)), make([]*table.Table, len(shapes))
	for i, overlay := range shapes {
		lists[i], tables[i] = compileList(f, overlay, false), parse(f, overlay)
	}
	defaults := parse(f, "").Errors
	errorPaths := defaults.Code
	f.Fuzz(func(t *testing.T, body []byte, shape uint8) {
		l, names := lists[int(shape)%len(lists)], tables[int(shape)%len(lists)]
		op := &names.SMSList
		at := wire.Position{Set: shape >= 128, Number: 4, Rows: 40, Cursor: "m"}
		given := bytes.Clone(body)
		reuse := []sms.Transaction{{ID: "old", Parts: 9, Extra: map[string]json.RawMessage{"old": nil}}, {Text: "old", CreatedAt: time.Unix(0, 0)}}
		page, failure, err := l.Decode(given, at, 0, reuse)
		clear(given) // nothing may depend on it any more
		plain := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
		if !json.Valid(plain) || !json.Valid(bytes.TrimPrefix(body, []byte("\ufeff"))) {
			if err == nil || errors.Is(err, codec.ErrPage) || !assert.ObjectsAreEqual(page, codec.Page{}) || failure != (codec.Failure{}) {
				t.Fatalf("no JSON, got %+v, %+v, %v", page, failure, err)
			}
			return
		}
		if err != nil && strings.HasSuffix(err.Error(), "(errors.code)") {
			return // TestListDecodeOfAFailure
		}
		for _, doubt := range []string{inPart, repeated, claimed, gap, "the response is a later page", "the response has a status", "the response holds an error"} {
			if err != nil && strings.HasPrefix(err.Error(), doubt) && errors.Is(err, codec.ErrPage) {
				return // TestListDecode
			}
		}
		if comesTwice(plain, slices.Concat(errorPaths, op.Items)) {
			if err == nil && failure.Code == "" || !assert.ObjectsAreEqual(page, codec.Page{}) {
				t.Fatalf("which of two codes or lists counts is open, got %+v, %+v, %v", page, failure, err)
			}
			return
		}
		if code := referenceCode(errorPaths, defaults.Success, plain); code != failure.Code || code != "" && (err != nil || !assert.ObjectsAreEqual(page, codec.Page{})) {
			t.Fatalf("the code is %q, got %+v, %+v, %v", code, page, failure, err)
		} else if code != "" {
			return
		}
		if _, found := referenceList(op.Items, plain); !found {
			if err == nil || !strings.HasPrefix(err.Error(), noRows) {
				t.Fatalf("no list, got %+v, %v", page, err)
			}
			return
		}
		if err != nil {
			if !errors.Is(err, codec.ErrPage) || strings.HasPrefix(err.Error(), noRows) || op.Paging.By != "cursor" {
				t.Fatalf("a page, got %v", err)
			}
			return
		}
		if problem := differs(names, plain, page); problem != "" {
			t.Fatal(problem)
		}
		if len(page.Transactions) == 0 && !page.Last && op.Paging.By != "cursor" {
			t.Error("an empty page must be the last")
		}
		checkNext(t, op, at, page)
	})
}

func checkNext(t *testing.T, op *table.List, at wire.Position, page codec.Page) {
	t.Helper()
	want := wire.Position{}
	switch op.Paging.By {
	case "page":
		want = wire.Position{Set: true, Number: op.Paging.First + 1}
		if at.Set {
			want.Number = at.Number + 1
		}
	case "offset":
		want.Rows = at.Rows + len(page.Transactions)
	case "cursor":
		want = page.Next
		if !page.Last && page.Next.Cursor == "" && page.Next.Link == "" {
			t.Error("a page follows, and nothing says where")
		}
	case "none":
		if !page.Last {
			t.Error("a page follows the only one")
		}
	}
	if page.Next != want {
		t.Errorf("the next page is at %+v, want %+v", page.Next, want)
	}
}

// referenceCode returns the first code that is not one of success.
func referenceCode(paths, success []string, body json.RawMessage) string {
	for _, path := range paths {
		raw, ok := member(body, path)
		if !ok {
			continue
		}
		code, scalar := word(raw)
		if code = strings.TrimSpace(code); !scalar || code == "" || raw[0] == 't' || raw[0] == 'f' {
			continue
		}
		if !slices.Contains(success, strings.ToLower(code)) {
			return code
		}
	}
	return ""
}

// comesTwice reports whether a member at a path, or on the way to one, comes twice in its object.
func comesTwice(raw json.RawMessage, paths []string) bool {
	below := map[string][]string{} // the rest of the paths, by the name of their first member
	for _, path := range paths {
		if name, rest, _ := strings.Cut(path, "."); name != "" {
			below[name] = append(below[name], rest)
		}
	}
	d, seen := json.NewDecoder(bytes.NewReader(raw)), map[string]bool{}
	opening, _ := d.Token()
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i)
		if opening == json.Delim('{') {
			token, _ := d.Token()
			name, _ = token.(string)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
		if rest, isWanted := below[name]; isWanted && (seen[name] || comesTwice(value, rest)) {
			return true
		}
		seen[name] = true
	}
	return false
}

func TestRowExtraDoesNotRepeatFields(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.list": {"record": {"id": ["ids.main"], "operator": ["network.of.name"], "country": ["network.country"], "from": ["parties.0"]}}}`
	for row, want := range map[string]map[string]string{
		`{"ids":{"main":"a"}}`:                                                   nil,
		`{"ids":{"main":"a","other":[1, 2]}}`:                                    {"ids": `{"other":[1, 2]}`},
		`{"ids":{"main":"a"},"network":{"of":{"name":"OP"},"x":{}}}`:             {"network": `{"x":{}}`},
		`{"ids":{"main":"a"},"network":{"of":{"name":"OP","y":1},"country":{}}}`: {"network": `{"of":{"y":1},"country":{}}`},
		`{"ids":{"main":"a"},"network":{}}`:                                      {"network": `{}`},
		`{"ids":{"main":"a"},"network":"OP"}`:                                    {"network": `"OP"`},
		`{"ids":{"main":"a"},"parties":["ACME","639171234567"]}`:                 {"parties": `["ACME","639171234567"]`},
	} {
		got := readRow(t, overlay, row)
		assert.Len(t, got.Extra, len(want), row)
		for name, value := range want {
			assert.Equal(t, value, string(got.Extra[name]), row)
		}
	}
}

func TestRowExtraDoesNotRepeatFieldAboveAnotherPath(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.list": {"record": {"operator": ["network.name"], "country": ["network.name.country"]}}}`
	assert.Equal(t, sms.Transaction{Operator: "OP"}, readRow(t, overlay, `{"network":{"name":"OP"}}`))
	got := readRow(t, overlay, `{"network":{"name":"OP","x":1}}`)
	assert.Equal(t, map[string]json.RawMessage{"network": json.RawMessage(`{"x":1}`)}, got.Extra)
}

func TestRowExtraKeepsCodeIfFieldsShareAPath(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.list": {"record": {"id": ["id"], "operator": ["key"], "country": ["key", "land"]}}}`
	got := readRow(t, overlay, `{"id":"a","key":"OP","code":"ok"}`)
	assert.Equal(t, map[string]json.RawMessage{"code": json.RawMessage(`"ok"`)}, got.Extra)
}

// A page that is cut anywhere is an error, whatever the contract reads in its rows.
func TestListDecodeOfCutPage(t *testing.T) {
	t.Parallel()
	l := compileList(t, `{"sms.list": {"only": {"kind": ["sms"]}, "paging": {"by": "cursor"}, "page": {"next": ["$last.id"]}}}`, false)
	body := []byte(`{"total":2,"data":[{"id":"a","kind":"sms"},{"id":"\u0062","kind":"call","error":{"code":"x"}}]}`)
	for length := range body {
		page, failure, err := l.Decode(body[:length], wire.Position{}, 0, nil)
		require.Error(t, err, length)
		assert.Equal(t, codec.Page{}, page)
		assert.Zero(t, failure)
	}
}

func TestIsReferenceKnown(t *testing.T) {
	t.Parallel()
	names := parse(t, "").SMSList.Record
	for _, tc := range []struct {
		unreadable []string // concepts
		want       bool
	}{
		{[]string{"request"}, true},
		{[]string{"category"}, true},
		{[]string{"price", "description"}, true},
		{[]string{"reference"}, false},
		{[]string{"reference", "price"}, false},
		{[]string{"request", "reference"}, false},
		{[]string{"reference", "deliveryStatus"}, false},
		{[]string{"id"}, false},
		{[]string{"to"}, false},
		{[]string{"price", "sendStatus"}, false},
	} {
		row := `{"` + names["id"][0] + `":"a"`
		for _, concept := range tc.unreadable {
			row += `,"` + names[concept][0] + `":{"a":1}`
		}
		page := readRows(t, "", row+"}")
		require.Len(t, page.Unreadable, 1, row)
		assert.Equal(t, tc.want, page.Unreadable[0].IsReferenceKnown(), row)
	}
	assert.False(t, readRows(t, "", `"no object"`).Unreadable[0].IsReferenceKnown())
}
