package codec_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// instant is what the reference reads of a time.
type instant struct {
	at     time.Time
	unread bool
	open   bool // no rule of the contract decides whether it is read
}

func (i instant) is(at time.Time) bool { return i.at.Equal(at) }

var (
	digits   = regexp.MustCompile(`^[0-9]+$`)
	calendar = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})([T ])([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:[0-9]{2})?$`)
)

// referenceTime reads a time in the forms of the contract: unix seconds, unix milliseconds from 1e11 on, RFC 3339,
// "2006-01-02 15:04[:05[.000]]" and 14 digits that begin with 19 or 20.
func referenceTime(text string, zone *time.Location) instant {
	text = strings.TrimSpace(text)
	if text == "" || regexp.MustCompile(`^0[0 :./TZ-]*$`).MatchString(text) {
		return instant{}
	}
	if digits.MatchString(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case len(text) == 14 && (text[:2] == "19" || text[:2] == "20"):
			at, ok := date(text[:4], text[4:6], text[6:8], text[8:10], text[10:12], text[12:], "", zone)
			return instant{at: at, open: !ok} // a date, though there is no such day
		case err != nil, n > 253_402_300_799_999: // the last of the year 9999, beyond which JSON writes no time
			return instant{unread: true}
		case n < 100_000_000_000:
			return instant{at: time.Unix(n, 0)}
		default:
			return instant{at: time.Unix(n/1000, n%1000*1_000_000)}
		}
	}
	m := calendar.FindStringSubmatch(text)
	if m == nil {
		return instant{open: strings.ContainsAny(text, "0123456789")}.orUnread(text)
	}
	offset := m[9]
	if offset != "" {
		zone = time.UTC
	}
	at, ok := date(m[1], m[2], m[3], m[5], m[6], orNone(m[7], "00"), m[8], zone)
	if !ok {
		return instant{unread: true}
	}
	if len(offset) == 6 {
		hours, _ := strconv.Atoi(offset[1:3])
		minutes, _ := strconv.Atoi(offset[4:])
		east := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
		if offset[0] == '-' {
			east = -east
		}
		at = at.Add(-east)
		if hours > 23 || minutes > 59 {
			return instant{at: at, open: true}
		}
	}
	// A T without a zone and a space before one are in no rule, though they are likely to be read.
	return instant{at: at, open: m[7] == "" && offset != "" || m[4] == "T" && offset == "" || m[4] == " " && offset != ""}
}

// orUnread is for words that hold no digit: none of them is a time.
func (i instant) orUnread(text string) instant {
	i.unread = !strings.ContainsAny(text, "0123456789")
	return i
}

// date makes a time of its parts; false where the calendar has no such time.
func date(year, month, day, hour, minute, second, fraction string, zone *time.Location) (time.Time, bool) {
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	nanoseconds := number((fraction + "000000000")[:9])
	of := func(zone *time.Location) time.Time {
		return time.Date(number(year), time.Month(number(month)), number(day), number(hour), number(minute), number(second), nanoseconds, zone)
	}
	ok := of(time.UTC).Format("2006-01-02 15:04:05") == year+"-"+month+"-"+day+" "+hour+":"+minute+":"+second
	return of(zone), ok
}

// readTime reads a time from a row.
func readTime(t testing.TB, l *codec.List, quoted string) (time.Time, bool) {
	t.Helper()
	page, _, err := l.Decode([]byte(`{"data":[{"id":"a","dateCreated":`+quoted+`}]}`), wire.Position{}, 0, nil)
	require.NoError(t, err)
	require.Len(t, page.Transactions, 1)
	return page.Transactions[0].CreatedAt, len(page.Unreadable) == 0
}

// writeTime writes a time into a query.
func writeTime(t testing.TB, l *codec.List, at time.Time) string {
	t.Helper()
	raw, problems := queryOf(t, l, filter{CreatedAfter: at, CreatedBefore: at}.query(nil, wire.Position{}))
	require.Empty(t, problems)
	values := queryValues(t, raw)
	require.Equal(t, values.Get("filter[dateCreatedGt]"), values.Get("filter[dateCreatedLt]"))
	return values.Get("filter[dateCreatedGt]")
}

func TestRowTime(t *testing.T) {
	at := time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC)
	const ms = time.Millisecond
	for zone, east := range map[string]time.Duration{"": 0, "UTC": 0, "Asia/Manila": 8 * time.Hour, "America/New_York": -4 * time.Hour, "Asia/Kathmandu": 5*time.Hour + 45*time.Minute} {
		l := compileList(t, `{"sms.list": {"zone": "`+zone+`"}}`, false)
		for raw, want := range map[string]time.Time{
			// These say themselves when they are.
			`1790000000`:                            time.Unix(1790000000, 0),
			`"1790000000"`:                          time.Unix(1790000000, 0),
			`1790000000123`:                         time.Unix(1790000000, 123_000_000),
			`"1790000000123"`:                       time.Unix(1790000000, 123_000_000),
			`0`:                                     {},
			`99999999999`:                           time.Unix(99999999999, 0),
			`100000000000`:                          time.Unix(100000000, 0),
			`21000000000000`:                        time.Unix(21000000000, 0), // 14 digits that begin with no century of a date
			`18991231235959`:                        time.Unix(18991231235, 959_000_000),
			`"2026-10-03T14:44:23Z"`:                at,
			`"2026-10-03T14:44:23+00:00"`:           at,
			`"2026-10-03T22:44:23+08:00"`:           at,
			`"2026-10-03T09:14:23-05:30"`:           at,
			`"2026-10-03T14:44:23.1Z"`:              at.Add(100 * ms),
			`"2026-10-03T14:44:23.186Z"`:            at.Add(186 * ms),
			`"2026-10-03T14:44:23.186000Z"`:         at.Add(186 * ms),
			`"2026-10-03T22:44:23.123456789+08:00"`: at.Add(123456789),
			`"2026\u002d10-03T14:44:23Z"`:           at,
			`"\t2026-10-03T14:44:23Z\n "`:           at,
			// These are in the zone of the contract.
			`"2026-10-03 14:44:23"`:      at.Add(-east),
			`"2026-10-03 14:44"`:         at.Add(-east - 23*time.Second),
			`"2026-10-03 14:44:23.186"`:  at.Add(186*ms - east),
			`"2026-10-03 14:44:23.5"`:    at.Add(500*ms - east),
			`" 2026-10-03 14:44:23 "`:    at.Add(-east),
			`20261003144423`:             at.Add(-east),
			`"20261003144423"`:           at.Add(-east),
			`"20260102030405"`:           time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-winter(zone, east)),
			`"2026-01-02 03:04"`:         time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Add(-winter(zone, east)),
			`"2024-02-29 00:00:00"`:      time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC).Add(-winter(zone, east)),
			`"\u0032026-10-03 14:44:23"`: at.Add(-east),
		} {
			got, ok := readTime(t, l, raw)
			assert.True(t, ok, "%s in %q", raw, zone)
			assert.True(t, want.Equal(got), "%s in %q: got %s, want %s", raw, zone, got, want)
		}
	}
}

// winter is how far a zone is east of UTC in January, where east is how far in October.
func winter(zone string, east time.Duration) time.Duration {
	if zone == "America/New_York" {
		return east - time.Hour
	}
	return east
}

func TestRowTimeOfLastCentury(t *testing.T) {
	got, ok := readTime(t, compileList(t, "", false), `19991231235958`)
	assert.True(t, ok)
	assert.True(t, time.Date(1999, 12, 31, 23, 59, 58, 0, time.UTC).Equal(got), got)
}

func TestRowTimeBlank(t *testing.T) {
	l := compileList(t, `{"sms.list": {"zone": "Asia/Manila"}}`, false)
	for _, raw := range []string{`""`, `" "`, `"\t\n"`, `null`} {
		got, ok := readTime(t, l, raw)
		assert.True(t, ok, raw)
		assert.True(t, got.IsZero(), raw)
	}
}

func TestRowTimeUnreadable(t *testing.T) {
	l := compileList(t, "", false)
	for _, raw := range []string{
		`"soon"`, `"2026-13-03T14:44:23Z"`, `"2026-02-30 14:44:23"`, `"2026-10-03 25:00"`, `"2026-10-03 14:60"`, `"2023-02-29T00:00:00Z"`, `"03/10/2026 14:44"`, `"2026-10-03T14:44:23+8"`,
		`true`, `"NaN"`, `"Inf"`, `"-"`, `"99999999999999999999"`, `"2026-10-03 14:44:23 x"`, `"x2026-10-03 14:44:23"`, `"１７９００００００００"`, `"12:30"`,
	} {
		got, ok := readTime(t, l, raw)
		assert.False(t, ok, raw)
		assert.True(t, got.IsZero(), raw)
	}
}

func TestListEncodeTime(t *testing.T) {
	at := time.Date(2026, 10, 1, 4, 34, 56, 789_999_999, time.FixedZone("", 8*60*60))
	for form, want := range map[string]string{
		"rfc3339ms": "2026-09-30T20:34:56.789Z", "rfc3339": "2026-09-30T20:34:56Z", "unix": "1790800496", "unixms": "1790800496789",
		"datetime": "2026-09-30 16:34:56", "date": "2026-09-30",
	} {
		l := compileList(t, `{"sms.list": {"zone": "America/New_York", "time": "`+form+`"}}`, false)
		for _, same := range []time.Time{at, at.UTC(), at.In(time.FixedZone("", -12*60*60))} {
			assert.Equal(t, want, writeTime(t, l, same), form)
		}
	}
}

// FuzzTime holds times against a reference that is made of the contract's words, and against themselves: what is written is
// read as the same.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"1790000000", "1790000000123", "99999999999", "100000000000", "20261003144423", "19000101000000", "20991399999999", "2026-10-03T14:44:23.186Z",
		"2026-10-03T14:44:23.123456789+08:00", "2026-10-03 14:44:23.5", "2026-10-03 14:44", "2026-03-08 02:30:00", "2026-11-01 01:30", "0000-01-01 00:00:00",
		"9999-12-31T23:59:59.999999999-23:59", "2024-02-29 24:00:00", " 5 ", "-1", "1.5", "1e9", "", "soon", "2026-10-03", "2026-10-03T14:44:23", "2026-10-03 14:44:23Z", "00002000000000000000",
	} {
		f.Add(seed, int64(1790000000), int64(123456789), uint8(len(seed)))
	}
	f.Add("2026-11-01 01:30:00", int64(1793511000), int64(0), uint8(1))
	f.Add("2026-10-04 02:15:00", int64(1791040500), int64(999_999_999), uint8(2))
	zones := []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Manila", "Asia/Kathmandu"}
	forms := []string{"rfc3339ms", "rfc3339", "rfc1123", "rfc2822", "unix", "unixms", "datetime", "date"}
	precision := map[string]time.Duration{
		"rfc3339ms": time.Millisecond, "rfc3339": time.Second, "unix": time.Second, "unixms": time.Millisecond, "datetime": time.Second,
		"rfc1123": time.Second, "rfc2822": time.Second,
	}
	lists := map[string]*codec.List{}
	for _, zone := range zones {
		for _, form := range forms {
			lists[zone+form] = compileList(f, fmt.Sprintf(`{"sms.list": {"zone": %q, "time": %q}}`, zone, form), false)
		}
	}
	f.Fuzz(func(t *testing.T, text string, seconds, nanoseconds int64, which uint8) {
		name := zones[int(which)%len(zones)]
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(quoted, &text)) // as it is after bytes that are no UTF-8 were replaced
		got, ok := readTime(t, lists[name+"unix"], string(quoted))
		want := referenceTime(text, zone)
		if !want.open && (ok == want.unread || !want.is(got)) {
			t.Errorf("%q in %s: got %s (%t), want %s (%t)", text, name, got, ok, want.at, !want.unread)
		}
		if !ok && !got.IsZero() {
			t.Errorf("%q: unread, and yet %s", text, got)
		}

		// Between 1973, before which milliseconds look like seconds, and 2570, after which they look like a date.
		const from, until = 100_000_001, 18_900_000_000
		if seconds < from || seconds > until || nanoseconds < 0 || nanoseconds > 999_999_999 {
			return
		}
		at := time.Unix(seconds, nanoseconds)
		for _, form := range forms {
			text := writeTime(t, lists[name+form], at)
			got, ok := readTime(t, lists[name+form], strconv.Quote(text))
			switch {
			case form == "date": // the contract does not say that a day alone is read as a time
				day, err := time.ParseInLocation(time.DateOnly, text, zone)
				if err != nil || day.Format(time.DateOnly) != at.In(zone).Format(time.DateOnly) || ok && !day.Equal(got) {
					t.Errorf("%s in %s: wrote %s, read %s", at, name, text, got)
				}
			case form == "datetime":
				if local := "2006-01-02 15:04:05"; !ok || got.In(zone).Format(local) != at.In(zone).Format(local) || got.Sub(at).Abs() > time.Hour+time.Second {
					t.Errorf("%s in %s: wrote %s, read %s", at, name, text, got)
				}
			case !ok || !got.Equal(at.Truncate(precision[form])):
				t.Errorf("%s as %s: wrote %s, read %s", at, form, text, got)
			}
		}
	})
}

func queryValues(t testing.TB, raw string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(raw)
	require.NoError(t, err)
	return values
}
