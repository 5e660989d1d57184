package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// The parts of an HTTP Archive 1.2 that the sandbox fills in. What it does not know is -1, as the format says.
type (
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
	}
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		StartedDateTime time.Time   `json:"startedDateTime"`
		Time            float64     `json:"time"`
		Request         harRequest  `json:"request"`
		Response        harResponse `json:"response"`
		Cache           struct{}    `json:"cache"`
		Timings         harTimings  `json:"timings"`
		Comment         string      `json:"comment,omitempty"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
	harRequest struct {
		Method      string   `json:"method"`
		URL         string   `json:"url"`
		HTTPVersion string   `json:"httpVersion"`
		Cookies     []Header `json:"cookies"`
		Headers     []Header `json:"headers"`
		QueryString []Header `json:"queryString"`
		PostData    *harBody `json:"postData,omitempty"`
		HeadersSize int      `json:"headersSize"`
		BodySize    int      `json:"bodySize"`
	}
	harResponse struct {
		Status      int      `json:"status"`
		StatusText  string   `json:"statusText"`
		HTTPVersion string   `json:"httpVersion"`
		Cookies     []Header `json:"cookies"`
		Headers     []Header `json:"headers"`
		Content     harBody  `json:"content"`
		RedirectURL string   `json:"redirectURL"`
		HeadersSize int      `json:"headersSize"`
		BodySize    int      `json:"bodySize"`
	}
	harBody struct {
		Size     int    `json:"size,omitempty"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
	}
)

// getHAR returns all traffic as an HTTP Archive. Secrets are masked, as on the page.
func (s *Sandbox) getHAR(w http.ResponseWriter, r *http.Request) {
	log := harLog{Version: "1.2", Creator: harCreator{"messaging sandbox", messaging.Version}, Entries: []harEntry{}}
	s.mu.Lock()
	for _, x := range s.traffic.all {
		log.Entries = append(log.Entries, x.har("http://"+r.Host))
	}
	s.mu.Unlock()
	w.Header().Set("Content-Disposition", `attachment; filename="sandbox.har"`)
	respond(w, http.StatusOK, map[string]any{"log": log})
}

// har returns an exchange as an entry of an archive.
func (x *Exchange) har(base string) harEntry {
	target := x.URL
	if x.Direction == "request" {
		target = base + x.URL
	}
	e := harEntry{
		StartedDateTime: x.At, Time: x.Millis, Timings: harTimings{Send: 0, Wait: x.Millis, Receive: 0},
		Comment: joinFilled(x.Direction, x.About, x.Fault, x.Reason, x.Error),
		Request: harRequest{
			Method: x.Method, URL: target, HTTPVersion: "HTTP/1.1", Cookies: []Header{}, Headers: x.RequestHeader,
			QueryString: queryLines(x.URL), HeadersSize: -1, BodySize: x.RequestSize,
		},
		Response: harResponse{
			Status: x.Status, StatusText: http.StatusText(x.Status), HTTPVersion: "HTTP/1.1", Cookies: []Header{}, Headers: x.ResponseHeader,
			Content: harBody{x.ResponseSize, headerIn(x.ResponseHeader, "Content-Type"), x.ResponseBody}, HeadersSize: -1, BodySize: x.ResponseSize,
		},
	}
	if x.RequestBody != "" {
		e.Request.PostData = &harBody{MIMEType: headerIn(x.RequestHeader, "Content-Type"), Text: x.RequestBody}
	}
	return e
}

func queryLines(target string) []Header {
	lines := []Header{}
	_, query, _ := strings.Cut(target, "?")
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			continue
		}
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		lines = append(lines, Header{name, value})
	}
	return lines
}

func headerIn(lines []Header, name string) string {
	for _, h := range lines {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
