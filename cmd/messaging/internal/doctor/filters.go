package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// selecting returns the options that select by a concept. A bound of time is always one that no message has.
func selecting(concept, value string) sms.ListOptions {
	v := map[string]string{concept: value}
	o := sms.ListOptions{
		ID: v["id"], ReferenceID: v["reference"], RequestID: v["request"], CategoryID: v["category"],
		From: v["from"], To: v["to"], Status: v["status"],
	}
	if concept == "createdAfter" {
		o.CreatedAfter = time.Now().AddDate(10, 0, 0)
	}
	if concept == "createdBefore" {
		o.CreatedBefore = time.Now().AddDate(-20, 0, 0)
	}
	return o
}

// examineFilters tries each filter by the contract's name, and if that does not find the message, by that of the row's member.
func (d *doctor) examineFilters(ctx context.Context) {
	list := d.table.SMSList
	for _, concept := range slices.Sorted(maps.Keys(list.Params)) {
		name, path, own := list.Params[concept], partParams+" "+concept, leaf(d.proofs[partRecord][concept])
		f, isWrong := finding{concept, name, "", absent, "the contract has no name for it"}, false
		switch {
		case slices.Contains([]string{"page", "pageSize", "offset", "cursor"}, concept):
			continue // examinePaging says it
		case name != "" && (concept == "sortBy" || concept == "order"):
			f.word, f.why = plausible, "was not tried"
		case name != "":
			f.word, f.why, isWrong = d.try(concept, func(value string) answer { return d.fetch(ctx, selecting(concept, value)) })
		}
		if f.word != proven && own != "" && own != name && list.Encoding == "query" {
			word, why, _ := d.try(concept, func(value string) answer { return d.ask(ctx, url.Values{own: {value}}) })
			switch word {
			case proven:
				f.word, f.why, isWrong = proven, own+" "+why, false
				d.prove(own, path)
			case plausible:
				f.why += "; " + own + " " + why
				d.suggest([]string{own}, path)
			}
		}
		if isWrong {
			d.reject("", f.why, path)
		}
		d.report.add(partParams, f)
	}
}

// try asks for values that nobody has, and then for the one of a message. It reports also whether the filter is seen to be wrong: it is
// ignored, or finds others.
func (d *doctor) try(concept string, ask func(value string) answer) (word, why string, isWrong bool) {
	if len(d.rows) == 0 {
		return plausible, "not tried: there is no row to find", false
	}
	own, value, at := d.own(), "", d.proofs[partRecord][concept]
	if len(own) > 0 {
		value = cmp.Or(own[0].values[concept], own[0].rows[0].At(cmp.Or(at, "-")).Text())
	}
	isAlone := slices.Contains([]string{"id", "reference", "request"}, concept)
	nobody := ask(d.nobodys(concept, value))
	switch {
	case nobody.isRefusal():
		return absent, "is refused: " + nobody.describe(), false
	case !nobody.isPage:
		return plausible, "was not found out: " + nobody.describe(), false
	case len(nobody.rows) > 0:
		return absent, "is ignored: a value that nobody has finds rows", true
	case value == "":
		return plausible, "finds nothing for a value that nobody has", false
	}
	for _, cut := range []string{value[:len(value)-1], value[1:]} {
		if cut == "" || d.isSeen(cut) {
			continue
		}
		if p := ask(cut); len(p.rows) > 0 {
			return absent, "finds others: a value that is cut finds rows", true
		} else if !p.isPage && !p.isRefusal() {
			return plausible, "was not found out: " + p.describe(), false
		}
	}
	found := ask(value)
	n := len(found.rows)
	isOther := func(row document.Node) bool { return len(holding(row, value)) == 0 }
	switch {
	case !found.isPage:
		return plausible, "was not found out: " + found.describe(), false
	case n == 0:
		return absent, "finds nothing, not even the message", false
	case slices.ContainsFunc(found.rows, isOther), isAlone && (n > 1 || !own[0].has(found.rows[0], "reference")):
		return absent, "finds others: more than the message", true
	case !isAlone:
		return plausible, fmt.Sprintf("finds %d rows, each with the value, and nothing for one that nobody has", n), false
	}
	return proven, "finds the message alone, and nothing for a value that nobody has", false
}

func (d *doctor) isSeen(value string) bool {
	return slices.ContainsFunc(d.rows, func(row document.Node) bool { return len(holding(row, value)) > 0 })
}

// nobodys returns a value that no row has, in the form of the value that is to be found, or of one that the rows have.
func (d *doctor) nobodys(concept, value string) string {
	if _, values := find(d.rows, d.table.SMSList.Record[concept]); value == "" && len(values) > 0 {
		value = values[0].Text()
	}
	if other := strings.Map(scrambled, value); len(value) >= 6 && !d.isSeen(other) {
		return other
	}
	return strings.Map(scrambled, "nobody-00000000")
}

// scrambled returns a random digit or letter for one. Letters that may be hexadecimal digits remain such.
func scrambled(r rune) rune {
	for _, alphabet := range []string{"0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"} {
		if strings.ContainsRune(alphabet, r) {
			return rune(alphabet[rand.IntN(len(alphabet))]) //nolint:gosec // no secret
		}
	}
	return r
}
