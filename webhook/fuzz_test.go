package webhook_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/webhook"
)

// queries are a seed for each case that careless or hostile senders make.
func queries() []string {
	return []string{
		"", honest, "from=+639171234567&to=+21581&message=1+1=2", "from=%2B639171234567&message=100%", "from=1111&message=%zz%u00E6%", "from=1111&message=a;b=c;d", "from=1111&from=2222&message=a&message=b",
		"from=1111&message=%E6%F8%E5", "from=1111&message=\xe6\xf8\xe5", "from=1111&message=%ED%A0%BD%ED%B8%80%C0%AF", "from=1111&message=a%00b%0D%0A", "%66rom=1111&&=&x&message=a#b?", "msisdn=1111&text=%F0%9F%98%80",
		"from=+&sender=%C2%A0&mobile=7", "from_user_id=US.1&message=a", "from=1111&timestamp=2026-10-03T22:44:23+08:00", "from=1111&timestamp=20261399999999", "from=1111&timestamp=99999999999999999999", "key=s3cret-of-16-chars&from=1111&k%65y=no",
		"from=1111&type=image&mediaUrl=https%3A%2F%2Fexample.com&mimeType=image/png&caption=c&fileName=f", "from=1111&latitude=14.5&longitude=-121", "from=1111&type=location&latitude=NaN&longitude=1e999", "from=1111&type=hologram&beam=7",
		`payload={"from":"1111","id":"1","timestamp":"1","type":"text","text":{"body":"a"}}`, `message={"from":"1111","type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"1"}}}`,
		`from=1111&payload={"entry":[{"changes":[{"value":{"metadata":{"phone_number_id":"1"},"contacts":[{"wa_id":"2"}],"messages":[{"type":"edit","edit":{}}]}}]}]}`,
		`from=1111&payload={"type":"contacts","contacts":[{"name":{"formatted_name":"A"},"phones":[{}],"emails":[7],"urls":null,"addresses":{}}]}`, `from=1111&payload={"type":"order","order":{"product_items":[{"quantity":1e99}]}}`,
		`from=1111&payload=` + strings.Repeat("[", 1000), `from=1111&payload={"a":` + strings.Repeat(`{"a":`, 1000), `from=1111&payload={"type":"system","system":{"identity":{}},"identity":7}`,
		"status=1&id=m-1&referenceId=r-1", "_status=DELIVRD&_id=m-1", "status=%s&id=%i&referenceId=%r", "status=777&referenceId=+&transactionId=x",
		"from=1111&mediaUrl=https%3A%2F%2Fexample.com", "from=1111&mediaId=7&mimeType=audio/ogg", "from=1111&mediaId=7&mimeType=text/csv", "from=00000000-0000&message=a",
		"from=1111&timestamp=" + strings.Repeat("2026", 20), "from=1111&timestamp=NaN", "from=1111&timestamp=-1.5e12", "from=1111&timestamp=2026-10-03T14:44", "from=1111&timestamp=2026-10-03",
		`payload={"entry":[{"changes":[{"field":"flows","value":{}}]}]}`, `payload={"entry":[` + strings.Repeat("{},", 2000) + `{}]}`,
		`from=1111&payload={"type":"contacts","contacts":[` + strings.Repeat("{},", 600) + `{}]}`,
		"from=1111&message=" + strings.Repeat("%F0%9F%98%80", 100), strings.Repeat("&", 300), strings.Repeat("a=b&", 300) + "from=1111",
	}
}

// naive says whether a query carries a sender, as a slow and simple reading of it does.
func naive(query string, names ...string) bool {
	for _, name := range names {
		for segment := range strings.SplitSeq(query, "&") {
			have, value, _ := strings.Cut(segment, "=")
			text := naiveDecode(value)
			isName := !naiveBlank(text) && !table.IsPlaceholder(strings.ToValidUTF8(text, " ")) && !strings.Contains(text, "\x00")
			if naiveDecode(have) == name && isName {
				return true
			}
		}
	}
	return false
}

// naiveBlank reports whether a text is only white space. A byte that is not UTF-8 is Windows-1252, in which A0 is a space.
func naiveBlank(text string) bool {
	for i, r := range text {
		if !unicode.IsSpace(r) && (r != utf8.RuneError || text[i] != 0xa0) {
			return false
		}
	}
	return true
}

func naiveDecode(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if i+2 < len(text) && text[i] == '%' {
			if decoded, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.Write(decoded)
				i += 2
				continue
			}
		}
		if text[i] == '+' {
			b.WriteByte(' ')
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// common checks what holds for every event.
func common(t *testing.T, query, body string, params webhook.Params, rawQuery string, values ...string) {
	t.Helper()
	for _, value := range values {
		require.True(t, utf8.ValidString(value), "%q of %q", value, query)
	}
	size := 0
	for _, p := range params {
		require.True(t, utf8.ValidString(p.Name) && utf8.ValidString(p.Value), "%q", query)
		size += len(p.Name) + len(p.Value)
	}
	require.LessOrEqual(t, size, 3*(len(query)+len(body)))
	require.LessOrEqual(t, len(params), 256)
	require.Equal(t, query, rawQuery)
}

// hasNoZeroByte checks what identifies an event: a database may refuse to store a zero byte.
func hasNoZeroByte(t *testing.T, query string, identities ...string) {
	t.Helper()
	require.NotContains(t, strings.Join(identities, " "), "\x00", "%q", query)
}

// keepsQuery checks that a query which may hold secrets was kept without those parameters, or written again for a copy in another one.
func keepsQuery(t *testing.T, query, rawQuery string) {
	t.Helper()
	mayHoldCopy := strings.Contains(query, "s3cret-of-16-chars") || strings.ContainsAny(query, `%\`)
	if !mayHoldCopy && !strings.Contains(query, "key") {
		require.Equal(t, query, rawQuery)
	}
	isKept := true
	rest := strings.Split(query, "&")
	for segment := range strings.SplitSeq(rawQuery, "&") {
		i := slices.Index(rest, segment)
		isKept = isKept && i >= 0
		rest = rest[i+1:]
	}
	require.True(t, rawQuery == "" || isKept || mayHoldCopy && isWritten(query, rawQuery), "%q of %q", rawQuery, query)
}

// isWritten reports whether rawQuery may come from a query with a copy of the secret: the copy is gone, and the rest is escaped.
func isWritten(query, rawQuery string) bool {
	for segment := range strings.SplitSeq(rawQuery, "&") {
		have, escaped, _ := strings.Cut(segment, "=")
		name, value := naiveDecode(have), naiveDecode(escaped)
		isCopy := name == "s3cret-of-16-chars" || value == "s3cret-of-16-chars"
		if isCopy || !utf8.ValidString(name+value) || url.QueryEscape(name)+"="+url.QueryEscape(value) != segment {
			return false
		}
	}
	return len(rawQuery) <= 9*len(query)+strings.Count(query, "&")+1 // a byte of Windows-1252 has up to three in UTF-8
}

// refused checks why nothing was read.
func refused(t *testing.T, query, body string, err error, kept bool) {
	t.Helper()
	refusal, ok := errors.AsType[*webhook.RejectError](err)
	require.True(t, ok)
	require.NotContains(t, fmt.Sprintf("%v %+v", err, err), "hunter2")
	if kept && body == "" && !strings.Contains(naiveDecode(query), "{") { // what follows JSON may be typed
		require.NotErrorIs(t, err, webhook.ErrNoSender, "%q carries a sender", query)
		require.NotErrorIs(t, err, webhook.ErrNoMessage, "%q names a message", query)
	}
	require.True(t, refusal.Status >= 400 || errors.Is(err, webhook.ErrUnhandled) || errors.Is(err, webhook.ErrUnhandled))
}

// parsing is a Parse method, with its results as a list, and the handler that must agree.
type parsing[T any] struct {
	parse   func(*webhook.Receiver, *http.Request) ([]T, error)
	handler func(*webhook.Receiver, func(context.Context, T) error) http.Handler
	params  func(T) webhook.Params
	check   func(*testing.T, string, string, T)
	names   []string // one of them is needed
}

// fuzz feeds a parser. The second input is a body, sent by POST unless it is empty.
func fuzz[T any](f *testing.F, p parsing[T]) {
	f.Helper()
	for i, query := range queries() {
		f.Add(query, "")
		f.Add(queries()[(i*7)%len(queries())], query)
	}
	f.Add("", `{"from":"1111","type":"text","text":{"body":"a"},"a":null,"b":[1,{}],"key":"s3cret-of-16-chars"}`)
	f.Add("from=1111", `{"from":1e400,"message":"\ud800\u0000","message":true}`)
	f.Add("from=1111", "\ufeff{\"id\":\"\xe6\"}")
	f.Add("", `{"entry":[{"changes":[{"value":{"messages":[{"from":"1","id":"1"},{"from":"2"},7],"statuses":[{"id":"1","status":"read"}]}},{"value":{"statuses":[{}]}}]}]}`)
	f.Add("", `{"id":"1","status":"played","recipient_id":"1","timestamp":"1"}`)
	rcv, secret := hooks(webhook.WithPOST(), webhook.WithStore(webhook.NewMemoryStore(100, time.Minute))), hooks(withKey(), webhook.WithPOST())
	f.Fuzz(func(t *testing.T, query, body string) {
		r := get(query)
		if body != "" {
			r = post(query, "", body)
		}
		began := time.Now()
		events, err := p.parse(rcv, r)
		// Far more than a linear parser needs, and far less than a quadratic one would.
		require.Less(t, time.Since(began), 2*time.Second+time.Duration(len(query)+len(body))*time.Millisecond)
		if err != nil {
			refused(t, query, body, err, naive(query, p.names...) && strings.Count(query, "&") < 256)
		}
		for _, e := range events {
			p.check(t, query, body, e)
		}

		// The handler agrees.
		if body != "" {
			r.Body = io.NopCloser(strings.NewReader(body))
		}
		var in inbox[T]
		w := httptest.NewRecorder()
		p.handler(rcv, in.handle).ServeHTTP(w, r)
		refusal, isRefused := errors.AsType[*webhook.RejectError](err)
		require.Equal(t, !isRefused || refusal.Status == http.StatusOK, w.Code == http.StatusOK)
		require.Zero(t, w.Body.Len())

		// A secret is not passed on.
		r = get("key=s3cret-of-16-chars&" + query)
		if body != "" {
			r = post("key=s3cret-of-16-chars&"+query, "", body)
		}
		events, err = p.parse(secret, r)
		if err != nil {
			refused(t, query, body, err, naive(query, p.names...) && strings.Count(query, "&") < 255)
		}
		for _, e := range events {
			require.Empty(t, p.params(e).All("key"), "the secret is passed on")
		}
	})
}

var senders = []string{"from", "msisdn", "sender", "mobile", "number", "originator"}

func FuzzSMS(f *testing.F) {
	fuzz(f, parsing[webhook.SMSMessage]{
		parse: func(rcv *webhook.Receiver, r *http.Request) ([]webhook.SMSMessage, error) {
			m, err := rcv.ParseSMS(r)
			refusal, isRefused := errors.AsType[*webhook.RejectError](err)
			switch {
			case isRefused && (refusal.Status == http.StatusOK || refusal.Status == http.StatusInternalServerError): // a list of none or several
				return rcv.ParseSMSMessages(r)
			case err != nil:
				return nil, err
			}
			return []webhook.SMSMessage{m}, nil
		},
		handler: (*webhook.Receiver).SMS,
		params:  func(m webhook.SMSMessage) webhook.Params { return m.Params },
		check: func(t *testing.T, query, body string, m webhook.SMSMessage) {
			t.Helper()
			require.NotEmpty(t, m.From)
			hasNoZeroByte(t, query, m.ID, m.From, m.To, m.ReferenceID)
			common(t, query, body, m.Params, m.RawQuery, m.ID, m.From, m.To, m.Text, m.ReferenceID, m.Operator, m.Keyword)
		},
		names: senders,
	})
}

func FuzzChatApp1(f *testing.F) {
	fuzzChat(f, (*webhook.Receiver).ParseChatApp1, (*webhook.Receiver).ChatApp1)
}

func FuzzChatApp2(f *testing.F) {
	fuzzChat(f, (*webhook.Receiver).ParseChatApp2, (*webhook.Receiver).ChatApp2)
}

func fuzzChat(f *testing.F, parse func(*webhook.Receiver, *http.Request) ([]webhook.ChatMessage, []webhook.DeliveryReport, error), handler func(*webhook.Receiver, func(context.Context, webhook.ChatMessage) error) http.Handler) {
	f.Helper()
	fuzz(f, parsing[webhook.ChatMessage]{
		parse: func(rcv *webhook.Receiver, r *http.Request) ([]webhook.ChatMessage, error) {
			messages, _, err := parse(rcv, r)
			return messages, err
		},
		handler: handler,
		params:  func(m webhook.ChatMessage) webhook.Params { return m.Params },
		check:   checkChat,
		names:   append(senders, "from_user_id"),
	})
}

func checkChat(t *testing.T, query, body string, m webhook.ChatMessage) {
	t.Helper()
	require.NotEmpty(t, m.From)
	hasNoZeroByte(t, query, m.ID, m.From, m.To, m.ReferenceID, m.UserID)
	require.True(t, m.JSON == nil || json.Valid(m.JSON))
	values := []string{m.ID, m.From, m.To, m.ReferenceID, m.Name, string(m.JSON)}
	switch c := m.Content.(type) {
	case webhook.Text:
		values = append(values, c.Body)
	case webhook.Media:
		values = append(values, string(c.Kind), c.URL, c.ID, c.MIMEType, c.Caption, c.FileName)
	case webhook.Location:
		require.LessOrEqual(t, c.Latitude*c.Latitude, 8100.0)
		require.LessOrEqual(t, c.Longitude*c.Longitude, 32400.0)
	case webhook.Contacts:
		require.LessOrEqual(t, len(c), 512)
	case webhook.Reply:
		values = append(values, string(c.Kind), c.ID, c.Title, c.Response)
	case webhook.Reaction:
		require.NotEmpty(t, c.MessageID)
	case webhook.Order:
		require.LessOrEqual(t, len(c.Items), 1024)
	case webhook.Product, webhook.System, webhook.Edit, webhook.Revoke, webhook.RequestWelcome, webhook.Unknown:
	default:
		t.Fatalf("%T", c)
	}
	common(t, query, body, m.Params, m.RawQuery, values...)
}

func FuzzDelivery(f *testing.F) {
	fuzz(f, parsing[webhook.DeliveryReport]{
		parse:   (*webhook.Receiver).ParseDelivery,
		handler: (*webhook.Receiver).Delivery,
		params:  func(d webhook.DeliveryReport) webhook.Params { return d.Params },
		check: func(t *testing.T, query, body string, d webhook.DeliveryReport) {
			t.Helper()
			require.NotEmpty(t, d.ID+d.ReferenceID)
			hasNoZeroByte(t, query, d.ID, d.ReferenceID, d.From, d.To, d.UserID, d.RawStatus)
			common(t, query, body, d.Params, d.RawQuery, d.ID, d.ReferenceID, d.From, d.To, d.Kind, d.RawStatus)
		},
	})
}
