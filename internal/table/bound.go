package table

import "time"

// After returns the latest bound in a form that includes every row at or after a time, even if the service leaves out rows at the bound: a
// time just before it, or the day before in a form of whole days.
func After(at time.Time, form string, zone *time.Location) time.Time {
	if form == "date" {
		return at.In(zone).AddDate(0, 0, -1)
	}
	return at.Add(-1)
}

// Before returns the earliest bound in a form that includes every row before a time, even if the service leaves out rows at the bound: the
// first time in that form that is not earlier.
func Before(at time.Time, form string, zone *time.Location) time.Time {
	switch form {
	case "date":
		at = at.In(zone).AddDate(0, 0, 1) // not every day has 24 hours
	case "rfc3339ms", "unixms":
		at = at.Add(time.Millisecond)
	default:
		at = at.Add(time.Second)
	}
	return at.Add(-1)
}
