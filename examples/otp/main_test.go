package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

func serveTest(t *testing.T) (*messagingtest.Server, *otp, string) {
	t.Helper()
	service := messagingtest.NewServer(t)
	o, target := serveFor(t, service.URL, service.Token)
	return service, o, target
}

// serveFor serves codes that go to the service at a URL.
func serveFor(t *testing.T, serviceURL, token string, options ...messaging.Option) (o *otp, target string) {
	t.Helper()
	client, err := messaging.NewClient(serviceURL, append(options, messaging.WithToken(token))...)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(nil)
	o, err = newOTP(client, "http://"+server.Listener.Addr().String())
	require.NoError(t, err)
	server.Config.Handler = o
	server.Start()
	t.Cleanup(server.Close)
	return o, server.URL + "/codes"
}

func post(ctx context.Context, target, to string) (int, error) {
	return postForm(ctx, target, url.Values{"to": {to}})
}

func postForm(ctx context.Context, target string, form url.Values) (int, error) {
	status, _, err := postAndRead(ctx, target, form)
	return status, err
}

// postAndRead posts a form, with the ID of a new request if it has none, and returns the status and the body of the response.
func postAndRead(ctx context.Context, target string, form url.Values) (status int, body string, err error) {
	if !form.Has("request") {
		form.Set("request", rand.Text())
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// TestServe runs the program for an account in the environment, and uses it as the page does.
func TestServe(t *testing.T) {
	service := messagingtest.NewServer(t)
	t.Setenv("MESSAGING_BASE_URL", service.URL)
	t.Setenv("MESSAGING_TOKEN", service.Token)
	t.Setenv("OTP_ADDRESS", "127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := serve(ctx, writer)
		served <- err
		_ = writer.CloseWithError(err)
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	home := strings.TrimPrefix(strings.TrimSpace(line), "otp: open ")

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, home, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	shown, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Contains(t, string(shown), "Send a code")
	for _, path := range []string{`"codes"`, `"codes/status"`, `"codes/verify"`} {
		assert.Contains(t, string(shown), path)
	}

	status, challenge, err := postAndRead(ctx, home+"codes", url.Values{"to": {"+639171234567"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, status)
	message, err := service.WaitFor(ctx, "+639171234567")
	require.NoError(t, err)
	results := service.ReportDelivery(ctx, message.ID, "delivered")
	require.Len(t, results, 1)
	assert.Equal(t, http.StatusOK, results[0].StatusCode, "without OTP_URL the service calls the address")
	_, shownStatus, err := postAndRead(ctx, home+"codes/status", url.Values{"challenge": {challenge}})
	require.NoError(t, err)
	assert.Equal(t, "delivered\n", shownStatus)
	status, err = postForm(ctx, home+"codes/verify", url.Values{"challenge": {challenge}, "code": {message.Code()}})
	require.NoError(t, err)
	assert.Equal(t, http.StatusNoContent, status)

	stop()
	assert.NoError(t, <-served)
}

func TestUsage(t *testing.T) {
	t.Setenv("MESSAGING_BASE_URL", "")
	require.EqualError(t, run(t.Context(), []string{"server"}), "usage: otp [serve]")
	require.ErrorContains(t, run(t.Context(), []string{"serve"}), "MESSAGING_BASE_URL")
	t.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
	t.Setenv("MESSAGING_TOKEN", "token")
	t.Setenv("OTP_URL", "")
	require.ErrorContains(t, run(t.Context(), []string{"serve"}), "OTP_URL is not set", "no service elsewhere can call a loopback address")
}

// OTP_URL may end with a slash.
func TestCallbackURL(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	require.NoError(t, err)
	for _, base := range []string{"https://login.example.com", "https://login.example.com/"} {
		o, err := newOTP(client, base)
		require.NoError(t, err)
		assert.Contains(t, o.callback, "https://login.example.com/hooks/delivery?", base)
	}
}

// logged has an otp log to the buffer that it returns, which must not be read before the requests have ended.
func logged(o *otp) *bytes.Buffer {
	records := new(bytes.Buffer)
	o.logger = slog.New(slog.NewTextHandler(records, nil))
	return records
}

// Why a code did not go out is in the log, without the number and the code, even if the service repeats them.
func TestFailureIsLogged(t *testing.T) {
	t.Parallel()
	repeating := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusPaymentRequired)
		_ = json.NewEncoder(w).Encode(map[string]string{"code": "9", "message": "rejected: " + string(body)})
	}))
	t.Cleanup(repeating.Close)
	o, target := serveFor(t, repeating.URL, "token")
	records := logged(o)
	status, err := post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	text := records.String()
	for _, operation := range []string{"chatapp2.send", "sms.send"} {
		assert.Contains(t, text, "level=ERROR")
		assert.Contains(t, text, "error.operation="+operation)
	}
	assert.NotContains(t, text, "9171234567")
	callback, err := url.Parse(o.callback)
	require.NoError(t, err)
	assert.NotContains(t, text, callback.Query().Get("key"), "the secret of the callback URL")
	for _, sent := range o.codes.byChallenge {
		assert.NotContains(t, text, sent.digits)
	}
}

// A code that arrives after it has expired would only confuse.
func TestChatMessageExpiresWithItsCode(t *testing.T) {
	t.Parallel()
	service, _, target := serveTest(t)
	_, _ = sentCode(t, service, target)
	ttl := service.Sent()[0].TTL
	assert.Positive(t, ttl)
	assert.LessOrEqual(t, callTimeout+ttl, validFor)
}

// The right code proves that the person has the number to which it was sent, and no other.
func TestLogInHasTheNumberOfTheCode(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	numbers := make(chan string, 1)
	o.logIn = func(_ http.ResponseWriter, number string) { numbers <- number }
	challenge, digits := sentCode(t, service, target)
	form := url.Values{"challenge": {challenge}, "code": {digits}, "to": {"+639181234567"}, "number": {"+639181234567"}}
	_, err := postForm(t.Context(), target+"/verify", form)
	require.NoError(t, err)
	assert.Equal(t, "+639171234567", <-numbers)
}

// sendSlowly asks for a code, and returns its message before the response of the service comes. The channel gets the status of the page's request.
func sendSlowly(t *testing.T, service *messagingtest.Server, target string, delay time.Duration) (message messagingtest.Sent, done <-chan int) {
	t.Helper()
	service.Inject(messagingtest.FaultSlow(delay), 1)
	statuses := make(chan int, 1)
	go func() {
		status, _ := post(t.Context(), target, "+639171234567")
		statuses <- status
	}()
	message, err := service.WaitFor(t.Context(), "+639171234567")
	require.NoError(t, err)
	return message, statuses
}

func TestReportBeforeSendReturns(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	message, done := sendSlowly(t, service, target, 2*time.Second)
	assert.Equal(t, webhook.StatusUnknown, statusOf(o, message.ReferenceID))
	service.ReportDelivery(t.Context(), message.ID, "read")
	assert.Equal(t, webhook.StatusRead, statusOf(o, message.ReferenceID))
	assert.Equal(t, http.StatusAccepted, <-done)
	assert.Equal(t, webhook.StatusRead, statusOf(o, message.ReferenceID), "the result of Send is older than the report")
}

// If the outcome is unknown, the code may arrive: no other message goes out, and a delivery report says more.
func TestCodeWithAnUnknownOutcomeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	const number = "+639171234567"
	for _, channel := range []string{"chatapp2", "sms"} {
		service, o, target := serveTest(t)
		service.SetFault("chatapp2", number, messagingtest.FaultCode("131026"))
		service.SetFault(channel, number, messagingtest.FaultAcceptThenDrop())
		challenge, digits := sentCode(t, service, target)
		shown := func() string {
			_, text, err := postAndRead(t.Context(), target+"/status", url.Values{"challenge": {challenge}})
			require.NoError(t, err)
			return strings.TrimSpace(text)
		}
		assert.Equal(t, "unknown", shown(), channel)
		sent := service.Sent()[0]
		assert.Equal(t, channel, sent.Channel)
		service.ReportDelivery(t.Context(), sent.ID, "failed")
		assert.Equal(t, webhook.StatusFailed, statusOf(o, sent.ReferenceID))
		assert.Equal(t, "failed", shown(), channel)
		service.ReportDelivery(t.Context(), sent.ID, "delivered")
		assert.Equal(t, "delivered", shown(), "the report of a failure came too early")
		assert.Len(t, service.Sent(), 1, channel)
		assert.Equal(t, http.StatusNoContent, enter(t, target, challenge, digits), channel)
	}
}

func TestCallerWhoHangsUpDoesNotEndTheSend(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	service.Inject(messagingtest.FaultSlow(500*time.Millisecond), 1)
	ctx, hangUp := context.WithCancel(t.Context())
	go func() { _, _ = post(ctx, target, "+639171234567") }()
	message, err := service.WaitFor(t.Context(), "+639171234567")
	require.NoError(t, err)
	hangUp()
	assert.Eventually(t, func() bool { return statusOf(o, message.ReferenceID) == webhook.StatusSent }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, 1, service.Requests())
}

func TestRefusedCodeIsNotSent(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	service.Inject(messagingtest.FaultCode("1"), 2) // over chat app 2, and by SMS
	status, err := post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Empty(t, service.Sent())
	assert.Equal(t, statusNotSent, statusOf(o, reference(o)))
}

func TestCodeFallsBackToSMSAtOnceIfTheChatMessageDidNotGoOut(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]messagingtest.Fault{
		"no credit":                      messagingtest.FaultStatus(http.StatusPaymentRequired, 0),
		"the number has no chat app":     messagingtest.FaultCode("131026"),
		"the person stopped marketing":   messagingtest.FaultCode("131050"),
		"no more marketing at this time": messagingtest.FaultCode("131049"),
	} {
		service, o, target := serveTest(t)
		service.Inject(fault, 1)
		challenge, digits := sentCode(t, service, target)
		sent := service.Sent()
		require.Len(t, sent, 1, name)
		assert.Equal(t, "sms", sent[0].Channel, name)
		assert.Equal(t, webhook.StatusSent, statusOf(o, sent[0].ReferenceID), name)
		assert.Equal(t, http.StatusNoContent, enter(t, target, challenge, digits), name)
	}
}

// With an open circuit breaker, chat messages provably do not go out.
func TestCodesGoBySMSWhileChatApp2IsDown(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/chatapp2/") {
			r = r.WithContext(messagingtest.ContextWithFault(r.Context(), messagingtest.FaultStatus(http.StatusServiceUnavailable, 0)))
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	_, target := serveFor(t, front.URL, service.Token)
	for i := range 16 { // until the circuit breaker of chat app 2 opens
		_, err := post(t.Context(), target, fmt.Sprintf("+6391712345%02d", i))
		require.NoError(t, err)
	}
	before := len(service.Sent())
	began := time.Now()
	for i := range 5 {
		_, err := post(t.Context(), target, fmt.Sprintf("+6391812345%02d", i))
		require.NoError(t, err)
	}
	assert.GreaterOrEqual(t, len(service.Sent())-before, 3, "a code may be the probe of the breaker")
	assert.Less(t, time.Since(began), 5*time.Second, "no code waits until it may be the probe")
}

func reference(o *otp) string {
	o.codes.mu.Lock()
	defer o.codes.mu.Unlock()
	for _, sent := range o.codes.byChallenge {
		return sent.reference
	}
	return ""
}

// statusOf returns the status of the code whose last message has a reference ID.
func statusOf(o *otp, reference string) webhook.Status {
	o.codes.mu.Lock()
	defer o.codes.mu.Unlock()
	for _, sent := range o.codes.byChallenge {
		if sent.reference == reference {
			return sent.status
		}
	}
	return "no code"
}

// sentCode sends a code and returns its challenge and its digits.
func sentCode(t *testing.T, service *messagingtest.Server, target string) (challenge, digits string) {
	t.Helper()
	status, challenge, err := postAndRead(t.Context(), target, url.Values{"to": {"+639171234567"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, status)
	message, err := service.WaitFor(t.Context(), "+639171234567")
	require.NoError(t, err)
	assert.NotContains(t, message.ReferenceID, challenge, "the service and its logs do not know it")
	return challenge, message.Code()
}

// enter enters a code on the page of a challenge, and returns the status of the response.
func enter(t *testing.T, target, challenge, digits string) int {
	t.Helper()
	status, err := postForm(t.Context(), target+"/verify", url.Values{"challenge": {challenge}, "code": {digits}})
	require.NoError(t, err)
	return status
}

func TestVerify(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	challenge, digits := sentCode(t, service, target)
	assert.Equal(t, http.StatusForbidden, enter(t, target, challenge, "no code"))
	assert.Equal(t, http.StatusGone, enter(t, target, "another", digits), "an unknown challenge")
	assert.Equal(t, http.StatusGone, enter(t, target, reference(o), digits), "a reference ID is no challenge")
	assert.Equal(t, http.StatusNoContent, enter(t, target, challenge, digits))
	assert.Equal(t, http.StatusGone, enter(t, target, challenge, digits), "a code is valid once")
	gone, err := postForm(t.Context(), target+"/status", url.Values{"challenge": {challenge}})
	require.NoError(t, err)
	assert.Equal(t, http.StatusGone, gone, "the page need not wait for it")

	challenge, digits = sentCode(t, service, target)
	for range maxTries {
		assert.Equal(t, http.StatusForbidden, enter(t, target, challenge, "no code"))
	}
	assert.Equal(t, http.StatusGone, enter(t, target, challenge, digits), "after too many tries")

	challenge, digits = sentCode(t, service, target)
	o.codes.mu.Lock()
	o.codes.now = func() time.Time { return time.Now().Add(validFor) }
	o.codes.mu.Unlock()
	assert.Equal(t, http.StatusGone, enter(t, target, challenge, digits), "after five minutes")
}

// A stranger who knows the number gets a challenge of his own, even while a code is pending, and cannot use up the tries of another.
func TestStrangerCannotUseUpTheTries(t *testing.T) {
	t.Parallel()
	service, _, target := serveTest(t)
	service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	challenge, digits := sentCode(t, service, target)
	strange, strangeDigits := sentCode(t, service, target)
	require.NotEqual(t, challenge, strange)
	for range maxTries {
		assert.NotEqual(t, http.StatusNoContent, enter(t, target, strange, digits), "the code is of another challenge")
	}
	assert.Equal(t, http.StatusGone, enter(t, target, strange, strangeDigits))
	assert.Equal(t, http.StatusNoContent, enter(t, target, challenge, digits))
}

// Strangers can neither flood a number with codes nor get more tries by asking for more codes.
func TestThreeCodesForANumber(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	service.SetFault("sms", "+639171234567", messagingtest.FaultCode("1"))
	service.SetFault("chatapp2", "+639171234567", messagingtest.FaultCode("1"))
	for range maxCodes + 1 { // codes that did not go out do not count
		status, err := post(t.Context(), target, "+639171234567")
		require.NoError(t, err)
		assert.Equal(t, http.StatusUnprocessableEntity, status)
	}
	service.ClearFaults()
	for i := range maxCodes + 1 {
		status, err := post(t.Context(), target, "+639171234567")
		require.NoError(t, err)
		if i < maxCodes {
			assert.Equal(t, http.StatusAccepted, status)
		} else {
			assert.Equal(t, http.StatusTooManyRequests, status)
		}
	}
	assert.Len(t, service.Sent(), maxCodes)
	status, err := post(t.Context(), target, "+639181234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status, "another number")
	o.codes.mu.Lock()
	o.codes.now = func() time.Time { return time.Now().Add(validFor) }
	o.codes.mu.Unlock()
	status, err = post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status, "after five minutes")
	o.codes.mu.Lock()
	defer o.codes.mu.Unlock()
	assert.Len(t, o.codes.byChallenge, 1, "expired codes are forgotten")
}

// A code that does not go out costs nothing, but strangers must not have the service asked about a number without end.
func TestTenAttemptsForANumber(t *testing.T) {
	t.Parallel()
	service, _, target := serveTest(t)
	service.SetFault("sms", "+639171234567", messagingtest.FaultCode("1"))
	service.SetFault("chatapp2", "+639171234567", messagingtest.FaultCode("1"))
	for i := range maxAttempts + 2 {
		status, err := post(t.Context(), target, "+639171234567")
		require.NoError(t, err)
		if i < maxAttempts {
			assert.Equal(t, http.StatusUnprocessableEntity, status)
		} else {
			assert.Equal(t, http.StatusTooManyRequests, status)
		}
	}
	assert.Equal(t, 2*maxAttempts, service.Requests())
}

// A report that a code failed may be wrong, and the code costs. It counts, and the same request sends no other.
func TestCodesThatAreReportedAsFailedCount(t *testing.T) {
	t.Parallel()
	service, _, target := serveTest(t)
	for i := range maxCodes + 1 {
		form := url.Values{"to": {"+639171234567"}, "request": {fmt.Sprintf("request-of-a-page-%024d", min(i, 1))}}
		status, _, err := postAndRead(t.Context(), target, form)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, status)
		for _, message := range service.Sent() {
			service.ReportDelivery(t.Context(), message.ID, "failed")
		}
	}
	assert.Len(t, service.Sent(), 2, "a message for each request")
}

func TestReportWithoutAReferenceIDIsIgnored(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	_, _ = sentCode(t, service, target)
	sent := service.Sent()[0]
	callback, err := url.Parse(o.callback)
	require.NoError(t, err)
	callback.RawQuery = url.Values{"key": {callback.Query().Get("key")}}.Encode()
	results := service.CallWebhook(t.Context(), callback.String(), messagingtest.DeliveryReport{ID: sent.ID, Status: "failed"})
	require.Len(t, results, 1)
	assert.Equal(t, http.StatusOK, results[0].StatusCode, "calling again would not help")
	assert.Equal(t, webhook.StatusSent, statusOf(o, sent.ReferenceID))
}

// An ambiguous report may have been written by the recipient of another message.
func TestAmbiguousReportChangesNothing(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	_, _ = sentCode(t, service, target)
	sent := service.Sent()[0]
	for _, status := range []string{"failed", "delivered"} {
		report := messagingtest.DeliveryReport{
			Status: status, ID: sent.ID, ReferenceID: sent.ReferenceID, Extra: url.Values{"status": {"sent"}},
		}
		for _, result := range service.CallWebhook(t.Context(), sent.CallbackURL, report) {
			require.NoError(t, result.Err)
			assert.Equal(t, http.StatusOK, result.StatusCode)
		}
	}
	assert.Equal(t, webhook.StatusSent, statusOf(o, sent.ReferenceID))
}

// A response that refuses the chat message, but names it, does not prove that it did not go out.
func TestContradictoryResponseIsNoRefusal(t *testing.T) {
	t.Parallel()
	classes, err := contract.Parse([]byte(`{"errors": {"classes": {"unreachable": ["7001"], "duplicate": ["7003"]}}}`))
	require.NoError(t, err)
	for name, response := range map[string]messagingtest.Fault{
		"unreachable":           messagingtest.FaultStatusAfter(http.StatusBadRequest, `{"id": "m-1", "code": 131026}`),
		"accepted, but refused": messagingtest.FaultStatusAfter(http.StatusOK, `{"id": "m-1", "code": 7001}`),
		"the person opted out":  messagingtest.FaultStatusAfter(http.StatusBadRequest, `{"id": "m-1", "code": 131050}`),
		"accepted, but opt-out": messagingtest.FaultStatusAfter(http.StatusOK, `{"id": "m-1", "code": 131050}`),
		"duplicate":             messagingtest.FaultStatusAfter(http.StatusBadRequest, `{"code": 7003}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t, messagingtest.WithContract(classes))
			o, target := serveFor(t, service.URL, service.Token, messaging.WithContract(classes))
			service.Inject(response, 1)
			challenge, digits := sentCode(t, service, target) // the page waits for it
			assert.Equal(t, 1, service.Requests(), "no SMS was tried")
			assert.Equal(t, webhook.StatusUnknown, statusOf(o, service.Sent()[0].ReferenceID))
			assert.Equal(t, http.StatusNoContent, enter(t, target, challenge, digits))
		})
	}
}

// The service may report that it refused the chat message, whose code goes out by SMS.
func TestReportOfTheRefusedChatMessageDoesNotCount(t *testing.T) {
	t.Parallel()
	_, o, _ := serveTest(t)
	sent, _, err := o.codes.add("+639171234567", rand.Text())
	require.NoError(t, err)
	report := webhook.DeliveryReport{ReferenceID: sent.reference, Status: webhook.StatusFailed}
	require.NoError(t, o.report(t.Context(), report))
	assert.Equal(t, webhook.StatusFailed, statusOf(o, sent.reference))
	text := o.codes.beginSMS(sent.challenge)
	require.NoError(t, o.report(t.Context(), report))
	assert.Equal(t, webhook.StatusUnknown, statusOf(o, text))
}

// Reports can arrive out of order.
func TestFailedReportAfterADeliveryChangesNothing(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	_, _ = sentCode(t, service, target)
	sent := service.Sent()[0]
	for _, status := range []string{"delivered", "failed"} {
		service.ReportDelivery(t.Context(), sent.ID, status)
	}
	assert.Equal(t, webhook.StatusDelivered, statusOf(o, sent.ReferenceID))
}

// A page whose response was lost repeats its request, and gets the challenge of the code that went out.
func TestRepeatedRequestSendsOneCode(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	form := url.Values{"to": {"+639171234567"}, "request": {rand.Text()}}
	challenges := make(chan string, 5)
	var pages sync.WaitGroup
	for range cap(challenges) {
		pages.Go(func() {
			status, challenge, err := postAndRead(t.Context(), target, form)
			assert.NoError(t, err)
			assert.Equal(t, http.StatusAccepted, status)
			challenges <- challenge
		})
	}
	pages.Wait()
	require.Len(t, service.Sent(), 1)
	challenge := <-challenges
	for range cap(challenges) - 1 {
		assert.Equal(t, challenge, <-challenges)
	}
	status, text, err := postAndRead(t.Context(), target+"/status", url.Values{"challenge": {challenge}})
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "sent", strings.TrimSpace(text))
	number, err := o.codes.use(challenge, service.Sent()[0].Code())
	require.NoError(t, err)
	assert.Equal(t, "+639171234567", number)

	for _, request := range []string{"", "short", strings.Repeat("a", 65), rand.Text() + "\x00"} {
		form.Set("request", request)
		status, _, err = postAndRead(t.Context(), target, form)
		require.NoError(t, err)
		assert.Equal(t, http.StatusBadRequest, status)
	}
}

// A code whose outcome is unknown may be on its way: the page repeats its request, because a second code would make the first one wrong.
func TestNoSecondCodeWhileTheFirstIsPending(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	form := url.Values{"request": {rand.Text()}}
	ask := func(to string) string {
		form.Set("to", to)
		service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		status, challenge, err := postAndRead(t.Context(), target, form)
		service.ClearFaults()
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, status)
		return challenge
	}
	const number = "+639171234567"
	first := ask(number)
	require.Len(t, service.Sent(), 1)
	digits := service.Sent()[0].Code()
	ask("+639181234567")
	assert.Len(t, service.Sent(), 2, "of another number")
	assert.Equal(t, first, ask(number))
	assert.Equal(t, http.StatusNoContent, enter(t, target, first, digits))
	assert.Equal(t, first, ask(number))
	require.Len(t, service.Sent(), 2)

	form.Set("request", rand.Text())
	assert.NotEqual(t, first, ask(number))
	assert.Len(t, service.Sent(), 3, "the page asked for another one")
	o.codes.mu.Lock()
	o.codes.now = func() time.Time { return time.Now().Add(validFor) }
	o.codes.mu.Unlock()
	ask(number)
	assert.Len(t, service.Sent(), 4, "the code has expired")
}

func TestResponseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	classes, err := contract.Parse([]byte(`{"errors": {"classes": {"unreachable": ["7001"], "optedOut": ["7002"]}}}`))
	require.NoError(t, err)
	invalid := messagingtest.FaultStatus(http.StatusBadRequest, 0)
	unauthorized := messagingtest.FaultStatus(http.StatusUnauthorized, 0)
	noCredit := messagingtest.FaultStatus(http.StatusPaymentRequired, 0)
	notFound := messagingtest.FaultStatus(http.StatusNotFound, 0)
	throttled := messagingtest.FaultStatus(http.StatusTooManyRequests, 0)
	throttledLong := messagingtest.FaultStatus(http.StatusTooManyRequests, time.Minute)
	unreachable := messagingtest.FaultCode("7001")
	optedOut := messagingtest.FaultCode("7002")
	for _, tt := range []struct {
		name       string
		chat, sms  messagingtest.Fault
		status     int
		retryAfter string
	}{
		{"invalid", invalid, invalid, http.StatusUnprocessableEntity, ""},
		{"no credit", noCredit, noCredit, http.StatusServiceUnavailable, "10"},
		{"wrong credentials", unauthorized, unauthorized, http.StatusServiceUnavailable, "10"},
		{"throttled", throttled, throttled, http.StatusServiceUnavailable, "10"},
		{"not found", notFound, notFound, http.StatusBadGateway, ""},
		{"unreachable", unreachable, unreachable, http.StatusUnprocessableEntity, ""},
		{"unreachable, then not found", unreachable, notFound, http.StatusBadGateway, ""},
		{"not found, then unreachable", notFound, unreachable, http.StatusUnprocessableEntity, ""},
		{"opted out", optedOut, optedOut, http.StatusUnprocessableEntity, ""},
		{"invalid, then not found", invalid, notFound, http.StatusBadGateway, ""}, // such as a template without approval
		{"not found, then invalid", notFound, invalid, http.StatusUnprocessableEntity, ""},
		{"throttled, then invalid", throttledLong, invalid, http.StatusUnprocessableEntity, ""},
		{"invalid, then throttled", invalid, throttledLong, http.StatusServiceUnavailable, "60"},
		{"throttled, then no credit", throttledLong, noCredit, http.StatusServiceUnavailable, "10"},
		{"throttled, then longer", throttled, throttledLong, http.StatusServiceUnavailable, "60"},
		{"no credit, then not found", noCredit, notFound, http.StatusBadGateway, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t, messagingtest.WithContract(classes))
			_, target := serveFor(t, service.URL, service.Token, messaging.WithContract(classes))
			service.SetFault("sms", "+639171234567", tt.sms)
			service.SetFault("chatapp2", "+639171234567", tt.chat)
			response, err := http.PostForm(target, url.Values{"to": {"+639171234567"}, "request": {rand.Text()}})
			require.NoError(t, err)
			defer response.Body.Close()
			assert.Equal(t, tt.status, response.StatusCode)
			assert.Equal(t, tt.retryAfter, response.Header.Get("Retry-After"))
			assert.Empty(t, service.Sent())
		})
	}
}

// A sender or a template that is wrong is no mistake of the person.
func TestOnlyTheNumberIsAMistakeOfThePerson(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]int{
		"To": http.StatusUnprocessableEntity, "From": http.StatusBadGateway, "Content.Name": http.StatusBadGateway,
	} {
		response := httptest.NewRecorder()
		refuse(response, &messaging.ValidationError{Field: field})
		assert.Equal(t, want, response.Code, field)
	}
}

// A person waits: two channels whose connections hang take no longer than one.
func TestResponseComesInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		hanging := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-done
			return nil, net.ErrClosed
		}}
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"),
			messaging.WithHTTPClient(&http.Client{Transport: hanging}))
		require.NoError(t, err)
		o, err := newOTP(client, "https://otp.example.com")
		require.NoError(t, err)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/codes", strings.NewReader("to=%2B639171234567&request="+rand.Text()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response := httptest.NewRecorder()
		began := time.Now()
		o.ServeHTTP(response, request)
		assert.LessOrEqual(t, time.Since(began), 5*time.Second)
		assert.Equal(t, http.StatusServiceUnavailable, response.Code)
		assert.Equal(t, "10", response.Header().Get("Retry-After"))
		assert.Equal(t, statusNotSent, statusOf(o, reference(o)))
	})
}

// Other spellings of a number do not get it more codes.
func TestOneSpellingOfANumber(t *testing.T) {
	t.Parallel()
	service, o, target := serveTest(t)
	spellings := []string{
		"639171234567", "00639171234567", "09171234567", "9171234567", " +639171234567", "+639171234567 ", "+63 917 123 4567", "+63-917-1234567",
		"++639171234567", "+0639171234567", "+00639171234567", "+639171234567\n", "+63917123456٧", "tel:+639171234567",
		"", "+", "no number", "+1234567", "+1234567890123456",
	}
	for _, to := range spellings {
		status, err := post(t.Context(), target, to)
		require.NoError(t, err)
		assert.Equal(t, http.StatusBadRequest, status, "%q", to)
	}
	assert.Empty(t, service.Sent())
	assert.Empty(t, o.codes.byChallenge)
	for _, to := range []string{"+12345678", "+123456789012345"} {
		status, err := post(t.Context(), target, to)
		require.NoError(t, err)
		assert.Equal(t, http.StatusAccepted, status, to)
	}
}

func TestCallbackURLSurvivesARestart(t *testing.T) {
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=secret-of-this-test")
	_, before, _ := serveTest(t)
	_, after, _ := serveTest(t)
	first, err := url.Parse(before.callback)
	require.NoError(t, err)
	second, err := url.Parse(after.callback)
	require.NoError(t, err)
	assert.Equal(t, first.RequestURI(), second.RequestURI())
	assert.Equal(t, "secret-of-this-test", first.Query().Get("key"))
}
