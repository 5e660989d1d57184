package sandbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func TestSearchFinds(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	id := r.sendSMS("ACME", ana, "Your parcel arrives today")
	r.sendSMS("ACME", ana, "Thank you")
	r.sendSMS("SHOP", "+639180001111", "Nothing to see")
	var m Message
	r.api(http.MethodGet, "messages/"+id, "", &m)
	for query, found := range map[string]bool{
		"+63 917 123 4567": true, "0917-123-4567": true, "00639171234567": true, "639171234567": true, "9171234": true, "(0917) 123": true, "(63) 917 123": true, "0918 999": false,
		"today parcel": true, "PARCEL your": true, "parcel missing": false, "0917 parcel": true, "ref-your parcel": true, id: true, m.RequestID: true, "acme": true,
		"+63918": false,
	} {
		page := r.page("?q=" + url.QueryEscape(query))
		assert.Equal(t, found, count(page, "+639171234567</bdi>") > 0 || count(page, "&#43;639171234567</bdi>") > 0, query)
	}
	page := r.page("?q=parcel")
	assert.Equal(t, 1, count(page, "data-thread"))
	contains(t, page, "<mark>parcel</mark>")
	contains(t, page, "message="+id, "it opens at what was found")
	lacks(t, page, "Thank you")
}

// TestPreviewHasNoLink: the row that shows it is a link itself.
func TestPreviewHasNoLink(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []piece{{Text: "see https://a.example.com"}}, newSearch("", "").preview("see https://a.example.com"))
	assert.Equal(t, []piece{{Text: "…"}, {Text: " the end of a long text "}, {Text: "here", Mark: true}}, newSearch("HERE", "").preview("at the end of a long text here"))
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	hook.status = http.StatusInternalServerError
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	r.api(http.MethodPost, "deliveries", `{"to":"+639180000001","outcome":"failed"}`, nil)
	r.api(http.MethodPost, "deliveries", `{"to":"+639180000002","outcome":"unreachable"}`, nil)
	failed, expired := r.sendSMS("ACME", "+639180000001", "fails"), r.sendSMS("ACME", "+639180000002", "expires")
	fine := r.sendSMS("ACME", "+639180000003", "arrives")
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"+639180000003","text":"Yes"}`, nil)
	r.api(http.MethodPost, "clock", `{"advance":"24h"}`, nil)
	r.settled(failed, func(m Message) bool { return m.State == "failed" })
	r.settled(expired, func(m Message) bool { return m.State == "expired" })
	r.settled(fine, func(m Message) bool { return m.State == "delivered" })
	r.api(http.MethodPost, "seen", `{"channel":"sms","to":"+639180000001"}`, nil)
	for is, want := range map[string][]string{
		isFailed: {"+639180000001"}, isExpired: {"+639180000002"}, isHooked: {"+639180000003"}, isUnread: {"+639180000002", "+639180000003"},
	} {
		page := r.page("?is=" + is)
		assert.Equal(t, len(want), count(page, "data-thread"), is)
		for _, number := range want {
			contains(t, page, number, is)
		}
	}
}

func TestTrafficSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	receipt, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Parcel", CallbackURL: r.hook.URL + "/d?s=%s"})
	require.NoError(t, err)
	r.sendSMS("ACME", "+639180001111", "Other")
	var calls struct{ Calls []WebhookCall }
	r.api(http.MethodGet, "calls?wait=30s", "", &calls)
	r.exchange(2)
	for query, want := range map[string]int{"0917 123": 2, "parcel": 2, receipt.ID: 2, "nothing such": 0, "delivered": 1} {
		assert.Equal(t, want, count(r.page("page/traffic?q="+url.QueryEscape(query)), `id="x-`), query)
	}
	page := r.page("page/traffic")
	contains(t, page, "+639171234567")
	contains(t, page, "Parcel")
	contains(t, r.page("page/traffic?exchange=1"), "/_sandbox/?message="+receipt.ID, "a link to the message")
	contains(t, r.page("?message="+receipt.ID), "page/traffic?exchange=1", "and back")
}

// BenchmarkSearch looks through ten thousand messages, beside a plain listing of them.
func BenchmarkSearch(b *testing.B) {
	box, err := New(Config{})
	require.NoError(b, err)
	defer func() { _ = box.Close() }()
	s := box.Sandbox()
	for i := range maxMessages {
		m := messagingtest.Sent{
			ID: fmt.Sprint("m-", i), Channel: channelSMS, From: "ACME", To: fmt.Sprintf("+63917%07d", i/2), Kind: "text",
			Text: fmt.Sprintf("Your parcel %d arrives today between nine and eleven; reply STOP to end", i),
		}
		s.book.add(newEntry(&m, s.table, s.mask))
	}
	for name, query := range map[string]string{"plain": "", "a number": "?q=0917+000+4321", "words": "?q=parcel+missing", "every message": "?q=parcel+today"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.routes.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, Root+query, nil))
			}
		})
	}
}
