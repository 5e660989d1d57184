package messagingtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/webhook"
)

const placeholders = "status=%s&id=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t"

func TestReportDeliveryFillsPlaceholders(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	s, client := NewServer(t), newClient(t)
	s.Advance(48 * time.Hour)
	data := send(t, client, s, `{"from":"ACME & co","to":"+639171234567","text":"Hi","referenceId":"order 17+%","dlrReport":1,`+
		`"dlrCallback":"`+h.URL+`/%i?key=a%2Bb&`+placeholders+`&again=%s%s&bare=%x%"}`).data(t)
	replies := s.ReportDelivery(t.Context(), data["id"], "delivered")
	require.Len(t, replies, 1)
	require.NoError(t, replies[0].Err)
	assert.Equal(t, 200, replies[0].StatusCode)
	report := replies[0].Callback.(DeliveryReport)
	assert.WithinDuration(t, time.Now().Add(48*time.Hour), report.At, time.Minute, "the server's clock")
	assert.Equal(t, DeliveryReport{
		ID: data["id"], ReferenceID: "order 17+%", Status: "delivered", Kind: "sms", From: "ACME & co", To: "+639171234567", At: report.At,
	}, report)
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.Equal(t, "/hook/msg-1?key=a%2Bb&status=delivered&id=msg-1&referenceId=order%2017%2B%25&timestamp="+
		url.QueryEscape(report.At.Format(time.RFC3339Nano))+"&transactionType=sms&from=ACME%20%26%20co&to=%2B639171234567&again=delivereddelivered&bare=%x%",
		h.requests[0].RequestURI)
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	d := DeliveryReport{
		ID: "I", ReferenceID: "R", Status: "S", Kind: "K", From: "F", To: "T",
		At: time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC),
	}
	for _, tt := range []struct{ template, want string }{
		{"", ""},
		{"%s %i %r %d %tr %f %t", "S I R 2026-10-03T14%3A44%3A23.186Z K F T"},
		{"%t%tr%trr%ttr", "TKKrTtr"},
		{"%%s%S%I%F0%41%", "%S%S%I%F0%41%"},
		{"%f0", "F0"}, // what a service does that knows no escapes
	} {
		assert.Equal(t, tt.want, d.fillPlaceholders(tt.template, defaults()), tt.template)
	}
	nothing := DeliveryReport{}
	assert.Equal(t, "a==&b=", nothing.fillPlaceholders("a=%s=%d&b=%tr", defaults()), "an absent value is empty")
	inner := DeliveryReport{Status: "%i", ID: "%s"}
	assert.Equal(t, "%25i%25s", inner.fillPlaceholders("%s%i", defaults()), "no value is a template")
}

func TestLongestPlaceholderCounts(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"webhook.delivery": {"placeholders": {"status": "%t", "kind": "%tr", "to": "%x"}}}`))
	require.NoError(t, err)
	d := DeliveryReport{Status: "S", Kind: "K"}
	assert.Equal(t, "K S", d.fillPlaceholders("%tr %t", table.Of(names)))
}

// A field without a placeholder cannot be in the callback URL, so the service adds it to the query.
func TestReportDeliveryAddsFieldsWithoutPlaceholder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		overlay string
		want    []string // the names of the parameters
	}{
		"the default contract": {`{}`, []string{"key", "status", "messageId", "referenceId", "timestamp", "transactionType", "from", "to"}},
		"some placeholders": {
			`{"webhook.delivery": {"params": {"reference": ["client ref", "ref"]}, "placeholders": {"reference": "", "to": ""}}}`,
			[]string{"key", "status", "messageId", "timestamp", "transactionType", "from", "client ref", "to"},
		},
		"no placeholders": {
			`{"webhook.delivery": {"placeholders": {"status": "", "id": "", "reference": "", "time": "", "kind": "", "from": "", "to": ""}}}`,
			[]string{"key", "status", "messageId", "referenceId", "timestamp", "transactionType", "from", "to"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, err := contract.Parse([]byte(tt.overlay))
			require.NoError(t, err)
			receiver, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithSecret("key", "s3cret of 16+ chars"))
			require.NoError(t, err)
			reports := make(chan webhook.DeliveryReport, 1)
			hook := httptest.NewServer(receiver.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
				reports <- report
				return nil
			}))
			defer hook.Close()
			callbackURL, err := receiver.DeliveryURL(hook.URL + "/hooks/delivery")
			require.NoError(t, err)
			s := NewServer(t, WithContract(names))
			s.Seed(Sent{
				ID: "msg-17", ReferenceID: "order 17", From: "ACME & co", To: "+639171234567", Channel: channelSMS, CallbackURL: callbackURL,
			})

			results := s.ReportDelivery(t.Context(), "msg-17", "delivered")
			require.Equal(t, []int{200}, statuses(results), "%s", results[0].Body)
			report := <-reports
			assert.Equal(t, "msg-17", report.ID)
			assert.Equal(t, "order 17", report.ReferenceID)
			assert.Equal(t, contract.StatusDelivered, report.Status)
			assert.Equal(t, "ACME & co", report.From)
			assert.Equal(t, "+639171234567", report.To)
			assert.Equal(t, channelSMS, report.Kind)
			assert.True(t, report.StatusAt.Equal(results[0].Callback.(DeliveryReport).At), report.RawTime)

			var params []string
			for param := range strings.SplitSeq(results[0].Request.URL.RawQuery, "&") {
				name, _, _ := strings.Cut(param, "=")
				name, err = url.QueryUnescape(name)
				require.NoError(t, err)
				params = append(params, name)
			}
			assert.Equal(t, tt.want, params, "each field comes once")
		})
	}
}

func TestReportDeliveryTakesOptions(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	s := NewServer(t)
	s.Seed(Sent{ID: "m", From: "ACME & co", To: "+639171234567", ReferenceID: "100%", CallbackURL: h.URL + "?from=%f&to=%t&referenceId=%r"})
	replies := s.ReportDelivery(t.Context(), "m", "1", TwiceAtOnce())
	assert.Equal(t, []int{200, 200}, statuses(replies))
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		assert.Equal(t, "/hook?from=ACME%20%26%20co&to=%2B639171234567&referenceId=100%25", r.RequestURI)
	}
}

func TestReportDeliveryRetries(t *testing.T) {
	t.Parallel()
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	s := NewServer(t)
	s.Seed(Sent{ID: "m", CallbackURL: h.URL + "?status=%s&timestamp=%d"})
	assert.Equal(t, []int{502, 200}, statuses(s.ReportDelivery(t.Context(), "m", "777", RetryFailures(1))))
	assert.Equal(t, []string{"777", "777"}, h.came("status"))
	times := h.came("timestamp")
	assert.Equal(t, times[0], times[1])
}

func TestReportDeliveryOnEveryChannel(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryFailed())
	callback := `"dlrReport":1,"dlrCallback":"` + h.URL + `?` + placeholders + `",` + chatFallback
	require.Equal(t, 200, sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], callback)).status)
	require.Equal(t, 200, sendTo(t, client, s, chatApp2, with(sendPaths[chatApp2], callback)).status)
	sent := s.Sent()
	require.Len(t, sent, 3, "with the fallback of the second")
	for _, m := range sent {
		require.Equal(t, []int{200}, statuses(s.ReportDelivery(t.Context(), m.ID, "failed")))
	}
	assert.Equal(t, []string{"chatapp1", "chatapp2", "sms"}, h.came("transactionType"))
	assert.Equal(t, []string{sent[0].ID, sent[1].ID, sent[2].ID}, h.came("id"))
	assert.Equal(t, []string{"order-17", "order-17", "order-17"}, h.came("referenceId"))
	assert.Equal(t, []string{sent[0].From, "", sent[2].From}, h.came("from"))

	after := s.Sent()
	for i := range after {
		after[i].StatusAt = sent[i].StatusAt
	}
	assert.Equal(t, sent, after, "a report changes nothing here")
}

func TestReportDeliveryWithoutCallback(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Seed(
		Sent{ID: "silent", ReferenceID: "r-1"},
		Sent{ID: "relative", CallbackURL: "/hook?status=%s"},
		Sent{ID: "bare percent in its path", CallbackURL: "http://127.0.0.1/100%?status=%s"},
	)
	for id, want := range map[string]error{
		"":                         errNoSuchMessage,
		"unknown":                  errNoSuchMessage,
		"silent":                   errNoCallback,
		"relative":                 errCallbackURL,
		"bare percent in its path": errCallbackURL,
	} {
		replies := s.ReportDelivery(t.Context(), id, "1", TwiceAtOnce())
		require.Len(t, replies, 1, id)
		require.Equal(t, want, replies[0].Err, id)
		assert.Zero(t, replies[0].Attempt)
		report := replies[0].Callback.(DeliveryReport)
		assert.Equal(t, []string{id, "1"}, []string{report.ID, report.Status})
	}
	s.Reset()
	assert.Equal(t, errNoSuchMessage, s.ReportDelivery(t.Context(), "silent", "1")[0].Err)
}
