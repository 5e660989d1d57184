package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/account"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/check"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/learn"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/sandbox"
)

// run runs a command line and returns the exit status.
func run(ctx context.Context, console cli.Console, args []string) int {
	return console.Execute(ctx, newCommand(console), args)
}

// newCommand returns the command with all of its subcommands.
func newCommand(console cli.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "messaging",
		Short: "Tools for programs that send messages through the service",
		Long: `Tools for programs that send messages through the service.

To begin without an account, run "messaging sandbox": it is the service on this machine, and prints the variables that name it.

Environment:

  MESSAGING_BASE_URL         the URL of the service
  MESSAGING_TOKEN            the token, or MESSAGING_API_KEY and MESSAGING_API_SECRET
  MESSAGING_CONTRACT         optional: the file of your contract, as "messaging contract learn" writes it
  MESSAGING_WEBHOOK_SECRET   for listen: the secret of callbacks, such as key=SECRET

Exit status:

  0   done; a message was accepted, found, or listed in full
  1   a message was refused, rows could not be read in full, or check found something wrong
  2   the command line or the environment cannot be used
  3   a message was not sent
  4   it is unknown whether a message was sent, or a listing ended early
  5   a message is not listed, and may have been sent

The help of each command says more.`,
		Example: `  messaging sandbox --open
  messaging send sms --from ACME --to +639171234567 --text 'Your order is ready' --reference order-17`,
		Args: cobra.ArbitraryArgs,
		// cobra adds the flag --version.
		Version: buildVersion().Version,
	}
	root.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.Unknown(root, args[0])
		}
		_, _ = fmt.Fprint(console.Err, root.UsageString())
		return &cli.ExitError{Status: cli.ExitUsage}
	}
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(sandbox.NewCommand(console), check.NewCommand(console), learn.NewCommand(console))
	root.AddCommand(account.New(console)...)
	root.AddCommand(newVersion(console), newMan(), newHealthCheck())
	root.SetOut(console.Out) // completion keeps it
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, generated := range root.Commands() {
		switch generated.Name() {
		case "completion":
			generated.Example = "  messaging completion bash > /etc/bash_completion.d/messaging"
			for _, shell := range generated.Commands() {
				shell.Example = "  messaging completion " + shell.Name() + " > FILE"
			}
		case "help":
			generated.Example = "  messaging help send sms"
			generated.RunE = showHelp
		}
	}
	return root
}

// showHelp shows the help of the command that the arguments name.
func showHelp(help *cobra.Command, args []string) error {
	found, rest, _ := help.Root().Find(args) // the words that name no command are in rest
	if len(rest) > 0 {
		return cli.Unknown(found, rest[0])
	}
	found.InitDefaultHelpFlag()
	return found.Help()
}

// version describes the build.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitzero"`
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// release is the version of a release that is built in a clone, set by the linker.
var release string //nolint:gochecknoglobals // the linker sets nothing else

// buildVersion returns the module version of the build, or the version of the library for a build in a clone.
func buildVersion() version {
	v := version{Version: "v" + messaging.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	v.Version = cmp.Or(release, v.Version)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if built := info.Main.Version; built != "" && built != "(devel)" && release == "" {
		v.Version = built
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	return v
}

func newVersion(console cli.Console) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "version",
		Short:   "The version of this build",
		Example: "  messaging version --json",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if asJSON {
				return json.NewEncoder(console.Out).Encode(v)
			}
			text := "messaging " + v.Version + " " + v.Go + " " + v.Platform
			if v.Revision != "" {
				text += " " + v.Revision
			}
			if v.Modified {
				text += " (modified)"
			}
			_, err := fmt.Fprintln(console.Out, text)
			return err
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages into a folder",
		Example: "  messaging man /usr/local/share/man/man1",
		Args:    cli.Words(1, "FOLDER"),
		RunE: func(command *cobra.Command, args []string) error {
			const readable = 0o755
			if err := os.MkdirAll(args[0], readable); err != nil {
				return err
			}
			return doc.GenManTree(command.Root(), &doc.GenManHeader{Title: "MESSAGING", Section: "1"}, args[0])
		},
	}
}

// newHealthCheck returns the health check of the container image, which has no other program.
func newHealthCheck() *cobra.Command {
	return &cobra.Command{
		Use:     "healthcheck URL",
		Short:   "Check that a sandbox responds at a URL",
		Hidden:  true,
		Example: "  messaging healthcheck http://127.0.0.1:8026/_sandbox/",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			const timeout = 2 * time.Second
			ctx, cancel := context.WithTimeout(command.Context(), timeout)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				return &cli.ExitError{Status: cli.ExitRefused, Err: err}
			}
			_ = response.Body.Close()
			if response.StatusCode >= http.StatusInternalServerError {
				return &cli.ExitError{Status: cli.ExitRefused, Err: fmt.Errorf("HTTP %d", response.StatusCode)}
			}
			return nil // it may ask for a password
		},
	}
}
