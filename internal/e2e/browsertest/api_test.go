package browsertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// post makes a request to the API and returns its response.
func (b *box) post(t *testing.T, path string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.Base+"/_sandbox/"+path, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+b.Token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, string(answer))
	var result map[string]any
	require.NoError(t, json.Unmarshal(answer, &result))
	return result
}

// get reads from the API.
func (b *box) get(t *testing.T, path string, to any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Base+"/_sandbox/"+path, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(to))
}

// refused makes a request that the contract does not know.
func refused(t *testing.T, b *box) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.Base+"/v1/messages",
		strings.NewReader(`{"sender":"ACME","recipient":"+639171234567","body":"Hi"}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "a-key-of-somebody")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.GreaterOrEqual(t, resp.StatusCode, 400)
}
