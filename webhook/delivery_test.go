package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// report has a query handled as a delivery report.
func report(t testing.TB, query string, options ...webhook.Option) webhook.DeliveryReport {
	t.Helper()
	rcv := hooks(options...)
	var in inbox[webhook.DeliveryReport]
	require.Equal(t, http.StatusOK, call(t, rcv.Delivery(in.handle), get(query)).Code, query)
	d := in.one(t)
	parsed, err := rcv.ParseDelivery(get(query))
	require.NoError(t, err)
	assert.Equal(t, []webhook.DeliveryReport{d}, parsed)
	return d
}

func TestDeliveryReport(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "_"} {
		query := strings.ReplaceAll("^status=DELIVRD&^id=m-1&^referenceId=r-1&^timestamp=1791038663&^transactionType=sms&^from=ACME&^to=+639171234567&x=7", "^", prefix)
		assert.Equal(t, webhook.DeliveryReport{
			ID: "m-1", ReferenceID: "r-1", From: "ACME", To: "+639171234567", Kind: "sms", Status: webhook.StatusDelivered, RawStatus: "DELIVRD",
			StatusAt: at(), RawTime: "1791038663", Params: report(t, query).Params, RawQuery: query,
		}, report(t, query))
		assert.Equal(t, "7", report(t, query).Params.Get("x"))
	}
}

// A function that stores reports in PostgreSQL, which refuses a zero byte, would fail each time that the service calls again.
func TestDeliveryWithoutZeroBytes(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	const zero = `m\u0000`
	status := func(id, other string) string {
		return `{"id":"` + id + `","recipient_id":"` + other + `","status":"` + other + `","biz_opaque_callback_data":"` + other +
			`","errors":[{"code":"` + other + `"}]}`
	}
	for name, tt := range map[string]struct {
		query, body string
		want        string // ID, ReferenceID, From, To, RawStatus and ErrorCode, or "" for a refusal
	}{
		"ID in the query":       {query: "id=m%00&status=sent"},
		"ID, with a reference":  {query: "id=m%00&referenceId=r-1&from=ACME&to=1111&status=sent", want: "/r-1/ACME/1111/sent/"},
		"all but an ID":         {query: "id=m-1&referenceId=%00r&from=A%00&to=1%00&status=s%00", want: "m-1/////"},
		"ID in JSON":            {body: `{"id":"m\u0000","status":"sent"}`},
		"reference in JSON":     {body: `{"id":"m-1","referenceId":"r\u0000","status":"sent"}`, want: "m-1////sent/"},
		"ID of a status":        {body: status(zero, "1111")},
		"all but an ID in JSON": {body: `{"statuses":[` + status("m-1", zero) + `]}`, want: "m-1/////"},
		"ID in an envelope":     {body: envelopeIn("messages", `{"statuses":[`+status(zero, zero)+`]}`)},
	} {
		r := get(tt.query)
		if tt.body != "" {
			r = post("", "", tt.body)
		}
		reports, err := rcv.ParseDelivery(r)
		if tt.want == "" {
			assert.Empty(t, reports, name)
			var rejected *webhook.RejectError
			require.ErrorAs(t, err, &rejected, name)
			assert.Equal(t, http.StatusBadRequest, rejected.Status, name)
			continue
		}
		require.NoError(t, err, name)
		require.Len(t, reports, 1, name)
		d := reports[0]
		assert.Equal(t, tt.want, strings.Join([]string{d.ID, d.ReferenceID, d.From, d.To, d.RawStatus, d.ErrorCode}, "/"), name)
	}
}

func TestDeliveryReasonAndPrice(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	sent := messagingtest.DeliveryReport{
		ID: "m-1", Status: "failed", ErrorCode: "E17", ErrorText: "Absent subscriber", Cost: "0.00720", Currency: "EUR", Category: "utility",
		Extra: url.Values{"billable": {"true"}},
	}
	for _, options := range [][]messagingtest.CallOption{nil, {messagingtest.AsForm()}, {messagingtest.AsJSON()}} {
		reports, err := rcv.ParseDelivery(messagingtest.NewRequest("/hook", sent, options...))
		require.NoError(t, err)
		require.Len(t, reports, 1)
		d := reports[0]
		assert.Equal(t, "E17 Absent subscriber 0.00720 EUR utility", strings.Join([]string{d.ErrorCode, d.ErrorText, d.Cost, d.Currency, d.Category}, " "))
		assert.True(t, d.Billable)
		stores(t, d)
	}
	nested, err := rcv.ParseDelivery(post("", "", `{"messageId":"m-1","status":"failed","error":{"code":42,"message":"Blocked"}}`))
	require.NoError(t, err)
	assert.Equal(t, "42 Blocked", nested[0].ErrorCode+" "+nested[0].ErrorText)
	for status, want := range map[string]string{
		`"errors":[{"code":131049,"title":"T","message":"M","error_data":{"details":"D"}},{"code":1}]`:                       "131049 D  false",
		`"errors":[{"code":131049,"title":"T","message":"M"}]`:                                                               "131049 M  false",
		`"errors":[{"code":131049,"title":"T"}]`:                                                                             "131049 T  false",
		`"errors":[7]`:                                                                                                       "   false",
		`"pricing":{"billable":true,"pricing_model":"CBP","category":"service"}`:                                             "  service true",
		`"pricing":{"billable":true,"pricing_model":"PMP","type":"free_customer_service","category":"utility"}`:              "  utility false",
		`"pricing":{"pricing_model":"PMP","type":"regular","category":"marketing"}`:                                          "  marketing true",
		`"conversation":{"id":"c","origin":{"type":"marketing_lite"}}`:                                                       "  marketing_lite false",
		`"conversation":{"id":"c","origin":{"type":"service"}},"pricing":{"billable":false,"type":"x","category":"utility"}`: "  utility false",
	} {
		reports, err := rcv.ParseDelivery(post("", "", `{"id":"1","status":"failed","recipient_id":"2",`+status+`}`))
		require.NoError(t, err, status)
		d := reports[0]
		assert.Equal(t, want, fmt.Sprint(d.ErrorCode, " ", d.ErrorText, " ", d.Category, " ", d.Billable), status)
	}
}

func TestDeliveryAmbiguous(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"id=1&status=sent": false, "id=1&status=sent&dlrStatus=failed": true, "id=1&status=sent&_id=2": true, "id=1&status=sent&_status=sent": false,
		"id=1&referenceId=a&_referenceId=b": true, "id=1&to=1&_to=2": true, "id=1&status=%25s&_status=sent": false,
		"id=1&status=sent&dlrStatus=SENT": false, "id=1&status=1&dlrStatus=delivered": false, "id=1&status=777&_status=778": true,
		"id=1&status=null&_status=sent": false, "id=1&status=sent&_status=-": false,
	} {
		d := report(t, query)
		assert.Equal(t, want, d.Ambiguous, query)
		assert.Equal(t, "1", d.ID)
	}
}

func TestDeliveryStatus(t *testing.T) {
	t.Parallel()
	statuses := map[webhook.Status][]string{
		contract.StatusPlayed: {"played"}, contract.StatusDeleted: {"deleted"},
		webhook.StatusUnknown: {"0", "2", "777", "-1", "01", "1.0", "delivered!", "unknown", strings.Repeat("x", 1000)},
	}
	for status, words := range table.Of(contract.Default()).WebhookDelivery.Statuses {
		statuses[webhook.Status(status)] = words
	}
	for _, status := range []webhook.Status{
		contract.StatusQueued, webhook.StatusSent, webhook.StatusDelivered, webhook.StatusRead, contract.StatusPlayed, webhook.StatusFailed,
		contract.StatusExpired, contract.StatusRejected, contract.StatusDeleted,
	} {
		assert.Contains(t, statuses, status)
	}
	assert.Len(t, statuses, 10, "a status of the contract that has no constant")
	for want, words := range statuses {
		require.NotEmpty(t, words)
		for _, word := range words {
			for _, form := range []string{word, strings.ToUpper(word), " " + word + "\n"} {
				d := report(t, "id=1&status="+url.QueryEscape(form))
				assert.Equal(t, want, d.Status, form)
				assert.Equal(t, form, d.RawStatus)
			}
		}
	}
	d := report(t, "id=1")
	assert.Equal(t, webhook.StatusUnknown, d.Status)
	assert.Empty(t, d.RawStatus)
	var zero webhook.Status
	assert.Equal(t, webhook.StatusUnknown, zero)

	wire := overlay(t, `{"webhook.delivery": {"statuses": {"failed": ["2", "Größe"], "delivered": ["0"]}}}`)
	assert.Equal(t, webhook.StatusFailed, report(t, "id=1&status=gr%C3%96%C3%9Fe", wire).Status)
	assert.Equal(t, webhook.StatusDelivered, report(t, "id=1&status=0", wire).Status)
	assert.Equal(t, webhook.StatusUnknown, report(t, "id=1&status=1", wire).Status, "a list replaces the default's")
}

func TestStatusText(t *testing.T) {
	t.Parallel()
	for status, want := range map[webhook.Status]string{
		webhook.StatusUnknown: "unknown", webhook.StatusDelivered: "delivered", contract.StatusPlayed: "played", "a new word": "a new word",
	} {
		assert.Equal(t, want, fmt.Sprint(status))
		text, err := json.Marshal(status)
		require.NoError(t, err)
		assert.Equal(t, `"`+want+`"`, string(text))
		var back webhook.Status
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, status, back)
	}
}

func TestDeliveryEnvelope(t *testing.T) {
	t.Parallel()
	const status = `{"id":"wamid.1","status":"read","timestamp":"1791038663","recipient_id":"15550002222","biz_opaque_callback_data":"order-17",` +
		`"conversation":{"id":"c","origin":{"type":"service"}},"pricing":{"billable":true,"pricing_model":"CBP","category":"service"}}`
	const failed = `{"id":"wamid.2","status":"failed","timestamp":"1791038663","recipient_user_id":"US.1","errors":[{"code":131047,"title":"Re-engagement message"}]}`
	value := `{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550001111","phone_number_id":"1"},` +
		`"contacts":[{"profile":{"name":"Test"},"wa_id":"15550002222"}],"statuses":[` + status + `,` + failed + `]}`
	rcv := hooks(webhook.WithPOST())
	for _, r := range []*http.Request{
		post("", "application/json", envelopeOf(value)), post("", "", value), get("payload=" + url.QueryEscape(envelopeOf(value))),
	} {
		reports, err := rcv.ParseDelivery(r)
		require.NoError(t, err)
		require.Len(t, reports, 2)
		assert.Equal(t, webhook.DeliveryReport{
			ID: "wamid.1", ReferenceID: "order-17", From: "15550001111", To: "15550002222", Status: webhook.StatusRead, RawStatus: "read", StatusAt: at(), RawTime: "1791038663",
			Category: "service", Billable: true, JSON: json.RawMessage(status), Params: reports[0].Params, RawQuery: r.URL.RawQuery,
		}, reports[0])
		assert.Equal(t, "US.1", reports[1].To)
		assert.Equal(t, webhook.StatusFailed, reports[1].Status)
		assert.Equal(t, "131047 Re-engagement message", reports[1].ErrorCode+" "+reports[1].ErrorText)
		assert.JSONEq(t, failed, string(reports[1].JSON))
	}
	alone, err := rcv.ParseDelivery(post("referenceId=order-18", "", status))
	require.NoError(t, err)
	require.Len(t, alone, 1)
	assert.Equal(t, "wamid.1 15550002222 order-18 read", fmt.Sprint(alone[0].ID, " ", alone[0].To, " ", alone[0].ReferenceID, " ", alone[0].Status))
	assert.False(t, alone[0].Ambiguous)
	other, err := rcv.ParseDelivery(post("id=1&status=failed", "", envelopeOf(value)))
	require.NoError(t, err)
	assert.Equal(t, "wamid.1", other[0].ID)
	assert.True(t, other[0].Ambiguous, "the callback URL names another message")
	for word, want := range map[string]webhook.Status{"sent": webhook.StatusSent, "delivered": webhook.StatusDelivered, "played": contract.StatusPlayed, "deleted": contract.StatusDeleted, "warning": webhook.StatusUnknown} {
		reports, err := rcv.ParseDelivery(post("", "", `{"statuses":[{"id":"1","status":"`+word+`"}]}`))
		require.NoError(t, err)
		assert.Equal(t, want, reports[0].Status)
		assert.Equal(t, word, reports[0].RawStatus)
	}
}

// A service may repeat the text of the message in its report. The text is no report.
func TestDeliveryJSONBesideParams(t *testing.T) {
	t.Parallel()
	for payload, ambiguous := range map[string]bool{
		`{"id":"99","status":"read","recipient_id":"1"}`:                       true,
		`{"id":"33","status":"read","recipient_id":"1"}`:                       true,
		`{"id":"33","status":"SENT","recipient_id":"1"}`:                       false,
		`{"statuses":[{"id":"1","status":"read"},{"id":"2","status":"read"}]}`: true,
		`{"messages":[{"id":"99"}]}`:                                           false,
		`{"statuses":[7]}`:                                                     false,
		`{"a":1}`:                                                              false,
	} {
		for _, name := range []string{"message", "payload"} {
			d := report(t, "id=33&status=sent&"+name+"="+url.QueryEscape(payload))
			assert.Equal(t, "33 sent", fmt.Sprint(d.ID, " ", d.Status))
			assert.Equal(t, ambiguous, d.Ambiguous, payload)
		}
		assert.Equal(t, "r", report(t, "referenceId=r&status=sent&message="+url.QueryEscape(payload)).ReferenceID)
	}
	d := report(t, "id=33&payload="+url.QueryEscape(`{"id":"33","status":"read","recipient_id":"1"}`))
	assert.Equal(t, webhook.StatusRead, d.Status, "the JSON has what the parameters lack")
	d = report(t, "id=33&payload="+url.QueryEscape(`{"id":"34","status":"read","recipient_id":"1"}`))
	assert.Equal(t, "33", d.ID)
	assert.True(t, d.Ambiguous)
}

func TestDeliveryEnvelopeUnreadable(t *testing.T) {
	t.Parallel()
	const ok = `{"id":"1","status":"sent"}`
	for name, tt := range map[string]struct {
		body   string
		reason error
		status int
		got    int
	}{
		"messages":                   {envelopeOf(`{"messages":[` + textMessage("a", "1") + `]}`), webhook.ErrUnhandled, 400, 0},
		"messages next to statuses":  {envelopeOf(`{"messages":[`+textMessage("a", "1")+`]}`, `{"statuses":[`+ok+`]}`), webhook.ErrUnhandled, 400, 1},
		"one that names nothing":     {envelopeOf(`{"statuses":[{"status":"sent"},` + ok + `]}`), webhook.ErrNoMessage, 400, 1},
		"one that is no object":      {envelopeOf(`{"statuses":["sent",` + ok + `]}`), webhook.ErrNoMessage, 400, 1},
		"one with a placeholder":     {envelopeOf(`{"statuses":[{"id":"null","status":"sent"}]}`), webhook.ErrNoMessage, 400, 0},
		"no status":                  {envelopeOf(`{"statuses":[]}`), webhook.ErrUnhandled, 200, 0},
		"too many":                   {`{"statuses":[` + ok + strings.Repeat(","+ok, 1000) + `]}`, webhook.ErrTooLarge, 413, 0},
		"a message by itself is one": {`{"id":"1","type":"text","from":"1111","text":{"body":"a"}}`, nil, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rcv := hooks(webhook.WithPOST())
			var in inbox[webhook.DeliveryReport]
			assert.Equal(t, tt.status, call(t, rcv.Delivery(in.handle), post("", "", tt.body)).Code)
			assert.Len(t, in.got, tt.got)
			_, err := rcv.ParseDelivery(post("", "", tt.body))
			assert.ErrorIs(t, err, tt.reason)
		})
	}
}

// Each status is an event of its own: of several recipients in a group, too.
func TestDeliveryEnvelopeHandlesEach(t *testing.T) {
	t.Parallel()
	body := envelopeOf(`{"statuses":[{"id":"1","status":"read","recipient_id":"group","recipient_participant_id":"a"},{"id":"1","status":"read","recipient_id":"group","recipient_participant_id":"b"}]}`)
	in := inbox[webhook.DeliveryReport]{err: errors.New("not yet")}
	h := hooks(webhook.WithPOST(), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour))).Delivery(in.handle)
	assert.Equal(t, 500, call(t, h, post("", "", body)).Code)
	in = inbox[webhook.DeliveryReport]{}
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Equal(t, 200, call(t, h, post("", "", body)).Code)
	assert.Len(t, in.got, 2)
}

func TestDeliveryNeedsAnIDOrAReference(t *testing.T) {
	t.Parallel()
	assert.Empty(t, report(t, "id=1").ReferenceID)
	assert.Empty(t, report(t, "reference_id=1").ID)
	for _, query := range []string{"status=1", "id=&referenceId=+", "id=null&referenceId=undefined", "id=0&referenceId=-", "id=%i&referenceId=%r&status=%s", "id=%25i&status=1&from=1&to=2", ""} {
		w := call(t, hooks().Delivery(ignore), get(query))
		assert.Equal(t, http.StatusBadRequest, w.Code, query)
		_, err := hooks().ParseDelivery(get(query))
		require.ErrorIs(t, err, webhook.ErrNoMessage, query)
	}
}

// A service that does not know a placeholder leaves it as it is: all reports would have one ID.
func TestDeliveryPlaceholdersNotFilledIn(t *testing.T) {
	t.Parallel()
	d := report(t, "id=m-1&referenceId=%r&status=%s&timestamp=%d&transactionType=%tr&from=%f&to=%t")
	assert.Equal(t, webhook.DeliveryReport{ID: "m-1", Params: d.Params, RawQuery: d.RawQuery}, d)
	assert.Equal(t, "%r", d.Params.Get("referenceId"))
	wire := overlay(t, `{"webhook.delivery": {"placeholders": {"reference": "{ref}", "status": ""}}}`)
	d = report(t, "id=m-1&referenceId={ref}&status=%s&transactionType=%r", wire)
	assert.Empty(t, d.ReferenceID)
	assert.Equal(t, "%s", d.RawStatus)
	assert.Equal(t, "%r", d.Kind)
}

func TestDeliveryURL(t *testing.T) {
	t.Parallel()
	const all = "status=%s&messageId=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t"
	secret := webhook.WithSecret("key", "a+b/c &d-of-16-chars", "old-one-of-16-chars")
	for _, tt := range []struct {
		name, base string
		opts       []webhook.Option
		want       string
	}{
		{"plain", "https://example.com/dlr", nil, "https://example.com/dlr?" + all},
		{"no path", "http://example.com", nil, "http://example.com?" + all},
		{"repeated slashes", "https://example.com//hooks///dlr//?a=//b", nil, "https://example.com/hooks/dlr/?a=//b&" + all},
		{"a port", "HTTPS://example.com:8443/", nil, "HTTPS://example.com:8443/?" + all},
		{"an address", "https://[2001:db8::1]:8443/x", nil, "https://[2001:db8::1]:8443/x?" + all},
		{"credentials", "https://user:pass@example.com/x", nil, "https://user:pass@example.com/x?" + all},
		{"a query", "https://example.com/dlr?a=%20b", nil, "https://example.com/dlr?a=%20b&" + all},
		{"an open query", "https://example.com/dlr?", nil, "https://example.com/dlr?" + all},
		{"a query that is a question mark", "https://example.com/dlr??", nil, "https://example.com/dlr??&" + all},
		{"an open parameter", "https://example.com/dlr?a=b&", nil, "https://example.com/dlr?a=b&" + all},
		{"what is no escape", "https://example.com/%tr/%zz?x=%s", nil, "https://example.com/%tr/%zz?x=%s&" + all},
		{"a secret", "https://example.com/dlr", []webhook.Option{secret}, "https://example.com/dlr?key=a%2Bb%2Fc+%26d-of-16-chars&" + all},
		{"two secrets", "https://example.com/dlr?a=b", []webhook.Option{secret, webhook.WithSecret("k 2", "x-of-16-characters")}, "https://example.com/dlr?a=b&key=a%2Bb%2Fc+%26d-of-16-chars&k+2=x-of-16-characters&" + all},
		{"a secret in the path", "https://example.com/{key}/dlr?x={key}", []webhook.Option{webhook.WithPathSecret("key", "a/b c-of-16-chars")}, "https://example.com/a%2Fb%20c-of-16-chars/dlr?x={key}&" + all},
		{"a secret in the path, in its place already", "https://example.com/abc-of-16-characters/dlr", []webhook.Option{webhook.WithPathSecret("key", "abc-of-16-characters")}, "https://example.com/abc-of-16-characters/dlr?" + all},
		{"facts that are there", "https://example.com/dlr?dlrStatus=%s&_id=order&%66rom=x", nil, "https://example.com/dlr?dlrStatus=%s&_id=order&%66rom=x&referenceId=%r&timestamp=%d&transactionType=%tr&to=%t"},
		{
			"another contract", "https://example.com/dlr",
			[]webhook.Option{overlay(t, `{"webhook.delivery": {"params": {"id": ["message id", "id"], "from": []}, "placeholders": {"id": "{{id}}", "status": "", "kind": "<type>"}}}`)},
			"https://example.com/dlr?message+id={{id}}&referenceId=%r&timestamp=%d&transactionType=<type>&to=%t",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := hooks(tt.opts...).DeliveryURL(tt.base)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestDeliveryURLErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		base string
		opts []webhook.Option
	}{
		"nothing":                {"", nil},
		"a path":                 {"/hooks/hunter2", nil},
		"no host":                {"https:///hunter2", nil},
		"no host but a port":     {"https://:80/hunter2", nil},
		"no host but a user":     {"https://hunter2@/x", nil},
		"a host with braces":     {"https://{host}/hunter2", nil},
		"a host with a %":        {"https://%41/hunter2", nil},
		"a port in words":        {"https://example.com:https/hunter2", nil},
		"half an address":        {"https://[::1/hunter2", nil},
		"another scheme":         {"ftp://example.com/hunter2", nil},
		"no scheme":              {"example.com/hunter2", nil},
		"a fragment":             {"https://example.com/hunter2#x", nil},
		"white space":            {"https://example.com/ hunter2", nil},
		"a line break":           {"https://example.com/hunter2\r\nx", nil},
		"a NUL":                  {"https://example.com/hunter2\x00", nil},
		"not UTF-8":              {"https://example.com/hunter2\xff", nil},
		"the secret is there":    {"https://example.com/x?k%65y=hunter2", []webhook.Option{withKey()}},
		"nothing identifies":     {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"id": "", "reference": ""}}}`)}},
		"nothing is identified":  {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"params": {"id": [], "reference": []}}}`)}},
		"a placeholder with &":   {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"id": "a&b"}}}`)}},
		"a placeholder in words": {"https://example.com/hunter2", []webhook.Option{overlay(t, `{"webhook.delivery": {"placeholders": {"kind": "the kind"}}}`)}},
	} {
		got, err := hooks(tt.opts...).DeliveryURL(tt.base)
		require.Error(t, err, name)
		assert.Empty(t, got, name)
		assert.NotContains(t, err.Error(), "hunter2", name)
		assert.NotContains(t, err.Error(), "s3cret-of-16-chars", name)
	}
}

// Such a service adds what it reports by itself.
func TestDeliveryURLWithoutPlaceholders(t *testing.T) {
	t.Parallel()
	none := overlay(t, `{"webhook.delivery": {"placeholders": {"status": "", "id": "", "reference": "", "time": "", "kind": "", "from": "", "to": ""}}}`)
	for base, want := range map[string]string{
		"https://example.com/{place}/dlr":      "https://example.com/p-of-16-characters/dlr",
		"https://example.com/{place}/dlr?":     "https://example.com/p-of-16-characters/dlr?",
		"https://example.com/{place}/dlr?a=b&": "https://example.com/p-of-16-characters/dlr?a=b&",
	} {
		got, err := hooks(none, webhook.WithPathSecret("place", "p-of-16-characters")).DeliveryURL(base)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	got, err := hooks(none, withKey()).DeliveryURL("https://example.com/dlr")
	require.NoError(t, err)
	assert.Equal(t, "https://example.com/dlr?key=s3cret-of-16-chars", got)
}

// What a service makes of the URL is what the handler takes.
func TestDeliveryURLFilledIn(t *testing.T) {
	t.Parallel()
	opts := []webhook.Option{webhook.WithSecret("key", "a+b/c &d=-of-16-chars"), webhook.WithPathSecret("place", "p/q r-of-16-chars")}
	callback, err := hooks(opts...).DeliveryURL("https://example.com/hooks/{place}/dlr")
	require.NoError(t, err)
	filled := strings.NewReplacer("%tr", "sms", "%s", "DELIVRD", "%i", "m-1", "%r", "order+17", "%d", "2026-10-03+14:44:23", "%f", "ACME", "%t", "+639171234567").Replace(callback)
	u, err := url.Parse(filled)
	require.NoError(t, err)
	var in inbox[webhook.DeliveryReport]
	mux := http.NewServeMux()
	mux.Handle("/hooks/{place}/dlr", hooks(opts...).Delivery(in.handle))
	r := get(u.RawQuery)
	r.URL = u
	require.Equal(t, http.StatusOK, call(t, mux, r).Code)
	d := in.one(t)
	assert.Equal(t, []any{"m-1", "order 17", "+639171234567", webhook.StatusDelivered}, []any{d.ID, d.ReferenceID, d.To, d.Status})
	assert.True(t, at().Equal(d.StatusAt))
	assert.NotContains(t, d.RawQuery, "key=")
}

// A payment or a call that failed is no message that was not delivered.
func TestStatusOfSomethingElse(t *testing.T) {
	t.Parallel()
	status := func(kind string) string {
		return `{"id":"wamid.1","status":"failed","timestamp":"1791038663","recipient_id":"15550002222","recipient_user_id":"US.1","type":"` + kind + `"}`
	}
	for _, body := range []func(string) string{func(one string) string { return one }, func(one string) string { return envelopeOf(`{"statuses":[` + one + `]}`) }} {
		for kind, want := range map[string]webhook.Status{
			"": webhook.StatusFailed, "message": webhook.StatusFailed, "payment": webhook.StatusUnknown, "call": webhook.StatusUnknown, "x": webhook.StatusUnknown,
		} {
			reports, err := hooks(webhook.WithPOST()).ParseDelivery(post("", "application/json", body(status(kind))))
			require.NoError(t, err)
			require.Len(t, reports, 1)
			d := reports[0]
			assert.Equal(t, want, d.Status, kind)
			assert.Equal(t, []string{kind, "failed", "15550002222", "US.1"}, []string{d.Kind, d.RawStatus, d.To, d.UserID})
		}
	}
}

var slashes = regexp.MustCompile(`/+`)

// FuzzDeliveryURL: a URL is refused without being told, or stays as it is apart from repeated slashes, with its parameters behind it.
func FuzzDeliveryURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/dlr", "http://example.com?a=b", "https://example.com/%tr?x=%s&", "https://[::1]:80", "https://u:p@h/?status=1", "https://h/{p}", "ftp://h", "https://#", "https://h\n", "", "https://h?id&key", "http://0??", "http://h/?&", "http://h/#a", "http://h:99999", "http://h//a//?b=//c",
	} {
		f.Add(seed, "s3cret-of-16-chars")
	}
	f.Add("https://example.com", "a+b/%=&? \xff")
	f.Fuzz(func(t *testing.T, base, secret string) {
		opt := webhook.WithSecret("key", secret+"-of-16-characters")
		got, err := hooks(opt).DeliveryURL(base)
		if err != nil {
			require.Empty(t, got)
			return
		}
		path, query, hasQuery := strings.Cut(base, "?")
		scheme, rest, _ := strings.Cut(path, "://")
		want := scheme + "://" + slashes.ReplaceAllString(rest, "/")
		if hasQuery {
			want += "?" + query
		}
		require.True(t, strings.HasPrefix(got, want))
		require.NotContains(t, got, "#")
		_, query, _ = strings.Cut(got, "?")
		r := get(strings.NewReplacer("%i", "m-1", "%r", "r-1").Replace(query))
		d, err := hooks(opt, webhook.WithLimits(1<<20, 1<<30)).ParseDelivery(r)
		require.NoError(t, err, got)
		require.NotEmpty(t, d[0].ID+d[0].ReferenceID)
	})
}
