package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestPOST(t *testing.T) {
	t.Parallel()
	const form = "id=m-1&from=+639171234567&to=21581&message=50%+off;+caf%E9&timestamp=1791038663&x=7"
	for _, tt := range []struct{ name, contentType, query, body string }{
		{"form", "application/x-www-form-urlencoded", "", form},
		{"form with a charset", "Application/X-WWW-Form-Urlencoded ; charset=UTF-8", "", form},
		{"form without a type", "", "", form},
		{"form as text", "text/plain", "", form + "\r\n"},
		{"a part in the query", "", "id=m-1&from=+639171234567", "to=21581&message=50%+off;+caf%E9&timestamp=1791038663&x=7"},
		{"all in the query", "application/json", form, ""},
		{"JSON", "application/json", "", `{"id":"m-1","from":"+639171234567","to":21581,"message":"50% off; café","timestamp":1791038663,"x":7}`},
		{"JSON as a form", "application/x-www-form-urlencoded", "", `{"id":"m-1","from":"+639171234567","to":"21581","message":"50% off; caf\u00e9","timestamp":"1791038663","x":7}`},
		{"JSON without a type", "", "", "\ufeff {\"id\":\"m-1\",\"from\":\" 639171234567\",\"to\":\"21581\",\"message\":\"50% off; café\",\"timestamp\":\"2026-10-03T14:44:23Z\",\"x\":\"7\"}\n"},
		{"JSON in Windows-1252", "application/json; charset=windows-1252", "", "{\"id\":\"m-1\",\"from\":\"+639171234567\",\"to\":\"21581\",\"message\":\"50% off; caf\xe9\",\"timestamp\":1791038663000,\"x\":7}"},
		{"repetitions in JSON", "", "", `{"id":"m-1","id":"m-2","from":null,"from":"+639171234567","to":21581,"message":"50% off; café","message":"b","timestamp":1791038663,"x":7}`},
		{"JSON of another kind", "application/cloudevents+json", "", `{"id":"m-1","from":"+639171234567","to":21581,"message":"50% off; café","timestamp":1791038663,"x":7}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.SMSMessage]
			w := call(t, hooks(webhook.WithPOST()).SMS(in.handle), post(tt.query, tt.contentType, tt.body))
			require.Equal(t, http.StatusOK, w.Code)
			m := in.one(t)
			assert.Equal(t, "m-1", m.ID)
			assert.Equal(t, "+639171234567", m.From)
			assert.Equal(t, "21581", m.To)
			assert.Equal(t, "50% off; café", m.Text)
			assert.Equal(t, int64(1791038663), m.ReceivedAt.Unix())
			assert.Equal(t, "7", m.Params.Get("x"))
			assert.Equal(t, tt.query, m.RawQuery)
		})
	}
}

func TestPOSTStillTakesGET(t *testing.T) {
	t.Parallel()
	m := receive(t, honest, webhook.WithPOST())
	assert.Equal(t, "m-1", m.ID)
}

// A contract that says POST needs no option, for the callbacks that it says it of.
func TestPOSTByContract(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"form", "json"} {
		names, err := contract.Parse([]byte(`{"webhook.sms": {"encoding": "` + encoding + `"}}`))
		require.NoError(t, err)
		receiver := hooks(webhook.WithContract(names))
		m, err := receiver.ParseSMS(post("", "", "from=+639171234567&id=m-1&message=x"))
		require.NoError(t, err, encoding)
		assert.Equal(t, "m-1", m.ID)
		w := call(t, receiver.SMS(func(context.Context, webhook.SMSMessage) error { return nil }), httptest.NewRequest(http.MethodPut, "/", nil))
		assert.Equal(t, "GET, HEAD, POST", w.Header().Get("Allow"))
		_, err = receiver.ParseDelivery(post("", "", "id=m-1&status=DELIVRD"))
		require.ErrorIs(t, err, webhook.ErrMethod)
	}
}

func TestPOSTQueryComesFirst(t *testing.T) {
	t.Parallel()
	m, err := hooks(webhook.WithPOST()).ParseSMS(post("from=1111&a=1", "", "from=2222&a=2&message=x"))
	require.NoError(t, err)
	assert.Equal(t, "1111", m.From)
	assert.Equal(t, []string{"1", "2"}, m.Params.All("a"))
}

func TestPOSTRefused(t *testing.T) {
	t.Parallel()
	big := "from=1111&message=" + strings.Repeat("a", 3<<20)
	for _, tt := range []struct {
		name, contentType, body string
		reason                  error
		status                  int
	}{
		{"too large", "", big, webhook.ErrTooLarge, 413},
		{"JSON that is cut off", "application/json", `{"from":"1111"`, webhook.ErrUnreadable, 400},
		{"a list of JSON that holds no event", "application/json", `["from"]`, webhook.ErrUnreadable, 400},
		{"JSON that is nothing", "text/json", `null`, webhook.ErrUnreadable, 400},
		{"JSON and more", "application/json", `{"from":"1111"} {}`, webhook.ErrUnreadable, 400},
		{"XML", "application/xml", "<from>1111</from>", webhook.ErrUnreadable, 415},
		{"multipart", "multipart/form-data; boundary=x", "--x\r\n", webhook.ErrUnreadable, 415},
		{"no sender in a form", "", "message=x", webhook.ErrNoSender, 400},
		{"no sender in JSON", "", `{"message":"x"}`, webhook.ErrNoSender, 400},
		{"a sender that is an object", "", `{"from":{"name":"1111"}}`, webhook.ErrNoSender, 400},
		{"nothing", "", "", webhook.ErrNoSender, 400},
		{"white space", "application/json", " \r\n", webhook.ErrNoSender, 400},
		{"too many members", "", `{"from":"1111"` + strings.Repeat(`,"a":1`, 256) + "}", webhook.ErrTooLong, 414},
		{"too many fields", "", "from=1111" + strings.Repeat("&a=b", 256), webhook.ErrTooLong, 414},
		{"deep JSON", "application/json", `{"from":"1111","a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", webhook.ErrUnreadable, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.SMSMessage]
			w := call(t, hooks(webhook.WithPOST()).SMS(in.handle), post("", tt.contentType, tt.body))
			assert.Equal(t, tt.status, w.Code)
			assert.Empty(t, in.got)
			_, err := hooks(webhook.WithPOST()).ParseSMS(post("", tt.contentType, tt.body))
			assert.ErrorIs(t, err, tt.reason)

			// Without a proof the response shows no other fault than the length.
			_, err = hooks(webhook.WithPOST(), withKey()).ParseSMS(post("", tt.contentType, tt.body))
			if tt.status == http.StatusRequestEntityTooLarge {
				assert.ErrorIs(t, err, webhook.ErrTooLarge)
			} else {
				assert.ErrorIs(t, err, webhook.ErrProof)
			}
		})
	}
}

func TestPOSTLimit(t *testing.T) {
	t.Parallel()
	body := "from=1111&message=" + strings.Repeat("a", 82)
	require.Len(t, body, 100)
	for _, chunked := range []bool{false, true} {
		for limit, want := range map[int]error{100: nil, 99: webhook.ErrTooLarge} {
			r := post("", "", body)
			if chunked {
				r.ContentLength = -1
			}
			_, err := hooks(webhook.WithPOST(), webhook.WithLimits(10, limit)).ParseSMS(r)
			assert.ErrorIs(t, err, want)
		}
	}
	r := post("", "", body)
	r.Body = http.MaxBytesReader(nil, r.Body, 50)
	_, err := hooks(webhook.WithPOST()).ParseSMS(r)
	require.ErrorIs(t, err, webhook.ErrTooLarge, "a limit of the server's")

	broken := errors.New("hunter2")
	r = post("", "", body)
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("from=1"), iotest.ErrReader(broken)))
	r.ContentLength = -1
	_, err = hooks(webhook.WithPOST()).ParseSMS(r)
	require.ErrorIs(t, err, webhook.ErrUnreadable)
	require.ErrorIs(t, err, broken)
	assert.NotContains(t, err.Error(), "hunter2")

	r = post("from=1111", "", "")
	r.Body = nil
	_, err = hooks(webhook.WithPOST()).ParseSMS(r)
	assert.NoError(t, err)
}

func TestPOSTSecret(t *testing.T) {
	t.Parallel()
	opts := []webhook.Option{webhook.WithPOST(), webhook.WithSecret("key", "s3cret-of-16-chars+")}
	for _, body := range []string{"key=s3cret-of-16-chars%2B&from=1111", "from=1111&key=s3cret-of-16-chars+", `{"key":"s3cret-of-16-chars+","from":"1111"}`, `{"from":1111,"key":"s3cret-of-16-chars+","key":"no"}`} {
		m, err := hooks(opts...).ParseSMS(post("a=b&&c", "", body))
		require.NoError(t, err, body)
		assert.Empty(t, m.Params.All("key"))
		assert.Equal(t, "a=b&&c", m.RawQuery)
		assert.Equal(t, "1111", m.From)
	}
	for _, body := range []string{"from=1111", "from=1111&key=no&key=s3cret-of-16-chars%2B", `{"key":["s3cret-of-16-chars+"],"from":"1111"}`, `{"key":"no","key":"s3cret-of-16-chars+","from":"1111"}`} {
		_, err := hooks(opts...).ParseSMS(post("", "", body))
		require.ErrorIs(t, err, webhook.ErrProof, body)
	}
	_, err := hooks(opts...).ParseSMS(post("key=no", "", "from=1111&key=s3cret-of-16-chars%2B"))
	require.ErrorIs(t, err, webhook.ErrProof, "the first counts, and the query comes first")
}

func TestPOSTWithoutOption(t *testing.T) {
	t.Parallel()
	r := post(honest, "", "")
	r.Body = io.NopCloser(iotest.ErrReader(errors.New("read")))
	w := call(t, hooks().SMS(ignore), r)
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestPOSTReadsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 100
	body := strings.NewReader("from=1111&message=" + strings.Repeat("a", 1<<20))
	r := post("", "", "")
	r.Body, r.ContentLength = io.NopCloser(body), -1
	_, err := hooks(webhook.WithPOST(), webhook.WithLimits(10, limit)).ParseSMS(r)
	require.ErrorIs(t, err, webhook.ErrTooLarge)
	assert.LessOrEqual(t, body.Size()-int64(body.Len()), int64(limit+1))
}
