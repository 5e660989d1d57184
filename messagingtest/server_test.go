package messagingtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

const goodBody = `{"from":"ACME","to":"+639171234567","text":"Hi"}`

func defaults() *table.Table { return table.Of(contract.Default()) }

// speaking returns the option for the contract that an overlay makes.
func speaking(overlay string) Option {
	names, err := contract.Parse([]byte(overlay))
	if err != nil {
		panic(err)
	}
	return WithContract(names)
}

// The overlays for each kind of paging but the default.
const (
	overlayByOffset = `{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "offset"}}}`
	overlayByCursor = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}`
	overlayUnpaged  = `{"sms.list": {"paging": {"by": "none", "whole": true}, "params": {"page": "", "pageSize": ""}}}`
)

// pageBy changes how an idle server pages.
func pageBy(s *Server, kind string) {
	overlays := map[string]string{"page": `{}`, "offset": overlayByOffset, "cursor": overlayByCursor, "none": overlayUnpaged}
	speaking(overlays[kind])(s)
}

// The codes of refusals.
const (
	codeUnauthorized        = "40001"
	codeRateLimited         = "40002"
	codeNoSuchPath          = "40005"
	codeUnavailable         = "50000"
	codeInsufficientBalance = "200101"
	codeDuplicate           = "200206"
	codeInvalid             = "40003"
	codeMethod              = "40004"
	codeBody                = "200201"
	codeContentType         = "200202"
	codeKind                = "200203"
	codeMissing             = "200204"
	codeRecipient           = "200205"
	codeCallback            = "200207"
	codeTooLarge            = "200208"
	codeQuery               = "200209"
	codeNumber              = "200210"
	codeTime                = "200211"
	codeSort                = "200212"
	codeCursor              = "200213"
	codePayload             = "200214"
	codeLifetime            = "200215"
	codeFallback            = "200216"
	codeURL                 = "200217"
	codeValue               = "200218"
	codeConstant            = "200220"
)

// readSend reads a request that sends JSON, without its credentials.
func readSend(s *Server, path, body string) (m submission, p *problem) {
	for _, op := range s.operations {
		if op.contract.Path != path {
			continue
		}
		f := fields{op: op, values: document{}, extra: document{}, body: []byte(body)}
		if p := f.readJSON(f.body, f.names()); p != nil {
			return m, p
		}
		if p := f.checkConstants(nil, nil); p != nil {
			return m, p
		}
		return f.submission()
	}
	return m, &problem{"notFound", "no such path"}
}

// reply is what a plain net/http client saw.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	err     error // of the exchange, or of reading the body
	reused  bool  // the connection
	elapsed time.Duration
}

func (r reply) code(t *testing.T) string {
	t.Helper()
	var e struct{ Code, Message, RequestID string }
	require.NoError(t, json.Unmarshal(r.body, &e), "the body is %q", r.body)
	assert.NotEmpty(t, e.Message)
	assert.NotEmpty(t, e.RequestID)
	return e.Code
}

func (r reply) data(t *testing.T) map[string]string {
	t.Helper()
	require.NoError(t, r.err)
	require.Equal(t, http.StatusOK, r.status, "the body is %s", r.body)
	var a struct {
		Status string
		Data   map[string]string
	}
	require.NoError(t, json.Unmarshal(r.body, &a))
	require.Equal(t, "ok", a.Status)
	return a.Data
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func newRequest(t *testing.T, s *Server, body string) *http.Request {
	t.Helper()
	return newRequestTo(t, s, "/sms/send", body)
}

func newRequestTo(t *testing.T, s *Server, path, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.Token)
	return req
}

// do is safe to be called from any goroutine.
func do(client *http.Client, req *http.Request) (r reply) {
	began := time.Now()
	defer func() { r.elapsed = time.Since(began) }()
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { r.reused = info.Reused }}
	resp, err := client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		r.err = err
		return r
	}
	defer func() { _ = resp.Body.Close() }()
	r.status, r.header = resp.StatusCode, resp.Header
	r.body, r.err = io.ReadAll(resp.Body)
	return r
}

func send(t *testing.T, client *http.Client, s *Server, body string) reply {
	t.Helper()
	return sendTo(t, client, s, "/sms/send", body)
}

func sendTo(t *testing.T, client *http.Client, s *Server, path, body string) reply {
	t.Helper()
	return do(client, newRequestTo(t, s, path, body))
}

func TestServersAreIndependent(t *testing.T) {
	a, b := NewServer(t), NewServer(t)
	assert.NotEqual(t, a.URL, b.URL)
	secrets := map[string]bool{a.Token: true, a.APIKey: true, a.APISecret: true, b.Token: true, b.APIKey: true, b.APISecret: true}
	assert.Len(t, secrets, 6)
	assert.NotContains(t, secrets, "")
	assert.Empty(t, a.Sent())
	assert.Zero(t, a.Requests())
}

func TestNewServerClosesWithTest(t *testing.T) {
	var s *Server
	t.Run("inner", func(t *testing.T) { s = NewServer(t) })
	require.Error(t, send(t, newClient(t), s, goodBody).err)
}

func TestServerFieldsAreCopied(t *testing.T) {
	s := NewServer(t)
	req := newRequest(t, s, goodBody)
	s.Token = "changed"
	assert.Equal(t, http.StatusOK, do(newClient(t), req).status)
}

func TestServerServesEveryOperation(t *testing.T) {
	served := map[string]bool{}
	for _, op := range newServer().operations {
		served[op.contract.Path] = true
	}
	for name, section := range defaults().Sections() {
		v := reflect.ValueOf(section)
		if v.Kind() != reflect.Struct || !v.FieldByName("Path").IsValid() {
			continue
		}
		assert.True(t, served[v.FieldByName("Path").String()], "the server does not serve %s", name)
	}
}

func TestPathsAndMethods(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/sms/send", 405, "40004"},
		{"PUT", "/sms/send", 405, "40004"},
		{"DELETE", "/sms/send", 405, "40004"},
		{"OPTIONS", "/sms/send", 405, "40004"},
		{"POST", "/sms/send/", 404, "40005"},
		{"POST", "//sms/send", 404, "40005"},
		{"POST", "/sms%2Fsend", 404, "40005"},
		{"POST", "/SMS/send", 404, "40005"},
		{"POST", "/", 404, "40005"},
		{"GET", "/nothing", 404, "40005"},
		{"GET", "/chatapp1/send", 405, "40004"},
		{"PUT", "/chatapp2/send", 405, "40004"},
		{"POST", "/nothing/send", 404, "40005"},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			s := NewServer(t)
			req, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL+tc.path, nil)
			require.NoError(t, err)
			r := do(newClient(t), req)
			require.NoError(t, r.err)
			assert.Equal(t, tc.status, r.status)
			assert.Equal(t, tc.code, r.code(t))
			assert.Equal(t, "application/json", r.header.Get("Content-Type"))
			if tc.status == 405 {
				assert.Equal(t, "POST", r.header.Get("Allow"))
			} else {
				assert.Empty(t, r.header.Values("Allow"))
			}
			assert.Equal(t, 1, s.Requests())
			assert.Empty(t, s.Sent())
		})
	}
}

func TestBodyLimit(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	frame := `{"from":"ACME","to":"+639171234567","text":"Hi","pad":""}`
	fill := func(size int) string {
		return strings.Replace(frame, `"pad":"`, `"pad":"`+strings.Repeat("x", size-len(frame)), 1)
	}
	r := send(t, client, s, fill(1<<20))
	assert.Equal(t, http.StatusOK, r.status, "%s", r.body)

	r = send(t, client, s, fill(1<<20+1))
	require.NoError(t, r.err)
	assert.Equal(t, http.StatusRequestEntityTooLarge, r.status)
	assert.Equal(t, codeTooLarge, r.code(t))

	req := newRequest(t, s, "")
	req.ContentLength = -1 // chunked: the length is not known beforehand
	req.Body = io.NopCloser(io.LimitReader(zeros{}, 1<<20+1))
	r = do(client, req)
	require.NoError(t, r.err)
	assert.Equal(t, http.StatusRequestEntityTooLarge, r.status)
	assert.Len(t, s.Sent(), 1)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestSendConcurrently(t *testing.T) {
	const senders, each = 64, 10
	s := NewServer(t)
	client := newClient(t)
	ids := make(chan string, senders*each)
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				body := fmt.Sprintf(`{"from":"ACME","to":"+639171234567","text":"Hi","referenceId":"r-%d-%d","n":%d}`, i, j, j)
				req := newRequest(t, s, body)
				r := do(client, req)
				var a struct {
					Data struct{ ID, RequestID string }
				}
				if assert.NoError(t, r.err) && assert.NoError(t, json.Unmarshal(r.body, &a)) {
					ids <- a.Data.ID
				}
				_ = s.Sent()
				_ = s.Balance()
			}
		})
	}
	wg.Wait()
	close(ids)

	confirmed, references := map[string]bool{}, map[string]bool{}
	for id := range ids {
		confirmed[id] = true
	}
	sent := s.Sent()
	require.Len(t, sent, senders*each)
	for i, m := range sent {
		assert.True(t, confirmed[m.ID], "%s was not confirmed", m.ID)
		references[m.ReferenceID] = true
		if i > 0 {
			assert.False(t, m.At.Before(sent[i-1].At), "the ledger is not in order of processing")
		}
	}
	assert.Len(t, confirmed, senders*each)
	assert.Len(t, references, senders*each)
	assert.Equal(t, senders*each, s.Requests())
	assert.Equal(t, "999680.00", s.Balance())
}

func TestSentIsACopy(t *testing.T) {
	s := NewServer(t)
	send(t, newClient(t), s, `{"from":"ACME","to":"+639171234567","text":"Hi","app":"billing"}`).data(t)
	first := s.Sent()
	first[0].To = "changed"
	first[0].Extra["app"][1] = 'X'
	first[0].Extra["more"] = nil
	second := s.Sent()
	assert.Equal(t, "+639171234567", second[0].To)
	assert.Equal(t, map[string]json.RawMessage{"app": []byte(`"billing"`)}, second[0].Extra)
}

func TestReset(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	before := send(t, client, s, goodBody).data(t)
	s.Inject(FaultStatus(503, 0), 3)
	s.Reset()
	assert.Empty(t, s.Sent())
	assert.Zero(t, s.Requests())

	after := send(t, client, s, goodBody).data(t)
	assert.NotEqual(t, before["id"], after["id"])
	assert.NotEqual(t, before["requestId"], after["requestId"])
	assert.Equal(t, "999999.00", after["remaining"], "the balance stays")
	assert.Len(t, s.Sent(), 1)
	assert.Equal(t, 1, s.Requests())
}

func TestCloseEndsSlow(t *testing.T) {
	s := Start()
	client := newClient(t)
	s.Inject(FaultSlow(time.Hour), 3)
	replies := make(chan reply, 3)
	for range 3 {
		req := newRequest(t, s, goodBody)
		go func() { replies <- do(client, req) }()
	}
	require.Eventually(t, func() bool { return len(s.Sent()) == 3 }, 30*time.Second, time.Millisecond)

	began := time.Now()
	var wg sync.WaitGroup
	for range 3 { // each returns only when the server has ended
		wg.Go(s.Close)
	}
	wg.Wait()
	assert.Less(t, time.Since(began), 30*time.Second)
	for range 3 {
		require.Error(t, (<-replies).err)
	}
	assert.Len(t, s.Sent(), 3, "the ledger can be read after Close")
	require.Error(t, send(t, client, s, goodBody).err)
}

func TestCloseEndsPartialRequest(t *testing.T) {
	s := Start()
	body, feed := io.Pipe()
	req := newRequest(t, s, "")
	req.Body, req.ContentLength = body, 1000
	replies := make(chan reply, 1)
	client := newClient(t)
	go func() { replies <- do(client, req) }()
	_, err := feed.Write([]byte(`{"from":`))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.Requests() == 1 }, 30*time.Second, time.Millisecond)

	began := time.Now()
	s.Close()
	assert.Less(t, time.Since(began), 30*time.Second)
	feed.CloseWithError(io.ErrClosedPipe)
	require.Error(t, (<-replies).err)
	assert.Empty(t, s.Sent())
}

// Not parallel: it counts the goroutines of the process. Tests that are parallel go on when the others have ended.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		s := Start()
		client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
		for _, fault := range []Fault{
			{},
			FaultAcceptThenDrop(), FaultDropUnread(), FaultSlow(time.Millisecond), FaultStatus(429, 0), FaultStatus(503, 0),
			FaultTruncated(), FaultNotJSON(), FaultSlow(time.Hour),
		} {
			s.Inject(fault, 1)
			req := newRequest(t, s, goodBody)
			if fault == FaultSlow(time.Hour) {
				go do(client, req)
			} else {
				do(client, req)
			}
		}
		require.Eventually(t, func() bool { return s.Requests() == 9 }, 30*time.Second, time.Millisecond)
		s.Close()
		// The client's connections end because the server has closed them, idle ones too.
	}
	var after int
	for range 3000 {
		if after = runtime.NumGoroutine(); after <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	assert.Fail(t, "goroutines are left", "%d before, %d after\n%s", before, after, bytes.TrimSpace(stacks))
}

func TestCloseRightAfterStart(t *testing.T) {
	for range 50 {
		s := Start()
		s.Close()
		s.Close()
	}
}

func TestEveryChannelHasAConstant(t *testing.T) {
	var names []string
	for _, channel := range table.Channels() {
		names = append(names, channel.Name)
	}
	assert.Equal(t, []string{channelSMS, channelChatApp1, channelChatApp2}, names)
}
