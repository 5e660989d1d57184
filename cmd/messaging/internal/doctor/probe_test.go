package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// doctorOf returns a doctor that is about to examine a fake by an overlay.
func doctorOf(t *testing.T, f *fake, overlay string) *doctor {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s := settings{
		baseURL: server.URL, token: "secret-token-1", rate: 1000, timeout: 10 * time.Second, console: cli.Console{Out: io.Discard, Err: io.Discard},
		names: parseContract(t, overlay), overlay: []byte(overlay),
	}
	d, err := s.newDoctor()
	require.NoError(t, err)
	return d
}

func TestKnownNames(t *testing.T) {
	t.Parallel()
	f := offsetFake()
	f.seed()
	d := doctorOf(t, f, f.truth)
	names := []string{"msisdn", "made_up", "dateFrom", "filter[to]"}
	assert.Equal(t, names, d.known(t.Context(), names), "before it is known that others are refused")
	d.examineStrictness(t.Context())
	assert.True(t, d.isStrict)
	assert.Equal(t, []string{"msisdn", "dateFrom"}, d.known(t.Context(), names))

	f = offsetFake()
	f.isStrict = false
	f.seed()
	d = doctorOf(t, f, f.truth)
	d.examineStrictness(t.Context())
	assert.False(t, d.isStrict)
	assert.Equal(t, names, d.known(t.Context(), names), "a service that ignores what it does not know tells nothing")
}

func TestProposeText(t *testing.T) {
	t.Parallel()
	for text, word := range map[string]string{
		"0: Accepted for delivery\n":      "0: Accepted for delivery",
		"Success \"0703-ab\"":             "Success*",
		"Request is received":             "Request is received",
		"OK: 17 [x]\nsecond line":         "OK:*",
		"<html>busy":                      "",
		"":                                "",
		"0703":                            "",
		"Sent to 639171230045 now":        "",
		"ACME":                            "", // what was sent
		"queued":                          "", // the contract has it
		"a" + strings.Repeat(" word", 60): "",
	} {
		d := doctorOf(t, offsetFake(), `{}`)
		d.section, d.sensitive["ACME"] = "send", true
		d.sent.call.x = &exchange{}
		d.sent.call.x.body.WriteString(text)
		d.proposeText()
		if word == "" {
			assert.Empty(t, d.report.Checks, text)
			continue
		}
		require.Len(t, d.report.Checks, 1, text)
		send := d.table.SMSSend
		assert.Equal(t, [][]string{{}, {""}, {word}}, [][]string{send.Response["id"], send.Response["status"], send.Accepted}, text)
	}
}

// TestFindReference sends to a service that takes the reference under another name than the contract's, and ignores what it does not know.
func TestFindReference(t *testing.T) {
	t.Parallel()
	for taken, want := range map[string]string{"client_ref": `"sms.send": {"fields": {"reference": "client_ref"}}`, "none": ""} {
		t.Run(taken, func(t *testing.T) {
			t.Parallel()
			f := offsetFake()
			f.seed()
			sends := 0
			f.read = func(_ http.ResponseWriter, r *http.Request) (m fakeMessage, ok bool) {
				sends++
				assert.NoError(t, r.ParseForm())
				return fakeMessage{
					from: r.PostForm.Get("senderName"), to: r.PostForm.Get("msisdn")[1:], text: r.PostForm.Get("body"), ref: r.PostForm.Get(taken),
				}, true
			}
			server := httptest.NewServer(f)
			t.Cleanup(server.Close)
			r := newRig(t, server.URL, "secret-token-1")
			r.overlayFile(strings.Replace(f.truth, `"reference": "externalId"}`, `"reference": "wrongRef"}`, 1))
			c := r.check(r.report("-send", "+639170000001", "-from", "ACME", "-yes", "-wait", "30s"), "send", "field reference")
			assert.Equal(t, Differs, c.Result)
			assert.Equal(t, want, c.Overlay)
			if want == "" {
				assert.Contains(t, c.Detail, "nothing can be settled")
			}
			assert.LessOrEqual(t, sends, 3, "a message costs money")
		})
	}
}
