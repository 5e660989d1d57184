package faulttest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// The tests here measure the memory of the whole program, so none of them is parallel.

const (
	kibi = int64(1 << 10)
	mebi = int64(1 << 20)
	gibi = int64(1 << 30)
)

// allocated returns how many bytes are allocated while f runs, and by how much the stacks grow: an upper bound of what f holds
// at once. What a peer in the same program allocates counts too.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) + max(0, int64(after.StackInuse)-int64(before.StackInuse))
}

// newPlainServer speaks HTTP/1 and HTTP/2 without TLS.
func newPlainServer(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// spaces are valid between any two tokens of JSON.
var spaces = bytes.Repeat([]byte(" "), 64<<10)

// respondsWithBytes responds with JSON that spaces make size bytes long, as long as the client takes them. A body of size 0
// does not end.
func respondsWithBytes(status int, size int64, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		left := size
		if size == 0 {
			left = 256 * mebi
		}
		w.WriteHeader(status)
		n, err := io.WriteString(w, echo)
		for left -= int64(n); err == nil && left > 0; left -= int64(n) {
			n, err = w.Write(spaces[:min(left, int64(len(spaces)))])
		}
		if size == 0 {
			<-r.Context().Done()
		}
	}
}

func nested(unit string, depth int) string {
	closing := map[byte]string{'[': "]", '{': "}"}[unit[0]]
	return strings.Repeat(unit, depth) + "1" + strings.Repeat(closing, depth)
}

// responds responds with a text.
func responds(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// respondsWithManyFields accepts a message, with ten thousand header fields.
func respondsWithManyFields(w http.ResponseWriter, _ *http.Request) {
	for i := range 10_000 {
		w.Header().Set("X-Field-"+strconv.Itoa(i), "value")
	}
	_, _ = io.WriteString(w, acceptedBody)
}

// respondsWithBomb responds with a gibibyte, compressed to about a mebibyte.
func respondsWithBomb(t *testing.T) http.HandlerFunc {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range mebi / int64(len(spaces)) {
		_, err := w.Write(spaces)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for range gibi / mebi { // members of one gzip stream
			if _, err := w.Write(packed.Bytes()); err != nil {
				return
			}
		}
	}
}

func TestResponseLimits(t *testing.T) {
	const (
		tooLarge = "the response is larger than 8388608 bytes"
		tooDeep  = "JSON that nests too deep"
		deep     = 100_000
	)
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		text   string // of the error, in part
		most   int64  // bytes of memory
		depth  bool   // a matter of the body, not of the protocol
	}{
		{name: "1 GiB, announced", handle: respondsWithBytes(200, gibi, "Content-Length", strconv.FormatInt(gibi, 10)), text: tooLarge, most: 16 * mebi},
		{name: "1 GiB, not announced", handle: respondsWithBytes(200, gibi), text: tooLarge, most: 64 * mebi},
		{name: "1 GiB out of gzip", handle: respondsWithBomb(t), text: tooLarge, most: 64 * mebi},
		{name: "no end", handle: respondsWithBytes(200, 0), text: tooLarge, most: 64 * mebi},
		{name: "error page of 10 MiB", handle: respondsWithBytes(400, 10*mebi), text: "HTTP 400", most: 8 * mebi},
		{name: "error page of 10 MiB, in HTML", handle: responds(502, "<html>"+strings.Repeat("<p>", int(10*mebi/3))), text: "HTTP 502, unavailable", most: 24 * mebi},
		{name: "error page without an end", handle: respondsWithBytes(502, 0), text: "HTTP 502, unavailable", most: 8 * mebi},
		{name: "arrays, 100,000 deep", handle: responds(200, nested("[", deep)), text: tooDeep, most: 16 * mebi, depth: true},
		{name: "objects, 100,000 deep", handle: responds(200, nested(`{"data":`, deep)), text: tooDeep, most: 16 * mebi, depth: true},
		{name: "a field, 100,000 deep", handle: responds(200, `{"status":"ok","data":{"id":"m-1","more":`+nested(`{"a":`, deep)+`}}`), text: tooDeep, most: 16 * mebi, depth: true},
		{name: "a row, 100,000 deep", handle: responds(200, `{"hasNext":false,"data":[{"transactionId":"t-1","more":`+nested("[", deep)+`}]}`), text: tooDeep, most: 16 * mebi, depth: true},
		{name: "8 MiB of depth", handle: responds(200, strings.Repeat("[", int(8*mebi)-1)), text: tooDeep, most: 96 * mebi, depth: true},
		{name: "error page, 100,000 deep", handle: responds(400, nested(`{"error":`, deep)), text: "HTTP 400", most: 16 * mebi, depth: true},
	} {
		for protocol, option := range map[string]messaging.Option{
			"HTTP/1": messaging.WithHTTPClient(&http.Client{}),
			"HTTP/2": messaging.WithHTTPClient(&http.Client{Transport: http2Transport()}),
		} {
			if tt.depth && protocol != "HTTP/1" {
				continue
			}
			server := newPlainServer(t, tt.handle)
			client := newClient(t, server.URL, noRetry, option)
			for operation, verdict := range map[string]string{
				"sms.send": "", "chatapp1.send": "", "chatapp2.send": "", "sms.list": " failed",
			} {
				if strings.HasPrefix(operation, "chatapp") && protocol != "HTTP/1" {
					continue // the response to every send is read in the same way
				}
				t.Run(tt.name+", "+protocol+", "+operation, func(t *testing.T) {
					var err error
					used := allocated(func() { err = call(t, client, operation) })
					assert.LessOrEqual(t, used/kibi, tt.most/kibi, "KiB of memory")
					require.Error(t, err)
					assert.Regexp(t, `^messaging: `+operation+verdict+`[a-z ]*: `, err.Error())
					assert.ErrorContains(t, err, tt.text)
					assertNoSecrets(t, err)
					var e *messaging.Error
					require.ErrorAs(t, err, &e)
					assert.LessOrEqual(t, len(e.Body), 64<<10)
					assert.LessOrEqual(t, len(e.Message), 2<<10)
				})
			}
			server.CloseClientConnections()
		}
	}
}

// call sends or lists, as the operation says.
func call(t *testing.T, client *messaging.Client, operation string) error {
	t.Helper()
	for _, channel := range channels {
		if channel.operation() == operation {
			_, err := channel.send(t.Context(), client, "+"+testNumber, testText, testReference)
			return err
		}
	}
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{To: "+" + testNumber}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// The library's own transport reads 64 KiB of header. Another one reads what its owner allows.
func TestResponseHeaderLimit(t *testing.T) {
	server := newPlainServer(t, respondsWithManyFields)
	strict := http2Transport()
	strict.MaxResponseHeaderBytes = 64 << 10
	for _, tt := range []struct {
		name    string
		options []messaging.Option
		text    string // of the error, or ""
	}{
		{name: "the library's own transport", text: "the header of the response is larger than the client reads"},
		{name: "HTTP/1", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: &http.Transport{}})}},
		{name: "HTTP/2", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: http2Transport()})}},
		{name: "HTTP/2 with a bound", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: strict})}, text: "the connection failed after the request was written (http"},
	} {
		for _, channel := range channels {
			t.Run(tt.name+", "+channel.name, func(t *testing.T) {
				client := newClient(t, server.URL, append(tt.options, noRetry)...)
				var err error
				used := allocated(func() { err = call(t, client, channel.operation()) })
				assert.LessOrEqual(t, used/kibi, 32*mebi/kibi, "KiB of memory")
				if tt.text == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
				assert.ErrorContains(t, err, tt.text)
			})
		}
	}
}

func TestListMemoryDoesNotGrow(t *testing.T) {
	const early, late, rows = 500, 20_000, 10
	page := 0
	client := newClient(t, baseURL, roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		page++
		body := []byte(`{"hasNext":true,"data":[`)
		for i := range rows {
			body = append(body, `{"text":"hush","transactionId":"t-`...)
			body = strconv.AppendInt(body, int64((page-1)*rows+i), 10)
			body = append(body, `"},`...)
		}
		return newResponse(r, 200, string(body[:len(body)-1])+`]}`), nil
	}).option())
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	var before, after int64 // both during the listing
	seen := 0
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		if err != nil || tx.ID != "t-"+strconv.Itoa(seen) {
			require.FailNow(t, "a row is missing", "%d: %v", seen, err)
		}
		if seen++; seen == early*rows {
			before = inUse()
		}
		if seen == late*rows {
			after = inUse()
			break
		}
	}
	assert.Equal(t, late, page)
	assert.Less(t, after-before, mebi, "bytes that 19,500 pages leave behind")
}

func TestListDetectsAServiceThatIgnoresThePage(t *testing.T) {
	asked := 0
	client := newClient(t, baseURL, roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		asked++
		return newResponse(r, 200, `{"hasNext":true,"data":[{"transactionId":"t-1"},{"transactionId":"t-2"}]}`), nil
	}).option())
	_, errs := list(t.Context(), client, sms.ListOptions{}, 1000)
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "the service does not page as the contract says (sms.list.paging, sms.list.params)")
	assert.Equal(t, 2, asked)
}

// Anyone may have written what is in a queue.
func TestDeepJSON(t *testing.T) {
	const deep = 100_000
	for _, unit := range []string{"[", `{"a":`} {
		deeply := nested(unit, deep)
		for name, read := range map[string]func() error{
			"chatapp2.Message, interactive": func() error {
				return json.Unmarshal([]byte(`{"to":"+639171234567","type":"interactive","interactive":`+deeply+`}`), new(chatapp2.Message))
			},
			"chatapp2.Message, extra": func() error {
				return json.Unmarshal([]byte(`{"to":"+639171234567","type":"text","text":{"body":"hush"},"more":`+deeply+`}`), new(chatapp2.Message))
			},
			"chatapp1.Message": func() error {
				return json.Unmarshal([]byte(`{"to":"+639171234567","text":"hush","more":`+deeply+`}`), new(chatapp1.Message))
			},
			"sms.Message": func() error {
				return json.Unmarshal([]byte(`{"to":"+639171234567","text":"hush","more":`+deeply+`}`), new(sms.Message))
			},
			"contract": func() error {
				_, err := contract.Parse([]byte(`{"sms.send":{"constants":{"a":` + deeply + `}}}`))
				return err
			},
		} {
			t.Run(name+", "+unit, func(t *testing.T) {
				var err error
				used := allocated(func() { err = read() })
				assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
				require.Error(t, err)
				assert.Less(t, len(err.Error()), 200)
				assert.NotContains(t, err.Error(), "hush")
			})
		}
	}
}
