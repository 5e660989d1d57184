package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/longflag"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// operator is what the commands share.
type operator struct {
	getenv  func(string) string
	client  *messaging.Client
	asJSON  bool
	options messagingriver.Options

	plainHTTP bool // of audit
}

const outboxHelp = `Operate an outbox of messages in PostgreSQL or SQLite. The command changes the queue; a program that calls Outbox.Start sends.

Environment:

  DATABASE_URL            postgres://… or the path of an SQLite file. Required
  OUTBOX_SCHEMA           the schema of the outbox on PostgreSQL, if --schema is absent. The default is messaging
  MESSAGING_BASE_URL      the service. Only audit calls it
  MESSAGING_TOKEN         its token, or MESSAGING_API_KEY and MESSAGING_API_SECRET. Only audit uses it
  MESSAGING_CONTRACT      the file of your contract, if you have one. audit and load use it
  MESSAGING_VAR_…         the variables of the contract's paths, such as MESSAGING_VAR_ACCOUNT

Exit status:

  0  done
  1  audit found a difference, load left out a line, show found no message, or resolve changed nothing
  2  an error`

// command returns the command with its subcommands.
func command(getenv func(string) string) *cobra.Command {
	op := &operator{getenv: getenv}
	root := &cobra.Command{
		Use: "outbox", SilenceErrors: true, SilenceUsage: true, Long: outboxHelp,
		Example: `  export DATABASE_URL=outbox.db
  outbox migrate
  outbox load messages.jsonl --campaign spring
  outbox list --state waiting`,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE:              showHelp,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w; -h lists the flags", err) })
	root.PersistentFlags().BoolVar(&op.asJSON, "json", false, "print JSON, one object a line")
	root.PersistentFlags().StringVar(&op.options.Schema, "schema", "", "the `schema` of the outbox on PostgreSQL (default $OUTBOX_SCHEMA, or \"messaging\")")
	root.AddCommand(op.migrate(), op.load(), op.status(), op.list(), op.show(), op.resolve(), op.campaign(), op.audit())
	root.AddCommand(op.pause(), op.resume())
	root.SetHelpCommand(helpCommand())
	return root
}

// withTwoDashes returns args with two dashes before each long flag of the command that they name.
func withTwoDashes(root *cobra.Command, args []string) []string {
	command, _, _ := root.Find(args) // an unknown command is an error later
	command.InitDefaultHelpFlag()
	return longflag.WithTwoDashes(args, func(name string) (isFlag, needsValue bool) {
		flag := command.Flag(name)
		return flag != nil, flag != nil && flag.NoOptDefVal == ""
	})
}

// helpCommand returns the command that shows the help of another.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command", Example: "  outbox help load",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, _ := cmd.Root().Find(args) // the words that name no command are in rest
			found.InitDefaultHelpFlag()
			return showHelp(found, rest)
		},
	}
}

// showHelp shows the help of a command, and rejects an unknown subcommand.
func showHelp(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		return errors.New(text + "; -h lists the commands")
	}
	return errors.New(text + "; did you mean " + strings.Join(near, " or ") + "?")
}

// noArgs rejects arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected argument: %s takes flags only", cmd.CommandPath())
}

// exactArgs returns a check that a command has the arguments with these names.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		got := fmt.Sprintf("%d arguments", len(args))
		if len(args) == 1 {
			got = "1 argument"
		}
		path := strings.TrimPrefix(cmd.CommandPath(), "outbox ") // before the error comes "outbox:"
		return fmt.Errorf("%s: want %s, got %s; -h shows an example", path, strings.Join(names, " "), got)
	}
}

// checkChannel returns an error if the value of --channel is not a channel.
func checkChannel(name string) error {
	known := []string{messaging.ChannelSMS.String(), messaging.ChannelChatApp1.String(), messaging.ChannelChatApp2.String()}
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("--channel is %q; want one of %s", name, strings.Join(known, ", "))
}

// requirement is what a command requires to exist.
type requirement int

const (
	requiresNothing requirement = iota // the database is created
	requiresDatabase
	requiresContract // and the database
	requiresService  // and the database
)

// withDatabase returns a cobra function that opens the database and runs a command on it.
func (op *operator) withDatabase(
	required requirement, run func(cmd *cobra.Command, args []string, db database) error,
) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		op.client, err = op.newClient(required)
		if err != nil {
			return err
		}
		mayCreate := required == requiresNothing
		url := op.getenv("DATABASE_URL")
		options := op.options
		if isPostgres(url) {
			options.Schema = cmp.Or(options.Schema, op.getenv("OUTBOX_SCHEMA"), "messaging")
		}
		db, err := open(cmd.Context(), url, mayCreate, op.client, options)
		if err != nil {
			return err
		}
		defer db.close()
		return nameSchema(run(cmd, args, db), options.Schema)
	}
}

// nameSchema returns an error that names the schema, if its tables are missing on PostgreSQL. The outbox may be in another one.
func nameSchema(err error, schema string) error {
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	refusal, isRefusal := errors.AsType[*pgconn.PgError](err)
	if !isRefusal || (refusal.Code != undefinedTable && refusal.Code != undefinedSchema) {
		return err
	}
	return fmt.Errorf("there is no outbox in the schema %q: set --schema or OUTBOX_SCHEMA to its schema, or create one with outbox migrate: %w", schema, refusal)
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

// result is what a command did, as JSON.
type result struct {
	Done     string `json:"done"`
	Messages *int   `json:"messages,omitempty"`
}

func (op *operator) migrate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate", Short: "Create or update the tables", Args: noArgs,
		Long: `Create or update the tables. An SQLite file that does not exist is created. A database that is up to date stays as it is. A program
does the same with Outbox.Migrate.`,
		Example: `  DATABASE_URL=outbox.db outbox migrate
  DATABASE_URL=postgres://user@db/shop outbox migrate`,
	}
	cmd.RunE = op.withDatabase(requiresNothing, func(cmd *cobra.Command, _ []string, db database) error {
		if err := db.Migrate(cmd.Context()); err != nil {
			return err
		}
		return op.print(cmd.OutOrStdout(), result{Done: "migrate"}, "done\n")
	})
	return cmd
}

// overview is the state of the outbox.
type overview struct {
	Channels  []messagingriver.ChannelStatus
	Campaigns []messagingriver.Campaign
}

// MarshalJSON writes durations as seconds, which programs in other languages can read.
func (o overview) MarshalJSON() ([]byte, error) {
	type channel struct {
		messagingriver.ChannelStatus

		Oldest float64 `json:"oldest"` // hides that of ChannelStatus
	}
	channels := make([]channel, len(o.Channels))
	for i, status := range o.Channels {
		channels[i] = channel{status, status.Oldest.Seconds()}
	}
	return json.Marshal(struct {
		Channels  []channel                 `json:"channels"`
		Campaigns []messagingriver.Campaign `json:"campaigns,omitempty"`
	}{channels, o.Campaigns})
}

func (op *operator) status() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Count messages by channel, state and campaign, and show pauses", Args: noArgs,
		Long: `Count the messages by channel, state and campaign, and show which channels are paused. "outbox list --help" explains the states.

The first four states are of messages that wait, the last three are final. The column "looked up" counts the SMS that wait and whose
verdict is unknown: they may have been sent, and are looked up in the listing of the service. They are also counted under their
state. The column "oldest" is how long the oldest message that is due has waited, in JSON in seconds; it includes no message that
is looked up.`,
		Example: `  outbox status
  outbox status --json`,
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, _ []string, db database) error {
		channels, err := db.Status(cmd.Context())
		if err != nil {
			return err
		}
		campaigns, err := db.Campaigns(cmd.Context())
		if err != nil {
			return err
		}
		current := overview{channels, campaigns}
		return op.print(cmd.OutOrStdout(), current, current.text())
	})
	return cmd
}

// statesInOrder returns River's states in the order in which a message passes through them.
func statesInOrder() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStatePending,
		rivertype.JobStateScheduled,
		rivertype.JobStateAvailable,
		rivertype.JobStateRetryable,
		rivertype.JobStateRunning,
		rivertype.JobStateCompleted,
		rivertype.JobStateCancelled,
		rivertype.JobStateDiscarded,
	}
}

// text returns the overview as a table, with a line for each pause, each channel with discarded messages and each campaign.
func (o overview) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-10s", "")
	for _, state := range statesInOrder() {
		fmt.Fprintf(&text, "%10s", state)
	}
	fmt.Fprintf(&text, "%11s%10s\n", "looked up", "oldest")
	for _, channel := range o.Channels {
		fmt.Fprintf(&text, "%-10s", channel.Channel)
		for _, state := range statesInOrder() {
			fmt.Fprintf(&text, "%10d", channel.States[state])
		}
		fmt.Fprintf(&text, "%11d%10v\n", channel.LookedUp, channel.Oldest.Round(time.Second))
	}
	for _, channel := range o.Channels {
		if channel.Paused {
			fmt.Fprintf(&text, "%s is paused: %s%s\n", channel.Channel, safe(cmp.Or(channel.Cause, "by a person")), nextRequestText(channel))
		}
		if n := channel.States[rivertype.JobStateDiscarded]; n > 0 {
			fmt.Fprintf(&text, "%s: %d discarded; outbox list shows why, and outbox resolve decides\n", channel.Channel, n)
		}
	}
	for _, campaign := range o.Campaigns {
		text.WriteString(campaignText(campaign))
	}
	return text.String()
}

// nextRequestText returns when the outbox tries a paused channel again. It is empty if a person paused the channel.
func nextRequestText(channel messagingriver.ChannelStatus) string {
	switch {
	case channel.NextRequest.IsZero():
		return ""
	case channel.NextRequest.Before(time.Now()):
		return "; the next message is sent at once"
	default:
		return "; the next message is sent at " + formatTime(channel.NextRequest)
	}
}

// campaignText returns how many messages of a campaign are in each state, as a line.
func campaignText(campaign messagingriver.Campaign) string {
	var text strings.Builder
	fmt.Fprintf(&text, "campaign %s:", safe(campaign.Name))
	for _, state := range statesInOrder() {
		if n := campaign.States[state]; n > 0 {
			fmt.Fprintf(&text, " %d %s", n, state)
		}
	}
	text.WriteString("\n")
	return text.String()
}

// safe returns text from outside for a terminal: quoted if it has characters that do not print.
func safe(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func (op *operator) campaign() *cobra.Command {
	cmd := &cobra.Command{
		Use: "campaign pause|resume|cancel NAME", Short: "Pause, resume or cancel the waiting messages of a campaign",
		Long: `Pause, resume or cancel the waiting messages of a campaign, and print how many. Attempts that have begun are not stopped: after
"cancel", run the command again for messages that they did not send. Cancelled messages are not sent, and their content is deleted.
"resume" also makes messages due that a guard postponed, paused or not: the guard is asked again.

A campaign is paused as long as one of its messages is pending: after "cancel", messages that are enqueued later are sent.`,
		Example: `  outbox campaign pause spring
  outbox campaign resume spring`,
		Args: exactArgs("pause|resume|cancel", "NAME"),
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		verb := args[0]
		name := args[1]
		changed, err := changeCampaign(cmd.Context(), db, verb, name)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: %d\n", verb, changed)
		if err = op.print(cmd.OutOrStdout(), result{Done: verb, Messages: &changed}, text); err != nil {
			return err
		}
		hint := ""
		switch {
		case verb == "pause" && changed == 0:
			hint, err = unpausedText(cmd.Context(), db, name)
		case verb == "resume":
			hint, err = pausedChannelsText(cmd.Context(), db)
		}
		cmd.PrintErr(hint)
		return err
	})
	return cmd
}

// changeCampaign pauses, resumes or cancels the messages of a campaign, and returns how many.
func changeCampaign(ctx context.Context, db database, verb, name string) (int, error) {
	switch verb {
	case "pause":
		return db.PauseCampaign(ctx, name)
	case "resume":
		return db.ResumeCampaign(ctx, name)
	case "cancel":
		return db.CancelCampaign(ctx, name)
	default:
		return 0, fmt.Errorf("campaign: %q is not one of pause, resume and cancel", verb)
	}
}

// unpausedText says why pause changed no message of a campaign.
func unpausedText(ctx context.Context, db database, campaign string) (string, error) {
	campaigns, err := db.Campaigns(ctx, campaign)
	if err != nil {
		return "", err
	}
	if paused := campaigns[0].States[rivertype.JobStatePending]; paused > 0 {
		return fmt.Sprintf("the campaign was paused already: %d messages are pending\n", paused), nil
	}
	return "no message waits, so nothing is paused: messages that are enqueued later are sent\n", nil
}

// pausedChannelsText says which channels with waiting messages are paused: a campaign that is resumed still waits for them.
func pausedChannelsText(ctx context.Context, db database) (string, error) {
	channels, err := db.Status(ctx)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, status := range channels {
		waiting := status.States[rivertype.JobStateAvailable] + status.States[rivertype.JobStateScheduled] + status.States[rivertype.JobStateRetryable]
		if status.Paused && waiting > 0 {
			text.WriteString(pauseText(status) + "\n")
		}
	}
	return text.String(), nil
}
