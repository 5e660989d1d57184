package table

import "time"

// After returns a time that, in a form, is a bound which leaves out nothing at or after another, whether or not the service lists rows
// at the bound itself: the last time that is earlier, and the day before in a form of whole days.
func After(at time.Time, form string, zone *time.Location) time.Time {
	if form == "date" {
		return at.In(zone).AddDate(0, 0, -1)
	}
	return at.Add(-1)
}

// Before returns a time that, in a form, is a bound which leaves out nothing before another, whether or not the service lists rows at the
// bound itself: the first time in that form that is not earlier.
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
