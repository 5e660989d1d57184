package transport

import (
	"errors"
	"io"
	"net/http"
)

// KeptOfError is how many bytes of an answer that is no success are kept.
const KeptOfError = 64 << 10

// drained is how many bytes more are read so that the connection can be used again; beyond, closing it is cheaper.
const drained = 64 << 10

// ErrTooLarge says that an answer is larger than what is read.
var ErrTooLarge = errors.New("the answer is larger than the client reads")

// read gives the body of an answer and closes it. The memory that it takes is bounded by limit for a success and by
// KeptOfError for everything else, whatever Content-Length promises.
func read(resp *http.Response, limit int64) ([]byte, error) {
	if resp.Body == nil {
		return nil, nil
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if !success {
		limit = KeptOfError
	} else if resp.ContentLength > limit {
		return nil, ErrTooLarge
	}
	body, err := readUpTo(resp.Body, limit, resp.ContentLength)
	if err != nil {
		return body, err
	}
	switch n, err := io.CopyN(io.Discard, resp.Body, bounded(success)); {
	case success && n > 0:
		return body[:min(len(body), KeptOfError)], ErrTooLarge
	case err == io.EOF || err == nil: //nolint:errorlint // io.Reader's own
		return body, nil
	case success:
		return body, err
	default:
		return body, nil // of an error page the beginning is enough
	}
}

func bounded(success bool) int64 {
	if success {
		return 1
	}
	return drained
}

// readUpTo reads at most limit bytes, into one piece of memory where the length is known and small.
func readUpTo(r io.Reader, limit, length int64) ([]byte, error) {
	const piece = 64 << 10
	body := make([]byte, 0, 512)
	if length > 0 && length <= piece {
		body = make([]byte, 0, length)
	}
	for int64(len(body)) < limit {
		if len(body) == cap(body) {
			if int64(len(body)) == length {
				return body, nil
			}
			body = append(body, 0)[:len(body)]
		}
		space := body[len(body):min(int64(cap(body)), limit)]
		n, err := r.Read(space)
		body = body[:len(body)+n]
		if err == io.EOF { //nolint:errorlint // io.Reader's own
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
	return body, nil
}
