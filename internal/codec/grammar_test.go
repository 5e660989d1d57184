package codec_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestEncodeKeyWithoutSecret(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ overlay, query, body string }{
		"beside the fields": {
			`{"auth": {"keyPair": {"key": "api.key", "secret": ""}}}`,
			"", `{"from":"ACME","to":"+639171234567","text":"Your order 17 is ready","api":{"key":"k"}}`,
		},
		"in the query": {
			`{"auth": {"keyPair": {"in": "query", "secret": ""}}, "sms.send": {"encoding": "form"}}`,
			"apiKey=k", "from=ACME&to=%2B639171234567&text=Your+order+17+is+ready",
		},
		"with all in the query": {
			`{"auth": {"keyPair": {"in": "query", "secret": ""}}, "sms.send": {"encoding": "query"}}`,
			"from=ACME&to=%2B639171234567&text=Your+order+17+is+ready&apiKey=k", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parse(t, tt.overlay)
			request, problems := codec.CompileSend(c, &c.SMSSend, sendURL, pairOf("k", "")).Encode(minimal().call(), false)
			require.Empty(t, problems)
			assert.Equal(t, tt.query, request.URL.RawQuery)
			assert.Equal(t, tt.body, string(request.Body))
		})
	}
}

func TestListEncodeKeyWithoutSecret(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"auth": {"keyPair": {"in": "query", "secret": ""}}}`)
	request, problems := codec.CompileList(c, sendURL, pairOf("k", "")).Encode(wire.Query{})
	require.Empty(t, problems)
	assert.Equal(t, "apiKey=k&pageNumber=1", request.URL.RawQuery)
}

// scheduled is a call with a field that is a time.
func scheduled(at time.Time) wire.Call {
	return wire.Call{Fields: []wire.Field{{Concept: "reference", Name: "SendAt", Value: at}}}
}

func TestEncodeTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.FixedZone("", 8*60*60))
	for form, want := range map[string]string{
		`"time": "rfc3339"`:                         `"2026-10-03T06:44:23Z"`,
		`"time": "rfc3339ms"`:                       `"2026-10-03T06:44:23.186Z"`,
		`"time": "rfc1123"`:                         `"Sat, 03 Oct 2026 06:44:23 GMT"`,
		`"time": "rfc2822"`:                         `"Sat, 03 Oct 2026 06:44:23 +0000"`,
		`"time": "unix"`:                            `1791009863`,
		`"time": "unixms"`:                          `1791009863186`,
		`"time": "datetime", "zone": "Asia/Manila"`: `"2026-10-03 14:44:23"`,
		`"time": "date", "zone": "Asia/Manila"`:     `"2026-10-03"`,
		`"time": "unix", "encoding": "json"`:        `1791009863`,
	} {
		send := compile(t, `{"sms.send": {`+form+`}}`, "sms.send", false)
		request, problems := send.Encode(scheduled(at), false)
		require.Empty(t, problems)
		assert.Equal(t, `{"referenceId":`+want+`}`, string(request.Body), form)
	}
	for _, zero := range []time.Time{{}, time.Time{}.In(time.FixedZone("", 8*60*60))} {
		request, problems := compile(t, "", "sms.send", false).Encode(scheduled(zero), false)
		require.Empty(t, problems)
		assert.Equal(t, `{}`, string(request.Body), "the zero time is absent")
	}
}

func TestEncodeRefusesUnknownValue(t *testing.T) {
	t.Parallel()
	call := wire.Call{Fields: []wire.Field{{Concept: "to", Name: "To", Value: []string{"v4lue"}}}}
	_, problems := compile(t, "", "sms.send", false).Encode(call, false)
	assert.Equal(t, []wire.Problem{{Field: "To", Reason: "holds a value that cannot be sent: []string"}}, problems)
}

func TestDecodeRefusedStatus(t *testing.T) {
	t.Parallel()
	const overlay = `{
		"sms.send": {"accepted": ["0", "QUEUED", "PENDING*"], "refused": ["REJECTED*", "INVALID_*", "PENDING_NEVER", "5", "NO_FUNDS"], "response": {"status": ["messages.0.status", "status"]}},
		"errors": {"classes": {"insufficientBalance": ["NO_FUNDS"]}, "success": ["0", "OK*"]}
	}`
	for body, tt := range map[string]struct{ code, class, doubt string }{
		`{"id":"m-1","status":"REJECTED"}`:                                  {code: "REJECTED"},
		`{"id":"m-1","status":" rejected_prefix "}`:                         {code: "rejected_prefix"},
		`{"id":"m-1","status":5}`:                                           {code: "5"},
		`{"status":"INVALID_NUMBER","code":"0"}`:                            {code: "INVALID_NUMBER"},
		`{"id":"m-1","status":"INVALID_NUMBER","code":"7001"}`:              {code: "7001"},
		`{"id":"m-1","status":"NO_FUNDS","code":"ok_fine"}`:                 {code: "NO_FUNDS", class: "insufficientBalance"},
		`{"id":"m-1","messages":[{"status":"PENDING_NEVER"}]}`:              {code: "PENDING_NEVER"},
		`{"id":"m-1","messages":[{"status":"PENDING_NEVERMORE"}]}`:          {},
		`{"id":"m-1","status":0}`:                                           {},
		`{"id":"m-1","status":"Queued"}`:                                    {},
		`{"id":"m-1","status":"ODD"}`:                                       {doubt: unknownStatus},
		`{"id":"m-1","status":{"of":"REJECTED"}}`:                           {doubt: unknownStatus},
		`{"status":"QUEUED"}`:                                               {doubt: noID},
		`{"id":"m-1","status":"REJECTED","messages":[{"status":"QUEUED"}]}`: {doubt: "two statuses"},
		`{"id":"m-1","status":"QUEUED","messages":[{"status":"REJECTED"}]}`: {code: "REJECTED"},
		`{"id":"m-1","status":"ODD","messages":[{"status":"QUEUED"}]}`:      {},
	} {
		r, err := decoder(t, overlay).Decode([]byte(body))
		require.NoError(t, err)
		assert.Equal(t, tt.code != "", r.Claim == codec.Refuses, body)
		assert.Equal(t, tt.class, r.Class, body)
		if tt.code != "" {
			assert.Equal(t, tt.code, r.Code, body)
			assert.Empty(t, r.Reason, body)
		}
		if tt.doubt == "" {
			assert.Empty(t, r.Reason, body)
		} else {
			assert.Contains(t, r.Reason, tt.doubt, body)
		}
	}
}

func TestDecodeCodesByPrefix(t *testing.T) {
	t.Parallel()
	const overlay = `{"errors": {"success": ["2*", "ok"], "classes": {"invalid": ["20*"], "notFound": ["2044"], "rateLimited": ["9"]}}}`
	for code, class := range map[string]string{"2": "", "21": "", "OK": "", "200": "invalid", "2044": "notFound", "9": "rateLimited"} {
		r, err := decoder(t, overlay).Decode([]byte(`{"id":"m-1","code":"` + code + `"}`))
		require.NoError(t, err)
		assert.Equal(t, class, r.Class, code)
		assert.Equal(t, class != "", r.Claim == codec.Refuses, code)
		assert.Empty(t, r.Reason, code)
	}
}

func TestDecodeMoney(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ overlay, unitCost, cost, balance string }{
		"as it stands": {`{}`, "12345", "-0.0500", ""},
		"scaled":       {`{"sms.send": {"scale": -4}}`, "1.2345", "-0.00000500", ""},
	} {
		r, err := decoder(t, tt.overlay).Decode([]byte(`{"id":"m-1","unitCost":12345,"transactionCost":"-0.0500","remaining":"about 5","currency":"EUR"}`))
		require.NoError(t, err)
		assert.Equal(t, []string{tt.unitCost, tt.cost, tt.balance, "EUR"}, []string{r.UnitCost, r.Cost, r.Balance, r.Currency}, name)
	}
}

func TestDecodeMoneyWithCurrency(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][4]string{
		`{"id":"m","transactionCost":"KES 0.8000"}`:                                       {"", "0.8000", "", "KES"},
		`{"id":"m","transactionCost":"0.05 USD","currency":"EUR"}`:                        {"", "0.05", "", "EUR"},
		`{"id":"m","unitCost":"$0.05","transactionCost":0.10,"remaining":"12.5 EUR"}`:     {"0.05", "0.10", "12.5", "$"},
		`{"id":"m","unitCost":"free","transactionCost":"none","remaining":"<b>5</b>"}`:    {"", "", "", ""},
		`{"id":"m","unitCost":"1/2","transactionCost":"0x10","remaining":"call support"}`: {"", "", "", ""},
	} {
		r, err := decoder(t, `{}`).Decode([]byte(body))
		require.NoError(t, err)
		assert.Equal(t, want, [4]string{r.UnitCost, r.Cost, r.Balance, r.Currency}, body)
		assert.Empty(t, r.Reason, body)
	}
}

func TestRowMoney(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.list": {"scale": -4, "record": {"price": ["price.value"], "currency": ["price.currency"]}}}`
	row := readRow(t, overlay, `{"id":"a","price":{"value":-12345,"currency":"USD"}}`)
	assert.Equal(t, "-1.2345", row.Price)
	assert.Equal(t, "USD", row.Currency)

	page := readRows(t, overlay, `{"id":"a","price":{"value":"1,50 €"}}`)
	assert.Empty(t, page.Transactions[0].Price)
	assert.JSONEq(t, `{"value":"1,50 €"}`, string(page.Transactions[0].Extra["price"]))
	assert.Equal(t, []codec.UnreadableError{{Index: 0, Place: &codec.Place{Field: "Price", Path: "price.value"}, Reason: "is not a decimal number"}}, page.Unreadable)
}

func TestRowStatus(t *testing.T) {
	t.Parallel()
	const overlay = `{"webhook.delivery": {"statuses": {"failed": ["5", "ERR*"], "delivered": ["ok", "ERR_NOT"]}}}`
	for word, want := range map[string]contract.Status{
		"OK": contract.StatusDelivered, "err_not": contract.StatusDelivered, "ERR_12": contract.StatusFailed, "5": contract.StatusFailed, "read": contract.StatusRead,
		"55": contract.StatusUnknown, "": contract.StatusUnknown, "odd": contract.StatusUnknown,
	} {
		row := readRow(t, overlay, `{"id":"a","sendStatus":"ok","dlrStatus":"`+word+`"}`)
		assert.Equal(t, want, row.Status, word)
		assert.Equal(t, word, row.DeliveryStatus)
	}
}

func TestRowLayouts(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.list": {"zone": "Asia/Manila", "layouts": ["02/01/2006 15:04", "Jan 2 2006 3:04PM"]}}`
	for text, want := range map[string]string{
		"03/10/2026 14:44": "2026-10-03T14:44:00+08:00", "Oct 3 2026 2:44PM": "2026-10-03T14:44:00+08:00",
		"2026-10-03T14:44:00Z": "2026-10-03T14:44:00Z", "Sat, 03 Oct 2026 14:44:00 +0000": "2026-10-03T14:44:00Z",
	} {
		row := readRow(t, overlay, `{"id":"a","dateCreated":"`+text+`"}`)
		assert.Equal(t, want, row.CreatedAt.Format(time.RFC3339), text)
	}
}

const byLastRow = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "page": {"next": ["cursors.next", "$last.meta.id"]}}}`

func TestListDecodeCursorOfLastRow(t *testing.T) {
	t.Parallel()
	list := compileList(t, byLastRow, false)
	for body, cursor := range map[string]string{
		`{"data":[{"id":"a","meta":{"id":"c-1"}},{"id":"b","meta":{"id":"c-2"}}]}`:                "c-2",
		`{"data":[{"id":"a","meta":{"id":17}}]}`:                                                  "17",
		`{"data":[{"id":"a","meta":{"id":"/a?b"}}],"cursors":{"next":""}}`:                        "/a?b",
		`{"data":[{"id":"a","meta":{"id":"c-1"}}],"cursors":{"next":"n-1"}}`:                      "n-1",
		`{"items":[{"id":"x","meta":{"id":"old"}}],"data":[{"id":"a","meta":{"id":"c\u002d1"}}]}`: "c-1",
	} {
		page, _, err := list.Decode([]byte(body), wire.Position{}, 0, nil)
		require.NoError(t, err, body)
		assert.False(t, page.Last, body)
		assert.Equal(t, wire.Position{Set: true, Cursor: cursor}, page.Next, body)
		assert.Contains(t, page.Transactions[0].Extra, "meta", "the contract names it for paging only")
	}
	for _, body := range []string{
		`{"data":[]}`, `{"data":[{"id":"a"}],"hasNext":false}`, `{"data":[{"id":"a","meta":{"id":"c-1"}}],"cursors":{"next":null}}`,
	} {
		page, _, err := list.Decode([]byte(body), wire.Position{}, 0, nil)
		require.NoError(t, err, body)
		assert.True(t, page.Last, body)
	}
	request, problems := list.Encode(wire.Query{At: wire.Position{Set: true, Cursor: "/a?b"}})
	require.Empty(t, problems)
	assert.Equal(t, "after=%2Fa%3Fb", request.URL.RawQuery)
}

func TestListDecodeWithoutCursorOfLastRow(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"data":[{"id":"a","meta":{"id":"c-1"}},{"id":"b"}]}`, `{"data":[{"id":"a","meta":{"id":"c-1"}},7]}`, `{"data":[{"id":"a","meta":{"id":null}}]}`,
		`{"data":[{"id":"a","meta":{"id":true}}]}`, `{"data":[{"id":"a","meta":{"id":{}}}]}`, `{"data":[{"id":"a"}],"hasNext":true}`,
	} {
		_, _, err := compileList(t, byLastRow, false).Decode([]byte(body), wire.Position{}, 0, nil)
		require.ErrorIs(t, err, codec.ErrPage, body)
		assert.ErrorContains(t, err, "sms.list.page.next", body)
	}
}

// Each listing by POST has a golden file of its name.
func TestListEncodeByPOST(t *testing.T) {
	t.Parallel()
	q := between()
	q.ID, q.PageSize, q.SortBy, q.Descending = `1 < "2"`, 50, "date", "descending"
	const nested = `"params": {"createdAfter": "filter.created.from", "createdBefore": "filter.created.to", "id": "filter.ids.0", "page": "page.number", "pageSize": "page.size", "sortBy": "sort.0.by", "order": "sort.0.order"}, "constants": {"filter.kinds": ["sms"]}`
	cases := map[string]struct {
		overlay string
		extra   url.Values
		at      wire.Position
	}{
		"json":            {overlay: `{"sms.list": {"method": "POST", "encoding": "json", "time": "unix", ` + nested + `}}`, extra: url.Values{"tag": {"a", "b"}, "a.b": {"c"}}},
		"json-key-query":  {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"method": "POST", "encoding": "json"}}`},
		"json-cursor":     {overlay: `{"sms.list": {"method": "POST", "encoding": "json", "paging": {"by": "cursor"}, "params": {"cursor": "page.after"}}}`, at: wire.Position{Set: true, Cursor: "c-2"}},
		"json-link":       {overlay: `{"sms.list": {"method": "POST", "encoding": "json", "paging": {"by": "cursor"}}}`, at: wire.Position{Set: true, Link: "/next?after=2&apiKey=x"}},
		"form":            {overlay: `{"sms.list": {"method": "POST", "encoding": "form", "paging": {"by": "offset"}, "params": {"offset": "start"}}}`, extra: url.Values{"tag": {"a", "b"}}, at: wire.Position{Rows: 100}},
		"query-of-a-post": {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"method": "POST"}}`},
	}
	for name, tt := range cases {
		c := parse(t, tt.overlay)
		request, problems := codec.CompileList(c, sendURL, pairOf("k", "s")).Encode(q.query(tt.extra, tt.at))
		require.Empty(t, problems, name)
		assert.Equal(t, "POST", request.Method)
		checkGolden(t, "listings", name, "POST "+request.URL.Path+"\n\n"+readable(tt.overlay, codec.ContentType(c.SMSList.Encoding), request))
	}
	checkGoldenFiles(t, "listings", cases)
}

func TestListEncodeByPOSTRefusesTakenNames(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"sms.list": {"method": "POST", "encoding": "json", "params": {"id": "filter.id"}}}`)
	_, problems := codec.CompileList(c, sendURL, pairOf("k", "s")).Encode(wire.Query{
		Extra: url.Values{"filter": {"x"}, "apiKey": {"x"}, "utf8": {"\xff"}, "all": {"a", "\xff"}},
	})
	assert.Equal(t, []string{`Extra["all"]`, `Extra["apiKey"]`, `Extra["filter"]`, `Extra["utf8"]`}, fieldsOf(problems))
}
