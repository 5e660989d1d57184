package codec_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

func TestListDecodeRowLimit(t *testing.T) {
	t.Parallel()
	l := compileList(t, "", false)
	rows := func(count int) []byte {
		return []byte(`{"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, count), ",") + `]}`)
	}
	var reuse []sms.Transaction
	for _, tt := range []struct {
		requested, most int
		reason          string
	}{
		{0, 100_000, "the page has more than 100000 rows"},
		{1, 10, "the page has more than 10 rows"},
		{50, 500, "the page has more than 500 rows"},
		{9_999, 99_990, "the page has more than 99990 rows"},
		{10_000, 100_000, "the page has more than 100000 rows"},
		{math.MaxInt, 100_000, "the page has more than 100000 rows"},
	} {
		page, _, err := l.Decode(rows(tt.most), wire.Position{}, tt.requested, reuse)
		require.NoError(t, err)
		assert.Len(t, page.Transactions, tt.most)
		reuse = page.Transactions

		page, failure, err := l.Decode(rows(tt.most+1), wire.Position{}, tt.requested, reuse)
		require.EqualError(t, err, tt.reason)
		require.ErrorIs(t, err, codec.ErrPage, "to request it again would bring the same")
		assert.Zero(t, page)
		assert.Zero(t, failure)
	}
}

// Each element of a list of messages is read with everything outside the list, here a text that is long and has to be unescaped.
func TestDecodeRereadsNoLongResponseForEachElement(t *testing.T) {
	t.Parallel()
	const elements = 255
	s := decoder(t, "")
	respond := func(size int) codec.Response {
		text := strings.Repeat(`\n`, size/len(`\n`))
		body := `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"id":"m-1"},`, elements), ",") + `],"message":"` + text + `"}`
		got, err := s.Decode([]byte(body))
		require.NoError(t, err)
		return got
	}

	assert.Equal(t, codec.Accepts, respond(128<<10).Claim)

	got := respond(8 << 20) // it would take a minute
	assert.Equal(t, codec.Contradictory, got.Claim)
	assert.Equal(t, "the response lists several messages, and is too long to be read with each of them", got.Reason)
}

// The bodies are so large that a cost which is not in proportion to their size shows.
func TestListDecodeMemory(t *testing.T) {
	const size = 4 << 20
	l := compileList(t, "", false)
	members := func(prefix string, size int) string {
		b := []byte(`"`)
		for i := int64(0); len(b) < size; i++ {
			b = append(strconv.AppendInt(append(b, prefix...), i, 10), `":0,"`...)
		}
		return string(b) + `last":0`
	}
	for name, body := range map[string]string{
		"empty rows":                   `{"data":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"as many rows as there can be": `{"data":[` + strings.Repeat(`{"x":1},`, 99_999) + `{}]}`,
		"numbers for rows":             `{"data":[` + strings.Repeat(`0,`, size/2) + `0]}`,
		"one row of many members":      `{"data":[{` + members("", size) + `}]}`,
		"two rows of many members":     `{"data":[{` + members("", size/2) + `},{` + members("a", size/2) + `}]}`,
		"one member many times":        `{"data":[{"id":"a",` + strings.Repeat(`"x":0,`, size/6) + `"x":0}]}`,
		"two IDs in turn":              `{"data":[{` + strings.Repeat(`"transactionId":"a","id":"b",`, size/28) + `"id":"c"}]}`,
		"escapes":                      `{"data":[{"id":"a","text":"` + strings.Repeat(`\u0000`, size/6) + `"}]}`,
		"two lists in turn":            `{` + strings.Repeat(`"items":[{},{}],"data":[{}],`, size/28) + `"data":[]}`,
		"deep":                         `{"data":[` + strings.Repeat(`[`, size) + `]}`,
	} {
		raw := []byte(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		page, _, err := l.Decode(raw, wire.Position{}, 0, nil)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		assert.Less(t, allocated, uint64(128<<20+64*len(raw)), "%s: %d rows, %v", name, len(page.Transactions), err)
		assert.Less(t, took, time.Minute, name) // linear: a second at most
		runtime.KeepAlive(page)
		t.Logf("%s: %d MB, %v, %v", name, allocated>>20, took, err)
	}
}

// Each ID that is found by its name has a path, which must not repeat all names around it.
func TestRecognizeMemory(t *testing.T) {
	s := compile(t, "", "sms.send", false)
	s.SeekIDs(parse(t, ""))
	const depth = 5000
	ids := `{` + strings.Repeat(`"smsid":"a1",`, 2000) + `"smsid":"a2"}`
	for name, body := range map[string]string{
		"below a long name": `{"` + strings.Repeat("a", 32<<10) + `":` + ids + `}`,
		"below many names":  strings.Repeat(`{"data":`, depth) + ids + strings.Repeat(`}`, depth),
	} {
		raw := []byte(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		response, err := s.Recognize(raw, "+639171234567")
		hasMessageID, _ := s.Names(raw, "+639171234567")
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		assert.True(t, hasMessageID, name)
		assert.Equal(t, codec.NamesNone, response.Claim, "%s: no contract can have the path", name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64*len(raw)), name)
	}
}

// Everything that reads a response is fuzzed: a method Decode of a type T by FuzzTDecode.
func TestEveryDecodeIsFuzzed(t *testing.T) {
	t.Parallel()
	var production, tests strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.HasSuffix(file, "_test.go") {
			tests.Write(source)
		} else {
			production.Write(source)
		}
	}
	methods := regexp.MustCompile(`(?m)^func \(\w+ \*?(\w+)\) Decode\(`).FindAllStringSubmatch(production.String(), -1)
	require.NotEmpty(t, methods)
	for _, method := range methods {
		name := "Fuzz" + method[1] + "Decode"
		assert.True(t, strings.Contains(tests.String(), "func "+name+"(f *testing.F)"), name) //nolint:testifylint // it would print them all
	}
}
