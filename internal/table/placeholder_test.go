package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/table"
)

func TestIsPlaceholder(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", " ", "\t\n", "none", "None", "NONE", " null ", "Null", "nil", "undefined", "n/a", "N/A", "-", "--", "0", "000", "00000000-0000-0000-0000-000000000000",
		"%i", "%tr", "%ID%", "%",
	} {
		assert.True(t, table.IsPlaceholder(id), "%q", id)
	}
	for _, id := range []string{
		"1", "10", "-1", "0x0", "0.0", "nonesuch", "null-1", "na", "a", "%20", "%i1", "m-1", "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111", "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}",
	} {
		assert.False(t, table.IsPlaceholder(id), "%q", id)
	}
}

func TestFormatTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 4, 34, 56, 789_999_999, time.FixedZone("", 8*60*60))
	zone := time.FixedZone("", -4*60*60)
	for form, want := range map[string]string{
		"rfc3339ms": "2026-09-30T20:34:56.789Z", "rfc3339": "2026-09-30T20:34:56Z", "unix": "1790800496", "unixms": "1790800496789",
		"datetime": "2026-09-30 16:34:56", "date": "2026-09-30",
	} {
		for _, same := range []time.Time{at, at.UTC(), at.In(time.FixedZone("", -12*60*60))} {
			assert.Equal(t, want, table.FormatTime(same, form, zone), form)
		}
	}
}
