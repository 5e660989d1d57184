package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	appSecret = "5d41402abc4b2a76b9719d911017c592"

	// forged is what somebody who has seen a signed request adds to it.
	forged = "from=639180000000&message=STOP&messageId=x&id=x&status=delivered&referenceId=r"

	signedMessage  = `{"from":"639171234567","id":"m-1","type":"text","text":{"body":"Hello"}}`
	signedEnvelope = `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{"messages":[` + signedMessage + `]}}]}]}`
	emptyEnvelope  = `{"object":"whatsapp_business_account","entry":[]}`
)

func sign(body string) string {
	mac := hmac.New(sha256.New, []byte(appSecret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// signed returns an option that requires a signature of the body, as the platform of chat app 2 makes it. It takes every method.
func signed() webhook.Option {
	return webhook.WithVerifier(func(r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		if !hmac.Equal([]byte(r.Header.Get("X-Hub-Signature-256")), []byte(sign(string(body)))) {
			return errors.New("wrong signature")
		}
		return nil
	})
}

// never returns a function for events that must not be called.
func never[E any](t *testing.T) func(context.Context, E) error {
	t.Helper()
	return func(_ context.Context, event E) error {
		t.Errorf("an event was handled: %+v", event)
		return nil
	}
}

// postSigned returns a POST whose body is signed, with a query that is not.
func postSigned(query, contentType, body string) *http.Request {
	r := post(query, contentType, body)
	r.Header.Set("X-Hub-Signature-256", sign(body))
	return r
}

// A request that somebody has seen can be sent again with another query, which its signature does not cover.
func TestQueryBesideASignedBody(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"an object without members": "{}", "an empty envelope": emptyEnvelope, "an empty list": "[]",
		"nothing": "", "white space": " \r\n", "a form without an event": "a=b", "a member without a meaning": `{"a":"b"}`,
	} {
		for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded", "text/plain"} {
			for callback, handler := range signedHandlers(t) {
				w := call(t, handler.Handler, postSigned(forged, contentType, body))
				assert.GreaterOrEqual(t, w.Code, 400, "%s, %s, %s", name, contentType, callback)
				require.Len(t, *handler.told, 1)
				require.ErrorIs(t, (*handler.told)[0], webhook.ErrUnreadable, "%s, %s, %s", name, contentType, callback)
			}
		}
	}
}

type signedHandler struct {
	http.Handler

	told *rejections
}

// signedHandlers returns a handler for each callback. It fails the test if one of them gets an event.
func signedHandlers(t *testing.T) map[string]signedHandler {
	t.Helper()
	all := map[string]signedHandler{}
	for name, handlerOf := range map[string]func(*webhook.Receiver) http.Handler{
		"sms":      func(rcv *webhook.Receiver) http.Handler { return rcv.SMS(never[webhook.SMSMessage](t)) },
		"chatapp1": func(rcv *webhook.Receiver) http.Handler { return rcv.ChatApp1(never[webhook.ChatMessage](t)) },
		"chatapp2": func(rcv *webhook.Receiver) http.Handler { return rcv.ChatApp2(never[webhook.ChatMessage](t)) },
		"delivery": func(rcv *webhook.Receiver) http.Handler { return rcv.Delivery(never[webhook.DeliveryReport](t)) },
	} {
		told := new(rejections)
		rcv := hooks(webhook.WithPOST(), signed(), told.option(),
			webhook.WithStatuses(never[webhook.DeliveryReport](t)), webhook.WithOther(never[webhook.Other](t)))
		all[name] = signedHandler{handlerOf(rcv), told}
	}
	return all
}

// The event of the body is handled as if the request had no query.
func TestQueryChangesNoSignedEvent(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), signed())
	payload := "&payload=" + strings.ReplaceAll(signedMessage, "639171234567", "639180000000")
	for _, body := range []string{
		signedMessage, signedEnvelope, `{"from":"639171234567","id":"m-1","message":"Hello"}`, "from=639171234567&id=m-1&message=Hello",
	} {
		for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded"} {
			isForm := strings.HasPrefix(body, "from")
			if isForm && contentType == "application/json" {
				continue
			}
			want, _, err := rcv.ParseChatApp2(postSigned("", contentType, body))
			require.NoError(t, err)
			require.Len(t, want, 1)
			assert.Equal(t, "639171234567", want[0].From)
			assert.False(t, want[0].Ambiguous)

			for _, query := range []string{forged, forged + payload, "a=b", strings.Repeat("a=b&", 1000)} {
				got, _, err := rcv.ParseChatApp2(postSigned(query, contentType, body))
				require.NoError(t, err)
				assert.Equal(t, want, got, query)
			}
		}
	}
}

func TestQueryOfASignedReport(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), signed())
	want := []webhook.DeliveryReport{}
	for _, query := range []string{"", forged} {
		reports, err := rcv.ParseDelivery(postSigned(query, "", `[{"id":"m-1","status":"failed"},{"id":"m-2","status":"read"}]`))
		require.NoError(t, err)
		require.Len(t, reports, 2)
		assert.Equal(t, webhook.StatusFailed, reports[0].Status)
		assert.False(t, reports[0].Ambiguous)
		if query != "" {
			assert.Equal(t, want, reports)
		}
		want = reports
	}

	// DeliveryURL puts the IDs into the query, where a signature of the body does not cover them.
	_, err := rcv.ParseDelivery(postSigned("messageId=m-1&status=delivered", "", `{"status":"delivered"}`))
	require.ErrorIs(t, err, webhook.ErrUnreadable)
	require.ErrorIs(t, err, webhook.ErrNoMessage)
	require.EqualError(t, err, "webhook: delivery: unreadable body, and the query is not read, because a signature of the body does not cover it")
	refusal, _ := errors.AsType[*webhook.RejectError](err)
	assert.Equal(t, http.StatusBadRequest, refusal.Status)
}

// A verifier can read the body of a GET, too, so a signed body does not make a query genuine.
func TestBodyOfAGET(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), signed())
	server := httptest.NewServer(rcv.ChatApp2(never[webhook.ChatMessage](t)))
	defer server.Close()
	for _, body := range []io.Reader{strings.NewReader(signedEnvelope), io.MultiReader(strings.NewReader(signedEnvelope))} { // the second is chunked
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/?"+forged, body)
		require.NoError(t, err)
		r.Header.Set("X-Hub-Signature-256", sign(signedEnvelope))
		w, err := server.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, w.Body.Close())
		assert.Equal(t, http.StatusBadRequest, w.StatusCode)
	}

	r := get(forged)
	r.Body = io.NopCloser(bytes.NewReader([]byte(signedMessage)))
	r.Header.Set("X-Hub-Signature-256", sign(signedMessage))
	for range 2 { // the body is restored
		_, _, err := rcv.ParseChatApp2(r)
		require.ErrorIs(t, err, webhook.ErrUnreadable)
	}
}

// A verifier that covers the URL makes the query of a GET genuine.
func TestVerifiedGET(t *testing.T) {
	t.Parallel()
	verify := webhook.WithVerifier(func(r *http.Request) error {
		if r.Header.Get("X-Signature") != sign(r.URL.RequestURI()) {
			return errors.New("wrong signature")
		}
		return nil
	})
	r := get(honest)
	r.Header.Set("X-Signature", sign(r.URL.RequestURI()))
	m, err := hooks(webhook.WithPOST(), verify).ParseSMS(r)
	require.NoError(t, err)
	assert.Equal(t, "m-1", m.ID)
	assert.Equal(t, honest, m.RawQuery)
}

// The secret of WithSecret is all that a query may add to a body that a verifier accepted.
func TestSecretBesideASignedBody(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), signed(), withKey())
	messages, _, err := rcv.ParseChatApp2(postSigned("key=s3cret-of-16-chars&"+forged, "", signedMessage))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "639171234567", messages[0].From)
	assert.Empty(t, messages[0].RawQuery)
	_, _, err = rcv.ParseChatApp2(postSigned(forged, "", signedMessage))
	require.ErrorIs(t, err, webhook.ErrProof)

	// A query without a parameter of the callback holds no event that could be lost.
	_, _, err = rcv.ParseChatApp2(postSigned("key=s3cret-of-16-chars&tenant=7", "", "{}"))
	require.ErrorIs(t, err, webhook.ErrNoSender)
	require.NotErrorIs(t, err, webhook.ErrUnreadable)
}

// A signature does not cover the Content-Type: it cannot turn JSON, with parameters that a person typed, into a form.
func TestContentTypeOfASignedBody(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"webhook.chatapp2": {"events": ["results"]}}`))
	require.NoError(t, err)
	rcv := hooks(webhook.WithPOST(), signed(), webhook.WithContract(names))
	for _, body := range []string{
		`[{"from":"639171234567","message":"&from=639180000000&message=STOP&"}]`,               // this contract takes no list
		`{"from":"639171234567","message":"the "sale" &from=639180000000&message=STOP&id=x&"}`, // the sender does not escape
	} {
		for _, contentType := range []string{"", "application/json", "text/plain", "application/x-www-form-urlencoded"} {
			messages, _, err := rcv.ParseChatApp2(postSigned("", contentType, body))
			require.ErrorIs(t, err, webhook.ErrUnreadable, contentType)
			assert.Empty(t, messages)
		}
	}
}
