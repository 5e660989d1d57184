package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recorder records the requests of a client, so that replay can make them by hand.
type recorder struct {
	next     http.RoundTripper
	requests []recordedRequest
}

// A recordedRequest is a request of a client.
type recordedRequest struct {
	method, url string
	header      http.Header
	body        []byte
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	request := recordedRequest{method: req.Method, url: req.URL.String(), header: req.Header.Clone()}
	if req.Body != nil {
		var err error
		request.body, err = io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(request.body))
	}
	r.requests = append(r.requests, request)
	return r.next.RoundTrip(req)
}

// replay returns an operation that makes the recorded requests by hand: it encodes the values of each body, and decodes each response by
// json.Decoder into a result of the client's type.
func (r *recorder) replay(tb testing.TB, over http.RoundTripper, newResult func() any) operation {
	tb.Helper()
	client := &http.Client{Transport: over}
	var encode []func() ([]byte, error)
	for _, request := range r.requests {
		encode = append(encode, request.encoder(tb))
	}
	return func(ctx context.Context, n int) error {
		for range n {
			for i, request := range r.requests {
				body, err := encode[i]()
				if err != nil {
					return err
				}
				if err := request.send(ctx, client, body, newResult()); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// encoder returns a function that encodes the values of the body, as JSON or as a form.
func (r *recordedRequest) encoder(tb testing.TB) func() ([]byte, error) {
	tb.Helper()
	var object map[string]any
	if json.Unmarshal(r.body, &object) == nil {
		return func() ([]byte, error) { return json.Marshal(object) }
	}
	form, err := url.ParseQuery(string(r.body))
	require.NoError(tb, err)
	return func() ([]byte, error) { return []byte(form.Encode()), nil }
}

// send makes the request, and decodes the response.
func (r *recordedRequest) send(ctx context.Context, client *http.Client, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, r.header)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(into)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
