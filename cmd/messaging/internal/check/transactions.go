package check

import (
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

// checkTransactions checks what the client reads in the rows of the messages: the time, which is known, and values that only the service knows.
func (c *checker) checkTransactions(found []*message) {
	isFound := func(tx sms.Transaction) bool {
		return slices.ContainsFunc(found, func(m *message) bool { return m.values["reference"] == tx.ReferenceID })
	}
	var transactions []sms.Transaction
	for _, tx := range c.listed.transactions {
		if isFound(tx) {
			transactions = append(transactions, tx)
		}
	}
	c.report.add("created", "sms.list.record.created", judgeCreated(found, transactions))

	hasPrice := func(tx sms.Transaction) bool { return tx.Price != "" }
	hasParts := func(tx sms.Transaction) bool { return tx.Parts > 0 }
	hasStatus := func(tx sms.Transaction) bool { return tx.DeliveryStatus != "" || tx.SendStatus != "" }
	c.report.add("price", "sms.list.record.price", judgeRead(transactions, hasPrice))
	c.report.add("parts", "sms.list.record.parts", judgeRead(transactions, hasParts))
	c.report.add("status", "sms.list.record.deliveryStatus", judgeRead(transactions, hasStatus))
}

// judgeCreated compares the times of the rows with the times at which the messages were sent. A wrong time decides before a missing one.
func judgeCreated(found []*message, transactions []sms.Transaction) finding {
	sentAt := map[string]time.Time{}
	for _, m := range found {
		sentAt[m.values["reference"]] = m.sentAt
	}
	isUntimed := func(tx sms.Transaction) bool { return tx.CreatedAt.IsZero() }
	for _, tx := range transactions {
		if isUntimed(tx) {
			continue
		}
		if off := describeOffset(tx.CreatedAt.Sub(sentAt[tx.ReferenceID])); off != "" {
			return finding{wrong, "created " + off + " the time at which it was sent: see sms.list.zone"}
		}
	}
	switch {
	case slices.ContainsFunc(transactions, isUntimed):
		return finding{plausible, "not read: a row has no time at the paths of the contract, or its layout is unusual (sms.list.layouts)"}
	case len(transactions) < len(found):
		return finding{plausible, "not read: the client leaves out the row of a message"}
	}
	return finding{proven, "the rows have the times at which the messages were sent"}
}

// judgeRead says whether the client reads a value that only the service knows.
func judgeRead(transactions []sms.Transaction, hasValue func(sms.Transaction) bool) finding {
	if slices.ContainsFunc(transactions, hasValue) {
		return finding{plausible, "a row has a value, which only the service knows"}
	}
	return finding{plausible, "not read: no row has a value at the paths of the contract"}
}
