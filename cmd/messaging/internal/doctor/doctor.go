package doctor

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// doctor is one examination.
type doctor struct {
	client   *messaging.Client // nil without an account
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
	rows      []document.Node // of the listing
	section   string          // of the checks that are added
}

// add adds a check, with the lines of the overlay that were adopted for it.
func (d *doctor) add(name string, result Result, detail string, adopted ...line) {
	c := Check{Section: d.section, Name: name, Result: result, Detail: detail}
	for _, l := range adopted {
		c.Overlay = l.String()
	}
	d.report.Checks = append(d.report.Checks, c)
}

// propose adds a check for what differs, and reports whether it adopted the line that makes it right.
func (d *doctor) propose(name, detail string, value any, path ...string) bool {
	l := line{path, value}
	if !d.adopt(l) {
		d.add(name, Differs, detail)
		return false
	}
	d.add(name, Differs, detail, l)
	return true
}

// adopt adds lines to the overlay and goes on with it, if the contract allows them.
func (d *doctor) adopt(lines ...line) bool {
	if len(lines) == 0 {
		return true
	}
	changed, names, err := d.overlay.with(lines)
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
	d.overlay, d.table = changed, names.Table()
	return true
}

// describe says why a call failed. The texts of the library's errors hold no values of messages.
func describe(err error) string {
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	_, isRow := errors.AsType[*messaging.RowError](err)
	_, isFailed := errors.AsType[*messaging.Error](err)
	if !isInvalid && !isRow && !isFailed {
		return "the call failed"
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "messaging: "), "\n", "; ")
	for _, class := range []error{
		messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrRateLimited, messaging.ErrInsufficientBalance, messaging.ErrDuplicate,
		messaging.ErrNotFound, messaging.ErrUnavailable, messaging.ErrInvalid,
	} {
		if isFailed && errors.Is(err, class) {
			return text + " (class: " + strings.TrimPrefix(class.Error(), "messaging: ") + ")"
		}
	}
	return text
}

// examination is what is compared: documents that are alike with a section of the contract that lists paths by concept.
type examination struct {
	docs       []document.Node
	section    map[string][]string
	place      []string            // of the section in the contract, such as sms.list and record
	skip       string              // a path that is looked at elsewhere
	elsewhere  map[string][]string // paths of another section that claims members
	containers string              // words of objects that say nothing
	essential  []string            // concepts without which the library cannot do what it promises
	reference  string              // the reference ID that the documents must repeat, if any
	isCallback bool                // one of several kinds, in which a concept that is not there says nothing
}

// examine adds a check for each concept, and one for the members that no concept claims. It adopts what is sure.
func (d *doctor) examine(e examination) {
	all, unnameable := columns(e.docs, e.skip)
	left := unclaimed(all, e.section, e.elsewhere)
	names := slices.Sorted(maps.Keys(e.section))
	wanted := slices.DeleteFunc(slices.Clone(names), func(concept string) bool {
		path, _ := find(e.docs, e.section[concept])
		return path != ""
	})
	guessed := newGuesser(e.section, e.containers, all).guess(left, wanted)
	if path := repeated(left, e.reference); path != "" && slices.Contains(wanted, "reference") {
		guessed["reference"] = path
	}
	lines := map[string]line{}
	for concept, path := range guessed {
		at := slices.Concat(e.place, strings.Split(concept, "."))
		lines[concept] = line{at, append([]any{path}, d.overlay.list(at)...)} // what it says for other documents stays behind
	}
	if !d.adopt(slices.Collect(maps.Values(lines))...) {
		clear(guessed)
	}
	for _, concept := range names {
		path, values := find(e.docs, e.section[concept])
		isTime := readVocabulary().concepts[concept].kind == "time"
		switch guess := guessed[concept]; {
		case path != "":
			d.add(concept, OK, fmt.Sprintf("%s: %s%s", path, shapes(values, isTime), share(len(values), len(e.docs))))
		case guess != "":
			_, values = find(e.docs, []string{guess})
			left = slices.DeleteFunc(left, func(c column) bool { return c.path == guess })
			d.add(concept, Differs, fmt.Sprintf("%s: %s", guess, shapes(values, isTime)), lines[concept])
		case slices.Contains(e.essential, concept):
			d.add(concept, Differs, "not found at "+strings.Join(e.section[concept], ", "))
		case !e.isCallback:
			d.add(concept, Note, "not there")
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

// repeated returns the path of the only column that has a value which was sent, or "".
func repeated(left []column, sent string) string {
	var paths []string
	for _, c := range left {
		if slices.ContainsFunc(c.values, func(n document.Node) bool { return n.Text() == sent }) {
			paths = append(paths, c.path)
		}
	}
	if sent == "" || len(paths) != 1 {
		return ""
	}
	return paths[0]
}

// share says in how many of all documents something is, if not in all.
func share(n, total int) string {
	if n == total {
		return ""
	}
	return fmt.Sprintf(", in %d of %d", n, total)
}
