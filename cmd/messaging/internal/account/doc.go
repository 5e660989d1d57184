// Package account has the commands for an account: send, list and find, which use the environment variables of
// messaging.NewClientFromEnv, and listen and replay, which use those of webhook.NewReceiverFromEnv.
//
// Each command is in the file with its name, with help from these files:
//
//   - send: channels.go has the channels, and verbose.go shows requests and responses.
//   - list: list_write.go writes the pages, to an output (output.go) in a format (rows.go). output_file.go opens the file of --out, and
//     resume_state.go has the state that --resume continues from.
//   - listen and replay: callback.go saves callbacks and sends them to a program.
package account

import (
	"net"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// settings are the flags that all commands of an account share.
type settings struct {
	console   cli.Console
	json      bool
	plainHTTP bool
	timeout   time.Duration
}

func (s *settings) flags(flags *pflag.FlagSet) {
	const defaultTimeout = 30 * time.Second
	flags.BoolVar(&s.json, "json", false, "print JSON, one object a line")
	flags.BoolVar(&s.plainHTTP, "plain-http", false, "allow http for a host that is not loopback")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long each request may take")
}

func (s *settings) client(options ...messaging.Option) (*messaging.Client, error) {
	return cli.NewClient(s.timeout, s.plainHTTP, options...)
}

// isReal reports whether the account is on another machine, where a message reaches a person and costs money.
func (s *settings) isReal() bool {
	base, err := url.Parse(os.Getenv("MESSAGING_BASE_URL"))
	if err != nil {
		return true
	}
	host := base.Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// environment is the help of each command that uses an account.
const environment = `
These environment variables name the account:

  MESSAGING_BASE_URL   the URL of the service
  MESSAGING_TOKEN      the token, or MESSAGING_API_KEY and MESSAGING_API_SECRET
  MESSAGING_CONTRACT   optional: the file of an overlay, as "messaging contract learn" writes it

"messaging sandbox" runs a service on this machine and prints them.`

// New returns the commands of an account.
func New(console cli.Console) []*cobra.Command {
	return []*cobra.Command{newSend(console), newList(console), newFind(console), newListen(console), newReplay(console)}
}
