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
	verdict messaging.Verdict
	row     document.Node // its row in the listing, or nothing
	problem string        // why it has no row
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
		err := c.send(ctx, m)
		c.report.add(fmt.Sprint("send ", n), "sms.send", c.judgeSend(ctx, m, err))
		if isRefusal(m) {
			return
		}
	}
}

func isRefusal(m *message) bool {
	return m.verdict == messaging.Refused || m.verdict == messaging.NotSent
}

// send sends a message and keeps the IDs of its receipt.
func (c *checker) send(ctx context.Context, m *message) error {
	m.sentAt = time.Now()
	receipt, err := c.client.SMS.Send(ctx, sms.Message{
		From: m.values["from"], To: m.values["to"], Text: m.values["text"], ReferenceID: m.values["reference"],
	})
	m.verdict = messaging.VerdictOf(err)
	m.values["id"] = receipt.ID
	m.values["request"] = receipt.RequestID
	if failed, ok := errors.AsType[*messaging.Error](err); ok {
		m.values["id"] = failed.MessageID
		m.values["request"] = failed.RequestID
	}
	return err
}

// judgeSend waits until a message is listed, and returns its line of the report.
func (c *checker) judgeSend(ctx context.Context, m *message, err error) finding {
	const maxRefusedWait = 5 * time.Second
	wait := c.settings.wait
	if isRefusal(m) {
		wait = min(wait, maxRefusedWait)
	}
	took, isListed := c.await(ctx, m, wait)
	if isListed || !isRefusal(m) {
		c.sent = append(c.sent, m)
	}
	listed := "not listed in time (--wait)"
	if isListed {
		listed = fmt.Sprintf("listed within %v (a shorter SettlePolicy.Window finds nothing)", took.Round(100*time.Millisecond))
	}
	switch {
	case m.verdict == messaging.Accepted:
		return finding{plausible, "accepted; " + listed}
	case m.verdict == messaging.Unknown:
		return finding{wrong, describe(err) + "; " + listed}
	case isListed:
		return finding{wrong, "the service refuses the message and lists it, so it may have sent it: " + describe(err)}
	}
	return finding{wrong, describe(err)}
}

// await waits until a message is listed.
func (c *checker) await(ctx context.Context, m *message, wait time.Duration) (took time.Duration, isListed bool) {
	if !c.isListed {
		return 0, false
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for ctx.Err() == nil {
		if c.lookUp(ctx, m) {
			return time.Since(began), true
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return 0, false
}

// lookUp looks for a message on the first pages of the listing.
func (c *checker) lookUp(ctx context.Context, m *message) bool {
	const maxPages, pageSize = 10, 50
	var options sms.ListOptions
	if c.table.SMSList.Params["pageSize"] != "" {
		options.PageSize = pageSize
	}
	found := c.list(ctx, options, maxPages)
	rows := found.rows
	if len(rows) > 0 && ctx.Err() == nil {
		c.rows = rows
		c.transactions = found.transactions
	}
	return slices.ContainsFunc(rows, c.belongsTo(m))
}

// belongsTo returns a function that reports whether a row has the reference or the text of a message.
func (c *checker) belongsTo(m *message) func(row document.Node) bool {
	return func(row document.Node) bool {
		return c.hasValue(row, "reference", m.values["reference"]) || c.hasValue(row, "text", m.values["text"])
	}
}
