package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// enough is how many messages are sent: two, so that what both have is told from what is each one's own.
const enough = 2

// message is a message that the doctor sent.
type message struct {
	values map[string]string // that were sent, by concept

	at       time.Time
	verdict  string
	response document.Node
	rows     []document.Node // its row, as often as it was seen
	why      string          // it has no row
}

func (m *message) has(row document.Node, concept string) bool {
	return len(holding(row, m.values[concept])) > 0
}

// isIn reports whether a row has the message's reference or its text.
func (m *message) isIn(row document.Node) bool { return m.has(row, "reference") || m.has(row, "text") }

// find looks for the row of the message among some that have messages. A row is its own only if reference and recipient both match,
// no other row has the reference, and no other message is in it.
func (m *message) find(rows []document.Node, sent []*message) {
	var with []document.Node
	for _, row := range rows {
		if m.has(row, "reference") {
			with = append(with, row)
		}
	}
	isIn := func(other *message) bool { return other != m && other.isIn(with[0]) }
	switch {
	case len(with) > 1:
		m.why = "several rows have its reference"
	case len(with) == 1 && slices.ContainsFunc(sent, isIn):
		m.why = "a row has its reference and another message"
	case len(with) == 1 && m.has(with[0], "to"):
		m.rows, m.why = append(m.rows, with[0]), ""
		return
	case len(with) == 1:
		m.why = "a row has its reference, and not its recipient"
	case slices.ContainsFunc(rows, m.isIn):
		m.why = "a row has its text, and none has a reference that was sent"
	default:
		m.why = "no row has its reference or its text"
	}
	m.rows = nil
}

// naming is a way to write a send.
type naming struct {
	how   string
	lines []line
}

// sendAll sends until enough messages are not refused. After a refusal it tries the names of the rows' own members, then a form. What was
// not refused is never sent again.
func (d *doctor) sendAll(ctx context.Context, from, to string, wait time.Duration) {
	values := map[string]string{"from": from, "to": to}
	namings := d.namings(values)
	for len(d.sent) < enough && len(namings) > 0 && ctx.Err() == nil {
		way := namings[0]
		client, err := d.with(way.lines...)
		if err != nil {
			namings = namings[1:]
			continue
		}
		names := client.Contract().Table()
		m := &message{at: time.Now(), values: map[string]string{
			"from": from, "to": to, "text": "Test message of messaging doctor " + rand.Text()[:6], "reference": "doctor-" + rand.Text(),
		}}
		if names.SMSSend.Fields["reference"] == "" {
			delete(m.values, "reference")
		}
		a := d.call(ctx, "sending", func(ctx context.Context) error {
			_, err = client.SMS.Send(ctx, sms.Message{From: from, To: to, Text: m.values["text"], ReferenceID: m.values["reference"]})
			return err
		})
		verdict := messaging.VerdictOf(a.err)
		if m.verdict, m.response = verdict.String(), a.doc; a.err != nil {
			m.verdict += " (" + a.describe() + ")"
		}
		if verdict == messaging.Accepted || verdict == messaging.Unknown {
			d.sent, d.table, namings = append(d.sent, m), names, namings[:1]
			d.await(ctx, m, wait)
			continue
		}
		d.report.note(partSend, "%s: %s", way.how, m.verdict)
		if namings = namings[1:]; !a.isRefusal() {
			break
		}
	}
	if d.refused = len(d.sent) == 0 && ctx.Err() == nil; d.refused {
		d.report.note(partSend, "no message was taken: fill in the overlay below from the documentation of the service, and try again")
		d.suggestSend(values)
	}
}

// namings returns the ways to write a send: as the contract says, with the names of the rows' own members, and both as a form.
func (d *doctor) namings(values map[string]string) []naming {
	all := []naming{{how: "as the contract says"}}
	if lines := d.ownNames(values); len(lines) > 0 {
		all = append(all, naming{"with the names of the rows' own members", lines})
	}
	for _, n := range slices.Clone(all) {
		if d.table.SMSSend.Encoding == "json" {
			all = append(all, naming{n.how + ", as a form", append(slices.Clone(n.lines), line{partSend + " encoding", "form"})})
		}
	}
	return all
}

// ownNames returns the fields of a send under the names of the rows' members, where exactly one can be meant. There are none if recipient
// or text remain open. A reference is sent only under a name that the contract reads.
func (d *doctor) ownNames(values map[string]string) (lines []line) {
	read, _ := find(d.rows, d.table.SMSList.Record["reference"])
	for _, concept := range []string{"to", "text", "from", "reference"} {
		meant, name := d.meant(concept, values[concept]), d.table.SMSSend.Fields[concept]
		switch {
		case concept == "reference":
			name = leaf(read)
		case len(meant) == 1:
			name = meant[0]
		case concept != "from":
			return nil
		}
		if name != d.table.SMSSend.Fields[concept] {
			lines = append(lines, line{partFields + " " + concept, name})
		}
	}
	return lines
}

// meant returns the names of the rows' members that can be meant by a concept: those that have a value in a row, or else those that look
// like it in all.
func (d *doctor) meant(concept, value string) (names []string) {
	columns := columnsOf(d.rows, "")
	hasIt := func(c column) bool {
		return slices.ContainsFunc(c.values, func(v document.Node) bool { return same(v.Text(), value) })
	}
	isAny := slices.ContainsFunc(columns, hasIt)
	for _, c := range columns {
		if isAny && hasIt(c) || !isAny && fits(concept, c) {
			names = append(names, leaf(c.path))
		}
	}
	return names
}

// suggestSend writes the smallest overlay to fill in: the fields as they were sent, beside what the rows call what looks like them.
func (d *doctor) suggestSend(values map[string]string) {
	for concept, name := range d.table.SMSSend.Fields {
		if concept == "callback" {
			continue
		}
		d.prove(name, partFields+" "+concept)
		if meant := d.meant(concept, values[concept]); len(meant) > 0 {
			d.suggest(meant, partFields+" "+concept)
		}
	}
}

// await waits until the message is listed.
func (d *doctor) await(ctx context.Context, m *message, wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	listed := "not listed in time (--wait)"
	for ctx.Err() == nil && d.first.Exists() {
		if d.look(ctx); m.isIn(d.first) || slices.ContainsFunc(d.rows, m.isIn) {
			took := time.Since(m.at).Round(100 * time.Millisecond)
			listed = fmt.Sprintf("listed within %v, so SettlePolicy.Window must be longer", took)
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	d.report.note(partSend, "message %d: %s; %s", len(d.sent), m.verdict, listed)
}

// look sweeps the listing, and looks for the rows of all messages.
func (d *doctor) look(ctx context.Context) {
	if rows := d.sweep(ctx); len(rows) > 0 && ctx.Err() == nil {
		d.rows = rows
		for _, m := range d.sent {
			m.find(rows, d.sent)
		}
	}
}
