package table

import "time"

// After returns the latest bound in a form that includes every row at or after a time, even if the service leaves out rows at the bound: a
// time just before it, or the day before in a form of whole days. Of all times that the form writes alike, it is the first.
func After(at time.Time, form string, zone *time.Location) time.Time {
	if form == "date" {
		year, month, day := at.In(zone).Date()
		return startOfDay(year, month, day-1, zone)
	}
	return at.Add(-1).Truncate(precisionOf(form))
}

// Before returns the earliest bound in a form that includes every row before a time, even if the service leaves out rows at the bound: the
// first time in that form that is not earlier. Of all times that the form writes alike, it is the last.
func Before(at time.Time, form string, zone *time.Location) time.Time {
	if form == "date" {
		year, month, day := at.In(zone).Add(-1).Date()
		return startOfDay(year, month, day+2, zone).Add(-1) // the bound is the day before that one
	}
	precision := precisionOf(form)
	bound := at.Add(precision - 1).Truncate(precision)
	return bound.Add(precision - 1)
}

// precisionOf returns the precision of a form other than date.
func precisionOf(form string) time.Duration {
	switch form {
	case "rfc3339ms", "unixms":
		return time.Millisecond
	default:
		return time.Second
	}
}

// startOfDay returns the first instant of a day, which in some zones is 1 o'clock when the clocks go forward.
func startOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	noon := time.Date(year, month, day, 12, 0, 0, 0, zone)
	if midnight.Day() != noon.Day() {
		return midnight.Add(time.Hour)
	}
	return midnight
}
