package messaging_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// The tests here measure the memory of the whole program: none of them runs beside others.

const (
	kibi = int64(1 << 10)
	mebi = int64(1 << 20)
	gibi = int64(1 << 30)
)

// memory tells how much is allocated while f runs, whether it is still in use or not, and by how much the stacks have
// grown then: more than f can ever have held at once. What a peer in the same program allocates counts too.
func memory(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) + max(0, int64(after.StackInuse)-int64(before.StackInuse))
}

// boundedServer speaks HTTP/1 and HTTP/2, both in the clear.
func boundedServer(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(answer)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// spaces are what every reader of JSON has to read over.
var spaces = bytes.Repeat([]byte(" "), 64<<10)

// pours answers with so many bytes that begin like JSON, as long as the client takes them. The end of 0 bytes never comes, and
// of what is before it there is enough to tell.
func pours(status int, size int64, header ...string) http.HandlerFunc {
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

// says answers with a text.
func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// manyFields answers with an acceptance below many header fields, each of its own name.
func manyFields(w http.ResponseWriter, _ *http.Request) {
	for i := range 10_000 {
		w.Header().Set("X-Field-"+strconv.Itoa(i), "value")
	}
	_, _ = io.WriteString(w, stubAccepted)
}

// bomb answers with a gibibyte that comes as one mebibyte.
func bomb(t *testing.T) http.HandlerFunc {
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

func TestWhateverTheAnswerIsMemoryIsBoundedAndTheErrorSaysWhatWasTooMuch(t *testing.T) {
	const (
		tooLarge = "HTTP 200, the answer could not be read to its end, the response is larger than 8388608 bytes (WithMaxResponseBytes)"
		tooDeep  = "HTTP 200, the answer is JSON that nests too deep"
		deep     = 100_000
	)
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		says   string // behind the operation and its verdict
		most   int64
		depth  bool // of the text alone: however it came
	}{
		{name: "1 GiB, announced", answer: pours(200, gibi, "Content-Length", strconv.FormatInt(gibi, 10)), says: tooLarge, most: 16 * mebi},
		{name: "1 GiB, not announced", answer: pours(200, gibi), says: tooLarge, most: 64 * mebi},
		{name: "1 GiB out of gzip", answer: bomb(t), says: tooLarge, most: 64 * mebi},
		{name: "without an end", answer: pours(200, 0), says: tooLarge, most: 64 * mebi},
		{name: "an error page of 10 MiB", answer: pours(400, 10*mebi), says: "HTTP 400, invalid", most: 8 * mebi},
		{name: "an error page of 10 MiB, in HTML", answer: says(502, "<html>"+strings.Repeat("<p>", int(10*mebi/3))), says: "HTTP 502, unavailable", most: 24 * mebi},
		{name: "an error page without an end", answer: pours(502, 0), says: "HTTP 502, unavailable", most: 8 * mebi},
		{name: "lists, 100,000 deep", answer: says(200, nested("[", deep)), says: tooDeep, most: 16 * mebi, depth: true},
		{name: "objects, 100,000 deep", answer: says(200, nested(`{"data":`, deep)), says: tooDeep, most: 16 * mebi, depth: true},
		{name: "a field, 100,000 deep", answer: says(200, `{"status":"ok","data":{"id":"m-1","more":`+nested(`{"a":`, deep)+`}}`), says: tooDeep, most: 16 * mebi, depth: true},
		{name: "a row, 100,000 deep", answer: says(200, `{"hasNext":false,"data":[{"transactionId":"t-1","more":`+nested("[", deep)+`}]}`), says: tooDeep, most: 16 * mebi, depth: true},
		{name: "8 MiB of depth", answer: says(200, strings.Repeat("[", int(8*mebi)-1)), says: tooDeep, most: 96 * mebi, depth: true},
		{name: "an error page, 100,000 deep", answer: says(400, nested(`{"error":`, deep)), says: "HTTP 400, invalid", most: 16 * mebi, depth: true},
	} {
		for protocol, option := range map[string]messaging.Option{
			"HTTP/1": messaging.WithHTTPClient(&http.Client{}),
			"HTTP/2": messaging.WithHTTPClient(&http.Client{Transport: http2Transport()}),
		} {
			if tt.depth && protocol != "HTTP/1" {
				continue
			}
			server := boundedServer(t, tt.answer)
			client := newFaultClient(t, server.URL, noRetry, option)
			for call, verdict := range map[string]string{
				"sms.send": "", "chatapp1.send": "", "chatapp2.send": "", "sms.list": " failed",
			} {
				if strings.HasPrefix(call, "chatapp") && protocol != "HTTP/1" {
					continue // which is read as every send is
				}
				t.Run(tt.name+", "+protocol+", "+call, func(t *testing.T) {
					var err error
					used := memory(func() { err = callOf(t, client, call) })
					assert.LessOrEqual(t, used/kibi, tt.most/kibi, "KiB of memory")
					require.Error(t, err)
					assert.Regexp(t, `^messaging: `+call+verdict+`[a-z ]*: `, err.Error())
					assert.ErrorContains(t, err, ": "+tt.says)
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

// callOf sends or lists, by the contract's name of the operation.
func callOf(t *testing.T, client *messaging.Client, operation string) error {
	t.Helper()
	for _, channel := range channels {
		if channel.operation() == operation {
			_, err := channel.send(t.Context(), client, "+"+faultNumber, faultText, faultReference)
			return err
		}
	}
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{To: "+" + faultNumber}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// The library's own transport takes 64 KiB of header fields. Another is as patient as its user has made it.
func TestTenThousandHeaderFieldsAreBoundedByTheTransport(t *testing.T) {
	server := boundedServer(t, manyFields)
	strict := http2Transport()
	strict.MaxResponseHeaderBytes = 64 << 10
	for _, tt := range []struct {
		name    string
		options []messaging.Option
		says    string // "": that is not too much
	}{
		{name: "the library's own", says: "the header of the response is larger than the client reads"},
		{name: "HTTP/1", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: &http.Transport{}})}},
		{name: "HTTP/2", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: http2Transport()})}},
		{name: "HTTP/2 with a bound", options: []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: strict})}, says: "the connection failed (http"},
	} {
		for _, channel := range channels {
			t.Run(tt.name+", "+channel.name, func(t *testing.T) {
				client := newFaultClient(t, server.URL, append(tt.options, noRetry)...)
				var err error
				used := memory(func() { err = callOf(t, client, channel.operation()) })
				assert.LessOrEqual(t, used/kibi, 32*mebi/kibi, "KiB of memory")
				if tt.says == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
				assert.ErrorContains(t, err, ": "+tt.says)
			})
		}
	}
}

func TestAListingWithoutAnEndTakesNoMoreMemoryTheLongerItIs(t *testing.T) {
	const early, late, rows = 500, 20_000, 10
	page := 0
	client := newFaultClient(t, "https://sms.example.invalid", roundTripper(func(r *http.Request) (*http.Response, error) {
		page++
		answer := []byte(`{"hasNext":true,"data":[`)
		for i := range rows {
			answer = append(answer, `{"text":"hush","transactionId":"t-`...)
			answer = strconv.AppendInt(answer, int64((page-1)*rows+i), 10)
			answer = append(answer, `"},`...)
		}
		return stubAnswer(r, 200, string(answer[:len(answer)-1])+`]}`), nil
	}).option())
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	var before, after int64 // both while the listing goes on
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
	assert.Less(t, after-before, mebi, "bytes that 19,500 pages have left behind")
}

func TestAListingThatTurnsInACircleEndsWithAnErrorThatSaysSo(t *testing.T) {
	for pages, says := range map[int]string{
		1:  "two pages in a row bring only rows that were seen: the service does not page as the contract says (sms.list.paging, sms.list.params)",
		3:  "a page came again after others: the service does not page as the contract says (sms.list.paging, sms.list.params)",
		50: "a page came again after others: the service does not page as the contract says (sms.list.paging, sms.list.params)",
	} {
		t.Run(fmt.Sprint(pages, " pages"), func(t *testing.T) {
			asked := 0
			client := newFaultClient(t, "https://sms.example.invalid", roundTripper(func(r *http.Request) (*http.Response, error) {
				asked++
				return stubAnswer(r, 200, fmt.Sprintf(`{"hasNext":true,"data":[{"transactionId":"t-%d"}]}`, asked%pages)), nil
			}).option())
			_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
			require.Len(t, errs, 1)
			assert.EqualError(t, errs[0], "messaging: sms.list failed: "+says)
			assert.LessOrEqual(t, asked, 4*pages+2)
		})
	}
}

// What is queued and what a webhook brings may have been written by anybody.
func TestDeepJSONIsRefusedWhereverItIsRead(t *testing.T) {
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
			"webhook, body": func() error {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"from":"639171234567","more":`+deeply+`}`))
				r.Header.Set("Content-Type", "application/json")
				_, err := webhook.ParseChatApp2(r, webhook.WithPOST(), webhook.WithLimits(256, int(16*mebi)))
				return err
			},
		} {
			t.Run(name+", "+unit, func(t *testing.T) {
				var err error
				used := memory(func() { err = read() })
				assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
				require.Error(t, err)
				assert.Less(t, len(err.Error()), 200)
				assert.NotContains(t, err.Error(), "hush")
			})
		}
		t.Run("webhook, parameter json, "+unit, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?from=639171234567&json="+url.QueryEscape(deeply), http.NoBody)
			var m webhook.ChatApp2Message
			var err error
			used := memory(func() { m, err = webhook.ParseChatApp2(r, webhook.WithLimits(256, int(16*mebi))) })
			assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
			require.NoError(t, err, "a message with a sender is not lost")
			assert.Nil(t, m.JSON)
			assert.Equal(t, deeply, m.Params.Get("json"))
			_, err = webhook.ParseChatApp2(r)
			require.ErrorIs(t, err, webhook.ErrTooLong, "without a higher limit")
		})
	}
}

func TestAWebhookRefusesAQueryOfOneMiB(t *testing.T) {
	var handled atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("/sms", webhook.SMS(func(context.Context, webhook.SMSMessage) error { handled.Add(1); return nil }))
	mux.Handle("/chatapp1", webhook.ChatApp1(func(context.Context, webhook.ChatApp1Message) error { handled.Add(1); return nil }))
	mux.Handle("/chatapp2", webhook.ChatApp2(func(context.Context, webhook.ChatApp2Message) error { handled.Add(1); return nil }))
	mux.Handle("/delivery", webhook.Delivery(func(context.Context, webhook.DeliveryReport) error { handled.Add(1); return nil }))
	const patient = 4 << 20
	for _, tt := range []struct {
		name   string
		bytes  int64
		header int // http.Server.MaxHeaderBytes
		status int
	}{
		{"of a server that takes it", mebi, patient, http.StatusRequestURITooLong},
		{"of a server with its defaults", mebi + 8*kibi, 0, http.StatusRequestHeaderFieldsTooLarge}, // net/http allows 4 KiB more than it says
	} {
		server := httptest.NewUnstartedServer(mux)
		server.Config.MaxHeaderBytes = tt.header
		server.Start()
		t.Cleanup(server.Close)
		for _, path := range []string{"/sms", "/chatapp1", "/chatapp2", "/delivery"} {
			for name, part := range map[string]string{"one parameter": "x", "many parameters": "x=1&"} {
				t.Run(tt.name+", "+path+", "+name, func(t *testing.T) {
					const front = "from=639171234567&id=m-1&status=delivered&text="
					query := front + strings.Repeat(part, int(tt.bytes)/len(part))
					var status int
					used := memory(func() { status = visit(t, server.Listener.Addr().String(), path+"?"+query[:tt.bytes]) })
					assert.Equal(t, tt.status, status)
					assert.LessOrEqual(t, used/kibi, 16*mebi/kibi, "KiB of memory")
				})
			}
		}
	}
	assert.Zero(t, handled.Load())
}

// visit asks with GET, and gives the status of the answer. It writes by itself: a server that has seen enough answers and
// closes before net/http's client has written all.
func visit(t *testing.T, address, target string) int {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(peerLife)))
	go func() { _, _ = io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: hooks.example\r\n\r\n") }()
	var status int
	_, err = fmt.Fscanf(c, "HTTP/1.1 %d", &status)
	require.NoError(t, err)
	return status
}
