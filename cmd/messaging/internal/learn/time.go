package learn

import (
	"regexp"
	"slices"

	"github.com/messaging-service/messaging-go/sms"
)

// noteTime adds a comment if no row of the example has a time that is read.
func (l *learner) noteTime(rows []sms.Transaction) {
	hasTime := func(tx sms.Transaction) bool { return !tx.CreatedAt.IsZero() }
	if !slices.ContainsFunc(rows, hasTime) {
		l.overlay.note("no time of the row is read: write its path to record.created, and its layout here if it is unusual, such as 02/01/2006 15:04",
			sectionList, "layouts")
	}
}

// noteZones adds a comment to each section whose examples have a time without an offset.
func (l *learner) noteZones() {
	if l.examples.row != nil {
		l.noteZone(sectionList, []*Example{l.examples.row})
	}
	l.noteZone(sectionInbound, l.examples.inbound)
	l.noteZone(sectionDelivery, l.examples.delivery)
}

func (l *learner) noteZone(section string, examples []*Example) {
	if !slices.ContainsFunc(examples, hasTimeWithoutOffset) {
		return
	}
	const text = "the times have no offset, and UTC is assumed: if they are in another zone, write it to zone, such as Europe/Madrid"
	l.overlay.note(text, section, "zone")
	l.warnings = append(l.warnings, section+": "+text)
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
