package doctor

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// The three words.
const (
	proven    = "proven"    // a value of this run shows it
	plausible = "plausible" // values have the shape, or nothing speaks against it
	absent    = "absent"    // nothing is there, or what is there does not work
)

// finding is what was seen of one concept.
type finding struct {
	concept string
	reads   string // what the contract reads, or sends
	seen    string // the shape of what is there
	word    string // proven, plausible or absent
	why     string // the evidence, or the members whose shape fits
}

// The parts of a report: keys of an overlay, with spaces between.
const (
	partService  = "account"
	partSend     = "sms.send"
	partFields   = "sms.send fields"
	partResponse = "sms.send response"
	partList     = "sms.list"
	partRecord   = "sms.list record"
	partPage     = "sms.list page"
	partParams   = "sms.list params"
	partErrors   = "errors"
)

// entry is a finding of a part, or a note.
type entry struct {
	part string
	finding
	note string
}

// report is what was seen.
type report []entry

func (r *report) add(part string, f finding) { *r = append(*r, entry{part, f, ""}) }

func (r *report) note(part, format string, args ...any) {
	*r = append(*r, entry{part: part, note: fmt.Sprintf(format, args...)})
}

// write writes a table for each part, with notes below.
func (r report) write(w io.Writer) error {
	isNote := map[bool]int{true: 1}
	slices.SortStableFunc(r, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.part, b.part), isNote[a.note != ""]-isNote[b.note != ""])
	})
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	part := ""
	for _, e := range r {
		if e.part != part {
			if part != "" {
				_, _ = fmt.Fprintln(table)
			}
			part = e.part
			_, _ = fmt.Fprintf(table, "%s\tcontract\tseen\tis\tevidence\n", strings.ReplaceAll(part, " ", "."))
		}
		if e.note != "" {
			_, _ = fmt.Fprintln(table, "  "+e.note)
			continue
		}
		e.reads, e.seen, e.why = cmp.Or(e.reads, "-"), cmp.Or(e.seen, "-"), cmp.Or(e.why, "-")
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", e.concept, e.reads, e.seen, e.word, e.why)
	}
	return table.Flush()
}

// overlay is an overlay of the contract as JSON, to which lines can be added.
type overlay map[string]any

// line is one value of an overlay: its keys with spaces between, such as "sms.list record id", and the value.
type line struct {
	path  string
	value any
}

// comment ends a key that the contract passes over.
const comment = "//"

// prove adds a line to the overlay, for what is proven.
func (d *doctor) prove(value any, path string) { d.lines = append(d.lines, []line{{path, value}}) }

// proveMember writes where a concept of a part stands. What else the contract read there is not there.
func (d *doctor) proveMember(part string, section map[string][]string, concept, at string) {
	lines := []line{{part + " " + concept, []string{at}}}
	for other, paths := range section {
		if i := slices.Index(paths, at); i >= 0 && other != concept {
			lines = append(lines, line{part + " " + other, slices.Delete(slices.Clone(paths), i, i+1)})
		}
	}
	d.lines = append(d.lines, lines)
}

// suggest adds candidates to the overlay as a comment beside a line.
func (d *doctor) suggest(candidates []string, path string) { d.prove(candidates, path+comment) }

// reject writes that the service has nothing of the kind, with the reason as a comment.
func (d *doctor) reject(none any, reason, path string) {
	d.lines = append(d.lines, []line{{path, none}, {path + comment, reason}})
}

// adopted returns the user's overlay with the lines. Those that the contract refuses stay out, and the report says so. If no message was
// taken, all but what sends only stands in the way.
func (d *doctor) adopted() overlay {
	all := d.overlay
	for _, lines := range d.lines {
		if d.refused && !strings.HasPrefix(lines[0].path, partSend) {
			continue
		}
		changed, _, err := all.with(lines...)
		if err != nil {
			reason := strings.ReplaceAll(err.Error(), "\n", "; ")
			d.report.note("overlay", "%s is not written: %s", strings.ReplaceAll(lines[0].path, " ", "."), reason)
			continue
		}
		all = changed
	}
	return all
}

// with returns the overlay with lines more, and its contract. The overlay itself does not change.
func (o overlay) with(lines ...line) (overlay, contract.Contract, error) {
	changed := overlay{}
	maps.Copy(changed, document.Parse([]byte(document.Encode(o))).Object())
	for _, l := range lines {
		object := map[string]any(changed)
		keys := strings.Fields(l.path)
		for _, key := range keys[:len(keys)-1] {
			inner, ok := object[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				object[key] = inner
			}
			object = inner
		}
		object[keys[len(keys)-1]] = l.value
	}
	names, err := contract.Parse([]byte(document.Encode(changed)))
	return changed, names, err
}

var list, lineBreak = regexp.MustCompile(`\[[^][{}]*\]`), regexp.MustCompile(`\n *`)

// text returns the overlay with a line for each concept. A comment follows what it is about.
func (o overlay) text() string {
	inLine := func(list string) string { return lineBreak.ReplaceAllString(list, "") }
	return list.ReplaceAllStringFunc(document.Node{Value: map[string]any(o)}.Indented(), inLine)
}
