package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // zones for machines that have none

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	// rate is how many messages a second the campaign starts on average. In any one second up to 1.1 × rate start: for at most 50, set 45.
	rate = 45
	// workers is how many messages are in work at once: the rate times the seconds that a response takes, such as 20 for 45 a second at 0.4 seconds.
	// On SQLite a kill can leave as many to a person.
	workers = 5
	// expireAfter is how long a message may wait, such as for the morning.
	expireAfter = 48 * time.Hour
)

// settings differ between campaigns and installations.
type settings struct {
	folder      string
	databaseURL string
	address     string
	url         string
	sender      string
	zone        string // of all campaigns in the database
	client      *messaging.Client
	newReceiver func(...webhook.Option) (*webhook.Receiver, error)
	outbox      messagingriver.Options
	hasResults  func() // is called once all messages are final and results.csv is written
}

// settingsFromEnv returns the settings of a folder in the environment, or an error that names everything that is wrong.
func settingsFromEnv(folder string) (settings, error) {
	var env environment
	in := settings{
		folder:      folder,
		databaseURL: env.required("DATABASE_URL"),
		address:     env.required("CAMPAIGN_ADDRESS"), // on a random port no STOP could arrive
		url:         strings.TrimSuffix(env.required("CAMPAIGN_URL"), "/"),
		sender:      env.required("CAMPAIGN_SENDER"),
		zone:        env.required("CAMPAIGN_ZONE"),
		hasResults:  func() {},
	}
	in.outbox = messagingriver.Options{Rate: rate, Workers: workers, SettleFor: env.duration("CAMPAIGN_SETTLE_FOR", "15m")}
	hours, err := newSendingHours(in.zone, env.clock("CAMPAIGN_OPENS", "08:00"), env.clock("CAMPAIGN_CLOSES", "20:00"))
	env.check("CAMPAIGN_ZONE, CAMPAIGN_OPENS and CAMPAIGN_CLOSES", err)
	in.client, err = messaging.NewClientFromEnv(messaging.WithGuard(hours.guard))
	env.check("the account", err)
	in.newReceiver = func(options ...webhook.Option) (*webhook.Receiver, error) {
		hooks := []webhook.Option{webhook.WithHook(webhook.LogHook(slog.Default())), webhook.WithHook(errorHook())}
		return webhook.NewReceiverFromEnv(append(hooks, options...)...)
	}
	_, err = in.newReceiver() // for its error: newCampaign makes another one, with a store
	env.check("the webhook", err)
	return in, errors.Join(env.problems...)
}

// environment reads environment variables, and collects what is wrong with them.
type environment struct {
	problems []error
}

func (e *environment) check(name string, err error) {
	if err != nil {
		e.problems = append(e.problems, fmt.Errorf("%s: %w", name, err))
	}
}

func (e *environment) required(name string) string {
	value := os.Getenv(name)
	if value == "" {
		e.check(name, errors.New("not set"))
	}
	return value
}

func (e *environment) duration(name, preset string) time.Duration {
	value, err := time.ParseDuration(cmp.Or(os.Getenv(name), preset))
	e.check(name, err)
	return value
}

// clock returns a time of day, on any date.
func (e *environment) clock(name, preset string) time.Time {
	value, err := time.Parse("15:04", cmp.Or(os.Getenv(name), preset))
	e.check(name, err)
	return value
}
