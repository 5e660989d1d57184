package messagingtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fault applies only to a message that the service would accept. If two operations share a path, the first that can read a request decides.
func TestSetFaultOnASharedPath(t *testing.T) {
	t.Parallel()
	s := NewServer(t, speaking(`{
		"sms.send": {"path": "/messages", "constants": {"channel": "sms"}, "fields": {"text": "body"}},
		"chatapp1.send": {"path": "/messages", "constants": {"kind": "chat"}}
	}`))
	s.SetFault(channelSMS, "+639171234567", FaultStatus(http.StatusServiceUnavailable, 0))
	s.SetFault(channelChatApp1, "+639171234567", FaultStatus(http.StatusServiceUnavailable, 0))
	for body, want := range map[string]int{
		`{"from":"channel-1","to":"639171234567","body":"Hi","channel":"sms"}`:               http.StatusServiceUnavailable,
		`{"from":"channel-1","to":"639171234567","text":"Hi","kind":"chat"}`:                 http.StatusServiceUnavailable,
		`{"from":"channel-1","to":"639171234567","text":"Hi","kind":"chat","channel":"sms"}`: http.StatusBadRequest, // an SMS without a text
		`{"from":"channel-1","to":"639171234567","text":"Hi"}`:                               http.StatusBadRequest, // of no channel
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/messages", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+s.Token)
		request.Header.Set("Content-Type", "application/json")
		assert.Equal(t, want, do(newClient(t), request).status, body)
	}
	assert.Empty(t, s.Sent())
}

// When the last fault of a recipient has ended, requests are no longer read for their recipients.
func TestZeroFaultIsNotKept(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.SetFault(channelSMS, "12345", Fault{})
	assert.Empty(t, s.faults.byAddress)
	s.SetFault(channelSMS, "12345", FaultDropUnread())
	s.SetFault(channelSMS, "+12345", Fault{})
	assert.Empty(t, s.faults.byAddress)
}
