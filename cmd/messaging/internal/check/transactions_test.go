package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// TestCreated: a service whose times are in a zone without an offset is read wrongly, until the contract names the zone.
func TestCreated(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(at time.Time) any
		want  grade
		why   string
	}{
		"in UTC":       {func(at time.Time) any { return at.UTC().Format(time.DateTime) }, proven, "the times at which"},
		"ahead":        {func(at time.Time) any { return at.UTC().Add(8 * time.Hour).Format(time.DateTime) }, wrong, "created 8.0 h ahead of the time at which it was sent: see sms.list.zone"},
		"behind":       {func(at time.Time) any { return at.UTC().Add(-330 * time.Minute).Format(time.DateTime) }, wrong, "created 5.5 h behind the time"},
		"a late clock": {func(at time.Time) any { return at.UTC().Add(-3 * time.Minute).Format(time.DateTime) }, proven, "the times at which"},
		"no time":      {func(time.Time) any { return nil }, plausible, "not read: a row has no time"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.changeRows(func(row object, m fakeMessage) { row["at"] = tt.write(m.at) })
			got := checkFake(t, f, names)
			assert.Equal(t, tt.want, got.grades["created"], got.out)
			assert.Contains(t, got.why["created"], tt.why)
			assert.Equal(t, map[bool]int{true: cli.ExitRefused, false: cli.ExitOK}[tt.want == wrong], got.status, got.out)
		})
	}
}

// TestCreatedWithoutRow: the client leaves out a row, so the report must not blame the time of a row.
func TestCreatedWithoutRow(t *testing.T) {
	t.Parallel()
	now := time.Now()
	found := []*message{{values: map[string]string{"reference": "a"}, sentAt: now}, {values: map[string]string{"reference": "b"}, sentAt: now}}
	transactions := []sms.Transaction{{ReferenceID: "a", CreatedAt: now}}
	want := finding{plausible, "not read: the client leaves out the row of a message"}
	assert.Equal(t, want, judgeCreated(found, transactions))
	transactions = append(transactions, sms.Transaction{ReferenceID: "b", CreatedAt: now.Add(-time.Hour)})
	assert.Equal(t, wrong, judgeCreated(found, transactions).grade)
}

// TestUnreadValues: the report says whether the rows of the messages have a price, parts and a status.
func TestUnreadValues(t *testing.T) {
	for subject, isRead := range map[string]bool{"price": true, "parts": false, "status": true} {
		f := newFake()
		f.changeRows(func(row object, _ fakeMessage) { row["price"] = "0.50" })
		got := checkFake(t, f, names)
		assert.Equal(t, plausible, got.grades[subject], "only the service knows it")
		want := map[bool]string{true: "a row has a value", false: "not read: no row has a value"}[isRead]
		assert.Contains(t, got.why[subject], want, subject)
	}
}
