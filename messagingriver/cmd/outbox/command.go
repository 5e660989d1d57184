package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
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
  1  audit found a difference, load left out a line, show found no message, resolve changed nothing, or campaign
     pause paused nothing
  2  an error`

// command returns the command with its subcommands.
func command(getenv func(string) string) *cobra.Command {
	op := &operator{getenv: getenv}
	root := &cobra.Command{
		Use:           "outbox",
		SilenceErrors: true,
		SilenceUsage:  true,
		Long:          outboxHelp,
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
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Example: "  outbox help load",
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
		if !mayCreate {
			if _, err := db.PausedChannels(cmd.Context()); err != nil { // a quick call, which says if there are no tables
				return nameSchema(err, options.Schema)
			}
		}
		return run(cmd, args, db)
	}
}

// nameSchema returns an error that names the schema, if its tables are missing on PostgreSQL. The outbox may be in another one.
func nameSchema(err error, schema string) error {
	refusal, isPostgres := errors.AsType[*pgconn.PgError](err)
	if !isPostgres || !errors.Is(err, messagingriver.ErrNotMigrated) {
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
		Use:   "migrate",
		Short: "Create or update the tables",
		Args:  noArgs,
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

// safe returns text from outside for a terminal: quoted if it has characters that do not print.
func safe(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
