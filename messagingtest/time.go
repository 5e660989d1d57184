package messagingtest

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// timeFormat is how a contract writes times.
type timeFormat struct {
	form string // of the contract, or a layout
	zone *time.Location
}

// newTimeFormat returns the format of a form in a zone, or of the first layout if there is one.
func newTimeFormat(form, zone string, layouts ...string) timeFormat {
	if len(layouts) > 0 {
		form = layouts[0]
	}
	location, err := time.LoadLocation(zone)
	if err != nil || form == "rfc1123" || strings.HasPrefix(form, "rfc3339") { // never an error: the contract is valid
		location = time.UTC
	}
	return timeFormat{form, location}
}

// text returns a time as text, or "" for the zero time.
func (f timeFormat) text(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case f.form == "unix":
		return strconv.FormatInt(at.Unix(), 10)
	case f.form == "unixms":
		return strconv.FormatInt(at.UnixMilli(), 10)
	default:
		return at.In(f.zone).Format(f.layout())
	}
}

func (f timeFormat) layout() string {
	layouts := map[string]string{
		"rfc3339ms": "2006-01-02T15:04:05.000Z07:00",
		"rfc3339":   time.RFC3339,
		"datetime":  time.DateTime,
		"date":      time.DateOnly,
		"rfc1123":   "Mon, 02 Jan 2006 15:04:05 GMT",
		"rfc2822":   time.RFC1123Z,
	}
	return cmp.Or(layouts[f.form], f.form)
}

// parse reads a time, and reports whether it is written like this.
func (f timeFormat) parse(text string) (time.Time, bool) {
	layout := f.layout()
	switch f.form {
	case "unix", "unixms":
		n, err := strconv.ParseInt(text, 10, 64)
		if f.form == "unix" {
			return time.Unix(n, 0), err == nil
		}
		return time.UnixMilli(n), err == nil
	case "rfc3339", "rfc3339ms":
		layout, text = time.RFC3339, strings.ToUpper(text) // a T and a Z of either case, and any fraction
	}
	at, err := time.ParseInLocation(layout, text, f.zone)
	return at, err == nil
}
