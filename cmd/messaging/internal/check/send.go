package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// messages is how many messages a check sends: two show which values of a row belong to one message only.
const messages = 2

// message is a message of the check.
type message struct {
	values  map[string]string // by concept: the sent values, and the IDs of the receipt
	sentAt  time.Time
	sendErr error
	verdict messaging.Verdict // of sendErr
	row     document.Node     // its row in the listing, or nothing
	problem finding           // why it has no row

	// The look-ups after it was sent.
	isListed    bool
	listedAfter time.Duration // from the first look-up
	byReference page          // what the filter by reference found of it in the latest look-up
	newest      page          // the newest rows of the latest look-up
}

func (c *checker) newMessage() *message {
	m := &message{values: map[string]string{
		"from":      c.settings.from,
		"to":        c.settings.to,
		"text":      "Test message of messaging check " + rand.Text()[:6],
		"reference": "check-" + rand.Text(),
	}}
	if c.table.SMSSend.Fields["reference"] == "" {
		delete(m.values, "reference")
	}
	return m
}

// checkSends sends the messages. A refused or unsent message is the last one.
func (c *checker) checkSends(ctx context.Context) {
	for n := 1; n <= messages && ctx.Err() == nil; n++ {
		c.say(fmt.Sprint("sending message ", n, " and waiting until it is listed"))
		m := c.newMessage()
		c.send(ctx, m)
		if c.isListed {
			c.await(ctx, m)
		}
		if m.isListed || !isRefusal(m) {
			c.sent = append(c.sent, m)
		}
		c.report.add(fmt.Sprint("send ", n), "sms.send", c.judgeSend(m))
		if isRefusal(m) {
			return
		}
	}
}

func isRefusal(m *message) bool {
	return m.verdict == messaging.Refused || m.verdict == messaging.NotSent
}

// send sends a message and keeps the IDs of its receipt.
func (c *checker) send(ctx context.Context, m *message) {
	m.sentAt = time.Now()
	receipt, err := c.client.SMS.Send(ctx, sms.Message{
		From: m.values["from"], To: m.values["to"], Text: m.values["text"], ReferenceID: m.values["reference"],
	})
	m.sendErr = err
	m.verdict = messaging.VerdictOf(err)
	m.values["id"] = receipt.ID
	m.values["request"] = receipt.RequestID
	if failed, ok := errors.AsType[*messaging.Error](err); ok {
		m.values["id"] = failed.MessageID
		m.values["request"] = failed.RequestID
	}
}

// judgeSend judges the verdict of a message by whether it is listed.
func (c *checker) judgeSend(m *message) finding {
	switch {
	case m.verdict == messaging.Accepted:
		return finding{plausible, "accepted; " + c.describeListed(m)}
	case m.verdict == messaging.Unknown:
		return finding{wrong, describe(m.sendErr) + "; " + c.describeListed(m)}
	case m.isListed:
		return finding{wrong, "the service refuses the message and lists it, so it may have sent it: " + describe(m.sendErr)}
	}
	return finding{wrong, describe(m.sendErr)}
}

// describeListed says whether a message was listed, and how soon.
func (c *checker) describeListed(m *message) string {
	switch {
	case !c.isListed:
		return "not looked up, because the listing cannot be read"
	case m.isListed:
		return fmt.Sprintf("listed within %v (a shorter SettlePolicy.Window finds nothing)", m.listedAfter.Round(100*time.Millisecond))
	case m.mayBeFurther():
		return describeSearch(m.newest)
	case c.missesRows:
		return "not found; " + missedRows
	}
	return "not listed in time (--wait)"
}

// mayBeFurther reports whether a message may be on a page after those that the latest look-up read.
func (m *message) mayBeFurther() bool { return len(m.newest.rows) > 0 && !m.newest.isWhole }

// describeSearch says where a message was not found.
func describeSearch(p page) string {
	if p.total > len(p.rows) {
		return fmt.Sprintf("not in the first %d of %d rows", len(p.rows), p.total)
	}
	return "not in the first " + countRows(len(p.rows))
}

// await looks for a message until it is listed or the time to wait has passed. A look-up that has begun may go on for the time of
// [checker.overrun], so that it shows whether the message is listed.
func (c *checker) await(ctx context.Context, m *message) {
	wait := c.waitFor(m)
	began := time.Now()
	lookUpCtx, cancel := context.WithDeadline(ctx, began.Add(wait+c.overrun))
	defer cancel()
	for {
		if c.lookUp(lookUpCtx, m) {
			m.isListed = true
			m.listedAfter = time.Since(began)
			return
		}
		left := wait - time.Since(began)
		if left <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(time.Second, left)):
		}
	}
}

// waitFor returns how long the check waits until a message is listed. A refused message should not be listed at all.
func (c *checker) waitFor(m *message) time.Duration {
	const maxRefusedWait = 5 * time.Second
	if isRefusal(m) {
		return min(c.settings.wait, maxRefusedWait)
	}
	return c.settings.wait
}

// lookUp looks for a message by the filter by reference, which an account with many messages needs, and then in the newest rows. If the filter
// found the message, it reads only a page of these, for the rows around it.
func (c *checker) lookUp(ctx context.Context, m *message) (isFound bool) {
	m.byReference = c.listReference(ctx, m)
	isFiltered := len(m.byReference.rows) > 0
	maxPages := 10
	if isFiltered {
		maxPages = 1
	}
	newest := c.listNewest(ctx, maxPages)
	if len(newest.rows) > 0 && ctx.Err() == nil {
		m.newest = newest
		c.listed = newest
	}
	return isFiltered || slices.ContainsFunc(newest.rows, c.belongsTo(m))
}

// listReference returns the rows of a message that the filter by reference finds. Other rows, which it should not find, are left out.
func (c *checker) listReference(ctx context.Context, m *message) page {
	reference := m.values["reference"]
	if reference == "" || c.table.SMSList.Params["reference"] == "" {
		return page{}
	}
	isOther := func(row document.Node) bool { return !c.belongsTo(m)(row) }
	isOtherTransaction := func(tx sms.Transaction) bool { return tx.ReferenceID != reference }
	p := c.listByValue(ctx, "reference", reference)
	p.rows = slices.DeleteFunc(p.rows, isOther)
	p.transactions = slices.DeleteFunc(p.transactions, isOtherTransaction)
	return p
}

// listNewest lists the newest rows first, if the contract and the service can, and otherwise in the order of the service.
func (c *checker) listNewest(ctx context.Context, maxPages int) page {
	const pageSize = 50
	var options sms.ListOptions
	if c.table.SMSList.Params["pageSize"] != "" {
		options.PageSize = pageSize
	}
	if c.canSort() {
		sorted := options
		sorted.SortBy = sms.ByCreated
		sorted.Descending = true
		if p := c.list(ctx, sorted, maxPages); p.isRead() && len(p.rows) > 0 {
			return p
		}
	}
	return c.list(ctx, options, maxPages)
}

// belongsTo returns a function that reports whether a row has the reference or the text of a message.
func (c *checker) belongsTo(m *message) func(row document.Node) bool {
	return func(row document.Node) bool {
		return c.hasValue(row, "reference", m.values["reference"]) || c.hasValue(row, "text", m.values["text"])
	}
}
