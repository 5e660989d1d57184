package learn

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// orList returns layouts to choose from, or "".
func orList(layouts []string) string {
	if len(layouts) == 0 {
		return ""
	}
	return ", such as " + strings.Join(layouts, " or ")
}

// layoutsOf returns the usual layouts that read a text as different times.
func layoutsOf(text string) []string {
	dates := []string{"02 Jan 2006", "2 Jan 2006", "02-Jan-2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006"}
	for _, separator := range []string{".", "/", "-"} {
		for _, order := range []string{"02 01 2006", "2 1 2006", "01 02 2006", "1 2 2006", "2006 01 02", "2006 1 2"} {
			dates = append(dates, strings.ReplaceAll(order, " ", separator))
		}
	}
	var layouts []string
	isKnown := map[time.Time]bool{}
	for _, date := range dates {
		for _, clock := range []string{"", " 15:04", " 15:04:05", " 3:04 PM", " 3:04:05 PM"} {
			for _, zone := range []string{"", " -0700", " -07:00", "Z07:00"} {
				at, err := time.Parse(date+clock+zone, text)
				if err != nil || isKnown[at.UTC()] {
					continue
				}
				isKnown[at.UTC()] = true
				layouts = append(layouts, date+clock+zone)
			}
		}
	}
	return layouts
}

// timeForms are the forms in which a contract writes a time.
func timeForms() []string {
	return []string{"rfc3339ms", "rfc3339", "datetime", "date", "unix", "unixms", "rfc1123", "rfc2822"}
}

// formOf returns the form in which a contract writes a time, or "".
func formOf(text string) string {
	at, _ := table.ParseTime(text, nil)
	for _, form := range timeForms() {
		if table.FormatTime(at, form, time.UTC) == text {
			return form
		}
	}
	return ""
}

// formsOf returns a time in each form.
func formsOf(at time.Time) []string {
	var texts []string
	for _, form := range timeForms() {
		texts = append(texts, table.FormatTime(at, form, time.UTC))
	}
	return texts
}

// noteTime adds a comment if no row of the example has a time at which the service took the message.
func (n *notes) noteTime(rows []sms.Transaction) {
	hasCreated := func(tx sms.Transaction) bool { return !tx.CreatedAt.IsZero() }
	hasSent := func(tx sms.Transaction) bool { return !tx.SentAt.IsZero() }
	switch {
	case slices.ContainsFunc(rows, hasCreated):
	case slices.ContainsFunc(rows, hasSent):
		n.note("the time at which the service took a message is not read, only when it went out: if the row has it, write its path here",
			sectionList, "record", "created")
	default:
		n.note("no time of the row is read: write its path to record.created, and its layout here if it is unusual, such as 02/01/2006 15:04",
			sectionList, "layouts")
	}
}

// noteZone adds a comment to a section whose examples have a time without an offset.
func (n *notes) noteZone(section string, examples ...*Example) {
	if !slices.ContainsFunc(examples, hasTimeWithoutOffset) {
		return
	}
	const text = "the times have no offset, and UTC is assumed: if they are in another zone, write it to zone, such as Europe/Madrid"
	n.warn(text, section, "zone")
}

func hasTimeWithoutOffset(example *Example) bool {
	isWithoutOffset := func(concept string) bool {
		text := example.values[concept]
		return text != "" && !hasOffset.MatchString(text) && !isUnixTime.MatchString(text)
	}
	return slices.ContainsFunc([]string{"created", "sent", "time"}, isWithoutOffset)
}

var (
	// hasOffset matches a time of day with an offset or a zone after it: 14:05:00Z, 2:05 PM -0700, T140500+08.
	hasOffset = regexp.MustCompile(`(?i)(\d:\d{2}(:\d{2}([.,]\d+)?)?|T\d{4,6})\s*([AP]M)?\s*(Z\b|[+-]\d{2}|[A-Z]{3,5}\b)`)

	// isUnixTime matches seconds and milliseconds since 1970.
	isUnixTime = regexp.MustCompile(`^(\d{9,10}(\.\d+)?|\d{12,13})$`)
)
