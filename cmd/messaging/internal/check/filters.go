package check

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// filters are the concepts by which a listing can be filtered.
func filters() []string {
	return []string{"reference", "id", "request", "category", "from", "to", "status", "createdAfter", "createdBefore"}
}

// isTime reports whether a concept is a bound of time.
func isTime(concept string) bool { return concept == "createdAfter" || concept == "createdBefore" }

// isID reports whether a concept is an ID of a message or of its request.
func isID(concept string) bool {
	return slices.Contains([]string{"id", "reference", "request"}, concept)
}

// checkFilters tries each filter that the contract names.
func (c *checker) checkFilters(ctx context.Context) {
	if len(c.listed.rows) == 0 {
		c.report.add("filters", "sms.list.params", finding{plausible, "not tried: there is no row to find"})
		return
	}
	c.say("trying the filters")
	trial := c.newFilterTrial()
	for _, concept := range filters() {
		if ctx.Err() != nil {
			return
		}
		if c.names.SMSList.Params[concept] == "" {
			continue
		}
		c.report.add("filter by "+concept, "sms.list.params."+concept, trial.try(ctx, concept))
	}
}

// filterTrial tries filters with values that no message has, and with values of rows.
type filterTrial struct {
	lister     *lister
	names      wireNames
	listed     page     // the rows to find
	missesRows bool     // the first page may begin after the first row
	withSend   bool     // only the messages of the check prove a filter
	sent       *message // a message whose row was found, or nil
}

func (c *checker) newFilterTrial() filterTrial {
	t := filterTrial{lister: c.lister, names: c.names, listed: c.listed, missesRows: c.missesRows, withSend: c.settings.send}
	if found := c.found(); len(found) > 0 {
		t.sent = found[0]
	}
	return t
}

func (t filterTrial) try(ctx context.Context, concept string) finding {
	if isTime(concept) {
		return t.tryBound(ctx, concept)
	}
	return t.tryValue(ctx, concept)
}

// tryValue asks for a value that no message has, and then for an ID of a message that was sent. Without --send it asks for the ID of a row.
func (t filterTrial) tryValue(ctx context.Context, concept string) finding {
	sent := t.sentID(concept)
	absent := t.lister.byValue(ctx, concept, t.absentValue(concept, sent))
	if f, isDecided := judgeAbsent(absent); isDecided {
		return f
	}
	if sent != "" {
		return t.judgeSent(concept, t.lister.byValue(ctx, concept, sent))
	}
	if listed := t.listedID(concept); listed != "" {
		return t.judgeListed(concept, listed, t.lister.byValue(ctx, concept, listed))
	}
	return finding{plausible, "it finds nothing for a value that no message has"}
}

// tryBound asks with a bound that no message meets, and then with one that a row of the listing meets.
func (t filterTrial) tryBound(ctx context.Context, concept string) finding {
	absent := t.lister.byTime(ctx, concept, absentTime(concept))
	if f, isDecided := judgeAbsent(absent); isDecided {
		f.why += boundAdvice(f, absent.err, concept)
		return f
	}
	bound, hasTime := t.listedTime(concept)
	if !hasTime {
		return finding{plausible, "it finds nothing for a bound that no message meets; no row has a time to try"}
	}
	p := t.lister.byTime(ctx, concept, bound)
	if f, isDecided := t.judgeEmpty(p, "it hides a row of the listing that it should find: see sms.list.time, sms.list.zone"); isDecided {
		return f
	}
	return finding{plausible, "it finds rows by their time, and nothing for a bound that no message meets"}
}

// boundAdvice says what in the contract may explain the finding for a bound that no message meets, or is empty.
func boundAdvice(f finding, err error, concept string) string {
	switch {
	case errors.Is(err, messaging.ErrInvalid):
		return "; the service refuses the name or the time: see sms.list.params." + concept + ", sms.list.time"
	case f.grade == wrong:
		return "; check the form of times in sms.list.time first"
	}
	return ""
}

// absentTime returns a bound that no message meets.
func absentTime(concept string) time.Time {
	if concept == "createdAfter" {
		return time.Now().AddDate(10, 0, 0)
	}
	return time.Now().AddDate(-20, 0, 0)
}

// listedTime returns a bound that the newest or the oldest row of the listing meets, and reports whether a row has a time.
func (t filterTrial) listedTime(concept string) (bound time.Time, hasTime bool) {
	const distance = time.Hour // the service may filter by another time of the message
	var times []time.Time
	for _, tx := range t.listed.transactions {
		if !tx.CreatedAt.IsZero() {
			times = append(times, tx.CreatedAt)
		}
	}
	if len(times) == 0 {
		return bound, false
	}
	if concept == "createdAfter" {
		return slices.MaxFunc(times, time.Time.Compare).Add(-distance), true
	}
	return slices.MinFunc(times, time.Time.Compare).Add(distance), true
}

// judgeAbsent judges what a filter finds for a value that no message has. If it finds nothing, as it should, nothing is decided yet.
func judgeAbsent(absent page) (f finding, isDecided bool) {
	switch {
	case len(absent.rows) > 0 && absent.isPage:
		return finding{wrong, "it is ignored: a value that no message has finds " + countRows(len(absent.rows)) + `; if the service lacks it, name it ""`}, true
	case errors.Is(absent.err, messaging.ErrInvalid): // refused for its content, and not for the account or the rate
		return finding{wrong, describe(absent.err)}, true
	case !absent.isPage:
		return finding{plausible, "could not tell: " + describe(absent.err)}, true
	}
	return finding{}, false
}

// judgeEmpty judges a page that should have rows, and says why it is wrong without one. With rows, nothing is decided yet.
func (t filterTrial) judgeEmpty(p page, why string) (f finding, isDecided bool) {
	switch {
	case !p.isPage:
		return finding{plausible, "could not tell: " + describe(p.err)}, true
	case len(p.rows) == 0 && t.missesRows:
		return finding{plausible, "could not tell: " + missedRows}, true
	case len(p.rows) == 0:
		return finding{wrong, why}, true
	}
	return finding{}, false
}

// judgeListed judges the rows that a filter finds for the ID of a row. Several rows may have it.
func (t filterTrial) judgeListed(concept, value string, p page) finding {
	if f, isDecided := t.judgeEmpty(p, "it finds nothing for the value of a row of the listing"); isDecided {
		return f
	}
	if t.hasOther(p, concept, value) {
		return finding{wrong, otherMessages}
	}
	return finding{proven, "it finds the value of a row of the listing, and nothing for a value that no message has"}
}

// judgeSent judges the rows that a filter finds for the ID of the message that was sent.
func (t filterTrial) judgeSent(concept string, p page) finding {
	if f, isDecided := t.judgeEmpty(p, "it finds nothing, not even the message"); isDecided {
		return f
	}
	switch {
	case t.hasOther(p, concept, t.sent.values[concept]):
		return finding{wrong, otherMessages}
	case len(p.rows) > 1 || !t.names.hasValue(p.rows[0], "reference", t.sent.values["reference"]):
		return finding{wrong, "it also finds other messages: " + countRows(len(p.rows)) + " for one message"}
	}
	return finding{proven, "it finds the message alone, and nothing for a value that no message has"}
}

const otherMessages = "it also finds other messages: a row has another value, or none"

// hasOther reports whether a row has another value for a concept, or none.
func (t filterTrial) hasOther(p page, concept, value string) bool {
	isOther := func(row document.Node) bool { return !t.names.hasValue(row, concept, value) }
	return slices.ContainsFunc(p.rows, isOther)
}

// sentID returns the value that the message has for a concept that is an ID, or "". Other values may belong to several messages.
func (t filterTrial) sentID(concept string) string {
	if t.sent == nil || !isID(concept) {
		return ""
	}
	return t.sent.values[concept]
}

// listedID returns the first row's value for a concept that is an ID, or "". With --send only the messages of the check prove a filter.
func (t filterTrial) listedID(concept string) string {
	if t.withSend || !isID(concept) {
		return ""
	}
	return t.listedValue(concept)
}

// listedValue returns the first value that a row has for a concept, or "".
func (t filterTrial) listedValue(concept string) string {
	for _, row := range t.listed.rows {
		if value := t.names.value(row, concept); value != "" {
			return value
		}
	}
	return ""
}

// absentValue returns a random value in the form of a given one, or in the form of the values of the rows.
func (t filterTrial) absentValue(concept, like string) string {
	const minLength = 6 // a shorter random value may exist
	like = cmp.Or(like, t.listedValue(concept))
	if len(like) < minLength {
		like = "none-00000000"
	}
	return strings.Map(randomLike, like)
}

// randomLike returns a random digit for a digit, and a letter for a letter. Hexadecimal digits stay hexadecimal digits.
func randomLike(r rune) rune {
	for _, alphabet := range []string{"0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"} {
		if strings.ContainsRune(alphabet, r) {
			return rune(alphabet[rand.IntN(len(alphabet))]) //nolint:gosec // no secret
		}
	}
	return r
}
