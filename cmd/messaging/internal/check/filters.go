package check

import (
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

// selecting returns the options that filter by a concept. A bound of time is always one that no message has.
func selecting(concept, value string) sms.ListOptions {
	v := map[string]string{concept: value}
	o := sms.ListOptions{
		ID: v["id"], ReferenceID: v["reference"], RequestID: v["request"], CategoryID: v["category"],
		From: v["from"], To: v["to"], Status: v["status"],
	}
	switch concept {
	case "createdAfter":
		o.CreatedAfter = time.Now().AddDate(10, 0, 0)
	case "createdBefore":
		o.CreatedBefore = time.Now().AddDate(-20, 0, 0)
	}
	return o
}

// checkFilters tries each filter for which the contract has a name.
func (c *checker) checkFilters(ctx context.Context) {
	if len(c.rows) == 0 {
		c.report.add("filters", "sms.list.params", plausible, "not tried: there is no row to find")
		return
	}
	for _, concept := range filters() {
		name := c.table.SMSList.Params[concept]
		if name == "" || ctx.Err() != nil {
			continue
		}
		word, why := c.try(ctx, concept)
		c.report.add("filter by "+concept, name, word, "%s", why)
	}
}

// try asks for a value that no message has, then for parts of the value of a message, and then for that value.
func (c *checker) try(ctx context.Context, concept string) (word, string) {
	ask := func(value string) page { return c.page(ctx, selecting(concept, value)) }
	value := c.known(concept)
	other := ask(c.unknown(concept, value))
	switch {
	case len(other.rows) > 0 && other.isPage:
		return wrong, "it is ignored: a value that no message has finds " + count(len(other.rows))
	case isRefused(other.err):
		return wrong, describe(other.err)
	case !other.isPage:
		return plausible, "not found out: " + describe(other.err)
	case value == "":
		return plausible, "it finds nothing for a value that no message has"
	}
	for _, part := range []string{value[:len(value)-1], value[1:]} {
		if part == "" || c.isSeen(concept, part) {
			continue
		}
		p := ask(part)
		if len(p.rows) > 0 {
			return wrong, "it finds others: a part of a value finds " + count(len(p.rows))
		}
		if !p.isPage && !isRefused(p.err) {
			return plausible, "not found out: " + describe(p.err)
		}
	}
	return c.judge(concept, value, ask(value))
}

// judge says what the rows that a filter finds for the value of a message show.
func (c *checker) judge(concept, value string, p page) (word, string) {
	own := c.found()[0]
	isOther := func(row document.Node) bool { return !c.same(row, concept, value) }
	isAlone := slices.Contains([]string{"id", "reference", "request"}, concept)
	switch {
	case !p.isPage:
		return plausible, "not found out: " + describe(p.err)
	case len(p.rows) == 0:
		return wrong, "it finds nothing, not even the message"
	case slices.ContainsFunc(p.rows, isOther):
		return wrong, "it finds others: a row has another value, or none"
	case !isAlone:
		return plausible, "it finds " + count(len(p.rows)) + " with the value, and none for one that no message has"
	case len(p.rows) > 1 || !c.same(p.rows[0], "reference", own.values["reference"]):
		return wrong, "it finds others: " + count(len(p.rows)) + " for one message"
	}
	return proven, "it finds the message alone, and nothing for a value that no message has"
}

// known returns the value of a message whose row was found, or "".
func (c *checker) known(concept string) string {
	found := c.found()
	if len(found) == 0 {
		return ""
	}
	if value := found[0].values[concept]; value != "" {
		return value
	}
	if concept == "status" {
		return "" // it may change while it is asked for
	}
	return c.value(found[0].row, concept)
}

// isRefused reports whether the service refused a request for what it holds, and not for the account or the rate.
func isRefused(err error) bool {
	return errors.Is(err, messaging.ErrInvalid)
}

func (c *checker) isSeen(concept, value string) bool {
	return slices.ContainsFunc(c.rows, func(row document.Node) bool { return c.same(row, concept, value) })
}

// unknown returns a value that no row has, in the form of one that is known, or of one that the rows have.
func (c *checker) unknown(concept, value string) string {
	for _, row := range c.rows {
		if value == "" {
			value = c.value(row, concept)
		}
	}
	const long = 6
	other := strings.Map(scrambled, value)
	if len(value) >= long && !c.isSeen(concept, other) {
		return other
	}
	return strings.Map(scrambled, "nobody-00000000")
}

// scrambled returns a random digit for a digit, and a letter for a letter. Letters that may be hexadecimal digits remain such.
func scrambled(r rune) rune {
	for _, alphabet := range []string{"0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"} {
		if strings.ContainsRune(alphabet, r) {
			return rune(alphabet[rand.IntN(len(alphabet))]) //nolint:gosec // no secret
		}
	}
	return r
}
