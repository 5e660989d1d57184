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

// newTimeFormat returns the format of a form in a zone.
func newTimeFormat(form, zone string) timeFormat {
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC // never: the contract is valid
	}
	if form == "rfc1123" || strings.HasPrefix(form, "rfc3339") {
		location = time.UTC
	}
	return timeFormat{form, location}
}

// formatOfRows returns how rows have times: by the first further layout, or in the form in which requests have them, but not
// as a date alone.
func formatOfRows(form, zone string, further []string) timeFormat {
	switch {
	case len(further) > 0:
		form = further[0]
	case form == "date":
		form = "datetime"
	}
	return newTimeFormat(form, zone)
}

// formatOfCallbacks returns how callbacks have times: by the first further layout; in a zone, if there is one, without naming
// it; and else by RFC 3339, up to nanoseconds.
func formatOfCallbacks(zone string, further []string) timeFormat {
	switch {
	case len(further) > 0:
		return newTimeFormat(further[0], zone)
	case zone != "" && zone != "UTC":
		return newTimeFormat("2006-01-02 15:04:05.999999999", zone)
	default:
		return newTimeFormat(time.RFC3339Nano, "UTC")
	}
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
	forms := map[string]string{
		"rfc3339ms": "2006-01-02T15:04:05.000Z07:00",
		"rfc3339":   time.RFC3339,
		"datetime":  time.DateTime,
		"date":      time.DateOnly,
		"rfc1123":   "Mon, 02 Jan 2006 15:04:05 GMT",
		"rfc2822":   time.RFC1123Z,
	}
	return cmp.Or(forms[f.form], f.form)
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
		layout, text = time.RFC3339Nano, strings.ToUpper(text) // a T and a Z of either case, and any fraction
	}
	at, err := time.ParseInLocation(layout, text, f.zone)
	return at, err == nil
}
