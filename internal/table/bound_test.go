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
	} {
		assert.Equal(t, tt.after, FormatTime(After(tt.at, tt.form, tt.zone), tt.form, tt.zone), "after %v by %s", tt.at, tt.form)
		assert.Equal(t, tt.before, FormatTime(Before(tt.at, tt.form, tt.zone), tt.form, tt.zone), "before %v by %s", tt.at, tt.form)
	}
}
