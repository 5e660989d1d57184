package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// comparison compares the verdicts with the messages that the service received.
type comparison struct {
	rows       map[verdict]*tally
	unrecorded int // messages without a record
}

type verdict struct {
	channel outbox.Channel
	state   outbox.State
}

// tally counts the messages of one verdict by how many times the service received them.
type tally struct {
	unsent, once, more int
}

// agrees reports whether the tally is possible for messages with this verdict.
func (v verdict) agrees(f tally) bool {
	switch v.state {
	case outbox.Accepted:
		return f.unsent == 0 && f.more == 0
	case outbox.Refused:
		return f.once == 0 && f.more == 0
	case outbox.Parked:
		return f.more == 0
	case outbox.Loading, outbox.Queued, outbox.Sending, outbox.Unknown:
		return false // no verdict
	default:
		return false
	}
}

// compare compares the records with the messages that a test server received. It skips messages that had their verdict before the test server
// started.
func compare(ctx context.Context, c *engine.Connection, ledger []messagingtest.Sent, before map[string]bool) (*comparison, error) {
	type name struct {
		channel   outbox.Channel
		reference string
	}
	sent := map[name]int{}
	for _, s := range ledger {
		sent[name{outbox.Channel(s.Channel), s.ReferenceID}]++
	}
	result := &comparison{rows: map[verdict]*tally{}}
	for e, err := range outbox.All(ctx, c) {
		if err != nil {
			return nil, err
		}
		n := name{e.Channel, e.Reference}
		times := sent[n]
		delete(sent, n)
		if before[e.Key] && times == 0 {
			continue
		}
		v := verdict{e.Channel, e.State}
		if result.rows[v] == nil {
			result.rows[v] = &tally{}
		}
		switch times {
		case 0:
			result.rows[v].unsent++
		case 1:
			result.rows[v].once++
		default:
			result.rows[v].more++
		}
	}
	result.unrecorded = len(sent)
	return result, nil
}

// agrees reports whether every message has a verdict that matches what the service received.
func (c *comparison) agrees() bool {
	for v, f := range c.rows {
		if !v.agrees(*f) {
			return false
		}
	}
	return c.unrecorded == 0
}

// print writes the comparison as a table.
func (c *comparison) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "channel\tverdict\tmessages\tsent once\tnot sent\tmore than once\t")
	order := func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.state, b.state))
	}
	for _, v := range slices.SortedFunc(maps.Keys(c.rows), order) {
		f, mark := c.rows[v], ""
		if !v.agrees(*f) {
			mark = "WRONG"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", v.channel, v.state, f.unsent+f.once+f.more, f.once, f.unsent, f.more, mark)
	}
	_ = table.Flush()
	if c.unrecorded > 0 {
		_, _ = fmt.Fprintf(out, "%d sent messages have no record: WRONG\n", c.unrecorded)
	}
}
