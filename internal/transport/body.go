package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// MaxErrorBody is how many bytes are kept of a response that is not 2xx.
	MaxErrorBody = 64 << 10
	// maxDrained is how many further bytes are read so that the connection can be used again.
	maxDrained = 64 << 10
	// maxAllocated is how much memory a Content-Length can claim before the bytes come. minAllocated is allocated without one.
	maxAllocated = 1 << 20
	minAllocated = 511
)

var errTooLarge = errors.New("the response is too large")

func tooLargeError(limit int64) error {
	return &safeError{fmt.Sprintf("the response is larger than %d bytes", limit), errTooLarge}
}

// readBody reads the body of a response into buffer if it fits, and closes it. It reads at most limit bytes of a 2xx response, and keeps
// MaxErrorBody of any other.
func readBody(resp *http.Response, limit int64, buffer []byte) ([]byte, error) {
	if resp.Body == nil {
		return nil, nil
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return nil, nil // what follows is not a body, and no context ends reading it
	case !isSuccess(resp.StatusCode):
		return readErrorBody(resp, buffer)
	case resp.ContentLength > limit:
		return nil, tooLargeError(limit)
	}
	body, err := readUpTo(resp, limit+1, buffer)
	if int64(len(body)) > limit {
		return body[:min(limit, MaxErrorBody)], tooLargeError(limit)
	}
	return body, err
}

func readErrorBody(resp *http.Response, buffer []byte) ([]byte, error) {
	body, err := readUpTo(resp, MaxErrorBody, buffer)
	if err == nil && len(body) == MaxErrorBody {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrained)
	}
	return body, err
}

// readUpTo reads the beginning of a body, at most limit bytes of it.
func readUpTo(resp *http.Response, limit int64, buffer []byte) ([]byte, error) {
	expected := resp.ContentLength
	if expected < 0 {
		expected = minAllocated
	}
	expected = min(expected, limit, maxAllocated)
	if int64(cap(buffer)) <= expected {
		buffer = make([]byte, 0, expected+1) // the end shows in one byte more
	}
	buffer = buffer[:0]
	for int64(len(buffer)) < limit {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		end := min(int64(cap(buffer)), limit)
		n, err := resp.Body.Read(buffer[len(buffer):end])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			return buffer, nil
		}
		if err != nil {
			return buffer, err
		}
	}
	return buffer, nil
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }
