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
	// maxDrained is how many bytes beyond are read so that the connection can be used again.
	maxDrained = 64 << 10
	// maxAllocated is how much memory is taken for a Content-Length before the bytes come, and minAllocated without one.
	maxAllocated = 1 << 20
	minAllocated = 511
)

var errTooLarge = errors.New("the response is too large")

func tooLargeError(limit int64) error {
	return &namedError{fmt.Sprintf("the response is larger than %d bytes", limit), errTooLarge}
}

// readBody reads the body of a response into buffer if it fits, and closes it. It reads at most limit bytes of a 2xx
// response, and keeps MaxErrorBody of any other.
func readBody(resp *http.Response, limit int64, buffer []byte) ([]byte, error) {
	if resp.Body == nil {
		return nil, nil
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, nil // what follows is no body, and no context ends reading it
	}
	if !isSuccess(resp.StatusCode) {
		limit = MaxErrorBody
	} else if resp.ContentLength > limit {
		return nil, tooLargeError(limit)
	}
	length := resp.ContentLength
	if length < 0 {
		length = minAllocated
	}
	if length = min(length, limit, maxAllocated); int64(cap(buffer)) <= length {
		buffer = make([]byte, 0, length+1) // the end shows in one byte more
	}
	body, err := readUpTo(resp.Body, limit, buffer[:0])
	if err != nil || int64(len(body)) < limit {
		return body, err
	}
	if !isSuccess(resp.StatusCode) {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrained)
		return body, nil
	}
	switch n, err := io.CopyN(io.Discard, resp.Body, 1); {
	case n > 0:
		return body[:min(limit, MaxErrorBody)], tooLargeError(limit)
	case err == io.EOF: //nolint:errorlint // io.Reader's own
		return body, nil
	default:
		return body, err
	}
}

func readUpTo(r io.Reader, limit int64, buffer []byte) ([]byte, error) {
	for int64(len(buffer)) < limit {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := r.Read(buffer[len(buffer):min(int64(cap(buffer)), limit)])
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
