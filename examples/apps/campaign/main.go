// Command campaign sends an SMS to each recipient of a CSV file, once, even if it is killed and started again. It sends nothing to people who
// wrote STOP, and no marketing at night.
//
//	go run ./examples/apps/campaign                   sends one SMS to a test server, and ends
//	go run ./examples/apps/campaign FOLDER            sends to the recipients in a folder, then receives STOP and delivery reports, until Ctrl-C
//	go run ./examples/apps/campaign receive           only receives STOP and delivery reports, until Ctrl-C
//	go run ./examples/apps/campaign refresh FOLDER    writes results.csv again, with what the listing says of delivery and cost
//
// FOLDER/recipients.csv has the columns id, number and text. A line that cannot be sent does not stop the others. The name of the folder is the
// name of the campaign: the line with the id 17 in the folder spring is the message spring/17, which is sent once.
//
// FOLDER/results.csv has a row for each line, and in the column result what became of it. It is written when all messages are final, and again at
// Ctrl-C, with the delivery reports. If Ctrl-C comes earlier, the messages that are not final have the verdict "waits", and the next start goes on.
// Keep the file: the outbox deletes a message 30 days after it became final.
//
// The environment has the account (see messaging.NewClientFromEnv), the secret of the webhook (see webhook.NewReceiverFromEnv), and
//
//	DATABASE_URL          a PostgreSQL URL such as postgres://user@localhost/shop, or the path of an SQLite file
//	CAMPAIGN_ADDRESS      where the campaign listens, such as :8080
//	CAMPAIGN_URL          where the service calls it, such as https://campaign.example.com
//	CAMPAIGN_SENDER       the sender of SMS that the account has registered, such as ACME
//	CAMPAIGN_ZONE         the time zone of the recipients, such as Asia/Manila; for several zones, change sendingHours.guard
//	CAMPAIGN_OPENS        when sending begins each day (default 08:00)
//	CAMPAIGN_CLOSES       when sending ends each day (default 20:00)
//	CAMPAIGN_SETTLE_FOR   how long a message that may have been sent is looked up (default 15m)
//
// Messages that wait for the morning keep that time if CAMPAIGN_OPENS changes; "outbox campaign resume spring" asks
// the guards again.
//
// # The database
//
// All campaigns with one CAMPAIGN_ZONE use one database. Never delete it: it has the opt-outs, and what was sent to whom. A campaign with another
// CAMPAIGN_ZONE needs another database and another sender, whose STOP the service sends to its CAMPAIGN_URL. On PostgreSQL, let the first start of
// a version log "new lines" before you start others: it creates or updates the tables.
//
// # STOP and delivery reports
//
// A STOP or a report that comes while no process receives may be lost. Without its report a message stays "sent" until "refresh". So let
// "receive" run all the time, at CAMPAIGN_URL, and give the campaigns another CAMPAIGN_ADDRESS, or let the last campaign run until the next one.
//
// # After a kill
//
// Start it again after a kill -9 or a power failure. It looks up each message that may have been sent, for CAMPAIGN_SETTLE_FOR, and for up to a
// day longer while the listing of the service is down. A message that the service neither lists nor reports is unknown in results.csv, and waits
// for a person. On PostgreSQL these are only messages whose requests had begun; on SQLite, all that were in work. Find out whether the message
// was sent, and decide with the command outbox (see docs/outbox.md):
//
//	export OUTBOX_SCHEMA=campaign      # on PostgreSQL
//	outbox resolve sent spring/17      # it was sent
//	outbox resolve resend spring/18    # it was not: the campaign sends it
//
// A message expires 48 hours after it was enqueued. To send to its recipient nevertheless, give the line a new id.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatalln("campaign:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	isRefresh := args[0] == "refresh"
	want := 1
	if isRefresh {
		want = 2 // with the folder
	}
	folder := args[len(args)-1]
	if len(args) != want || strings.HasPrefix(folder, "-") {
		return errors.New("usage: campaign [FOLDER | receive | refresh FOLDER]")
	}
	in, err := settingsFromEnv(folder)
	if err != nil {
		return err
	}
	if isRefresh {
		return refresh(ctx, in)
	}
	listener, err := listen(ctx, in.address)
	if err != nil {
		return err
	}
	if folder == "receive" {
		return receive(ctx, listener, in)
	}
	return run(ctx, listener, in)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}
