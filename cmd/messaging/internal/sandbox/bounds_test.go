package sandbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongURLsAreBounded sends callback URLs of 900 KB, which must not add up in memory.
func TestLongURLsAreBounded(t *testing.T) { //nolint:paralleltest // it measures memory
	r := newRig(t, Config{})
	st := r.lock()
	small := defaultBounds()
	small.bytes, small.traffic = small.bytes/8, small.traffic/8
	st.book.bounds, st.traffic.bounds = small, small
	st.unlock()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	callback := r.hook.URL + "/" + strings.Repeat("x", 900_000)
	for i := range 10 {
		status, text := r.do(http.MethodPost, "/sms/send", fmt.Sprintf(`{"from":"A","to":"+63917%07d","text":"x","dlrReport":1,"dlrCallback":%q}`, i, callback))
		require.Equal(t, http.StatusOK, status, text)
	}
	var calls struct{ Calls []WebhookCall }
	r.api(http.MethodGet, "calls?wait=30s", "", &calls)
	assert.LessOrEqual(t, len(calls.Calls[0].URL), maxURL+10)
	st = r.lock()
	bytes, traffic := st.book.bytes, st.traffic.bytes
	st.unlock()
	assert.LessOrEqual(t, bytes, small.bytes)
	assert.LessOrEqual(t, traffic, small.traffic)
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(50<<20))
}

func TestResponseHeadersAreBounded(t *testing.T) {
	t.Parallel()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 900_000))
		for i := range 300 {
			w.Header().Set(fmt.Sprint("X-Many-", i), "x")
		}
	}))
	t.Cleanup(hook.Close)
	r := newRig(t, Config{Webhooks: map[string]string{channelSMS: hook.URL}})
	var got struct{ Calls []Call }
	r.api(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`, &got)
	x := r.exchange(got.Calls[0].Exchange)
	assert.Len(t, x.ResponseHeader, maxLines)
	for _, h := range x.ResponseHeader {
		assert.LessOrEqual(t, len(h.Value), maxValue+3)
	}
	assert.NotEmpty(t, x.RequestHeader, "what was written is shown")
	assert.Contains(t, x.RequestHeader, Header{Name: "Host", Value: strings.TrimPrefix(hook.URL, "http://")})
}

func TestTrafficIsBounded(t *testing.T) {
	t.Parallel()
	log := newTrafficLog(bounds{exchanges: 10, traffic: 1 << 20})
	for i := range 100 {
		log.add(&Exchange{ID: i, RequestBody: strings.Repeat("x", 300<<10)})
	}
	assert.Len(t, log.all, 3)
	assert.Len(t, log.byID, 3)
	assert.LessOrEqual(t, log.bytes, 1<<20)
	for i := range 100 {
		log.add(&Exchange{ID: 100 + i})
	}
	assert.Len(t, log.all, 10)
}

// TestUnauthorizedRequestIsCheap sends bodies that are expensive to parse: forms of one name with many parts, and deep documents.
func TestUnauthorizedRequestIsCheap(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for name, body := range map[string]string{
		"many parts": strings.Repeat("a.", 39_000) + "=1", "many names": strings.Repeat("a=1&", 60_000), "many long names": strings.Repeat(strings.Repeat("a.", 120)+"=1&", 200),
		"deep JSON": strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000), "a long list": "[" + strings.Repeat("1,", 30_000) + "1]",
		"an escaped name": strings.Repeat("%2e", 20_000) + "=1",
	} {
		began := time.Now()
		for range 10 {
			x := Exchange{Operation: "sms.send"}
			x.describe(r.sentFields(&x, []byte(body)))
		}
		assert.Less(t, time.Since(began), 30*time.Second, name) // ten times, on a busy machine; one of them took four seconds
	}
	status, _ := r.do(http.MethodPost, "/sms/send", strings.Repeat("a.", 39_000)+"=1", "Authorization", "", "Content-Type", "application/x-www-form-urlencoded")
	assert.GreaterOrEqual(t, status, http.StatusBadRequest)
}

func TestCallbackSecretsAreMaskedEverywhere(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Called", r.URL.String())
		_, _ = fmt.Fprint(w, "you called ", r.URL.String())
	}))
	t.Cleanup(echo.Close)
	r := newRig(t, Config{})
	callback := echo.URL + "/d?key=callback-secret&s=%s"
	for i, body := range []string{
		fmt.Sprintf(`{"from":"A","to":%q,"text":"x","dlrReport":1,"dlrCallback":%q}`, ana, callback),
		fmt.Sprintf(`{"from":"A","to":%q,"text":"x","dlrReport":1,"dlrCallback":"%s"}`, ana, strings.ReplaceAll(callback, "/", `\/`)),
		fmt.Sprintf(`{"from":"A","to":%q,"text":"x","dlrReport":1,"dlrCallback":"%s"}`, ana, strings.ReplaceAll(callback, "secret", `\u0073ecret`)),
	} {
		status, text := r.do(http.MethodPost, "/sms/send", body)
		require.Equal(t, http.StatusOK, status, text)
		var calls struct{ Calls []WebhookCall }
		r.api(http.MethodGet, fmt.Sprintf("calls?wait=30s&after=%d", 2*i), "", &calls)
	}
	_, messages := r.do(http.MethodGet, Root+"messages", "")
	_, traffic := r.do(http.MethodGet, Root+"traffic", "")
	all := messages + traffic
	for i := range 6 {
		all += r.page("page/traffic?exchange=" + itoa(i+1))
	}
	for _, m := range r.messages(3) {
		_, one := r.do(http.MethodGet, Root+"messages/"+m.ID, "")
		all += one + r.page("?message="+m.ID)
	}
	for _, secret := range []string{"callback-secret", `callback-\u0073ecret`, url.QueryEscape("callback-secret")} {
		lacks(t, all, secret)
	}
	contains(t, all, masked)
}

func TestWebhookIsShownMasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPatch, "settings", `{"webhooks":{"sms":"http://127.0.0.1:1/h?key=top-secret"}}`, nil)
	page := r.page("page/connect")
	contains(t, page, `value="http://127.0.0.1:1/h?key=••••"`)
	contains(t, page, "Remove the webhook for SMS?")
	r.api(http.MethodPatch, "settings", `{"webhooks":{"sms":"http://127.0.0.1:1/h?key=••••"}}`, nil)
	assert.Equal(t, "http://127.0.0.1:1/h?key=top-secret", r.guarded.settings.Webhooks["sms"], "as it was shown, it stays")
	status, text := r.do(http.MethodPatch, Root+"settings", `{"webhooks":{"sms":"http://127.0.0.1:2/h?key=••••"}}`)
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, text, "write the whole URL")
	r.api(http.MethodPatch, "settings", `{"webhooks":{"sms":""}}`, nil)
	lacks(t, r.page("page/connect"), "Remove the webhook")
}

// TestMemoryIsBoundedInBytes makes requests with URLs of 900 KB: a part of one, such as its method, must not keep the whole. Whole, the
// thousand that are kept would hold 900 MB.
func TestMemoryIsBoundedInBytes(t *testing.T) { //nolint:paralleltest // it measures memory
	r := newRig(t, Config{})
	long := strings.Repeat("x", 900_000)
	get := func(path, query string) {
		// As net/http reads it: the method, the path and the query are parts of one line. They are cut here, because under the race
		// detector net/url takes a tenth of a second for a path as long as that.
		line := "GET " + path + "?" + query + " HTTP/1.1"
		method, rest, _ := strings.Cut(line, " ")
		target, _, _ := strings.Cut(rest, " ")
		path, query, _ = strings.Cut(target, "?")
		request := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, RequestURI: target, Host: "127.0.0.1",
			Header: http.Header{"Accept": {line[:3]}}, Body: http.NoBody,
		}
		r.serve(httptest.NewRecorder(), request.WithContext(t.Context()))
	}
	held := func() uint64 {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return now.HeapAlloc
	}
	for i := range 1200 {
		get(fmt.Sprintf("/%d/%s", i, long[:1000]), "text="+long)
	}
	assert.Less(t, held(), uint64(40<<20), "the beginnings of them")
	for i := range 1100 {
		get(fmt.Sprintf("/short/%d", i), "")
	}
	assert.Less(t, held(), uint64(40<<20), "and when others have come")
	r.exchange(2300)
}
