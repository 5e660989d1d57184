package messagingtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// An Exchange is a request to the service and its response, as a file for [Replay] holds them.
type Exchange struct {
	Operation string           `json:"operation,omitempty"` // such as "sms.send"; for readers
	Request   RecordedRequest  `json:"request"`
	Response  RecordedResponse `json:"response"`
}

// RecordedRequest is the request of an [Exchange]. Only Method and Path are compared.
type RecordedRequest struct {
	Method string      `json:"method"`
	Path   string      `json:"path"` // escaped, without the path of the base URL
	Query  url.Values  `json:"query,omitempty"`
	Header http.Header `json:"header,omitempty"`
	RecordedBody
}

// RecordedResponse is the response of an [Exchange].
type RecordedResponse struct {
	Status int         `json:"status"` // 200 to 599
	Header http.Header `json:"header,omitempty"`
	RecordedBody
}

// RecordedBody is a body that is JSON, or any other as text. One of the two is empty.
type RecordedBody struct {
	JSON json.RawMessage `json:"body,omitempty"`
	Text string          `json:"text,omitempty"`
}

// Replay starts a server that serves recorded responses, and is closed when the test and its subtests have ended.
//
// Each file of the folder whose name ends in .json holds one [Exchange]. In the order of their names, such as
// 001-sms.send.json and 002-sms.list.json, the n-th request with a method and a path gets the n-th response that was recorded
// for them. Query, header and body of a request are not compared. A request for which there is no response, or none any more,
// gets status 501 and a JSON body whose message says why. The test fails if a file is no Exchange or the folder has none.
func Replay(tb testing.TB, dir string) *httptest.Server {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json")) // sorted
	if err != nil || len(files) == 0 {
		tb.Fatalf("messagingtest: Replay: the folder %s has no file *.json", dir)
	}
	responses := map[string][]RecordedResponse{} // by method and path
	for _, file := range files {
		x, err := readExchange(file)
		if err != nil {
			tb.Fatalf("messagingtest: Replay: %s: %v", file, err)
		}
		key := x.Request.Method + " " + x.Request.Path
		responses[key] = append(responses[key], x.Response)
	}
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Method + " " + r.URL.EscapedPath()
		mu.Lock()
		left := responses[key]
		responses[key] = left[min(1, len(left)):]
		mu.Unlock()
		if len(left) == 0 {
			response{status: http.StatusNotImplemented, body: encode(map[string]string{
				"message": "replay: no recorded response is left for " + key,
			})}.write(w)
			return
		}
		left[0].write(w)
	}))
	tb.Cleanup(server.Close)
	return server
}

func readExchange(file string) (x Exchange, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller's own file
	if err != nil {
		return x, err //nolint:wrapcheck // it says which file
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	switch err = decoder.Decode(&x); {
	case err != nil:
		return x, err //nolint:wrapcheck // the caller says which file
	case x.Request.Method == "" || x.Request.Path == "":
		return x, errors.New("request.method or request.path is absent")
	case x.Response.Status < 200 || x.Response.Status > 599:
		return x, fmt.Errorf("response.status is %d, want 200 to 599", x.Response.Status)
	case x.Response.JSON != nil && x.Response.Text != "":
		return x, errors.New("response has both body and text")
	}
	return x, nil
}

func (r RecordedResponse) write(w http.ResponseWriter) {
	for name, values := range r.Header {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Connection", "Content-Encoding", "Content-Length", "Date", "Transfer-Encoding": // net/http writes its own
		default:
			w.Header()[name] = values
		}
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(slices.Concat(r.JSON, []byte(r.Text))) // one of them is empty
}
