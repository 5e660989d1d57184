package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// messageCount is how many messages a check sends: two show which values of a row belong to one message only.
const messageCount = 2

// message is a message of the check.
type message struct {
	values  map[string]string // by concept: the sent values, and the IDs of the receipt
	sentAt  time.Time
	sendErr error
	verdict messaging.Verdict // of sendErr
	row     document.Node     // its row in the listing, or nothing
	problem finding           // why it has no row

	// The lookups after it was sent.
	isListed    bool          // a lookup found it
	listedAfter time.Duration // from the first lookup
	byReference page          // what the filter by reference found of it in the latest lookup
	newest      page          // the newest rows of the latest lookup that has any
}

// checkSends sends the messages. A refused or unsent message is the last one.
func (c *checker) checkSends(ctx context.Context) {
	for n := 1; n <= messageCount && ctx.Err() == nil; n++ {
		c.say(fmt.Sprint("sending message ", n, " and waiting until it is listed"))
		m := c.newMessage()
		c.send(ctx, m)
		if c.canList {
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

// newMessage returns a message with a text and a reference ID of its own.
func (c *checker) newMessage() *message {
	m := &message{values: map[string]string{
		"from":      c.settings.from,
		"to":        c.settings.to,
		"text":      "Test message of messaging check " + rand.Text()[:6],
		"reference": "check-" + rand.Text(),
	}}
	if c.names.SMSSend.Fields["reference"] == "" {
		delete(m.values, "reference")
	}
	return m
}

// isRefusal reports whether a message was refused or not sent.
func isRefusal(m *message) bool {
	return m.verdict == messaging.Refused || m.verdict == messaging.NotSent
}

// send sends a message and keeps the IDs of its receipt.
func (c *checker) send(ctx context.Context, m *message) {
	m.sentAt = time.Now()
	receipt, err := c.client.SMS.Send(ctx, sms.Message{
		From:        m.values["from"],
		To:          m.values["to"],
		Text:        m.values["text"],
		ReferenceID: m.values["reference"],
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
	case !c.canList:
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

// mayBeFurther reports whether a message may be on a page after the pages that the latest lookup read.
func (m *message) mayBeFurther() bool { return len(m.newest.rows) > 0 && !m.newest.isWhole }

// describeSearch says where a message was not found.
func describeSearch(p page) string {
	if p.total > len(p.rows) {
		return fmt.Sprintf("not in the first %d of %d rows", len(p.rows), p.total)
	}
	return "not in the first " + countRows(len(p.rows))
}
