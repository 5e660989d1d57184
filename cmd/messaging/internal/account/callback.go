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
	"unicode/utf8"
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

	// QueryBytes is a query that is not valid UTF-8, which JSON cannot hold as text. Query is then empty.
	QueryBytes []byte `json:"queryBytes,omitzero"`
}

func newCallback(r *http.Request, body []byte) *callback {
	c := &callback{
		Received: time.Now(),
		Method:   r.Method,
		Path:     r.URL.Path,
		Header:   r.Header.Clone(),
		Body:     body,
	}
	if utf8.ValidString(r.URL.RawQuery) {
		c.Query = r.URL.RawQuery
	} else {
		c.QueryBytes = []byte(r.URL.RawQuery)
	}
	return c
}

// rawQuery returns the query byte for byte.
func (c *callback) rawQuery() string { return c.Query + string(c.QueryBytes) }

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
	target := p.base.JoinPath(c.Path).String()
	request, err := http.NewRequestWithContext(ctx, c.Method, target, bytes.NewReader(c.Body)) //nolint:gosec // the user names the host
	if err != nil {
		return nil, err
	}
	request.URL.RawQuery = c.rawQuery() // as a part of the target, it would end at a #
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
	maxUnproven      = 1000     // callbacks in a file to which callbacks are added without a secret
	maxUnprovenBytes = 16 << 20 // bytes in such a file
)

// saveFile is the file of --save. Without a secret its size is bounded, because anyone can call.
type saveFile struct {
	file      *os.File
	isBounded bool
	isFull    bool
	count     int   // of the callbacks in the file, including earlier runs; 0 if it is not bounded
	bytes     int64 // the size of the file
}

func openSaveFile(name string, isBounded bool) (*saveFile, error) {
	const ownerOnly = 0o600
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerOnly) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	f := &saveFile{file: file, isBounded: isBounded}
	if isBounded {
		err = f.measure(name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// measure counts what earlier runs have written to the file.
func (f *saveFile) measure(name string) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil // a pipe has no size
	}
	data, err := readUpTo(name, maxUnprovenBytes)
	if err != nil {
		return err
	}
	f.count = bytes.Count(data, []byte("\n"))
	f.bytes = info.Size()
	return nil
}

// readUpTo reads the beginning of a file.
func readUpTo(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit))
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
	line = append(line, '\n')
	isBeyond := f.count >= maxUnproven || f.bytes+int64(len(line)) > maxUnprovenBytes
	if f.isBounded && isBeyond {
		f.isFull = true
		return true, nil
	}
	n, err := f.file.Write(line)
	if err != nil {
		return false, errors.Join(err, f.removeEnd(n))
	}
	f.bytes += int64(n)
	f.count++
	return false, nil
}

// removeEnd removes bytes from the end of the file: a part of a line would join the next callback. A pipe keeps them.
func (f *saveFile) removeEnd(length int) error {
	info, err := f.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.file.Truncate(info.Size() - int64(length))
}

func (f *saveFile) close() { _ = f.file.Close() }
