package main

import (
	"context"
	"errors"
	"log"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// refresh lists the SMS of the days of a campaign, notes their delivery and cost, and writes the results again. Reports that came while no process
// received are lost.
func refresh(ctx context.Context, in settings) error {
	c, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer c.db.close()
	lines, err := c.readLines()
	if err != nil {
		return err
	}
	if err = c.noteListing(ctx); err != nil {
		return err
	}
	return c.writeResults(ctx, lines)
}

// noteListing notes what the listing says about the messages of the campaign.
func (c *campaign) noteListing(ctx context.Context) error {
	var first, last int64
	const days = "SELECT COALESCE(MIN(enqueued), 0), COALESCE(MAX(enqueued), 0) FROM campaign_recipient WHERE campaign = $1"
	if err := c.db.QueryRowContext(ctx, days, c.name).Scan(&first, &last); err != nil {
		return err
	}
	if first == 0 { // no line was enqueued
		return nil
	}
	options := sms.ListOptions{
		CreatedAfter:  time.Unix(first, 0).Add(-time.Hour), // clocks differ
		CreatedBefore: time.Unix(last, 0).Add(expireAfter + 24*time.Hour),
		PageSize:      500,
	}
	for row, err := range c.client.SMS.List(ctx, options) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Println("a row cannot be read:", err)
			continue
		}
		if err != nil {
			return err
		}
		if err = c.noteRow(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// noteRow notes the delivery and the cost of a message of the campaign.
func (c *campaign) noteRow(ctx context.Context, row sms.Transaction) error {
	isOfCampaign := strings.HasPrefix(row.ReferenceID, c.reference(""))
	if !isOfCampaign || c.client.SMS.Verdict(row) != messaging.Accepted {
		return nil
	}
	if err := c.noteSent(ctx, row.ReferenceID, row.Status); err != nil {
		return err
	}
	const update = "UPDATE campaign_recipient SET cost = $1, currency = $2 WHERE reference = $3 AND $1 <> ''"
	_, err := c.db.ExecContext(ctx, update, row.Price, row.Currency, row.ReferenceID)
	return err
}
