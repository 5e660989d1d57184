package main

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

	"github.com/messaging-service/messaging-go/messagingtest"
)

func serve(t *testing.T) (*messagingtest.Server, *codes, string) {
	t.Helper()
	service := messagingtest.NewServer(t)
	server := httptest.NewUnstartedServer(nil)
	c, err := newCodes(service, "http://"+server.Listener.Addr().String())
	require.NoError(t, err)
	server.Config.Handler = c
	server.Start()
	t.Cleanup(server.Close)
	return service, c, server.URL + "/codes"
}

func post(ctx context.Context, target, to string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(url.Values{"to": {to}}.Encode()))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func TestReportBeforeSendReturns(t *testing.T) {
	t.Parallel()
	service, c, target := serve(t)
	service.Inject(messagingtest.FaultSlow(2*time.Second), 1)
	done := make(chan int)
	go func() {
		status, _ := post(t.Context(), target, "+639171234567")
		done <- status
	}()
	message, err := service.WaitFor(t.Context(), "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, "sending", c.state(message.ReferenceID))
	service.ReportDelivery(t.Context(), message.ID, "read")
	assert.Equal(t, "read", c.state(message.ReferenceID))
	assert.Equal(t, http.StatusAccepted, <-done)
	assert.Equal(t, "read", c.state(message.ReferenceID), "Send returned later, and knows less")
}

func TestSlowServiceIsSettledInTheBackground(t *testing.T) {
	t.Parallel()
	service, c, target := serve(t)
	service.Inject(messagingtest.FaultSlow(time.Minute), 1)
	begun := time.Now()
	status, err := post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status)
	assert.Less(t, time.Since(begun), 10*time.Second)
	c.background.Wait()
	require.Len(t, service.Sent(), 1)
	assert.Equal(t, "sent", c.state(service.Sent()[0].ReferenceID))
}

func TestCallerWhoHangsUpDoesNotEndTheSend(t *testing.T) {
	t.Parallel()
	service, c, target := serve(t)
	service.Inject(messagingtest.FaultSlow(500*time.Millisecond), 1)
	ctx, hangUp := context.WithCancel(t.Context())
	go func() { _, _ = post(ctx, target, "+639171234567") }()
	message, err := service.WaitFor(t.Context(), "+639171234567")
	require.NoError(t, err)
	hangUp()
	assert.Eventually(t, func() bool { return c.state(message.ReferenceID) == "sent" }, 30*time.Second, 10*time.Millisecond)
	c.background.Wait()
	assert.Equal(t, 1, service.Requests(), "nothing was looked up: the outcome was known")
}

func TestRefusedCodeIsFailed(t *testing.T) {
	t.Parallel()
	service, c, target := serve(t)
	status, err := post(t.Context(), target, "no number")
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadGateway, status)
	assert.Empty(t, service.Sent())
	assert.Equal(t, "failed", c.state(reference(c)))
}

func TestCodeFallsBackToChatApp1OnlyIfTheSMSDidNotGoOut(t *testing.T) {
	t.Parallel()
	service, c, target := serve(t)
	service.Inject(messagingtest.FaultStatus(http.StatusPaymentRequired, 0), 1)
	status, err := post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status)
	require.Len(t, service.Sent(), 1)
	assert.Equal(t, messagingtest.ChannelChatApp1, service.Sent()[0].Channel)
	assert.Equal(t, "sent", c.state(reference(c)))
	service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	_, err = post(t.Context(), target, "+639171234567")
	require.NoError(t, err)
	c.background.Wait()
	require.Len(t, service.Sent(), 2, "the SMS went out, so there is no second code")
	assert.Equal(t, messagingtest.ChannelSMS, service.Sent()[1].Channel)
}

func reference(c *codes) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.states {
		return one
	}
	return ""
}
