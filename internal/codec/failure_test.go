package codec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
)

// pathTo returns the path to a scalar in a document, or false if it is not there.
func pathTo(value any, id string) (path []string, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if rest, ok := pathTo(member, id); ok {
				return append([]string{name}, rest...), true
			}
		}
	case []any:
		for i, element := range v {
			if rest, ok := pathTo(element, id); ok {
				return append([]string{strconv.Itoa(i)}, rest...), true
			}
		}
	case string, json.Number:
		return nil, fmt.Sprint(v) == id
	}
	return nil, false
}

func unmarshal(body string) (value any) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// adding returns a copy of a document with a member in the object at a path.
func adding(value any, path []string, name string, member any) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for key, value := range v {
			if len(path) > 0 && key == path[0] {
				value = adding(value, path[1:], name, member)
			}
			all[key] = value
		}
		if len(path) == 0 {
			all[name] = member
		}
		return all
	case []any:
		all := append([]any{}, v...)
		if i, err := strconv.Atoi(path[0]); err == nil && len(path) > 0 {
			all[i] = adding(all[i], path[1:], name, member)
		}
		return all
	}
	return value
}

// failures are members by which services say that something failed.
func failures() (all []map[string]any) {
	add := func(name string, values ...any) {
		for _, value := range values {
			all = append(all, map[string]any{name: value})
		}
	}
	object := map[string]any{"code": 17, "message": "no credit"}
	add("error", "no credit", true, 17, object, []any{object})
	add("errors", []any{"no credit"}, []any{object}, map[string]any{"to": []any{"is invalid"}})
	add("errorCode", "E17", 17, "invalid_number")
	add("error_code", 17)
	add("error-text", "Missing to param", "failed", "unknown")
	add("errorMessage", "no credit")
	add("err", object)
	add("errmsg", "no credit")
	add("fault", "no credit", object)
	add("faultCode", "17")
	add("exception", object)
	add("serviceException", map[string]any{"messageId": "SVC0002", "text": "no"})
	add("reason", "no credit")
	add("failureReason", "no credit")
	add("reject_reason", 4)
	add("rejected", true, []any{"639171234567"}, 1)
	add("rejectedRecipients", []any{"639171234567"})
	add("failed", true, 1, []any{"639171234567"})
	add("invalid_numbers", []any{"639171234567"})
	add("isError", true)
	add("hasErrors", true, "true")
	add("success", false, "false", 0)
	add("successful", false)
	add("isSuccess", false)
	add("ok", false)
	add("accepted", false)
	for _, name := range []string{"state", "deliveryStatus", "message_status", "result", "outcome"} {
		add(name, "failed", "FAILED", "rejected", "REJECTED_NO_CREDIT", "error", "expired", "undeliverable", false)
	}
	add("status_code", 400, "500", "invalid_number")
	add("statusCode", 403)
	add("resultCode", "200101")
	add("responseCode", "InvalidParameter")
	add("statusInfo", map[string]any{"id": 5, "name": "REJECTED"})
	return all
}

// Whatever a response says beside an ID, a failure in it is a failure.
func TestDecodeAcceptsNoResponseWithAFailure(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../testdata/responses.json")
	require.NoError(t, err)
	var documented struct{ Accepted []struct{ Body, ID string } }
	require.NoError(t, json.Unmarshal(raw, &documented))
	bodies, tried := 0, 0
	var accepted []string
	for _, response := range documented.Accepted {
		value := unmarshal(response.Body)
		path, ok := pathTo(value, response.ID)
		if !ok {
			continue
		}
		send := decoder(t, fmt.Sprintf(`{"sms.send":{"response":{"id":[%q],"status":[]}},"errors":{"success":["0","100","ok"]}}`, strings.Join(path, ".")))
		isAccepted := func(body []byte) bool {
			r, err := send.Decode(body)
			require.NoError(t, err)
			return r.Claim == codec.Accepts
		}
		assert.True(t, isAccepted([]byte(response.Body)), response.Body)
		bodies++
		for _, place := range [][]string{nil, path[:len(path)-1]} {
			for _, failure := range failures() {
				for name, member := range failure {
					body, err := json.Marshal(adding(value, place, name, member))
					require.NoError(t, err)
					if tried++; isAccepted(body) {
						accepted = append(accepted, fmt.Sprintf("%v: %v in %s", name, member, response.Body))
					}
				}
			}
		}
	}
	assert.Greater(t, bodies, 20)
	assert.LessOrEqual(t, len(accepted)*100, tried, "%d of %d:\n%s", len(accepted), tried, strings.Join(accepted, "\n"))
	t.Logf("%d of %d responses with a failure accepted", len(accepted), tried)
}
