package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// callback is a request to a webhook, in the form in which --save stores it.
type callback struct {
	Number   int         `json:"number"`
	Unproven bool        `json:"unproven,omitzero"` // accepted without a secret: anyone may have sent it
	Received time.Time   `json:"received"`
	Method   string      `json:"method"`
	Path     string      `json:"path"`
	Query    string      `json:"query,omitzero"`
	Header   http.Header `json:"header,omitzero"`
	Body     []byte      `json:"body,omitzero"`
}

func newCallback(r *http.Request, body []byte) *callback {
	return &callback{
		Received: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body,
	}
}

// program is the program behind --forward.
type program struct{ base *url.URL }

// newProgram reads the URL of --forward. A URL without a scheme means http.
func newProgram(address string) (*program, error) {
	if address != "" && !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || !isForwardURL(base) {
		return nil, errors.New("--forward: want an http or https URL without a query, such as 127.0.0.1:8080/hooks")
	}
	return &program{base}, nil
}

func isForwardURL(u *url.URL) bool {
	isWeb := u.Scheme == "http" || u.Scheme == "https"
	return isWeb && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}

// send sends a callback to the program and returns its response. It fails if there is none within 30 seconds.
func (p *program) send(ctx context.Context, c *callback) (*bufferedResponse, error) {
	const timeout = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	target := p.base.JoinPath(c.Path)
	target.RawQuery = c.Query
	request, err := http.NewRequestWithContext(ctx, c.Method, target.String(), bytes.NewReader(c.Body)) //nolint:gosec // the user names the host
	if err != nil {
		return nil, err
	}
	for name, values := range c.Header {
		if name != "Content-Length" && name != "Connection" {
			request.Header[name] = values
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	received := &bufferedResponse{header: response.Header, status: response.StatusCode}
	received.header.Del("Content-Length") // net/http sets it
	if _, err = io.Copy(&received.body, response.Body); err != nil {
		return nil, fmt.Errorf("its response ended early: %w", err)
	}
	return received, nil
}

const (
	maxUnproven      = 1000     // callbacks that a file takes without a secret
	maxUnprovenBytes = 16 << 20 // bytes that a file takes without a secret
)

// saveFile is the file of --save. Without a secret its size is bounded, because anyone can call.
type saveFile struct {
	file      *os.File
	isBounded bool
	isFull    bool
	count     int
	bytes     int
}

func openSaveFile(name string, isBounded bool) (*saveFile, error) {
	const ownerOnly = 0o600
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerOnly) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	return &saveFile{file: file, isBounded: isBounded}, nil
}

// add adds a callback. becameFull reports that the file has reached its bounds with this call; later callbacks are left out, too.
func (f *saveFile) add(c *callback) (becameFull bool, err error) {
	if f.isFull {
		return false, nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return false, err
	}
	if f.isBounded && (f.count == maxUnproven || f.bytes+len(line) >= maxUnprovenBytes) {
		f.isFull = true
		return true, nil
	}
	n, err := f.file.Write(append(line, '\n'))
	f.bytes += n
	f.count++
	return false, err
}

func (f *saveFile) close() { _ = f.file.Close() }
