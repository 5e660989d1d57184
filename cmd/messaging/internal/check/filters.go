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
	"github.com/messaging-service/messaging-go/sms"
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
	for _, concept := range filters() {
		if ctx.Err() != nil {
			return
		}
		if c.table.SMSList.Params[concept] == "" {
			continue
		}
		c.report.add("filter by "+concept, "sms.list.params."+concept, c.tryFilter(ctx, concept))
	}
}

func (c *checker) tryFilter(ctx context.Context, concept string) finding {
	if isTime(concept) {
		return c.tryBound(ctx, concept)
	}
	return c.tryValue(ctx, concept)
}

// tryValue asks for a value that no message has, and then for an ID of a message that was sent. Without --send it asks for the ID of a row.
func (c *checker) tryValue(ctx context.Context, concept string) finding {
	m := c.messageWithID(concept)
	sent := ""
	if m != nil {
		sent = m.values[concept]
	}
	absent := c.listByValue(ctx, concept, c.absentValue(concept, sent))
	if f, isDecided := judgeAbsent(absent); isDecided {
		return f
	}
	if sent != "" {
		return c.judgeSent(concept, m, c.listByValue(ctx, concept, sent))
	}
	if listed := c.listedID(concept); listed != "" {
		return c.judgeListed(concept, listed, c.listByValue(ctx, concept, listed))
	}
	return finding{plausible, "it finds nothing for a value that no message has"}
}

// tryBound asks with a bound that no message meets, and then with one that a row of the listing meets.
func (c *checker) tryBound(ctx context.Context, concept string) finding {
	absent := c.listByTime(ctx, concept, absentTime(concept))
	if f, isDecided := judgeAbsent(absent); isDecided {
		f.why += boundAdvice(f, absent.err, concept)
		return f
	}
	bound, hasTime := c.listedTime(concept)
	if !hasTime {
		return finding{plausible, "it finds nothing for a bound that no message meets; no row has a time to try"}
	}
	p := c.listByTime(ctx, concept, bound)
	switch {
	case !p.isPage:
		return finding{plausible, "could not tell: " + describe(p.err)}
	case len(p.rows) == 0 && c.missesRows:
		return finding{plausible, "could not tell: " + missedRows}
	case len(p.rows) == 0:
		return finding{wrong, "it hides a row of the listing that it should find: see sms.list.time, sms.list.zone"}
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

// listByValue asks for the first page of the rows that have a value for a concept.
func (c *checker) listByValue(ctx context.Context, concept, value string) page {
	var o sms.ListOptions
	switch concept {
	case "reference":
		o.ReferenceID = value
	case "id":
		o.ID = value
	case "request":
		o.RequestID = value
	case "category":
		o.CategoryID = value
	case "from":
		o.From = value
	case "to":
		o.To = value
	case "status":
		o.Status = value
	}
	return c.list(ctx, o, 1)
}

// listByTime asks for the first page of the rows that meet a bound of time.
func (c *checker) listByTime(ctx context.Context, concept string, bound time.Time) page {
	if concept == "createdAfter" {
		return c.list(ctx, sms.ListOptions{CreatedAfter: bound}, 1)
	}
	return c.list(ctx, sms.ListOptions{CreatedBefore: bound}, 1)
}

// absentTime returns a bound that no message meets.
func absentTime(concept string) time.Time {
	if concept == "createdAfter" {
		return time.Now().AddDate(10, 0, 0)
	}
	return time.Now().AddDate(-20, 0, 0)
}

// listedTime returns a bound that the newest or the oldest row of the listing meets, and reports whether a row has a time.
func (c *checker) listedTime(concept string) (bound time.Time, hasTime bool) {
	const distance = time.Hour // the service may filter by another time of the message
	var times []time.Time
	for _, tx := range c.listed.transactions {
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

// judgeListed judges the rows that a filter finds for the ID of a row. Several rows may have it.
func (c *checker) judgeListed(concept, value string, p page) finding {
	isOther := func(row document.Node) bool { return !c.hasValue(row, concept, value) }
	switch {
	case !p.isPage:
		return finding{plausible, "could not tell: " + describe(p.err)}
	case len(p.rows) == 0 && c.missesRows:
		return finding{plausible, "could not tell: " + missedRows}
	case len(p.rows) == 0:
		return finding{wrong, "it finds nothing for the value of a row of the listing"}
	case slices.ContainsFunc(p.rows, isOther):
		return finding{wrong, "it also finds other messages: a row has another value, or none"}
	}
	return finding{proven, "it finds the value of a row of the listing, and nothing for a value that no message has"}
}

// judgeSent judges the rows that a filter finds for the ID of a message that was sent.
func (c *checker) judgeSent(concept string, m *message, p page) finding {
	value := m.values[concept]
	reference := m.values["reference"]
	isOther := func(row document.Node) bool { return !c.hasValue(row, concept, value) }
	switch {
	case !p.isPage:
		return finding{plausible, "could not tell: " + describe(p.err)}
	case len(p.rows) == 0 && c.missesRows:
		return finding{plausible, "could not tell: " + missedRows}
	case len(p.rows) == 0:
		return finding{wrong, "it finds nothing, not even the message"}
	case slices.ContainsFunc(p.rows, isOther):
		return finding{wrong, "it also finds other messages: a row has another value, or none"}
	case len(p.rows) > 1 || !c.hasValue(p.rows[0], "reference", reference):
		return finding{wrong, "it also finds other messages: " + countRows(len(p.rows)) + " for one message"}
	}
	return finding{proven, "it finds the message alone, and nothing for a value that no message has"}
}

// messageWithID returns a message whose row was found, or nil if there is none or the concept is no ID. Other values may belong to several
// messages.
func (c *checker) messageWithID(concept string) *message {
	found := c.found()
	if len(found) == 0 || !isID(concept) {
		return nil
	}
	return found[0]
}

// listedID returns the first row's value for a concept that is an ID, or "". With --send only the messages of the check prove a filter.
func (c *checker) listedID(concept string) string {
	if c.settings.send || !isID(concept) {
		return ""
	}
	return c.listedValue(concept)
}

// listedValue returns the first value that a row has for a concept, or "".
func (c *checker) listedValue(concept string) string {
	for _, row := range c.listed.rows {
		if value := c.value(row, concept); value != "" {
			return value
		}
	}
	return ""
}

// absentValue returns a random value in the form of a given one, or in the form of the values of the rows.
func (c *checker) absentValue(concept, like string) string {
	const minLength = 6 // a shorter random value may exist
	like = cmp.Or(like, c.listedValue(concept))
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
