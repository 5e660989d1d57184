package check

import (
	"context"
	"errors"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// filters are the concepts by which a listing can be filtered.
func filters() []string {
	return []string{"reference", "id", "request", "category", "from", "to", "status", "createdAfter", "createdBefore"}
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

// try tries one filter.
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

// judgeAbsent judges what a filter finds for a value that no message has. If it finds nothing, as it should, nothing is decided yet.
func judgeAbsent(absent page) (f finding, isDecided bool) {
	switch {
	case len(absent.rows) > 0 && absent.isPage:
		return finding{wrong, "ignored: a made-up value still returned " + countRows(len(absent.rows)) + `; if the service has no such filter, set its name to ""`}, true
	case errors.Is(absent.err, messaging.ErrInvalid): // refused for its content, and not for the account or the rate
		return finding{wrong, describe(absent.err)}, true
	case !absent.isPage:
		return finding{plausible, "could not tell: " + describe(absent.err)}, true
	}
	return finding{}, false
}

const otherMessages = "it also finds other messages: a row has another value, or none"

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

// hasOther reports whether a row has another value for a concept, or none.
func (t filterTrial) hasOther(p page, concept, value string) bool {
	isOther := func(row document.Node) bool { return !t.names.hasValue(row, concept, value) }
	return slices.ContainsFunc(p.rows, isOther)
}
