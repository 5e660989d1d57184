package messagingtest

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	chatApp1 = "/chatapp1/send"
	chatApp2 = "/chatapp2/send"
)

// with is a body with further members.
func with(body, members string) string { return strings.TrimSuffix(body, "}") + "," + members + "}" }

// sendPaths are the operations that send, with a body that is good for each.
var sendPaths = map[string]string{
	"/sms/send": goodBody,
	chatApp1:    `{"from":"channel-1","to":"+639171234567","text":"Hi"}`,
	chatApp2:    `{"messaging_product":"whatsapp","to":"+639171234567","text":{"body":"Hi"}}`,
}

// eachPath runs a test with each operation that sends, on a server of its own.
func eachPath(t *testing.T, test func(t *testing.T, s *Server, client *http.Client, path, body string)) {
	t.Helper()
	for path, body := range sendPaths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			test(t, NewServer(t), newClient(t), path, body)
		})
	}
}

func TestSendCredentials(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, s *Server, client *http.Client, path, body string) {
		t.Helper()
		pair := func(key, secret string) string {
			return with(body, `"apiKey":`+strconv.Quote(key)+`,"apiSecret":`+strconv.Quote(secret))
		}
		for name, tc := range map[string]struct {
			token, body string
			status      int
		}{
			"a token":                  {s.Token, body, 200},
			"a pair":                   {"", pair(s.APIKey, s.APISecret), 200},
			"both":                     {s.Token, pair(s.APIKey, s.APISecret), 200},
			"nothing":                  {"", body, 401},
			"another token":            {"x", body, 401},
			"another secret":           {"", pair(s.APIKey, "x"), 401},
			"a token, another secret":  {s.Token, pair(s.APIKey, "x"), 401},
			"a key alone":              {"", with(body, `"apiKey":`+strconv.Quote(s.APIKey)), 401},
			"nothing, for no message":  {"", `{}`, 401},
			"nothing, for a cut body ": {"", `{`, 401},
		} {
			s.Reset()
			req := newRequestTo(t, s, path, tc.body)
			req.Header.Del("Authorization")
			if tc.token != "" {
				req.Header.Set("Authorization", "Bearer "+tc.token)
			}
			r := do(client, req)
			require.NoError(t, r.err, name)
			require.Equal(t, tc.status, r.status, name)
			if tc.status == 401 {
				assert.Equal(t, codeUnauthorized, r.code(t), name)
				assert.Empty(t, s.Sent(), name)
				continue
			}
			require.Len(t, s.Sent(), 1, name)
			m := s.Sent()[0]
			assert.Nil(t, m.Extra, name)
			assert.JSONEq(t, body, string(m.Body), name)
		}
	})
}

func TestSendRefusesBody(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, s *Server, client *http.Client, path, body string) {
		t.Helper()
		for _, wrong := range []string{
			``, `null`, `[]`, `"x"`, `{`, body + body, body[1:], with(body, `"to":"+639171234567"`), with(body, `"x":"`+"\xff"+`"`),
			with(body, `"x":{"a":[{"b":1,"b":1}]}`),
		} {
			r := sendTo(t, client, s, path, wrong)
			assert.Equal(t, http.StatusBadRequest, r.status, wrong)
			assert.Equal(t, codeBody, r.code(t), wrong)
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"} {
			req := newRequestTo(t, s, path, body)
			req.Header.Set("Content-Type", kind)
			r := do(client, req)
			assert.Equal(t, http.StatusBadRequest, r.status, kind)
			assert.Equal(t, codeContentType, r.code(t), kind)
		}
		assert.Empty(t, s.Sent())
		assert.Equal(t, 14, s.Requests())
	})
}

func TestSendIsPaid(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, s *Server, client *http.Client, path, body string) {
		t.Helper()
		s.SetBalance("0.75")
		assert.Equal(t, http.StatusOK, sendTo(t, client, s, path, body).status)
		assert.Equal(t, "0.25", s.Balance())
		r := sendTo(t, client, s, path, body)
		assert.Equal(t, http.StatusBadRequest, r.status)
		assert.Equal(t, codeInsufficientBalance, r.code(t))
		assert.Equal(t, "0.25", s.Balance())
		assert.Len(t, s.Sent(), 1)
	})
}

func TestRefuseDuplicatesAcrossChannels(t *testing.T) {
	t.Parallel()
	for first := range sendPaths {
		for second := range sendPaths {
			t.Run(first+" "+second, func(t *testing.T) {
				t.Parallel()
				s, client := NewServer(t), newClient(t)
				reference := `"referenceId":"order-17"`
				assert.Equal(t, http.StatusOK, sendTo(t, client, s, first, with(sendPaths[first], reference)).status)
				assert.Equal(t, http.StatusOK, sendTo(t, client, s, second, with(sendPaths[second], reference)).status)
				s.RefuseDuplicates(true)
				r := sendTo(t, client, s, second, with(sendPaths[second], reference))
				assert.Equal(t, http.StatusConflict, r.status)
				assert.Equal(t, codeDuplicate, r.code(t))
				assert.Equal(t, http.StatusOK, sendTo(t, client, s, second, sendPaths[second]).status)
				assert.Len(t, s.Sent(), 3)
			})
		}
	}
}

func TestFaultsOnEveryChannel(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, s *Server, client *http.Client, path, body string) {
		t.Helper()
		for _, tc := range []struct {
			fault Fault
			sent  int
		}{
			{FaultAcceptThenDrop(), 1},
			{FaultDropUnread(), 0},
			{FaultSlow(0), 1},
			{FaultStatus(429, 0), 0},
			{FaultTruncated(), 1},
			{FaultNotJSON(), 1},
		} {
			s.Reset()
			s.Inject(tc.fault, 1)
			r := sendTo(t, client, s, path, body)
			assert.Len(t, s.Sent(), tc.sent, "%v", tc.fault)
			assert.Equal(t, 1, s.Requests(), "%v", tc.fault)
			switch tc.fault {
			case FaultSlow(0), FaultNotJSON():
				assert.NoError(t, r.err, "%v", tc.fault)
				assert.Equal(t, http.StatusOK, r.status, "%v", tc.fault)
			case FaultStatus(429, 0):
				assert.Equal(t, codeRateLimited, r.code(t), "%v", tc.fault)
			default:
				assert.Error(t, r.err, "%v", tc.fault)
			}
		}
	})
}

func TestSentOrder(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	for _, path := range []string{chatApp2, "/sms/send", chatApp1, chatApp2} {
		require.Equal(t, http.StatusOK, sendTo(t, client, s, path, sendPaths[path]).status)
	}
	var channels []string
	ids := map[string]bool{}
	for i, m := range s.Sent() {
		channels = append(channels, m.Channel)
		ids[m.ID] = true
		assert.Equal(t, "req-"+strconv.Itoa(i+1), m.RequestID)
		assert.Equal(t, "text", m.Kind)
		assert.Equal(t, "Hi", m.Text)
		assert.Equal(t, 1, m.Parts)
	}
	assert.Equal(t, []string{"chatapp2", "sms", "chatapp1", "chatapp2"}, channels)
	assert.Len(t, ids, 4)
}

func TestListShowsSMSOnly(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	for _, path := range []string{chatApp1, "/sms/send", chatApp2} {
		require.Equal(t, http.StatusOK, sendTo(t, client, s, path, with(sendPaths[path], `"referenceId":"r"`)).status)
	}
	sent := s.Sent()
	require.Len(t, sent, 3)
	assert.Equal(t, sent[1].ID, list(t, client, s).ids())
	assert.Equal(t, sent[1].ID, list(t, client, s, "filter[referenceId]", "r").ids())
	assert.Equal(t, sent[1].ID, list(t, client, s, "sort[column]", "transactionId").ids())
	assert.Empty(t, list(t, client, s, "filter[transactionId]", sent[0].ID).ids())
	assert.Empty(t, list(t, client, s, "filter[transactionId]", sent[2].ID).ids())
	s.IgnoreFilter(true)
	assert.Equal(t, sent[1].ID, list(t, client, s, "filter[transactionId]", sent[2].ID).ids())
}

func TestSentCopiesChatMessage(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	body := with(sendPaths[chatApp1], `"app":"billing"`)
	sendTo(t, newClient(t), s, chatApp1, body).data(t)
	first := s.Sent()[0]
	first.Body[2] = 'X'
	first.Extra["app"][1] = 'X'
	assert.Equal(t, body, string(s.Sent()[0].Body))
	assert.Equal(t, `"billing"`, string(s.Sent()[0].Extra["app"]))
}

func TestSentBodyHasNoCredentials(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	verbatim := " {\n \"from\" : \"ACME\", \"to\":\"639171234567\",\"text\":\"\\u00e9\", \"a\":{\"apiKey\" : 1.0} } "
	send(t, client, s, verbatim).data(t)
	assert.Equal(t, verbatim, string(s.Sent()[0].Body))
	send(t, client, s, `{"api\u004bey":"`+s.APIKey+`","n":1.50,"apiSecret":"`+s.APISecret+`",`+goodBody[1:]).data(t)
	assert.Equal(t, `{"from":"ACME","n":1.50,"text":"Hi","to":"+639171234567"}`, string(s.Sent()[1].Body))
}

// FuzzSend checks that no body ends the server, and that accepted messages are complete and free of credentials.
func FuzzSend(f *testing.F) {
	for path, body := range sendPaths {
		f.Add(path, body)
		f.Add(path, with(body, `"ttl":60,"sms_from":"ACME","sms_text":"Hi","dlrCallback":"https://example.com/%s","dlrReport":1,"referenceId":"r"`))
	}
	for _, bodies := range []map[string]string{goodChatApp1, goodChatApp2} {
		for name, body := range bodies {
			path := chatApp1
			if strings.Contains(body, "messaging_product") {
				path = chatApp2
			}
			f.Add(path, body)
			f.Add(path, strings.Replace(body, `"`+name+`"`, `null`, 1))
		}
	}
	f.Add("/sms/send", `{"from":"A","to":"639171234567","text":"Hi","dlrReport":2}`)
	f.Add(chatApp1, `{"channelId":"c","to":"639171234567"}`)
	f.Add(chatApp2, `{"messaging_product":"whatsapp","to":"639171234567","type":"reaction","reaction":{}}`)
	server := newServer()
	f.Fuzz(func(t *testing.T, path, body string) {
		m, wrong := readSend(server, path, body)
		if wrong != nil && wrong.name == "notFound" {
			return
		}
		var members map[string]json.RawMessage
		_ = json.Unmarshal([]byte(body), &members)
		if wrong != nil {
			assert.NotEmpty(t, wrong.text)
			assert.Regexp(t, "^(2002|40003)", server.codeOf(wrong.name))
			return
		}
		assert.NotEmpty(t, m.To)
		assert.NotEmpty(t, m.Kind)
		assert.Positive(t, m.Parts)
		assert.GreaterOrEqual(t, m.TTL, time.Duration(0))
		assert.Equal(t, m.FallbackFrom == "", m.FallbackText == "")
		for name, value := range m.Extra {
			assert.JSONEq(t, string(members[name]), string(value))
			assert.True(t, json.Valid(value))
		}
	})
}

// A field that the server does not keep would be lost, and a test that sends it could not tell.
func TestSentKeepsEveryField(t *testing.T) {
	var ofPayloads []string // Kind says which payload it is, and Body holds it
	for _, p := range payloads() {
		ofPayloads = append(ofPayloads, p.marks...)
	}
	for _, op := range newServer().operations {
		for concept := range op.contract.Fields {
			if op.channel == "" || op.channel != channelSMS && slices.Contains(ofPayloads, concept) {
				continue
			}
			without := fields{op: op}.message(nil)
			isKept := slices.ContainsFunc([]any{"x", json.Number("60")}, func(value any) bool {
				with := fields{op: op, values: document{op.contract.Fields[concept]: value}}.message(nil)
				return !reflect.DeepEqual(with, without)
			})
			assert.True(t, isKept, "Sent does not keep %s of %s", concept, op.channel)
		}
	}
}
