package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// KeptOfError is how many bytes of an answer that is no success are kept.
const KeptOfError = 64 << 10

// drained is how many bytes more are read so that the connection can be used again; beyond, closing it is cheaper.
const drained = 64 << 10

// ErrTooLarge says that an answer is larger than what is read.
var ErrTooLarge = errors.New("the answer is larger than the client reads")

// tooLargeError is ErrTooLarge with its bound.
type tooLargeError int64

func (e tooLargeError) Error() string {
	return fmt.Sprintf("%v: more than %d bytes (WithMaxResponseBytes)", ErrTooLarge, int64(e))
}

// Unwrap gives ErrTooLarge.
func (tooLargeError) Unwrap() error { return ErrTooLarge }

// read gives the body of an answer and closes it. The memory that it takes is bounded by limit for a success and by
// KeptOfError for everything else, whatever Content-Length promises.
func read(resp *http.Response, limit int64, buffer []byte) ([]byte, error) {
	if resp.Body == nil {
		return nil, nil
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, nil // what follows is no body, and no context ends the reading of it
	}
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if !success {
		limit = KeptOfError
	} else if resp.ContentLength > limit {
		return nil, tooLargeError(limit)
	}
	body, whole, err := readUpTo(resp.Body, limit, resp.ContentLength, buffer)
	if err != nil || whole {
		return body, err
	}
	if !success {
		_, _ = io.CopyN(io.Discard, resp.Body, drained) // of an error page the beginning is enough
		return body, nil
	}
	switch n, err := io.CopyN(io.Discard, resp.Body, 1); {
	case n > 0:
		return body[:min(len(body), KeptOfError)], tooLargeError(limit)
	case err == io.EOF: //nolint:errorlint // io.Reader's own
		return body, nil
	default:
		return body, err
	}
}

// readUpTo reads at most limit bytes and tells whether that was all. Where the length is known it takes one piece of
// memory, a byte larger so that the end is seen; a large one is not believed before it comes.
func readUpTo(r io.Reader, limit, length int64, buffer []byte) (body []byte, whole bool, err error) {
	const believed = 1 << 20
	switch length = min(length, limit); {
	case length < 0:
		length = 511
	case length > believed:
		length = believed
	}
	body = buffer[:0]
	if int64(cap(body)) <= length {
		body = make([]byte, 0, length+1)
	}
	for int64(len(body)) < limit {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := r.Read(body[len(body):min(int64(cap(body)), limit)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, true, nil
		}
		if err != nil {
			return body, false, err
		}
	}
	return body, false, nil
}
