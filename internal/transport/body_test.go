package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countedBody counts how much of it was read and how often it was closed.
type countedBody struct {
	io.Reader
	read   int64
	closed int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += int64(n)
	return n, err
}

func (b *countedBody) Close() error {
	b.closed++
	return errors.New("closing failed")
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func readFrom(r io.Reader, status int, length, limit int64) (body *countedBody, got []byte, err error) {
	body = &countedBody{Reader: r}
	got, err = readBody(&http.Response{StatusCode: status, ContentLength: length, Body: body}, limit, nil)
	return body, got, err
}

func TestReadBodyReadsUpToTheLimit(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"plain":       func(r io.Reader) io.Reader { return r },
		"end at once": iotest.DataErrReader,
		"in halves":   iotest.HalfReader,
	}
	for _, limit := range []int64{1, 2, 511, 512, 513, 4096, MaxErrorBody, MaxErrorBody + 1, 200_000} {
		for _, size := range []int64{0, 1, limit / 2, limit - 1, limit, limit + 1, limit + 2, 2 * limit, limit + MaxErrorBody} {
			content := bytes.Repeat([]byte("0123456789abcdef"), int(size/16+1))[:size]
			for promise, length := range map[string]int64{
				"right": size, "unknown": -1, "none": 0, "one less": size - 1, "one more": size + 1, "as the bound": limit, "negative": math.MinInt64,
			} {
				for kind, reader := range readers {
					name := fmt.Sprintf("%d of %d, length %s, %s", size, limit, promise, kind)
					body, got, err := readFrom(reader(bytes.NewReader(content)), 200, length, limit)
					assert.Equal(t, 1, body.closed, name)
					if size > limit || length > limit {
						require.ErrorIs(t, err, errTooLarge, name)
						assert.LessOrEqual(t, len(got), MaxErrorBody, name)
						assert.True(t, bytes.HasPrefix(content, got), name)
						continue
					}
					require.NoError(t, err, name)
					assert.True(t, bytes.Equal(content, got), "%s: %d bytes", name, len(got))
				}
			}
		}
	}
}

func TestReadBodyLimitsEvery2xx(t *testing.T) {
	for status, large := range map[int]bool{199: false, 200: true, 201: true, 299: true, 300: false, 400: false, 500: false} {
		_, got, err := readFrom(strings.NewReader("0123456789"), status, -1, 4)
		if large {
			require.ErrorIs(t, err, errTooLarge, status)
		} else {
			require.NoError(t, err, status)
			assert.Equal(t, "0123456789", string(got), status)
		}
	}
}

func TestReadBodyDoesNotReadTooLargeAContentLength(t *testing.T) {
	for _, length := range []int64{5, 1 << 40, math.MaxInt64} {
		body, got, err := readFrom(endless{}, 200, length, 4)
		require.ErrorIs(t, err, errTooLarge)
		assert.Empty(t, got)
		assert.Zero(t, body.read)
		assert.Equal(t, 1, body.closed)
	}
}

func TestReadBodyKeepsTheBeginningOfAnErrorPage(t *testing.T) {
	page := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	for _, status := range []int{302, 400, 429, 500, 503} {
		for _, size := range []int{0, 1, MaxErrorBody - 1, MaxErrorBody, MaxErrorBody + 1, MaxErrorBody + maxDrained, len(page)} {
			for _, length := range []int64{int64(size), -1, 0, math.MaxInt64} {
				body, got, err := readFrom(bytes.NewReader(page[:size]), status, length, 10)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(page[:min(size, MaxErrorBody)], got), "%d of %d bytes", len(got), size)
				assert.EqualValues(t, min(size, MaxErrorBody+maxDrained), body.read, "what is small is read to its end, for the connection's sake")
				assert.Equal(t, 1, body.closed)
			}
		}
	}
}

func TestReadBodyEndsForEndlessBodies(t *testing.T) {
	body, got, err := readFrom(endless{}, 200, -1, 1<<20)
	require.ErrorIs(t, err, errTooLarge)
	assert.Len(t, got, MaxErrorBody)
	assert.LessOrEqual(t, body.read, int64(1<<20+1))
	assert.Equal(t, 1, body.closed)

	body, got, err = readFrom(endless{}, 503, -1, 1<<20)
	require.NoError(t, err)
	assert.Len(t, got, MaxErrorBody)
	assert.LessOrEqual(t, body.read, int64(MaxErrorBody+maxDrained))
	assert.Equal(t, 1, body.closed)
}

func TestReadBodyKeepsWhatCameBeforeAnError(t *testing.T) {
	for _, status := range []int{200, 400, 503} {
		for _, length := range []int64{-1, 4, 10, 1000} {
			body, got, err := readFrom(io.MultiReader(strings.NewReader("half"), failingReader{io.ErrUnexpectedEOF}), status, length, 1<<20)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d, length %d", status, length)
			assert.Equal(t, "half", string(got))
			assert.Equal(t, 1, body.closed)
		}
	}
}

func TestReadBodyCutAtTheLimitIsNotTooLarge(t *testing.T) {
	for _, limit := range []int64{1, 4, 512, MaxErrorBody + 1} {
		content := bytes.Repeat([]byte("x"), int(limit))
		for _, length := range []int64{-1, limit} {
			body, got, err := readFrom(io.MultiReader(bytes.NewReader(content), failingReader{io.ErrUnexpectedEOF}), 200, length, limit)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d, length %d", limit, length)
			require.NotErrorIs(t, err, errTooLarge)
			assert.True(t, bytes.Equal(content, got))
			assert.Equal(t, 1, body.closed)
		}
	}
	base := newFakeBase(cutResponse(200), responds(200, "full"))
	out := newTransport(base, waits(1, time.Second), func(c *Transport) { c.MaxResponseBytes = 4 }).Do(t.Context(), readRequest())
	assertOutcome(t, Outcome{StatusCode: 200, Header: http.Header{}, Body: []byte("full"), Written: true, Attempts: 2}, out, "it is worth repeating")
}

func TestReadBodyIgnoresErrorsBeyondWhatIsKept(t *testing.T) {
	page := strings.Repeat("x", MaxErrorBody+100)
	body, got, err := readFrom(io.MultiReader(strings.NewReader(page), failingReader{io.ErrUnexpectedEOF}), 500, -1, 1<<20)
	require.NoError(t, err)
	assert.Len(t, got, MaxErrorBody)
	assert.Equal(t, 1, body.closed)
}

func TestResponseWithoutBodyIsEmpty(t *testing.T) {
	for _, status := range []int{200, 204, 500} {
		for _, body := range []io.ReadCloser{nil, http.NoBody} {
			got, err := readBody(&http.Response{StatusCode: status, Body: body, ContentLength: 5}, 1<<20, nil)
			require.NoError(t, err)
			assert.Empty(t, got)
		}
	}
	nothing := func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: http.StatusOK}, nil }
	out := newTransport(newFakeBase(nothing)).Do(t.Context(), sendRequest())
	assertOutcome(t, Outcome{StatusCode: http.StatusOK, Written: true, Attempts: 1}, out)
}

// After a switch of protocols the connection belongs to the other one, and may be silent for ever.
func TestReadBodyReadsNothingAfterSwitchingProtocols(t *testing.T) {
	body, got, err := readFrom(readerFunc(func([]byte) (int, error) { panic("read") }), http.StatusSwitchingProtocols, -1, 10)
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.Equal(t, 1, body.closed)
}

// memory is how many bytes f allocates. Nothing else may run meanwhile.
func memory(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestReadBodyMemoryIsBounded(t *testing.T) {
	const mega = 1 << 20
	for name, tc := range map[string]struct {
		content       io.Reader
		status        int
		length, limit int64
		most          int64
		err           error
	}{
		"success, little sent of what fits":  {strings.NewReader("{}"), 200, 64 * mega, 64 * mega, mega + 64<<10, nil},
		"success, little sent of 64 KiB":     {strings.NewReader("{}"), 200, 64 << 10, 64 * mega, 80 << 10, nil},
		"success, huge":                      {endless{}, 200, 1 << 50, 64 * mega, 16 << 10, errTooLarge},
		"success, endless":                   {endless{}, 200, -1, mega, 8 * mega, errTooLarge},
		"success, more than promised":        {endless{}, 200, 2, mega, 8 * mega, errTooLarge},
		"error page, huge, little sent":      {strings.NewReader("{}"), 500, 1 << 50, 64 * mega, MaxErrorBody + 16<<10, nil},
		"error page, endless":                {endless{}, 500, -1, 64 * mega, mega, nil},
		"error page, endless, huge promised": {endless{}, 500, 1 << 50, 64 * mega, mega, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := memory(func() { _, _, err = readFrom(tc.content, tc.status, tc.length, tc.limit) })
			require.ErrorIs(t, err, tc.err)
			assert.LessOrEqual(t, took, tc.most)
		})
	}
}

func TestReadBodyAllocatesLittleForAKnownLength(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 2000)
	source := bytes.NewReader(content)
	resp := &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(content)), Body: io.NopCloser(source)}
	pieces := testing.AllocsPerRun(100, func() {
		source.Reset(content)
		got, err := readBody(resp, 1<<20, nil)
		if err != nil || len(got) != len(content) || cap(got) > 2*len(content) {
			t.Errorf("got %d bytes in %d, %v", len(got), cap(got), err)
		}
	})
	assert.LessOrEqual(t, pieces, 2.0, "the body and its limit")
}

func TestBufferIsUsedIfLargeEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		size, buffer int
		length       int64
		shared       bool
	}{
		"of known length":                    {2000, 2001, 2000, true},
		"no byte left to see the end":        {2000, 2000, 2000, false},
		"of unknown length":                  {2000, 4096, -1, true},
		"of unknown length, and it grows":    {2000, 512, -1, false},
		"larger than the length that it has": {2000, 600, 500, false},
		"empty":                              {0, 1, 0, true},
		"no buffer":                          {2000, 0, 2000, false},
	} {
		t.Run(name, func(t *testing.T) {
			content := bytes.Repeat([]byte("x"), tc.size)
			for _, kept := range []int{0, tc.buffer} { // what is in it does not show
				buffer := bytes.Repeat([]byte("old"), tc.buffer)[:tc.buffer:tc.buffer]
				request := readRequest()
				request.Buffer = buffer[:kept]
				base := newFakeBase(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, ContentLength: tc.length, Body: io.NopCloser(bytes.NewReader(content))}, nil
				})
				out := newTransport(base).Do(t.Context(), request)
				require.NoError(t, out.Err)
				assert.True(t, bytes.Equal(content, out.Body))
				shared := cap(out.Body) > 0 && tc.buffer > 0 && &out.Body[:1][0] == &buffer[:1][0]
				assert.Equal(t, tc.shared, shared)
			}
		})
	}
}

func TestBufferIsOverwrittenByEachAttempt(t *testing.T) {
	request := readRequest()
	request.Buffer = make([]byte, 0, 4096)
	base := newFakeBase(responds(503, "a long text of an error page"), responds(200, "short"))
	out := newTransport(base, waits(1, time.Second)).Do(t.Context(), request)
	assert.Equal(t, "short", string(out.Body))
	assert.Equal(t, "short", string(request.Buffer[:5]))
}

func TestResponseIsClosedInEveryAttempt(t *testing.T) {
	for name, content := range map[string]func() io.Reader{
		"whole":     func() io.Reader { return strings.NewReader("x") },
		"cut":       func() io.Reader { return failingReader{io.ErrUnexpectedEOF} },
		"too large": func() io.Reader { return endless{} },
	} {
		var bodies []*countedBody
		tr := newTransport(newFakeBase(func(*http.Request) (*http.Response, error) {
			bodies = append(bodies, &countedBody{Reader: content()})
			return &http.Response{StatusCode: 503 - 303*(len(bodies)/3), Body: bodies[len(bodies)-1], ContentLength: -1}, nil
		}), waits(1, time.Second), attemptsUpTo(3))
		tr.Do(t.Context(), readRequest())
		require.Len(t, bodies, 3, name)
		for _, body := range bodies {
			assert.Equal(t, 1, body.closed, name)
		}
	}
}
