package table

import "time"

// FormatAfter returns a bound that leaves out nothing at or after a time, however the service understands it: it is one unit of the
// form earlier, since the service may leave out the bound itself.
func FormatAfter(at time.Time, form string, zone *time.Location) string {
	return FormatTime(addUnits(at, -1, form, zone), form, zone)
}

// FormatBefore returns a bound that leaves out nothing before a time: the first that the form can express and that is not earlier.
func FormatBefore(at time.Time, form string, zone *time.Location) string {
	return FormatTime(addUnits(at, 1, form, zone).Add(-1), form, zone)
}

// addUnits adds so many of the smallest unit that a form can express.
func addUnits(at time.Time, n int, form string, zone *time.Location) time.Time {
	switch form {
	case "date":
		return at.In(zone).AddDate(0, 0, n) // not every day has 24 hours
	case "rfc3339ms", "unixms":
		return at.Add(time.Duration(n) * time.Millisecond)
	default:
		return at.Add(time.Duration(n) * time.Second)
	}
}
