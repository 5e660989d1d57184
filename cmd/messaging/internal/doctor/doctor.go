package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/table"
)

// doctor is one examination.
type doctor struct {
	client   *messaging.Client
	base     *url.URL
	table    *table.Table
	overlay  overlay
	recorder *recorder
	report   *Report
	timeout  time.Duration
	say      func(format string, args ...any) // about what is going on
	secrets  []string
	// sensitive are the values of messages that were seen, or sent.
	sensitive map[string]bool
	rows      []*node // of the listing
	section   string  // of the checks that are added
}

func (d *doctor) add(name string, result Result, detail string, lines ...line) {
	c := Check{Section: d.section, Name: name, Result: result, Detail: detail}
	for _, l := range lines {
		if adopted := d.adopt(l); adopted {
			c.Overlay = strings.TrimPrefix(c.Overlay+", "+l.String(), ", ")
		}
	}
	d.report.Checks = append(d.report.Checks, c)
}

// adopt adds a line to the overlay and goes on with it, if the contract allows it.
func (d *doctor) adopt(l line) bool {
	o, names, err := d.overlay.with(l)
	if err != nil {
		return false
	}
	if d.client != nil {
		client, err := d.client.With(messaging.WithContract(names))
		if err != nil {
			return false
		}
		d.client = client
	}
	d.overlay, d.table = o, names.Table()
	return true
}

// step runs one step within the timeout, and says on the progress what it is if it takes longer than a second.
func (d *doctor) step(ctx context.Context, what string, f func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	timer := time.AfterFunc(time.Second, func() { d.say("%s ...", what) })
	defer timer.Stop()
	f(ctx)
}

// describe says why a call failed. The texts of the library's errors hold no values of messages.
func describe(err error) string {
	if failed, ok := errors.AsType[*messaging.Error](err); ok {
		text := strings.TrimPrefix(failed.Error(), "messaging: ")
		for _, class := range classes() {
			if errors.Is(err, class) {
				return text + " (class: " + strings.TrimPrefix(class.Error(), "messaging: ") + ")"
			}
		}
		return text
	}
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	_, isRow := errors.AsType[*messaging.RowError](err)
	if isInvalid || isRow {
		return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "messaging: "), "\n", "; ")
	}
	return "the call failed"
}

func classes() []error {
	return []error{
		messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrRateLimited, messaging.ErrInsufficientBalance, messaging.ErrDuplicate,
		messaging.ErrNotFound, messaging.ErrUnavailable, messaging.ErrInvalid,
	}
}

// see keeps the values of the concepts that are numbers and texts, so that nothing shows or records them.
func (d *doctor) see(row *node, paths map[string][]string) {
	for _, concept := range []string{"from", "to", "text"} {
		for _, path := range paths[concept] {
			if n := row.at(path); n.isFilled() && n.isScalar() {
				d.sensitive[n.text] = true
			}
		}
	}
}

// match is where the values of a concept were found.
type match struct {
	concept string
	path    string // "" if nowhere
	values  []*node
	total   int
}

// matches returns where each concept of a section stands in documents that are alike.
func matches(docs []*node, section map[string][]string) []match {
	var all []match
	for _, concept := range slices.Sorted(maps.Keys(section)) {
		m := match{concept: concept, total: len(docs)}
		for _, path := range section[concept] {
			for _, doc := range docs {
				if n := doc.at(path); n.isFilled() && n.isScalar() {
					m.values = append(m.values, n)
				}
			}
			if len(m.values) > 0 {
				m.path = path
				break
			}
		}
		all = append(all, m)
	}
	return all
}

// unclaimed returns the columns that no path of some sections names.
func unclaimed(all []column, sections ...map[string][]string) []column {
	claimed := map[string]bool{}
	for _, section := range sections {
		for _, paths := range section {
			for _, path := range paths {
				claimed[path] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c column) bool { return claimed[c.path] })
}

// examination is what is compared: documents that are alike with a section of the contract that lists paths by concept.
type examination struct {
	docs       []*node
	section    map[string][]string
	where      []string              // the keys of the section in the contract, such as sms.list and record
	skip       string                // a path that is looked at elsewhere
	claimed    []map[string][]string // further sections that claim members
	containers string                // words of objects that say nothing
	prefix     string                // of the concepts in the list of synonyms
	times      []string              // concepts whose values are times
	essential  []string              // concepts without which the library cannot do what it promises
	sent       map[string]string     // by concept, values that the documents must repeat
	defaults   map[string][]string   // of the section, in the default contract
	isCallback bool                  // one of several kinds, in which a concept that is not there says nothing
}

// paths returns a path that was found, for a concept. What other callbacks were found to say stays behind it.
func (e examination) paths(concept, path string) []any {
	all := []any{path}
	for _, known := range e.section[concept] {
		if e.isCallback && !slices.Contains(e.defaults[concept], known) {
			all = append(all, known)
		}
	}
	return all
}

// examine adds a check for each concept, and one for the members that no concept claims. It adopts what is sure.
func (d *doctor) examine(e examination) {
	all, unnameable := columns(e.docs, e.skip)
	found := matches(e.docs, e.section)
	left := unclaimed(all, append(e.claimed, e.section)...)
	var wanted []string
	for _, m := range found {
		if m.path == "" {
			wanted = append(wanted, e.prefix+m.concept)
		}
	}
	var names []string
	for _, m := range found {
		names = append(names, e.prefix+m.concept)
	}
	guessed := newGuesser(names, e.containers, all).guess(left, wanted)
	maps.Copy(guessed, repeated(left, wanted, e.sent))
	for _, m := range found {
		path, proposed := guessed[e.prefix+m.concept]
		place := slices.Index(e.times, m.concept) >= 0
		switch {
		case m.path != "":
			d.add(m.concept, OK, fmt.Sprintf("%s: %s%s", m.path, shapes(m.values, place), share(len(m.values), m.total)))
		case proposed:
			left = slices.DeleteFunc(left, func(c column) bool { return c.path == path })
			values := all[slices.IndexFunc(all, func(c column) bool { return c.path == path })].values
			d.add(m.concept, Differs, fmt.Sprintf("%s: %s", path, shapes(values, place)),
				line{e.where[0], append(slices.Clone(e.where[1:]), m.concept), e.paths(m.concept, path)})
		case slices.Contains(e.essential, m.concept):
			d.add(m.concept, Differs, "not found at "+strings.Join(e.section[m.concept], ", "))
		case !e.isCallback:
			d.add(m.concept, Note, "not there")
		}
	}
	for _, c := range left {
		seen := ""
		if len(c.values) > 0 {
			seen = share(len(c.values), len(e.docs))
		}
		d.add("(unclaimed)", Note, fmt.Sprintf("%s: %s%s; no concept claims it", c.path, shapes(c.values, saysTime(c.path)), seen))
	}
	if unnameable > 0 {
		d.add("(unclaimed)", Note, fmt.Sprintf("%d members have names that are no plain words, and are not shown", unnameable))
	}
}

// repeated returns, by wanted concept, the path of the only column that has the value that was sent.
func repeated(left []column, wanted []string, sent map[string]string) map[string]string {
	found := map[string]string{}
	for concept, value := range sent {
		if !slices.Contains(wanted, concept) {
			continue
		}
		var paths []string
		for _, c := range left {
			if slices.ContainsFunc(c.values, func(n *node) bool { return strings.TrimPrefix(n.text, "+") == strings.TrimPrefix(value, "+") }) {
				paths = append(paths, c.path)
			}
		}
		if value != "" && len(paths) == 1 {
			found[concept] = paths[0]
		}
	}
	return found
}

// rowsIn returns the path of the list in a document whose elements look most like what a section describes, or of the only list if it
// is empty, and whether there is one that surely is.
func rowsIn(doc *node, section map[string][]string, containers string) (path string, ok bool) {
	const enough = 2
	filled, empty := lists(doc)
	if len(filled) == 0 && len(empty) == 1 {
		return empty[0], true
	}
	best := 0
	for _, candidate := range filled {
		rows := doc.at(candidate).elements
		known := len(concepts(rows, section, containers))
		switch {
		case known > best:
			best, path, ok = known, candidate, known >= enough
		case known == best:
			ok = false
		}
	}
	return path, ok
}

// concepts returns the concepts of a section that documents hold, under a name of the contract or one that is surely meant.
func concepts(docs []*node, section map[string][]string, containers string) map[string]bool {
	all, _ := columns(docs, "")
	names := slices.Sorted(maps.Keys(section))
	found := map[string]bool{}
	for concept := range newGuesser(names, containers, all).guess(unclaimed(all, section), names) {
		found[concept] = true
	}
	for _, m := range matches(docs, section) {
		if m.path != "" {
			found[m.concept] = true
		}
	}
	return found
}

// share says in how many of all documents something is, if not in all.
func share(n, total int) string {
	if n == total {
		return ""
	}
	return fmt.Sprintf(", in %d of %d", n, total)
}

// shapes describes values: the shapes that they have, at most three.
func shapes(values []*node, asTime bool) string {
	const most = 3
	var all []string
	for _, v := range values {
		if s := shape(v, asTime); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	switch {
	case len(all) == 0:
		return "always null or empty"
	case len(all) > most:
		return strings.Join(all[:most], " or ") + " or others"
	}
	return strings.Join(all, " or ")
}

// zoneOf returns the location of a zone of a valid contract.
func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
