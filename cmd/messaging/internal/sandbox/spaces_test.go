package sandbox

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

func TestSpaces(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	send := func(token, text string) {
		client, err := messaging.NewClient(r.url, messaging.WithToken(token))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: text, ReferenceID: text})
		require.NoError(t, err)
		_, err = client.SMS.Find(t.Context(), text)
		require.NoError(t, err, "the space lists its own")
	}
	token := r.service.Token
	send(token, "to all")
	send(token+".one", "to one")
	send(token+".two", "to two")
	in := func(header ...string) string {
		_, text := r.do(http.MethodGet, Root+"messages", "", header...)
		return text
	}
	one := in("Authorization", "Bearer "+token+".one")
	assert.Contains(t, one, "to one")
	assert.NotContains(t, one, "to two")
	assert.NotContains(t, one, "to all")
	assert.Equal(t, one, in(spaceHeader, "one"))
	assert.Equal(t, one, in(spaceHeader, "one", "Authorization", ""), "reading an open space needs no token")
	_, text := r.do(http.MethodGet, Root+"spaces/one/messages", "")
	assert.Equal(t, one, text)
	assert.NotContains(t, in(), "to one")
	contains(t, r.page("spaces/one/"), `href="/_sandbox/spaces/one/page/faults"`)
	assert.NotContains(t, one, token)

	// Each has its own faults and clock.
	r.do(http.MethodPost, Root+"faults", `{"fault":"status","status":503,"n":1}`, spaceHeader, "one")
	r.do(http.MethodPost, Root+"clock", `{"advance":"1h"}`, spaceHeader, "one")
	send(token+".two", "unharmed")
	_, settings := r.do(http.MethodGet, Root+"settings", "", spaceHeader, "two")
	assert.Contains(t, settings, `"advanced":"0s"`)
	client, err := messaging.NewClient(r.url, messaging.WithToken(token+".one"), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "x"})
	require.Error(t, err)

	var spaces struct{ Spaces []Space }
	r.api(http.MethodGet, "spaces", "", &spaces)
	require.Len(t, spaces.Spaces, 2)
	assert.Equal(t, Space{"one", "/_sandbox/spaces/one/", 1}, spaces.Spaces[0])
	r.api(http.MethodDelete, "spaces/one", "", nil)
	status, _ := r.do(http.MethodGet, Root+"messages", "", spaceHeader, "one", "Authorization", "")
	assert.Equal(t, http.StatusNotFound, status, "without the token nothing is made")
	status, _ = r.do(http.MethodGet, Root+"spaces/three/messages", "")
	assert.Equal(t, http.StatusOK, status, "with the token a request makes it")
	left := []Space{{"three", "/_sandbox/spaces/three/", 0}, {"two", "/_sandbox/spaces/two/", 2}}
	assert.Equal(t, left, r.spaces.list(), "the space that ended took its own along")
}

func TestSpacesRefuse(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for _, name := range []string{"a b", "../x", "x.y", "<b>"} {
		status, text := r.do(http.MethodGet, Root+"messages", "", spaceHeader, name)
		assert.Equal(t, http.StatusBadRequest, status, name)
		assert.Contains(t, text, "letters, digits", name)
	}
	status, _ := r.do(http.MethodPost, "/sms/send", `{}`, spaceHeader, "mine", "Authorization", "Bearer wrong.mine")
	assert.Equal(t, http.StatusNotFound, status)
	status, _ = r.do(http.MethodPost, Root+"reset", `{}`, "Authorization", "Bearer "+r.service.Token+"x.mine")
	assert.Equal(t, http.StatusForbidden, status)
}

func TestSpacesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for i := range maxSpaces {
		_, err := r.spaces.get(fmt.Sprint("space-", i), true)
		require.NoError(t, err)
	}
	_, err := r.spaces.get("one-more", true)
	require.ErrorIs(t, err, errSpaces)
	status, _ := r.do(http.MethodGet, Root+"messages", "", spaceHeader, "one-more")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	r.spaces.mu.Lock()
	r.spaces.spaces["space-7"].used = time.Now().Add(-2 * spaceIdle)
	r.spaces.mu.Unlock()
	_, err = r.spaces.get("one-more", true)
	require.NoError(t, err, "an idle space makes room")
	_, err = r.spaces.get("space-7", false)
	assert.ErrorIs(t, err, errNoSuchSpace)
}

// TestResetDropsMessagesInProgress has a message of the ledger before the reset arrive after it.
func TestResetDropsMessagesInProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, "before")
	late := r.service.Sent()[0]
	r.api(http.MethodPost, "reset", `{}`, nil)
	r.onChange(late)
	assert.Zero(t, r.size())
	r.sendSMS("ACME", ana, "after")
	assert.Equal(t, "after", r.messages(1)[0].Text)
}

func TestResetOfAll(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"", "mine"} {
		r := newRig(t, Config{})
		do := func(method, path, body string) string {
			status, text := r.do(method, Root+path, body, spaceHeader, space)
			require.Equal(t, http.StatusOK, status, text)
			return text
		}
		do(http.MethodPost, "clock", `{"advance":"48h"}`)
		do(http.MethodPatch, "settings", `{"balance":"1.00","refuseDuplicates":true,"listingLag":"5s","webhooks":{"sms":"http://127.0.0.1:1/"}}`)
		do(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"failed"}`)
		do(http.MethodPost, "reset", `{}`)
		assert.Contains(t, do(http.MethodGet, "settings", ""), `"advanced":"48h0m0s"`, "a reset keeps settings")
		do(http.MethodPost, "reset", `{"all":true}`)
		settings := do(http.MethodGet, "settings", "")
		assert.Contains(t, settings, `"advanced":"0s"`)
		assert.Contains(t, settings, `"refuseDuplicates":false`)
		assert.Contains(t, settings, `"webhooks":{}`)
		assert.NotContains(t, settings, `"balance":"1.00"`)
		token := r.service.Token
		if space != "" {
			token += "." + space
		}
		client, err := messaging.NewClient(r.url, messaging.WithToken(token))
		require.NoError(t, err)
		receipt, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
		require.NoError(t, err, "the credentials stay")
		assert.Contains(t, do(http.MethodGet, "messages/"+receipt.ID+"?state=delivered&wait=10s", ""), `"delivered"`)
	}
}
