package wire_test

import (
	"encoding/json"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-querystring/query"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// longest is the longest duration that there is.
const longest = time.Duration(math.MaxInt64)

func TestSecondsAreWrittenExactly(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0":                     0,
		"1":                     time.Second,
		"600":                   10 * time.Minute,
		"1209600":               14 * 24 * time.Hour,
		"-1":                    -time.Second,
		"-90":                   -90 * time.Second,
		"0.5":                   500 * time.Millisecond,
		"1.5":                   1500 * time.Millisecond,
		"90.25":                 90*time.Second + 250*time.Millisecond,
		"0.000000001":           1,
		"1.000000001":           time.Second + 1,
		"0.999999999":           time.Second - 1,
		"0.1":                   100 * time.Millisecond,
		"0.01":                  10 * time.Millisecond,
		"0.10000001":            100*time.Millisecond + 10*time.Nanosecond,
		"-0.5":                  -500 * time.Millisecond,
		"-0.000000001":          -1,
		"-1.000000001":          -time.Second - 1,
		"9223372036":            longest.Truncate(time.Second),
		"9223372036.854775807":  longest,
		"-9223372036":           -longest.Truncate(time.Second),
		"-9223372036.854775807": -longest,
		"-9223372036.854775808": math.MinInt64,
	} {
		raw, err := json.Marshal(wire.Seconds(d))
		require.NoError(t, err, want)
		assert.Equal(t, want, string(raw), "%d", d)
		assert.Equal(t, d, wire.Seconds(d).Duration())
	}
}

// lifetime is where Seconds stand: in the body of a call.
type lifetime struct {
	TTL wire.Seconds `json:"ttl,omitzero" url:"ttl,omitempty"`
}

func TestSecondsOfAParameterAreThoseOfTheJSON(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]struct {
		object string
		values url.Values
	}{
		0:                       {`{}`, url.Values{}},
		time.Minute:             {`{"ttl":60}`, url.Values{"ttl": {"60"}}},
		1500 * time.Millisecond: {`{"ttl":1.5}`, url.Values{"ttl": {"1.5"}}},
		-time.Second:            {`{"ttl":-1}`, url.Values{"ttl": {"-1"}}},
	} {
		raw, err := json.Marshal(lifetime{wire.Seconds(d)})
		require.NoError(t, err)
		assert.Equal(t, want.object, string(raw), d)
		values, err := query.Values(lifetime{wire.Seconds(d)})
		require.NoError(t, err)
		assert.Equal(t, want.values, values, d)
	}
}

func TestZeroSecondsAreNoParameterWhereverTheyStand(t *testing.T) {
	t.Parallel()
	values := url.Values{}
	require.NoError(t, wire.Seconds(0).EncodeValues("ttl", &values))
	assert.Empty(t, values)
}

func TestSecondsAreReadFromEveryNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`0`:                     0,
		`-0`:                    0,
		`0.0`:                   0,
		`600`:                   10 * time.Minute,
		`-90`:                   -90 * time.Second,
		`1.5`:                   1500 * time.Millisecond,
		`-1.5`:                  -1500 * time.Millisecond,
		`0.000000001`:           1,
		`-0.000000001`:          -1,
		`1.50`:                  1500 * time.Millisecond,
		`1.500000000`:           1500 * time.Millisecond,
		`9223372036.854775807`:  math.MaxInt64,
		`-9223372036.854775807`: -math.MaxInt64,
		`"600"`:                 10 * time.Minute,
		`"1.5"`:                 1500 * time.Millisecond,
		`"-90"`:                 -90 * time.Second,
		`"0"`:                   0,
		`1e3`:                   1000 * time.Second,
		`1E+3`:                  1000 * time.Second,
		`6.0e2`:                 10 * time.Minute,
		`15e-1`:                 1500 * time.Millisecond,
		`-1.5e0`:                -1500 * time.Millisecond,
		`"1e3"`:                 1000 * time.Second,
		`1e-9`:                  1,
		// Beyond nanoseconds it rounds.
		`1.0000000004`:              time.Second,
		`1.0000000006`:              time.Second + 1,
		`-1.0000000006`:             -time.Second - 1,
		`1e-10`:                     0,
		`1e-400`:                    0,
		`0.50000000000000000000001`: 500 * time.Millisecond,
	} {
		s := wire.Seconds(77)
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		assert.Equal(t, want, s.Duration(), text)
	}
}

func TestNullLeavesSecondsAsTheyAre(t *testing.T) {
	t.Parallel()
	s := wire.Seconds(time.Minute)
	require.NoError(t, json.Unmarshal([]byte(`null`), &s))
	assert.Equal(t, time.Minute, s.Duration())
	require.NoError(t, s.UnmarshalJSON([]byte(`null`)))
	assert.Equal(t, time.Minute, s.Duration())
}

func TestWhatIsNoNumberOfSecondsIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `" "`, `" 60"`, `"60 "`, `"+60"`, `"10m"`, `"60s"`, `"ten"`, `"0x10"`, `"1_000"`, `"1,5"`, `".5"`, `"5."`, `"007"`, `"-"`, `"--1"`, `"1.2.3"`,
		`"null"`, `"true"`, `"NaN"`, `"Infinity"`, `"\"60\""`, `"[60]"`, `"1 2"`,
		`true`, `false`, `{}`, `[]`, `[60]`, `{"ttl":60}`,
		`9223372037`, `-9223372037`, `9223372036.854775808`, `9223372036.999999999`, `1e10`, `-1e10`, `1e400`, `"1e400"`, `99999999999999999999`,
		`99999999999999999999.5`, `-99999999999999999999`,
	} {
		s := wire.Seconds(77)
		require.Error(t, json.Unmarshal([]byte(text), &s), text)
		assert.Equal(t, wire.Seconds(77), s, text)
	}
	for _, text := range []string{``, `"`, `-`, `60s`, "６０"} { // what encoding/json would never pass on
		s := wire.Seconds(77)
		require.Error(t, s.UnmarshalJSON([]byte(text)), text)
		assert.Equal(t, wire.Seconds(77), s, text)
	}
}

func TestErrorOfSecondsRepeatsNothing(t *testing.T) {
	t.Parallel()
	var s wire.Seconds
	assert.EqualError(t, json.Unmarshal([]byte(`"s3cr3t"`), &s), "want a number of seconds")
}

// FuzzSeconds holds that every duration is read back as it was, and that whatever is read is written such that it stays so.
func FuzzSeconds(f *testing.F) {
	for _, seed := range []struct {
		d    int64
		text string
	}{
		{0, `0`},
		{1, `"600"`},
		{-1, `1.5`},
		{int64(time.Second), `1e3`},
		{-int64(time.Second) - 1, `-0.000000001`},
		{math.MaxInt64, `9223372036.854775807`},
		{math.MinInt64, `-9223372036.854775808`},
		{int64(90 * time.Minute), `null`},
		{999_999_999, `"-"`},
		{1_000_000_001, `1.00000000049`},
		{math.MaxInt64 / 2, `9223372036e0`},
	} {
		f.Add(seed.d, seed.text)
	}
	f.Fuzz(func(t *testing.T, nanoseconds int64, text string) {
		assertReadBack(t, wire.Seconds(nanoseconds))
		if !json.Valid([]byte(text)) {
			return
		}
		var s wire.Seconds
		if json.Unmarshal([]byte(text), &s) == nil {
			assertReadBack(t, s)
		}
	})
}

func assertReadBack(t *testing.T, s wire.Seconds) {
	t.Helper()
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	for _, written := range []string{string(raw), `"` + string(raw) + `"`} {
		var again wire.Seconds
		require.NoError(t, json.Unmarshal([]byte(written), &again), written)
		require.Equal(t, s, again, written)
	}
	values := url.Values{}
	require.NoError(t, s.EncodeValues("ttl", &values))
	require.Equal(t, s != 0, values.Has("ttl"))
	if s != 0 {
		require.Equal(t, string(raw), values.Get("ttl"))
	}
}
