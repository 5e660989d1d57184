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

// recorder keeps the requests that a client makes, to have them made again by hand.
type recorder struct {
	next     http.RoundTripper
	requests []recorded
}

type recorded struct {
	method, url string
	header      http.Header
	body        []byte
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	one := recorded{method: req.Method, url: req.URL.String(), header: req.Header.Clone()}
	if req.Body != nil {
		var err error
		if one.body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(one.body))
	}
	r.requests = append(r.requests, one)
	return r.next.RoundTrip(req)
}

// replay makes the recorded requests by hand: it writes each body from its values, and decodes each response into a type of the
// client's by json.Decoder.
func (r *recorder) replay(tb testing.TB, over http.RoundTripper, decoded func() any) operation {
	tb.Helper()
	client := &http.Client{Transport: over}
	var write []func() ([]byte, error)
	for _, one := range r.requests {
		write = append(write, one.writer(tb))
	}
	return func(ctx context.Context, n int) error {
		for range n {
			for i, one := range r.requests {
				body, err := write[i]()
				if err == nil {
					err = one.send(ctx, client, body, decoded())
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// writer returns what writes the body anew from its values: as JSON, or else as a form.
func (r *recorded) writer(tb testing.TB) func() ([]byte, error) {
	tb.Helper()
	var object map[string]any
	if json.Unmarshal(r.body, &object) == nil {
		return func() ([]byte, error) { return json.Marshal(object) }
	}
	form, err := url.ParseQuery(string(r.body))
	require.NoError(tb, err)
	return func() ([]byte, error) { return []byte(form.Encode()), nil }
}

func (r *recorded) send(ctx context.Context, client *http.Client, body []byte, into any) error {
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
	if err = json.NewDecoder(resp.Body).Decode(into); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
