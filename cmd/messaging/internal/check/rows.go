package check

import (
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// checkRows looks for the rows of the messages, and compares them with what was sent.
func (c *checker) checkRows() {
	if !c.canList || len(c.sent) == 0 {
		return
	}
	for _, m := range c.sent {
		c.addFiltered(m)
	}
	for i, m := range c.sent {
		c.findRow(m)
		c.report.add("row "+strconv.Itoa(i+1), "sms.list.record.reference", judgeRow(m))
	}
	found := c.found()
	if len(found) == 0 {
		return
	}
	c.checkMember("text", found)
	c.checkMember("from", found)
	c.checkID(found)
	c.checkTransactions(found)
}

// addFiltered adds the rows that the filter by reference found of a message to the listing, unless the listing has one. A row that both show may
// differ, because the status of the message has changed.
func (c *checker) addFiltered(m *message) {
	if !slices.ContainsFunc(c.listed.rows, c.names.belongsTo(m)) {
		c.listed.rows = append(c.listed.rows, m.byReference.rows...)
		c.listed.transactions = append(c.listed.transactions, m.byReference.transactions...)
	}
}

// findRow looks for the row of a message: the only row with its reference ID. The row must have its recipient.
func (c *checker) findRow(m *message) {
	var candidates []document.Node
	for _, row := range c.listed.rows {
		if c.names.hasValue(row, "reference", m.values["reference"]) {
			candidates = append(candidates, row)
		}
	}
	switch {
	case len(candidates) > 1:
		m.problem = finding{wrong, "several rows have its reference ID"}
	case len(candidates) == 1 && !c.names.hasValue(candidates[0], "to", m.values["to"]):
		m.problem = finding{wrong, "a row has its reference ID, and not its recipient"}
	case len(candidates) == 1:
		m.row = candidates[0]
	case m.values["reference"] == "":
		m.problem = finding{wrong, "the contract has no field for a reference ID (sms.send.fields.reference)"}
	case slices.ContainsFunc(c.listed.rows, c.names.belongsTo(m)):
		m.problem = finding{wrong, "a row has its text, and none has its reference ID (sms.send.fields.reference, sms.list.record.reference)"}
	case m.mayBeFurther():
		m.problem = finding{plausible, describeSearch(m.newest)}
	case c.missesRows:
		m.problem = finding{plausible, "could not tell: " + missedRows}
	default:
		m.problem = finding{wrong, "no row has its reference ID or its text"}
	}
}

// judgeRow judges whether the row of a message was found.
func judgeRow(m *message) finding {
	if m.problem.why != "" {
		return m.problem
	}
	return finding{proven, "found by its reference ID, with its recipient"}
}

// found returns the messages whose rows were found.
func (c *checker) found() []*message {
	return slices.DeleteFunc(slices.Clone(c.sent), func(m *message) bool { return !m.row.Exists() })
}

// isFound reports whether the rows of all messages were found.
func (c *checker) isFound() bool {
	found := c.found()
	return len(found) == messageCount && !slices.ContainsFunc(found, isRefusal)
}

// differs reports whether a row has another value for a concept than its message.
func (c *checker) differs(concept string) func(*message) bool {
	return func(m *message) bool { return !c.names.hasValue(m.row, concept, m.values[concept]) }
}

// checkMember compares one member of the rows with what was sent.
func (c *checker) checkMember(concept string, found []*message) {
	c.report.add(concept, "sms.list.record."+concept, c.judgeMember(concept, found))
}

// judgeMember judges one member of the rows by what was sent.
func (c *checker) judgeMember(concept string, found []*message) finding {
	isAbsent := func(m *message) bool { return c.names.value(m.row, concept) == "" }
	switch {
	case !slices.ContainsFunc(found, c.differs(concept)):
		return finding{proven, "the rows have what was sent"}
	case slices.ContainsFunc(found, isAbsent):
		return finding{plausible, "a row has no value"}
	}
	return finding{wrong, "a row has another value than was sent"}
}

// checkID compares the IDs of the responses with the IDs of the rows.
func (c *checker) checkID(found []*message) {
	c.report.add("id", "sms.send.response.id", c.judgeID(found))
}

// judgeID judges the IDs of the responses by the IDs of the rows.
func (c *checker) judgeID(found []*message) finding {
	isAbsent := func(m *message) bool { return m.values["id"] == "" }
	switch {
	case slices.ContainsFunc(found, isAbsent):
		return finding{plausible, "a response has no ID"}
	case slices.ContainsFunc(found, c.differs("id")):
		return finding{wrong, "the row has another ID than the response (sms.send.response.id, sms.list.record.id)"}
	case len(found) < messageCount:
		return finding{plausible, "one row has the ID of its response"}
	case found[0].values["id"] == found[1].values["id"]:
		return finding{wrong, "both messages have the same ID"}
	case mayBePositions(found):
		return finding{plausible, "the rows have the IDs of the responses, but these are small or consecutive numbers, which may count rows"}
	}
	return finding{proven, "the rows have the IDs of the responses"}
}

// mayBePositions reports whether the IDs of messages may be positions of rows: small or consecutive numbers.
func mayBePositions(found []*message) bool {
	const small = 100_000
	var numbers []int64
	for _, m := range found {
		n, err := strconv.ParseInt(m.values["id"], 10, 64)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	first := slices.Min(numbers)
	isConsecutive := slices.Max(numbers)-first < int64(2*len(numbers))
	return first < small || isConsecutive
}
