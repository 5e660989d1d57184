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

// enough is how many messages are sent: two, so that what both have is told from what is each one's own.
const enough = 2

// message is a message of the check.
type message struct {
	values  map[string]string // by concept: what was sent, and the IDs of its receipt
	at      time.Time
	verdict messaging.Verdict
	row     document.Node // its own, or nothing
	why     string        // it has no row
}

func (c *checker) newMessage() *message {
	m := &message{at: time.Now(), values: map[string]string{
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

// checkSends sends two messages. One that was refused, or not sent, is the last: nothing tries another way.
func (c *checker) checkSends(ctx context.Context) {
	operation := "POST " + c.table.SMSSend.Path
	for n := 1; n <= enough && ctx.Err() == nil; n++ {
		m := c.newMessage()
		err := c.send(ctx, m)
		c.sent = append(c.sent, m)
		subject := fmt.Sprint("send ", n)
		switch m.verdict {
		case messaging.Accepted:
			took, isListed := c.await(ctx, m, c.settings.wait)
			c.report.add(subject, operation, plausible, "accepted; %s", listed(took, isListed))
		case messaging.Unknown:
			took, isListed := c.await(ctx, m, c.settings.wait)
			c.report.add(subject, operation, wrong, "%s; %s", describe(err), listed(took, isListed))
		case messaging.Refused, messaging.NotSent:
			const briefly = 5 * time.Second
			_, isListed := c.await(ctx, m, min(briefly, c.settings.wait))
			if isListed {
				c.report.add(subject, operation, wrong, "the service refuses the message and lists it, so it may have sent it: %s", describe(err))
			} else {
				c.report.add(subject, operation, wrong, "%s", describe(err))
				c.sent = c.sent[:len(c.sent)-1]
			}
			return
		}
	}
}

// send sends a message and keeps what its receipt says.
func (c *checker) send(ctx context.Context, m *message) error {
	err := c.call(ctx, "sending", func(ctx context.Context) error {
		receipt, err := c.client.SMS.Send(ctx, sms.Message{
			From: m.values["from"], To: m.values["to"], Text: m.values["text"], ReferenceID: m.values["reference"],
		})
		m.values["id"] = receipt.ID
		m.values["request"] = receipt.RequestID
		return err
	})
	m.verdict = messaging.VerdictOf(err)
	if failed, ok := errors.AsType[*messaging.Error](err); ok {
		m.values["id"] = failed.MessageID
		m.values["request"] = failed.RequestID
	}
	return err
}

func listed(took time.Duration, isListed bool) string {
	if !isListed {
		return "not listed in time (--wait)"
	}
	return fmt.Sprintf("listed within %v (a shorter SettlePolicy.Window finds nothing)", took.Round(100*time.Millisecond))
}

// await waits until the message is listed.
func (c *checker) await(ctx context.Context, m *message, wait time.Duration) (took time.Duration, isListed bool) {
	if !c.isListed {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for ctx.Err() == nil {
		if c.look(ctx, m) {
			return time.Since(m.at), true
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return 0, false
}

// look looks for the message on the first pages of the listing, and by the filter of its reference if it is not there.
func (c *checker) look(ctx context.Context, m *message) bool {
	const pages, size = 10, 50
	var options sms.ListOptions
	if c.table.SMSList.Params["pageSize"] != "" {
		options.PageSize = size
	}
	rows := c.pages(ctx, options, pages).rows
	if !slices.ContainsFunc(rows, c.isOf(m)) && m.values["reference"] != "" && c.table.SMSList.Params["reference"] != "" {
		found := c.page(ctx, sms.ListOptions{ReferenceID: m.values["reference"]}).rows
		rows = distinct(append(rows, found...))
	}
	if len(rows) > 0 && ctx.Err() == nil {
		c.rows = rows
	}
	return slices.ContainsFunc(rows, c.isOf(m))
}

// isOf returns a function that reports whether a row has the reference or the text of a message.
func (c *checker) isOf(m *message) func(row document.Node) bool {
	return func(row document.Node) bool {
		return c.same(row, "reference", m.values["reference"]) || c.same(row, "text", m.values["text"])
	}
}
