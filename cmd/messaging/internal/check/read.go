package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

// checkRead checks what the client reads in the rows of the messages: the time, which is known, and values that only the service knows.
func (c *checker) checkRead(found []*message) {
	isFound := func(tx sms.Transaction) bool {
		return slices.ContainsFunc(found, func(m *message) bool { return m.values["reference"] == tx.ReferenceID })
	}
	var own []sms.Transaction
	for _, tx := range c.listed.transactions {
		if isFound(tx) {
			own = append(own, tx)
		}
	}
	c.checkCreated(found, own)
	c.checkHasValue("price", "price", own, func(tx sms.Transaction) bool { return tx.Price != "" })
	c.checkHasValue("parts", "parts", own, func(tx sms.Transaction) bool { return tx.Parts > 0 })
	c.checkHasValue("status", "deliveryStatus", own, func(tx sms.Transaction) bool { return tx.DeliveryStatus != "" || tx.SendStatus != "" })
}

// checkCreated compares the times of the rows with the times at which the messages were sent.
func (c *checker) checkCreated(found []*message, own []sms.Transaction) {
	c.report.add("created", "sms.list.record.created", judgeCreated(found, own))
}

// judgeCreated judges the times of the rows. A wrong time decides before a missing one.
func judgeCreated(found []*message, own []sms.Transaction) finding {
	sentAt := map[string]time.Time{}
	for _, m := range found {
		sentAt[m.values["reference"]] = m.sentAt
	}
	isUntimed := func(tx sms.Transaction) bool { return tx.CreatedAt.IsZero() }
	for _, tx := range own {
		if isUntimed(tx) {
			continue
		}
		if off := describeOffset(tx.CreatedAt.Sub(sentAt[tx.ReferenceID])); off != "" {
			return finding{wrong, "created " + off + " the time at which it was sent: see sms.list.zone"}
		}
	}
	switch {
	case slices.ContainsFunc(own, isUntimed):
		return finding{plausible, "not read: a row has no time at the paths of the contract, or its layout is unusual (sms.list.layouts)"}
	case len(own) < len(found):
		return finding{plausible, "not read: the client leaves out the row of a message"}
	}
	return finding{proven, "the rows have the times at which the messages were sent"}
}

// describeOffset describes a difference of time that clocks do not explain, or returns "".
func describeOffset(off time.Duration) string {
	const tolerance = 5 * time.Minute // of clocks, and of a message that waits
	side := "ahead of"
	if off < 0 {
		side = "behind"
	}
	if off.Abs() <= tolerance {
		return ""
	}
	return fmt.Sprintf("%.1f h %s", off.Abs().Hours(), side)
}

// checkHasValue says whether the client reads a value that only the service knows.
func (c *checker) checkHasValue(subject, concept string, own []sms.Transaction, has func(sms.Transaction) bool) {
	why := "not read: no row has a value at the paths of the contract"
	if slices.ContainsFunc(own, has) {
		why = "a row has a value, which only the service knows"
	}
	c.report.add(subject, "sms.list.record."+concept, finding{plausible, why})
}
