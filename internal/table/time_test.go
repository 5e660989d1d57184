package table_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/table"
)

func TestParseTimeReadsEveryForm(t *testing.T) {
	t.Parallel()
	manila := time.FixedZone("Manila", 8*60*60)
	at := time.Date(2026, time.October, 3, 14, 44, 23, 0, time.UTC)
	const ms = time.Millisecond
	for _, tt := range []struct {
		text string
		zone *time.Location
		want time.Time
	}{
		{"1791038663", manila, at},
		{"0", nil, time.Time{}},
		{"99999999999", nil, time.Unix(99999999999, 0)},
		{"100000000000", nil, time.Unix(100000000, 0)},
		{"1791038663000", manila, at},
		{"1791038663186", nil, at.Add(186 * ms)},
		{"1791038663.25", nil, at.Add(250 * ms)},
		{"1791038663186.4", nil, at.Add(186 * ms)},
		{"-1.5", nil, time.UnixMilli(-1500)},
		{"2026-10-03T14:44:23Z", manila, at},
		{"2026-10-03T14:44:23.186Z", nil, at.Add(186 * ms)},
		{"2026-10-03T14:44:23.1Z", nil, at.Add(100 * ms)},
		{"2026-10-03T14:44:23.123456789Z", nil, at.Add(123456789)},
		{"2026-10-03T22:44:23+08:00", nil, at},
		{"2026-10-03T22:44:23.5+0800", nil, at.Add(500 * ms)},
		{"2026-10-03T09:14:23-05:30", manila, at},
		{"2026-10-03 22:44:23+08:00", nil, at},
		{"2026-10-03 22:44:23+0800", nil, at},
		{"2026-10-03 22:44:23 +0800", nil, at},
		{"2026-10-03 22:44:23.5 +08:00", nil, at.Add(500 * ms)},
		{"2026-10-03T22:44:23 +0800", nil, at},
		{"2026-10-03 14:44:23Z", manila, at},
		{"2026-10-03 14:44:23", nil, at},
		{"2026-10-03 22:44:23", manila, at},
		{"2026-10-03 22:44:23.186", manila, at.Add(186 * ms)},
		{"2026-10-03 22:44", manila, at.Add(-23 * time.Second)},
		{"2026-10-03T22:44:23", manila, at},
		{"2026-10-03T22:44", manila, at.Add(-23 * time.Second)},
		{"2026-10-03", manila, time.Date(2026, time.October, 3, 0, 0, 0, 0, manila)},
		{"20261003144423", nil, at},
		{"20261003224423", manila, at},
		{"19991231235958", nil, time.Date(1999, time.December, 31, 23, 59, 58, 0, time.UTC)},
		{"18991231235958", nil, time.UnixMilli(18991231235958)},
		{"\t 1791038663\n", nil, at},
		{" 2026-10-03T14:44:23Z ", nil, at},
	} {
		got, ok := table.ParseTime(tt.text, tt.zone)
		assert.True(t, ok, tt.text)
		assert.True(t, tt.want.Equal(got), "%s: got %s, want %s", tt.text, got, tt.want)
	}
}

func TestParseTimeTakesBlankForNoTime(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "\t\n"} {
		got, ok := table.ParseTime(text, nil)
		assert.True(t, ok, "%q", text)
		assert.True(t, got.IsZero(), "%q", text)
	}
}

func TestParseTimeOfMail(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Sat, 03 Oct 2026 14:44:23 GMT":   "2026-10-03T14:44:23Z",
		"Sat, 03 Oct 2026 14:44:23 +0800": "2026-10-03T06:44:23Z",
		"Sat, 3 Oct 2026 14:44:23 -0000":  "2026-10-03T14:44:23Z",
		"3 Oct 2026 14:44 UT":             "2026-10-03T14:44:00Z",
		"03 Oct 2026 14:44:23 UTC":        "2026-10-03T14:44:23Z",
	} {
		at, ok := table.ParseTime(text, time.FixedZone("", 60*60))
		assert.True(t, ok, text)
		assert.Equal(t, want, at.UTC().Format(time.RFC3339), text)
	}
	for _, text := range []string{
		"Sat, 03 Oct 2026 14:44:23", "Sat, 03 Oct 2026 14:44:23 EST", "Saturday, 03-Oct-26 14:44:23 GMT", "Sat, 32 Oct 2026 14:44:23 GMT", "a b c d e : f",
	} {
		_, ok := table.ParseTime(text, nil)
		assert.False(t, ok, text)
	}
}

func TestParseTimeByLayouts(t *testing.T) {
	t.Parallel()
	layouts := []string{"02/01/2006 15:04", "2006-02-01", "20060102150405-0700"}
	for text, want := range map[string]string{
		"03/10/2026 14:44":     "2026-10-03T14:44:00+08:00",
		"2026-03-10":           "2026-10-03T00:00:00+08:00", // the layout wins
		"2026-10-13":           "2026-10-13T00:00:00+08:00", // it does not fit
		"20261003144423+0100":  "2026-10-03T14:44:23+01:00",
		"2026-10-03T14:44:23Z": "2026-10-03T14:44:23Z",
	} {
		at, ok := table.ParseTime(text, time.FixedZone("", 8*60*60), layouts...)
		assert.True(t, ok, text)
		assert.Equal(t, want, at.Format(time.RFC3339), text)
	}
}

func TestParseTimeReadsNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"soon", "2026-13-03T14:44:23Z", "2026-02-30 14:44:23", "2026-10-03 25:00", "2026-10-03 14:60", "2023-02-29T00:00:00Z", "03/10/2026 14:44",
		"2026-10-03T14:44:23+8", "2026-10-03T", "2026-10-0", "20261399999999", "99999999999999999999", "NaN", "Inf", "-", "1e16", "12:30", "１７９１０３８６６３",
		"2026-10-03 14:44:23 x", "2026-10-03 14:44:23 +8", "2026-10-03x14:44:23Z", "2026-10-03 14:44:23 Z +0800", "x2026-10-03 14:44:23", strings.Repeat("9", 1<<10), "2026-10-03T14:44:23." + strings.Repeat("x", 1<<10),
	} {
		got, ok := table.ParseTime(text, nil)
		assert.False(t, ok, text)
		assert.True(t, got.IsZero(), text)
	}
}

// TestParseTimeRefusesWhatJSONCannotWrite includes a count of microseconds, which would be in the year 58725 as milliseconds.
func TestParseTimeRefusesWhatJSONCannotWrite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1791038663000000", "1791038663000000.5", "253402300800000", "253402300800000.5", "9223372036854775807", "-62167219200001", "-62167219200001.5",
	} {
		got, ok := table.ParseTime(text, nil)
		assert.False(t, ok, text)
		assert.True(t, got.IsZero(), text)
	}
	for _, text := range []string{"253402300799999", "253402300799999.4", "-62167219200000", "-62167219200000.4"} {
		got, ok := table.ParseTime(text, nil)
		assert.True(t, ok, text)
		_, err := got.MarshalJSON()
		assert.NoError(t, err, text)
	}
}

func TestParseTimeOfZeros(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00.000Z", "0000/00/00", "00:00"} {
		at, ok := table.ParseTime(text, nil)
		assert.True(t, ok, text)
		assert.True(t, at.IsZero(), text)
	}
	for _, text := range []string{"0000-00-01", "T1", "-"} {
		_, ok := table.ParseTime(text, nil)
		assert.False(t, ok, text)
	}
}

func TestFormatTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 4, 34, 56, 789_999_999, time.FixedZone("", 8*60*60))
	zone := time.FixedZone("", -4*60*60)
	for form, want := range map[string]string{
		"rfc3339ms": "2026-09-30T20:34:56.789Z", "rfc3339": "2026-09-30T20:34:56Z", "unix": "1790800496", "unixms": "1790800496789",
		"datetime": "2026-09-30 16:34:56", "date": "2026-09-30", "rfc1123": "Wed, 30 Sep 2026 20:34:56 GMT", "rfc2822": "Wed, 30 Sep 2026 20:34:56 +0000",
	} {
		for _, same := range []time.Time{at, at.UTC(), at.In(time.FixedZone("", -12*60*60))} {
			assert.Equal(t, want, table.FormatTime(same, form, zone), form)
		}
	}
}

// FuzzParseTime checks that a time which was read is read again from its RFC 3339, and that any other is the zero time.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		"1791038663", "1791038663000", "1791038663.25", "2026-10-03T14:44:23.186+08:00", "2026-10-03 14:44", "2026-10-03", "20261003144423", "-1", "soon", "", " ",
		"2026-10-03T24:00:00Z", "0000-00-00 00:00:00", "1e3", "1e99", "NaN", "-1.5e12", "99999999999999999999", "2026-10-03 14:44:23Z", "2026-10-03 14:44:23.5 +0800", "2026-10-03T14:44:23", "2026-10-03T14:44", "0x10", "2026-10-03T14:44:23,5Z",
		"Sat, 03 Oct 2026 14:44:23 GMT", "3 Oct 2026 14:44 +0800", "Sat, 03 Oct 2026 14:44:23 -0000", "Sat, 03 Oct 26 14:44:23 EST",
	} {
		f.Add(seed)
	}
	zone := time.FixedZone("", 5*60*60+45*60)
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := table.ParseTime(text, zone)
		if !ok {
			require.True(t, at.IsZero(), "%q", text)
			return
		}
		if year := at.UTC().Year(); year < 0 || year > 9998 {
			return // beyond what RFC 3339 can say
		}
		again, ok := table.ParseTime(at.UTC().Format(time.RFC3339Nano), nil)
		require.True(t, ok, "%q", text)
		require.True(t, at.Equal(again), "%q: %s, then %s", text, at, again)
	})
}

func ExampleParseTime() {
	for _, text := range []string{"1791038663", "2026-10-03T22:44:23+08:00", "2026-10-03 14:44", "20261003144423", "yesterday"} {
		at, ok := table.ParseTime(text, time.UTC)
		fmt.Println(at.UTC().Format(time.DateTime), ok)
	}
	// Output:
	// 2026-10-03 14:44:23 true
	// 2026-10-03 14:44:23 true
	// 2026-10-03 14:44:00 true
	// 2026-10-03 14:44:23 true
	// 0001-01-01 00:00:00 false
}
