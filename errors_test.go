package messaging_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

func TestIsAccountProblem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"unauthorized":                   {401, `{}`, true},
		"no credit":                      {402, `{}`, true},
		"forbidden":                      {403, `{}`, true},
		"no credit, but names a message": {402, `{"id":"m-1"}`, false},
		"forbidden by a page of a proxy": {403, `<html>`, false},
		"invalid":                        {400, `{}`, false},
		"rate limited":                   {429, `{}`, false},
		"server error":                   {500, `{}`, false},
		"accepted":                       {200, `{"id":"m-1"}`, false},
	} {
		service := troubled{status: tt.status, body: tt.body}
		client := service.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		_, err := client.SMS.Send(t.Context(), hello)
		assert.Equal(t, tt.want, messaging.IsAccountProblem(fmt.Errorf("wrapped: %w", err)), "%s: %v", name, err)
		_, err = client.SMS.Find(t.Context(), "r")
		assert.False(t, messaging.IsAccountProblem(err), "%s: a read", name)
	}
	assert.False(t, messaging.IsAccountProblem(nil))
	client, err := messaging.NewClient("https://api.example.com", messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), hello)
	assert.True(t, messaging.IsAccountProblem(err), "no credentials for the channel")
}

// A read can always be repeated. The question is whether that can help, and when.
func TestRetryableOfARead(t *testing.T) {
	t.Parallel()
	once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})
	responds := func(status int, body string, headers ...string) messaging.Option {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return respond(r, status, body, headers...), nil }).option()
	}
	fails := func(err error) messaging.Option {
		return roundTripper(func(*http.Request) (*http.Response, error) { return nil, err }).option()
	}
	cut := roundTripper(func(r *http.Request) (*http.Response, error) {
		response := respond(r, http.StatusOK, "")
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"data":[`), iotest.ErrReader(io.ErrUnexpectedEOF)))
		response.ContentLength = 1000
		return response, nil
	})
	huge := roundTripper(func(r *http.Request) (*http.Response, error) {
		response := respond(r, http.StatusOK, "")
		response.ContentLength = 1 << 40
		return response, nil
	})
	silent := roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	for name, tt := range map[string]struct {
		service messaging.Option
		after   time.Duration
		ok      bool
	}{
		"refused dial":           {fails(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), time.Second, true},
		"reset":                  {fails(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), time.Second, true},
		"timeout":                {silent.option(), time.Second, true},
		"cut":                    {cut.option(), time.Second, true},
		"not JSON":               {responds(200, `<html>`), time.Second, true},
		"408":                    {responds(408, ``), time.Second, true},
		"429":                    {responds(429, `{}`), time.Second, true},
		"429 with Retry-After":   {responds(429, `{}`, "Retry-After", "90"), 90 * time.Second, true},
		"500":                    {responds(500, `{}`), time.Second, true},
		"502, a page":            {responds(502, `<html>`), time.Second, true},
		"503 with Retry-After":   {responds(503, `{}`, "Retry-After", "30"), 30 * time.Second, true},
		"504":                    {responds(504, ``), time.Second, true},
		"rate limited by a code": {responds(200, `{"code":"40002"}`), time.Second, true},
		"unavailable by a code":  {responds(400, `{"code":"50001"}`), time.Second, true},
		"400":                    {responds(400, `{}`), 0, false},
		"401":                    {responds(401, `{}`), 0, false},
		"402":                    {responds(402, `{}`), 0, false},
		"403":                    {responds(403, `{}`, "Retry-After", "30"), 0, false},
		"404":                    {responds(404, `{}`), 0, false},
		"501":                    {responds(501, `{}`), 0, false},
		"redirect":               {responds(302, ``), 0, false},
		"unauthorized by a code": {responds(200, `{"code":"40001"}`), 0, false},
		"unknown code":           {responds(200, `{"code":"E7","data":[]}`), 0, false},
		"another form":           {responds(200, `{}`), 0, false},
		"too large":              {huge.option(), 0, false},
		"certificate":            {fails(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), 0, false},
		"not listed":             {responds(200, `{"data":[],"hasNext":false}`), 0, false},
		"filter ignored":         {responds(200, `{"data":[{"id":"m-1","referenceId":"another"}],"hasNext":false}`), 0, false},
		"unreadable row":         {responds(200, `{"data":["?"],"hasNext":false}`), 0, false},
	} {
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), tt.service, once, messaging.WithTimeout(100*time.Millisecond))
		require.NoError(t, err)
		_, err = client.SMS.Find(t.Context(), "r-1")
		require.Error(t, err, name)
		after, ok := messaging.Retryable(fmt.Errorf("wrapped: %w", err))
		assert.Equal(t, tt.ok, ok, "%s: %v", name, err)
		assert.Equal(t, tt.after, after, "%s: %v", name, err)
	}
}

func TestRetryableOfAReadWithoutARequest(t *testing.T) {
	t.Parallel()
	retryable := func(ctx context.Context, client *messaging.Client) (time.Duration, bool) {
		_, err := client.SMS.Find(ctx, "r-1")
		require.Error(t, err)
		return messaging.Retryable(err)
	}
	service := troubled{status: 503, body: `{}`, retryAfter: "10"}
	once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	after, ok := retryable(ended, service.client(t))
	assert.True(t, ok, "the read itself can be repeated, under another context")
	assert.Equal(t, time.Second, after)

	limited := service.client(t, once, messaging.WithRateLimit(0.001, 1))
	_, _ = retryable(t.Context(), limited)
	after, ok = retryable(t.Context(), limited)
	assert.True(t, ok)
	assert.InDelta(t, 1000, after.Seconds(), 60, "the turn of the rate limit")

	broken := service.client(t, once)
	for range 16 {
		_, _ = retryable(t.Context(), broken)
	}
	_, err := broken.SMS.Find(t.Context(), "r-1")
	require.ErrorIs(t, err, messaging.ErrBreakerOpen)
	after, ok = messaging.Retryable(err)
	assert.True(t, ok)
	assert.InDelta(t, 10, after.Seconds(), 2, "the pause of the breaker")

	uncredentialed, err := messaging.NewClient(baseURL, messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1))
	require.NoError(t, err)
	_, ok = retryable(t.Context(), uncredentialed)
	assert.False(t, ok)

	_, err = service.client(t).SMS.Find(t.Context(), "")
	_, ok = messaging.Retryable(err)
	assert.False(t, ok, "an invalid argument: %v", err)
}

// A message that may have gone out must not look retryable because a lookup failed as well.
func TestRetryableIsNotTrueForASendBecauseOfARead(t *testing.T) {
	t.Parallel()
	service := troubled{status: 503, body: `{}`}
	client := service.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithSettle(messaging.SettlePolicy{Window: time.Nanosecond}))
	_, sent := client.SMS.Send(t.Context(), hello)
	_, found := client.SMS.Find(t.Context(), "order-17")
	_, settled := client.SMS.Settle(t.Context(), hello, time.Now().Add(-time.Hour))
	_, once := client.SMS.SendOnce(t.Context(), hello)
	service.status, service.body = 409, `{"code":"200206"}`
	_, duplicate := client.SMS.Send(t.Context(), hello)
	_, ok := messaging.Retryable(found)
	require.True(t, ok)
	for name, err := range map[string]error{
		"sent":                       sent,
		"settled":                    settled,
		"sent once":                  once,
		"a read, then a send":        errors.Join(found, sent),
		"a send, then a read":        errors.Join(sent, found),
		"a read, then a duplicate":   fmt.Errorf("%w, after %w", found, duplicate),
		"a read, then a wrapped one": errors.Join(found, fmt.Errorf("wrapped: %w", sent)),
	} {
		_, ok := messaging.Retryable(err)
		assert.False(t, ok, name)
		assert.True(t, messaging.MayHaveBeenSent(err), name)
	}
}

func TestVerdictText(t *testing.T) {
	t.Parallel()
	for verdict, word := range map[messaging.Verdict]string{
		messaging.Unknown: "unknown", messaging.Accepted: "accepted", messaging.Refused: "refused", messaging.NotSent: "not sent",
	} {
		raw, err := json.Marshal(map[string]messaging.Verdict{"verdict": verdict})
		require.NoError(t, err)
		assert.Equal(t, `{"verdict":"`+word+`"}`, string(raw))
		var back map[string]messaging.Verdict
		require.NoError(t, json.Unmarshal(raw, &back))
		assert.Equal(t, verdict, back["verdict"])
	}
	_, err := json.Marshal(messaging.Verdict(9))
	require.Error(t, err)
	v := messaging.Refused
	require.ErrorContains(t, v.UnmarshalText([]byte("Refused")), "want unknown, accepted, refused or not sent")
	assert.Equal(t, messaging.Refused, v)
}

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, messaging.Accepted, messaging.VerdictOf(nil))
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(fmt.Errorf("job 7: %w", &messaging.Error{Verdict: messaging.Refused})))
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(fmt.Errorf("job 7: %w", &messaging.ValidationError{})))
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(errors.New("from elsewhere")))
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(messaging.ErrUnreadableRow))
}

func TestValidationErrorText(t *testing.T) {
	t.Parallel()
	client, _ := mocked(t)
	_, send := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567"})
	_, find := client.SMS.Find(t.Context(), "")
	_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{CreatedAfter: time.Unix(2, 0), CreatedBefore: time.Unix(1, 0)}))
	_, first := messaging.FirstAccepted(t.Context())
	_, option := messaging.NewClient("")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{send, "messaging: sms.send not sent: Text: required, but absent"},
		{find, "messaging: sms.list: referenceID: required, but empty"},
		{errs[0], "messaging: sms.list: CreatedBefore: "},
		{first, "messaging: FirstAccepted: sends: required, but absent"},
		{option, "messaging: baseURL: "},
	} {
		assert.ErrorContains(t, tt.err, tt.want)
	}
}

func TestTokenDoesNotLeak(t *testing.T) {
	t.Parallel()
	type holder struct{ Token messaging.Token }
	token := messaging.Token{Value: "tok-SECRET", Expiry: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC)}
	for name, encode := range map[string]func(any) ([]byte, error){
		"json": json.Marshal,
		"xml":  xml.Marshal,
		"gob": func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
		"text": func(v any) ([]byte, error) {
			return fmt.Appendf(nil, "%v %+v %#v %s %q %x %d", v, v, v, v, v, v, v), nil
		},
		"log": func(v any) ([]byte, error) {
			var b bytes.Buffer
			slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "token", v)
			return b.Bytes(), nil
		},
	} {
		for _, value := range []any{token, &token, holder{token}, []messaging.Token{token}, map[string]messaging.Token{"k": token}} {
			if _, isMap := value.(map[string]messaging.Token); isMap && name == "xml" {
				continue // encoding/xml knows no maps
			}
			raw, err := encode(value)
			require.NoError(t, err, name)
			assertSilent(t, string(raw))
			assert.Contains(t, string(raw), "2026-10-03T14:44:23Z", "%s of %T", name, value)
		}
	}
	text, err := token.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "messaging.Token(expires 2026-10-03T14:44:23Z)", string(text))
	assert.Equal(t, "messaging.Token(never expires)", fmt.Sprint(messaging.Token{Value: "tok-SECRET"}))
}

func TestWithTokenRejectsTheSchemeWord(t *testing.T) {
	t.Parallel()
	own := overlay(t, `{"auth":{"token":{"scheme":"Key"}}}`)
	none := overlay(t, `{"auth":{"token":{"scheme":""}}}`)
	for name, tt := range map[string]struct {
		options  []messaging.Option
		rejected string
	}{
		"the word":                     {[]messaging.Option{messaging.WithToken("Bearer tok-SECRET")}, `"Bearer"`},
		"in another case":              {[]messaging.Option{messaging.WithToken("bearer tok-SECRET")}, `"Bearer"`},
		"with a tab":                   {[]messaging.Option{messaging.WithToken("BEARER\ttok-SECRET")}, `"Bearer"`},
		"the beginning of a token":     {[]messaging.Option{messaging.WithToken("Bearertok")}, ""},
		"the word alone":               {[]messaging.Option{messaging.WithToken("Bearer")}, ""},
		"of another contract":          {[]messaging.Option{own, messaging.WithToken("key tok-SECRET")}, `"Key"`},
		"of the default contract only": {[]messaging.Option{own, messaging.WithToken("Bearer tok-SECRET")}, ""},
		"a contract without a word":    {[]messaging.Option{none, messaging.WithToken("Bearer tok-SECRET")}, ""},
	} {
		_, err := messaging.NewClient(baseURL, tt.options...)
		if tt.rejected == "" {
			require.NoError(t, err, name)
			continue
		}
		var v *messaging.ValidationError
		require.ErrorAs(t, err, &v, name)
		assert.Equal(t, "WithToken", v.Field)
		assert.Contains(t, v.Reason, tt.rejected)
		assert.Contains(t, v.Reason, "without the scheme word")
		assertSilent(t, err.Error())
	}
}

func TestNewClientFromEnvNamesTheVariableOfATokenWithAScheme(t *testing.T) {
	t.Setenv("MESSAGING_BASE_URL", baseURL)
	t.Setenv("MESSAGING_TOKEN", "Bearer tok-SECRET")
	for _, name := range []string{"MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT"} {
		t.Setenv(name, "")
	}
	_, err := messaging.NewClientFromEnv()
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Equal(t, "MESSAGING_TOKEN", v.Field)
	assert.Contains(t, v.Reason, "without the scheme word")
	assertSilent(t, err.Error())
}

func TestNewClientFromEnvNamesTheVariableAndTheReason(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "SECRET.json")
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"sms.sned":{},"sms.lisst":{}}`), 0o600))
	t.Setenv("MESSAGING_BASE_URL", baseURL)
	t.Setenv("MESSAGING_TOKEN", "t")
	t.Setenv("MESSAGING_API_KEY", "")
	t.Setenv("MESSAGING_API_SECRET", "")

	t.Setenv("MESSAGING_CONTRACT", missing)
	_, err := messaging.NewClientFromEnv()
	require.EqualError(t, err, "messaging: MESSAGING_CONTRACT: the file that it names cannot be read: no such file or directory")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, err, messaging.ErrInvalid)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	assert.Equal(t, missing, path.Path)

	t.Setenv("MESSAGING_CONTRACT", broken)
	_, err = messaging.NewClientFromEnv()
	require.ErrorContains(t, err, "sms.sned")
	require.ErrorContains(t, err, "sms.lisst")
	assert.NotContains(t, err.Error(), "\n")
	var problem *contract.Error
	require.ErrorAs(t, err, &problem)
	assert.NotEmpty(t, problem.Path)
}

// said returns the text of an error after its status.
func said(err error) string {
	_, text, _ := strings.Cut(err.Error(), "HTTP 400, ")
	return text
}

func TestErrorTextLeavesOutSecretsOfTheService(t *testing.T) {
	t.Parallel()
	const token = "tok-SECRET-17af"
	m := sms.Message{From: "ACME", To: "+639171234567", Text: "hush hush", ReferenceID: "order-17", CallbackURL: "https://shop.example.com/?pin=4711"}
	for name, tt := range map[string]struct{ body, want string }{
		"a plain code":              {`{"code":"E-17","requestId":"q-1"}`, "code E-17, invalid, request q-1"},
		"a code of digits":          {`{"code":200202}`, "code 200202, invalid"},
		"a UUID":                    {`{"code":"E-17","requestId":"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"}`, "code E-17, invalid, request 0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"},
		"the recipient":             {`{"code":"invalid:639171234567"}`, "invalid"},
		"the recipient, local":      {`{"code":"invalid:09171234567"}`, "invalid"},
		"the recipient, separated":  {`{"code":"invalid:917-123-4567"}`, "invalid"},
		"the recipient, seven":      {`{"code":"E:1234567"}`, "invalid"},
		"another number":            {`{"code":"invalid:639181111111"}`, "invalid"},
		"the recipient as request":  {`{"requestId":"q-639171234567"}`, `invalid, "{\"requestId\":\"q-***\"}"`},
		"the token as code":         {`{"code":"tok-SECRET-17af"}`, "invalid"},
		"the token in a code":       {`{"code":"denied:tok-SECRET-17af"}`, "invalid"},
		"the token as request":      {`{"requestId":"tok-SECRET-17af"}`, `invalid, "{\"requestId\":\"***\"}"`},
		"a word of the text":        {`{"code":"E-HUSH","requestId":"q-1"}`, "code E-HUSH, invalid, request q-1"},
		"the token in capitals":     {`{"code":"TOK-SECRET-17AF","message":"no Tok-Secret-17af"}`, `invalid, "no ***"`},
		"a sentence":                {`{"code":"no such number"}`, "invalid"},
		"a reason":                  {`{"message":"Sender ID is not registered"}`, `invalid, "Sender ID is not registered"`},
		"a reason with a code":      {`{"code":"E-17","message":"Sender ID is not registered"}`, `code E-17, invalid, "Sender ID is not registered"`},
		"a reason with quotes":      {`{"message":"say \"please\""}`, `invalid, "say \"please\""`},
		"a reason with the sender":  {`{"message":"ACME is not registered"}`, `invalid, "*** is not registered"`},
		"a reason with a number":    {`{"message":"the recipient 639171234567 is invalid"}`, `invalid, "the recipient *** is invalid"`},
		"a number with spaces":      {`{"message":"the recipient 63 917 123 4567 is invalid"}`, `invalid, "the recipient *** is invalid"`},
		"a part of the number":      {`{"message":"the recipient 12345 is invalid"}`, `invalid, "the recipient *** is invalid"`},
		"digits of another":         {`{"message":"the recipient 98765 is invalid"}`, `invalid, "the recipient 98765 is invalid"`},
		"a diagnosis":               {`{"message":"invalid number 917-123, at most 1600 characters"}`, `invalid, "invalid number ***, at most 1600 characters"`},
		"digits of another script":  {`{"message":"the recipient ٦٣٩١٧١٢٣٤٥ is invalid"}`, `invalid, "the recipient *** is invalid"`},
		"a reason with the text":    {`{"message":"rejected: hush hush"}`, `invalid, "rejected: ***"`},
		"a part of the text":        {`{"message":"rejected: Hush..."}`, `invalid, "rejected: Hush..."`},
		"a reason with the token":   {`{"message":"bad token tok-SECRET-17af"}`, `invalid, "bad token ***"`},
		"a reason with a URL":       {`{"message":"cannot call https://shop.example.com/"}`, `invalid, "cannot call ***/"`},
		"a reason with a parameter": {`{"message":"cannot call ?pin=4711"}`, `invalid, "cannot call ?pin=***"`},
		"a reason with an address":  {`{"message":"ask ana@example.com"}`, `invalid, "ask ana@example.com"`},
		"a reason of two lines":     {`{"message":"one\ntwo"}`, `invalid, "one\ntwo"`},
		"a long reason":             {`{"message":"` + strings.Repeat("very ", 100) + `"}`, `invalid, "` + strings.Repeat("very ", 40) + `..."`},
		"a page":                    {`<html>Sender ID is not registered`, `a page responded to POST /sms/send: the base URL or the path may be wrong, invalid, "<html>Sender ID is not registered"`},
		"an empty object":           {`{}`, "invalid"},
		"another name":              {`{"err":{"msg":"originator is missing"}}`, `invalid, "originator is missing"`},
		"a code of another name":    {`{"errors":[{"errorCode":"no_sender","title":"No sender","detail":"Sender is not known"}]}`, `code no_sender, invalid, "Sender is not known"`},
		"too deep for a sentence":   {`{"a":{"b":{"c":{"message":"no"}}}}`, `invalid, "{\"a\":{\"b\":{\"c\":{\"message\":\"no\"}}}}"`},
		"no usual name":             {`{"why":"we do not know 639171234567"}`, `invalid, "{\"why\":\"we do not know ***\"}"`},
	} {
		client, mock := mocked(t, messaging.WithToken(token))
		responding(mock, http.StatusBadRequest, tt.body)
		_, err := client.SMS.Send(t.Context(), m)
		assert.Equal(t, tt.want, said(err), name)
		e, _ := errors.AsType[*messaging.Error](err)
		assert.Equal(t, tt.body, string(e.Body), "%s: it is all in the fields", name)
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		var shown struct{ Message string }
		require.NoError(t, json.Unmarshal(raw, &shown))
		assert.Equal(t, e.Error(), shown.Message, name)
		assert.Contains(t, e.LogValue().String(), "message="+e.Error(), name)
	}
}

func TestErrorTextLeavesOutEveryKindOfCredential(t *testing.T) {
	t.Parallel()
	sign := func(r *http.Request) error {
		r.Header.Set("X-Signature", "HMAC sig-abcdef")
		q := r.URL.Query()
		q.Set("nonce", "nonce-abcdef")
		r.URL.RawQuery = q.Encode()
		return nil
	}
	for name, tt := range map[string]struct {
		options []messaging.Option
		echoed  []string
	}{
		"token":     {[]messaging.Option{messaging.WithToken("tok-abcdef")}, []string{"tok-abcdef"}},
		"source":    {[]messaging.Option{messaging.WithTokenSource(issue("tok-abcdef"))}, []string{"tok-abcdef"}},
		"key pair":  {[]messaging.Option{messaging.WithAPIKey("key-abcdef", "sec-abcdef")}, []string{"key-abcdef", "sec-abcdef"}},
		"in header": {[]messaging.Option{messaging.WithAPIKey("key-abcdef", "sec-abcdef"), overlay(t, `{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":"X-Secret"}}}`)}, []string{"key-abcdef", "sec-abcdef"}},
		"in query":  {[]messaging.Option{messaging.WithAPIKey("key-abcdef", "sec-abcdef"), overlay(t, `{"auth":{"keyPair":{"in":"query"}}}`)}, []string{"key-abcdef", "sec-abcdef"}},
		"as basic":  {[]messaging.Option{messaging.WithAPIKey("key-abcdef", "sec-abcdef"), overlay(t, `{"auth":{"keyPair":{"in":"basic"}}}`)}, []string{"key-abcdef", "sec-abcdef", "a2V5LWFiY2RlZjpzZWMtYWJjZGVm"}},
		"basic":     {[]messaging.Option{messaging.WithBasicAuth("user-abc", "sec-abcdef")}, []string{"user-abc", "sec-abcdef"}},
		"function":  {[]messaging.Option{messaging.WithAuth(sign)}, []string{"sig-abcdef", "nonce-abcdef"}},
	} {
		client, mock := mocked(t, tt.options...)
		for _, secret := range tt.echoed {
			body := fmt.Sprintf(`{"code":%q,"requestId":%q,"message":%q}`, secret, "q-"+secret, "what is "+secret)
			responding(mock, http.StatusBadRequest, body)
			respondingLists(mock, always(http.StatusBadRequest, body))
			_, err := client.SMS.Send(t.Context(), one)
			require.EqualError(t, err, `messaging: sms.send refused: HTTP 400, invalid, "what is ***"`, name)
			if name == "key pair" {
				continue // it has no place in a lookup
			}
			_, err = client.SMS.Find(t.Context(), "r-1")
			require.EqualError(t, err, `messaging: sms.list failed: HTTP 400, invalid`, name)
		}
	}
}

func TestErrorTextLeavesOutTheContentOfAChatAppMessage(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	responding(mock, http.StatusBadRequest, `{"code":"surprise","message":"no surprise for you"}`)
	m := chatapp2.Message{To: chatNumber, Content: chatapp2.Text{Body: "surprise"}}
	_, err := client.ChatApp2.Send(t.Context(), m)
	require.EqualError(t, err, `messaging: chatapp2.send refused: HTTP 400, invalid, "no *** for you"`)
	m.Content = chatapp2.Text{Body: "other"}
	_, err = client.ChatApp2.Send(t.Context(), m)
	require.EqualError(t, err, `messaging: chatapp2.send refused: HTTP 400, code surprise, invalid, "no surprise for you"`)
	m.Extra = map[string]any{"category": []string{"surprise"}}
	_, err = client.ChatApp2.Send(t.Context(), m)
	require.EqualError(t, err, `messaging: chatapp2.send refused: HTTP 400, invalid, "no *** for you"`)
}

func TestErrorOfAReadLeavesOutItsFilters(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	respondingLists(mock, always(http.StatusBadRequest, `{"code":"to:12345678","message":"no rows for 1234"}`))
	_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{To: "+6312345678"}))
	require.Len(t, errs, 1)
	require.EqualError(t, errs[0], `messaging: sms.list failed: HTTP 400, invalid`)
	respondingLists(mock, always(http.StatusBadRequest, `{"message":"no such page"}`))
	_, errs = list(client.SMS.List(t.Context(), sms.ListOptions{To: "+6312345678"}))
	require.EqualError(t, errs[0], `messaging: sms.list failed: HTTP 400, invalid, "no such page"`)
}

func TestPlainDataPrintsWholeAndLogsNothingPersonal(t *testing.T) {
	t.Parallel()
	tx := sms.Transaction{ID: "t-1", ReferenceID: "r-1", From: "SECRET", To: "+639171234567", Text: "Jerry", Description: "SECRET", Extra: map[string]json.RawMessage{"SECRET": nil}}
	receipt := messaging.Receipt{
		ID: "t-1", ReferenceID: "r-1", Status: "accepted for +639171234567", Attempts: 2, Raw: json.RawMessage(`{"to":"+639171234567"}`),
	}
	for _, value := range []any{tx, receipt, message, chatMessage1, chatMessage2} {
		assert.Contains(t, fmt.Sprintf("%+v", value), "ReferenceID:", "%T", value)
		var log bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Info("shown", "value", value)
		}
		assertSilent(t, log.String())
		for _, reference := range []string{"r-1", "order-17"} {
			if strings.Contains(fmt.Sprintf("%+v", value), reference) {
				assert.Contains(t, log.String(), reference, "%T", value)
			}
		}
	}
	assert.Contains(t, fmt.Sprintf("%+v", tx), "+639171234567")
}

func TestWithLoggerPassesTheCallersContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	var seen []any
	caller := context.WithValue(t.Context(), key{}, "mine")
	handler := contextHandler(func(ctx context.Context) {
		assert.Equal(t, caller, ctx, "the context of an attempt may have ended")
		seen = append(seen, ctx.Value(key{}), fmt.Sprintf("%s %v %+v %#v %x", ctx, ctx, ctx, ctx, ctx))
	})
	client, mock := mocked(t, messaging.WithLogger(slog.New(handler)))
	responding(mock, http.StatusBadGateway, "")
	_, err := client.SMS.Send(caller, message)
	require.Error(t, err)
	require.Len(t, seen, 4, "an attempt, and an unknown outcome")
	assert.Equal(t, []any{"mine", "mine"}, []any{seen[0], seen[2]})
	assertSilent(t, fmt.Sprint(seen))
}

// contextHandler is a slog.Handler that looks at the context.
type contextHandler func(context.Context)

func (contextHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h contextHandler) Handle(ctx context.Context, _ slog.Record) error {
	h(ctx)
	return nil
}

func (h contextHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h contextHandler) WithGroup(string) slog.Handler { return h }

func TestErrUnknownKey(t *testing.T) {
	t.Parallel()
	var stored sms.Message
	err := json.Unmarshal([]byte(`{"from":"ACME","to":"+639171234567","text":"Hi","laterField":1}`), &stored)
	require.ErrorIs(t, err, messaging.ErrUnknownKey)
	assert.ErrorContains(t, err, "laterField")
	require.NotErrorIs(t, json.Unmarshal([]byte(`{"from":1}`), &stored), messaging.ErrUnknownKey)
}

// The error names the status that the contract lacks, and where it is, unless the word may be personal.
func TestErrorTextNamesAnUnknownStatus(t *testing.T) {
	t.Parallel()
	const token = "tok-SECRET-17af"
	m := sms.Message{From: "ACME", To: "+639171234567", Text: "hush"}
	for word, want := range map[string]string{
		`"parked"`:                               `"status" is parked`,
		`"PARKED_2-b"`:                           `"status" is PARKED_2-b`,
		`17`:                                     `"status" is 17`,
		`"hush"`:                                 `"status"`,
		`"ACME"`:                                 `"status"`,
		`"1234567"`:                              `"status"`,
		`"sent-639171234567"`:                    `"status"`,
		`"tok-SECRET-17af"`:                      `"status"`,
		`"parked for a while"`:                   `"status"`,
		`{"a":"parked"}`:                         `"status"`,
		`""`:                                     `"status"`,
		`"parked\nparked"`:                       `"status"`,
		`"` + strings.Repeat("parked", 11) + `"`: `"status"`,
	} {
		client, mock := mocked(t, messaging.WithToken(token))
		responding(mock, http.StatusOK, `{"id":"m-1","message":"all fine","status":`+word+`}`)
		_, err := client.SMS.Send(t.Context(), m)
		assert.EqualError(t, err, "messaging: sms.send has an unknown outcome: HTTP 200, the response has a status that is not a word of the contract "+
			"(accepted, refused): "+want+`, "all fine"`, word)
	}
	e, _ := sendGetting(t, `{"sms.send": {"response": {"id": [], "status": [""]}}}`, http.StatusOK, nil, `"parked"`)
	assert.ErrorContains(t, e, `(accepted, refused): "" is parked`, "the status is the whole response")
}
