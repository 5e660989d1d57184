package check

import (
	"context"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// await looks for a message until it is listed or the time to wait has passed. A lookup that has begun may go on for the time of
// [checker.overrun], so that it shows whether the message is listed.
func (c *checker) await(ctx context.Context, m *message) {
	wait := c.waitFor(m)
	began := time.Now()
	lookupCtx, cancel := context.WithDeadline(ctx, began.Add(wait+c.overrun))
	defer cancel()
	for {
		found := c.lister.lookUp(lookupCtx, m)
		isComplete := lookupCtx.Err() == nil
		c.keep(m, found, isComplete)
		if found.has(m, c.names) {
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

// lookup is the result of looking for a message once.
type lookup struct {
	byReference page // the rows of the message, by the filter by reference
	newest      page // the newest rows
}

// lookUp looks for a message by the filter by reference, which an account with many messages needs, and then in the newest rows. If the filter
// found the message, it reads only a page of these, for the rows around it.
func (l *lister) lookUp(ctx context.Context, m *message) lookup {
	maxPages := 10
	byReference := l.byReference(ctx, m)
	if len(byReference.rows) > 0 {
		maxPages = 1
	}
	return lookup{byReference: byReference, newest: l.newest(ctx, maxPages)}
}

// byReference returns the rows of a message that the filter by reference finds. Other rows, which it should not find, are left out.
func (l *lister) byReference(ctx context.Context, m *message) page {
	reference := m.values["reference"]
	if reference == "" || l.names.SMSList.Params["reference"] == "" {
		return page{}
	}
	belongs := l.names.belongsTo(m)
	isOther := func(row document.Node) bool { return !belongs(row) }
	isOtherTransaction := func(tx sms.Transaction) bool { return tx.ReferenceID != reference }
	p := l.byValue(ctx, "reference", reference)
	p.rows = slices.DeleteFunc(p.rows, isOther)
	p.transactions = slices.DeleteFunc(p.transactions, isOtherTransaction)
	return p
}

// keep stores the result of a lookup in its message. The newest rows count only if the lookup is complete.
func (c *checker) keep(m *message, found lookup, isComplete bool) {
	m.byReference = found.byReference
	if isComplete && len(found.newest.rows) > 0 {
		m.newest = found.newest
		c.listed = found.newest
	}
}

// has reports whether a lookup found a message.
func (l lookup) has(m *message, names wireNames) bool {
	return len(l.byReference.rows) > 0 || slices.ContainsFunc(l.newest.rows, names.belongsTo(m))
}
