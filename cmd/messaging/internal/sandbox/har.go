package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
)

// getHAR returns all traffic as an HTTP Archive 1.2. What the sandbox does not know is -1, as the format says.
func (s *Sandbox) getHAR(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := []any{}
	for _, x := range s.traffic.all {
		entries = append(entries, x.har("http://"+r.Host))
	}
	r.w.Header().Set("Content-Disposition", `attachment; filename="sandbox.har"`)
	return map[string]any{"log": map[string]any{
		"version": "1.2", "creator": map[string]string{"name": "messaging sandbox", "version": messaging.Version}, "entries": entries,
	}}, nil
}

// har returns an exchange as an entry of an archive.
func (x *Exchange) har(base string) map[string]any {
	_, text, _ := strings.Cut(x.URL, "?")
	query, _ := url.ParseQuery(text) // what is not wrong
	request := map[string]any{
		"method": x.Method, "url": x.target(base), "httpVersion": "HTTP/1.1", "cookies": []any{}, "headers": x.RequestHeader,
		"queryString": linesOf(http.Header(query)), "headersSize": -1, "bodySize": x.RequestSize,
	}
	if x.RequestBody != "" {
		request["postData"] = map[string]string{"mimeType": headerIn(x.RequestHeader, "Content-Type"), "text": x.RequestBody}
	}
	return map[string]any{
		"startedDateTime": x.At, "time": x.Millis, "timings": map[string]any{"send": 0, "wait": x.Millis, "receive": 0}, "cache": struct{}{},
		"comment": joinFilled(x.Direction, x.About, x.Fault, x.Reason, x.Error), "request": request,
		"response": map[string]any{
			"status": x.Status, "statusText": http.StatusText(x.Status), "httpVersion": "HTTP/1.1", "cookies": []any{}, "headers": x.ResponseHeader,
			"content":     map[string]any{"size": x.ResponseSize, "mimeType": headerIn(x.ResponseHeader, "Content-Type"), "text": x.ResponseBody},
			"redirectURL": "", "headersSize": -1, "bodySize": x.ResponseSize,
		},
	}
}

// target returns the absolute URL of a request.
func (x *Exchange) target(base string) string {
	if x.Direction == "request" {
		return base + x.URL
	}
	return x.URL
}
