package table

import "time"

// After returns a time that, in a form, is a bound which leaves out nothing at or after another, even if the service leaves out the
// bound itself: the last that is earlier. A service may compare whole days with a date, so that is the day before.
func After(at time.Time, form string, zone *time.Location) time.Time {
	if form == "date" {
		return at.In(zone).AddDate(0, 0, -1)
	}
	return at.Add(-1) // the form cuts the rest of its unit off
}

// Before returns a time that, in a form, is a bound which leaves out nothing before another: the first that is not earlier.
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
