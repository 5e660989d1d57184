package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/riverqueue/river"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// operator is a command line with what its commands share.
type operator struct {
	getenv  func(string) string
	client  *messaging.Client
	asJSON  bool
	options messagingriver.Options
}

// command returns the command with its subcommands.
func command(getenv func(string) string) *cobra.Command {
	op := &operator{getenv: getenv}
	root := &cobra.Command{
		Use: "outbox", SilenceErrors: true, SilenceUsage: true, Long: `Operate an outbox of messages in PostgreSQL or SQLite.

DATABASE_URL is postgres://… or the path of an SQLite file. MESSAGING_BASE_URL, MESSAGING_TOKEN and the other variables of
messaging.NewClientFromEnv name the service. The exit status is 2 after an error, and 1 if audit or load finds something.`,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.PersistentFlags().BoolVar(&op.asJSON, "json", false, "write JSON")
	root.AddCommand(
		op.migrate(), op.load(), op.work(), op.status(), op.show(),
		op.records("parked", "List messages whose outcome nobody can know, or whose attempts are used up", database.Parked),
		op.records("refused", "List messages that were refused", database.Refused),
		op.resolve(), op.cancel(),
		op.queues("pause", "Stop the messages of a campaign, of some channels, or all", database.Pause, database.PauseCampaign),
		op.queues("resume", "End a pause of a campaign, of some channels, or of all", database.Resume, database.ResumeCampaign),
		op.rate(), op.audit(),
	)
	return root
}

// need is what a command needs.
type need int

const (
	aDatabase  need = iota // which is created
	tables                 // a database that has them
	theService             // and tables
)

// on returns what runs a command on a database. Commands that only look at the database do without the service.
func (op *operator) on(
	needs need, run func(cmd *cobra.Command, args []string, db database) error,
) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if needs != theService && op.getenv("MESSAGING_BASE_URL") == "" {
			op.client, err = messaging.NewClient("https://service.example", messaging.WithToken("none"))
		} else {
			op.client, err = messaging.NewClientFromEnv()
		}
		if err != nil {
			return err
		}
		db, err := open(cmd.Context(), op.getenv("DATABASE_URL"), needs == aDatabase, op.client, op.options)
		if err != nil {
			return err
		}
		defer db.close()
		if needs != aDatabase {
			if err := hasTables(cmd.Context(), db); err != nil {
				return err
			}
		}
		return run(cmd, args, db)
	}
}

// print writes a value as a line of JSON, or as text.
func (op *operator) print(out io.Writer, value any, text string) error {
	var err error
	if op.asJSON {
		err = json.NewEncoder(out).Encode(value)
	} else {
		_, err = io.WriteString(out, text)
	}
	return err
}

type done struct {
	Done     string   `json:"done"`
	Messages *int     `json:"messages,omitempty"`
	Rate     *float64 `json:"rate,omitempty"`
}

func (op *operator) migrate() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Create or update the tables", Args: cobra.NoArgs}
	cmd.RunE = op.on(aDatabase, func(cmd *cobra.Command, _ []string, db database) error {
		if err := db.Migrate(cmd.Context()); err != nil {
			return err
		}
		return op.print(cmd.OutOrStdout(), done{Done: "migrate"}, "done\n")
	})
	return cmd
}

func (op *operator) work() *cobra.Command {
	cmd := &cobra.Command{Use: "work", Short: "Send messages until stopped", Args: cobra.NoArgs}
	flags := cmd.Flags()
	flags.IntVar(&op.options.Workers, "workers", 0, "messages of each channel sent at once (default 100)")
	flags.DurationVar(&op.options.SendTimeout, "send-timeout", 0, "bound of an attempt (default 1m)")
	flags.DurationVar(&op.options.SettleFor, "settle-for", 0, "how long an SMS is looked up before it is parked (default 15m)")
	flags.DurationVar(&op.options.KeepRefused, "keep-refused", 0, "how long a refused message can be resent (default 168h)")
	flags.DurationVar(&op.options.Keep, "keep", 0, "how long a final message is remembered (default 720h)")
	flags.BoolVar(&op.options.InOrder, "in-order", false, "send the messages to one recipient one after another")
	flags.Float64Var(&op.options.Rate, "rate", 0, "messages a second of all workers together, 0 for no limit; the command rate overrides it")
	flags.IntVar(&op.options.Burst, "burst", 0, "messages beyond the rate in one second (default a tenth of the rate)")
	address := flags.String("metrics", "", "HOST:PORT that serves /metrics and /healthz (default none)")
	cmd.RunE = op.on(theService, func(cmd *cobra.Command, _ []string, db database) error {
		stop, err := serve(cmd.Context(), *address, db)
		if err != nil {
			return err
		}
		defer stop()
		if err := op.print(cmd.OutOrStdout(), done{Done: "started"}, "working; interrupt to stop\n"); err != nil {
			return err
		}
		handler := slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})
		var reporting sync.WaitGroup
		reporting.Go(func() { report(cmd.Context(), cmd.ErrOrStderr(), db) })
		defer reporting.Wait()
		return db.work(cmd.Context(), &river.Config{Logger: slog.New(handler)})
	})
	return cmd
}

func (op *operator) status() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "Show counts, rate, workers, breakers and pauses", Args: cobra.NoArgs}
	campaigns := cmd.Flags().StringArray("campaign", nil, "show this campaign, not all")
	watch := cmd.Flags().Bool("watch", false, "show it every second")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, _ []string, db database) error {
		for {
			var now overview
			var err error
			if now.Status, err = db.Status(cmd.Context()); err != nil {
				return err
			}
			if now.Campaigns, err = db.Campaigns(cmd.Context(), *campaigns...); err != nil {
				return err
			}
			if err = op.print(cmd.OutOrStdout(), now, textOf(now)); err != nil || !*watch {
				return err
			}
			select {
			case <-time.After(time.Second):
			case <-cmd.Context().Done():
				return nil
			}
		}
	})
	return cmd
}

// overview is the state of the outbox with its campaigns.
type overview struct {
	messagingriver.Status

	Campaigns []messagingriver.Campaign `json:"campaigns,omitempty"`
}

// safe returns text from outside for a terminal: quoted if it has characters that do not print.
func safe(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func textOf(status overview) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-10s", "")
	for _, state := range messagingriver.States() {
		fmt.Fprintf(&text, "%10s", state)
	}
	text.WriteString("       due    oldest open\n")
	for _, channel := range status.Channels {
		fmt.Fprintf(&text, "%-10s", safe(channel.Channel))
		counts := map[messagingriver.State]messagingriver.StateCount{}
		for _, count := range channel.States {
			counts[count.State] = count
		}
		for _, state := range messagingriver.States() {
			fmt.Fprintf(&text, "%10d", counts[state].Messages)
		}
		oldest := max(counts[messagingriver.Waiting].Oldest, counts[messagingriver.Sending].Oldest, counts[messagingriver.Unknown].Oldest)
		fmt.Fprintf(&text, "%10d    %v\n", counts[messagingriver.Waiting].Due, oldest.Round(time.Second))
	}
	rate := "no limit"
	if status.Rate > 0 {
		rate = strconv.FormatFloat(status.Rate, 'f', -1, 64) + " a second"
	}
	fmt.Fprintf(&text, "rate: %s; accepted in the last minute: %d; workers: %d\n", rate, status.LastMinute, status.Workers)
	for _, channel := range status.Channels {
		if channel.Breaker != "" {
			fmt.Fprintf(&text, "%s: the circuit breaker is open: %s\n", safe(channel.Channel), safe(channel.Breaker))
		}
		if channel.Paused {
			fmt.Fprintf(&text, "%s: paused: %s\n", safe(channel.Channel), safe(cmp.Or(channel.Problem, "by a person")))
		}
	}
	for _, campaign := range status.Campaigns {
		fmt.Fprintf(&text, "campaign %s:", safe(campaign.Name))
		if campaign.Paused {
			text.WriteString(" paused;")
		}
		if campaign.AtLeast {
			text.WriteString(" at least")
		}
		for _, state := range messagingriver.States() {
			if n := campaign.States[state]; n > 0 {
				fmt.Fprintf(&text, " %d %s", n, state)
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}

// show shows what is known of a message.
func (op *operator) show() *cobra.Command {
	cmd := &cobra.Command{Use: "show REFERENCE", Short: "Show the state and the attempts of a message", Args: cobra.ExactArgs(1)}
	channel := cmd.Flags().String("channel", "", "channel of the message, if several have it")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, args []string, db database) error {
		found, err := db.Show(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		var channels []string
		found = slices.DeleteFunc(found, func(r messagingriver.Record) bool {
			channels = append(channels, r.Channel)
			return *channel != "" && r.Channel != *channel
		})
		switch len(found) {
		case 0:
			return fmt.Errorf("there is no message %q", args[0])
		case 1:
			return op.print(cmd.OutOrStdout(), found[0], detail(found[0]))
		default:
			return fmt.Errorf("several channels have %q; want --channel, one of %s", args[0], strings.Join(channels, ", "))
		}
	})
	return cmd
}

func detail(r messagingriver.Record) string {
	var text strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%-10s%s\n", name, safe(value))
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	line("message", r.Channel+" "+r.Reference)
	line("state", string(r.State))
	line("problem", r.Problem)
	line("campaign", r.Campaign)
	line("priority", strconv.Itoa(int(r.Priority)))
	line("enqueued", at(r.Created))
	line("due", at(r.Due))
	line("expires", at(r.Expires))
	line("attempts", strconv.Itoa(r.Attempts))
	for _, a := range r.History {
		line("attempt", fmt.Sprintf("%s to %s: %s %s", at(a.Began), at(a.Ended), a.Verdict, a.Problem))
	}
	line("last began", at(r.Began))
	line("by worker", r.Worker)
	if r.Job != 0 {
		line("job", strconv.FormatInt(r.Job, 10))
	}
	return text.String()
}

type lister func(database, context.Context, messagingriver.Key) ([]messagingriver.Record, error)

// each calls do for every record of a listing.
func each(ctx context.Context, db database, list lister, do func(messagingriver.Record) error) error {
	var after messagingriver.Key
	for {
		some, err := list(db, ctx, after)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, record := range some {
			if err := do(record); err != nil {
				return err
			}
		}
		after = some[len(some)-1].Key
	}
}

func (op *operator) records(use, short string, list lister) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	reason := cmd.Flags().String("reason", "", "only those whose problem contains this")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, _ []string, db database) error {
		return each(cmd.Context(), db, list, func(r messagingriver.Record) error {
			if !strings.Contains(r.Problem, *reason) {
				return nil
			}
			return op.print(cmd.OutOrStdout(), r, fmt.Sprintf("%s\t%s\t%s\t%s\n",
				safe(r.Channel), safe(r.Reference), r.Created.Format(time.RFC3339), safe(r.Problem)))
		})
	})
	return cmd
}

// chosen are the flags that choose messages.
type chosen struct{ channel, reason, file, state string }

// keys returns the messages that flags and arguments name.
func (c chosen) keys(ctx context.Context, db database, references []string) ([]messagingriver.Key, error) {
	if c.file != "" {
		file, err := os.ReadFile(c.file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(file)) {
			if line = strings.TrimSpace(line); line != "" {
				references = append(references, line)
			}
		}
	}
	var keys []messagingriver.Key
	for _, reference := range references {
		keys = append(keys, messagingriver.Key{Channel: c.channel, Reference: reference})
	}
	switch {
	case c.reason == "" && len(keys) == 0:
		return nil, errors.New("no messages are named; want reference IDs, --file or --reason")
	case c.reason == "":
		return keys, nil
	case len(keys) > 0:
		return nil, errors.New("--reason chooses messages by itself; want no reference IDs beside it")
	}
	lists := map[string]lister{"parked": database.Parked, "refused": database.Refused}
	list, ok := lists[c.state]
	if !ok {
		return nil, fmt.Errorf("--state is %q; want parked or refused", c.state)
	}
	err := each(ctx, db, list, func(r messagingriver.Record) error {
		if r.Channel == c.channel && strings.Contains(r.Problem, c.reason) {
			keys = append(keys, r.Key)
		}
		return nil
	})
	return keys, err
}

func (op *operator) resolve() *cobra.Command {
	var c chosen
	cmd := &cobra.Command{
		Use: "resolve sent|resend|drop [REFERENCE...]", Short: "Decide about parked and refused messages",
		Long: "Decide about messages.\n\n  sent    it went out\n  resend  it did not go out, and is sent again\n  drop    it is not to be sent",
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&c.channel, "channel", "sms", "channel of the messages")
	cmd.Flags().StringVar(&c.reason, "reason", "", "all messages whose problem contains this")
	cmd.Flags().StringVar(&c.state, "state", "parked", "with --reason: parked or refused")
	cmd.Flags().StringVar(&c.file, "file", "", "file with a reference ID on each line")
	expire := cmd.Flags().Duration("expire", 0, "with resend: for expired messages, how long from now they may be sent")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, args []string, db database) error {
		return op.decide(cmd, db, messagingriver.Decision(args[0]), *expire, c, args[1:])
	})
	return cmd
}

func (op *operator) cancel() *cobra.Command {
	var c chosen
	cmd := &cobra.Command{Use: "cancel [REFERENCE...]", Short: "Drop messages that wait"}
	campaign := cmd.Flags().String("campaign", "", "all messages of this campaign")
	cmd.Flags().StringVar(&c.channel, "channel", "sms", "channel of the messages")
	cmd.Flags().StringVar(&c.file, "file", "", "file with a reference ID on each line")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, args []string, db database) error {
		switch {
		case *campaign == "":
			return op.decide(cmd, db, messagingriver.Drop, 0, c, args)
		case len(args) > 0 || c.file != "" || cmd.Flags().Changed("channel"):
			return errors.New("--campaign is for all its messages; want no reference IDs, --file or --channel beside it")
		}
		n, err := db.CancelCampaign(cmd.Context(), *campaign)
		if err != nil {
			return err
		}
		return op.print(cmd.OutOrStdout(), done{Done: "drop", Messages: &n}, fmt.Sprintf("drop: %d\n", n))
	})
	return cmd
}

func (op *operator) decide(
	cmd *cobra.Command, db database, decision messagingriver.Decision, expire time.Duration, c chosen, references []string,
) error {
	keys, err := c.keys(cmd.Context(), db, references)
	if err != nil {
		return err
	}
	n := 0
	for some := range slices.Chunk(keys, 1000) {
		resolved, err := db.Resolve(cmd.Context(), decision, some...)
		if err == nil && decision == messagingriver.Resend && expire > 0 {
			var renewed int
			renewed, err = db.Renew(cmd.Context(), expire, some...)
			resolved += renewed
		}
		if err != nil {
			return err
		}
		n += resolved
	}
	return op.print(cmd.OutOrStdout(), done{Done: string(decision), Messages: &n}, fmt.Sprintf("%s: %d of %d\n", decision, n, len(keys)))
}

func (op *operator) queues(
	use, short string, do func(database, context.Context, ...string) error, of func(database, context.Context, string) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use + " [CHANNEL...]", Short: short}
	campaign := cmd.Flags().String("campaign", "", "a campaign, in place of channels")
	cmd.RunE = op.on(tables, func(cmd *cobra.Command, channels []string, db database) error {
		var err error
		switch {
		case *campaign != "" && len(channels) > 0:
			err = errors.New("--campaign is for all channels; want no channel beside it")
		case *campaign != "":
			err = of(db, cmd.Context(), *campaign)
		default:
			err = do(db, cmd.Context(), channels...)
		}
		if err != nil {
			return err
		}
		return op.print(cmd.OutOrStdout(), done{Done: use}, "done\n")
	})
	return cmd
}

func (op *operator) rate() *cobra.Command {
	return &cobra.Command{
		Use: "rate N", Short: "Set the rate of all workers in messages a second; 0 returns to their own", Args: cobra.ExactArgs(1),
		RunE: op.on(tables, func(cmd *cobra.Command, args []string, db database) error {
			perSecond, err := strconv.ParseFloat(args[0], 64)
			if err != nil {
				return fmt.Errorf("rate: %q is no number of messages a second", args[0])
			}
			if err := db.SetRate(cmd.Context(), perSecond); err != nil {
				return err
			}
			return op.print(cmd.OutOrStdout(), done{Done: "rate", Rate: &perSecond}, "done\n")
		}),
	}
}

// absent is the state of an SMS that the service lists and of which the outbox has no row.
const absent messagingriver.State = "absent"

// difference is what audit finds about an SMS.
type difference struct {
	Reference string               `json:"reference"`
	State     messagingriver.State `json:"state"`
	Listed    int                  `json:"listed"`
}

// differs reports whether the service lists an SMS another number of times than its state says.
func (d difference) differs() bool {
	switch d.State {
	case messagingriver.Accepted:
		return d.Listed != 1
	case messagingriver.Sending, messagingriver.Unknown: // its outcome is not known yet
		return d.Listed > 1
	default:
		return d.Listed > 0
	}
}

// audited is what audit found.
type audited struct {
	Compared    int `json:"compared"`
	Differences int `json:"differences"`
	Others      int `json:"others"` // listed SMS of other programs
}

func (op *operator) audit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Compare SMS with what the service lists", Args: cobra.NoArgs,
		Long: `Compare the SMS of some time with what the service lists: sent twice, accepted and not listed, listed and not accepted, and
listed without a row in the outbox. The last are "absent". They were sent after the backup that was restored, or are of other
programs: those without a reference ID, or without the prefix of --prefix, are counted apart and are no difference.`,
	}
	within := cmd.Flags().Duration("within", 24*time.Hour, "how far back; less than --keep of the workers")
	prefix := cmd.Flags().String("prefix", "", "what the reference IDs of this outbox begin with, if other programs use the account")
	cmd.RunE = op.on(theService, func(cmd *cobra.Command, _ []string, db database) error {
		var found audited
		if err := compare(cmd.Context(), op.client, db, time.Now().Add(-*within), func(d difference) error {
			if d.State == absent && (d.Reference == "" || !strings.HasPrefix(d.Reference, *prefix)) {
				found.Others += d.Listed
				return nil
			}
			found.Compared++
			if !d.differs() {
				return nil
			}
			found.Differences++
			return op.print(cmd.OutOrStdout(), d, fmt.Sprintf("%s\tis %s; times listed: %d\n", safe(d.Reference), d.State, d.Listed))
		}); err != nil {
			return err
		}
		text := fmt.Sprintf("SMS compared: %d; differences: %d\n", found.Compared, found.Differences)
		if found.Others > 0 {
			text += fmt.Sprintf("listed SMS of other programs: %d\n", found.Others)
		}
		if err := op.print(cmd.OutOrStdout(), found, text); err != nil || found.Differences == 0 {
			return err
		}
		return errFindings
	})
	return cmd
}

// compare calls report for each SMS since a time that the outbox has or the service lists.
func compare(ctx context.Context, client *messaging.Client, db database, since time.Time, report func(difference) error) error {
	listed := map[string]int{}
	// Before the rows are read, so that what was listed has a row.
	for transaction, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: since.Add(-time.Hour), PageSize: 500}) {
		if err != nil {
			return err
		}
		listed[transaction.ReferenceID]++
	}
	rows, err := db.pool().QueryContext(ctx, "SELECT reference, state, created_at FROM messaging_outbox WHERE channel = 'sms' ORDER BY reference")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d difference
		var created int64
		if err := rows.Scan(&d.Reference, &d.State, &created); err != nil {
			return err
		}
		d.Listed = listed[d.Reference]
		delete(listed, d.Reference)
		if d.Listed == 0 && time.UnixMilli(created).Before(since) {
			continue
		}
		if err := report(d); err != nil {
			return err
		}
	}
	if rows.Err() != nil {
		return rows.Err()
	}
	for _, reference := range slices.Sorted(maps.Keys(listed)) {
		if err := report(difference{reference, absent, listed[reference]}); err != nil {
			return err
		}
	}
	return nil
}
