package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// state returns the state of the only message with a reference ID.
func (c *conversation) state(reference string) rivertype.JobState {
	records, err := c.bot.outbox.Get(c.t.Context(), reference)
	if err != nil || len(records) != 1 {
		return ""
	}
	return records[0].State
}

func TestAmbiguousReportCompletesNothing(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	sent := c.reply()
	isDiscarded := func() bool { return c.state(sent.ReferenceID) == rivertype.JobStateDiscarded }
	require.Eventually(t, isDiscarded, time.Minute, 20*time.Millisecond)
	report := messagingtest.DeliveryReport{ReferenceID: sent.ReferenceID, To: person, Status: "delivered"}
	target := c.server.URL + "/hooks/delivery?key=" + demoSecret + "&to=639181234567"
	for _, result := range c.service.CallWebhook(t.Context(), target, report) {
		require.Equal(t, http.StatusOK, result.StatusCode)
	}
	assert.Equal(t, rivertype.JobStateDiscarded, c.state(sent.ReferenceID))
}

// A report that a message failed may be late, or too early.
func TestNoTemplateAfterADelivery(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	target := c.server.URL + "/hooks/delivery?key=" + demoSecret
	delivered := messagingtest.DeliveryReport{ID: menu.ID, Status: "delivered"}
	results := c.service.CallWebhook(t.Context(), target, delivered, messagingtest.RetryFailures(1000))
	require.Equal(t, http.StatusOK, results[len(results)-1].StatusCode)
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ID: menu.ID}, ""))
	assert.Equal(t, []string{menu.ReferenceID}, c.references())
}

// The platform reports to the URL for messages, with the message ID alone.
func TestTemplateAfterAStatusOfThePlatform(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	id, err := json.Marshal(menu.ID)
	require.NoError(t, err)
	status := messagingtest.InboundChatApp{Channel: "chatapp2", JSON: fmt.Sprintf(
		`{"id":%s,"status":"failed","timestamp":"%d","recipient_id":%q,"errors":[{"code":%s}]}`, id, time.Now().Unix(), person, windowClosed)}
	target := c.server.URL + "/hooks/chatapp2?key=" + demoSecret
	results := c.service.CallWebhook(t.Context(), target, status, messagingtest.RetryFailures(1000))
	require.Equal(t, http.StatusOK, results[len(results)-1].StatusCode)
	assert.Equal(t, "template", c.reply().Kind)
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ID: menu.ID, ReferenceID: menu.ReferenceID}, ""))
	assert.Len(t, c.references(), 2, "one template, although both reported it")
}

// A STOP that arrives late is confirmed outside the window. The confirmation is not worth a template.
func TestNoTemplateForAConfirmation(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.service.SetWindow(time.Nanosecond)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "STOP"})
	var reference string
	isRefused := func() bool {
		all := c.references()
		if len(all) == 0 {
			return false
		}
		reference = all[0]
		return c.state(reference) == rivertype.JobStateCancelled
	}
	require.Eventually(t, isRefused, time.Minute, 20*time.Millisecond)
	require.True(t, strings.HasPrefix(reference, prefixConfirmation))
	time.Sleep(time.Second) // OnOutcome takes half a second
	assert.Equal(t, []int{http.StatusOK}, c.reportTooLate(messagingtest.DeliveryReport{ReferenceID: reference}, ""))
	assert.Equal(t, []string{reference}, c.references())
}

// The service need not call again for hours because of a reply that waits, and not for a report that would change nothing.
func TestEarlyReport(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	require.NoError(t, c.bot.outbox.Stop(t.Context()))
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"}) // it has no ID as long as the outbox stands still
	for _, tt := range []struct {
		status string
		age    time.Duration
		want   int
	}{
		{"delivered", time.Minute, http.StatusServiceUnavailable},
		{"delivered", 2 * time.Hour, http.StatusOK},
		{"sent", time.Minute, http.StatusOK},
	} {
		report := messagingtest.DeliveryReport{ID: "another", Status: tt.status, At: time.Now().Add(-tt.age)}
		results := c.service.CallWebhook(t.Context(), c.server.URL+"/hooks/delivery?key="+demoSecret, report)
		require.Len(t, results, 1)
		assert.Equal(t, tt.want, results[0].StatusCode, tt)
	}
	_, err := c.bot.db.ExecContext(t.Context(), "UPDATE bot_reply SET asked = $1", time.Now().Add(-25*time.Hour).Unix())
	require.NoError(t, err)
	report := messagingtest.DeliveryReport{ID: "another", Status: "delivered"}
	results := c.service.CallWebhook(t.Context(), c.server.URL+"/hooks/delivery?key="+demoSecret, report)
	require.Len(t, results, 1)
	assert.Equal(t, http.StatusOK, results[0].StatusCode, "a person has resolved the reply")
	require.NoError(t, c.bot.outbox.Start(t.Context()))
}

// A status that PostgreSQL refuses does not keep others of its batch from being handled.
func TestStatusWithAZeroByteBlocksNoOther(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	c.write(messagingtest.InboundChatApp{ID: "in-1", From: person, Text: "hi"})
	menu := c.reply()
	isNoted := func() bool { return c.column("COALESCE(message_id, '')", menu.ReferenceID) == menu.ID }
	require.Eventually(t, isNoted, time.Minute, 20*time.Millisecond)
	id, err := json.Marshal(menu.ID)
	require.NoError(t, err)
	batch := messagingtest.InboundChatApp{Channel: "chatapp2", JSON: fmt.Sprintf(
		`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","statuses":[
		{"id":"bad\u0000","status":"delivered","timestamp":"%[2]d","recipient_id":%[3]q},
		{"id":%[1]s,"status":"delivered","timestamp":"%[2]d","recipient_id":%[3]q}]}}]}]}`, id, time.Now().Unix(), person)}
	c.service.CallWebhook(t.Context(), c.server.URL+"/hooks/chatapp2?key="+demoSecret, batch)
	assert.Equal(t, "delivered", c.column("status", menu.ReferenceID))
}

// column returns a column of the reply with a reference ID.
func (c *conversation) column(column, reference string) (value string) {
	c.t.Helper()
	query := "SELECT " + column + " FROM bot_reply WHERE reference = $1"
	require.NoError(c.t, c.bot.db.QueryRowContext(c.t.Context(), query, reference).Scan(&value))
	return value
}

func TestServerShowsNothingOfAnUnknownPath(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/hooks/sms", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	handler := newServer(mux).Handler
	for path, want := range map[string]int{"/hooks/sms": 200, "/hooks//sms": 404, "/hooks/../hooks/sms": 404, "/": 404, "/other": 404} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path+"?key=hunter2", nil))
		assert.Equal(t, want, w.Code, path)
		assert.Empty(t, w.Body.String(), path)
		assert.Empty(t, w.Header().Get("Location"), path)
	}
}
