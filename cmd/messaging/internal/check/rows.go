package check

import (
	"slices"
	"strconv"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// findRow looks for the row of a message. It is the message's own only if reference and recipient both match, and no other row has the
// reference.
func (c *checker) findRow(m *message) {
	var with []document.Node
	for _, row := range c.rows {
		if c.same(row, "reference", m.values["reference"]) {
			with = append(with, row)
		}
	}
	m.row = document.Node{}
	switch {
	case len(with) > 1:
		m.why = "several rows have its reference ID"
	case len(with) == 1 && !c.same(with[0], "to", m.values["to"]):
		m.why = "a row has its reference ID, and not its recipient"
	case len(with) == 1:
		m.row = with[0]
	case m.values["reference"] == "":
		m.why = "the contract has no field for a reference ID (sms.send.fields.reference)"
	case slices.ContainsFunc(c.rows, c.isOf(m)):
		m.why = "a row has its text, and none has its reference ID (sms.send.fields.reference, sms.list.record.reference)"
	default:
		m.why = "no row has its reference ID or its text"
	}
}

// found returns the messages whose rows were found.
func (c *checker) found() []*message {
	return slices.DeleteFunc(slices.Clone(c.sent), func(m *message) bool { return !m.row.Exists() })
}

// checkRows compares the rows of the messages with what was sent.
func (c *checker) checkRows() {
	if !c.isListed || len(c.sent) == 0 {
		return
	}
	name := "sms.list.record.reference"
	for i, m := range c.sent {
		c.findRow(m)
		if m.why != "" {
			c.report.add("row "+strconv.Itoa(i+1), name, wrong, "%s", m.why)
		} else {
			c.report.add("row "+strconv.Itoa(i+1), name, proven, "found by its reference ID, with its recipient")
		}
	}
	found := c.found()
	isRefused := func(m *message) bool { return m.verdict == messaging.Refused || m.verdict == messaging.NotSent }
	c.isFound = len(found) == enough && !slices.ContainsFunc(found, isRefused)
	if len(found) == 0 {
		return
	}
	for _, concept := range []string{"text", "from"} {
		c.checkMember(concept, found)
	}
	c.checkID(found)
}

// checkMember compares one member of the rows with what was sent.
func (c *checker) checkMember(concept string, found []*message) {
	name := "sms.list.record." + concept
	isOther := func(m *message) bool { return !c.same(m.row, concept, m.values[concept]) }
	isAbsent := func(m *message) bool { return c.value(m.row, concept) == "" }
	switch {
	case !slices.ContainsFunc(found, isOther):
		c.report.add(concept, name, proven, "the rows have what was sent")
	case slices.ContainsFunc(found, isAbsent):
		c.report.add(concept, name, plausible, "a row has none")
	default:
		c.report.add(concept, name, wrong, "a row has another than was sent")
	}
}

// checkID compares the IDs of the responses with those of the rows.
func (c *checker) checkID(found []*message) {
	const name = "sms.send.response.id"
	values := map[string]bool{}
	shared := 0
	for _, m := range found {
		id := m.values["id"]
		values[id] = true
		for _, row := range c.rows {
			if id != "" && c.value(row, "id") == id {
				shared++
			}
		}
	}
	isOther := func(m *message) bool { return !c.same(m.row, "id", m.values["id"]) }
	switch {
	case values[""]:
		c.report.add("id", name, plausible, "a response has none")
	case slices.ContainsFunc(found, isOther):
		c.report.add("id", name, wrong, "the row has another ID than the response (sms.send.response.id, sms.list.record.id)")
	case len(found) < enough:
		c.report.add("id", name, plausible, "one row has the ID of its response")
	case len(values) < len(found) || shared > len(found):
		c.report.add("id", name, wrong, "several messages have the same ID")
	case mayCount(found):
		c.report.add("id", name, plausible, "the rows have the IDs of the responses; these are small or consecutive numbers, which may count rows")
	default:
		c.report.add("id", name, proven, "the rows have the IDs of the responses")
	}
}

// mayCount reports whether the IDs of messages may be positions of rows: small or consecutive numbers.
func mayCount(found []*message) bool {
	const small = 100_000
	var numbers []int64
	for _, m := range found {
		n, err := strconv.ParseInt(m.values["id"], 10, 64)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	isConsecutive := numbers[len(numbers)-1]-numbers[0] < int64(2*len(numbers))
	return numbers[0] < small || isConsecutive
}
