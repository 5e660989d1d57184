package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
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

// replay makes the recorded requests by hand, and decodes each response into a type of the client's by json.Decoder: what
// the client would cost if it were no more than its types. What writing the body costs is left out, in its favour.
func (r *recorder) replay(over http.RoundTripper, decoded func() any) operation {
	client := &http.Client{Transport: over}
	return func(ctx context.Context, n int) error {
		for range n {
			for _, one := range r.requests {
				if err := one.send(ctx, client, decoded()); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (r *recorded) send(ctx context.Context, client *http.Client, into any) error {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, r.header)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	if err = json.NewDecoder(resp.Body).Decode(into); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
