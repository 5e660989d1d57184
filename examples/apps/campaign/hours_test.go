package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// hoursIn returns the hours from 8:00 to 20:00.
func hoursIn(t *testing.T, zone string) sendingHours {
	t.Helper()
	opens := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	h, err := newSendingHours(zone, opens, opens.Add(12*time.Hour))
	require.NoError(t, err)
	return h
}

func TestHoursWait(t *testing.T) {
	t.Parallel()
	h := hoursIn(t, "Europe/Berlin") // its clocks go forward on 29 March 2026 at 2:00
	for _, tt := range []struct {
		at   time.Time
		want time.Duration
	}{
		{time.Date(2026, 3, 27, 8, 0, 0, 0, h.zone), 0},
		{time.Date(2026, 3, 27, 19, 59, 0, 0, h.zone), 0},
		{time.Date(2026, 3, 27, 19, 59, 50, 0, h.zone), 12*time.Hour + 10*time.Second},
		{time.Date(2026, 3, 27, 20, 0, 0, 0, h.zone), 12 * time.Hour},
		{time.Date(2026, 3, 27, 7, 59, 0, 0, h.zone), time.Minute},
		{time.Date(2026, 3, 27, 6, 59, 0, 0, time.UTC), time.Minute},
		{time.Date(2026, 3, 28, 20, 0, 0, 0, h.zone), 11 * time.Hour},
	} {
		assert.Equal(t, tt.want, h.wait(tt.at), tt.at)
	}
}

// Messages that are not marketing, such as codes, do not wait.
func TestHoursPostponeMarketing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // at midnight UTC
		h := hoursIn(t, "UTC")
		require.NoError(t, h.guard(t.Context(), messaging.Outgoing{}))
		require.Error(t, h.guard(t.Context(), messaging.Outgoing{Marketing: true}))
		time.Sleep(8 * time.Hour)
		require.NoError(t, h.guard(t.Context(), messaging.Outgoing{Marketing: true}))
	})
}

func TestHoursEndAfterTheyBegin(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	_, err := newSendingHours("UTC", noon, noon)
	require.EqualError(t, err, "sending must begin before it ends")
}
