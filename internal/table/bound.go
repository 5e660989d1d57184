package table

import "time"

// After returns a time that, in a form, is a bound which leaves out nothing at or after another. If the service leaves out rows at the
// bound itself, it is the last that is earlier. A service may compare whole days with a date, so that is then the day before.
func After(at time.Time, form string, zone *time.Location, inclusive bool) time.Time {
	switch {
	case inclusive:
		return at // the form cuts off what is too precise for it
	case form == "date":
		return at.In(zone).AddDate(0, 0, -1)
	default:
		return at.Add(-1)
	}
}

// Before returns a time that, in a form, is a bound which leaves out nothing before another: the first that is not earlier. A date
// that the service includes is a whole day, so it is then the last day of which a part is earlier.
func Before(at time.Time, form string, zone *time.Location, inclusive bool) time.Time {
	switch form {
	case "date":
		if !inclusive {
			at = at.In(zone).AddDate(0, 0, 1) // not every day has 24 hours
		}
	case "rfc3339ms", "unixms":
		at = at.Add(time.Millisecond)
	default:
		at = at.Add(time.Second)
	}
	return at.Add(-1)
}
