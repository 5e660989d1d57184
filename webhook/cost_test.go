package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// What is read is copied, so the memory for a query grows in proportion to its length, no matter what it
// repeats. Reading the rest of the query again for each parameter would take sixteen times as much for four times the length.
func TestCostOfRepeatedParameters(t *testing.T) {
	const secret = "QZ5JEWNTJ4W5SXPJ"
	rcv := hooks(webhook.WithSecret("key", secret), webhook.WithLimits(1<<20, 1<<20))
	cost := func(one string, size int) uint64 {
		r := get("key=" + secret + "&from=1&" + strings.Repeat(one, size/len(one)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := rcv.ParseChatApp2(r)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, one := range []string{
		`payload={"a":1}&`, `payload=[{"a":1}]&`, `payload={"a":1&`, `message={"a":1}&`, `payload={%22a":1,&`, "payload=" + url.QueryEscape(`{"a":1}`) + "&",
		"message=" + url.QueryEscape(`{"type":"text","from":"1","id":"2","text":{"body":"a"}}`) + "&", `a="%22&`,
	} {
		cost(one, 16<<10) // what is made once
		small, large := cost(one, 16<<10), cost(one, 64<<10)
		assert.LessOrEqual(t, large, 6*small, one)
	}
}

// Without a proof, a body costs no more than the memory to read it: it is neither repaired nor parsed.
func TestCostOfBodyWithoutProof(t *testing.T) {
	const size = 1 << 20
	body := "{" + strings.Repeat("\x80", size)
	refuse := webhook.WithVerifier(func(*http.Request) error { return errors.New("no signature") })
	for _, tt := range []struct {
		name  string
		query string
		proof webhook.Option
	}{
		{"a wrong secret in the query", "key=some-other-secret", webhook.WithSecret("key", "QZ5JEWNTJ4W5SXPJ")},
		{"a verifier that refuses", "", refuse},
	} {
		rcv := hooks(webhook.WithPOST(), tt.proof)
		r := post(tt.query, "application/json", body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := rcv.ParseSMS(r)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, webhook.ErrProof)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3*size), tt.name)
	}
}

// An ordinary text message of the platform, from the request to the handler.
func TestPlatformMessageAllocations(t *testing.T) {
	// Not parallel: AllocsPerRun counts the allocations of all goroutines.
	body := []byte(`{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{"messaging_product":"whatsapp",` +
		`"metadata":{"display_phone_number":"15550783881","phone_number_id":"106540352242922"},` +
		`"contacts":[{"profile":{"name":"Ana"},"wa_id":"16505551234"}],"messages":[{"from":"16505551234",` +
		`"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=","timestamp":"1749416383","type":"text",` +
		`"text":{"body":"Does it come in another color?"}}]},"field":"messages"}]}]}`)
	h := hooks(webhook.WithPOST()).ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		sink = m.PlainText()
		return nil
	})
	r, w := post("", "application/json", ""), &discard{header: http.Header{}}
	reader := bytes.NewReader(nil)
	kept := io.NopCloser(reader)
	r.ContentLength = int64(len(body))
	allocations := testing.AllocsPerRun(100, func() {
		reader.Reset(body)
		r.Body = kept
		h.ServeHTTP(w, r)
	})
	assert.Equal(t, "Does it come in another color?", sink)
	assert.LessOrEqual(t, allocations, 45*costOfDetector)
}

// What comes behind the last parameter that counts is not read at all.
func TestReadingStopsAtTheLimitOfParameters(t *testing.T) {
	rcv := hooks(webhook.WithLimits(256, 64<<10))
	allocations := func(size int) float64 {
		r := get(strings.Repeat("payload="+url.QueryEscape(`{"a":1}`)+"&", size))
		return testing.AllocsPerRun(20, func() {
			_, _, err := rcv.ParseChatApp2(r)
			require.ErrorIs(t, err, webhook.ErrTooLong)
		})
	}
	assert.InDelta(t, allocations(257), allocations(2000), 1)
	assert.Equal(t, http.StatusRequestURITooLong, call(t, rcv.ChatApp2(ignore), get(strings.Repeat("a=b&", 2000))).Code)
}

// What the events of a body share is decoded once. Otherwise a body of a few megabytes would take gigabytes.
func TestCostOfSharedValues(t *testing.T) {
	const count = 1000
	long := strings.Repeat("9", 1<<20)
	many := strings.TrimSuffix(strings.Repeat(`"name":0,`, 120_000), ",")
	message := strings.TrimSuffix(strings.Repeat(`{"from":"1","id":"N"},`, count), ",")
	anonymous := strings.TrimSuffix(strings.Repeat(`{"id":"N"},`, count), ",")
	status := strings.TrimSuffix(strings.Repeat(`{"id":"N","status":"sent","recipient_id":"1"},`, count), ",")
	change := strings.TrimSuffix(strings.Repeat(`{"field":"x","value":1},`, count), ",")
	choice := strings.TrimSuffix(strings.Repeat(`{"wa_id":"1","value":"stop"},`, count), ",")
	rcv := hooks(
		webhook.WithPOST(),
		webhook.WithStatuses(ignore[webhook.DeliveryReport]),
		webhook.WithOther(ignore[webhook.Other]),
		webhook.WithPreferences(ignore[webhook.Preference]),
	)
	h := rcv.ChatApp2(ignore[webhook.ChatMessage])
	for name, body := range map[string]string{
		"a name":                          `{"contacts":[{"profile":{"name":"` + long + `"}}],"messages":[` + message + `]}`,
		"a username":                      `{"contacts":[{"profile":{"username":"` + long + `"}}],"messages":[` + message + `]}`,
		"a profile of many members":       `{"contacts":[{"profile":{` + many + `}}],"messages":[` + message + `]}`,
		"a contact of many members":       `{"contacts":[{` + many + `}],"messages":[` + message + `]}`,
		"a user ID":                       `{"contacts":[{"user_id":"` + long + `"}],"messages":[` + message + `]}`,
		"a sender":                        `{"contacts":[{"wa_id":" ` + long + `"}],"messages":[` + anonymous + `]}`,
		"the number of the business":      `{"metadata":{"display_phone_number":" ` + long + `"},"messages":[` + message + `]}`,
		"the number of many statuses":     `{"metadata":{"display_phone_number":" ` + long + `"},"statuses":[` + status + `]}`,
		"an ID around messages":           `{"id":"` + long + `","messages":[` + strings.ReplaceAll(message, "N", "77777777") + `]}`,
		"the ID of an entry":              `{"entry":[{"id":"` + long + `","changes":[` + change + `]}]}`,
		"the time of an entry":            `{"entry":[{"time":` + long + `,"changes":[` + change + `]}]}`,
		"an entry of many members":        `{"entry":[{` + many + `,"changes":[` + change + `]}]}`,
		"the number of preferences":       `{"field":"x","value":{"metadata":{"display_phone_number":" ` + long + `"},"user_preferences":[` + choice + `]}}`,
		"the user ID of preferences":      `{"field":"x","value":{"contacts":[{"user_id":"` + long + `"}],"user_preferences":[` + choice + `]}}`,
		"many members around preferences": `{"field":"x","value":{` + many + `,"user_preferences":[` + choice + `]}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		assert.Equal(t, http.StatusOK, call(t, h, post("", "application/json", body)).Code, name)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(30*len(body)), name)
	}
}

// A stranger can announce a long body, and then send nothing.
func TestCostOfAnnouncedBody(t *testing.T) {
	const secret = "QZ5JEWNTJ4W5SXPJ"
	rcv := hooks(webhook.WithPOST(), webhook.WithSecret("key", secret))
	for _, query := range []string{"key=some-other-secret", ""} {
		r := post(query, "application/json", "")
		r.ContentLength = 3 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := rcv.ParseSMS(r)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, webhook.ErrProof, query)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<10), query)
	}
}

// Without a verifier, a wrong secret in the query suffices to refuse a request.
func TestBodyBehindWrongSecretIsNotRead(t *testing.T) {
	rcv := hooks(webhook.WithPOST(), withKey())
	body := strings.NewReader("from=1111")
	r := post("key=some-other-secret", "", "")
	r.Body = io.NopCloser(body)
	assert.Equal(t, http.StatusForbidden, call(t, rcv.SMS(ignore), r).Code)
	assert.Equal(t, 9, body.Len())
}
