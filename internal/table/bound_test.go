package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBounds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	saoPaulo, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	for _, tt := range []struct {
		at            time.Time
		form          string
		zone          *time.Location
		after, before string
	}{
		{time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), "rfc3339ms", time.UTC, "2026-11-21T23:59:59.999Z", "2026-11-22T00:00:00.000Z"},
		{time.Date(2026, 11, 22, 0, 0, 0, 1, time.UTC), "rfc3339ms", time.UTC, "2026-11-22T00:00:00.000Z", "2026-11-22T00:00:00.001Z"},
		{time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), "rfc3339", time.UTC, "2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z"},
		{time.Date(2026, 11, 22, 0, 0, 0, 5e8, time.UTC), "rfc3339", time.UTC, "2026-11-22T00:00:00Z", "2026-11-22T00:00:01Z"},
		{time.Unix(100, 0), "unix", time.UTC, "99", "100"},
		{time.Unix(-1, 5e8), "unix", time.UTC, "-1", "0"},
		{time.UnixMilli(100), "unixms", time.UTC, "99", "100"},
		{time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), "date", time.UTC, "2026-11-21", "2026-11-22"},
		{time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC), "date", time.UTC, "2026-11-21", "2026-11-23"},
		// The 25th of October has 25 hours in Berlin, and the 29th of March has 23.
		{time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), "date", berlin, "2026-10-24", "2026-10-25"},
		{time.Date(2026, 10, 25, 0, 30, 0, 0, berlin), "date", berlin, "2026-10-24", "2026-10-26"},
		{time.Date(2026, 3, 29, 23, 30, 0, 0, berlin), "date", berlin, "2026-03-28", "2026-03-30"},
		{time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC), "date", berlin, "2026-11-22", "2026-11-24"},
		// The 4th of November began at 1 o'clock in São Paulo.
		{time.Date(2018, 11, 3, 0, 30, 0, 0, saoPaulo), "date", saoPaulo, "2018-11-02", "2018-11-04"},
		{time.Date(2018, 11, 5, 0, 30, 0, 0, saoPaulo), "date", saoPaulo, "2018-11-04", "2018-11-06"},
	} {
		assert.Equal(t, tt.after, FormatTime(After(tt.at, tt.form, tt.zone), tt.form, tt.zone), "after %v by %s", tt.at, tt.form)
		assert.Equal(t, tt.before, FormatTime(Before(tt.at, tt.form, tt.zone), tt.form, tt.zone), "before %v by %s", tt.at, tt.form)
	}
}

// What a bound covers in its form: nothing earlier than After, and nothing later than Before, is written like it.
func TestBoundsAreTheEndsOfWhatIsWrittenLikeThem(t *testing.T) {
	saoPaulo, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	for _, at := range []time.Time{
		time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 22, 15, 4, 5, 6, time.UTC),
		time.Date(2026, 11, 22, 15, 4, 5, 999_999_999, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 5e8, time.UTC),
		// The 4th of November began at 1 o'clock in São Paulo.
		time.Date(2018, 11, 2, 0, 30, 0, 0, saoPaulo),
		time.Date(2018, 11, 3, 0, 30, 0, 0, saoPaulo),
		time.Date(2018, 11, 3, 12, 0, 0, 0, saoPaulo),
		time.Date(2018, 11, 4, 1, 0, 0, 0, saoPaulo),
		time.Date(2018, 11, 5, 12, 0, 0, 0, saoPaulo),
		time.Date(2018, 11, 6, 0, 0, 0, 0, saoPaulo),
	} {
		for _, form := range []string{"unix", "unixms", "datetime", "date", "rfc1123", "rfc2822", "rfc3339", "rfc3339ms"} {
			write := func(at time.Time) string { return FormatTime(at, form, saoPaulo) }
			after := After(at, form, saoPaulo)
			assert.True(t, after.Before(at), "%v by %s", at, form)
			assert.NotEqual(t, write(after), write(after.Add(-1)), "after %v by %s", at, form)
			before := Before(at, form, saoPaulo)
			assert.False(t, before.Before(at), "%v by %s", at, form)
			assert.NotEqual(t, write(before), write(before.Add(1)), "before %v by %s", at, form)
		}
	}
}
